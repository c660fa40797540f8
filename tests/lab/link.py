"""Two hosts of the Linux kernel's own TCP and a link between them: two network namespaces, a TUN device in each, and a
process that carries packets between them with the configured rate, delay and loss.

The namespaces have no name and go with the process. Every frame costs the time of 38 bytes more than its packet:
Ethernet's header, checksum, preamble and gap, as in the lab.
"""
import collections
import contextlib
import ctypes
import dataclasses
import fcntl
import heapq
import multiprocessing
import os
import select
import socket
import struct
import subprocess
import time

CLIENT, SERVER = "10.77.0.1", "10.77.0.2"
TUN = "/dev/net/tun"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
FRAMING, SMALLEST_FRAME = 38, 84
FIN, SYN = 1, 2
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclasses.dataclass(frozen=True)
class Link:
    """Bits a second, seconds one way, bytes that may wait (0: any), and which frames with data to the server are lost.

    `pauses`: from so many seconds after the first such frame on, for so many, nothing goes to the server, and nothing is lost.
    """

    rate: int
    delay: float
    queue: int = 0
    loss_every: int = 0
    loss_packets: tuple = ()
    pauses: tuple = ()

    def loses(self, number):
        return bool(self.loss_every) and number % self.loss_every == 0 or number in self.loss_packets


def impossible():
    """Why there can be no such link here, or None."""
    if not os.path.exists(TUN):
        return f"there is no {TUN}"
    try:
        os.close(os.open(TUN, os.O_RDWR))
        if subprocess.run(["unshare", "-n", "ip", "link"], capture_output=True).returncode != 0:
            return "no network namespace can be made"
    except OSError as error:
        return str(error)
    return None


