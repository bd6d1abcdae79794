/* Reading and writing whole files.
 *
 * A file is written under a temporary name in the folder of its target and renamed when it is
 * complete. Symbolic links are followed first, so that the link stays and its target is replaced; a
 * dangling link gets its target created. The permission bits of an existing file are kept; a hard
 * link is broken: the other names keep the old picture. A file that the user may not write is not
 * replaced although the folder would allow it. What is no regular file (a pipe, a device) is
 * written directly.
 *
 * Linux answers a write past RLIMIT_FSIZE or into a closed pipe with a signal that ends the process
 * unless it is ignored. Both signals are sent to the writing thread, so they are held back on this
 * thread for the time of the write and taken off it afterwards: what is left is EFBIG or EPIPE. The
 * caller's signal handlers are not touched. */
#define _POSIX_C_SOURCE 200809L

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"

enum { MAX_LINKS = 40, MAX_TRIES = 100, FIRST_READ = 1 << 16 };

static gf_status fail_errno(const char *doing)
{
    gf_status status = errno == ENOENT || errno == ENOTDIR ? GF_ERROR_NOT_FOUND : GF_ERROR_IO;
    return gfi_fail(status, "%s: %s", doing, strerror(errno));
}

/* ---- reading ---- */

static gf_status read_to_end(int fd, gfi_buffer *buffer)
{
    for (;;) {
        size_t want = buffer->capacity - buffer->size;
        if (want == 0) want = FIRST_READ;
        uint8_t *room = gfi_buffer_reserve(buffer, want);
        if (!room) return GF_ERROR_NO_MEMORY;
        ssize_t got = read(fd, room, buffer->capacity - buffer->size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return gfi_fail(GF_ERROR_IO, "cannot read: %s", strerror(errno));
        if (got == 0) return GF_OK;
        buffer->size += (size_t)got;
    }
}

static gf_status read_descriptor(int fd, gfi_buffer *buffer)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return fail_errno("cannot read");
    if (S_ISDIR(st.st_mode)) return gfi_fail(GF_ERROR_IO, "is a folder, not a file");
    /* one byte more than the size, so that the end is seen without growing */
    if (S_ISREG(st.st_mode) && st.st_size > 0 &&
        !gfi_buffer_reserve(buffer, (size_t)st.st_size + 1))
        return GF_ERROR_NO_MEMORY;
    return read_to_end(fd, buffer);
}

gf_status gfi_file_read(const char *path, gfi_buffer *buffer)
{
    *buffer = (gfi_buffer){ 0 };
    bool standard = !strcmp(path, "-");
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno("cannot open");
    gf_status status = read_descriptor(fd, buffer);
    if (!standard) close(fd);
    if (status != GF_OK) {
        gfi_free(buffer->data);
        *buffer = (gfi_buffer){ 0 };
    }
    return status;
}

/* ---- writing ---- */

static gf_status write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0) {
        /* a single write takes at most 2 GiB on Linux, and is asked for no more than that */
        ssize_t put = write(fd, at, n < INT_MAX ? n : INT_MAX);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return gfi_fail(GF_ERROR_IO, "cannot write: %s", strerror(errno));
        at += put;
        n -= (size_t)put;
    }
    return GF_OK;
}

static gf_status write_without_signals(int fd, const gfi_buffer *bytes)
{
    sigset_t ours, before, old;
    sigemptyset(&ours);
    sigaddset(&ours, SIGXFSZ);
    sigaddset(&ours, SIGPIPE);
    sigemptyset(&before);
    sigpending(&before);
    pthread_sigmask(SIG_BLOCK, &ours, &old);
    gf_status status = write_all(fd, bytes->data, bytes->size);
    if (status == GF_OK) status = write_all(fd, bytes->rest, bytes->n_rest);
    /* what was pending before belongs to the caller */
    if (sigismember(&before, SIGXFSZ)) sigdelset(&ours, SIGXFSZ);
    if (sigismember(&before, SIGPIPE)) sigdelset(&ours, SIGPIPE);
    const struct timespec no_wait = { 0 };
    while (status != GF_OK && sigtimedwait(&ours, NULL, &no_wait) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

static gf_status write_directly(const char *path, const gfi_buffer *bytes)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return gfi_fail(GF_ERROR_IO, "cannot open for writing: %s", strerror(errno));
    gf_status status = write_without_signals(fd, bytes);
    if (close(fd) != 0 && status == GF_OK)
        status = gfi_fail(GF_ERROR_IO, "cannot write: %s", strerror(errno));
    return status;
}

/* Length of the folder's part of a path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Follow the symbolic links at the end of a path; target need not exist. */
static gf_status resolve(const char *path, char target[PATH_MAX])
{
    size_t n = strlen(path);
    if (n >= PATH_MAX) return gfi_fail(GF_ERROR_IO, "path of %zu bytes is too long", n);
    memcpy(target, path, n + 1);
    for (int i = 0; i < MAX_LINKS; i++) {
        char link[PATH_MAX];
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0) return GF_OK; /* no link, or nothing there */
        link[length] = 0;
        size_t folder = link[0] == '/' ? 0 : folder_length(target);
        if (folder + (size_t)length >= PATH_MAX)
            return gfi_fail(GF_ERROR_IO, "symbolic link leads to a path that is too long");
        memcpy(target + folder, link, (size_t)length + 1);
    }
    return gfi_fail(GF_ERROR_IO, "more than %d symbolic links in a row", MAX_LINKS);
}

