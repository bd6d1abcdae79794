#include "devices.h"

#include <gpufilter/gpufilter.h>

#include "timer.h"

/* CUDA writes 13020 for 13.2. */
static const char *version_text(int version, char out[16])
{
    if (version)
        snprintf(out, 16, "%d.%d", version / 1000, version % 1000 / 10);
    else
        snprintf(out, 16, "none");
    return out;
}

static void print_device(int i, FILE *out)
{
    gf_device_info d;
    char memory[32];
    if (gf_cuda_get_device(i, &d) != GF_OK) {
        fprintf(out, "%d: %s\n", i, gf_error_message());
        return;
    }
    fprintf(out, "%d: %s, compute capability %d.%d, %d multiprocessors, %s\n", i, d.name, d.major,
            d.minor, d.multiprocessors, bytes_text((double)d.memory_bytes, memory, sizeof memory));
}

void devices_print(FILE *out)
{
    gf_cuda_info info;
    char runtime[16], driver[16];
    gf_cuda_get_info(&info);
    if (!info.built)
        fprintf(out, "CUDA: not in this build\n");
    else
        fprintf(out, "CUDA: runtime %s, driver %s, compiled for %s\n",
                version_text(info.runtime_version, runtime),
                version_text(info.driver_version, driver), info.architectures);
    for (int i = 0; i < info.device_count; i++) print_device(i, out);
    if (info.reason[0]) fprintf(out, "no GPU can be used: %s\n", info.reason);
}

static void device_json(int i, json *j)
{
    gf_device_info d;
    json_object(j, NULL);
    json_integer(j, "device", i);
    if (gf_cuda_get_device(i, &d) != GF_OK)
        json_string(j, "error", gf_error_message());
    else {
        json_string(j, "name", d.name);
        json_integer(j, "major", d.major);
        json_integer(j, "minor", d.minor);
        json_integer(j, "multiprocessors", d.multiprocessors);
        json_integer(j, "memory_bytes", (long long)d.memory_bytes);
        json_integer(j, "l2_bytes", (long long)d.l2_bytes);
        json_integer(j, "shared_bytes_per_block", (long long)d.shared_bytes_per_block);
    }
    json_end_object(j);
}

void devices_json(json *j)
{
    gf_cuda_info info;
    gf_cuda_get_info(&info);
    json_object(j, "cuda");
    json_bool(j, "built", info.built);
    json_integer(j, "runtime_version", info.runtime_version);
    json_integer(j, "driver_version", info.driver_version);
    json_string(j, "architectures", info.architectures);
    json_string(j, "reason", info.reason[0] ? info.reason : NULL);
    json_end_object(j);
    json_array(j, "devices");
    for (int i = 0; i < info.device_count; i++) device_json(i, j);
    json_end_array(j);
}
