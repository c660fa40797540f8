"""How fast the lab is: bulk copies of two sizes in both directions, and the published tables.

GB of file simulated in a second of wall clock and in a second of CPU, and the memory that was resident at most, which is
to be the same for both sizes. Writes docs/evidence/performance.md between its markers with --write.
"""
import argparse
import json
import statistics
import sys

from peers import subject

from . import main as server_bench
from .explain import measured

START, END = "<!-- bench-lab: start -->", "<!-- bench-lab: end -->"
COPIES = [(client, way) for client in ("modern", "ibm-dls-5.0-full") for way in ("--to-server", "--from-server")]


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench lab", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="rounds; medians are reported")
    parser.add_argument("--mb", type=int, default=2000, help="size of the larger copy in MB of 10^6 bytes; the smaller is a tenth")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the table into docs/evidence/performance.md")
    return parser.parse_args()


def medians(command, runs):
    rounds = [measured(command) for _ in range(runs)]
    return {figure: statistics.median(one[figure] for one in rounds) for figure in rounds[0]}


def copies(coax, megabytes, runs):
    for client, way in COPIES:
        for size in (megabytes // 10, megabytes):
            command = [coax, "lab", "copy", "--client", client, way, "--size", f"{size}MB", "--json"]
            figures = medians(command, runs)
            rate = {"GB per wall s": size / 1e3 / figures["wall s"], "GB per CPU s": size / 1e3 / figures["CPU s"]}
            yield {"work": f"{client}, {'to' if way == '--to-server' else 'from'} the server, {size:,} MB", **figures, **rate}


def markdown(rows, runs):
    lines = [f"{runs} rounds, medians; one thread but for the tables.", "",
             "| work | GB simulated per wall s | per CPU s | wall s | CPU s | most MiB resident |", "|---|---|---|---|---|---|"]
    for row in rows:
        rates = [f"{row[key]:.2f}" if key in row else "" for key in ("GB per wall s", "GB per CPU s")]
        lines.append("| " + " | ".join([row["work"], *rates, *(f"{row[key]:.3g}" for key in ("wall s", "CPU s", "MiB"))]) + " |")
    return "\n".join(lines)


def main():
    arguments = parse()
    coax = subject.coax_binary()
    rows = list(copies(coax, arguments.mb, arguments.runs))
    rows.append({"work": "`coax lab tables`, all of them", **medians([coax, "lab", "tables"], arguments.runs)})
    text = markdown(rows, arguments.runs)
    print(json.dumps(rows) if arguments.json else text)
    if arguments.write:
        server_bench.write_between(START, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
