/* A link between two TUN devices, in real time, with a log of every packet.
 *
 * emulator CLIENT_FD SERVER_FD LOG MESSAGES MIDDLE SETTING=VALUE...
 *
 * Each direction ("up" to the server, "down" to the client) has a propagation delay before its queue, a queue, a rate and a
 * propagation delay behind it. Other traffic exists only in the queue. LOG gets a `struct entry` per packet, MESSAGES a
 * `struct message` per NetBIOS session message (from the stream as the sender's TCP first sent it), MIDDLE a capture at the
 * end of the queue ("-": none). Ends at SIGTERM or when stdin closes. All times are CLOCK_REALTIME in nanoseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/virtio_net.h>

enum { UP, DOWN };
enum { DELIVERED, QUEUE_DROP, LOST, OTHER };
enum { FRAMING = 38, SMALLEST = 84, HEAD = 88, FLOWS = 64, LARGEST = 65536 + 256, MOST_WAITING = 1 << 20, VNET = 10 };

struct entry {
    int64_t in, queued, start, end, out;
    uint32_t seq, ack, len, size;
    uint16_t sport, dport, window, ipid;
    uint8_t way, fate, flags, scale; /* of a SYN's window scale option, one more; 0: none */
    uint32_t late; /* of the delivery, behind the time that the settings give */
};

struct message {
    int64_t first;
    uint64_t offset;
    uint32_t len;
    uint16_t sport, dport;
    uint8_t way, kept;
    uint8_t head[HEAD];
} __attribute__((packed));

struct way {
    double rate, loss, reorder, cross_rate;
    int64_t before, after, jitter, reorder_by, cross_on, cross_off, stop_every, stop_for;
    int64_t queue_bytes, queue_packets, cross_size;
    int64_t free_at, waiting, count, cross_next, cross_switch, last_out, epoch;
    int cross_running, out;
    struct { int64_t end; uint32_t size; } *ring;
    uint32_t head, tail;
};

struct flow {
    uint16_t sport, dport;
    uint8_t way, used, broken, kept;
    uint32_t next, left, have;
    uint64_t offset, total;
    struct message now;
};

struct packet { int64_t out; uint64_t number; struct entry entry; int len, way; uint8_t *data; };

static struct way ways[2];
static struct flow flows[FLOWS];
static struct packet *heap;
static size_t heap_size, heap_room;
static uint64_t numbers, random_state;
static FILE *log_file, *message_file, *middle;
static int offload, coalesce, middle_snap = 160;
static volatile sig_atomic_t over;

static void stop(int number) { (void)number; over = 1; }

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(void) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static double share(void) { return (draw() >> 11) * 0x1p-53; }

static void fail(const char *what) { perror(what); exit(1); }

static void set(const char *setting) {
    const char *value = strchr(setting, '=');
    if (!value) { fprintf(stderr, "emulator: %s has no value\n", setting); exit(2); }
    double v = atof(value + 1);
    size_t n = value - setting;
#define IS(name) (n == strlen(name) && !strncmp(setting, name, n))
    if (IS("seed")) { random_state = (uint64_t)v; return; }
    if (IS("offload")) { offload = v; return; }
    if (IS("coalesce")) { coalesce = v; return; }
    if (IS("middle_snap")) { middle_snap = v; return; }
    struct way *w = !strncmp(setting, "up.", 3) ? &ways[UP] : &ways[DOWN];
    setting += 3 + 2 * (w == &ways[DOWN]);
    n = value - setting;
    if (IS("rate")) w->rate = v;
    else if (IS("loss")) w->loss = v;
    else if (IS("reorder")) w->reorder = v;
    else if (IS("reorder_by")) w->reorder_by = v;
    else if (IS("before")) w->before = v;
    else if (IS("after")) w->after = v;
    else if (IS("jitter")) w->jitter = v;
    else if (IS("queue_bytes")) w->queue_bytes = v;
    else if (IS("queue_packets")) w->queue_packets = v;
    else if (IS("cross_rate")) w->cross_rate = v;
    else if (IS("cross_on")) w->cross_on = v;
    else if (IS("cross_off")) w->cross_off = v;
    else if (IS("cross_size")) w->cross_size = v;
    else if (IS("stop_every")) w->stop_every = v;
    else if (IS("stop_for")) w->stop_for = v;
    else { fprintf(stderr, "emulator: unknown setting %s\n", setting); exit(2); }
#undef IS
}

