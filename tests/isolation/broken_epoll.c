/* Makes epoll_wait fail with EIO once the file that $BROKEN_EPOLL names exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

int epoll_wait(int epfd, struct epoll_event *events, int count, int timeout) {
    static int (*real)(int, struct epoll_event *, int, int);
    if (!real)
        real = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
    if (access(getenv("BROKEN_EPOLL"), F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return real(epfd, events, count, timeout);
}
