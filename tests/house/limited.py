"""Commands with a limit of time. One that exceeds it is ended with everything it started, and what ran then is named."""
import os
import signal
import subprocess
import threading
from pathlib import Path


def run(command, limit_s, **options):
    """The exit code, the seconds of processor time, and an account of what ran at the limit (None if it ended before it)."""
    process = subprocess.Popen(command, **options)
    accounts = []

    def end():
        tree = descendants(process.pid)
        accounts.append(f"still running after {limit_s} s:\n" + "\n".join(filter(None, map(described, tree))))
        for pid in tree:
            kill(pid)
    timer = threading.Timer(limit_s, end)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    timer.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, accounts[0] if accounts else None


def descendants(root):
    """A process and all below it, parents first."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def described(pid):
    """One line: the command and the names of its threads. The threads of Rust's tests bear the tests' names."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        names = sorted({path.read_text().strip() for path in Path(f"/proc/{pid}/task").glob("*/comm")})
    except OSError:
        return None
    return f"  {pid} {command[:120]} [{', '.join(names[:12])}]"


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
