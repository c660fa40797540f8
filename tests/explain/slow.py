"""`coax explain` on slow operations other than copies, between real programs: smbd as the server, smbclient, impacket and a raw client.

Each case makes something slow on purpose: an oplock that is given back late or never, a lock that another client has, a file that is
open elsewhere, a folder that takes long to list, a share that takes long to connect, a print command that takes long. The report has
to name the operation, what it waited for, how long, and whom.
"""
import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from impacket import smb
from peers import rawsmb, subject

NAMES = 50_000
REQUEST_OPLOCKS = 0x06  # exclusive and batch ([MS-CIFS] 2.2.4.64.1)
LOCKING_ANDX = 0x24


@contextlib.contextmanager
def captured(port, into):
    """What passes the server's port on the loopback interface."""
    command = [subject.program("tcpdump"), "-i", "lo", "-s", "300", "-w", str(into), "--immediate-mode", "-U", f"tcp port {port}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        process.stderr.readline()
        try:
            yield
        finally:
            time.sleep(0.5)
            process.terminate()
            process.stderr.read()


def made(server, name):
    """A file that every user may write."""
    path = server.folder / name
    path.write_bytes(b"x" * 100)
    path.chmod(0o666)


def raw(server):
    client = rawsmb.Connection(server.host, server.direct, timeout=60)
    client.negotiate("NT1")
    client.log_on(server.user, subject.PASSWORD)
    client.tree_connect_andx("127.0.0.1", subject.SHARE)
    return client


def open_with_oplock(client, path, share=7):
    """NT_CREATE_ANDX with a batch oplock: the FID."""
    name = path.encode() + b"\0"
    words = rawsmb.NO_ANDX + rawsmb.struct.pack("<BHIIIQIIIIIB", 0, len(name) - 1, REQUEST_OPLOCKS, 0, 0x0012019F, 0, 0x80, share, 3, 0x40, 2, 0)
    reply = client.call(rawsmb.NT_CREATE_ANDX, words, name)
    return rawsmb.struct.unpack_from("<H", reply.words, 5)[0]


def lock(client, fid, offset, wait_ms, unlock=False):
    words = rawsmb.NO_ANDX + rawsmb.struct.pack("<HBBIHH", fid, 0, 0, wait_ms, int(unlock), int(not unlock))
    return client.call(LOCKING_ANDX, words, rawsmb.struct.pack("<HII", client.pid & 0xFFFF, offset, 10))


def smbclient(server, commands, share=None, check=True):
    line = [subject.program("smbclient"), f"//{server.host}/{share or subject.SHARE}", "-p", str(server.direct), "-U", f"{server.user}%{subject.PASSWORD}",
            "-m", "NT1", "--option=client min protocol=NT1", "-c", commands]
    return subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=check, timeout=120)


@contextlib.contextmanager
def opener(server):
    """A logged-on client of impacket, as a function that opens and closes a file."""
    client = smb.SMB("*SMBSERVER", server.host, sess_port=server.direct)
    client.login(server.user, subject.PASSWORD)
    tree = client.tree_connect_andx(f"\\\\{server.host}\\{subject.SHARE}")
    yield lambda path: client.close(tree, client.nt_create_andx(tree, path))
    client.close_session()


def oplock_given_back_late(server):
    made(server, "held.doc")
    with raw(server) as holder, opener(server) as opens:
        fid = open_with_oplock(holder, "held.doc")
        threading.Timer(2, lambda: holder.send(rawsmb.CLOSE, rawsmb.struct.pack("<HI", fid, 0))).start()
        opens("held.doc")
        time.sleep(0.3)


def oplock_never_given_back(server):
    made(server, "kept.doc")
    holder = raw(server)
    with opener(server) as opens:
        open_with_oplock(holder, "kept.doc")
        threading.Timer(2.5, holder.close).start()
        opens("kept.doc")


def lock_held(server):
    made(server, "data.dbf")
    with raw(server) as holder, raw(server) as waiter:
        fids = [client.nt_create("data.dbf") for client in (holder, waiter)]
        lock(holder, fids[0], 20, 0)
        threading.Timer(1.5, lambda: lock(holder, fids[0], 20, 0, unlock=True)).start()
        lock(waiter, fids[1], 20, 20_000)
        time.sleep(0.3)


def lock_polled(server):
    """A program that asks again until it gets the lock, as old databases do."""
    made(server, "poll.dbf")
    with raw(server) as holder, raw(server) as waiter:
        fids = [client.nt_create("poll.dbf") for client in (holder, waiter)]
        lock(holder, fids[0], 20, 0)
        until = time.monotonic() + 1.5
        while True:
            if time.monotonic() > until:
                lock(holder, fids[0], 20, 0, unlock=True)
            try:
                return lock(waiter, fids[1], 20, 0)
            except rawsmb.SmbError:
                time.sleep(0.1)


