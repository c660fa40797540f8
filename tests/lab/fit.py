"""`coax lab fit` on real copies: smbd and coax's redirectors on the kernel's TCP, over an emulated link.

For each link, ten copies are measured: five profiles, both directions. The first read and the last write of the list are fitted, and the other
eight are predicted from them. Which two was decided before anything was measured. Rate and delay of the link and the server's
work for a request are unknown. Nothing is asserted about time unless `--assert` says so; with `--small` one link and small files are used.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.link import CLIENT, CLONE_NEWNET, LIBC, SERVER, Emulator, Link, Namespace, checked, impossible
from lab.real import hurry
from peers import subject

MBIT = 1_000_000
LINKS = {
    "10 Mbit/s, 5 ms": Link(10 * MBIT, 0.005, 262_144),
    "4 Mbit/s, 20 ms": Link(4 * MBIT, 0.020, 262_144),
    "40 Mbit/s, 1 ms": Link(40 * MBIT, 0.001, 262_144),
}
PROFILES = ["wfw-3.11", "ms-net-3.11-full", "windows-98", "nt-4-explorer", "nt-4-copy"]
FITTED = [(PROFILES[0], "to-client"), (PROFILES[-1], "to-server")]
LIMIT = 900
#: smbd 4 offers raw mode to LANMAN clients, but not to those of NT LM 0.12
WITHOUT_RAW = {"windows-98", "nt-4-explorer", "nt-4-copy"}
#: what is known of both ends: the stack of this kernel, whose congestion control does not matter here, and fast machines
BASE = """
title = "Linux on both ends of an emulated link"
link = "ethernet-100"
[client]
profile = "modern"
stack = "linux-6"
machine = "fast"
[server]
config = "samba-nas"
stack = "linux-6"
machine = "fast"
"""


def within(namespace):
    """For a child: go into the namespace."""
    return lambda: checked(LIBC.setns(namespace.descriptor, CLONE_NEWNET))


def measured(link, size, runs, folder):
    """The JSON of `coax bench` against smbd at the other end of the link."""
    client, server = Namespace(CLIENT, SERVER), Namespace(SERVER, CLIENT)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        emulator = Emulator(link, client, server, LIMIT)
        within(server)()
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            options = {"server min protocol": "CORE", "bind interfaces only": "no", "hosts allow": "10.77.0.0/16"}
            with subject.smbd(folder, host=SERVER, wanted_ports=(139, 445), globals_=options) as there:
                checked(LIBC.setns(home, CLONE_NEWNET))
                url = f"smb://{there.user}:{there.password}@{SERVER}/{there.share}"
                command = [subject.coax_binary(), "bench", url, "--size", str(size), "--runs", str(runs), "--as", ",".join(PROFILES),
                           "--allow-weak", "--json"]
                done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, preexec_fn=within(client))
        finally:
            checked(LIBC.setns(home, CLONE_NEWNET))
            emulator.stop()
        if done.returncode not in (0, 1) or not done.stdout:
            raise RuntimeError(f"coax bench ended with {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)
    finally:
        client.close()
        server.close()
        os.close(home)


def copies(bench):
    """Profile, direction and seconds of each measured copy."""
    for row in bench["rows"]:
        for direction, key in (("to-client", "to_client"), ("to-server", "to_server")):
            if row[key]:
                yield row["profile"], direction, row[key]["median_s"]
            else:
                print(f"no copy: {row['profile']} {direction}: {row['error']}", flush=True)


def fit(bench, folder):
    """The estimate from the two copies, and the predictions of the others beside what was measured."""
    lines, others = [], {}
    for profile, direction, seconds in copies(bench):
        is_fitted = (profile, direction) in FITTED
        kind = "copy" if is_fitted else "predict"
        name = f"{profile} {direction}"
        lines += [f"[[{kind}]]", f'name = "{name}"', f'"client.profile" = "{profile}"', f'direction = "{direction}"', f"size = {bench['size']}"]
        if profile in WITHOUT_RAW:
            lines.append('"server.config.read_raw" = false\n"server.config.write_raw" = false')
        if is_fitted:
            lines.append(f"seconds = {seconds}")
        else:
            others[name] = seconds
    (folder / "base.toml").write_text(BASE)
    (folder / "copies.toml").write_text("\n".join(lines) + "\n")
    command = [subject.coax_binary(), "lab", "fit", "copies.toml", "--scenario", "./base.toml", "--cap", "400kB", "--json",
               "--unknown", "link.rate", "--unknown", "link.delay", "--unknown", "server.request"]
    found = json.loads(subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True, timeout=LIMIT).stdout)
    return found, [{**one, "measured_s": others[one["name"]]} for one in found["predictions"]]


def row(link, one):
    ratio = one["seconds"] / one["measured_s"]
    inside = "yes" if one["low_s"] <= one["measured_s"] <= one["high_s"] else "no"
    return (f"| {link} | {one['name']} | {one['measured_s']:.3f} | {one['seconds']:.3f} | {ratio:.2f} | "
            f"{one['low_s']:.3f} to {one['high_s']:.3f} | {inside} |")


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only lab-fit --", description=__doc__)
    parser.add_argument("--size", type=int, default=600_000, help="bytes of the file")
    parser.add_argument("--runs", type=int, default=3, help="of each copy; the median counts")
    parser.add_argument("--small", action="store_true", help="one link and a small file; nothing about time")
    parser.add_argument("--assert", dest="strict", action="store_true", help="fail if the median error is above 15 %%")
    parser.add_argument("--json", metavar="FILE", help="all that was measured")
    return parser.parse_args()


def estimates(found):
    shown = [f"{one['name']} {one['estimate']:.4g} {one['unit']} ({one['low']:.4g} to {one['high']:.4g}, {one['knowledge']})"
             for one in found["parameters"]]
    return "; ".join(shown)


def main():
    arguments = parse()
    if reason := impossible():
        print(f"SKIPPED: no link can be emulated here: {reason}")
        return 1 if arguments.strict else 0
    links = dict(list(LINKS.items())[:1]) if arguments.small else LINKS
    first = not arguments.small and hurry()
    size, runs = (100_000, 1) if arguments.small else (arguments.size, arguments.runs)
    print(f"Linux {platform.release()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {size} bytes, {runs} runs, "
          f"run {'before ordinary processes' if first else 'as an ordinary process'}\n")
    print("| link | copy | measured s | predicted s | ratio | 90 % range | inside |\n|---|---|--:|--:|--:|---|---|")
    everything, errors, inside = [], [], 0
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)
        for name, link in links.items():
            bench = measured(link, size, runs, scratch)
            found, predictions = fit(bench, Path(scratch))
            everything.append({"link": name, "bench": bench, "found": found})
            for one in predictions:
                print(row(name, one), flush=True)
                errors.append(abs(one["seconds"] / one["measured_s"] - 1))
                inside += one["low_s"] <= one["measured_s"] <= one["high_s"]
            print(f"<!-- {name}: {estimates(found)}; deviation {found['deviation']:.3f} -->", flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(everything, indent=1))
    median = statistics.median(errors)
    print(f"\n{len(errors)} copies predicted: median error {median * 100:.1f} %, largest {max(errors) * 100:.1f} %, {inside} within their range")
    wanted = 8 * len(links)
    return 1 if len(errors) != wanted or (arguments.strict and median > 0.15) else 0


if __name__ == "__main__":
    sys.exit(main())
