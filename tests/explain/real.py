"""`coax explain` on copies whose cause is known: a real smbd, a real client, a slow link, captured at both ends.

What explain says of each capture stands beside what the kernels themselves counted (`ss`, /proc/net/netstat) and what the
emulator of the link dropped. The cause that took most must be the one that the copy was made slow by, and figures that the
kernel has too must be near its own: both describe the same copy. How long a copy takes is not compared. Run it on an idle
machine: one end alone cannot tell a busy peer from a long round trip.
"""
import argparse
import dataclasses
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from explain import copies, rig
from explain.page import PAGE, write_page
from explain.rig import Setup
from lab.link import Link, impossible
from peers import subject

MBIT = 1_000_000
ENDS = ("client", "server")
NEAR, SLACK_S, SLACK_COUNT = 0.10, 0.010, 1
WINDOW = ("receive-window", "zero-window")
LOSS = ("fast-recovery", "timeout")


def lan(**more):
    """50 Mbit/s, 5 ms one way."""
    return Link(50 * MBIT, 0.005, **more)


def wan(**more):
    """100 Mbit/s, 20 ms one way."""
    return Link(100 * MBIT, 0.020, **more)


def clamp(end, name, size):
    return ((end, name, f"4096 {size} {size}"),)


@dataclasses.dataclass(frozen=True)
class Case:
    """A copy, and what must be found to have taken most of its time."""

    name: str
    setup: Setup
    causes: tuple
    compared: tuple = ()  # what the kernel knows as well: see FIGURES
    small: bool = False
    by_link: bool = False  # whether it is the path or its losses, the link has to say


CASES = [
    Case("1 KB core reads, one at a time", Setup(lan(), "ibm-dls-5.0-predir", bytes=200_000), ("round-trips",), small=True),
    Case("4 KB AndX reads, one at a time", Setup(lan(), "nt-4-copy", bytes=1_000_000), ("round-trips",)),
    Case("raw reads, one at a time", Setup(Link(100 * MBIT, 0.020), "wfw-3.11", bytes=3_000_000), ("round-trips",)),
    Case("many at once, 20 Mbit/s", Setup(Link(20 * MBIT, 0.005, 1_000_000), bytes=6_000_000), ("bandwidth",), ("sent again",)),
    Case("the same by smbclient", Setup(Link(20 * MBIT, 0.005, 1_000_000), "smbclient", bytes=6_000_000), ("bandwidth",),
         ("sent again",)),
    Case("queue of 15 KB, 20 Mbit/s", Setup(Link(20 * MBIT, 0.005, 15_000), bytes=4_000_000), ("bandwidth", *LOSS), ("sent again",),
         by_link=True),
    Case("receive window of 64 KB", Setup(wan(), sysctl=clamp("client", "tcp_rmem", 131_072)), ("receive-window",),
         ("rwnd-limited",)),
    Case("receive window of 64 KB, written", Setup(wan(), verb="put", sysctl=clamp("server", "tcp_rmem", 131_072)),
         ("receive-window",), ("rwnd-limited",)),
    Case("receive window of 64 KB, BBR", Setup(wan(), sysctl=clamp("client", "tcp_rmem", 131_072), congestion="bbr"),
         ("receive-window", "send-window")),
    Case("link that stands still for 0.6 s, twice", Setup(Link(20 * MBIT, 0.005, 1_000_000, pauses=((0.8, 0.6), (2.4, 0.6))),
         bytes=4_000_000), ("bandwidth",), ("sent again",)),
    Case("one segment in 100 lost", Setup(wan(loss_every=100)), (*LOSS, "send-window"), ("sent again",)),
    Case("short writes, one segment in 8 lost", Setup(Link(50 * MBIT, 0.001, loss_every=8), "nt-4-copy", "put", 400_000), LOSS,
         ("sent again",)),
    Case("header and data apart, Nagle", Setup(Link(50 * MBIT, 0.001), "nagle", "put", 60_000), ("nagle-delayed-ack",),
         ("delayed ACKs",), small=True),
    Case("disk that takes 25 ms a read", Setup(lan(), "nt-4-copy", bytes=400_000, slow_disk_ms=25), ("server-think",), ("disk",), small=True),
    Case("client stopped for 3 s, one at a time", Setup(lan(), "nt-4-copy", bytes=600_000, pause=(0.4, 3.0)), ("client-think",), ("pause",)),
    Case("client stopped for 3 s amid raw reads, window of 16 KB",
         Setup(wan(), "wfw-3.11", sysctl=clamp("client", "tcp_rmem", 32_768), bytes=700_000, pause=(0.4, 3.0)), WINDOW, ("rwnd-limited",)),
    Case("client stopped for 3 s, many at once, window of 64 KB",
         Setup(lan(), sysctl=clamp("client", "tcp_rmem", 131_072), bytes=3_000_000, pause=(0.4, 3.0)), WINDOW),
]


