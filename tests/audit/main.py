"""The audit log of a server in its sandbox: what smbclient did, and what happens when nothing can be written.

Every expectation is made from what smbclient was told to do, never from the log itself.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peers import subject

PATIENCE_S = 30
DISK = "64k"
SYSLOG = Path("/dev/log")


class Failure(Exception):
    """What was expected and what was found."""


def check(is_so, what, *found):
    if not is_so:
        raise Failure(f"{what}: {found}")


def until(what, is_so):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := is_so():
            return found
        time.sleep(0.05)
    raise Failure(f"not within {PATIENCE_S} s: {what}")


def smbclient(running, commands, user=None, may_fail=False):
    who = user or f"{running.user}%{running.password}"
    command = ["smbclient", f"//{running.host}/{running.share}", "-s", "/dev/null", "-U", who, "-m", "NT1", "-p", str(running.direct),
               "--option=client min protocol=NT1", "-c", commands]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0 and not may_fail:
        raise Failure(f"{commands}: {done.stdout} {done.stderr}")
    return done.stdout


def entries(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def of(found, operation, path=None):
    return [entry for entry in found if entry["operation"] == operation and path in (None, entry.get("path"))]


@contextlib.contextmanager
def served(folder, target, **globals_):
    """coax with an audit log, as it is installed: in its sandbox."""
    with subject.start("coax", folder, globals_={"coax:audit": target, **globals_}, more_shares={"safe": {"read only": "yes"}}) as running:
        yield running


def operations(folder):
    """smbclient's operations, each with its entry."""
    log, local = folder / "audit.jsonl", folder / "local.bin"
    local.write_bytes(os.urandom(70_000))
    name = "it's, a \u202e name.txt"
    with served(folder, log) as running:
        (running.folder / "was.here").write_bytes(b"x" * 1234)
        smbclient(running, f'mkdir sub; put {local} sub/new.bin; get sub/new.bin /dev/null; rename sub/new.bin sub/moved.bin; '
                           f'get was.here /dev/null; del was.here; put {local} "{name}"; del sub/*; rmdir sub')
        smbclient(dataclasses.replace(running, share="safe"), f"put {local} no.bin", may_fail=True)
        smbclient(running, "ls", user="smbtest%wrong", may_fail=True)
        until("the last close", lambda: of(entries(log), "refused"))
        check(log.stat().st_mode & 0o777 == 0o600, "the mode of the file", oct(log.stat().st_mode))
    found = entries(log)
    for entry in found:
        check(entry["schema"] == 1 and entry["time"].endswith("Z") and entry["address"].startswith("127.0.0.1:"), "common fields", entry)
        check(entry["client"] > 0 and (entry["operation"] == "refused" or entry["system"]), "the client", entry)
    in_order = [(entry["operation"], entry["path"]) for entry in found if entry["operation"] not in ("connect", "refused", "open", "close")]
    check(in_order == [("mkdir", "sub"), ("rename", "sub/new.bin"), ("delete", "was.here"), ("delete", "sub/moved.bin"), ("rmdir", "sub")],
          "changes of names, in their order", in_order)
    [rename] = of(found, "rename")
    check(rename["to"] == "sub/moved.bin" and rename["user"] == running.user and rename["share"] == running.share, "the rename", rename)
    written, read = of(found, "close", "sub/new.bin")[:2]
    check((written["bytes_written"], written["bytes_read"]) == (70_000, 0), "the close after the put", written)
    check((read["bytes_written"], read["bytes_read"]) == (0, 70_000), "the close after the get", read)
    opened = of(found, "open", "sub/new.bin")
    check(opened[0]["action"] == "created" and opened[0]["open"] == written["open"] != read["open"], "numbers of opens", opened)
    closed = (of(found, "close", name) or [None])[0]
    check(closed, "the name in the log", [entry.get("path") for entry in found])
    check(closed["bytes_written"] == 70_000, "a name with a quote and a mark of direction", closed)
    check("\u202e" not in log.read_text() and "\\u202e" in log.read_text(), "the mark is escaped", name)
    [refused] = [entry for entry in of(found, "refused") if entry.get("share") == "safe"]
    check(refused["path"] == "\\no.bin" and refused["result"] != "ok" and "read-only" in refused["why"], "the refused put", refused)
    check(any(entry["operation"] == "refused" and "share" not in entry for entry in found), "the refused log-on", of(found, "refused"))
    return f"{len(found)} entries"


def status(socket_path):
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(10)
        asking.connect(str(socket_path))
        asking.sendall(b'{"ask":"status"}\n')
        return json.loads(b"".join(iter(lambda: asking.recv(1 << 16), b"")))["audit"]


def churn(running, count, prefix):
    """Creates and deletes folders: `count` of each."""
    commands = "; ".join(f"mkdir {prefix}{number}; rmdir {prefix}{number}" for number in range(count))
    smbclient(running, commands)