/* --- the queue ------------------------------------------------------------------------------------------------- */

static void drain(struct way *w, int64_t at) {
    while (w->head != w->tail && w->ring[w->head].end <= at) {
        w->waiting -= w->ring[w->head].size;
        w->count--;
        w->head = (w->head + 1) % MOST_WAITING;
    }
}

/* When the link can begin with what comes at `at`: not while it stands still. */
static int64_t begin(struct way *w, int64_t at) {
    int64_t start = at > w->free_at ? at : w->free_at;
    if (!w->stop_every) return start;
    int64_t phase = (start - w->epoch) % w->stop_every, still = w->stop_every - w->stop_for;
    return phase >= still ? start + w->stop_every - phase : start;
}

/* Puts a packet of that frame size into the queue. 0 if there is no room. */
static int enqueue(struct way *w, int64_t at, uint32_t size, int64_t *start, int64_t *end) {
    drain(w, at);
    int full = (w->queue_bytes && w->waiting + size > w->queue_bytes && w->count) ||
               (w->queue_packets && w->count >= w->queue_packets) || w->count >= MOST_WAITING - 1;
    if (full) {
        *start = *end = w->free_at; /* when it would have left */
        return 0;
    }
    *start = begin(w, at);
    *end = *start + (w->rate > 0 ? (int64_t)(size * 8e9 / w->rate) : 0);
    w->free_at = *end;
    w->ring[w->tail].end = *end;
    w->ring[w->tail].size = size;
    w->tail = (w->tail + 1) % MOST_WAITING;
    w->waiting += size;
    w->count++;
    return 1;
}

/* Other traffic that arrives up to `at`: packets at random distances while it is on. */
static void cross(struct way *w, int way, int64_t at) {
    if (w->cross_rate <= 0) return;
    if (!w->cross_next) { w->cross_next = w->cross_switch = at; }
    while (w->cross_next <= at) {
        if (w->cross_off && w->cross_next >= w->cross_switch) {
            w->cross_running = !w->cross_running;
            int64_t mean = w->cross_running ? w->cross_on : w->cross_off;
            w->cross_switch = w->cross_next + (int64_t)(mean * (0.5 + share()));
            if (!w->cross_running) { w->cross_next = w->cross_switch; continue; }
        }
        uint32_t size = w->cross_size + FRAMING;
        struct entry e = {.in = w->cross_next, .queued = w->cross_next, .size = w->cross_size, .way = way, .fate = OTHER};
        if (enqueue(w, w->cross_next, size, &e.start, &e.end)) {
            e.out = e.end;
            fwrite(&e, sizeof e, 1, log_file);
        }
        w->cross_next += (int64_t)(size * 8e9 / w->cross_rate * (0.5 + share())) + 1;
    }
}

/* --- the stream: where each message begins ------------------------------------------------------------------------ */

static struct flow *flow_of(uint16_t sport, uint16_t dport, int way) {
    for (int i = 0; i < FLOWS; i++) {
        struct flow *f = &flows[i];
        if (!f->used) {
            *f = (struct flow){.sport = sport, .dport = dport, .way = way, .used = 1};
            return f;
        }
        if (f->sport == sport && f->dport == dport && f->way == way) return f;
    }
    return NULL;
}

