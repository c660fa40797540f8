"""Which requests make a server sync, counted by strace, under each setting: docs/durability.md's comparison with smbd."""
import contextlib
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from peers import rawsmb, subject

from . import faults, load

CALLS = "fsync,fdatasync,openat"
NAME = "A.TXT"
# `strict sync`, `sync always`
SETTINGS = {"strict": ("yes", "no"), "always": ("yes", "yes"), "free": ("no", "no"), "free, always": ("no", "yes")}
BOTH = {"strict", "always"}
# Under which settings each request makes coax, and smbd 4.17, wait for the disk.
EXPECTED = {
    "create": ({"always"}, set()),
    "write": ({"always"}, {"always"}),
    "write through, WRITE_ANDX": (BOTH, BOTH),
    "write through, WRITE_RAW": (BOTH, BOTH),
    "write of nothing": ({"always"}, {"always"}),
    "flush": (BOTH, BOTH),
    "flush of all": (BOTH, BOTH),
    "flush of what only reads": (BOTH, BOTH),
    "close after a write": ({"always"}, set()),
    "write after NT_CREATE_ANDX with FILE_WRITE_THROUGH": (BOTH, BOTH),
    "write after OPEN_ANDX with the write-through bit": (BOTH, {"always"}),
    "write after OPEN with the write-through bit": (BOTH, {"always"}),
    "rename": ({"always"}, set()),
    "set attributes": ({"always"}, set()),
    "make folder": ({"always"}, set()),
    "remove folder": ({"always"}, set()),
    "delete": ({"always"}, set()),
}


def impossible():
    """Why syncs cannot be counted here, or nothing."""
    if not shutil.which("strace"):
        return "there is no strace"
    process = subprocess.Popen(["sleep", "9"])
    try:
        # A container or a hardened kernel may forbid it.
        trace = ["timeout", "-s", "INT", "1", "strace", "-qq", "-e", "trace=none", "-p", str(process.pid)]
        refused = "Operation not permitted" in subprocess.run(trace, capture_output=True, text=True).stderr
        return "strace may not attach" if refused else None
    finally:
        process.kill()
        process.wait()


class Tracer:
    """strace of a server and all it starts."""

    def __init__(self, pid, log):
        self.log = log
        command = ["strace", "-f", "-qq", "-e", f"trace={CALLS}", "-p", str(pid), "-o", str(log)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not (log.exists() and all_traced(pid)):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("strace does not attach")
            time.sleep(0.02)

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(10)

    def syncs(self, work):
        """How often `work` made the server wait: fsync, or an open after which every write waits."""
        before = len(self.log.read_bytes())
        # A traced call goes on when its line is written: at the reply all lines are there.
        work()
        said = self.log.read_bytes()[before:].decode(errors="replace")
        return len(re.findall(r"\bf(?:data)?sync\(", said)) + len(re.findall(r"O_SYNC.*= \d", said))


def all_traced(pid):
    """Whether every thread of the process has a tracer."""
    statuses = (task / "status" for task in Path(f"/proc/{pid}/task").iterdir())
    return all("TracerPid:\t0\n" not in status.read_text() for status in statuses)


def connected(server, age):
    smb = rawsmb.Connection(server.host, server.direct)
    smb.negotiate(age)
    smb.log_on(server.user, server.password)
    smb.tree_connect_andx(server.name, server.share)
    return smb


def steps(nt, lanman):
    """Name and work of each step, in the order in which they must run."""
    opened = {}

    def reopen(key, open_file):
        def work():
            opened[key] = open_file()
        return work

    writer = load.Worker(None, 2, 0, load.synced)  # for its WRITE_ANDX
    writer.smb = nt

    def nt_through():
        fid = nt.nt_create(NAME, options=0x42)
        writer.write_andx(fid, 0, b"n", 0)
        nt.close_file(fid)

    def dos_through(open_file):
        fid = open_file()
        lanman.write(fid, 0, b"o")
        opened["dos"] = fid

    yield "create", reopen("file", lambda: nt.nt_create(NAME, disposition=5))
    yield "write", lambda: writer.write_andx(opened["file"], 0, b"w" * 1000, 0)
    yield "write through, WRITE_ANDX", lambda: writer.write_andx(opened["file"], 0, b"t" * 1000, 1)
    yield "write of nothing", lambda: nt.write(opened["file"], 500, b"")
    yield "flush", lambda: nt.flush(opened["file"])
    yield "flush of all", lambda: nt.flush(0xFFFF)
    yield None, lambda: writer.write_andx(opened["file"], 0, b"w" * 1000, 0)
    yield "close after a write", lambda: nt.close_file(opened["file"])
    yield None, reopen("file", lambda: nt.nt_create(NAME, access=0x0012_0089))
    yield "flush of what only reads", lambda: nt.flush(opened["file"])
    yield None, lambda: nt.close_file(opened["file"])
    yield "write after NT_CREATE_ANDX with FILE_WRITE_THROUGH", nt_through
    for name, open_file in [
        ("OPEN_ANDX", lambda: lanman.open_andx(NAME, load.THROUGH)),
        ("OPEN", lambda: lanman.open(NAME, load.THROUGH)[0]),
    ]:
        yield f"write after {name} with the write-through bit", lambda open_file=open_file: dos_through(open_file)
        yield None, lambda: lanman.close_file(opened["dos"])
    yield None, reopen("raw", lambda: lanman.open_andx(NAME, load.PLAIN))
    yield "write through, WRITE_RAW", lambda: lanman.write_raw(opened["raw"], 0, b"r" * 1000, through=True)
    yield None, lambda: lanman.close_file(opened["raw"])
    yield "rename", lambda: nt.rename(f"\\{NAME}", "\\B.TXT")
    yield "set attributes", lambda: nt.setatr("\\B.TXT", 2)
    yield None, lambda: nt.setatr("\\B.TXT", 0)
    yield "make folder", lambda: nt.mkdir("\\D")
    yield "remove folder", lambda: nt.rmdir("\\D")
    yield "delete", lambda: nt.delete("\\B.TXT")


def count(kind, base, strict, always):
    """How often each step synced."""
    share = {"strict sync": strict, "sync always": always}
    with subject.start(kind, scratch=base, globals_=faults.GLOBALS, share=share) as server, contextlib.ExitStack() as stack:
        tracer = Tracer(server.pid, base / f"{kind}-{strict}-{always}.strace")
        stack.callback(tracer.close)
        nt, lanman = (stack.enter_context(connected(server, age)) for age in ("NT1", "LANMAN1"))
        found = {}
        for name, work in steps(nt, lanman):
            syncs = tracer.syncs(work)
            if name:
                found[name] = syncs
        return found


def compare(kinds, base):
    """Each server against what the documents say of it."""
    report = faults.Report()
    for column, kind in [(("coax", "smbd").index(kind), kind) for kind in kinds]:
        for setting, (strict, always) in SETTINGS.items():
            for name, syncs in count(kind, base, strict, always).items():
                report.replies += 1
                if (syncs > 0) != (setting in EXPECTED[name][column]):
                    report.wrong.append(f"{kind}, {setting}: {name}: {syncs} syncs")
    return report
