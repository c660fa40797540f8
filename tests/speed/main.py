"""`coax speed` and netcat in all roles: who connects, who sends, which end is ours. And what happens when it goes wrong.

Bytes, order and exit codes are asserted, never time. Everything is on loopback, at ports the system picks.
"""
import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import subject

HOST = "127.0.0.1"
SECONDS = 60
MEGABYTE = 1 << 20
# Debian has two netcats; only this one is what mTCP's notes speak of
NETCAT = shutil.which("nc.openbsd") or "nc"
LISTENING = re.compile(rb"listening at \S+:(\d+)")


class Wrong(Exception):
    """Something that was seen and should not have been."""


def check(condition, *seen):
    if not condition:
        raise Wrong(" ".join(map(str, seen)))


class Coax:
    """One run of `coax speed` whose output is kept in files: no pipe can fill up."""

    def __init__(self, binary, folder, *words):
        self.out, self.err = (Path(tempfile.mkstemp(dir=folder)[1]) for _ in range(2))
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([binary, "speed", *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def port(self):
        """The port it says it listens at."""
        return int(self.await_text(self.err, LISTENING).group(1))

    def event(self):
        """The first line of a `serve --json`."""
        return json.loads(self.await_text(self.out, re.compile(rb"(.*)\n")).group(1))

    def await_text(self, path, pattern):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = pattern.search(path.read_bytes())
            if found:
                return found
            check(self.process.poll() is None, "it ended:", self.err.read_text())
            time.sleep(0.01)
        raise Wrong(f"no {pattern.pattern} in {path.read_bytes()}")

    def end(self):
        """Exit code, standard output, standard error."""
        code = self.process.wait(SECONDS)
        return code, self.out.read_text(), self.err.read_text()

    def report(self, code=0):
        """Its JSON report, once it ended with that code."""
        ended, out, err = self.end()
        check(ended == code, "exit code", ended, out, err)
        return json.loads(out)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Bench:
    """What every case is handed: how to start coax and netcat, and where to leave files."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.started = binary, Path(folder), []

    def coax(self, *words):
        self.started.append(Coax(self.binary, self.folder, *words))
        return self.started[-1]

    def netcat(self, *words, send=None, into=None):
        source = open(send, "rb") if send else subprocess.DEVNULL
        target = open(into, "wb") if into else subprocess.DEVNULL
        process = subprocess.Popen([NETCAT, *map(str, words)], stdin=source, stdout=target)
        for file in (source, target):
            if file is not subprocess.DEVNULL:
                file.close()
        self.started.append(Killed(process))
        return process

    def file(self, name, size):
        path = self.folder / name
        path.write_bytes(os.urandom(size))
        return path


class Killed:
    """A process that is ended with the case."""

    def __init__(self, process):
        self.process = process

    def kill(self):
        self.process.kill()
        self.process.wait()


def await_listener(port):
    """Until somebody listens there; seen in the kernel's table, since a connection would be taken for the visitor."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                return
        time.sleep(0.01)
    raise Wrong(f"no program listens at {port}")


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


# --- the eight combinations -----------------------------------------------------------------------------------------


def coax_receives_as(way):
    def case(bench):
        sent = bench.file("sent", 3 * MEGABYTE + 17)
        if way == "listen":
            ours = bench.coax("receive", "--listen", f"{HOST}:0", "--json")
            bench.netcat("-N", HOST, ours.port(), send=sent)
        else:
            port = subject.free_port(HOST)
            bench.netcat("-N", "-l", HOST, port, send=sent)
            await_listener(port)
            ours = bench.coax("receive", "--target", f"{HOST}:{port}", "--json")
        report = ours.report()
        check(report["bytes"] == sent.stat().st_size and report["complete"], report)
        check(report["role"] == "receive" and report["ended"] == "done", report)
        check(sum(sample["bytes"] for sample in report["samples"]) == report["bytes"], report)
    return case


def coax_sends_as(way):
    def case(bench):
        got = bench.folder / "got"
        if way == "listen":
            ours = bench.coax("send", "--listen", f"{HOST}:0", "--mb", "3", "--json")
            netcat = bench.netcat("-d", HOST, ours.port(), into=got)
        else:
            port = subject.free_port(HOST)
            netcat = bench.netcat("-d", "-l", HOST, port, into=got)
            await_listener(port)
            ours = bench.coax("send", "--target", f"{HOST}:{port}", "--mb", "3", "--json")
        report = ours.report()
        check(netcat.wait(SECONDS) == 0, "netcat")
        check(got.stat().st_size == 3 * MEGABYTE == report["bytes"], got.stat().st_size, report)
        check(report["role"] == "send" and report["complete"], report)
        check(len(set(got.read_bytes()[:4096])) > 200, "the data sent is compressible")
    return case


def both_are_coax(listener, connector):
    def case(bench):
        size = ["--mb", "5"]
        first = bench.coax(listener, "--listen", f"{HOST}:0", "--json", *(size if listener == "send" else []))
        second = bench.coax(connector, "--target", f"{HOST}:{first.port()}", "--json",
                            *(size if connector == "send" else []))
        for report in (first.report(), second.report()):
            check(report["bytes"] == 5 * MEGABYTE and report["complete"], report)
    return case


# netcat with itself shows that the other rows measure coax, not netcat; with the six above they are the eight
def netcat_alone(listener_sends):
    def case(bench):
        sent, got, port = bench.file("sent", MEGABYTE), bench.folder / "got", subject.free_port(HOST)
        listener = {"send": sent} if listener_sends else {"into": got}
        connector = {"into": got} if listener_sends else {"send": sent}
        flags = [["-N"] if "send" in end else ["-d"] for end in (listener, connector)]
        bench.netcat(*flags[0], "-l", HOST, port, **listener)
        await_listener(port)
        process = bench.netcat(*flags[1], HOST, port, **connector)
        process.wait(SECONDS)
        for started in bench.started:
            started.process.wait(SECONDS)
        check(digest(sent) == digest(got), "netcat lost bytes")
    return case


def netcat_with_half_a_mind(bench):
    """netcat with nothing to say closes its own direction at once; it must get everything all the same."""
    port, got = subject.free_port(HOST), bench.folder / "got"
    netcat = bench.netcat("-N", "-l", HOST, port, into=got)
    await_listener(port)
    report = bench.coax("send", "--target", f"{HOST}:{port}", "--mb", "2", "--json").report()
    netcat.wait(SECONDS)
    check(report["complete"] and got.stat().st_size == 2 * MEGABYTE, report, got.stat().st_size)


def netcat_that_never_closes(bench):
    """Without -N, netcat does not tell the end; a receiver that knows the size does not need it."""
    sent = bench.file("sent", 2 * MEGABYTE)
    ours = bench.coax("receive", "--listen", f"{HOST}:0", "--mb", "2", "--json")
    bench.netcat(HOST, ours.port(), send=sent)
    check(ours.report()["bytes"] == 2 * MEGABYTE, "not all")


def spdtests_spelling(bench):
    port = subject.free_port(HOST)
    ours = bench.coax("-RECEIVE", "-Listen", str(port))
    ours.port()
    theirs = bench.coax("-send", "-target", HOST, str(port), "-mb", "2", "--json")
    check(theirs.report()["bytes"] == 2 * MEGABYTE, "not all")
    code, out, err = ours.end()
    check(code == 0 and "received 2,097,152 bytes" in out and "KB/s" in out and "Mbit/s" in out, code, out, err)


# --- serve ------------------------------------------------------------------------------------------------------------


def visitors(process):
    return [json.loads(line) for line in process.out.read_text().splitlines()[1:]]


def serving_both_ports(bench):
    server = bench.coax("serve", "--source", f"{HOST}:0", "--discard", f"{HOST}:0", "--mb", "2", "--json")
    event = server.event()
    source, discard = (int(event[name].rpartition(":")[2]) for name in ("source", "discard"))
    check(event["event"] == "listening", event)
    got, sent = bench.folder / "got", bench.file("sent", 777_777)
    check(bench.netcat("-d", HOST, source, into=got).wait(SECONDS) == 0, "netcat")
    check(bench.netcat("-N", HOST, discard, send=sent).wait(SECONDS) == 0, "netcat")
    reports = [bench.coax("receive", "--target", f"{HOST}:{source}", "--json").report(),
               bench.coax("send", "--target", f"{HOST}:{discard}", "--mb", "1", "--json").report()]
    check(got.stat().st_size == 2 * MEGABYTE == reports[0]["bytes"], reports)
    server.process.send_signal(signal.SIGINT)
    code, _, err = server.end()
    check(code == 0, code, err)
    seen = sorted((visit["port"], visit["bytes"], visit["complete"]) for visit in visitors(server))
    check(seen == [("discard", 777_777, True), ("discard", MEGABYTE, True),
                   ("source", 2 * MEGABYTE, True), ("source", 2 * MEGABYTE, True)], seen)


def serving_for_a_time(bench):
    """A visitor of a source by time gets something, and then the end."""
    server = bench.coax("serve", "--source", f"{HOST}:0", "--discard", f"{HOST}:0", "--seconds", "1", "--json")
    report = bench.coax("receive", "--target", server.event()["source"], "--json").report()
    check(report["complete"] and report["bytes"] > 0, report)
    server.process.terminate()
    check(server.end()[0] == 0, "SIGTERM")


def crowd_at_the_door(bench):
    server = bench.coax("serve", "--source", f"{HOST}:0", "--discard", f"{HOST}:0", "--visitors", "2", "--json")
    port = int(server.event()["discard"].rpartition(":")[2])
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_connection((HOST, port), SECONDS)) for _ in range(5)]
        check(all(turned.recv(1) == b"" for turned in sockets[2:]), "not turned away")
        for one in sockets[:2]:
            one.sendall(b"x" * 100)
            one.shutdown(socket.SHUT_WR)
            check(one.recv(1) == b"", "not closed")
    server.process.send_signal(signal.SIGINT)
    server.end()
    events = [visit["event"] for visit in visitors(server)]
    check(sorted(events) == ["refused"] * 3 + ["visitor"] * 2, events)


