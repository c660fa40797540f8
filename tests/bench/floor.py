"""The floor: a server of system calls alone (floor.c), and the client that drives it as the raw client drives a real one.

Its requests and replies have the lengths of SMB's, so the kernel does the same work; their contents do not matter.
"""
import contextlib
import dataclasses
import socket
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("floor.c")
READ_COPY, READ_FILE, WRITE, READ_RAW, WRITE_RAW, WRITE_BEHIND = range(6)
ASK, RAW_ASK, WRITE_HEAD, READ_HEAD, NBSS, DONE, GO, RAW_DONE = 63, 55, 67, 64, 4, 51, 39, 41
# the server reads ranges of 16,384 bytes and more by sendfile, shorter ones through memory
BY_FILE = 16384
# what smbclient keeps outstanding: "max mux" requests, each as large as fits the default buffer
OUTSTANDING, SMBCLIENT_BLOCK = 50, 64512


@dataclasses.dataclass
class Floor:
    """Where the server is, and what it costs is measured by its process."""

    pid: int
    port: int


@contextlib.contextmanager
def start(scratch, folder):
    """Builds and starts the server; `folder` holds big.bin and takes what is written."""
    binary = Path(scratch) / "floor"
    if not binary.exists():
        subprocess.run(["cc", "-O2", "-o", binary, SOURCE], check=True)
    process = subprocess.Popen([binary, folder], stdout=subprocess.PIPE, text=True)
    try:
        yield Floor(process.pid, int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Client:
    """One connection to the floor in one mode."""

    def __init__(self, floor, mode, size):
        self.socket = socket.create_connection(("127.0.0.1", floor.port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.view = memoryview(bytearray(READ_HEAD + size))
        self.socket.sendall(struct.pack("<II", mode, size))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *parts):
        total = sum(map(len, parts))
        sent = self.socket.sendmsg(parts)
        if sent < total:
            self.socket.sendall(b"".join(parts)[sent:])

    def take(self, count):
        view = self.view[:count]
        while len(view):
            got = self.socket.recv_into(view)
            if not got:
                raise ConnectionError("the floor closed the connection")
            view = view[got:]


def reads(block, total, raw=False, outstanding=1):
    """Reads `total` bytes in blocks, with so many requests outstanding."""
    mode = READ_RAW if raw else READ_FILE if block >= BY_FILE else READ_COPY
    ask, reply = (bytes(RAW_ASK), NBSS + block) if raw else (bytes(ASK), READ_HEAD + block)
    return lambda floor: run(Client(floor, mode, block), (ask,), (reply,), total // block, outstanding, block)


def writes(block, total, outstanding=1):
    """The same, to the server, by WRITE_ANDX."""
    parts = bytes(WRITE_HEAD), bytes(block)
    return lambda floor: run(Client(floor, WRITE, block), parts, (DONE,), total // block, outstanding, block)


def run(client, request, replies, count, outstanding, block):
    with client:
        for number in range(count + outstanding):
            if number < count:
                client.send(*request)
            if number >= outstanding - 1 and number < count + outstanding - 1:
                for reply in replies:
                    client.take(reply)
    return count * block


def raw_writes(block, total, through):
    """WRITE_RAW: a request, the interim reply, the data, and with write-through a last reply."""

    def work(floor):
        ask, data = bytes(ASK), bytes(NBSS + block)
        with Client(floor, WRITE_RAW if through else WRITE_BEHIND, block) as client:
            for _ in range(total // block):
                client.send(ask)
                client.take(GO)
                client.send(data)
                if through:
                    client.take(RAW_DONE)
        return total - total % block

    return work
