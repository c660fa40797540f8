"""`coax speed` beside iperf3: the same bytes over loopback, one connection, one after the other, N times; the medians.

Only the ratio means something on another machine. iperf3 counts as it does by default; --copy-free gives it its own option
for sending without copying (-Z) as well. Writes docs/evidence/performance.md between its markers with --write.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from peers import subject

from . import main as speed

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "evidence" / "performance.md"
START, END = "<!-- bench-speed: start -->", "<!-- bench-speed: end -->"
SECONDS = 120


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench speed", description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="the medians are reported")
    parser.add_argument("--mb", type=int, default=4096, help="megabytes (of 1,048,576 bytes) a run")
    parser.add_argument("--copy-free", action="store_true", help="iperf3 sends by sendfile")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the table into docs/evidence/performance.md")
    return parser.parse_args()


def iperf3(arguments):
    """MB/s as iperf3's receiver counted."""
    port = subject.free_port(speed.HOST)
    server = subprocess.Popen(["iperf3", "-s", "-1", "-B", speed.HOST, "-p", str(port)], stdout=subprocess.DEVNULL)
    try:
        speed.await_listener(port)
        command = ["iperf3", "-c", speed.HOST, "-p", str(port), "-n", f"{arguments.mb}M", "-J"]
        command += ["-Z"] if arguments.copy_free else []
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
        server.wait(SECONDS)
    finally:
        server.kill()
        server.wait()
    return json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"] / 8e6


def coax(arguments, binary, *options):
    """MB/s as coax's receiver counted."""
    port = subject.free_port(speed.HOST)
    receive = [binary, "speed", "receive", "--listen", f"{speed.HOST}:{port}", "--json", *options]
    receiver = subprocess.Popen(receive, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        speed.await_listener(port)
        send = [binary, "speed", "send", "--target", f"{speed.HOST}:{port}", "--mb", str(arguments.mb)]
        subprocess.run(send, capture_output=True, timeout=SECONDS, check=True)
        report = json.loads(receiver.communicate(timeout=SECONDS)[0])
    finally:
        receiver.kill()
        receiver.wait()
    if report["bytes"] != arguments.mb * speed.MEGABYTE:
        raise RuntimeError(f"coax moved {report['bytes']} bytes")
    return report["bytes_per_s"] / 1e6


def rounds(arguments, binary):
    """Each run's figures, in turning order."""
    measures = {
        "coax": lambda: coax(arguments, binary),
        "coax --copy": lambda: coax(arguments, binary, "--copy"),
        "iperf3": lambda: iperf3(arguments),
    }
    names, results = list(measures), []
    for number in range(arguments.runs):
        turn = number % len(names)
        figures = {name: measures[name]() for name in names[turn:] + names[:turn]}
        results.append(figures)
        shown = ", ".join(f"{name} {figures[name]:,.0f} MB/s" for name in names)
        print(f"bench-speed: {shown}", file=sys.stderr, flush=True)
    return results


def summary(results, arguments):
    found = {"runs": len(results), "mb": arguments.mb, "copy_free": arguments.copy_free, "rows": []}
    found["iperf3_mb_per_s"] = statistics.median(figures["iperf3"] for figures in results)
    for name in ("coax", "coax --copy"):
        ratios = [figures[name] / figures["iperf3"] for figures in results]
        found["rows"].append({
            "name": name,
            "mb_per_s": statistics.median(figures[name] for figures in results),
            "ratio": statistics.median(ratios),
            "least_ratio": min(ratios),
            "greatest_ratio": max(ratios),
        })
    return found


def markdown(found):
    lines = [
        f"{found['runs']} runs of {found['mb']:,} MB each on {os.cpu_count()} cores; quote the ratios.", "",
        f"| receiver | MB/s (10^6), median | {'iperf3 -Z' if found['copy_free'] else 'iperf3'} "
        "| coax ÷ iperf3, median | least | greatest |",
        "|---|---|---|---|---|---|",
    ]
    words = {"coax": "discards in the kernel (as usual)", "coax --copy": "copies, as iperf3's does (`--copy`)"}
    for row in found["rows"]:
        lines.append(f"| {words[row['name']]} | {row['mb_per_s']:,.0f} | {found['iperf3_mb_per_s']:,.0f} "
                     f"| {row['ratio']:.2f} | {row['least_ratio']:.2f} | {row['greatest_ratio']:.2f} |")
    return "\n".join(lines)


def write_page(table):
    head, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(f"{head}{START}\n{table}\n{END}{rest.partition(END)[2]}")
    print(f"written: {PAGE.relative_to(ROOT)}", file=sys.stderr)


def main():
    arguments = parse()
    if not shutil.which("iperf3"):
        print("bench-speed: SKIPPED, iperf3 is missing", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    found = summary(rounds(arguments, subject.coax_binary()), arguments)
    table = markdown(found)
    print(json.dumps(found) if arguments.json else table)
    if arguments.write:
        write_page(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
