"""Two hosts of the Linux kernel with a link between them whose every packet is logged, captured at both ends and in the middle.

`Bench` makes the namespaces, starts `emulator.c` and the captures, and hands out what they saw.
"""
import contextlib
import dataclasses
import fcntl
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

from explain.rig import inside
from lab.link import TUN, TUNSETIFF, IFF_NO_PI, IFF_TUN, Namespace

SOURCE = Path(__file__).with_name("emulator.c")
IFF_VNET_HDR, TUNSETOFFLOAD, TUN_F_CSUM, TUN_F_TSO4 = 0x4000, 0x400454D0, 1, 2
ENDS = ("client", "server")
PACKETS, MESSAGES = "packets.log", "messages.log"
UP, DOWN = 0, 1
PORT = 445
STACK = b"stack0"  # the device of a TCP that is not the kernel's
DELIVERED, QUEUE_DROP, LOST, OTHER = range(4)
ENTRY = struct.Struct("<5q4I4H4BI")
MESSAGE = struct.Struct("<qQI2H2B88s")
COUNTERS = ("RetransSegs", "DelayedACKs", "TCPFastRetrans", "TCPSlowStartRetrans", "TCPTimeouts", "TCPLossProbes", "TCPToZeroWindowAdv",
            "TCPDSACKRecv", "TCPSpuriousRTOs")


@dataclasses.dataclass(frozen=True, slots=True)
class Packet:
    """A line of the emulator's log. Times are nanoseconds; `queued` to `start` it waits, `start` to `end` it is transmitted."""

    sent: int
    queued: int
    start: int
    end: int
    arrived: int
    seq: int
    ack: int
    len: int
    size: int
    sport: int
    dport: int
    window: int
    ipid: int
    way: int
    fate: int
    flags: int
    scale: int  # of a SYN's window scale option, one more; 0: none
    late: int


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """A NetBIOS session message, and where it lies in its stream."""

    first: int
    offset: int
    len: int
    sport: int
    dport: int
    way: int
    head: bytes

    @property
    def end(self):
        return self.offset + self.len


def packets(path):
    return [Packet(*fields) for fields in ENTRY.iter_unpack(path.read_bytes())]


def messages(path):
    found = []
    for first, offset, size, sport, dport, way, kept, head in MESSAGE.iter_unpack(path.read_bytes()):
        found.append(Message(first, offset, size, sport, dport, way, head[:kept]))
    return found


def build(source, target, *options, libraries=()):
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", *options, "-o", target, source, *libraries], check=True)
    return target


class Host(Namespace):
    """A network namespace whose device may hand over segments larger than the link carries (GSO and GRO).

    If the host's TCP is a program (`is_user_space`), the program has the address, behind the device `stack`, and the kernel forwards."""

    def __init__(self, here, there, offload, is_user_space=False):
        self.offload, self.is_user_space, self.stack = offload, is_user_space, None
        super().__init__(here, there)

    def close(self):
        if self.stack is not None:
            os.close(self.stack)
        super().close()

    def forward(self, here, there):
        """Between the link and the program."""
        for command in ("addr flush dev lab0", f"route replace {there} dev lab0", "link set stack0 up", f"route replace {here} dev stack0"):
            subprocess.run(["ip", *command.split()], check=True)
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    def tun(self):
        if self.is_user_space:
            self.stack = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.stack, TUNSETIFF, struct.pack("16sH22x", STACK, IFF_TUN | IFF_NO_PI))
        device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        flags = IFF_TUN | IFF_NO_PI | (IFF_VNET_HDR if self.offload else 0)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"lab0", flags))
        if self.offload:
            fcntl.ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)
        return device


def counters(host):
    found = dict.fromkeys(COUNTERS, 0)
    with inside(host):
        for name in ("snmp", "netstat"):
            lines = Path("/proc/thread-self/net", name).read_text().splitlines()
            for names, values in zip(lines[::2], lines[1::2]):
                found.update({key: int(value) for key, value in zip(names.split()[1:], values.split()[1:]) if key in COUNTERS})
    return found


def address_pair():
    """Two addresses that no other run on this machine uses."""
    number = os.getpid() % 60_000
    return tuple(f"10.{78 + number // 1000}.{number // 4 % 250}.{number % 4 * 4 + last}" for last in (1, 2))


class Bench:
    """`hosts` by end, `addresses` by end, and the running emulator."""

    def __init__(self, folder, program, link, seed, ends):
        """`program`: emulator.c, built; `link`: its settings; `ends`: by end, the settings of `prepare`."""
        self.folder, self.program, self.link, self.seed, self.ends = folder, program, link, seed, ends
        self.addresses = dict(zip(ENDS, address_pair()))
        self.hosts = {}

    def __enter__(self):
        client, server = (self.addresses[end] for end in ENDS)
        offload = bool(self.link.get("offload"))
        self.hosts = {"client": Host(client, server, offload, self.ends["client"].get("is_user_space", False)), "server": Host(server, client, offload)}
        for end in ENDS:
            self.prepare(end)
        devices = [self.hosts[end].device for end in ENDS]
        files = [self.folder / name for name in (PACKETS, MESSAGES)]
        middle = self.folder / "middle.pcap"
        settings = [f"{key}={value}" for key, value in self.link.items()]
        command = [self.program, *map(str, devices), *files, middle, f"seed={self.seed}", *settings]
        self.emulator = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=devices)
        if self.emulator.stdout.readline() != b"ready\n":
            raise RuntimeError("the emulator did not start")
        return self

    def prepare(self, end):
        """The route names the congestion control: a namespace's default may only be what every user may choose."""
        other = ENDS[end == "client"]
        setting = self.ends[end]
        route = f"route replace {self.addresses[other]} dev lab0 src {self.addresses[end]} congctl {setting['congestion']}"
        with inside(self.hosts[end]):
            for command in ("link set lo up", route):
                subprocess.run(["ip", *command.split()], check=True)
            if self.hosts[end].is_user_space:
                self.hosts[end].forward(self.addresses[end], self.addresses[other])
            for name in ("tcp_rmem", "tcp_wmem"):
                if setting.get(name):
                    # the first two are what a socket begins with
                    Path("/proc/sys/net/ipv4", name).write_text(f"{min(4096, setting[name])} {setting[name]} {setting[name]}")

    def stop(self):
        """Ends the emulator: its logs are complete."""
        self.emulator.stdin.close()
        self.emulator.wait(10)

    def __exit__(self, *_):
        self.emulator.kill()
        self.emulator.wait()
        for host in self.hosts.values():
            host.close()


@contextlib.contextmanager
def captured(hosts, folder, snap):
    """tcpdump at both ends while the body runs."""
    dumps = [start_capture(host, folder / f"{end}.pcap", snap) for end, host in hosts.items()]
    try:
        for dump in dumps:
            if not any("listening on" in line for line in dump.stderr):
                raise RuntimeError("tcpdump did not start")
        yield
        time.sleep(1.2)  # the kernel hands over what it captured each second
    finally:
        for dump in dumps:
            dump.send_signal(signal.SIGINT)
        for dump in dumps:
            try:
                dump.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                dump.kill()
                dump.wait()


def start_capture(host, path, snap):
    # above the programs that are captured: a capture that lacks packets shows something else
    command = ["chrt", "-r", "2", "tcpdump", "-i", "lab0", "-s", str(snap), "-B", "65536", "-Z", "root", "--time-stamp-precision=nano",
               "-w", path, "tcp"]
    with inside(host):
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