class Namespace:
    """A network namespace with one TUN device that has an address and a route to the other end."""

    def __init__(self, here, there):
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        checked(LIBC.unshare(CLONE_NEWNET))
        try:
            self.descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
            self.device = self.tun()
            # what one connection learnt must not help the next
            settings = {"ipv4/tcp_no_metrics_save": "1", "ipv6/conf/all/disable_ipv6": "1"}
            for name, value in settings.items():
                with contextlib.suppress(FileNotFoundError), open(f"/proc/sys/net/{name}", "w") as setting:
                    setting.write(value)
            for command in (f"addr add {here} peer {there} dev lab0", "link set lab0 up txqueuelen 20000"):
                subprocess.run(["ip", *command.split()], check=True)
        finally:
            checked(LIBC.setns(home, CLONE_NEWNET))
            os.close(home)

    @staticmethod
    def tun():
        device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"lab0", IFF_TUN | IFF_NO_PI))
        return device

    def socket(self):
        """A TCP socket of this namespace."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        checked(LIBC.setns(self.descriptor, CLONE_NEWNET))
        try:
            return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        finally:
            checked(LIBC.setns(home, CLONE_NEWNET))
            os.close(home)

    def close(self):
        os.close(self.device)
        os.close(self.descriptor)


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Direction:
    """One direction of the link: its queue, the packets in flight, and counters."""

    def __init__(self, link, out, lossy):
        self.link, self.out, self.lossy = link, out, lossy
        self.free_at, self.waiting, self.queue = 0.0, 0, collections.deque()
        self.shift = 0
        self.windows = collections.Counter()
        self.seen = {"frames": 0, "data_frames": 0, "lost": 0, "queue_drops": 0, "again": 0, "again_lost": 0, "saturated_s": 0.0}
        self.began, self.busy_since, self.longest, self.highest = None, 0.0, 0.0, {}
        self.new = []  # when each packet with new data has left, in seconds since the first frame, and its length with headers

    def take(self, now, packet):
        """When the packet arrives at the other end, or None."""
        data, again = self.look(packet)
        self.seen["frames"] += 1
        self.seen["again"] += again
        while self.queue and self.queue[0][0] <= now:
            self.waiting -= self.queue.popleft()[1]
        size = max(len(packet) + FRAMING, SMALLEST_FRAME)
        if self.link.queue and self.waiting + size > self.link.queue:
            self.seen["queue_drops"] += 1
            self.seen["again_lost"] += again
            return None
        self.carry(self.begin(now), size * 8 / self.link.rate)
        self.queue.append((self.free_at, size))
        self.waiting += size
        self.seen["data_frames"] += data
        if data and not again:
            self.new.append((self.free_at - self.began, len(packet)))
        if self.lossy and data and self.link.loses(self.seen["data_frames"]):
            self.seen["lost"] += 1
            self.seen["again_lost"] += again
            return None
        return self.free_at + self.link.delay

    def begin(self, now):
        """When the wire is free for a packet that comes now."""
        self.began = self.began or now
        at = max(now, self.free_at)
        for after, length in self.link.pauses if self.lossy else ():
            if after <= at - self.began < after + length:
                at = self.began + after + length
        return at

    def carry(self, at, took):
        """Notes for how long the wire has been busy without a pause, where that is a round trip or longer."""
        if at - self.free_at > took / 4:
            self.settle()
            self.busy_since = at
        self.free_at, self.longest = at + took, max(self.longest, took)

    def settle(self):
        busy = self.free_at - self.busy_since
        self.seen["saturated_s"] += busy if busy >= 2 * self.link.delay + self.longest else 0.0
        self.busy_since = self.free_at

    def look(self, packet):
        """Whether the packet takes sequence numbers, and whether all of them were seen before; notes the window that it shows."""
        tcp = (packet[0] & 15) * 4
        header, flags = (packet[tcp + 12] >> 4) * 4, packet[tcp + 13]
        window = int.from_bytes(packet[tcp + 14 : tcp + 16], "big")
        if flags & SYN:
            self.shift = window_scale(packet[tcp + 20 : tcp + header])
        else:
            self.windows[window << self.shift] += 1
        sequence, size = int.from_bytes(packet[tcp + 4 : tcp + 8], "big"), len(packet) - tcp - header
        data = bool(size or flags & (SYN | FIN))
        end, ports = sequence + size + bool(flags & (SYN | FIN)), packet[tcp : tcp + 4]
        known = self.highest.setdefault(ports, sequence)
        again = data and (end - known - 1) % 2**32 >= 2**31
        if not again:
            self.highest[ports] = end % 2**32
        return data, again


def window_scale(options):
    """The shift that a SYN offers (RFC 7323), 0 if none."""
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        if options[at] == 3:
            return options[at + 2]
        at += max(options[at + 1], 2)
    return 0


class Emulator:
    """The process that carries the packets. `stop` gives what it saw."""

    def __init__(self, link, client, server, limit):
        self.end, far = multiprocessing.Pipe()
        arguments = (link, client.device, server.device, far, limit)
        self.process = multiprocessing.get_context("fork").Process(target=carry, args=arguments, daemon=True)
        self.process.start()
        far.close()

    def stop(self):
        self.end.send("stop")
        seen = self.end.recv() if self.end.poll(10) else None
        self.process.join(10)
        return seen


def carry(link, client, server, control, limit):
    """Carries packets until `control` is readable, at most `limit` seconds."""
    ways = {client: Direction(link, server, True), server: Direction(link, client, False)}
    under_way, number, lateness = [], 0, []
    deadline = time.monotonic() + limit
    stop = False
    while not stop and time.monotonic() < deadline:
        deliver(under_way, lateness)
        wait = max(0.0, min(under_way[0][0] - time.monotonic(), 0.5)) if under_way else 0.5
        for ready in select.select([client, server, control], [], [], wait)[0]:
            if ready is control:
                stop = True
                continue
            for packet in packets(ready):
                way, number = ways[ready], number + 1
                if (at := way.take(time.monotonic(), packet)) is not None:
                    heapq.heappush(under_way, (at, number, way.out, packet))
    lateness.sort()
    ways[client].settle()
    late = {"late_median_ms": share(lateness, 0.5) * 1e3, "late_99_ms": share(lateness, 0.99) * 1e3}
    windows = {"window_max": max(ways[server].windows, default=0), "scale": ways[server].shift}
    control.send({**ways[client].seen, **late, **windows, "new": ways[client].new})


def deliver(under_way, lateness):
    now = time.monotonic()
    while under_way and under_way[0][0] <= now:
        at, _, out, packet = heapq.heappop(under_way)
        lateness.append(now - at)
        with contextlib.suppress(OSError):  # a device whose queue is full drops, as a card does
            os.write(out, packet)


def packets(device):
    """TCP over IPv4 that waits in the device; anything else is dropped."""
    for _ in range(64):
        try:
            packet = os.read(device, 65_536)
        except BlockingIOError:
            return
        if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
            yield packet


def share(values, part):
    return values[min(int(len(values) * part), len(values) - 1)] if values else 0.0
