"""The account of `coax status` beside `coax explain`: the same copies, each slow for one reason.

The server's account needs no packets; `explain` reads a capture that tcpdump took at the server meanwhile. Both must name the cause for
which the copy was made slow, and they may not differ by more than MOVED points of the copy's time in sum. Times are not compared.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from explain.copies import list_of
from explain.rig import captured, content, inside
from lab.link import CLIENT, SERVER, Emulator, Link, Namespace, impossible
from peers import subject

LIMIT_S, LOOK_S = 60, 0.02
TRIES = 3  # other programs can keep client or server from the processor, which the two accounts see at different places
MOVED = 25  # points; the bound that explain.fixed has for explain beside the referee
MBIT = 1_000_000
LIBRARIES = ("impacket", "pysmb")


@dataclasses.dataclass(frozen=True)
class Case:
    """A copy and why it is slow."""

    name: str
    cause: str  # empty: what explain says
    link: Link
    client: str = "modern"  # a redirector of coax, or "smbclient"
    verb: str = "get"
    bytes: int = 1_500_000
    raw: bool = True  # the server offers raw mode
    window: int = 0  # the client's receive buffer, bytes
    slow_disk_ms: int = 0  # each sendfile and write of the server
    pause_ms: int = 0  # of the client's program after each 16 KB
    rate: str = ""  # curl reads or writes no faster


CASES = (
    Case("paced-get", "bandwidth", Link(rate=10 * MBIT, delay=0.001)),
    Case("paced-put", "bandwidth", Link(rate=10 * MBIT, delay=0.001), verb="put"),
    Case("small-blocks-get", "round-trips", Link(rate=100 * MBIT, delay=0.008), client="nt-4-copy", raw=False, bytes=400_000),
    Case("put-over-delay", "round-trips", Link(rate=100 * MBIT, delay=0.010), client="nt-4-copy", verb="put", raw=False, bytes=400_000),
    Case("raw-put-over-delay", "", Link(rate=100 * MBIT, delay=0.010), client="nt-4-copy", verb="put", bytes=2_000_000),
    Case("small-window", "receive-window", Link(rate=100 * MBIT, delay=0.010), client="smbclient", window=4096, bytes=400_000),
    Case("slow-disk", "server-think", Link(rate=100 * MBIT, delay=0.0005), client="windows-2000", slow_disk_ms=40, bytes=2_000_000),
    Case("slow-client", "client-think", Link(rate=100 * MBIT, delay=0.0005), client="windows-2000", verb="put", pause_ms=40, bytes=600_000),
    Case("slow-reader", "client-think", Link(rate=100 * MBIT, delay=0.0005), pause_ms=40, bytes=600_000),
)

# Made after the account was finished, with other clients, sizes, delays and windows: their first results are in docs/evidence/waits.md.
FRESH = (
    Case("curl-get-limited", "", Link(rate=50 * MBIT, delay=0.002), client="curl", rate="300K", bytes=900_000),
    Case("impacket-get", "", Link(rate=20 * MBIT, delay=0.015), client="impacket", bytes=700_000),
    Case("impacket-get-slow-program", "", Link(rate=100 * MBIT, delay=0.003), client="impacket", pause_ms=60, bytes=800_000),
    Case("pysmb-get-slow-program", "", Link(rate=100 * MBIT, delay=0.001), client="pysmb", pause_ms=25, bytes=900_000),
    Case("smbclient-get-16k-window", "", Link(rate=100 * MBIT, delay=0.030), client="smbclient", window=16_384, bytes=900_000),
    Case("smbclient-get-2mbit", "", Link(rate=2 * MBIT, delay=0.004), client="smbclient", bytes=500_000),
    Case("curl-put-losses", "", Link(rate=20 * MBIT, delay=0.005, loss_every=60), client="curl", verb="put", bytes=1_500_000),
    Case("impacket-put-slow-disk", "", Link(rate=100 * MBIT, delay=0.001), client="impacket", verb="put", slow_disk_ms=15, bytes=2_500_000),
    Case("slow-reader-far", "", Link(rate=100 * MBIT, delay=0.012), pause_ms=25, bytes=1_000_000),
    Case("slow-reader-one-request", "", Link(rate=30 * MBIT, delay=0.001), client="windows-2000", pause_ms=70, bytes=900_000),
)


class Looking(threading.Thread):
    """Asks the status socket again and again and keeps the last account of a copy."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.over, self.copy, self.advice = path, threading.Event(), None, None

    def run(self):
        while not self.over.wait(LOOK_S):
            with contextlib.suppress(OSError, ValueError):
                self.look()

    def look(self):
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(5)
            asking.connect(str(self.path))
            asking.sendall(b'{"ask":"status"}\n')
            text = b"".join(iter(lambda: asking.recv(1 << 16), b""))
        for client in json.loads(text)["clients"]:
            copy = (client.get("account") or {}).get("copy")
            if copy and copy["wall_us"] and (self.copy is None or copy["wall_us"] >= self.copy["wall_us"]):
                self.copy, self.advice = copy, client.get("advice") or self.advice

    def stop(self):
        self.over.set()
        self.join(10)


