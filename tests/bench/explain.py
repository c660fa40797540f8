"""coax explain and `tshark -q -z smb,srt` on the same capture, in turns, N times.

The captures are the lab's: one bulk copy over a lossy 100 Mbit/s path, of the size asked for and of a tenth of it, as
files where $TMPDIR is (a disk, as captures are; to read a file on tmpfs took twice as long), all of them in the
page cache. CPU seconds, packets for each of coax's, and the memory that was resident at most. Writes docs/evidence/performance.md
between its markers with --write.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import subject

from . import main as server_bench

START, END = "<!-- bench-explain: start -->", "<!-- bench-explain: end -->"
COPY = ["--client", "modern", "--from-server", "--link", "ethernet-100", "--set",
        'link.loss_to_client.rule={kind="random",probability=0.0005}', "--seed", "1"]


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench explain", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="rounds; medians are reported")
    parser.add_argument("--mb", type=int, default=600, help="size of the copy in MB of 10^6 bytes; the capture is somewhat larger")
    parser.add_argument("--capture", type=Path, help="take this capture in place of the lab's")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the table into docs/evidence/performance.md")
    return parser.parse_args()


def measured(command):
    """CPU seconds, wall seconds and the most memory that was resident, in MiB, of one process."""
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]}: {complaint.decode(errors='replace')[-300:]}")
    return {"CPU s": usage.ru_utime + usage.ru_stime, "wall s": time.monotonic() - started, "MiB": usage.ru_maxrss / 1024}


def made(coax, megabytes, folder):
    path = folder / f"copy-{megabytes}.pcapng"
    command = [coax, "lab", "copy", *COPY, "--size", f"{megabytes}MB", "--pcap", str(path), "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def packets(coax, path):
    done = subprocess.run([coax, "explain", "--json", str(path)], check=True, capture_output=True)
    return json.loads(done.stdout)["captures"][0]["quality"]["packets"]


def warm(path):
    """Into the page cache, for both, and onto the disk; in pieces, for a child's peak begins at what its parent held."""
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        while file.read(1 << 20):
            pass


def compare(coax, path, runs):
    """One row: the capture, and the medians of both programs."""
    commands = {"coax": [coax, "explain", str(path)], "tshark": ["tshark", "-n", "-q", "-z", "smb,srt", "-r", str(path)]}
    rounds = {name: [] for name in commands}
    warm(path)
    for number in range(runs):
        order = list(commands) if number % 2 == 0 else list(commands)[::-1]
        for name in order:
            rounds[name].append(measured(commands[name]))
    row = {"capture_mb": path.stat().st_size / 1e6, "packets": packets(coax, path)}
    for name, figures in rounds.items():
        row[name] = {figure: statistics.median(one[figure] for one in figures) for figure in figures[0]}
    ratios = sorted(other["CPU s"] / mine["CPU s"] for mine, other in zip(rounds["coax"], rounds["tshark"]))
    row["ratio"] = {"median": statistics.median(ratios), "least": ratios[0], "greatest": ratios[-1]}
    row["packets_per_cpu_s"] = row["packets"] / row["coax"]["CPU s"]
    return row


def markdown(rows, runs):
    lines = [f"{runs} rounds; medians, in brackets the least and the greatest of the rounds.", "",
             "| capture | packets | coax CPU s | tshark CPU s | tshark ÷ coax | coax, packets per CPU s | coax MiB | tshark MiB |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        ratio = "{median:.3g} ({least:.3g} – {greatest:.3g})".format(**row["ratio"])
        cells = [f"{row['capture_mb']:,.0f} MB", f"{row['packets']:,}", f"{row['coax']['CPU s']:.3f}", f"{row['tshark']['CPU s']:.2f}", ratio,
                 f"{row['packets_per_cpu_s'] / 1e6:.2f} M", f"{row['coax']['MiB']:.1f}", f"{row['tshark']['MiB']:,.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    arguments = parse()
    if not shutil.which("tshark"):
        print("bench-explain: SKIPPED, there is no tshark", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    coax = subject.coax_binary()
    folder = Path(tempfile.mkdtemp(prefix="coax-bench-"))
    try:
        paths = [arguments.capture] if arguments.capture else [made(coax, size, folder) for size in (arguments.mb // 10, arguments.mb)]
        rows = [compare(coax, path, arguments.runs) for path in paths]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = markdown(rows, arguments.runs)
    print(json.dumps(rows) if arguments.json else text)
    if arguments.write:
        server_bench.write_between(START, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
