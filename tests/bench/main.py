"""coax and smbd on the same work, same client and same files (on tmpfs), one after the other, N times; the medians.

Beside them, for copies, the floor: a server that makes the same system calls and does nothing else (floor.c). Only the ratios mean something on another machine. Writes docs/evidence/performance.md between its markers with --write.
"""
import argparse
import contextlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from peers import install, subject

from . import cases, floor, measure

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "evidence" / "performance.md"
BUDGETS = Path(__file__).parent / "budgets.toml"
START, END = "<!-- bench-server: start -->", "<!-- bench-server: end -->"
GLOBALS = {"server signing": "disabled"}
ADDRESSES = {"coax": "127.0.0.1", "smbd": "127.0.0.2"}
PROCESSORS = sorted(os.sched_getaffinity(0))


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench-server", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="paired runs; the medians are reported")
    parser.add_argument("--only", default="", help="cases whose name contains one of these, with commas")
    parser.add_argument("--subjects", default="coax,smbd,floor", help="leave one out to measure the other alone")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the table into docs/evidence/performance.md; with --only its rows")
    return parser.parse_args()


def measured(server, work, kind):
    """One case on one server: its figures by name."""
    cpu, began = measure.cpu_seconds(server.pid), time.monotonic()
    result = work(server)
    wall = time.monotonic() - began
    if kind == "figures":
        return result
    time.sleep(0.2)
    cpu = max(measure.cpu_seconds(server.pid) - cpu, 1 / measure.TICKS)
    if kind == "bytes":
        return {"MB/s": result / 1e6 / wall, "CPU s per GB": cpu / (result / cases.GIGABYTE)}
    return {"per second": result / wall, "per CPU second": result / cpu}


def run_pairs(arguments, folder):
    """Every chosen case on every subject, `runs` times, in alternating order."""
    kinds = arguments.subjects.split(",")
    wanted = [part for part in arguments.only.split(",") if part] or [""]
    chosen = [case for case in cases.CASES if any(part in case.name for part in wanted)]
    results = {case.name: {kind: [] for kind in kinds} for case in chosen}
    for number in range(arguments.runs):
        for case in chosen:
            for kind in kinds if number % 2 == 0 else reversed(kinds):
                if kind != "floor" or case.floor:
                    one(kind, case, folder, results)
    return results


def started(kind, folder):
    """A fresh server for every measurement: none profits from what another case left in its caches."""
    if kind == "floor":
        return floor.start(folder, folder / "share")
    return subject.start(kind, scratch=folder, host=ADDRESSES[kind], globals_=GLOBALS, folder=folder / "share")


@contextlib.contextmanager
def on(processors):
    """What is started meanwhile runs on these processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def places(case):
    """The client's and the server's processors. A copy's client has one and the server another, as on two machines: a wake-up of the
    same processor costs a tenth of one of another, and the scheduler would choose anew in each round."""
    if case.floor and len(PROCESSORS) > 1:
        return {PROCESSORS[0]}, {PROCESSORS[1]}
    return set(PROCESSORS), set(PROCESSORS)


def one(kind, case, folder, results):
    """One case on one server: adds its figures to the results."""
    client, servers = places(case)
    with on(client), contextlib.ExitStack() as stack:
        with on(servers):
            server = stack.enter_context(started(kind, folder))
        try:
            figures = measured(server, case.floor if kind == "floor" else case.run, case.kind)
        except Exception as error:  # one case that fails must not cost the rest of a long run
            print(f"bench: {kind} {case.name}: FAILED {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            return
    results[case.name][kind].append(figures)
    shown = ", ".join(f"{name} {value:,.5g}" for name, value in figures.items())
    print(f"bench: {kind} {case.name}: {shown}", file=sys.stderr, flush=True)
    for leftover in ("put.bin", "written.bin"):
        (folder / "share" / leftover).unlink(missing_ok=True)


def medians(results):
    """Case, figure: median of each subject, and coax's over smbd's."""
    rows = []
    for case, by_kind in results.items():
        names = next((list(runs[0]) for runs in by_kind.values() if runs), [])
        for name in names:
            row = {"case": case, "figure": name}
            for kind, runs in by_kind.items():
                row[kind] = statistics.median(run[name] for run in runs) if runs else None
            for key, peer in (("ratio", "smbd"), ("floor_ratio", "floor")):
                row[key] = ratio(by_kind, peer, name)
            rows.append(row)
    return rows


def ratio(by_kind, peer, name):
    """The median of the rounds' ratios: both figures of a round come from the same minute of the machine."""
    pairs = zip(by_kind.get("coax", []), by_kind.get(peer, []))
    ratios = [ours[name] / theirs[name] for ours, theirs in pairs if theirs[name]]
    return statistics.median(ratios) if ratios else None


