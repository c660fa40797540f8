"""A client in trouble does not disturb others: a disk that hangs, a client that opens all it can, one that vanishes without
FIN, an epoll that fails, a second server of the same folder.

What needs root (a frozen file system, a connection that vanishes without FIN) is skipped without it. Counts and order are
asserted, never time.
"""
import argparse
import contextlib
import json
import os
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import subject
from peers.rawsmb import OPEN_ANDX, Connection, SmbError

HERE = Path(__file__).resolve().parent
SECONDS = 60
TCP_REPAIR = 19
TOO_MANY_OPEN = 0xC000011F
# threads that may be in one share's disk (crates/serve/src/budgets.rs)
PASSES = 64


class Skipped(Exception):
    """Why it cannot be tested here."""


def check(condition, *seen):
    if not condition:
        raise AssertionError(" ".join(map(str, seen)))


class Server:
    """`coax serve` on ports that the system picks; its events are kept in a file."""

    def __init__(self, scratch, shares, globals_="", environment=None, nofile=None):
        number = len(list(scratch.glob("*.conf")))
        conf, self.log = scratch / f"{number}.conf", scratch / f"{number}.json"
        text = f"[global]\n{globals_}\n" + "".join(
            f"[{name}]\npath = {path}\nguest ok = yes\nread only = no\n" for name, path in shares.items())
        conf.write_text(text)
        command = [subject.coax_binary(), "serve", "--config", conf, "--json", "--nbt", "127.0.0.1:0",
                   "--direct", "127.0.0.1:0"]
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))) if nofile else None
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            preexec_fn=limit, env={**os.environ, **(environment or {})})
        self.port = int(self.event("listening")["direct"].rsplit(":", 1)[1])

    def events(self):
        for line in self.log.read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                yield json.loads(line)

    def event(self, kind, containing=""):
        """The first event of a kind that contains a text, once it is there."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            for event in self.events():
                if event.get("event") == kind and containing in json.dumps(event):
                    return event
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"no {kind} with {containing!r}: {self.log.read_text(errors='replace')[-2000:]}")

    def client(self, share, source="127.0.0.1"):
        connection = Connection.__new__(Connection)
        made = socket.create_connection
        try:
            socket.create_connection = lambda address, timeout: made(address, timeout, (source, 0))
            connection.__init__("127.0.0.1", self.port, timeout=SECONDS)
        finally:
            socket.create_connection = made
        connection.negotiate("NT1")
        connection.log_on()
        connection.tree_connect_andx("COAX", share)
        return connection

    def stop(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def serving(*arguments, **named):
    server = Server(*arguments, **named)
    try:
        yield server
    finally:
        server.stop()


def folder(scratch, name):
    path = scratch / name
    path.mkdir()
    (path / "FILE.TXT").write_bytes(b"contents")
    return path


def ask_open(connection, path, mode=0x42, function=0x12):
    """An OPEN_ANDX whose answer is left for later."""
    words = b"\xff\0\0\0" + struct.pack("<HHHHIHI8x", 0, mode, 0x16, 0, 0, function, 0)
    connection.send(OPEN_ANDX, words, path.encode() + b"\0")


def blocked_threads(pid):
    """How many threads of a process wait for a disk (state D)."""
    states = [stat.read_text().rpartition(")")[2].split()[0] for stat in Path(f"/proc/{pid}/task").glob("*/stat")]
    return states.count("D")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}")


@contextlib.contextmanager
def frozen_disk(scratch):
    """A folder on a file system of its own, and how to freeze and thaw it."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("fsfreeze", "mkfs.ext4", "mount"))):
        raise Skipped("freezing a file system needs root, fsfreeze and mkfs.ext4")
    image, path = scratch / "disk.img", scratch / "hung"
    path.mkdir()
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    run("mkfs.ext4", "-q", image)
    run("mount", "-o", "loop", image, path)
    try:
        (path / "FILE.TXT").write_bytes(b"contents")
        yield path
    finally:
        subprocess.run(["fsfreeze", "-u", path], capture_output=True, check=False)
        subprocess.run(["umount", "-l", path], check=False)


