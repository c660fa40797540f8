"""The work both servers do. A case is given a server and does its work; what it returns are counts of what it did.

The client is the same for both: smbclient, smbtorture, or tests/peers/rawsmb.py with one request at a time, which is
how the redirectors of the time worked.
"""
import contextlib
import dataclasses
import re
import subprocess
import time
from pathlib import Path

from peers.rawsmb import Connection

from . import floor, measure

GIGABYTE = 1_000_000_000
BIG = 1 << 30
MANY = 50_000
LISTED = 10_000
NBENCH_LOAD = Path("/usr/share/dbench/client.txt")


@dataclasses.dataclass
class Case:
    """`kind` says how its count is reported: bytes copied, operations done, or figures of its own. `floor` does the same
    copy with the server of system calls alone."""

    name: str
    run: object
    kind: str
    floor: object = None


def prepare(folder):
    """The files both servers serve: 1 GiB, folders of 10,000 and 50,000 names, one small file."""
    with open(folder / "big.bin", "wb") as file:
        block = bytes(range(256)) * 4096
        for _ in range(BIG // len(block)):
            file.write(block)
    (folder / "small.bin").write_bytes(bytes(512))
    for name, count in (("listed", LISTED), ("many", MANY)):
        (folder / name).mkdir(mode=0o777)
        (folder / name).chmod(0o777)
        for number in range(count):
            (folder / name / f"file{number:05}.txt").touch()
    for path in (folder / "big.bin", folder / "small.bin"):
        path.chmod(0o666)


@contextlib.contextmanager
def connected(server, age):
    """A raw connection, logged on, in the share."""
    with Connection(server.host, server.direct) as connection:
        connection.negotiate(age)
        connection.log_on(server.user, server.password)
        connection.tree_connect_andx(server.name, server.share)
        yield connection


# --- bulk: return bytes


def smbclient(server, commands):
    command = ["smbclient", "-s", "/dev/null", f"//{server.host}/{server.share}", "-p", str(server.direct)]
    command += ["-m", "NT1", "--option=client min protocol=NT1", "-U", f"{server.user}%{server.password}"]
    done = subprocess.run(command + ["-c", commands], capture_output=True, text=True, timeout=300)
    if done.returncode != 0 or "NT_STATUS" in done.stdout + done.stderr:
        raise RuntimeError(f"smbclient: {(done.stdout + done.stderr)[-300:]}")


def smbclient_get(server):
    smbclient(server, "get big.bin /dev/null")
    return BIG


def smbclient_put(server):
    smbclient(server, f"put {server.folder}/big.bin put.bin")
    return BIG


def serial_read(age, method, block, total):
    def run(server):
        with connected(server, age) as connection:
            fid = connection.open_andx(r"\big.bin")
            read = getattr(connection, method)
            for at in range(0, total, block):
                if len(read(fid, at, block)) != block:
                    raise RuntimeError(f"{method} fell short at {at}")
            connection.close_file(fid)
        return total - total % block

    return run


def serial_write(age, method, block, total):
    def run(server):
        data = bytes(block)
        with connected(server, age) as connection:
            fid = connection.open_andx(r"\written.bin", mode=0x42, function=0x12)
            write = getattr(connection, method)
            for at in range(0, total, block):
                write(fid, at, data)
            connection.close_file(fid)
        return total - total % block

    return run


def write_behind(connection_method="write_raw"):
    """Raw writes without write-through: nothing comes back after the data."""

    def run(server):
        data, total = bytes(65535), 256 << 20
        with connected(server, "LANMAN1") as connection:
            fid = connection.open_andx(r"\written.bin", mode=0x42, function=0x12)
            for at in range(0, total, 65535):
                getattr(connection, connection_method)(fid, at, data, through=False)
            connection.close_file(fid)
        return total - total % 65535

    return run


# --- operations: repeat for a while, return how many


def repeat(age, step, seconds=2.0, each=1):
    """Does step(connection, n), which is `each` operations, for that long on one connection; the operations done."""

    def run(server):
        with connected(server, age) as connection:
            count, end = 0, time.monotonic() + seconds
            while time.monotonic() < end:
                for _ in range(10):
                    step(connection, count)
                    count += 1
            return count * each

    return run


def open_read_close(connection, _):
    fid = connection.open_andx(r"\small.bin")
    connection.read_andx(fid, 0, 512)
    connection.close_file(fid)


def other_case(connection, number):
    connection.query_path(rf"\MANY\FILE{number * 7919 % MANY:05}.TXT")


def create_delete(connection, number):
    path = rf"\many\new{number:05}.tmp"
    connection.close_file(connection.open_andx(path, mode=0x42, function=0x12))
    connection.delete(path)


def list_names(server):
    total = 0
    with connected(server, "NT1") as connection:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            found = connection.find_all(r"\listed\*", level=0x104)
            if found < LISTED:
                raise RuntimeError(f"{found} of {LISTED} names listed")
            total += found
    return total


def connect_to_tree(server):
    count = 200
    for _ in range(count):
        with connected(server, "NT1"):
            pass
    time.sleep(0.5)  # a server that forks has children to wait for
    return count


# --- figures of their own


def idle_memory(server, connections=1000):
    before = measure.memory_kib(server.pid)
    with contextlib.ExitStack() as stack:
        for _ in range(connections):
            stack.enter_context(connected(server, "NT1"))
        time.sleep(1)
        after = measure.memory_kib(server.pid)
    time.sleep(1)
    proportional, private = ((new - old) / connections for new, old in zip(after, before))
    return {"PSS KiB each": round(proportional, 1), "private KiB each": round(private, 1)}


def nbench(server, clients=4, seconds=10):
    command = ["smbtorture", f"//{server.host}/{server.share}", "-p", str(server.direct), "-s", "/dev/null"]
    command += ["-U", f"{server.user}%{server.password}", "--option=client min protocol=NT1"]
    command += ["--option=client max protocol=NT1", "-t", str(seconds), f"--num-progs={clients}"]
    command += [f"--loadfile={NBENCH_LOAD}", "bench.nbench"]
    cpu = measure.cpu_seconds(server.pid)
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds * 6 + 60)
    cpu = measure.cpu_seconds(server.pid) - cpu
    rate = re.findall(r"Throughput ([\d.]+) MB/s|([\d.]+) MB/sec", done.stdout + done.stderr)
    if not rate:
        raise RuntimeError(f"nbench: {(done.stdout + done.stderr)[-300:]}")
    mb_s = float(next(filter(None, rate[-1])))
    return {"MB/s": mb_s, "MB per CPU second": round(mb_s * seconds / cpu, 1) if cpu else 0}


