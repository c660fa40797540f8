"""What programs sent and received by system calls, and the state of TCP at each segment, from the kernel's own trace points.

One instance of tracefs records the socket calls of this thread's descendants, a second one TCP on the ports of SMB.
"""
import contextlib
import dataclasses
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

TRACEFS = Path("/sys/kernel/tracing")
BUFFER_KB = 49_152  # of each processor
CALLS = ("sock/sock_send_length", "sock/sock_recv_length", "tcp/tcp_sendmsg_locked")
SEGMENTS = ("tcp/tcp_probe", "tcp/tcp_cong_state_set")
PORTS = "sport==445||dport==445||sport==139||dport==139"


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """A system call's result: `size` bytes of `sock` were taken ("send") or read ("recv"); negative: an error.

    `offered`: what the program wanted to send, and when it began to wait for room."""

    at: int
    kind: str
    sock: str
    size: int
    offered: int
    began: int


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """TCP's state as a segment comes in, before it is processed."""

    at: int
    here: str
    there: str
    sock: str
    snd_nxt: int
    snd_una: int
    cwnd: int
    window: int


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """Congestion state from this time on: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss."""

    at: int
    sport: int
    dport: int
    source: str
    state: int


def impossible():
    """Why the kernel cannot be traced here, or None."""
    if os.geteuid() != 0:
        return "only root can trace the kernel"
    if "tracefs" not in Path("/proc/filesystems").read_text():
        return "the kernel has no tracefs"
    return None


def mount():
    """Mounts tracefs where it belongs, if nobody has."""
    if not (TRACEFS / "available_events").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], check=True, capture_output=True)
    lacking = [name for name in CALLS + SEGMENTS if not (TRACEFS / "events" / name).exists()]
    if lacking:
        raise RuntimeError(f"the kernel lacks trace points: {', '.join(lacking)}")


class Tracer:
    """Records while it is entered; `stop` saves it."""

    def __init__(self):
        base = TRACEFS / "instances"
        self.calls, self.segments = (base / f"coax-{os.getpid()}-{name}" for name in ("calls", "segments"))

    def __enter__(self):
        mount()
        remove_left_over()
        for instance, events in ((self.calls, CALLS), (self.segments, SEGMENTS)):
            instance.mkdir()
            write(instance / "trace_clock", "mono")
            write(instance / "buffer_size_kb", BUFFER_KB)
            for name in events:
                if instance == self.segments:
                    write(instance / "events" / name / "filter", PORTS)
                elif name.endswith("_length"):
                    # a client that asks again and again whether there is something to read would fill the buffer
                    more = "&&ret>0" if "recv" in name else ""
                    write(instance / "events" / name / "filter", f"family==2&&protocol==6{more}")
                write(instance / "events" / name / "enable", 1)
        write(self.calls / "options" / "event-fork", 1)
        write(self.calls / "set_event_pid", threading.get_native_id())
        return self

    def stop(self, folder):
        """Saves what was recorded, for `read`."""
        for instance in (self.calls, self.segments):
            write(instance / "tracing_on", 0)
            for stats in instance.glob("per_cpu/cpu*/stats"):
                if lost := re.search(r"overrun: ([1-9]\d*)", stats.read_text()):
                    raise RuntimeError(f"the kernel's trace lacks {lost[1]} events")
        write(folder / "clock", realtime_offset())
        for name, instance in (("calls", self.calls), ("segments", self.segments)):
            with open(instance / "trace", "rb") as trace, open(folder / name, "wb") as saved:
                shutil.copyfileobj(trace, saved, 1 << 20)

    def __exit__(self, *_):
        for instance in (self.calls, self.segments):
            with contextlib.suppress(OSError):
                write(instance / "tracing_on", 0)
                instance.rmdir()


def remove_left_over():
    """Instances of runs that were killed: each keeps memory."""
    for instance in (TRACEFS / "instances").glob("coax-*-*"):
        if not Path("/proc", instance.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                instance.rmdir()


def read(folder):
    """Calls, probes and states that a tracer saved."""
    offset = int((folder / "clock").read_text())
    return read_calls(folder / "calls", offset), *read_segments(folder / "segments", offset)


def write(path, value):
    path.write_text(f"{value}\n")


def realtime_offset():
    """CLOCK_REALTIME - CLOCK_MONOTONIC, in nanoseconds."""
    return min((time.time_ns() - time.monotonic_ns() for _ in range(50)), key=abs)


LINE = re.compile(r"-(\d+) +\[\d+\] \S+ +(\d+)\.(\d{6}): (\w+): (.*)")


def lines(path, offset):
    """(thread, time, event, fields) of each line."""
    with open(path, errors="replace") as trace:
        for line in trace:
            if not line.startswith("#") and (found := LINE.search(line)):
                thread, seconds, micro, event, rest = found.groups()
                yield int(thread), int(seconds) * 1_000_000_000 + int(micro) * 1000 + offset, event, rest


LENGTH = re.compile(r"sk address = (\w+), .*length = (\d+), error = (-?\d+), flags = (0x[0-9a-f]+|0)")


def read_calls(path, offset):
    """Send and receive calls in order. A call that only peeks is none."""
    found, offers = [], {}
    for thread, at, event, rest in lines(path, offset):
        if event == "tcp_sendmsg_locked":
            offers.setdefault(thread, (int(re.search(r"msg_left (\d+)", rest)[1]), at))
            continue
        sock, size, error, flags = LENGTH.search(rest).groups()
        if event == "sock_send_length":
            offered, began = offers.pop(thread, (0, at))
            found.append(Call(at, "send", sock, int(error) or int(size), max(offered, int(size)), began))
        elif not int(flags, 0) & 2:
            found.append(Call(at, "recv", sock, int(error) or int(size), 0, at))
    return found


PROBE = re.compile(r"src=(\S+) dest=(\S+) .*snd_nxt=(\w+) snd_una=(\w+) snd_cwnd=(\d+) ssthresh=\d+ snd_wnd=(\d+) .*skaddr=(\w+)")
STATE = re.compile(r"sport=(\d+) dport=(\d+) saddr=(\S+) .*cong_state=(\d+)")


def read_segments(path, offset):
    probes, states = [], []
    for _, at, event, rest in lines(path, offset):
        if event == "tcp_probe" and (match := PROBE.search(rest)):
            here, there, nxt, una, cwnd, window, sock = match.groups()
            probes.append(Probe(at, here, there, sock, int(nxt, 16), int(una, 16), int(cwnd), int(window)))
        elif event == "tcp_cong_state_set" and (match := STATE.search(rest)):
            sport, dport, source, state = match.groups()
            states.append(State(at, int(sport), int(dport), source, int(state)))
    return probes, states