def hung_disk(scratch, clients):
    """Many clients wait for a disk that hangs; the other share is served as before."""
    with frozen_disk(scratch) as hung:
        shares = {"HUNG": hung, "OTHER": folder(scratch, "other")}
        with serving(scratch, shares, "coax:sandbox = no") as server:
            waiting = [server.client("HUNG") for _ in range(clients)]
            run("fsfreeze", "-f", hung)
            for number, client in enumerate(waiting):
                ask_open(client, f"NEW{number}.TXT")
            took = []
            for _ in range(100):
                began = time.monotonic()
                with contextlib.closing(server.client("OTHER")) as client:
                    client.close_file(client.open_andx(r"\FILE.TXT"))
                took.append(time.monotonic() - began)
            stuck = blocked_threads(server.process.pid)
            check(0 < stuck <= PASSES, f"{stuck} threads are blocked in the disk")
            run("fsfreeze", "-u", hung)
            for client in waiting:
                client.receive(OPEN_ANDX)
                client.close()
            check(len(list(hung.glob("NEW*.TXT"))) == clients)
            median = sorted(took)[len(took) // 2] * 1000
            return (f"{clients} clients waited, {stuck} threads were blocked; log-on, tree, open and close on the other share: "
                    f"median {median:.1f} ms, longest {max(took) * 1000:.1f} ms")


def descriptors(scratch, _clients):
    """A guest opens all it can; others log on and open files."""
    with serving(scratch, {"DATA": folder(scratch, "data")}, nofile=512) as server:
        greedy, opened = [server.client("DATA") for _ in range(4)], 0
        for client in greedy:
            with contextlib.suppress(SmbError):
                while True:
                    client.open_andx(r"\FILE.TXT")
                    opened += 1
        late = [server.client("DATA", f"127.0.0.{number}") for number in range(2, 6)]
        for client in late:
            client.open_andx(r"\FILE.TXT")
        try:
            greedy[0].open_andx(r"\FILE.TXT")
            raise AssertionError("there is no end to what a guest opens")
        except SmbError as error:
            check(error.status in (TOO_MANY_OPEN, 0x00040001), hex(error.status))
        for client in greedy + late:
            client.close()
        return f"one address opened {opened} files with 512 descriptors; four others logged on and opened theirs"


def dead_peer(scratch, _clients):
    """A client vanishes without FIN, comes back, and can open the files that its old connection held."""
    with serving(scratch, {"DATA": folder(scratch, "data")}) as server:
        old = server.client("DATA")
        old.open_andx(r"\FILE.TXT", mode=0x12)  # read and write, deny all
        try:
            old.socket.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        except OSError as error:
            raise Skipped(f"closing a connection without FIN: {error}") from None
        old.close()
        time.sleep(1.1)  # the old connection has been silent for a second
        new = server.client("DATA")
        attempts = 0
        while True:
            attempts += 1
            try:
                new.open_andx(r"\FILE.TXT", mode=0x12)
                break
            except SmbError:
                check(attempts < 5, "its old connection still holds the file")
        new.close()
        return f"the file was free at attempt {attempts}"


def failing_epoll(scratch, _clients):
    """A process whose epoll fails ends with an error and does not go on without clients."""
    shim, broken = scratch / "epoll.so", scratch / "broken"
    run("cc", "-shared", "-fPIC", "-o", shim, HERE / "broken_epoll.c", "-ldl")
    environment = {"LD_PRELOAD": str(shim), "BROKEN_EPOLL": str(broken)}
    with serving(scratch, {"DATA": folder(scratch, "data")}, "coax:sandbox = no", environment) as server:
        server.client("DATA").close()
        broken.touch()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", server.port), 1).close()
        code = server.process.wait(SECONDS)
        check(code == 1, f"exit code {code}")
        check("no longer says what clients do" in server.log.read_text(), server.log.read_text()[-1000:])
        return "exit code 1, and the log says why"


def second_server(scratch, _clients):
    """Of two processes that share one folder, one reports the other."""
    data = folder(scratch, "data")
    with serving(scratch, {"DATA": data}) as first:
        first.client("DATA").close()
        with serving(scratch, {"COPY": data}) as second:
            # on a busy machine the second server may look at the folder first: then the other one finds it taken
            deadline = time.monotonic() + SECONDS
            while time.monotonic() < deadline:
                for name, server in ("first", first), ("second", second):
                    if any(event.get("event") == "notice" and "another server" in json.dumps(event) for event in server.events()):
                        return f"the {name} server reported it"
                time.sleep(0.02)
        raise AssertionError("no server reported the other one")


CASES = [hung_disk, descriptors, dead_peer, failing_epoll, second_server]


def perform(case, clients):
    with tempfile.TemporaryDirectory(prefix="coax-isolation-") as scratch:
        try:
            print(f"passed   {case.__name__}: {case(Path(scratch), clients)}", flush=True)
            return True
        except Skipped as why:
            print(f"skipped  {case.__name__}: {why}", flush=True)
            return True
        except (AssertionError, OSError, ConnectionError, SmbError, subprocess.TimeoutExpired) as error:
            print(f"FAILED   {case.__name__}: {type(error).__name__}: {error}", flush=True)
            return False


def main():
    parser = argparse.ArgumentParser(prog="scripts/test --only isolation --", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--clients", type=int, default=1000, help="clients that wait for the hung disk")
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    chosen = [case for case in CASES if arguments.only in case.__name__]
    results = [perform(case, arguments.clients) for case in chosen]
    print(f"{sum(results)} of {len(results)} passed or skipped")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
