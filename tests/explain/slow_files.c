/* Slow files: what this is loaded into waits SLOW_READ_US at each large read of a regular file, SLOW_WRITE_US at each large
 * write and SLOW_SYNC_US at each fsync. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { LARGE = 1000 };

static void delay(const char *name) {
    const char *wanted = getenv(name);
    if (wanted) usleep(atoi(wanted));
}

static int regular(int file, size_t size) {
    struct stat about;
    return size >= LARGE && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

#define AT(name, type, variable)                                                                                              \
    ssize_t name(int file, type buffer, size_t size, off_t at) {                                                              \
        ssize_t (*real)(int, type, size_t, off_t) = dlsym(RTLD_NEXT, #name);                                                  \
        if (size >= LARGE) delay(variable);                                                                                   \
        return real(file, buffer, size, at);                                                                                  \
    }
#define PLAIN(name, type, variable)                                                                                           \
    ssize_t name(int file, type buffer, size_t size) {                                                                        \
        ssize_t (*real)(int, type, size_t) = dlsym(RTLD_NEXT, #name);                                                         \
        if (getenv(variable) && regular(file, size)) delay(variable);                                                         \
        return real(file, buffer, size);                                                                                      \
    }
#define SYNC(name)                                                                                                            \
    int name(int file) {                                                                                                      \
        int (*real)(int) = dlsym(RTLD_NEXT, #name);                                                                           \
        delay("SLOW_SYNC_US");                                                                                                \
        return real(file);                                                                                                    \
    }

AT(pread, void *, "SLOW_READ_US")
AT(pread64, void *, "SLOW_READ_US")
AT(pwrite, const void *, "SLOW_WRITE_US")
AT(pwrite64, const void *, "SLOW_WRITE_US")
PLAIN(read, void *, "SLOW_READ_US")
PLAIN(write, const void *, "SLOW_WRITE_US")
SYNC(fsync)
SYNC(fdatasync)
