"""Copies between an old client with a small card and a server that paces it, beside smbd.

The client is Linux's TCP without selective acknowledgments, time stamps and window scaling, with a retransmission timer of at
least 1 s, and with a first burst that fills the window. Its card is a queue of a few frames at the link's rate, which drops what it
has no room for. `--ci` runs a few copies and asserts counts of dropped frames. Otherwise all rings and rates are run beside smbd, and
a table is printed; `--write` puts it into docs/pacing.md.
"""
import argparse
import contextlib
import dataclasses
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from explain.rig import content, inside
from lab.link import CLIENT, SERVER, Emulator, Link, Namespace
from peers import subject

FRAME = 1538
HEADERS = 40  # of TCP and IPv4 without options
LIMIT_S = 60  # a copy that takes longer is shown as such
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "pacing.md"
OLD_STACK = {"tcp_sack": "0", "tcp_timestamps": "0", "tcp_window_scaling": "0"}
MARKS = ("<!-- copies -->", "<!-- end -->")
SETTLED_MARKS = ("<!-- settled -->", "<!-- end of settled -->")
BLOCK_MARKS = ("<!-- blocks -->", "<!-- end of blocks -->")
MODERN_MARKS = ("<!-- modern -->", "<!-- end of modern -->")


@dataclasses.dataclass(frozen=True)
class Copy:
    """One copy by smbclient."""

    server: str
    verb: str
    ring: int
    rate: int
    bytes: int
    pacing: str = "auto"
    old: bool = True
    blocks: int = 0  # the server's `max xmit`, 0: as usual

    @property
    def wire_s(self):
        """Time of the file's segments alone."""
        return self.bytes / 1460 * FRAME * 8 / self.rate


def prepare(client, server, old):
    with inside(client):
        for name, value in OLD_STACK.items() if old else ():
            Path("/proc/sys/net/ipv4", name).write_text(value)
        first = "rto_min 1000ms initcwnd 44 congctl reno" if old else ""
        route(f"{SERVER} dev lab0 src {CLIENT} {first}")
    with inside(server):
        route(f"{CLIENT} dev lab0 src {SERVER}")


def route(words):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "route", "replace", *words.split()], check=True)


def run(copy, folder):
    """The copy's time (infinite if it takes more than LIMIT_S) and what the emulator saw."""
    client, server = Namespace(CLIENT, SERVER), Namespace(SERVER, CLIENT)
    try:
        prepare(client, server, copy.old)
        link = Link(rate=copy.rate, delay=0.0002, queue=copy.ring * FRAME)
        sender, receiver = (client, server) if copy.verb == "put" else (server, client)
        emulator = Emulator(link, sender, receiver, LIMIT_S + 60)
        with contextlib.suppress(OSError):
            os.sched_setscheduler(emulator.process.pid, os.SCHED_FIFO, os.sched_param(1))
        try:
            took = served(copy, client, server, folder)
        finally:
            seen = emulator.stop()
        return took, seen
    finally:
        client.close()
        server.close()


def served(copy, client, server, folder):
    globals_ = {"coax:pacing": copy.pacing} if copy.server == "coax" else {}
    if copy.blocks:
        globals_ |= {"max xmit": str(copy.blocks), "large readwrite": "no"}
    with inside(server):
        start = subject.start(copy.server, folder, host=SERVER, wanted_ports=(139, 445), globals_=globals_)
        with start as running:
            return copied(copy, client, running, folder)


def copied(copy, client, server, folder):
    local = folder / "local"
    local.mkdir()
    source, target = (local, server.folder) if copy.verb == "put" else (server.folder, local)
    (source / "BIG.BIN").write_bytes(content(copy.bytes))
    command = ["smbclient", f"//{SERVER}/{server.share}", "-U", f"{server.user}%{server.password}", "-m", "NT1", "-p", "445", "-t", str(LIMIT_S),
               "--option=client min protocol=NT1", "-c", f"lcd {local}; {copy.verb} BIG.BIN"]
    began = time.monotonic()
    try:
        with inside(client):
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return math.inf
    took = time.monotonic() - began
    if done.returncode or (target / "BIG.BIN").read_bytes() != content(copy.bytes):
        raise RuntimeError(f"{copy}: {done.returncode} {done.stdout[-300:]} {done.stderr[-300:]}")
    return took


def measured(copy):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        took, seen = run(copy, Path(folder))
    later = settled(seen["new"], copy)
    return {"copy": copy, "s": took, "dropped": seen["queue_drops"], "again": seen["again"], "windows": seen["window_max"], "settled": later}


def settled(new, copy):
    """Time over wire time, from one second after the first frame until as many bytes as the file has were sent once."""
    carried, later, end = 0, 0, math.nan
    for at, length in new:
        size = length - HEADERS
        if carried < copy.bytes and at > 1:
            later, end = later + size, at
        carried += size
    return (end - 1) / (later / 1460 * FRAME * 8 / copy.rate) if later else math.nan


def check():
    """Counts: what overflows the card with pacing and without it."""
    wrong = []
    for verb, ring in (("put", 4), ("put", 8), ("get", 4), ("get", 6)):
        copy = Copy("coax", verb, ring, 10_000_000, 1_000_000)
        paced, not_paced = measured(copy), measured(dataclasses.replace(copy, pacing="no"))
        print(f"{verb}, ring of {ring}: {paced['dropped']} frames dropped, {not_paced['dropped']} without pacing")
        if paced["dropped"] > 8 or not_paced["dropped"] < 20:
            wrong.append(f"{verb}, ring of {ring}: {paced} against {not_paced}")
    for line in wrong:
        print("WRONG:", line)
    return 1 if wrong else 0


