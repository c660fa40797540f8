/* What the kernel alone costs a server for a copy: the system calls of one that knows the protocol, and nothing else.
 *
 *   cc -O2 -o floor floor.c && floor FOLDER
 *
 * Prints its port, then serves clients one after the other. A client's first 8 bytes say how: mode, block size (both 32
 * bits, little-endian). Files lie in FOLDER: big.bin is read, floor.bin written. Messages have the lengths of SMB's, and
 * those of several requests may arrive together, as they do at a real server. Modes:
 *   0 READ_ANDX: recv, pread, sendmsg        1 READ_ANDX: the same by sendfile, from the next whole page on
 *   2 WRITE_ANDX: recv, pwrite, sendmsg      3 READ_RAW: as 1, without a header
 *   4 WRITE_RAW, write-through: recv, sendmsg, recv, pwrite, fsync, sendmsg      5 WRITE_RAW, write-behind: without the last two */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_COPY, READ_FILE, WRITE, READ_RAW, WRITE_RAW, WRITE_BEHIND };
enum { NBSS = 4, ASK = 63, WRITE_HEAD = 67, READ_HEAD = 64, DONE = 51, GO = 39, RAW_DONE = 41, RAW_ASK = 55, PAGE = 4096, ROOM = 1 << 18 };

static char in[ROOM], out[ROOM];
static size_t have, used; /* received, and taken of it */

/* The next `count` bytes of the client; none when it has gone. Short requests are received together if they come together;
 * of data no more than asked for, so that nothing has to be moved. */
static char *take(int client, size_t count) {
    if (used == have) have = used = 0;
    if (used + count > ROOM) memmove(in, in + used, have -= used), used = 0;
    while (have - used < count) {
        ssize_t got = recv(client, in + have, count <= ASK ? ROOM - have : count - (have - used), 0);
        if (got <= 0) return NULL;
        have += got;
    }
    used += count;
    return in + used - count;
}

static int say(int client, size_t count, int flags) {
    struct iovec part = {out, count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return sendmsg(client, &message, MSG_NOSIGNAL | flags) < 0 ? -1 : 0;
}

static int answer_read(int client, int file, size_t head, size_t size, off_t at, int whole) {
    size_t copied = whole ? size : -at & (PAGE - 1);
    if (!whole) lseek(file, 0, SEEK_END);
    if (copied && pread(file, out + head, copied, at) < 0) return -1;
    if (say(client, head + copied, copied < size ? MSG_MORE : 0)) return -1;
    at += copied;
    for (size_t left = size - copied; left;) {
        ssize_t sent = sendfile(client, file, &at, left);
        if (sent <= 0) return -1;
        left -= sent;
    }
    return 0;
}

static int one(int client, int file, uint32_t mode, size_t size, off_t at) {
    char *data;
    switch (mode) {
    case READ_COPY:
    case READ_FILE:
        return take(client, ASK) ? answer_read(client, file, READ_HEAD, size, at, mode == READ_COPY) : -1;
    case READ_RAW:
        return take(client, RAW_ASK) ? answer_read(client, file, NBSS, size, at, 0) : -1;
    case WRITE:
        if (!(data = take(client, WRITE_HEAD + size))) return -1;
        return pwrite(file, data + WRITE_HEAD, size, at) < 0 ? -1 : say(client, DONE, 0);
    default:
        if (!take(client, ASK) || say(client, GO, 0) || !(data = take(client, NBSS + size))) return -1;
        if (pwrite(file, data + NBSS, size, at) < 0) return -1;
        return mode == WRITE_BEHIND ? 0 : fsync(file) || say(client, RAW_DONE, 0);
    }
}

static void serve(int client, const char *folder) {
    int flag = 1;
    uint32_t *how = (void *)take(client, 8), mode = how ? how[0] : 0, size = how ? how[1] : 0;
    if (!how || !size || size + WRITE_HEAD > ROOM) return;
    int reads = mode == READ_COPY || mode == READ_FILE || mode == READ_RAW;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, reads ? "big.bin" : "floor.bin");
    int file = open(path, reads ? O_RDONLY : O_RDWR | O_CREAT | O_TRUNC, 0666);
    off_t end = reads ? lseek(file, 0, SEEK_END) - size : INT64_MAX, at = 0;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &flag, sizeof flag);
    for (; file >= 0 && !one(client, file, mode, size, at); at = at + size > end ? 0 : at + size);
    close(file);
    if (!reads) unlink(path);
}

int main(int count, char **argument) {
    if (count != 2) return fputs("usage: floor FOLDER\n", stderr), 2;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int door = socket(AF_INET, SOCK_STREAM, 0), client;
    if (bind(door, (void *)&at, sizeof at) || listen(door, 8) || getsockname(door, (void *)&at, &length)) return 1;
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    while ((client = accept(door, 0, 0)) >= 0) {
        have = used = 0;
        serve(client, argument[1]);
        close(client);
    }
    return 1;
}