# --- what goes wrong ----------------------------------------------------------------------------------------------------


def peer_vanishes_while_we_receive(bench):
    ours = bench.coax("receive", "--listen", f"{HOST}:0", "--json")
    with socket.create_connection((HOST, ours.port()), SECONDS) as peer:
        peer.sendall(b"x" * 100_000)
        time.sleep(0.3)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    report = ours.report(1)
    check(report["bytes"] == 100_000 and report["ended"] == "reset" and not report["complete"], report)


def peer_vanishes_while_we_send(bench):
    port = subject.free_port(HOST)
    netcat = bench.netcat("-d", "-l", HOST, port)
    await_listener(port)
    ours = bench.coax("send", "--target", f"{HOST}:{port}", "--mb", "1000000", "--json")
    ours.await_text(ours.err, re.compile(rb"connected"))
    time.sleep(0.5)
    netcat.kill()
    code, out, err = ours.end()
    report = json.loads(out)
    check(code == 1 and report["ended"] == "reset" and 0 < report["bytes"] < report["wanted_bytes"], code, report)
    check("broke the connection" in err, err)


def peer_closes_too_early(bench):
    ours = bench.coax("receive", "--listen", f"{HOST}:0", "--mb", "1", "--json")
    bench.netcat("-N", HOST, ours.port(), send=bench.file("sent", 1000))
    report = ours.report(1)
    check(report["ended"] == "short" and report["bytes"] == 1000, report)