@contextlib.contextmanager
def tiny_disk(folder):
    mount = folder / "disk"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", mount], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


def full_disk(folder):
    """A disk that fills up delays nobody, loses only what does not fit into memory, and says how much."""
    control = folder / "status"
    with tiny_disk(folder) as disk:
        log, ballast = disk / "audit.jsonl", disk / "ballast"
        limits = {"coax:status socket": control, "coax:audit queue": 32}
        with served(folder, log, **limits) as running:
            ballast.write_bytes(b"x" * 40_000)
            churn(running, 150, "A")
            state = until("the disk is full", lambda: (s := status(control))["problem"] and s)
            check("No space left" in state["problem"], "the problem", state)
            began = time.monotonic()
            churn(running, 150, "B")
            took = time.monotonic() - began
            check(took < PATIENCE_S, "operations on the full disk", took)
            state = status(control)
            check(state["dropped"] > 0 and state["waiting"] > 0, "what does not fit", state)
            ballast.unlink()
            until("the disk has room", lambda: status(control)["waiting"] == 0)
            smbclient(running, "mkdir LAST")
            until("the last entry", lambda: of(entries(log), "mkdir", "LAST"))
            state = status(control)
        found = entries(log)
    missing = sum(entry["entries"] for entry in of(found, "dropped"))
    recorded = [entry for entry in found if entry["operation"] != "dropped"]
    check(missing == state["dropped"], "the missing entries are counted", missing, state)
    # 300 folders made and removed, one more made, by three connections
    check(len(recorded) + missing == 604, "each entry is written or counted", len(recorded), missing)
    return f"{len(recorded)} entries written, {missing} dropped"


def daemon(path):
    """A syslog daemon: the socket is all that a client sees of it."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(str(path))
    path.chmod(0o666)
    listening.settimeout(PATIENCE_S)
    return listening


def heard(listening, text):
    while text not in (line := listening.recv(1 << 16).decode()):
        pass
    return line


def syslog(folder):
    """The daemon is absent at the start, comes, goes and comes back; nothing is lost meanwhile."""
    if SYSLOG.exists() or SYSLOG.is_symlink():
        return "SKIPPED: a daemon has /dev/log"
    try:
        with served(folder, "syslog:local5") as running:
            smbclient(running, "mkdir ONE")
            listening = daemon(SYSLOG)
            line = heard(listening, '"path":"ONE"')
            check(line.startswith("<173>"), "facility local5, severity notice", line)
            entry = json.loads(line.split("]: ", 1)[1])
            check(entry["operation"] == "mkdir", "the entry", entry)
            listening.close()
            SYSLOG.unlink()
            smbclient(running, "mkdir TWO; rmdir TWO")
            listening = daemon(SYSLOG)
            heard(listening, '"path":"TWO"')
            listening.close()
            return "absent, back, and back again"
    finally:
        SYSLOG.unlink(missing_ok=True)


def rotation(folder):
    """logrotate's way: rename, then SIGUSR1."""
    log = folder / "audit.jsonl"
    with served(folder, log) as running:
        smbclient(running, "mkdir OLD")
        until("the entry", lambda: of(entries(log), "mkdir"))
        log.rename(folder / "audit.1")
        os.kill(running.pid, signal.SIGUSR1)
        until("the new file", log.exists)
        smbclient(running, "mkdir NEW")
        until("its entry", lambda: of(entries(log), "mkdir", "NEW"))
    check(of(entries(folder / "audit.1"), "mkdir", "OLD"), "the old file keeps its entries")
    check(not of(entries(log), "mkdir", "OLD"), "the new file begins anew")
    return "the new file has the new entries"


def unwritable(folder):
    """A file that cannot be written prevents the start, and the message says what to do."""
    done = subprocess.run([subject.coax_binary(), "serve", str(folder), "--audit", "/no/such/folder/log", "--direct", "127.0.0.1:0"],
                          capture_output=True, text=True, timeout=60)
    check(done.returncode == 1 and "/no/such/folder/log" in done.stderr and "help" in done.stderr, "the error", done)
    return "refused"


CASES = (operations, full_disk, syslog, rotation, unwritable)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases, separated by commas")
    wanted = [name for name in parser.parse_args().only.split(",") if name]
    if not shutil.which("smbclient"):
        print("audit: SKIPPED, not installed: smbclient", file=sys.stderr)
        return 0
    wrong = 0
    for case in CASES:
        if wanted and case.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="audit-") as scratch:
            Path(scratch).chmod(0o755)
            try:
                print(f"{case.__name__}: {case(Path(scratch))}", flush=True)
            except Failure as failure:
                wrong += 1
                print(f"{case.__name__}: FAILED: {failure}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
