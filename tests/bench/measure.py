"""What a server costs: CPU seconds and memory of its process and all it forked, read from /proc."""
import contextlib
import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def stat(pid):
    """Parent, and CPU ticks: of the process with its threads, and of the children it has waited for."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        # fields from the third on: state, ppid, … utime, stime, cutime, cstime are the 14th to the 17th
        return int(fields[1]), (sum(map(int, fields[11:13])), sum(map(int, fields[13:15])))
    return None


def tree(pid):
    """The process and its living descendants, with their ticks."""
    known = {int(entry): found for entry in os.listdir("/proc") if entry.isdigit() and (found := stat(entry))}
    members, grown = {pid}, True
    while grown:
        more = {child for child, (parent, _) in known.items() if parent in members} - members
        members |= more
        grown = bool(more)
    return {member: known[member][1] for member in members if member in known}


def cpu_seconds(pid):
    """CPU seconds so far. A child that ended counts through its parent, once that has waited for it."""
    return sum(clock(member, ticks) for member, ticks in tree(pid).items())


def clock(pid, ticks):
    """A process's CPU clock in nanoseconds (clock_getcpuclockid(3)) plus the ticks of the children it waited for."""
    own, waited = ticks
    with contextlib.suppress(OSError):
        return time.clock_gettime(~pid << 3 | 2) + waited / TICKS
    return (own + waited) / TICKS


def memory_kib(pid):
    """Proportional and private memory of the tree, in KiB. Memory the kernel keeps for it is not in these."""
    proportional = private = 0
    for member in tree(pid):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{member}/smaps_rollup").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name == "Pss":
                    proportional += int(rest.split()[0])
                elif name in ("Private_Clean", "Private_Dirty"):
                    private += int(rest.split()[0])
    return proportional, private
