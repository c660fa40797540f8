"""Copies over IPX beside NetBEUI and TCP through a pair of virtual interfaces whose rate tc limits. Needs root and sch_tbf.

Prints the payload rate of each copy (start of the program included) and the CPU time of server and client.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from netbeui.bench import ADDRESSES, CASES, copy, limit
from netbeui.main import Cable, check, run
from peers import subject

NETWORKS = (
    ("NBIPX", "ipx+nb://ATTIC:eth0:802.2/DATA"),
    ("direct hosting", "ipx+direct://ATTIC:eth0:802.2/DATA"),
    ("NetBEUI", "nbf://ATTIC/DATA"),
    ("TCP", f"smb://{ADDRESSES[0]}/DATA"),
)


def round_of(cable, process, scratch, rate, size):
    limit(cable, rate)
    source, back = scratch / "SOURCE.BIN", scratch / "BACK.BIN"
    source.write_bytes(os.urandom(1 << 20) * (size >> 20))
    found = {}
    for network, url in NETWORKS:
        found[network, "put"] = copy(cable, process, ("put", source, url + "/F.BIN"), size)
        found[network, "get"] = copy(cable, process, ("get", url + "/F.BIN", back), size)
        check(back.read_bytes() == source.read_bytes(), "the copy differs")
        back.unlink()
    return found


def start(cable, folder, log):
    for space, address in zip((cable.server, cable.client), ADDRESSES):
        run("ip", "-n", space, "addr", "add", address + "/24", "dev", "eth0")
        # an interface of 10 Mbit/s sends no segments of 64 KiB
        run("ip", "netns", "exec", space, "ethtool", "-K", "eth0", "tso", "off", "gso", "off", "gro", "off", ok=False)
    command = ["ip", "netns", "exec", cable.server, subject.coax_binary(), "serve", "--share", f"DATA={folder}", "--guest", "rw", "--name", "attic",
               "--json", "--netbeui", "eth0", "--ipx", "eth0:802.2", "--nbt", ADDRESSES[0] + ":139", "--direct", ADDRESSES[0] + ":445"]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    for _, url in NETWORKS:
        while cable.coax("ls", url, ok=False).returncode:
            check(process.poll() is None, "the server does not start")
            time.sleep(0.2)
    return process


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", type=int, default=2, help="how many of 10 Mbit/s, 100 Mbit/s and no limit")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Cable() as cable:
        scratch = Path(name)
        scratch.chmod(0o755)
        folder = scratch / "share"
        folder.mkdir()
        folder.chmod(0o777)
        with open(scratch / "log", "w", encoding="utf-8") as log:
            process = start(cable, folder, log)
        print("| link | copy | network | Mbit/s | server CPU s per GB | client CPU s per GB |\n|---|---|---|---|---|---|")
        for rate, size in CASES[:arguments.cases]:
            rounds = [round_of(cable, process, scratch, rate, size) for _ in range(arguments.runs)]
            for network, verb in rounds[0]:
                rows = [found[network, verb] for found in rounds]
                figures = [f"{statistics.median(column):.3g}" for column in zip(*rows)]
                print(f"| {rate or 'not limited'} | {verb} | {network} | " + " | ".join(figures) + " |", flush=True)
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    main()
