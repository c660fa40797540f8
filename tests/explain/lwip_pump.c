/* The TCP of lwIP for a program: forwards a socket to a connection of lwIP whose packets go through a TUN device.
 *
 * lwip_pump CLIENT SERVER PORT NODELAY LOG COMMAND... with the device as standard input
 *
 * COMMAND gets the socket as its standard input; this ends with its exit status. LOG gets lines of `NANOSECONDS KIND VALUE`: "taken",
 * the offset up to which lwIP's send buffer has taken what COMMAND sent, and "cwnd", the congestion window. What COMMAND has not
 * read stays in the receive window, except for what the socket holds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/tcp.h>
#include <lwip/tcpip.h>

enum { MTU = 1500, DEVICE = 0, AT_ONCE = 65535, CLOSING_MS = 1000, STEP_MS = 100 };

static struct netif card;
static struct tcp_pcb *pcb;
static FILE *log_file;
static int program = -1, connected, ended; /* ended: the server closed, or the connection failed */
static uint8_t waiting[AT_ONCE];           /* of the program, for lwIP */
static size_t waiting_from, waiting_to;
static uint64_t taken;
static uint32_t window;
static struct pbuf *unread; /* of lwIP, for the program */

static void fail(const char *what) { perror(what); exit(1); }

static void say(const char *kind, uint64_t value) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    fprintf(log_file, "%" PRId64 " %s %" PRIu64 "\n", (int64_t)t.tv_sec * 1000000000 + t.tv_nsec, kind, value);
}

static void say_window(void) {
    if (!pcb || pcb->cwnd == window) return;
    window = pcb->cwnd;
    say("cwnd", window);
}

/* --- the device ------------------------------------------------------------------------------------------------- */

static err_t put(struct netif *netif, struct pbuf *p, const ip4_addr_t *to) {
    static uint8_t packet[MTU];
    (void)netif, (void)to;
    say_window();
    u16_t len = pbuf_copy_partial(p, packet, sizeof packet, 0);
    /* what the device refuses is lost, as on any link */
    if (write(DEVICE, packet, len) < 0 && errno != EAGAIN) return ERR_IF;
    return ERR_OK;
}

static err_t start(struct netif *netif) {
    netif->name[0] = 't', netif->name[1] = 'u';
    netif->output = put;
    netif->mtu = MTU;
    return ERR_OK;
}

static void take_packets(void) {
    static uint8_t packet[MTU + 100];
    ssize_t len;
    while ((len = read(DEVICE, packet, sizeof packet)) > 0) {
        if (packet[0] >> 4 != 4) continue;
        /* not from the pool: in Debian's 2.1.3 an element of it has 616 bytes, of which lwIP would fill 1,536 */
        struct pbuf *p = pbuf_alloc(PBUF_RAW, len, PBUF_RAM);
        if (!p) continue;
        pbuf_take(p, packet, len);
        if (card.input(p, &card) != ERR_OK) pbuf_free(p);
        say_window();
    }
}

/* --- the connection --------------------------------------------------------------------------------------------- */

static err_t on_connected(void *arg, struct tcp_pcb *of, err_t error) {
    (void)arg, (void)of;
    connected = error == ERR_OK;
    return ERR_OK;
}

static err_t on_received(void *arg, struct tcp_pcb *of, struct pbuf *p, err_t error) {
    (void)arg, (void)of, (void)error;
    if (!p) ended = 1;
    else if (unread) pbuf_cat(unread, p);
    else unread = p;
    return ERR_OK;
}

static void on_error(void *arg, err_t error) {
    (void)arg;
    if (error != ERR_CLSD) fprintf(stderr, "lwip_pump: the connection failed: lwIP's error %d\n", error);
    pcb = NULL, ended = 1;
}

/* To the program as much as its socket takes; lwIP opens its window by as much. */
static void to_program(void) {
    while (unread) {
        ssize_t sent = write(program, unread->payload, unread->len);
        if (sent < 0 && errno == EAGAIN) return;
        if (sent <= 0) sent = unread->len; /* the program has ended */
        unread = pbuf_free_header(unread, sent);
        if (pcb) tcp_recved(pcb, sent);
    }
    if (ended) shutdown(program, SHUT_WR);
}

