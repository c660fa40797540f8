"""NetBIOS names, WINS and browsing among several machines: coax, Samba's nmbd and others' programs, each in a network
namespace of its own. What coax sent is captured and judged by tshark.
"""
import argparse
import contextlib
import sys
import tempfile
import time
import traceback
from pathlib import Path

from . import browsing, domain, judge, load, logons, messages, names, network, torture, wins

GROUPS = {"names": names, "wins": wins, "browsing": browsing, "domain": domain, "messages": messages, "logons": logons, "torture": torture, "load": load}


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only netbios --", description=__doc__)
    parser.add_argument("--only", default="", help="names of tests, separated by commas; part of a name will do")
    parser.add_argument("--keep", metavar="FOLDER", help="keep logs and captures there")
    return parser.parse_args()


def tests(only):
    for group, module in GROUPS.items():
        for test in module.TESTS:
            name = f"{group}.{test.__name__}"
            if not only or any(part in name for part in only.split(",")):
                yield name, test


def run_one(name, test, scratch):
    """Runs a test; the faults that it and tshark found."""
    folder = scratch / name
    folder.mkdir()
    segments = range(1, getattr(test, "segments", 1) + 1)
    captures = [folder / f"frames{segment}.pcapng" for segment in segments]
    faults, coax = [], set()
    with network.Network(name.split(".")[1][:3], len(segments)) as net:
        with contextlib.ExitStack() as stack:
            for capture, segment in zip(captures, segments):
                stack.enter_context(net.capturing(capture, segment))
            try:
                coax = test(net, folder) or set()
            except Exception:
                faults.append(traceback.format_exc())
    frames = 0
    for capture in captures if coax else []:
        marked, count = judge.offences(capture, coax)
        faults += [f"tshark: {line}" for line in marked]
        frames += count
    if coax and frames == 0:
        faults.append("coax sent no frame")
    return faults, frames


def main():
    arguments = parse()
    if (reason := network.impossible()) is not None:
        print(f"cannot run: {reason}")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory(prefix="coax-netbios-") as temporary:
        scratch = Path(arguments.keep or temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        for name, test in tests(arguments.only):
            began = time.monotonic()
            faults, frames = run_one(name, test, scratch)
            failed += bool(faults)
            print(f"{'FAIL' if faults else 'ok  '} {name}: {test.__doc__.splitlines()[0]} "
                  f"({time.monotonic() - began:.0f} s, {frames} frames of coax)", flush=True)
            for fault in faults:
                print("    " + fault.replace("\n", "\n    "))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
