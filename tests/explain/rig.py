"""A real smbd and a real client with a slow link between them, captured at both ends, and the kernel's own account of it.

Two network namespaces and the emulator of `lab.link`; the client and the server see nothing else of each other.
"""
import collections
import contextlib
import dataclasses
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from lab.link import CLIENT, CLONE_NEWNET, LIBC, SERVER, Emulator, Link, Namespace, checked
from peers import rawsmb, subject

LIMIT_S = 150
BLOCK = 1024  # less than a segment, so that Nagle's algorithm holds all of it back
SLOW_DISK = Path(__file__).with_name("slow_disk.c")
# of /proc/net/snmp and /proc/net/netstat
COUNTERS = ("RetransSegs", "TCPFastRetrans", "TCPSlowStartRetrans", "TCPTimeouts", "TCPLossProbes", "TCPDSACKRecv",
            "TCPDSACKOldSent", "TCPDSACKOfoSent", "TCPSpuriousRTOs", "DelayedACKs")
CHRONO = ("busy", "rwnd_limited")


@dataclasses.dataclass(frozen=True)
class Setup:
    """What is copied, by whom, over what."""

    link: Link
    client: str = "modern"  # a redirector of coax, "smbclient", or `rawsmb` that writes header and data apart: "nagle", or "apart" without
    verb: str = "get"
    bytes: int = 4_000_000
    congestion: str = "cubic"
    sysctl: tuple = ()  # (end, name below net.ipv4, value)
    slow_disk_ms: int = 0  # of each read of smbd
    pause: tuple = ()  # the client stands still: when it has written such a share of the file, for so many seconds

    @property
    def sender(self):
        return "server" if self.verb == "get" else "client"

    @property
    def receiver(self):
        return "client" if self.verb == "get" else "server"


