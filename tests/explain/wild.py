"""Every connection of every capture in tests/captures: what `coax explain` counts beside what tcptrace and tshark count.

Bytes, segments, retransmissions, late segments and windows shut are compared with tcptrace for each side of each TCP
connection; windows filled, and SMB requests by command, with tshark. Where they differ, wild.toml says who is right and
why; a difference that is not in it fails, and so does an entry that no longer differs.
"""
import argparse
import collections
import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "tests" / "captures"
KNOWN = Path(__file__).with_name("wild.toml")
SIDES = {"from_client": 0, "from_server": 1}
# what coax calls it, what tcptrace does
COUNTED = {"segments": "total_packets", "bytes": "unique_bytes_sent", "data_segments": "actual_data_pkts",
           "retransmissions": "rexmt_data_pkts", "retransmitted_bytes": "rexmt_data_bytes", "late_segments": "outoforder_pkts",
           "zero_windows": "zero_win_adv", "largest_segment_bytes": "max_segm_size"}
# Of a segment with SMB messages, or with a remark of tshark's about the order, repetition or window of TCP
FIELDS = ("smb.cmd", "smb.flags.response", "tcp.analysis.flags", "tcp.analysis.window_full", "ip.src", "ipv6.src", "tcp.srcport")
# AndX commands ([MS-CIFS] 2.2.3.4), and what ends a chain of them
CHAINED, NONE = {0x24, 0x2d, 0x2e, 0x2f, 0x73, 0x74, 0x75, 0xa2}, 0xff


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only explain-wild --", description=__doc__)
    parser.add_argument("--all", action="store_true", help="print every difference, known or not, as entries of wild.toml")
    return parser.parse_args()


def captures():
    found = [path for path in CAPTURES.rglob("*.pcap*") if path.is_file()]
    return sorted(found, key=lambda path: str(path.relative_to(CAPTURES)))


def unpacked(path, folder):
    """The capture as a plain pcap, which is what tcptrace reads; nothing if not even tshark's tools can read it."""
    plain, converted = folder / "plain", folder / "plain.pcap"
    plain.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    done = subprocess.run(["editcap", "-F", "nsecpcap", plain, converted], capture_output=True, text=True)
    return (plain, converted) if done.returncode == 0 and converted.exists() else None


def ours(path):
    """Connections by their two ends, in the order of their first packets."""
    done = subprocess.run([subject.coax_binary(), "explain", "--json", str(path)], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"coax explain {path.name}: {done.stderr.strip()}")
    report = json.loads(done.stdout)["captures"]
    return report[0]["connections"] if report else []


def plain_address(text):
    """`a.b.c.d:p` or `[v6]:p` as tcptrace's pair of address and port."""
    address, _, port = text.rpartition(":")
    return address.strip("[]"), port


def tcptrace(path):
    """Rows of tcptrace, keyed by the two ends."""
    done = subprocess.run(["tcptrace", "-lrn", "--csv", str(path)], capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith("#")]
    table = collections.defaultdict(list)
    for row in csv.DictReader(lines, skipinitialspace=True):
        row = {(name or "").strip(): (value or "").strip() for name, value in row.items() if isinstance(value, str)}
        ends = (row["host_a"], row["port_a"]), (row["host_b"], row["port_b"])
        table[frozenset(ends)].append((ends[0], row))
    return table


def beside_tcptrace(connections, table):
    """What differs: connection's number, side, figure, ours, theirs."""
    seen = collections.Counter()
    for number, connection in enumerate(connections):
        ends = [plain_address(connection[end]) for end in ("client", "server")]
        rows = table.get(frozenset(ends), [])
        place, seen[frozenset(ends)] = seen[frozenset(ends)], seen[frozenset(ends)] + 1
        if place >= len(rows):
            yield number, "", "connection", 1, 0
            continue
        first, row = rows[place]
        for side, sent_by in SIDES.items():
            way = "a2b" if ends[sent_by] == first else "b2a"
            for figure, theirs in COUNTED.items():
                mine, other = connection[side][figure], int(row[f"{theirs}_{way}"].split()[0])
                if mine != other:
                    yield number, side, figure, mine, other


def tshark(path, *arguments):
    command = ["tshark", "-n", "-r", str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300).stdout.splitlines()


def messages(commands):
    """Commands as tshark lists them, cut into messages: a chain goes on until 0xff or a command that none can follow."""
    chain = []
    for command in commands:
        if command != NONE:
            chain.append(command)
        if command not in CHAINED and chain:
            yield chain
            chain = []
    if chain:
        yield chain