MB = 1 << 20
CASES = [
    Case("smbclient NT1 get, 1 GiB", smbclient_get, "bytes",
         floor.reads(floor.SMBCLIENT_BLOCK, BIG, outstanding=floor.OUTSTANDING)),
    Case("smbclient NT1 put, 1 GiB", smbclient_put, "bytes",
         floor.writes(floor.SMBCLIENT_BLOCK, BIG, outstanding=floor.OUTSTANDING)),
    Case("READ_RAW 65,535, serial", serial_read("LANMAN1", "read_raw", 65535, 512 * MB), "bytes",
         floor.reads(65535, 512 * MB, raw=True)),
    Case("WRITE_RAW 65,535, write-through", serial_write("LANMAN1", "write_raw", 65535, 256 * MB), "bytes",
         floor.raw_writes(65535, 256 * MB, through=True)),
    Case("WRITE_RAW 65,535, write-behind", write_behind(), "bytes", floor.raw_writes(65535, 256 * MB, through=False)),
    Case("READ_ANDX 61,440, serial", serial_read("NT1", "read_andx", 61440, 512 * MB), "bytes",
         floor.reads(61440, 512 * MB)),
    Case("WRITE_ANDX 61,440, serial", serial_write("NT1", "write_andx", 61440, 256 * MB), "bytes",
         floor.writes(61440, 256 * MB)),
    Case("READ_ANDX 4,096, serial", serial_read("NT1", "read_andx", 4096, 256 * MB), "bytes", floor.reads(4096, 256 * MB)),
    Case("WRITE_ANDX 4,096, serial", serial_write("NT1", "write_andx", 4096, 32 * MB), "bytes",
         floor.writes(4096, 32 * MB)),
    Case("open, read 512 B, close", repeat("NT1", open_read_close), "operations"),
    Case("list 10,000 names (names)", list_names, "operations"),
    Case("connect, log on, tree", connect_to_tree, "operations"),
    Case("lookup in another case among 50,000", repeat("NT1", other_case), "operations"),
    Case("creates and deletes among 50,000", repeat("NT1", create_delete, each=2), "operations"),
    Case("idle connection, of 1,000", idle_memory, "figures"),
    Case("bench.nbench, 4 clients", nbench, "figures"),
]