@dataclasses.dataclass(frozen=True)
class Change:
    """A slow copy, an advice about it, and the same copy after the advised change."""

    name: str
    setup: Setup
    advice: str
    client: str


CHANGES = [
    Change("1 KB core reads: the full redirector", Setup(lan(), "ibm-dls-5.0-predir", bytes=200_000), "dls-full-redirector", "ibm-dls-5.0-full"),
    Change("the same over 2 ms", Setup(Link(50 * MBIT, 0.001), "ibm-dls-5.0-predir", bytes=500_000), "dls-full-redirector", "ibm-dls-5.0-full"),
    Change("core reads of the basic redirector: the full one", Setup(lan(), "ms-net-3.11-basic", bytes=300_000), "ms-net-full-redirector", "ms-net-3.11-full"),
    Change("header and data apart: TCP_NODELAY", Setup(Link(50 * MBIT, 0.001), "nagle", "put", 60_000), "client-nodelay", "apart"),
    Change("the same over 10 ms", Setup(lan(), "nagle", "put", 60_000), "client-nodelay", "apart"),
]


def seconds(copy, *causes):
    return sum(row["seconds"] for row in copy["causes"] if row["cause"] in causes)


def count(copy, *causes):
    return sum(row["count"] or 0 for row in copy["causes"] if row["cause"] in causes)


def longest(copy, cause):
    return max((one["seconds"] for row in copy["causes"] if row["cause"] == cause for one in row["frames"] or []), default=0.0)


def sent_again(case, run, report, end):
    """What was sent again, and how much of it for each reason, as the sender's kernel counts it. It counts probes that sent
    new data too, so those that sent something again are what is left.

    At the receiver's end the first of them was never seen: there it is a hole that was filled late, if what filled it was not
    lost as well; what a timer or a probe sent after nothing later had arrived left none."""
    kernel, again = run["counters"][case.setup.sender], report["connection"][f"from_{case.setup.sender}"]["sent_again"]
    fast, after_timer = kernel["TCPFastRetrans"], kernel["TCPSlowStartRetrans"]
    if end != case.setup.sender:
        twice = run["counters"][case.setup.receiver]
        yield "sent again", fast + after_timer - run["link"]["again_lost"], again["fast"] + again["after_timer"]
        yield "needless", twice["TCPDSACKOldSent"] + twice["TCPDSACKOfoSent"], again["needless"]
        return
    timer, all_of_them = kernel["TCPTimeouts"], kernel["RetransSegs"]
    yield "sent again", all_of_them, report["connection"][f"from_{case.setup.sender}"]["retransmissions"]
    yield "fast", fast, again["fast"]
    yield "timer", timer, again["timer"]
    yield "after it", after_timer, again["after_timer"]
    yield "probe", all_of_them - fast - after_timer - timer, again["probe"]
    yield "needless", kernel["TCPDSACKRecv"], again["needless"]


def of_disk(case, run, report):
    reads = sum(row["count"] for row in report["copy"]["requests"] if row["command"].startswith("READ"))
    return reads * case.setup.slow_disk_ms / 1e3


def one(name, known, said):
    """A figure that has the same name at both ends."""
    return lambda case, run, report, end: [(name, known(case, run, report), said(report["copy"]))]