/* To lwIP as much as its send buffer takes. */
static void to_server(void) {
    while (pcb && connected && waiting_from < waiting_to) {
        size_t len = waiting_to - waiting_from, room = tcp_sndbuf(pcb);
        if (len > room) len = room;
        if (!len || tcp_write(pcb, waiting + waiting_from, len, TCP_WRITE_FLAG_COPY) != ERR_OK) break;
        waiting_from += len, taken += len;
        say("taken", taken);
    }
    if (pcb && connected) tcp_output(pcb);
}

/* Whether the program still sends. */
static int from_program(void) {
    while (waiting_from == waiting_to) {
        ssize_t len = read(program, waiting, sizeof waiting);
        if (len == 0) return 0;
        if (len < 0) return errno == EAGAIN || errno == EINTR;
        waiting_from = 0, waiting_to = len;
        to_server();
    }
    return 1;
}

static void begin(const char *client, const char *server, int port, int nodelay) {
    ip4_addr_t here, mask, there;
    ip_addr_t to;
    if (!ip4addr_aton(client, &here) || !ip4addr_aton(server, &there)) {
        fprintf(stderr, "lwip_pump: %s or %s is not an address\n", client, server);
        exit(2);
    }
    IP4_ADDR(&mask, 255, 0, 0, 0);
    if (!netif_add(&card, &here, &mask, &there, NULL, start, ip_input)) fail("netif_add");
    netif_set_default(&card);
    netif_set_up(&card);
    netif_set_link_up(&card);
    if (!(pcb = tcp_new())) fail("tcp_new");
    if (nodelay) tcp_nagle_disable(pcb);
    tcp_recv(pcb, on_received);
    tcp_err(pcb, on_error);
    ip_addr_copy_from_ip4(to, there);
    if (tcp_connect(pcb, &to, port, on_connected) != ERR_OK) fail("tcp_connect");
}

static pid_t launch(char **command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("socketpair");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        dup2(ends[1], 0);
        close(ends[0]), close(ends[1]);
        execv(command[0], command);
        fail(command[0]);
    }
    close(ends[1]);
    program = ends[0];
    fcntl(program, F_SETFL, O_NONBLOCK);
    return child;
}

/* One step: what is ready moves on. Whether the program still sends. */
static int step(int sending) {
    struct pollfd ready[2] = {{.fd = DEVICE, .events = POLLIN}, {.fd = program, .events = 0}};
    if (sending && waiting_from == waiting_to) ready[1].events |= POLLIN;
    if (unread) ready[1].events |= POLLOUT;
    if (!ready[1].events) ready[1].fd = -1; /* a socket whose other end is closed would be ready for ever */
    poll(ready, 2, STEP_MS);
    LOCK_TCPIP_CORE();
    take_packets();
    to_program();
    to_server();
    if (ended && !unread) waiting_from = waiting_to; /* nobody takes it */
    if (sending) sending = from_program();
    UNLOCK_TCPIP_CORE();
    return sending;
}

static void forward(void) {
    int sending = 1, left = CLOSING_MS;
    while (sending || waiting_from < waiting_to) sending = step(sending);
    LOCK_TCPIP_CORE();
    if (pcb) tcp_shutdown(pcb, 0, 1);
    UNLOCK_TCPIP_CORE();
    for (; !ended && left > 0; left -= STEP_MS) step(0);
}

int main(int count, char **words) {
    if (count < 7) {
        fprintf(stderr, "usage: lwip_pump CLIENT SERVER PORT NODELAY LOG COMMAND...\n");
        return 2;
    }
    if (!(log_file = fopen(words[5], "w"))) fail(words[5]);
    setvbuf(log_file, NULL, _IOFBF, 1 << 16);
    fcntl(DEVICE, F_SETFL, fcntl(DEVICE, F_GETFL) | O_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);
    pid_t child = launch(words + 6);
    tcpip_init(NULL, NULL);
    LOCK_TCPIP_CORE();
    begin(words[1], words[2], atoi(words[3]), atoi(words[4]));
    UNLOCK_TCPIP_CORE();
    forward();
    int status = 1;
    waitpid(child, &status, 0);
    fclose(log_file);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