def peer_says_nothing(bench):
    ours = bench.coax("receive", "--listen", f"{HOST}:0", "--idle", "1")
    with socket.create_connection((HOST, ours.port()), SECONDS) as peer:
        peer.sendall(b"x" * 10)
        code, out, err = ours.end()
    check(code == 1 and "received 10 bytes" in out and "-N" in err, code, out, err)


def interrupted(bench):
    ours = bench.coax("receive", "--listen", f"{HOST}:0", "--json")
    with socket.create_connection((HOST, ours.port()), SECONDS) as peer:
        ours.await_text(ours.err, re.compile(rb"connected"))
        peer.sendall(b"x" * 10)
        time.sleep(0.5)
        ours.process.send_signal(signal.SIGINT)
        report = ours.report(1)
    check(report["ended"] == "interrupted" and report["bytes"] == 10, report)


def no_listener(bench):
    port = subject.free_port(HOST)
    code, out, err = bench.coax("send", "--target", f"{HOST}:{port}").end()
    check(code == 1 and out == "" and f"SPDTEST -receive -listen {port}" in err and f"nc -l {port}" in err, code, err)


def port_is_taken(bench):
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        for words in (["receive", "--listen", f"{HOST}:{port}"], ["serve", "--source", f"{HOST}:{port}"]):
            code, out, err = bench.coax(*words).end()
            check(code == 1 and out == "" and "Another program listens there" in err, code, out, err)


