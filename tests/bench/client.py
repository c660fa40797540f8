"""coax get and put, smbclient and curl against the same smbd (NT1, loopback, files on tmpfs), in turns, N times.

MB/s by the wall clock, and the client's CPU seconds for each GB, system time included. Only the ratios of one round mean
something on another machine. Writes docs/evidence/performance.md between its markers with --write.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import install, subject

from . import main as server_bench

START, END = "<!-- bench-client: start -->", "<!-- bench-client: end -->"
GIGABYTE = 1_000_000_000
CLIENTS = ["coax", "smbclient", "curl"]
WAYS = {"get": "from the server", "put": "to the server"}


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench client", description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="rounds; the medians of their ratios are reported")
    parser.add_argument("--mb", type=int, default=1000, help="size of the file in MB of 10^6 bytes")
    parser.add_argument("--as", dest="profile", default="modern", help="the redirector that coax is")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the table into docs/evidence/performance.md")
    return parser.parse_args()


def smbclient(server, way, local):
    command = ["smbclient", "-s", "/dev/null", f"//{server.host}/{server.share}", "-p", str(server.direct), "-m", "NT1"]
    command += ["--option=client min protocol=NT1", "-U", f"{server.user}%{server.password}", "-c"]
    return command + [f"get big.bin {local}" if way == "get" else f"put {local} put.bin"]


def curl(server, way, local):
    place = f"smb://{server.host}:{server.direct}/{server.share}"
    command = ["curl", "-s", "-S", "-u", f"{server.user}:{server.password}"]
    return command + (["-o", local, f"{place}/big.bin"] if way == "get" else ["-T", local, f"{place}/put.bin"])


def coax(server, way, local, profile="modern"):
    place = f"smb://{server.user}:{server.password}@{server.host}:{server.direct}/{server.share}"
    words = [f"{place}/big.bin", local] if way == "get" else [local, f"{place}/put.bin"]
    return [os.environ["COAX"], way, *words, "--as", profile]


def measured(command, size):
    """MB/s, and CPU seconds for each GB."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {(done.stdout + done.stderr)[-300:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"MB/s": size / 1e6 / wall, "CPU s per GB": cpu / (size / GIGABYTE)}


def same(one, other):
    return subprocess.run(["cmp", "-s", one, other]).returncode == 0


def round_of(server, way, folder, size, order, profile):
    """Each client once."""
    big, figures = server.folder / "big.bin", {}
    for client in order:
        copy = folder / "got.bin" if way == "get" else server.folder / "put.bin"
        copy.unlink(missing_ok=True)
        local = str(copy if way == "get" else big)
        command = coax(server, way, local, profile) if client == "coax" else globals()[client](server, way, local)
        figures[client] = measured(command, size)
        if not same(copy, big):
            raise RuntimeError(f"{client} {way}: the copy differs")
        shown = ", ".join(f"{name} {value:,.4g}" for name, value in figures[client].items())
        print(f"bench: {way} {client}: {shown}", file=sys.stderr, flush=True)
        copy.unlink()
    return figures


def rows(rounds):
    """Way, figure: medians of each client, and of coax's share of each round's other two."""
    table = []
    for way, figures in rounds.items():
        for name in ("MB/s", "CPU s per GB"):
            row = {"way": WAYS[way], "figure": name}
            row |= {client: statistics.median(one[client][name] for one in figures) for client in CLIENTS}
            for other in CLIENTS[1:]:
                ratios = sorted(one["coax"][name] / one[other][name] for one in figures)
                row[f"÷ {other}"] = {"median": statistics.median(ratios), "least": ratios[0], "greatest": ratios[-1]}
            table.append(row)
    return table


def markdown(table, arguments):
    lines = [f"{arguments.runs} rounds of {arguments.mb:,} MB on {os.cpu_count()} cores; in brackets the least and the greatest of the "
             "rounds.", "", "| copy | figure | coax | smbclient 4.17 | curl | coax ÷ smbclient | coax ÷ curl |", "|---|---|---|---|---|---|---|"]
    for row in table:
        ratios = ("{median:.3g} ({least:.3g} – {greatest:.3g})".format(**row[f"÷ {other}"]) for other in CLIENTS[1:])
        cells = [row["way"], row["figure"], *(server_bench.figure(row[client]) for client in CLIENTS), *ratios]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def run(arguments, folder):
    size = arguments.mb * 1_000_000
    share = folder / "share"
    share.mkdir(mode=0o777)
    with open("/dev/urandom", "rb") as noise, open(share / "big.bin", "wb") as file:
        for _ in range(arguments.mb):
            file.write(noise.read(1_000_000))
    rounds = {way: [] for way in WAYS}
    with subject.start("smbd", scratch=folder, globals_=server_bench.GLOBALS, folder=share) as server:
        for number in range(arguments.runs):
            order = CLIENTS[number % 3:] + CLIENTS[:number % 3]
            for way in WAYS:
                rounds[way].append(round_of(server, way, folder, size, order, arguments.profile))
    return rows(rounds)


def main():
    arguments = parse()
    if {"smbd", "smbclient", "curl"} & set(install.missing_programs()):
        print("bench-client: SKIPPED, Samba or curl is missing", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    os.environ["COAX"] = subject.coax_binary()
    folder = Path(tempfile.mkdtemp(prefix="coax-bench-", dir="/dev/shm"))
    folder.chmod(0o755)
    try:
        table = run(arguments, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = markdown(table, arguments)
    print(json.dumps(table) if arguments.json else text)
    if arguments.write:
        server_bench.write_between(START, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