def open_elsewhere(server):
    made(server, "own.xls")
    with raw(server) as holder:
        name = b"own.xls\0"
        words = rawsmb.NO_ANDX + rawsmb.struct.pack("<BHIIIQIIIIIB", 0, len(name) - 1, 0, 0, 0x0012019F, 0, 0x80, 0, 1, 0x40, 2, 0)
        holder.call(rawsmb.NT_CREATE_ANDX, words, name)
        smbclient(server, "get own.xls /dev/null", check=False)


def large_folder(server):
    folder = server.folder / "many"
    folder.mkdir()
    for number in range(NAMES):
        (folder / f"a file with a long name, number {number:05}.txt").touch()
    smbclient(server, "cd many; ls", share="careful")


def slow_connect(server):
    smbclient(server, "ls", share="slow")


def print_job(server):
    (server.folder / "page.txt").write_bytes(b"page" * 5000)
    smbclient(server, f"print {server.folder}/page.txt", share="lp")


def free_space(server):
    smbclient(server, "ls", share="full")


# the case; kind, reason, least and most seconds, name, whether another connection is named, advice
CASES = {
    "oplock-late": (oplock_given_back_late, "open", "oplock-break", 1.5, 4, "held.doc", True, "samba-no-oplocks-on-shared-files"),
    "oplock-never": (oplock_never_given_back, "open", "oplock-break", 2, 5, "kept.doc", True, "samba-no-oplocks-on-shared-files"),
    "lock-held": (lock_held, "lock", "lock-held", 1.2, 4, "data.dbf", True, "locked-elsewhere"),
    "lock-polled": (lock_polled, "lock", "lock-held", 1.2, 4, "poll.dbf", True, "locked-elsewhere"),
    "open-elsewhere": (open_elsewhere, "open", "sharing-violation", 0.8, 4, "own.xls", False, "open-elsewhere"),
    "listing": (large_folder, "listing", "server-think", 0.5, 60, "many", False, "samba-listing-checks-every-file"),
    "log-on": (slow_connect, "log-on", "server-think", 1.4, 10, None, False, "samba-log-on-lookups"),
    "print": (print_job, "print-job", "server-think", 1.4, 10, None, False, "samba-print-command"),
    "free-space": (free_space, "request", "server-think", 1.4, 10, None, False, "samba-free-space"),
}


@contextlib.contextmanager
def server():
    """smbd with shares that are slow."""
    with tempfile.TemporaryDirectory(prefix="coax-slow-") as folder:
        folder = Path(folder)
        folder.chmod(0o755)
        script, files = folder / "dfree", folder / "files"
        script.write_text("#!/bin/sh\nsleep 1.5\necho 1000000 500000\n")
        script.chmod(0o755)
        printer = {"path": "/tmp", "printable": "yes", "printing": "bsd", "print command": "sleep 1.5; rm -f %s", "lpq command": "true"}
        more = {"slow": {"path": "/tmp", "preexec": "sleep 1.5"}, "full": {"path": "/tmp", "dfree command": str(script)}, "lp": printer,
                "careful": {"path": str(files), "hide unreadable": "yes"}}
        settings = {"load printers": "no", "disable spoolss": "yes", "printcap name": "/dev/null"}
        with subject.smbd(more_shares=more, globals_=settings, folder=files) as smbd:
            yield smbd


def explained(capture):
    command = [subject.coax_binary(), "explain", "--json", str(capture)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["captures"][0]


def faults(report, kind, reason, least, most, name, has_holder, advice):
    """What is wrong with the report of a case."""
    found = [one for one in report["operations"] if one["kind"] == kind and (reason is None or one["reason"] == reason)]
    if not found:
        kinds = [(one["kind"], one["reason"]) for one in report["operations"]]
        return [f"no {kind} because of {reason}: {kinds}"]
    one = max(found, key=lambda it: it["wall_s"])
    total = sum(cause["seconds"] for cause in one["causes"])
    checks = [
        (least <= one["wall_s"] <= most, f"took {one['wall_s']} s, expected {least} to {most}"),
        (abs(total - one["wall_s"]) < 1e-6, f"its causes add up to {total} s, not to {one['wall_s']} s"),
        (name is None or name in (one["name"] or ""), f"is about {one['name']}, not {name}"),
        ((one["holder"] is not None) == has_holder, f"holder {one['holder']}"),
        (not one["holder"] or one["holder"]["connection"] != one["connection"], "waited for its own connection"),
        (advice is None or advice in [it["id"] for it in one["advice"]], f"advice {[it['id'] for it in one['advice']]}, expected {advice}"),
        (kind != "listing" or one["names"] >= NAMES, f"{one['names']} names"),
        (kind != "print-job" or one["bytes"] == 20_000, f"{one['bytes']} bytes printed"),
    ]
    return [what for holds, what in checks if not holds]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases, comma-separated")
    parser.add_argument("--keep", type=Path, help="a folder for the captures")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(CASES)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch, server() as smbd:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for key in chosen:
            act, *expected = CASES[key]
            capture = folder / f"{key}.pcap"
            with captured(smbd.direct, capture):
                act(smbd)
            wrong = faults(explained(capture), *expected)
            failed += bool(wrong)
            print(f"{key:<16} {'right' if not wrong else 'WRONG: ' + '; '.join(wrong)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
