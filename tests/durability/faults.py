"""The faults: kill -9, power cuts, a disk without room. Each returns a report."""
import contextlib
import dataclasses
import os
import random
import signal
import time
from pathlib import Path

from peers import rawsmb, subject

from . import disk, load

GLOBALS = {"write raw": "yes"}
IMAGE_MIB = 128
WORKERS = 6
DISK_FULL = 0xC000007F


@dataclasses.dataclass
class Report:
    """What happened: faults, replies, promises, and what is wrong."""

    faults: int = 0
    replies: int = 0
    promised: int = 0
    lost: int = 0
    wrong: list = dataclasses.field(default_factory=list)

    def add(self, sentences, lost):
        self.wrong += sentences
        self.lost += lost

    def count(self, workers):
        self.replies += sum(worker.replies for worker in workers)
        self.promised += sum(getattr(worker, "promised", worker.replies) for worker in workers)

    def __str__(self):
        return f"{self.faults} faults, {self.replies} replies, {self.promised} promises, {self.lost} lost"


@dataclasses.dataclass
class Plan:
    """What clients do, and what they are promised under these settings of the share."""

    promises: object
    share: dict = dataclasses.field(default_factory=dict)
    mix: dict = dataclasses.field(default_factory=lambda: load.ALL)
    connections: int = WORKERS

    def workers(self, server, seed):
        return [load.Worker(server, number, seed, self.promises, self.mix) for number in range(self.connections)]


# --- client crash and kill -9


def kill(base, seed, seconds):
    """Cuts off half of the clients and then kills the server, again and again; every acknowledged change must be in the
    folder."""
    report, chance, deadline = Report(), random.Random(f"kill {seed}"), time.monotonic() + seconds
    while time.monotonic() < deadline:
        round_of_kill(base, report, f"{seed} {report.faults}", chance.uniform(0.3, 1.5))
    return report


def round_of_kill(base, report, seed, wait):
    with subject.start("coax", scratch=base, globals_=GLOBALS) as server:
        source = base / "source.bin"
        source.write_bytes(random.Random(seed).randbytes(700_000))
        clients = [*Plan(load.everything).workers(server, seed), *programs(server, source)]
        with load.running(clients):
            time.sleep(wait)
            load.check(clients)
            for client in clients[: WORKERS // 2]:
                client.crash()
            time.sleep(0.1)
            for client in clients:
                client.ending = True
            os.kill(server.pid, signal.SIGKILL)
        load.check(clients)
        report.faults += 1
        report.count(clients)
        for client in clients:
            if isinstance(client, load.Worker):
                for record in client.records:
                    report.add(*record.losses(server.folder))
            else:
                for sentence, lost in client.losses(server.folder):
                    report.add([sentence], lost)


def programs(server, source):
    """coax's own client, and smbclient where there is one."""
    place = f"smb://{server.user}:{server.password}@{server.host}:{server.direct}/{server.share}"
    own = [subject.coax_binary(), "put", str(source)]
    yield load.Puts("coax", lambda name: [*own, f"{place}/{name}"], source)
    if Path(subject.program("smbclient")).is_file():
        start = [subject.program("smbclient"), "-s", "/dev/null", f"//{server.host}/{server.share}", "-p", str(server.direct)]
        start += ["-m", "NT1", "--option=client min protocol=NT1", "-U", f"{server.user}%{server.password}", "-c"]
        yield load.Puts("smbclient", lambda name: [*start, f"put {source} {name}"], source)


# --- power cuts


def power(base, seed, seconds, plan):
    """Cuts the power under load, again and again; every promised change must be on the disk."""
    report, chance, deadline = Report(), random.Random(f"power {seed}"), time.monotonic() + seconds
    while time.monotonic() < deadline:
        round_of_power(base, report, f"{seed} {report.faults}", chance, plan)
    return report


CUTS_PER_DISK = 4


def round_of_power(base, report, seed, chance, plan):
    image, folder = base / "disk.img", base / "disk"
    disk.make(image, IMAGE_MIB)
    cuts = []
    with disk.mounted(image, folder) as device:
        data = folder / "share"
        data.mkdir(exist_ok=True)
        disk.command("sync", "-f", folder)
        with subject.start("coax", scratch=base, globals_=GLOBALS, share=plan.share, folder=data) as server:
            clients = plan.workers(server, seed)
            with load.running(clients):
                for number in range(CUTS_PER_DISK):
                    time.sleep(chance.uniform(0.1, 0.5))
                    load.check(clients)
                    cuts.append(cut(server, clients, (image, device, base / f"cut-{number}.img")))
            load.check(clients)
            report.count(clients)
    for copy, records in cuts:
        report.faults += 1
        with disk.mounted(copy, base / "after"):
            for record in records:
                report.add(*record.losses(base / "after" / "share"))
        copy.unlink()
    image.unlink()


def cut(server, clients, place):
    """The disk at this moment, and what clients had been promised by then. The server goes on afterwards."""
    image, device, copy = place
    os.kill(server.pid, signal.SIGSTOP)
    try:
        wait_until_stopped(server.pid)
        # A reply that is read after this counts as not received, which promises less.
        records = [record for client in clients for record in client.snapshot()]
        disk.snapshot(image, device, copy)
        return copy, records
    finally:
        os.kill(server.pid, signal.SIGCONT)


def wait_until_stopped(pid, seconds=30):
    """A thread within an fsync stops when that is done."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        states = set()
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError):
                states.add((task / "stat").read_text().rpartition(")")[2].split()[0])
        if states <= {"T"}:
            return
        time.sleep(0.002)
    raise RuntimeError("the server does not stop")


# --- a disk without room


def full(base):
    """Writes beyond the end of a file on a small disk: refused with `strict allocate`, the length kept."""
    report = Report()
    image, folder = base / "small.img", base / "small"
    disk.make(image, 60)
    with disk.mounted(image, folder):
        for strict in ("yes", "no"):
            share = {"strict allocate": strict}
            with subject.start("coax", scratch=base, share=share, folder=folder / "share") as server:
                for age in ("NT1", "LANMAN1"):
                    report.faults += 1
                    report.add(*beyond_the_end(server, age, strict == "yes"))
    image.unlink()
    return report


def beyond_the_end(server, age, strict):
    with rawsmb.Connection(server.host, server.direct) as smb:
        smb.negotiate(age)
        smb.log_on()
        smb.tree_connect_andx(server.name, server.share)
        name = f"GAP{age[:3]}.{'YES' if strict else 'NO'}"
        fid = smb.create(name)
        smb.write(fid, 0, b"kept")
        status = 0
        try:
            smb.write(fid, 1 << 30, b"!")
        except rawsmb.SmbError as error:
            status = error.status
        size = (server.folder / name).stat().st_size
        smb.write(fid, 1 << 20, b"!")  # this gap has room
        smb.close_file(fid)
    after = (server.folder / name).stat()
    (server.folder / name).unlink()
    if not strict:
        fits = (status, size) == (0, (1 << 30) + 1)
        return ([], 0) if fits else ([f"{age}: a sparse write gave {status:#x} and {size} bytes"], 1)
    full_disk = status == DISK_FULL or (status & 0xFF, status >> 16) == (1, 112)
    reserved = after.st_blocks * 512 >= 1 << 20
    if full_disk and size == 4 and after.st_size == (1 << 20) + 1 and reserved:
        return [], 0
    return [f"{age}: status {status:#x}, {size} bytes, then {after.st_size} bytes in {after.st_blocks} blocks"], 1
