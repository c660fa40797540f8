"""The client's verbs against coax, smbd, JFileServer and impacket's server, and against faults. One line a case."""
import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from client import cases, faults, servers
from peers import subject

# what others' servers cannot do, with what was seen
KNOWN = {
    ("jfileserver", "names"): "its old dialects do not work: index 0xFFFF, or no session set-up parser",
    ("jfileserver", "dates in every dialect"): "its old dialects do not work: index 0xFFFF, or no session set-up parser",
    ("impacket", "names"): "it knows NT LM 0.12 only",
    ("impacket", "dates in every dialect"): "it knows NT LM 0.12 only",
}


class Client:
    """Runs `coax`, and says what it said."""

    def __init__(self, binary):
        self.binary = binary

    def __call__(self, *words, code=0, stdin=None, environment=None, timeout=60):
        command = [self.binary, *map(str, words)]
        variables = {**os.environ, "COAX_PASSWORD": subject.PASSWORD, **(environment or {})}
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=timeout, env=variables)
        said = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        if done.returncode != code:
            raise AssertionError(f"{' '.join(command[1:])}: exit {done.returncode}, not {code}\n{said}")
        if subject.PASSWORD in said:
            raise AssertionError(f"{' '.join(command[1:])}: the password was printed")
        return done.stdout if stdin is None and "-" in words else said


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only client --", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose line contains this")
    parser.add_argument("--servers", default="coax,smbd,jfileserver,impacket", help="comma-separated")
    return parser.parse_args()


def run(line, only, test):
    """The case's verdict: passed, failed, or nothing if it was not asked for."""
    if only not in line:
        return None
    started = time.monotonic()
    try:
        test()
    except Exception:  # whatever it is, the other cases are still worth running
        print(f"FAILED  {line}\n{traceback.format_exc(limit=-3)}", flush=True)
        return False
    print(f"passed  {time.monotonic() - started:4.1f} s  {line}", flush=True)
    return True


def against(kind, coax, only):
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(servers.start(kind))
        except Exception as error:
            print(f"FAILED  {kind}: does not start: {error}", flush=True)
            return [False]
        verdicts = []
        for name, case in cases.CASES.items():
            line = f"{kind}: {name}"
            if reason := KNOWN.get((kind, name)):
                print(f"left out  {line}: {reason}", flush=True)
                continue
            with tempfile.TemporaryDirectory() as folder:
                verdicts.append(run(line, only, lambda: case(coax, server, Path(folder))))
        return verdicts


def main():
    arguments = parse()
    coax = Client(subject.coax_binary())
    verdicts = []
    for kind in arguments.servers.split(","):
        verdicts += against(kind, coax, arguments.only)
    for name, case in faults.CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            verdicts.append(run(f"fault: {name}", arguments.only, lambda: case(coax, Path(folder))))
    passed, failed = verdicts.count(True), verdicts.count(False)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