static void feed(struct flow *f, const uint8_t *data, uint32_t len, int64_t at) {
    while (len) {
        if (!f->have) {
            memset(&f->now, 0, sizeof f->now);
            f->now.first = at, f->now.offset = f->offset, f->now.way = f->way;
            f->now.sport = f->sport, f->now.dport = f->dport;
        }
        uint64_t total = f->have < 4 ? 4 : f->total;
        uint32_t take = total - f->have < len ? total - f->have : len;
        if (f->have < HEAD) {
            uint32_t keep = take < HEAD - f->have ? take : HEAD - f->have;
            memcpy(f->now.head + f->have, data, keep);
            f->now.kept = f->have + keep;
        }
        f->have += take, f->offset += take, data += take, len -= take;
        if (f->have == 4 && take) f->total = 4 + ((uint32_t)f->now.head[1] << 16 | f->now.head[2] << 8 | f->now.head[3]);
        if (f->have >= 4 && f->have == f->total) {
            f->now.len = f->total;
            fwrite(&f->now, sizeof f->now, 1, message_file);
            f->have = 0;
        }
    }
}

static void follow(const struct entry *e, const uint8_t *payload) {
    struct flow *f = flow_of(e->sport, e->dport, e->way);
    if (!f || f->broken) return;
    if (e->flags & 2) {
        f->next = e->seq + 1, f->offset = 0, f->have = 0;
        return;
    }
    int32_t known = f->next - e->seq;
    if (!e->len || known >= (int32_t)e->len) return;
    if (known < 0) { f->broken = 1; fprintf(stderr, "emulator: a gap in what %d sent\n", e->sport); return; }
    feed(f, payload + known, e->len - known, e->in);
    f->next = e->seq + e->len;
}

/* --- packets under way -------------------------------------------------------------------------------------------- */

static int sooner(const struct packet *a, const struct packet *b) {
    return a->out != b->out ? a->out < b->out : a->number < b->number;
}

static void push(struct packet p) {
    if (heap_size == heap_room) {
        heap_room = heap_room ? heap_room * 2 : 4096;
        heap = realloc(heap, heap_room * sizeof *heap);
        if (!heap) fail("emulator");
    }
    size_t i = heap_size++;
    for (; i && sooner(&p, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = p;
}

static struct packet pop(void) {
    struct packet top = heap[0], last = heap[--heap_size];
    size_t i = 0;
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= heap_size) break;
        if (c + 1 < heap_size && sooner(&heap[c + 1], &heap[c])) c++;
        if (!sooner(&heap[c], &last)) break;
        heap[i] = heap[c];
        i = c;
    }
    if (heap_size) heap[i] = last;
    return top;
}

static void record_middle(int64_t at, const uint8_t *data, int len) {
    if (!middle) return;
    int kept = len < middle_snap ? len : middle_snap;
    uint32_t head[4] = {at / 1000000000, at % 1000000000, kept, len};
    fwrite(head, sizeof head, 1, middle);
    fwrite(data, kept, 1, middle);
}

/* One more than a SYN's window scale option (RFC 7323), or 0. */
static uint8_t scale_of(const uint8_t *options, const uint8_t *end) {
    while (options < end && *options) {
        if (*options == 1) { options++; continue; }
        if (end - options < 2 || options[1] < 2 || options[1] > end - options) return 0;
        if (options[0] == 3 && options[1] == 3) return options[2] + 1;
        options += options[1];
    }
    return 0;
}

static void parse(const uint8_t *d, int len, struct entry *e, int *header) {
    int ip = (d[0] & 15) * 4;
    const uint8_t *t = d + ip;
    *header = ip + (t[12] >> 4) * 4;
    e->size = len, e->ipid = d[4] << 8 | d[5];
    e->sport = t[0] << 8 | t[1], e->dport = t[2] << 8 | t[3];
    e->seq = ntohl(*(uint32_t *)(t + 4)), e->ack = ntohl(*(uint32_t *)(t + 8));
    e->flags = t[13], e->window = t[14] << 8 | t[15], e->len = len - *header;
    if (e->flags & 2 && *header <= len) e->scale = scale_of(t + 20, d + *header);
}

