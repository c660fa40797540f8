/* What the kernel alone costs a server for serial copies over loopback: system calls and nothing else.
 *
 *   cc -O2 -o target/floor tests/bench/floor.c && target/floor MODE BYTES COUNT [FOLDER]
 *
 * MODE: copy (recv, pread, send), sendfile (recv, send the head, sendfile), even (what lies before the next page is sent
 * with the head, the rest by sendfile), write (recv, pwrite to a file that grows, send). Prints the server's CPU time for
 * each and for a GB. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ASK = 63, HEAD = 64, DONE = 51, SPAN = 256 << 20, PAGE = 4096 };

static void take(int fd, char *to, size_t count) {
    for (ssize_t got; count; to += got, count -= got)
        if ((got = recv(fd, to, count, 0)) <= 0) exit(1);
}

static void client(struct sockaddr_in at, int writes, size_t size, int count) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    char *buffer = calloc(1, size + HEAD);
    if (connect(fd, (void *)&at, sizeof at)) exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (int i = 0; i < count; i++) {
        if (send(fd, buffer, writes ? HEAD + size : ASK, 0) < 0) exit(1);
        take(fd, buffer, writes ? DONE : HEAD + size);
    }
    exit(0);
}

static void serve(int fd, int file, const char *mode, char *buffer, size_t size, off_t at) {
    if (!strcmp(mode, "write")) {
        take(fd, buffer, HEAD + size);
        if (pwrite(file, buffer + HEAD, size, at) < 0 || send(fd, buffer, DONE, 0) < 0) exit(1);
        return;
    }
    take(fd, buffer, ASK);
    size_t copied = !strcmp(mode, "copy") ? size : !strcmp(mode, "even") ? -at & (PAGE - 1) : 0;
    if (copied && pread(file, buffer + HEAD, copied, at) < 0) exit(1);
    if (send(fd, buffer, HEAD + copied, copied < size ? MSG_MORE : 0) < 0) exit(1);
    at += copied;
    for (size_t left = size - copied; left;) {
        ssize_t sent = sendfile(fd, file, &at, left);
        if (sent <= 0) exit(1);
        left -= sent;
    }
}

int main(int count, char **argument) {
    if (count < 4) return fputs("usage: floor copy|sendfile|even|write BYTES COUNT [FOLDER]\n", stderr), 2;
    size_t size = atol(argument[2]);
    int rounds = atoi(argument[3]), one = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    if (bind(door, (void *)&at, sizeof at) || listen(door, 1) || getsockname(door, (void *)&at, &length)) return 1;
    if (!fork()) client(at, !strcmp(argument[1], "write"), size, rounds);
    char path[256], *buffer = calloc(1, size + HEAD);
    snprintf(path, sizeof path, "%s/floor-XXXXXX", count > 4 ? argument[4] : "/dev/shm");
    int fd = accept(door, 0, 0), file = mkstemp(path);
    unlink(path);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (off_t to = 0; strcmp(argument[1], "write") && to < SPAN; to += size)
        if (pwrite(file, buffer, size, to) < 0) return 1;
    struct timespec began, ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    for (int i = 0; i < rounds; i++) serve(fd, file, argument[1], buffer, size, (off_t)i * size % (SPAN - size));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    double cpu = ended.tv_sec - began.tv_sec + (ended.tv_nsec - began.tv_nsec) / 1e9;
    printf("%s %zu: %.1f us each, %.3f s per GB\n", argument[1], size, cpu / rounds * 1e6, cpu / ((double)rounds * size) * 1e9);
}
