"""Copies over NetBEUI beside TCP through a pair of virtual interfaces whose rate tc limits. Needs root and sch_tbf.

Prints the payload rate of each copy (start of the program included) and the CPU time of server and client.
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from netbeui.main import Cable, check, run
from peers import subject

CASES = (("10mbit", 10 << 20), ("100mbit", 48 << 20), ("", 256 << 20))
ADDRESSES = ("10.9.9.1", "10.9.9.2")


def limit(cable, rate):
    for space in (cable.server, cable.client):
        run("tc", "-n", space, "qdisc", "del", "dev", "eth0", "root", ok=False)
        if rate:
            run("tc", "-n", space, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "3200", "latency", "100ms")


def server_cpu_s(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def copy(cable, process, words, size):
    """Mbit/s of payload, server and client CPU seconds per GB."""
    server, client, began = server_cpu_s(process), children_cpu_s(), time.monotonic()
    cable.coax(*words)
    seconds = time.monotonic() - began
    per_gb = 1e9 / size
    return size * 8e-6 / seconds, (server_cpu_s(process) - server) * per_gb, (children_cpu_s() - client) * per_gb


NETWORKS = (("NetBEUI", "nbf://ATTIC/DATA"), ("TCP", f"smb://{ADDRESSES[0]}/DATA"))


def round_of(cable, process, scratch, case, networks):
    rate, size = case
    limit(cable, rate)
    source, back = scratch / "SOURCE.BIN", scratch / "BACK.BIN"
    source.write_bytes(os.urandom(1 << 20) * (size >> 20))
    found = {}
    for network, url in networks:
        found[network, "put"] = copy(cable, process, ("put", source, url + "/F.BIN"), size)
        found[network, "get"] = copy(cable, process, ("get", url + "/F.BIN", back), size)
        check(back.read_bytes() == source.read_bytes(), "the copy differs")
        back.unlink()
    return found


def start(cable, folder, log, networks, options):
    for space, address in zip((cable.server, cable.client), ADDRESSES):
        run("ip", "-n", space, "addr", "add", address + "/24", "dev", "eth0")
        # an interface of 10 Mbit/s sends no segments of 64 KiB
        run("ip", "netns", "exec", space, "ethtool", "-K", "eth0", "tso", "off", "gso", "off", "gro", "off", ok=False)
    command = ["ip", "netns", "exec", cable.server, subject.coax_binary(), "serve", "--share", f"DATA={folder}", "--guest", "rw", "--name", "attic",
               "--json", "--netbeui", "eth0", *options, "--nbt", ADDRESSES[0] + ":139", "--direct", ADDRESSES[0] + ":445"]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    for _, url in networks:
        while cable.coax("ls", url, ok=False).returncode:
            check(process.poll() is None, "the server does not start")
            time.sleep(0.2)
    return process


def main(about=__doc__, networks=NETWORKS, options=(), cases=len(CASES)):
    """Prints the table for networks, whose names stand for URLs; the server gets more options."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", type=int, default=cases, help="how many of 10 Mbit/s, 100 Mbit/s and no limit")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Cable() as cable:
        scratch = Path(name)
        scratch.chmod(0o755)
        folder = scratch / "share"
        folder.mkdir()
        folder.chmod(0o777)
        with open(scratch / "log", "w", encoding="utf-8") as log:
            process = start(cable, folder, log, networks, options)
        print("| link | copy | network | Mbit/s | server CPU s per GB | client CPU s per GB |\n|---|---|---|---|---|---|")
        for case in CASES[:arguments.cases]:
            rounds = [round_of(cable, process, scratch, case, networks) for _ in range(arguments.runs)]
            for network, verb in rounds[0]:
                rows = [found[network, verb] for found in rounds]
                figures = [f"{statistics.median(column):.3g}" for column in zip(*rows)]
                print(f"| {case[0] or 'not limited'} | {verb} | {network} | " + " | ".join(figures) + " |", flush=True)
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    main()
