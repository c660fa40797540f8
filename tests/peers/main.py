"""Runs every client in every dialect it speaks against one server and prints the matrix.

Exit code 0 when every cell is as tests/peers/expected.toml says for that server, 1 otherwise.
"""
import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from . import cell, corpus, install, subject
from .clients import bulk, core, curl, impacket, java, names, nmap, pysmb, raw, smbclient

EXPECTED = Path(__file__).parent / "expected.toml"
CLIENTS = {
    "smbclient": smbclient, "raw": raw, "core": core, "bulk": bulk, "impacket": impacket, "pysmb": pysmb,
    "java": java, "curl": curl, "nmap": nmap, "names": names,
}
# no row takes more than a few seconds when all is well
ROW_SECONDS = 120


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only peers --", description=__doc__)
    parser.add_argument("--subject", default="coax", help="coax, smbd or HOST:PORT (then SUBJECT_FOLDER is its folder)")
    parser.add_argument("--only", default="", help="clients, with commas: " + ", ".join(CLIENTS))
    parser.add_argument("--row", default="", help="only rows whose name contains this")
    parser.add_argument("--json", action="store_true", help="one object on stdout instead of the table")
    parser.add_argument("--markdown", action="store_true", help="the table as markdown")
    parser.add_argument("--why", action="store_true", help="say of every cell that is not ok why it is not")
    return parser.parse_args()


def chosen_rows(only, name):
    clients = [client for client in only.split(",") if client] or list(CLIENTS)
    unknown = set(clients) - set(CLIENTS)
    if unknown:
        sys.exit(f"no such client: {', '.join(sorted(unknown))}; there are {', '.join(CLIENTS)}")
    rows = [row for client in clients for row in CLIENTS[client].ROWS]
    return [row for row in rows if name.lower() in row.name.lower()]


def run_row(row, server, originals, scratch):
    session = cell.Session(server, originals, scratch)
    started = time.monotonic()
    if row.needs_nbt_139 and server.nbt != 139:
        for step in cell.STEPS:
            session.skip(step, "needs port 139: run where a network namespace can be made")
    else:
        signal.alarm(ROW_SECONDS)
        try:
            row.run(session)
        except Exception as error:  # a client that cannot even begin
            session.outcomes["other"] = cell.Outcome(cell.FAIL, f"{type(error).__name__}: {error}"[:300])
        finally:
            signal.alarm(0)
    shutil.rmtree(session.fetched, ignore_errors=True)
    return {
        "client": row.name,
        "transport": row.transport,
        "seconds": round(time.monotonic() - started, 2),
        "steps": {step: vars(outcome) for step, outcome in session.outcomes.items()},
    }


def too_long(*_):
    raise TimeoutError(f"no end after {ROW_SECONDS} s")


def run(server, rows, progress=lambda text: None):
    """The results of all rows, in order. Also what the referee runs under its capture."""
    signal.signal(signal.SIGALRM, too_long)
    with tempfile.TemporaryDirectory(prefix="peers-") as scratch:
        originals = corpus.make(Path(scratch) / "corpus")
        results = []
        for row in rows:
            progress(f"{row.name} ({row.transport})")
            results.append(run_row(row, server, originals, scratch))
        return results


def judge(results, kind):
    """Cells that are not as expected: a list of sentences. Without a word in the file, every cell must be ok."""
    expected = tomllib.loads(EXPECTED.read_text()).get(kind, {})
    wrong = []
    for result in results:
        rules = expected.get(result["client"], {})
        if rules.get("transport", result["transport"]) != result["transport"]:
            rules = {}
        for step, outcome in result["steps"].items():
            wanted = "ok" if step not in rules.get("fails", []) and "all" not in rules.get("fails", []) else "FAIL"
            if outcome["state"] not in (wanted, cell.NOT_APPLICABLE):
                reason = outcome["reason"] or "it works now: take it out of the expected failures"
                wrong.append(f"{result['client']} ({result['transport']}) {step}: {reason}")
    return wrong


def table(results, markdown):
    width = max(len(result["client"]) for result in results)
    head = ["client".ljust(width), "over  ", *[step.ljust(8) for step in cell.STEPS], "seconds"]
    edge = ("| ", " | ", " |") if markdown else ("", " ", "")
    lines = [edge[0] + edge[1].join(head) + edge[2]]
    if markdown:
        lines.append("|" + "|".join("---" for _ in head) + "|")
    for result in results:
        states = [result["steps"].get(step, {}).get("state", "").ljust(8) for step in cell.STEPS]
        columns = [result["client"].ljust(width), result["transport"].ljust(6), *states, f"{result['seconds']:7.2f}"]
        lines.append(edge[0] + edge[1].join(columns) + edge[2])
    return "\n".join(lines)


def report(arguments, results, wrong):
    if arguments.json:
        print(json.dumps({"subject": arguments.subject, "rows": results, "unexpected": wrong}, ensure_ascii=False))
        return
    print(table(results, arguments.markdown))
    if arguments.why:
        for result in results:
            print_reasons(result)
    for sentence in wrong:
        print(f"UNEXPECTED {sentence}")
    cells = [outcome["state"] for result in results for outcome in result["steps"].values()]
    print(f"{cells.count(cell.OK)} cells ok, {cells.count(cell.FAIL)} fail, "
          f"{cells.count(cell.NOT_APPLICABLE)} do not apply; {len(wrong)} unexpected")


def print_reasons(result):
    """Why a row's cells are not ok, the cells of one reason together."""
    by_reason = {}
    for step, outcome in result["steps"].items():
        if outcome["state"] != cell.OK:
            by_reason.setdefault((outcome["state"], outcome["reason"]), []).append(step)
    for (state, reason), steps in by_reason.items():
        print(f"  {result['client']} ({result['transport']}) {', '.join(steps)}: {state} {reason}")


def missing_peers():
    """Peers that are not there: their rows would all fail, so they are left out, loudly; an error in CI."""
    missing = install.missing_peers()
    if missing and os.environ.get("CI") == "true":
        sys.exit(f"missing peers: {', '.join(missing)}")
    return missing


def main():
    arguments = parse()
    missing = missing_peers()
    rows = [row for row in chosen_rows(arguments.only, arguments.row) if not set(row.needs) & set(missing)]
    if not rows:
        sys.exit("no row left to run")
    with subject.start(arguments.subject) as server:
        if server.folder is None:
            sys.exit("every copy is judged on the server's disk: say in SUBJECT_FOLDER which folder the share is")
        results = run(server, rows, lambda text: print(f"peers: {text}", file=sys.stderr))
    wrong = judge(results, arguments.subject)
    report(arguments, results, wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