/* A packet of at most the link's own size goes into the queue. */
static void carry(int way, const uint8_t *data, int len, int64_t at) {
    struct way *w = &ways[way];
    struct entry e = {.in = at, .way = way};
    int header;
    parse(data, len, &e, &header);
    if (!w->epoch) w->epoch = at;
    follow(&e, data + header);
    e.queued = at + w->before;
    cross(w, way, e.queued);
    uint32_t size = len + FRAMING < SMALLEST ? SMALLEST : len + FRAMING;
    int carried = enqueue(w, e.queued, size, &e.start, &e.end);
    int lost = carried && w->loss > 0 && !(e.flags & 2) && share() < w->loss;
    if (carried) record_middle(e.end, data, len);
    if (!carried || lost) {
        e.fate = carried ? LOST : QUEUE_DROP;
        fwrite(&e, sizeof e, 1, log_file);
        return;
    }
    int64_t out = e.end + w->after + (w->jitter ? (int64_t)(share() * w->jitter) : 0);
    if (w->reorder > 0 && e.len && share() < w->reorder) out += w->reorder_by;
    else if (out < w->last_out) out = w->last_out;
    else w->last_out = out;
    uint8_t *copy = malloc(len + VNET);
    if (!copy) fail("emulator");
    memcpy(copy + VNET, data, len);
    push((struct packet){.out = out, .number = numbers++, .entry = e, .len = len, .way = way, .data = copy});
}

static uint32_t add(const uint8_t *d, int len, uint32_t sum) {
    for (; len > 1; len -= 2, d += 2) sum += d[0] << 8 | d[1];
    if (len) sum += d[0] << 8;
    return sum;
}

static uint16_t fold(uint32_t sum) {
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static void put16(uint8_t *at, uint16_t v) { at[0] = v >> 8, at[1] = v; }

static uint32_t pseudo(const uint8_t *ip, int tcp_len) { return add(ip + 12, 8, 6 + tcp_len); }

static void checksums(uint8_t *d, int len, int whole) {
    int ip = (d[0] & 15) * 4;
    put16(d + 10, 0);
    put16(d + 10, ~fold(add(d, ip, 0)));
    put16(d + ip + 16, 0);
    uint32_t sum = pseudo(d, len - ip);
    put16(d + ip + 16, whole ? ~fold(add(d + ip, len - ip, sum)) : fold(sum));
}

/* What the kernel hands over as one large segment travels as packets of the link's size. */
static void segment(int way, uint8_t *data, int len, int size, int64_t at) {
    static uint8_t piece[LARGEST];
    int ip = (data[0] & 15) * 4, header = ip + (data[ip + 12] >> 4) * 4;
    uint32_t seq = ntohl(*(uint32_t *)(data + ip + 4));
    uint16_t id = data[4] << 8 | data[5];
    for (int done = header; done < len; done += size) {
        int take = len - done < size ? len - done : size;
        memcpy(piece, data, header);
        memcpy(piece + header, data + done, take);
        put16(piece + 2, header + take);
        put16(piece + 4, id++);
        uint32_t s = htonl(seq + (done - header));
        memcpy(piece + ip + 4, &s, 4);
        if (done + take < len) piece[ip + 13] &= ~9; /* FIN and PSH belong to the last */
        checksums(piece, header + take, 1);
        carry(way, piece, header + take, at);
    }
}

static void take(int way, int fd) {
    static uint8_t buffer[LARGEST];
    for (int i = 0; i < 64; i++) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n <= 0) return;
        int64_t at = now();
        uint8_t *data = buffer;
        struct virtio_net_hdr *h = (void *)buffer;
        if (offload) data += VNET, n -= VNET;
        if (n < 40 || data[0] >> 4 != 4 || data[9] != 6) continue;
        if (offload && h->gso_type && n > h->gso_size) segment(way, data, n, h->gso_size, at);
        else {
            if (offload && h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) checksums(data, n, 1);
            carry(way, data, n, at);
        }
    }
}

/* Whether b continues a, so that a card that coalesces would hand both over as one. */
static int continues(const struct packet *a, const struct packet *b, uint32_t total, uint32_t size) {
    return a->way == b->way && a->entry.sport == b->entry.sport && a->entry.dport == b->entry.dport && a->entry.len &&
           b->entry.len && b->entry.seq == a->entry.seq + a->entry.len && a->entry.ack == b->entry.ack &&
           a->entry.window == b->entry.window && a->entry.len == size && b->entry.len <= size &&
           !((a->entry.flags | b->entry.flags) & 7) && !(a->entry.flags & 8) && total + b->len < 65000;
}