# what the kernel, or we who made the copy, know; what explain says; what of seconds or of a count is as good as nothing
FIGURES = {
    "rwnd-limited": (one("rwnd-limited", lambda case, run, report: run["chrono"]["rwnd_limited"], lambda copy: seconds(copy, *WINDOW)),
                     SLACK_S, "s"),
    "sent again": (sent_again, SLACK_COUNT, ""),
    "delayed ACKs": (one("delayed ACKs", lambda case, run, report: run["counters"][case.setup.receiver]["DelayedACKs"],
                         lambda copy: count(copy, "nagle-delayed-ack")), SLACK_COUNT, ""),
    "disk": (one("disk", of_disk, lambda copy: seconds(copy, "server-think")), SLACK_S, "s"),
    "pause": (one("pause", lambda case, run, report: case.setup.pause[1], lambda copy: longest(copy, "client-think")), 0.05, "s"),
}


def explained(path):
    """The longest copy of a capture and the connection that carried it."""
    done = subprocess.run([subject.coax_binary(), "explain", "--json", path], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"coax explain {path}: {done.stderr.strip()}")
    capture = json.loads(done.stdout)["captures"][0]
    copy = max(capture["copies"], key=lambda one: one["wall_s"])
    return {"copy": copy, "connection": capture["connections"][copy["connection"]], "vantage": capture["vantage"],
            "grade": capture["grade"]}


@dataclasses.dataclass
class Row:
    """One capture: what was expected, and what was said."""

    case: Case
    end: str
    wall_s: float
    said: str
    share: float
    figures: list
    faults: list


def expected(case, run, wall_s):
    """What must be found to have taken most of the time.

    A client that stops just when it has all of an answer keeps no window shut: the sender's kernel knows. How often a short
    queue overflows is chance: the link knows for how long it was busy without a pause; in the rest, losses kept it idle."""
    if case.causes == WINDOW and run["chrono"]["rwnd_limited"] < sum(case.setup.pause[1:]):
        return ("client-think",)
    if case.by_link:
        busy = run["link"]["saturated_s"]
        idle, most = wall_s - busy, max(busy, wall_s - busy) * (1 - NEAR)
        return (*(("bandwidth",) if busy >= most else ()), *(LOSS if idle >= most else ()))
    return case.causes


def judged(case, run, end):
    report = explained(run["captures"][end])
    case = dataclasses.replace(case, causes=expected(case, run, report["copy"]["wall_s"]))
    copy, faults, figures = report["copy"], [], []
    largest = max(copy["causes"], key=lambda row: row["seconds"])
    if largest["cause"] not in case.causes:
        faults.append(f"{largest['cause']}, not {' or '.join(case.causes)}")
    if report["vantage"] != end:
        faults.append(f"taken to be captured at {report['vantage']}")
    if copy["bytes"] != case.setup.bytes:
        faults.append(f"{copy['bytes']} bytes, not {case.setup.bytes}")
    for of, slack, unit in map(FIGURES.get, case.compared):
        for name, known, ours in of(case, run, report, end):
            figures.append((name, known, ours, unit))
            if abs(ours - known) > max(NEAR * known, slack):
                faults.append(f"{name}: {figure(ours, unit)} beside {figure(known, unit)}")
    return Row(case, end, copy["wall_s"], largest["cause"], largest["seconds"] / copy["wall_s"], figures, faults)


def figure(value, unit):
    return f"{value:.3f} s" if unit else f"{value:.0f}"


def line(row):
    figures = [one for one in row.figures if one[1] or one[2] or one is row.figures[0]]
    known = "; ".join(f"{name} {figure(value, unit)}" for name, value, _, unit in figures) or "–"
    ours = "; ".join(figure(value, unit) for _, _, value, unit in figures) or "–"
    return (f"| {row.case.name} | {row.end} | {row.wall_s:.3f} | {' or '.join(row.case.causes)} | {row.said} | {row.share * 100:.0f} % | "
            f"{known} | {ours} | {'; '.join(row.faults) or 'yes'} |")


HEADER = ("| copy | captured at | s | slow by | said to be | of the time | known | said | right |\n"
          "|---|---|--:|---|---|--:|---|---|---|")


