"""The test program: runs the steps of a tier, times each and keeps its log in target/test-logs.

Without options it runs what continuous integration runs. A step that cannot run here is skipped with a message; under
CI=true most steps treat a missing peer as a failure.
"""
import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from house import limited
from house.steps import BY_KEY, CI, LONG, QUICK, STEPS, TIERS

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "target" / "test-logs"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"
FAILURE_LINES, REMINDER_LINES, SUCCESS_LINES = 80, 20, 3


def parse():
    words = sys.argv[1:]
    own, rest = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, None)
    parser = argparse.ArgumentParser(prog="scripts/test", description=__doc__, epilog="scripts/test --only STEP -- ARGUMENTS "
                                     "runs one step with other arguments and shows its output; try -- --help")
    parser.add_argument("--list", action="store_true", help="print the steps by tier")
    tier = parser.add_mutually_exclusive_group()
    tier.add_argument("--quick", action="store_true", help=f"only the quick tier: it {TIERS[QUICK]}")
    tier.add_argument("--long", action="store_true", help=f"only the long tier: it {TIERS[LONG]}")
    parser.add_argument("--only", metavar="STEP,...", default="", help="only these steps")
    parser.add_argument("--jobs", type=float, default=os.cpu_count() or 2,
                        help="how many processors steps use at a time (default: all); a step that waits for a network or a clock counts as a part of one")
    arguments = parser.parse_args(own)
    unknown = [key for key in keys(arguments) if key not in BY_KEY]
    if unknown:
        parser.error(f"no step {', '.join(unknown)}; --list prints them")
    if rest is not None and len(keys(arguments)) != 1:
        parser.error("arguments behind -- need --only with one step")
    return arguments, rest


def keys(arguments):
    return [key for key in arguments.only.split(",") if key]


def chosen_steps(arguments):
    if arguments.only:
        return [BY_KEY[key] for key in keys(arguments)]
    tiers = {QUICK} if arguments.quick else {LONG} if arguments.long else {QUICK, CI}
    return [step for step in STEPS if step.tier in tiers]


def list_steps():
    for tier, what in TIERS.items():
        print(f"{tier}: {what}")
        for step in STEPS:
            if step.tier == tier:
                print(f"  {step.key:18} {step.title}")


def run_directly(step, words):
    """One step with arguments of the caller's, in the foreground and with the release build."""
    if "install" in step.after and "--help" not in words:
        subprocess.run(["scripts/install-peers", "--quiet"], cwd=ROOT)
    return subprocess.run(step.full_command(words), cwd=ROOT, env={**os.environ, **step.environment}).returncode


class Run:
    """The steps of one run. Three rules keep them apart: one build at a time, steps that measure time run alone, and all together
    keep no more than so many processors busy."""

    def __init__(self, steps, jobs=2):
        self.waiting, self.jobs = list(steps), jobs
        self.running, self.verdicts, self.seconds = [], {}, {}
        self.processor_s = {}  # of the step's processes that ended before it
        self.ends = {}  # the last lines of each step that failed, for the end of the output
        self.blocked = set()  # skipped because a step before them failed
        self.change = threading.Condition()

    def work(self):
        """A worker: takes one step after the other until none is left."""
        while step := self.take():
            reason = self.obstacle(step)
            print(f"=== {step.key}: {'SKIPPED, ' + reason if reason else step.title}", flush=True)
            started = time.monotonic()
            verdict, output = (SKIPPED, None) if reason else self.execute(step)
            seconds = time.monotonic() - started
            with self.change:
                self.running.remove(step)
                self.verdicts[step.key], self.seconds[step.key] = verdict, seconds
                if output is not None:
                    lines = output.splitlines()
                    shown = lines[-FAILURE_LINES:] if verdict == FAILED else lines[-SUCCESS_LINES:]
                    print("\n".join([*shown, f"--- {step.key}: {verdict} in {seconds:.0f} s"]), flush=True)
                    if verdict == FAILED:
                        self.ends[step.key] = lines[-REMINDER_LINES:]
                self.change.notify_all()

    def take(self):
        """The next step that may start now; waits for one if necessary. None at the end."""
        with self.change:
            while self.waiting:
                for step in self.waiting:
                    if self.may_start(step):
                        self.waiting.remove(step)
                        self.running.append(step)
                        return step
                self.change.wait()
            return None

    def may_start(self, step):
        pending = {other.key for other in [*self.waiting, *self.running]}
        if pending.intersection(step.after) or any(other.alone for other in self.running):
            return False
        if step.alone:
            return not self.running
        if step.cargo and any(other.cargo for other in self.running):
            return False
        return not self.running or sum(other.load for other in self.running) + step.load <= self.jobs

    def obstacle(self, step):
        broken = [key for key in step.after if key in self.blocked or self.verdicts.get(key) == FAILED]
        if broken:
            self.blocked.add(step.key)
            return f"{', '.join(broken)} failed or could not run"
        return step.impossible()

    def environment(self, step):
        variables = {**os.environ, "CARGO_TERM_COLOR": "never", "COAX_PROFILE": "dev", **step.environment}
        if variables["COAX_PROFILE"] == "dev" and self.verdicts.get("build") == PASSED:
            variables.setdefault("COAX", str(TARGET / "debug" / "coax"))
            variables.setdefault("COAX_ROBUSTNESS", str(TARGET / "debug" / "coax-robustness"))
            variables.setdefault("COAX_EXAMPLES", str(TARGET / "debug" / "examples"))
        return variables

    def execute(self, step):
        """The verdict of a step, and its output."""
        verdict = FAILED
        with open(LOGS / f"{step.key}.log", "w+b") as output:
            try:
                code, self.processor_s[step.key], late = limited.run(step.full_command(), step.limit_s, cwd=ROOT, stdin=subprocess.DEVNULL,
                                                                     stdout=output, stderr=subprocess.STDOUT, env=self.environment(step))
                verdict = PASSED if code == 0 and not late else FAILED
                if late:
                    output.seek(0, os.SEEK_END)
                    output.write(f"\n{late}\n".encode())
            except OSError as error:
                output.write(f"\n{error}\n".encode())
            output.seek(0)
            return verdict, output.read().decode(errors="replace")


def summarise(run, wall_s):
    for key, lines in run.ends.items():
        print("\n".join(["", f"the end of {key}, which failed", *(f"  {line}" for line in lines)]))
    print("\nsummary\n  verdict    time  processor")
    for key, verdict in run.verdicts.items():
        print(f"  {verdict:8} {run.seconds[key]:4.0f} s {run.processor_s.get(key, 0):8.0f} s  {key}: {BY_KEY[key].title}")
    count = list(run.verdicts.values()).count
    print(f"  {wall_s:.0f} s, {sum(run.processor_s.values()):.0f} s of processor time; logs in {LOGS.relative_to(ROOT)}")
    print(f"{count(PASSED)} passed, {count(FAILED)} failed, {count(SKIPPED)} skipped")
    return 1 if count(FAILED) or not count(PASSED) else 0


def main():
    arguments, words = parse()
    if arguments.list:
        return list_steps()
    steps = chosen_steps(arguments)
    if words is not None:
        return run_directly(steps[0], words)
    LOGS.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    run = Run(steps, arguments.jobs)
    # as many as can be needed: each waits until a step may start
    workers = [threading.Thread(target=run.work) for _ in steps]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return summarise(run, time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
