"""`scripts/explain-real --seed S --copies N`: random copies between real programs, judged by the referee, beside `coax explain`."""
import argparse
import collections
import dataclasses
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from explain import copying, ktrace, programs, referee, scenario
from lab.link import impossible
from peers import subject

ENDS = ("client", "server")


@dataclasses.dataclass
class Said:
    """What `coax explain` says of a capture."""

    causes: dict
    wall_s: float

    @property
    def top(self):
        return max(self.causes, key=self.causes.get, default="none")


def explained(path, port):
    """The longest copy on the client's port, or None."""
    done = subprocess.run([subject.coax_binary(), "explain", "--json", path], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return None
    capture = json.loads(done.stdout)["captures"][0]
    own = [copy for copy in capture["copies"] if capture["connections"][copy["connection"]]["client"].endswith(f":{port}")]
    if not own:
        return None
    copy = max(own, key=lambda one: one["wall_s"])
    return Said({row["cause"]: row["seconds"] / max(copy["wall_s"], 1e-9) for row in copy["causes"]}, copy["wall_s"])


def contradictions(copied, said):
    """What the kernels' counters exclude."""
    fired = sum(copied.kernel[end][name] for end in ENDS for name in ("TCPTimeouts", "TCPLossProbes"))
    if said.causes.get("timeout", 0) >= 0.05 and not fired:
        yield f"timeout {said.causes['timeout']:.0%}, but no timer fired"
    again = sum(copied.kernel[end]["RetransSegs"] for end in ENDS)
    if said.causes.get("fast-recovery", 0) >= 0.05 and not again:
        yield f"fast-recovery {said.causes['fast-recovery']:.0%}, but nothing was retransmitted"
    held = sum(copied.kernel[end]["DelayedACKs"] for end in ENDS)
    # Linux holds an ACK back for 40 ms at least, 200 ms at most
    if said.causes.get("nagle-delayed-ack", 0) * copied.wall_s > max(0.05 * copied.wall_s, 0.2 * held + 0.1):
        yield f"nagle-delayed-ack {said.causes['nagle-delayed-ack']:.0%}, but {held} ACKs were delayed"


@dataclasses.dataclass
class Verdict:
    """One capture judged."""

    copied: object
    end: str
    said: object
    contradicted: list

    @property
    def right(self):
        return self.said is not None and self.said.top in referee.accepted(self.copied.parts)

    @property
    def error(self):
        return referee.share_error(self.copied.parts, self.said.causes) if self.said else 100.0

    @property
    def moved(self):
        return referee.moved(self.copied.parts, self.said.causes) if self.said else 100.0

    def row(self):
        of = referee.shares(self.copied.parts)
        return {"copy": self.copied.scenario.name, "held_out": scenario.held_out(self.copied.scenario.family), "end": self.end,
                "wall_s": self.copied.wall_s, "said_wall_s": self.said.wall_s if self.said else None, "accepted": referee.accepted(self.copied.parts), "shares": of,
                "said": self.said.causes if self.said else None, "right": self.right, "share_error": self.error, "moved": self.moved,
                "contradicted": self.contradicted}


def judged(copied):
    found = []
    for end in ENDS:
        said = explained(copied.capture(end), copied.port)
        found.append(Verdict(copied, end, said, list(contradictions(copied, said)) if said else []))
    return found


def list_of(of, most=3):
    return ", ".join(f"{name} {value:.0%}" for name, value in sorted(of.items(), key=lambda item: -item[1])[:most] if value >= 0.005)


def line(verdict):
    copied = verdict.copied
    said = list_of(verdict.said.causes) if verdict.said else "no copy"
    return (f"| {copied.scenario.name} | {verdict.end} | {copied.wall_s:.2f} | {list_of(referee.shares(copied.parts))} | {said} | "
            f"{verdict.error:.1f} | {'yes' if verdict.right else 'no'}{''.join('; ' + one for one in verdict.contradicted)} |")


HEADER = ("| copy | captured at | s | referee | coax explain | error | right |\n|---|---|--:|---|---|--:|---|")


def keep(copied, folder):
    """Captures and truth as in captures/real."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for end in (*ENDS, "middle"):
        with open(target / f"{copied.scenario.name}-{end}.pcap.gz", "wb") as file:
            subprocess.run(["gzip", "-c", copied.capture(end)], stdout=file, check=True)
    (target / f"{copied.scenario.name}.json").write_text(json.dumps(copied.truth(), indent=1) + "\n")


def totals(verdicts):
    """The figures of some captures, by name."""
    if not verdicts:
        return {}
    tops = collections.defaultdict(set)
    for verdict in verdicts:
        tops[verdict.copied.scenario.name].add(verdict.said.top if verdict.said else None)
    count = len(verdicts)
    return {"copies": len(tops), "captures": count, "right": sum(verdict.right for verdict in verdicts) / count,
            "share_error": sum(verdict.error for verdict in verdicts) / count, "moved": sum(verdict.moved for verdict in verdicts) / count,
            "ends_agree": sum(len(top) == 1 for top in tops.values()) / len(tops),
            "contradictions": sum(len(verdict.contradicted) for verdict in verdicts)}


TOTALS = "| | copies | right | error of a share | wrongly charged | ends agree | contradictions |\n|---|--:|--:|--:|--:|--:|--:|"


def total_line(name, verdicts, both=True):
    of = totals(verdicts)
    if not of:
        return f"| {name} | 0 | – | – | – | – | – |"
    agree = f"{of['ends_agree']:.1%}" if both else "–"
    return (f"| {name} | {of['copies']} | {of['right']:.1%} | {of['share_error']:.1f} | {of['moved']:.1f} | {agree} | "
            f"{of['contradictions']} |")


def summary(verdicts):
    hidden = [verdict for verdict in verdicts if scenario.held_out(verdict.copied.scenario.family)]
    shown = [verdict for verdict in verdicts if not scenario.held_out(verdict.copied.scenario.family)]
    rows = [total_line("development families", shown), total_line("held-out families", hidden)]
    rows += [total_line(f"all, captured at the {end}", [verdict for verdict in verdicts if verdict.end == end], False) for end in ENDS]
    return [TOTALS, *rows, total_line("**all**", verdicts)]


def missing():
    """Why this cannot run here, or None."""
    lacking = [name for name in ("smbd", "tcpdump", "cc", "javac") if shutil.which(subject.program(name)) is None]
    return impossible() or ktrace.impossible() or (f"there is no {', '.join(lacking)}" if lacking else None)


def parse(words):
    parser = argparse.ArgumentParser(prog="scripts/explain-real", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--family", default="", help="only families whose name contains this")
    parser.add_argument("--development", action="store_true", help="no held-out family")
    parser.add_argument("--reveal", action="store_true", help="also the rows of held-out families")
    parser.add_argument("--keep", metavar="FOLDER", help="captures and truth of development families (with --reveal: of all)")
    parser.add_argument("--json", metavar="FILE", help="all figures; of held-out families only totals, unless --reveal")
    parser.add_argument("--no-explain", action="store_true", help="only the referee")
    return parser.parse_args(words)


def one(wanted, arguments, scratch):
    """The verdicts of a scenario: none if it was rejected."""
    hidden = scenario.held_out(wanted.family) and not arguments.reveal
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="explain-real-") as folder:
        Path(folder).chmod(0o755)
        try:
            copied = copying.sized(wanted, Path(folder), scratch)
        except (copying.Rejected, RuntimeError, OSError) as error:
            print(f"| {wanted.name if not hidden else 'held out'} | rejected | {'' if hidden else f'{error} ({wanted.text()})'} |", flush=True)
            return []
        if arguments.keep and not hidden:
            keep(copied, arguments.keep)
        if arguments.no_explain:
            print(f"{copied.scenario.name}: {copied.wall_s:.2f} s, {list_of(referee.shares(copied.parts), 6)} ({time.monotonic() - began:.0f} s)", flush=True)
            return []
        found = judged(copied)
    if not hidden:
        print("\n".join(map(line, found)), flush=True)
    return found


def main(words=None):
    arguments = parse(words)
    if reason := missing():
        print(f"explain-real: SKIPPED, {reason}", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    os.setpriority(os.PRIO_PROCESS, 0, -10)  # what is measured is not to wait for what else runs on the machine
    kinds = {*scenario.SERVERS, *scenario.OTHERS}
    wanted = lambda name: arguments.family in name and not (arguments.development and scenario.held_out(name))
    with tempfile.TemporaryDirectory(prefix="explain-real-") as scratch:
        Path(scratch).chmod(0o755)
        programs.compile_java(Path(scratch))
        chosen = scenario.choose(arguments.seed, arguments.copies, wanted, programs.lacking(kinds))
        print(f"Linux {platform.release()}, seed {arguments.seed}, {len(chosen)} copies\n\n{HEADER}", flush=True)
        verdicts = [verdict for scenario_ in chosen for verdict in one(scenario_, arguments, Path(scratch))]
    rows = summary(verdicts)
    print("\n" + "\n".join(rows))
    if arguments.json:
        shown = [verdict for verdict in verdicts if arguments.reveal or not scenario.held_out(verdict.copied.scenario.family)]
        Path(arguments.json).write_text(json.dumps({"seed": arguments.seed, "totals": totals(verdicts), "captures": [one_.row() for one_ in shown]}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