/* Create a file of its own in the target's folder. The umask applies as for any new file. */
static int create_temporary(const char *target, char name[PATH_MAX])
{
    int folder = (int)folder_length(target);
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        unsigned long mix = (unsigned long)now.tv_nsec * 2654435761u + (unsigned long)now.tv_sec;
        int n = snprintf(name, PATH_MAX, "%.*s.gpufilter-%ld-%08lx.tmp", folder, target,
                         (long)getpid(), (mix ^ (unsigned long)(uintptr_t)&now) & 0xffffffffu);
        if (n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static gf_status fill_temporary(int fd, const struct stat *existing, const gfi_buffer *bytes)
{
    gf_status status = write_without_signals(fd, bytes);
    if (status == GF_OK && existing && fchmod(fd, existing->st_mode & 07777) != 0)
        status = gfi_fail(GF_ERROR_IO, "cannot keep the mode: %s", strerror(errno));
    if (close(fd) != 0 && status == GF_OK)
        status = gfi_fail(GF_ERROR_IO, "cannot write: %s", strerror(errno));
    return status;
}

/* Give the complete file its name. link() fails when the name is taken, rename() replaces it; where
 * a file system has no hard links, no_clobber rests on the check made before. */
static gf_status publish(const char *temporary, const char *target, bool no_clobber)
{
    if (no_clobber) {
        if (link(temporary, target) == 0) {
            unlink(temporary);
            return GF_OK;
        }
        if (errno == EEXIST) return gfi_fail(GF_ERROR_IO, "exists and is not to be replaced");
    }
    if (rename(temporary, target) == 0) return GF_OK;
    return gfi_fail(GF_ERROR_IO, "cannot rename the temporary file: %s", strerror(errno));
}

static gf_status write_replacing(const char *target, const struct stat *existing, bool no_clobber,
                                 const gfi_buffer *bytes)
{
    if (existing && access(target, W_OK) != 0)
        return gfi_fail(GF_ERROR_IO, "cannot replace the file: %s", strerror(errno));
    char temporary[PATH_MAX];
    int fd = create_temporary(target, temporary);
    if (fd < 0)
        return gfi_fail(GF_ERROR_IO, "cannot create a file in the folder: %s", strerror(errno));
    gf_status status = fill_temporary(fd, existing, bytes);
    if (status == GF_OK) status = publish(temporary, target, no_clobber);
    if (status != GF_OK) unlink(temporary);
    return status;
}

gf_status gfi_file_absent(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0) return GF_OK;
    return gfi_fail(GF_ERROR_IO, "exists and is not to be replaced");
}

gf_status gfi_file_write(const char *path, bool no_clobber, const gfi_buffer *bytes)
{
    if (!strcmp(path, "-")) return write_without_signals(STDOUT_FILENO, bytes);
    if (no_clobber) GFI_TRY(gfi_file_absent(path));
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) return gfi_fail(GF_ERROR_IO, "is a folder, not a file");
    /* before links are followed: /dev/stdout leads to a name like pipe:[42] that is no path */
    if (exists && !S_ISREG(st.st_mode)) return write_directly(path, bytes);
    char target[PATH_MAX];
    GFI_TRY(resolve(path, target));
    return write_replacing(target, exists ? &st : NULL, no_clobber, bytes);
}