@contextlib.contextmanager
def inside(namespace):
    """This thread, and what it starts, lives in the namespace."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    checked(LIBC.setns(namespace.descriptor, CLONE_NEWNET))
    try:
        yield
    finally:
        checked(LIBC.setns(home, CLONE_NEWNET))
        os.close(home)


def counters(namespace):
    found = collections.Counter()
    with inside(namespace):
        for name in ("snmp", "netstat"):
            lines = Path("/proc/thread-self/net", name).read_text().splitlines()
            for names, values in zip(lines[::2], lines[1::2]):
                found.update({key: int(value) for key, value in zip(names.split()[1:], values.split()[1:]) if key in COUNTERS})
    return found


class Account(threading.Thread):
    """What `ss` says of the connection that sent most, for as long as there is one."""

    def __init__(self, namespace):
        super().__init__(daemon=True)
        self.namespace, self.last, self.over = namespace, {}, threading.Event()

    def run(self):
        with inside(self.namespace):
            while not self.over.wait(0.02):
                said = subprocess.run(["ss", "-tinHO"], capture_output=True, text=True).stdout
                for line in said.splitlines():
                    if sent := re.search(r"bytes_sent:(\d+)", line):
                        self.last[tuple(line.split()[3:5])] = int(sent[1]), line

    def stop(self):
        """Seconds by kind of CHRONO."""
        self.over.set()
        self.join(10)
        _, line = max(self.last.values(), default=(0, ""))
        found = {name: re.search(rf"\b{name}:(\d+)ms", line) for name in CHRONO}
        return {name: int(match[1]) / 1e3 if match else 0.0 for name, match in found.items()}


@contextlib.contextmanager
def captured(namespace, path):
    with inside(namespace):
        command = ["tcpdump", "-i", "lab0", "-s", "192", "-B", "32768", "-Z", "root", "--immediate-mode", "-w", path, "tcp"]
        dump = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for line in dump.stderr:
            if "listening on" in line:
                break
        yield
        time.sleep(0.4)  # tcpdump still writes the last packets
    finally:
        dump.send_signal(signal.SIGINT)
        try:
            dump.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            dump.kill()


def prepare(namespaces, setup):
    for end, namespace in namespaces.items():
        here, there = (CLIENT, SERVER) if end == "client" else (SERVER, CLIENT)
        # the route says it, since a namespace's default may only be what every user may choose
        route = f"route replace {there} dev lab0 src {here} congctl {setup.congestion}"
        with inside(namespace):
            for command in ("link set lo up", route):
                subprocess.run(["ip", *command.split()], check=True)
    for end, name, value in setup.sysctl:
        with inside(namespaces[end]):
            Path("/proc/sys/net/ipv4", name).write_text(value)


@contextlib.contextmanager
def smbd(namespace, setup, folder):
    """smbd in the namespace, with a configured delay of each read."""
    options = {}
    if setup.slow_disk_ms:
        library = folder / "slow_disk.so"
        subprocess.run(["cc", "-O", "-shared", "-fPIC", "-o", library, SLOW_DISK], check=True)
        os.environ |= {"LD_PRELOAD": str(library), "SLOW_DISK_US": str(setup.slow_disk_ms * 1000)}
        options = {"aio read size": "0"}
    try:
        with inside(namespace):
            with subject.start("smbd", folder, host=SERVER, wanted_ports=(139, 445), globals_=options) as server:
                for name in ("LD_PRELOAD", "SLOW_DISK_US"):
                    os.environ.pop(name, None)
                yield server
    finally:
        for name in ("LD_PRELOAD", "SLOW_DISK_US"):
            os.environ.pop(name, None)


def client_command(setup, server, local):
    """A command that copies BIG.BIN and then a short file, so that the connection outlives the copy under test."""
    user = f"{server.user}:{server.password}"
    if setup.client == "smbclient":
        here = f"lcd {local}; {setup.verb} BIG.BIN; {setup.verb} SHORT.BIN"
        return ["smbclient", f"//{SERVER}/{server.share}", "-U", user.replace(":", "%"), "-m", "NT1", "-p", "445", "-c", here,
                "--option=client min protocol=NT1"]
    root = f"smb://{user}@{SERVER}/{server.share}"
    command = [subject.coax_binary(), setup.verb, "--as", setup.client, "--allow-weak", "--called", server.name]
    if setup.verb == "get":
        return [*command, f"{root}/BIG.BIN", f"{root}/SHORT.BIN", local]
    return [*command, local / "BIG.BIN", local / "SHORT.BIN", f"{root}/"]


def await_written(process, count):
    """Waits until a process has written so many bytes to files, or has ended."""
    end = time.monotonic() + LIMIT_S
    while process.poll() is None and time.monotonic() < end:
        fields = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
        if int(fields["wchar"]) >= count:
            return
        time.sleep(0.005)
    raise RuntimeError(f"the client ended before it had written {count:.0f} bytes")


def run_client(setup, server, local):
    if setup.client in ("nagle", "apart"):
        return write_apart(server, (local / "BIG.BIN").read_bytes(), setup.client == "apart")
    process = subprocess.Popen(client_command(setup, server, local), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        if setup.pause:
            await_written(process, setup.pause[0] * setup.bytes)
            process.send_signal(signal.SIGSTOP)
            time.sleep(setup.pause[1])
            process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    if process.returncode != 0:
        raise RuntimeError(f"the client ended with {process.returncode}: {said[-400:].strip()}")


class Apart(rawsmb.Connection):
    """Sends each message in two, as programs did that wrote the header first."""

    def send(self, command, words=b"", data=b""):
        size = 32 + 1 + len(words) + 2 + len(data)
        self.socket.sendall(self.head(command, size) + bytes([len(words) // 2]) + words + struct.pack("<H", len(data)))
        self.socket.sendall(data)


def write_apart(server, content, nodelay):
    with Apart(SERVER, server.direct, timeout=LIMIT_S) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(nodelay))
        client.negotiate("NT1")
        client.log_on(server.user, server.password)
        client.tree_connect_andx(server.name, server.share)
        fid = client.nt_create("BIG.BIN", disposition=5)
        for at in range(0, len(content), BLOCK):
            client.write_andx(fid, at, content[at : at + BLOCK])
        client.close_file(fid)


def content(size):
    pattern = bytes(range(251)) * 4096
    return (pattern * (size // len(pattern) + 1))[:size]


def copy(setup, folder):
    """Makes the copy. The captures' paths by vantage, and what the kernels and the emulator saw."""
    namespaces = {"client": Namespace(CLIENT, SERVER), "server": Namespace(SERVER, CLIENT)}
    try:
        prepare(namespaces, setup)
        first, second = namespaces[setup.sender], namespaces[setup.receiver]
        emulator = Emulator(setup.link, first, second, LIMIT_S)
        with contextlib.suppress(OSError):  # the link is to be on time even where others are busy
            os.sched_setscheduler(emulator.process.pid, os.SCHED_FIFO, os.sched_param(1))
        try:
            result = observed(setup, namespaces, folder)
        finally:
            seen = emulator.stop()
        return {**result, "link": seen or {}}
    finally:
        for namespace in namespaces.values():
            namespace.close()


def observed(setup, namespaces, folder):
    files = {end: folder / f"{end}.pcap" for end in namespaces}
    local = folder / "local"
    local.mkdir()
    with smbd(namespaces["server"], setup, folder) as server:
        source, target = (server.folder, local) if setup.verb == "get" else (local, server.folder)
        (source / "BIG.BIN").write_bytes(content(setup.bytes))
        (source / "SHORT.BIN").write_bytes(content(40_000))
        before = {end: counters(namespace) for end, namespace in namespaces.items()}
        with contextlib.ExitStack() as stack:
            for end, namespace in namespaces.items():
                stack.enter_context(captured(namespace, files[end]))
            account = Account(namespaces[setup.sender])
            account.start()
            with inside(namespaces["client"]):
                run_client(setup, server, local)
            chrono = account.stop()
        after = {end: counters(namespace) for end, namespace in namespaces.items()}
        whole = (target / "BIG.BIN").read_bytes() == content(setup.bytes)
    return {"captures": files, "whole": whole, "chrono": chrono, "counters": {end: after[end] - before[end] for end in after}}
