#define _POSIX_C_SOURCE 200809L
#include "backend/cuda/cufft_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/cuda/images.h"

/* The table against the toolkit's own header. */
#define X(name, args)                                                                              \
    _Static_assert(_Generic(&(name), cufftResult(*) args : 1, default : 0),                        \
                   #name " has another prototype");
GFI_CUFFT_TABLE(X)
#undef X

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

enum { PATH_BYTES = 1024, REASON_BYTES = 256 };

/* The one of the toolkit first: any other may want a newer driver. */
static const char *const names[] = { "libcufft.so." TEXT(CUFFT_VER_MAJOR), "libcufft.so.12",
                                     "libcufft.so.11", NULL };

static const char *const usual_folders[] = { "/usr/local/cuda/lib64",
                                             "/opt/cuda/lib64",
                                             "/usr/lib/x86_64-linux-gnu",
                                             "/usr/lib64",
                                             "/usr/lib/aarch64-linux-gnu",
                                             "/usr/lib",
                                             NULL };

/* What was found; written once and then only read. */
static struct {
    pthread_once_t located, loaded;
    char path[PATH_BYTES]; /* "" when there is none */
    bool open;
    char reason[REASON_BYTES];
    gfi_cufft functions;
} library = { .located = PTHREAD_ONCE_INIT, .loaded = PTHREAD_ONCE_INIT };

static bool try_folder(const char *folder, size_t length, const char *name)
{
    if (length == 0 || length > PATH_BYTES / 2) return false;
    snprintf(library.path, PATH_BYTES, "%.*s/%s", (int)length, folder, name);
    if (access(library.path, R_OK) == 0) return true;
    library.path[0] = '\0';
    return false;
}

/* Look through a colon-separated list of folders. */
static bool try_list(const char *list, const char *name)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (try_folder(list, length, name)) return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static bool try_everywhere(const char *name)
{
    const char *toolkit = gfi_cuda_toolkit_libraries;
    if (try_list(getenv("LD_LIBRARY_PATH"), name)) return true;
    if (try_folder(toolkit, strlen(toolkit), name)) return true;
    for (const char *const *folder = usual_folders; *folder; folder++)
        if (try_folder(*folder, strlen(*folder), name)) return true;
    return false;
}

/* Find the file without opening it, so that asking costs nothing. */
static void locate(void)
{
    for (const char *const *name = names; *name; name++)
        if (try_everywhere(*name)) return;
    /* the loader knows more folders; opening a library that is not there is cheap */
    for (const char *const *name = names; *name; name++) {
        void *handle = dlopen(*name, RTLD_LAZY | RTLD_LOCAL);
        if (!handle) continue;
        dlclose(handle);
        snprintf(library.path, PATH_BYTES, "%s", *name);
        return;
    }
    snprintf(
        library.reason, REASON_BYTES,
        "cuFFT is not installed: no %s in LD_LIBRARY_PATH, %.80s, /usr/local/cuda/lib64 or the "
        "system's folders",
        names[0], gfi_cuda_toolkit_libraries);
}

static void load(void)
{
    void *handle = dlopen(library.path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(library.reason, REASON_BYTES, "cuFFT: %s", dlerror());
        return;
    }
#define X(name, args)                                                                              \
    *(void **)&library.functions.name = dlsym(handle, #name);                                      \
    if (!library.functions.name) {                                                                 \
        snprintf(library.reason, REASON_BYTES, "cuFFT: %.160s has no " #name, library.path);       \
        return;                                                                                    \
    }
    GFI_CUFFT_TABLE(X)
#undef X
    library.open = true; /* and stays open: plans of any thread point into it */
}

bool gfi_fft_possible(const char **why)
{
    pthread_once(&library.located, locate);
    if (library.path[0]) return true;
    if (why) *why = library.reason;
    return false;
}

gf_status gfi_cufft_get(const gfi_cufft **out)
{
    *out = NULL;
    if (gfi_fft_possible(NULL)) pthread_once(&library.loaded, load);
    if (!library.open) return gfi_fail(GF_ERROR_UNSUPPORTED, "%s", library.reason);
    *out = &library.functions;
    return GF_OK;
}
