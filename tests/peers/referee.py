"""tshark as the referee of the wire: every conversation of the client matrix is captured and dissected.

What tshark marks malformed, or as an SMB or NetBIOS error, in a message of the *server* is an offence, unless
tests/peers/referee.toml says why that mark is tshark's own mistake. Exit code 1 if there is one.
"""
import argparse
import collections
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from . import install, main, subject

ALLOWED = Path(__file__).parent / "referee.toml"
# marks of TCP itself do not count: on a busy machine the kernel retransmits
TCP_MARKS = "(tcp.analysis.flags || tcp.options.sack.dsack)"
MARKS = f"_ws.malformed || (_ws.expert.severity >= 0x600000 && !{TCP_MARKS} && (smb || nbss || nbns || nbdgm))"
FIELDS = ["frame.number", "tcp.stream", "tcp.srcport", "udp.srcport", "smb.cmd", "_ws.col.Info", "_ws.expert.message"]


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only referee --", description=__doc__)
    parser.add_argument("--subject", default="coax")
    parser.add_argument("--only", default="smbclient,raw,core,impacket,pysmb,java,curl,nmap,names")
    parser.add_argument("--row", default="")
    parser.add_argument("--keep", metavar="FILE", help="keep the capture there")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


@contextlib.contextmanager
def capturing(server, path):
    """dumpcap on the loopback interface, for the server's ports only."""
    ports = [port for port in (server.nbt, server.direct) if port]
    wanted = " or ".join([f"tcp port {port}" for port in ports] + ["udp port 137", "udp port 138"])
    command = ["dumpcap", "-q", "-i", "lo", "-B", "64", "-f", wanted, "-w", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("File:"):  # it says so once it captures
            break
    try:
        yield
    finally:
        time.sleep(1)  # the last packets are still in the kernel's buffer
        process.terminate()
        process.stderr.read()
        process.wait(20)


def tshark(path, server, *arguments):
    """tshark over the capture with the server's ports decoded as NetBIOS sessions."""
    command = ["tshark", "-n", "-r", str(path), "-o", "tcp.reassemble_out_of_order:TRUE"]
    for port in (server.nbt, server.direct):
        command += ["-d", f"tcp.port=={port},nbss"] if port else []
    done = subprocess.run(command + list(arguments), capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise RuntimeError(f"tshark: {done.stderr.strip()[-300:]}")
    return done.stdout


def marks(path, server):
    """Every packet that tshark objects to, as a dictionary."""
    fields = [part for field in FIELDS for part in ("-e", field)]
    output = tshark(path, server, "-Y", MARKS, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", *fields)
    for line in output.splitlines():
        values = dict(zip(FIELDS, line.split("\t")))
        source = values["tcp.srcport"] or values["udp.srcport"] or ""
        ours = {str(server.nbt), str(server.direct), "137", "138"}
        yield {
            "frame": int(values["frame.number"]),
            "stream": values["tcp.stream"],
            "from_server": bool(set(source.split(",")) & ours),
            "command": values["smb.cmd"],
            "info": values["_ws.col.Info"],
            "message": values["_ws.expert.message"],
        }


def excused(mark, rules, kind):
    """The reason why a mark is no offence, or nothing."""
    for rule in rules:
        text = f"{mark['info']} {mark['message']}"
        if rule.get("subject", kind) == kind and re.search(rule["match"], text) and re.search(rule.get("command", ""), mark["command"]):
            return rule["why"]
    return None


def count_commands(path, server):
    output = tshark(path, server, "-Y", "smb", "-T", "fields", "-e", "smb.cmd", "-E", "occurrence=a")
    return collections.Counter(command for line in output.split() for command in line.split(",") if command)


def verdict(path, server):
    rules = tomllib.loads(ALLOWED.read_text()).get("excused", [])
    offences, notes = [], collections.Counter()
    for mark in marks(path, server):
        why = excused(mark, rules, server.kind) or (None if mark["from_server"] else "sent by the client")
        if why:
            notes[why] += 1
        else:
            offences.append(mark)
    commands = count_commands(path, server)
    return {"messages": sum(commands.values()), "commands": len(commands), "offences": offences, "excused": notes}


def main_():
    arguments = parse()
    if {"tshark"} & set(install.missing_programs()):
        print("tshark-referee: SKIPPED, tshark is missing", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    missing = main.missing_peers()
    rows = [row for row in main.chosen_rows(arguments.only, arguments.row) if not set(row.needs) & set(missing)]
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        path = Path(arguments.keep or f"{scratch}/peers.pcapng")
        with subject.start(arguments.subject) as server:
            with capturing(server, path):
                main.run(server, rows, lambda text: print(f"referee: {text}", file=sys.stderr))
            result = verdict(path, server)
    if arguments.json:
        print(json.dumps(result))
    else:
        report(result)
    return 1 if result["offences"] or not result["messages"] else 0


def report(result):
    for mark in result["offences"][:50]:
        print("OFFENCE frame {frame} stream {stream} command {command}: {info} [{message}]".format(**mark))
    for why, count in result["excused"].items():
        print(f"excused {count}: {why}")
    print(f"{result['messages']} SMB messages of {result['commands']} commands, {len(result['offences'])} offences")


if __name__ == "__main__":
    sys.exit(main_())