def decode_as(connections):
    """Options for tshark: servers with SMB on ports that it does not know."""
    ports = {connection["server"].rpartition(":")[2] for connection in connections if connection["requests"]}
    return [word for port in sorted(ports - {"139", "445"}) if port.isdigit() for word in ("-d", f"tcp.port=={port},nbss")]


def tshark_counts(path, ports):
    """SMB requests by the number of their commands, all connections together, and segments that filled the window by the address and port
    that sent them.

    With reassembly of what came out of order tshark loses packets that were cut short, without it lossy streams: of the two the one that
    finds more. If nothing came out of order, both are the same.
    """
    requests, full, is_in_order = counts_with(path, "FALSE", ports)
    if not is_in_order:
        requests = max(counts_with(path, "TRUE", ports)[0], requests, key=collections.Counter.total)
    return requests, full


def counts_with(path, option, ports):
    fields = [word for field in FIELDS for word in ("-e", field)]
    rows = tshark(path, *ports, "-o", f"tcp.reassemble_out_of_order:{option}", "-Y",
                  "((tcp || netbios.command in {0x15, 0x16}) && smb.cmd) || tcp.analysis.flags", "-T", "fields", *fields)
    counts, full, is_in_order = collections.Counter(), collections.Counter(), True
    for row in rows:
        commands, responses, flags, is_full, *sender = row.split("\t")
        is_in_order &= not flags
        if is_full:
            full[tuple(part for part in sender if part)] += 1
        if commands:
            for chain, response in zip(messages(int(command, 16) for command in commands.split(",")), responses.split(",")):
                counts.update(chain if response == "0" else [])
    return counts, full, is_in_order


def beside_tshark(connections, path):
    (counts, full), names = tshark_counts(path, decode_as(connections)), command_names()
    mine = collections.Counter()
    for connection in connections:
        for row in connection["requests"]:
            mine[row["command"].split(" ")[0]] += row["count"]
    theirs = collections.Counter({names.get(code, hex(code)): count for code, count in counts.items()})
    for name in sorted(set(mine) | set(theirs)):
        if mine[name] != theirs[name]:
            yield "all", "", name, mine[name], theirs[name]
    totals = collections.Counter()
    for connection in connections:
        for side, end in (("from_client", "client"), ("from_server", "server")):
            totals[plain_address(connection[end])] += connection[side]["window_full"]
    for end in sorted(set(full) | {end for end, count in totals.items() if count}):
        if full[end] != totals[end]:
            yield "all", ":".join(end), "window_full", totals[end], full[end]


def command_names():
    """Numbers of commands and their names, from the one list there is."""
    source = (ROOT / "crates" / "wire" / "src" / "command.rs").read_text()
    return {int(code, 16): name for name, code in re.findall(r"^    ([A-Z0-9_]+) = (0x[0-9a-f]{2}), ", source, re.MULTILINE)}


def differences(path, folder):
    files = unpacked(path, folder)
    if files is None:
        return
    connections = ours(path)
    over_tcp = [connection for connection in connections if connection.get("transport", "tcp") == "tcp"]
    yield from beside_tcptrace(over_tcp, tcptrace(files[1]))
    yield from beside_tshark(connections, files[0])


def explained(known, name, difference):
    """The first entry that covers a difference."""
    number, side, figure, mine, other = difference
    for entry in known:
        fits = entry["capture"] in ("*", name) and entry["figure"] in ("*", figure)
        fits = fits and entry.get("connection", number) == number and entry.get("side", side) == side
        if fits and entry.get("coax", mine) == mine and entry.get("other", other) == other:
            return entry
    return None


def main():
    arguments = parse()
    missing = [program for program in ("tcptrace", "tshark", "editcap") if not shutil.which(program)]
    if missing:
        print(f"explain-wild: SKIPPED, there is no {', '.join(missing)}", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    known = tomllib.loads(KNOWN.read_text())["difference"] if KNOWN.exists() else []
    used, wrong, count = set(), 0, 0
    for path in captures():
        name = str(path.relative_to(CAPTURES))
        with tempfile.TemporaryDirectory() as folder:
            for difference in differences(path, Path(folder)):
                entry = explained(known, name, difference)
                count += 1
                used.add(id(entry))
                if entry is None or arguments.all:
                    print(f"{name}: connection {difference[0]} {difference[1]} {difference[2]}: "
                          f"coax {difference[3]}, other {difference[4]}" + (f" ({entry['who']}: {entry['why']})" if entry else ""))
                wrong += entry is None
    stale = [entry for entry in known if id(entry) not in used]
    for entry in stale:
        print(f"no longer so: {entry}")
    print(f"{len(captures())} captures, {count} differences, {wrong} of them not explained, {len(stale)} entries no longer so")
    return 1 if wrong or stale else 0


if __name__ == "__main__":
    sys.exit(main())