def seconds(value):
    return f"{value:.2f}" if math.isfinite(value) else f"> {LIMIT_S}"


def times(other, paced):
    return f"{other / paced:.1f}" if math.isfinite(other) else f"> {LIMIT_S / paced:.0f}"


def table(runs):
    rows = ["| direction | Mbit/s | ring | wire s | coax s | dropped | without pacing s | smbd s | dropped | ratio |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for paced, not_paced, other in runs:
        copy = paced["copy"]
        rows.append(f"| {way(copy.verb)} | {copy.rate // 10**6} | {copy.ring} | {copy.wire_s:.2f} | {seconds(paced['s'])} |"
                    f" {paced['dropped']} | {seconds(not_paced['s'])} | {seconds(other['s'])} | {other['dropped']} | {times(other['s'], paced['s'])} |")
    return "\n".join(rows)


def everything(verbs, rings, rates, write):
    runs = []
    for verb in verbs:
        for rate in rates:
            for ring in rings:
                copy = Copy("coax", verb, ring, rate, rate // 4)
                three = (copy, dataclasses.replace(copy, pacing="no"), dataclasses.replace(copy, server="smbd"))
                runs.append([measured(one) for one in three])
                print(table(runs[-1:]).splitlines()[-1], flush=True)
    if write:
        put(MARKS, table(runs))
    return 0


def modern(rounds, write):
    """A client with Linux's usual TCP and a usual queue, with `coax:pacing` auto and no in turns."""
    rows = ["| direction | Mbit/s | pacing, s | without, s | ratio | least and greatest ratio of a round |", "|---|--:|--:|--:|--:|--:|"]
    for verb in ("put", "get"):
        for rate in (10_000_000, 50_000_000):
            copy = Copy("coax", verb, 100, rate, rate // 4, old=False)
            pairs = [(measured(copy)["s"], measured(dataclasses.replace(copy, pacing="no"))["s"]) for _ in range(rounds)]
            ratios = [paced / usual for paced, usual in pairs]
            paced, usual = (statistics.median(times) for times in zip(*pairs))
            rows.append(f"| {way(verb)} | {rate // 10**6} | {paced:.2f} | {usual:.2f} |"
                        f" {statistics.median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} |")
            print(rows[-1], flush=True)
    if write:
        put(MODERN_MARKS, "\n".join(rows))
    return 0


def after_a_second(verbs, rings, rates, rounds, write):
    """The paced copies after their first second, with files of twice the usual size."""
    rows = ["| direction | Mbit/s | ring | frames dropped in the copy | after the first second, time ÷ wire time | least and greatest |", "|---|--:|--:|--:|--:|--:|"]
    for verb in verbs:
        for rate in rates:
            for ring in rings:
                runs = [measured(Copy("coax", verb, ring, rate, rate // 2)) for _ in range(rounds)]
                ratios = [run["settled"] for run in runs]
                rows.append(f"| {way(verb)} | {rate // 10**6} | {ring} | {', '.join(str(run['dropped']) for run in runs)} |"
                            f" {statistics.median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f} |")
                print(rows[-1], flush=True)
    if write:
        put(SETTLED_MARKS, "\n".join(rows))
    return 0


def blocks(verbs, rings, rounds, write):
    """What smaller blocks would do beside pacing: the paced copy with several `max xmit`, at 10 Mbit/s."""
    rows = ["| direction | ring | blocks | frames dropped in the copy | copy, s | least and greatest |", "|---|--:|--:|--:|--:|--:|"]
    for verb in verbs:
        for ring in rings:
            for size in (0, 16_644, 4_356, 2_920):
                runs = [measured(Copy("coax", verb, ring, 10_000_000, 2_500_000, blocks=size)) for _ in range(rounds)]
                taken = [run["s"] for run in runs]
                rows.append(f"| {way(verb)} | {ring} | {size or 'as usual'} | {', '.join(str(run['dropped']) for run in runs)} |"
                            f" {statistics.median(taken):.2f} | {min(taken):.2f} to {max(taken):.2f} |")
                print(rows[-1], flush=True)
    if write:
        put(BLOCK_MARKS, "\n".join(rows))
    return 0


def way(verb):
    return "to the server" if verb == "put" else "to the client"


def put(marks, text):
    """Puts a table between its marks in the document."""
    page = DOCUMENT.read_text()
    before, after = page.split(marks[0])[0], page.split(marks[1])[1]
    DOCUMENT.write_text(f"{before}{marks[0]}\n{text}\n{marks[1]}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--modern", type=int, metavar="ROUNDS", help="only a modern client, with and without pacing")
    parser.add_argument("--settled", type=int, metavar="ROUNDS", help="only the copies with pacing, from their second second on")
    parser.add_argument("--blocks", type=int, metavar="ROUNDS", help="only the copies with pacing, with smaller blocks offered")
    parser.add_argument("--verbs", default="put,get")
    parser.add_argument("--rings", default="4,6,8,16")
    parser.add_argument("--rates", default="10,2", help="Mbit/s")
    arguments = parser.parse_args()
    if arguments.ci:
        return check()
    if arguments.modern:
        return modern(arguments.modern, arguments.write)
    numbers = lambda text: [int(word) for word in text.split(",")]
    verbs, rings, rates = arguments.verbs.split(","), numbers(arguments.rings), [rate * 10**6 for rate in numbers(arguments.rates)]
    if arguments.settled:
        return after_a_second(verbs, rings, rates, arguments.settled, arguments.write)
    if arguments.blocks:
        return blocks(verbs, rings, arguments.blocks, arguments.write)
    return everything(verbs, rings, rates, arguments.write)


if __name__ == "__main__":
    sys.exit(main())
