"""Kills the server and cuts its power under recorded load: nothing promised may be lost (docs/durability.md).

Power cuts need root and loop devices, the count of syncs needs strace. A part that is impossible here is skipped, which
under CI=true is a failure.
"""
import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from peers import subject

from . import counts, disk, faults, load
from .faults import Plan

# How the time is divided.
SHARES = {"kill": 0.35, "strict": 0.3, "always": 0.2, "names": 0.15}
STRICT = {"strict sync": "yes"}
ALWAYS = {"strict sync": "yes", "sync always": "yes"}
FREE = {"strict sync": "no"}


def parse():
    parser = argparse.ArgumentParser(prog="scripts/durability", description=__doc__)
    parser.add_argument("--seconds", type=float, default=40, help="of faults under load; checking comes on top")
    parser.add_argument("--rounds", type=int, default=1, help="repeat all of it, with another seed each")
    parser.add_argument("--seed", default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--only", default="", help="parts whose name contains this")
    parser.add_argument("--smbd", action="store_true", help="count smbd's syncs beside coax's")
    return parser.parse_args()


def parts(arguments, base, seed):
    """Name, a function that returns why it cannot run here, and what to run."""
    seconds = {name: arguments.seconds * share for name, share in SHARES.items()}
    nothing_lost = [
        ("client crash and kill -9: all that was acknowledged", lambda: None, lambda: faults.kill(base, seed, seconds["kill"])),
        ("power cut, strict sync: flushed and written through", disk.impossible,
         lambda: faults.power(base, seed, seconds["strict"], Plan(load.synced, STRICT))),
        ("power cut, sync always: all that was acknowledged", disk.impossible,
         lambda: faults.power(base, seed, seconds["always"], Plan(load.everything, ALWAYS))),
        ("power cut, sync always: names and attributes", disk.impossible,
         lambda: faults.power(base, seed, seconds["names"], Plan(load.everything, ALWAYS, load.NAMES, 1))),
        ("strict allocate on a small disk", disk.impossible, lambda: faults.full(base)),
    ]
    for name, impossible, run in nothing_lost:
        yield name, impossible, lambda run=run: nothing(run())
    for name, plan in [
        ("strict sync = no loses what was written through", Plan(load.synced, FREE)),
        ("sync always without strict sync does the same", Plan(load.synced, FREE | {"sync always": "yes"})),
        ("strict sync alone loses plain writes", Plan(load.everything, STRICT)),
        ("strict sync alone loses names and attributes", Plan(load.everything, STRICT, load.NAMES, 1)),
    ]:
        yield f"self-check: {name}", disk.impossible, lambda plan=plan: something(faults.power(base, seed, 0.1, plan))
    kinds = ["coax", "smbd"] if arguments.smbd else ["coax"]
    yield "syncs of each request", counts.impossible, lambda: nothing(counts.compare(kinds, base))


def nothing(report):
    """Nothing may be lost."""
    return not report.wrong, report


def something(report):
    """The test must be able to see a loss: these settings allow it, so it must occur."""
    found, report.wrong = report.lost > 0, []
    if not found:
        report.wrong = ["nothing was lost although the settings allow it: this test cannot find a loss"]
    return found, report


def run(name, test):
    started = time.monotonic()
    try:
        good, report = test()
    except Exception:  # whatever it is, the other parts are still worth running
        print(f"FAILED  {name}\n{traceback.format_exc(limit=-3)}", flush=True)
        return False
    print(f"{'passed' if good else 'FAILED'}  {time.monotonic() - started:5.1f} s  {name}: {report}", flush=True)
    for sentence in report.wrong[:20]:
        print(f"        {sentence}", flush=True)
    return good


def one_round(arguments, seed):
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="durability-", dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        base = Path(folder)
        base.chmod(0o755)
        for name, impossible, test in parts(arguments, base, seed):
            if arguments.only not in name:
                continue
            if reason := impossible():
                print(f"SKIPPED  {name}: {reason}", flush=True)
                verdicts += [False] if os.environ.get("CI") == "true" else []
                continue
            verdicts.append(run(name, test))
    return verdicts


def main():
    arguments = parse()
    os.environ["TZ"] = "UTC"  # core clients state local times
    os.environ["COAX"] = subject.coax_binary()
    first = arguments.seed if arguments.seed is not None else str(random.SystemRandom().randrange(1 << 32))
    verdicts = []
    for number in range(arguments.rounds):
        seed = first if number == 0 else f"{first}+{number}"
        print(f"seed {seed}", flush=True)
        verdicts += one_round(arguments, seed)
    passed, failed = verdicts.count(True), verdicts.count(False)
    print(f"{passed} passed, {failed} failed; repeat with --seed {first}")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