def judge(rows):
    """Adds each row's budget, and whether it is kept. Budgets named "copies" hold for every case that has a floor."""
    budgets = tomllib.loads(BUDGETS.read_text())["budget"]
    copies = {case.name for case in cases.CASES if case.floor}
    for row in rows:
        for budget in budgets:
            named = row["case"] in copies if budget["case"] == "copies" else budget["case"] in row["case"]
            if named and budget["figure"] == row["figure"]:
                row["budget"], row["kept"] = words(budget), kept(budget, row)


# a budget's key: the figure of a row it limits, the sign, and what stands behind the number
LIMITS = {
    "floor_ratio_at_most": ("floor_ratio", "≤", " × floor"),
    "ratio_at_most": ("ratio", "≤", " × smbd"),
    "ratio_at_least": ("ratio", "≥", " × smbd"),
    "at_most": ("coax", "≤", ""),
    "at_least": ("coax", "≥", ""),
}


def words(budget):
    limit = next(key for key in LIMITS if key in budget)
    _, sign, unit = LIMITS[limit]
    return f"{sign} {budget[limit]:,}{unit}"


def kept(budget, row):
    limit = next(key for key in LIMITS if key in budget)
    figure_, sign, _ = LIMITS[limit]
    if row.get(figure_) is None:
        return None
    return row[figure_] <= budget[limit] if sign == "≤" else row[figure_] >= budget[limit]


def figure(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"


def markdown(rows, runs):
    lines = [f"Medians of {runs} rounds on {os.cpu_count()} cores; quote the ratios, which are medians of the rounds' own.", "",
             "| work | figure | coax | floor | smbd 4.17 | coax ÷ floor | coax ÷ smbd | budget | kept |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        verdict = {True: "yes", False: "**no**", None: ""}[row.get("kept")]
        lines.append(f"| {row['case']} | {row['figure']} | {figure(row.get('coax'))} | {figure(row.get('floor'))} "
                     f"| {figure(row.get('smbd'))} | {figure(row.get('floor_ratio'))} | {figure(row.get('ratio'))} | {row.get('budget', '')} | {verdict} |")
    return "\n".join(lines)


def write_page(table):
    PAGE.parent.mkdir(exist_ok=True)
    text = PAGE.read_text() if PAGE.exists() else f"# Performance\n\n`scripts/bench-server --write` fills this in.\n\n{START}\n{END}\n"
    PAGE.write_text(text)
    write_between(START, END, table)


def renewed(table):
    """The page's table with the rows of `table` in their places."""
    def name(line):
        return tuple(line.split("|")[1:3])

    rows = {name(line): line for line in table.splitlines() if line.startswith("|")}
    page = PAGE.read_text().partition(START)[2].partition(END)[0].strip("\n")
    return "\n".join(rows.get(name(line), line) for line in page.splitlines())


def write_between(start, end, table):
    """Puts a table on the page, in place of what stands between two marks."""
    head, _, rest = PAGE.read_text().partition(start)
    PAGE.write_text(f"{head}{start}\n{table}\n{end}{rest.partition(end)[2]}")
    print(f"written: {PAGE.relative_to(ROOT)}", file=sys.stderr)


def main():
    arguments = parse()
    if {"smbd", "smbclient"} & set(install.missing_programs()):
        print("bench-server: SKIPPED, Samba is missing", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    if "coax" in arguments.subjects:
        os.environ["COAX"] = subject.coax_binary()
    folder = Path(tempfile.mkdtemp(prefix="coax-bench-", dir="/dev/shm"))
    folder.chmod(0o755)
    try:
        (folder / "share").mkdir(mode=0o777)
        cases.prepare(folder / "share")
        rows = medians(run_pairs(arguments, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    judge(rows)
    table = markdown(rows, arguments.runs)
    print(json.dumps(rows) if arguments.json else table)
    if arguments.write:
        write_page(renewed(table) if arguments.only else table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