def perform(case, keep):
    """The rows of both ends, and all that was seen."""
    with tempfile.TemporaryDirectory(prefix="explain-real-") as folder:
        Path(folder).chmod(0o755)
        run = rig.copy(case.setup, Path(folder))
        if keep:
            for end, path in run["captures"].items():
                shutil.copy(path, Path(keep) / f"{case.name.replace(' ', '-').replace(',', '').replace('/', '')}-{end}.pcap")
        rows = [judged(case, run, end) for end in ENDS]
    if not run["whole"]:
        rows[0].faults.append("the copy is not what was copied")
    return rows, {key: run[key] for key in ("chrono", "counters", "link")}


CHANGED_HEADER = ("| copy: change | captured at | measured | predicted | truth | error |\n"
                  "|---|---|--:|--:|--:|--:|")


def changed(change):
    """What was predicted of a change, and what came of it, seen from both ends."""
    measured = []
    for setup in (change.setup, dataclasses.replace(change.setup, client=change.client)):
        with tempfile.TemporaryDirectory(prefix="explain-real-") as folder:
            Path(folder).chmod(0o755)
            run = rig.copy(setup, Path(folder))
            measured.append({end: explained(run["captures"][end])["copy"] for end in ENDS})
    slow, fast = measured
    for end in ENDS:
        predicted = next((one["predicted_s"] for one in slow[end]["advice"] if one["id"] == change.advice), None)
        yield change.name, end, slow[end]["wall_s"], predicted, fast[end]["wall_s"]


def changed_line(row):
    name, end, slow, predicted, truth = row
    said = f"{predicted[1]:.3f} ({predicted[0]:.3f}–{predicted[2]:.3f})" if predicted else "none"
    error = f"{(predicted[1] / truth - 1) * 100:+.1f} %" if predicted else "–"
    return f"| {name} | {end} | {slow:.3f} | {said} | {truth:.3f} | {error} |"


def what_if():
    """The table of CHANGES, as lines."""
    lines = [CHANGED_HEADER]
    print(f"\n{CHANGED_HEADER}")
    for change in CHANGES:
        found = list(map(changed_line, changed(change)))
        print("\n".join(found), flush=True)
        lines += found
    return lines


def parse():
    parser = argparse.ArgumentParser(prog="scripts/explain-real", description=__doc__,
                                     epilog="With --seed or --copies: random copies beside the referee (docs/referee.md); see --seed 1 --help.")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--small", action="store_true", help="a few short copies")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the captures there")
    parser.add_argument("--why", action="store_true", help="all that the kernels and the link counted, after each copy")
    parser.add_argument("--what-if", action="store_true", help="also what was predicted of changes beside what they bring")
    parser.add_argument("--write", action="store_true", help=f"all of it, and the tables into docs/{PAGE.name}")
    return parser.parse_args()


def missing():
    """Why this cannot run here, or None."""
    lacking = [name for name in ("smbd", "smbclient", "tcpdump", "ss") if shutil.which(rig.subject.program(name)) is None]
    return impossible() or (f"there is no {', '.join(lacking)}" if lacking else None)


def main():
    if {word.partition("=")[0] for word in sys.argv[1:]} & {"--seed", "--copies", "--from", "--pairs"}:
        return copies.main()
    arguments = parse()
    if reason := missing():
        print(f"explain-real: SKIPPED, {reason}", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    cases = [case for case in CASES if arguments.only in case.name and (case.small or not arguments.small)]
    if not cases:
        raise SystemExit(f"no case is called `{arguments.only}`")
    machine = f"Linux {platform.release()}, {os.cpu_count()} processors, {datetime.date.today()}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}\n\n{HEADER}", flush=True)
    rows = []
    for case in cases:
        found, seen = perform(case, arguments.keep)
        rows += found
        print("\n".join(map(line, found)) + (f"\n    {json.dumps(seen)}" if arguments.why else ""), flush=True)
    wrong = [row for row in rows if row.faults]
    summary = f"{len(rows)} captures of {len(cases)} copies, {len(wrong)} of them not right"
    changes = what_if() if arguments.what_if or arguments.write else []
    if arguments.write:
        write_page(copies=[f"{machine}: {summary}.\n", HEADER, *map(line, rows)], changes=changes)
    print(f"\n{summary}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