static void finish(struct packet *p, int64_t at) {
    p->entry.out = at;
    p->entry.late = at > p->out ? at - p->out : 0;
    fwrite(&p->entry, sizeof p->entry, 1, log_file);
    free(p->data);
}

static void deliver(int64_t at) {
    static uint8_t large[LARGEST];
    while (heap_size && heap[0].out <= at) {
        struct packet p = pop();
        uint8_t *data = p.data + VNET;
        int len = p.len, ip = (data[0] & 15) * 4, header = ip + (data[ip + 12] >> 4) * 4, merged = 0;
        struct virtio_net_hdr h = {.flags = VIRTIO_NET_HDR_F_DATA_VALID};
        uint32_t size = p.entry.len;
        while (coalesce && heap_size && heap[0].out <= at && continues(&p, &heap[0], len, size)) {
            if (!merged) memcpy(large + VNET, data, len);
            struct packet next = pop();
            memcpy(large + VNET + len, next.data + VNET + (next.len - next.entry.len), next.entry.len);
            large[VNET + ip + 13] = next.entry.flags;
            len += next.entry.len, merged = 1;
            finish(&p, at);
            p = next;
        }
        if (merged) {
            data = large + VNET;
            put16(data + 2, len);
            checksums(data, len, 0);
            h = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                                        .hdr_len = header, .gso_size = size, .csum_start = ip, .csum_offset = 16};
        }
        if (offload) {
            data -= VNET, len += VNET;
            memcpy(data, &h, VNET);
        }
        if (write(ways[p.way].out, data, len) < 0) fprintf(stderr, "emulator: a device refused a packet: %s\n", strerror(errno));
        finish(&p, now());
    }
}

static FILE *opened(const char *path) {
    FILE *f = fopen(path, "wb");
    if (!f) fail(path);
    setvbuf(f, NULL, _IOFBF, 1 << 20);
    return f;
}

static void loop(int client, int server) {
    struct pollfd ready[3] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    while (!over) {
        int64_t at = now();
        deliver(at);
        int64_t wait = heap_size ? heap[0].out - now() : 200000000;
        if (wait < 0) wait = 0;
        struct timespec t = {wait / 1000000000, wait % 1000000000};
        if (ppoll(ready, 3, &t, NULL) < 0 && errno != EINTR) fail("poll");
        if (ready[0].revents) take(UP, client);
        if (ready[1].revents) take(DOWN, server);
        if (ready[2].revents) over = 1;
    }
}

int main(int count, char **words) {
    if (count < 6) return 2;
    int client = atoi(words[1]), server = atoi(words[2]);
    ways[UP].cross_size = ways[DOWN].cross_size = 1500;
    for (int i = 6; i < count; i++) set(words[i]);
    ways[UP].out = server, ways[DOWN].out = client;
    for (int i = 0; i < 2; i++)
        if (!(ways[i].ring = calloc(MOST_WAITING, sizeof *ways[i].ring))) fail("emulator");
    log_file = opened(words[3]), message_file = opened(words[4]);
    if (strcmp(words[5], "-")) {
        middle = opened(words[5]);
        uint32_t head[6] = {0xa1b23c4d, 2 | 4 << 16, 0, 0, 262144, 101};
        fwrite(head, sizeof head, 1, middle);
    }
    signal(SIGTERM, stop);
    signal(SIGINT, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    mlockall(MCL_CURRENT);
    struct sched_param urgent = {.sched_priority = 2};
    sched_setscheduler(0, SCHED_FIFO, &urgent); /* where it is refused, the log shows how late packets were */
    puts("ready");
    fflush(stdout);
    loop(client, server);
    if (fclose(log_file) || fclose(message_file) || (middle && fclose(middle))) fail("log");
    return 0;
}
