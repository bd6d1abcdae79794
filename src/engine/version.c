#include <gpufilter/common.h>
#include <gpufilter/version.h>

const char *gf_version(void) { return GF_VERSION_STRING; }

const char *gf_backend_name(gf_backend backend)
{
    switch (backend) {
    case GF_BACKEND_CPU: return "cpu";
    case GF_BACKEND_CUDA: return "cuda";
    default: return "auto";
    }
}
