"""Runs every test there is, step by step, each timed and logged; the last line counts the steps.

A step that cannot run here is skipped loudly; under CI=true that is a failure, except where a step says otherwise.
"""
import argparse
import dataclasses
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from lab import link

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "target" / "test-logs"
PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"
ENVIRONMENT = {"CARGO_TERM_COLOR": "never", "RUSTDOCFLAGS": "-D warnings"}


@dataclasses.dataclass
class Step:
    """A command, what it may take, and whether the quick run has it too."""

    name: str
    command: list
    seconds: int
    quick: bool = False
    possible: object = lambda: None  # a reason why it cannot run here, or nothing


def no_fuzz():
    return None if (ROOT / "fuzz").exists() else "there is no fuzz/ folder"


def no_tshark():
    return None if shutil.which("tshark") else "there is no tshark"


def no_root():
    return None if os.geteuid() == 0 else "smbd needs a second Unix account, and only root can make one"


def no_browser():
    missing = [program for program in ("chromium", "chromedriver") if not shutil.which(program)]
    return "there is no " + " and no ".join(missing) if missing else None


def module(name):
    return [sys.executable, "-m", name]


STEPS = [
    Step("peers are installed", ["scripts/install-peers"], 900, True),
    Step("formatting", ["cargo", "fmt", "--all", "--check"], 120, True),
    Step("house rules", module("house.rules"), 300, True),
    Step("licences of dependencies", module("house.licences"), 120, True),
    Step("lints", ["cargo", "clippy", "-q", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"], 900, True),
    Step("documentation", ["cargo", "doc", "-q", "--locked", "--workspace", "--no-deps"], 600),
    Step("unit and scenario tests", ["cargo", "test", "--locked", "--workspace"], 1200, True),
    Step("release build", ["cargo", "build", "-q", "--release", "--locked", "-p", "coax"], 900),
    Step("the README's first command", ["cargo", "run", "-q", "--release", "--locked", "--", "serve", "examples/share", "--check"], 900),
    Step("sample outputs in the documents", ["scripts/samples", "--check"], 900),
    Step("peers", ["scripts/peers", "--why"], 600),
    Step("peers on ephemeral ports", ["scripts/peers", "--only", "smbclient,raw,pysmb"], 300, True),
    Step("authorization beside smbd", ["scripts/authorization"], 300, False, no_root),
    Step("raw TCP speed with netcat", ["scripts/speed"], 300, True),
    Step("clients in trouble and the others", ["scripts/isolation"], 300),
    Step("the client's verbs", ["scripts/client"], 300),
    Step("redirectors against servers", ["scripts/profiles", "--ci"], 300),
    Step("tshark as referee", ["scripts/tshark-referee"], 600),
    Step("tshark reads the lab's captures", module("lab.captures"), 300, True, no_tshark),
    Step("pages in a browser", ["scripts/browser"], 600, True, no_browser),
    Step("the lab beside the kernel's TCP, briefly", ["scripts/lab-real", "--small"], 300, True, link.impossible),
    Step("explain beside tcptrace and tshark", ["scripts/explain-wild"], 600),
    Step("explain beside the kernel's own account, briefly", ["scripts/explain-real", "--small"], 300, False, link.impossible),
    Step("durability: kills, power cuts, syncs", ["scripts/durability"], 300),
    Step("the simulation finds known defects", ["scripts/simulation-proof"], 1200),
    Step("smbtorture, what must pass", ["scripts/torture", "--ci"], 900),
    Step("fuzzing, briefly", ["scripts/fuzz", "--seconds", "10"], 1200, False, no_fuzz),
]


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="what takes a minute or two: no torture, no release build")
    parser.add_argument("--only", default="", help="steps whose name contains this")
    return parser.parse_args()


def environment(step, quick):
    variables = {**os.environ, **ENVIRONMENT}
    if quick:
        variables.setdefault("COAX_PROFILE", "dev")
    if "ephemeral" in step.name:
        variables["COAX_PEERS_NO_NAMESPACE"] = "1"
    return variables


def run(step, quick):
    """The step's verdict and its log's path."""
    log = LOGS / (step.name.replace(" ", "-").replace(",", "") + ".log")
    with open(log, "wb") as output:
        try:
            done = subprocess.run(step.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, env=environment(step, quick), timeout=step.seconds)
            return (PASSED if done.returncode == 0 else FAILED), log
        except subprocess.TimeoutExpired:
            output.write(f"\nno end after {step.seconds} s\n".encode())
        except OSError as error:
            output.write(f"\n{error}\n".encode())
    return FAILED, log


def perform(step, quick):
    reason = step.possible()
    if reason:
        print(f"=== {step.name}: SKIPPED, {reason}", flush=True)
        return SKIPPED, 0.0
    print(f"=== {step.name}", flush=True)
    started = time.monotonic()
    verdict, log = run(step, quick)
    seconds = time.monotonic() - started
    lines = log.read_text(errors="replace").splitlines()
    # all of what went wrong, and of what went well the last words
    print("\n".join(lines[-80:] if verdict == FAILED else lines[-3:]), flush=True)
    print(f"--- {step.name}: {verdict} in {seconds:.0f} s", flush=True)
    return verdict, seconds


def main():
    arguments = parse()
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    chosen = [step for step in STEPS if (step.quick or not arguments.quick) and arguments.only in step.name]
    verdicts = {step.name: perform(step, arguments.quick) for step in chosen}
    print("\nsummary")
    for name, (verdict, seconds) in verdicts.items():
        print(f"  {verdict:8} {seconds:6.0f} s  {name}")
    count = [verdict for verdict, _ in verdicts.values()].count
    print(f"  {sum(seconds for _, seconds in verdicts.values()):.0f} s in all; logs in {LOGS.relative_to(ROOT)}")
    print(f"{count(PASSED)} passed, {count(FAILED)} failed, {count(SKIPPED)} skipped")
    return 1 if count(FAILED) or not count(PASSED) else 0


if __name__ == "__main__":
    sys.exit(main())