def ceiling_of_a_copy(bench):
    """`coax bench --ceiling` asks both ports what the path carries, and prints the share of it that each copy reached."""
    server = bench.coax("serve", "--source", f"{HOST}:0", "--discard", f"{HOST}:0", "--json")
    event = server.event()
    source, discard = (int(event[name].rpartition(":")[2]) for name in ("source", "discard"))
    with subject.start("coax") as smb:
        smb.folder.chmod(0o777)

        def measure(ceiling):
            command = [bench.binary, "bench", f"smb://{smb.user}@{HOST}:{smb.direct}/{smb.share}", "--as", "modern",
                       "--size", "1MB", "--ceiling", ceiling, "--json"]
            environment = {**os.environ, "COAX_PASSWORD": smb.password}
            return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment)

        done, absent = measure(f"{HOST}:{source},{discard}"), measure(f"{HOST}:{subject.free_port(HOST)},{discard}")
    check(done.returncode == 0, done.stderr)
    report = json.loads(done.stdout)
    for way in ("to_client", "to_server"):
        raw, copy = report["ceiling"][way], report["rows"][0][way]
        check(raw["complete"] and raw["bytes"] > 0 and report["rows"][0]["verified"], report)
        share = copy["bytes_per_s"] / report["ceiling"][f"{way}_bytes_per_s"]
        check(abs(copy["share_of_ceiling"] - share) < 1e-9, report)
    check(absent.returncode == 1 and not absent.stdout and "coax speed serve" in absent.stderr, absent)
    server.process.send_signal(signal.SIGINT)
    check(server.end()[0] == 0, "SIGINT")
    seen = [(visit["port"], visit["bytes"]) for visit in visitors(server)]
    check(("discard", report["ceiling"]["to_server"]["bytes"]) in seen, seen, report["ceiling"])
    check([port for port, _ in seen].count("source") == 1, seen)


def wrong_usage(bench):
    for words in ([], ["send"], ["-send"], ["-listen", "2000"], ["-send", "-receive", "-listen", "2000"],
                  ["receive", "--target", "x"], ["send", "--listen", "1", "--target", "x:1"], ["serve", "--visitors", "0"],
                  ["-send", "-listen", "2000", "-mb", "0"], ["sideways"]):
        code, out, err = bench.coax(*words).end()
        check(code == 2 and out == "" and err, words, code, out, err)


CASES = {
    "netcat connects and sends, coax listens": coax_receives_as("listen"),
    "netcat listens and sends, coax connects": coax_receives_as("target"),
    "netcat connects and receives, coax listens": coax_sends_as("listen"),
    "netcat listens and receives, coax connects": coax_sends_as("target"),
    "coax sends to coax, the sender connects": both_are_coax("receive", "send"),
    "coax sends to coax, the receiver connects": both_are_coax("send", "receive"),
    "netcat sends to netcat, the sender connects": netcat_alone(False),
    "netcat sends to netcat, the receiver connects": netcat_alone(True),
    "netcat closes its own direction at once": netcat_with_half_a_mind,
    "netcat never closes": netcat_that_never_closes,
    "SPDTEST's spelling": spdtests_spelling,
    "serve: both ports, four visitors": serving_both_ports,
    "serve: a source by time": serving_for_a_time,
    "serve: more visitors than there is room for": crowd_at_the_door,
    "the sender vanishes": peer_vanishes_while_we_receive,
    "the receiver vanishes": peer_vanishes_while_we_send,
    "the sender closes too early": peer_closes_too_early,
    "the sender says nothing": peer_says_nothing,
    "interrupted": interrupted,
    "no listener": no_listener,
    "the port is taken": port_is_taken,
    "bench: a copy's share of what the path carries": ceiling_of_a_copy,
    "wrong usage": wrong_usage,
}


def run(name, case, binary):
    with tempfile.TemporaryDirectory(prefix="coax-speed-") as folder:
        bench = Bench(binary, folder)
        try:
            case(bench)
        except (Wrong, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
            return False
        finally:
            for started in bench.started:
                started.kill()
    print(f"ok      {name}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(prog="scripts/test --only speed --", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    arguments = parser.parse_args()
    if not shutil.which(NETCAT):
        print("speed: SKIPPED, netcat-openbsd is missing", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    binary = subject.coax_binary()
    chosen = {name: case for name, case in CASES.items() if arguments.only in name}
    passed = [run(name, case, binary) for name, case in chosen.items()]
    print(f"{sum(passed)} of {len(passed)} cases passed")
    return 0 if passed and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
