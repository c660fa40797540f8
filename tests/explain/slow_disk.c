/* A disk that takes its time: each pread of a program that this is loaded into takes SLOW_DISK_US microseconds more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static ssize_t slowly(const char *name, int file, void *buffer, size_t size, off_t at) {
    const char *wanted = getenv("SLOW_DISK_US");
    ssize_t (*real)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
    if (wanted && size >= 4096) usleep(atoi(wanted));
    return real(file, buffer, size, at);
}

ssize_t pread(int file, void *buffer, size_t size, off_t at) { return slowly("pread", file, buffer, size, at); }
ssize_t pread64(int file, void *buffer, size_t size, off_t at) { return slowly("pread64", file, buffer, size, at); }