@contextlib.contextmanager
def slowed(pid, case):
    """The kernel's answer to each hand-over of a file to the socket, and to each write, comes late."""
    if not case.slow_disk_ms:
        yield
        return
    calls = "sendfile,pwrite64,pread64,preadv2"
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:delay_enter={case.slow_disk_ms * 1000}",
               "--seccomp-bpf", "-p", str(pid)]
    command.remove("--seccomp-bpf")  # works only for programs that strace starts
    tracer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    try:
        yield
    finally:
        tracer.terminate()
        tracer.wait(10)


def command_of(case, running, local):
    if case.client == "smbclient":
        words = f"lcd {local}; {case.verb} BIG.BIN"
        options = [f"--option=socket options=TCP_NODELAY SO_RCVBUF={case.window}"] if case.window else []
        return ["smbclient", f"//{SERVER}/{running.share}", "-s", "/dev/null", "-U", f"{running.user}%{running.password}", "-m", "NT1", "-p", "445",
                "--option=client min protocol=NT1", *options, "-c", words]
    if case.client == "curl":
        url = f"smb://{SERVER}:445/{running.share}/BIG.BIN"
        limit = ["--limit-rate", case.rate] if case.rate else []
        way = ["-o", local / "BIG.BIN"] if case.verb == "get" else ["-T", local / "BIG.BIN"]
        return ["curl", "-sS", "-u", f"{running.user}:{running.password}", *limit, *way, url]
    if case.client in LIBRARIES:
        script = Path(__file__).with_name("other.py")
        return [sys.executable, script, case.client, case.verb, SERVER, running.share, running.user, running.password, local / "BIG.BIN",
                "--pause-ms", case.pause_ms]
    url = f"smb://{running.user}:{running.password}@{SERVER}/{running.share}/BIG.BIN"
    command = [subject.coax_binary(), case.verb, "--as", case.client, "--allow-weak", "--called", "SUBJECT", "--transport", "direct"]
    file = "-" if case.pause_ms else local / "BIG.BIN"
    return [*command, *((url, file) if case.verb == "get" else (file, url))]


def copied(case, running, local):
    """Makes the copy; its program's pauses are those of a pipe that fills slowly."""
    command = command_of(case, running, local)
    client = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pauses = case.pause_ms and case.client not in LIBRARIES
    if pauses and case.verb == "get":
        while client.stdout.read(16_384):
            time.sleep(case.pause_ms / 1e3)
    elif pauses:
        whole = (local / "BIG.BIN").read_bytes()
        for at in range(0, len(whole), 16_384):
            client.stdin.write(whole[at : at + 16_384])
            client.stdin.flush()
            time.sleep(case.pause_ms / 1e3)
    _, errors = client.communicate(timeout=LIMIT_S)
    if client.returncode != 0:
        raise RuntimeError(f"{case.name}: {errors.decode(errors='replace')}")


def explained(path):
    """The shares of the longest copy by `coax explain`."""
    done = subprocess.run([subject.coax_binary(), "explain", "--json", path], capture_output=True, text=True, timeout=120)
    copies = json.loads(done.stdout)["captures"][0]["copies"]
    copy = max(copies, key=lambda one: one["wall_s"])
    return {row["cause"]: row["seconds"] / copy["wall_s"] for row in copy["causes"]}


def run(case, folder):
    """The shares by the account and by explain, and the first advice."""
    client, server = Namespace(CLIENT, SERVER), Namespace(SERVER, CLIENT)
    try:
        for namespace, here, there in ((client, CLIENT, SERVER), (server, SERVER, CLIENT)):
            with inside(namespace):
                for words in ("link set lo up", f"route replace {there} dev lab0 src {here}"):
                    subprocess.run(["ip", *words.split()], check=True)
        emulator = Emulator(case.link, client, server, LIMIT_S)
        with contextlib.suppress(OSError):
            os.sched_setscheduler(emulator.process.pid, os.SCHED_FIFO, os.sched_param(1))
        try:
            return measured(case, client, server, folder)
        finally:
            emulator.stop()
    finally:
        client.close()
        server.close()


def settings(case, status):
    raw = {} if case.raw else {"read raw": "no", "write raw": "no"}
    return {"coax:status socket": status, "coax:pacing": "no", **raw}


def measured(case, client, server, folder):
    status, capture = folder / "status", folder / "server.pcap"
    with inside(server):
        start = subject.start("coax", folder, host=SERVER, wanted_ports=(139, 445), globals_=settings(case, status))
        with start as running:
            local = folder / "local"
            local.mkdir()
            source = local if case.verb == "put" else running.folder
            (source / "BIG.BIN").write_bytes(content(case.bytes))
            looking = Looking(status)
            looking.start()
            with captured(server, capture), slowed(running.pid, case), inside(client):
                copied(case, running, local)
            looking.stop()
    if looking.copy is None:
        raise RuntimeError(f"{case.name}: the account was never seen")
    total = sum(looking.copy["shares"]["us"].values())
    account = {cause: us / total for cause, us in looking.copy["shares"]["us"].items()}
    return account, explained(capture), looking.advice


def moved(one, other):
    """Points of the time that one charges otherwise than the other."""
    return 50 * sum(abs(one.get(cause, 0) - other.get(cause, 0)) for cause in {*one, *other})


def faults(case, account, said):
    for who, shares in (("the account", account), ("explain", said)):
        top = max(shares, key=shares.get)
        wanted = case.cause or max(said, key=said.get)
        if top != wanted:
            yield f"{who} names {top}"
    if moved(account, said) > MOVED:
        yield f"they differ by {moved(account, said):.0f} points"


def attempt(case):
    """One copy: prints its row, gives its faults."""
    with tempfile.TemporaryDirectory(prefix="live-") as scratch:
        Path(scratch).chmod(0o755)
        account, said, advice = run(case, Path(scratch))
    print(f"| {case.name} | {list_of(account)} | {list_of(said)} | {moved(account, said):.0f} |", flush=True)
    if advice:
        print(f"  advice: {advice['title']} ({advice['percent']} %)")
    for fault in faults(case, account, said):
        print(f"  {case.name}: {fault}", flush=True)
        yield fault


def missing():
    lacking = [name for name in ("tcpdump", "smbclient", "strace", "ip") if not shutil.which(name)]
    return "not installed: " + ", ".join(lacking) if lacking else impossible()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases, separated by commas")
    parser.add_argument("--fresh", action="store_true", help="the cases of docs/evidence/waits.md, each once")
    arguments = parser.parse_args()
    wanted = [name for name in arguments.only.split(",") if name]
    if reason := missing():
        print(f"live: SKIPPED, {reason}", file=sys.stderr)
        return 0
    wrong = 0
    print("| copy | account of the server | coax explain at the server | points |\n|---|---|---|--:|")
    known = (*CASES, *FRESH)
    chosen = [case for case in known if case.name in wanted] if wanted else FRESH if arguments.fresh else CASES
    for case in chosen:
        found = []
        for _ in range(1 if arguments.fresh else TRIES):
            found = list(attempt(case))
            if not found:
                break
        wrong += len(found)
    print(f"{wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
