"""`scripts/explain-real --seed S --copies N`: random copies between real programs, judged by the referee, beside `coax explain`."""
import argparse
import collections
import concurrent.futures
import dataclasses
import datetime
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from explain import copying, ktrace, page, pairs, programs, referee, scenario, user_space
from lab.link import impossible
from peers import subject

ENDS, JOINED = ("client", "server"), "joined"


@dataclasses.dataclass
class Said:
    """What `coax explain` says of a capture."""

    causes: dict
    wall_s: float

    @property
    def top(self):
        return max(self.causes, key=self.causes.get, default="none")


def explained(paths, port):
    """The longest copy on the client's port, or None. Two captures are those of both ends."""
    command = [subject.coax_binary(), "explain", "--json", *(["--join"] if len(paths) > 1 else []), *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return None
    capture = json.loads(done.stdout)["captures"][0]
    own = [copy for copy in capture["copies"] if capture["connections"][copy["connection"]]["client"].endswith(f":{port}")]
    if not own:
        return None
    copy = max(own, key=lambda one: one["wall_s"])
    return Said({row["cause"]: row["seconds"] / max(copy["wall_s"], 1e-9) for row in copy["causes"]}, copy["wall_s"])


def contradictions(copied, said):
    """What the kernels' counters exclude. They do not count what a TCP outside of the kernel does."""
    if user_space.is_user_space(copied.scenario.client):
        return
    fired = sum(copied.kernel[end][name] for end in ENDS for name in ("TCPTimeouts", "TCPLossProbes"))
    if said.causes.get("timeout", 0) >= 0.05 and not fired:
        yield f"timeout {said.causes['timeout']:.0%}, but no timer fired"
    again = sum(copied.kernel[end]["RetransSegs"] for end in ENDS)
    if said.causes.get("fast-recovery", 0) >= 0.05 and not again:
        yield f"fast-recovery {said.causes['fast-recovery']:.0%}, but nothing was retransmitted"
    held = sum(copied.kernel[end]["DelayedACKs"] for end in ENDS)
    # Linux holds an ACK back for 40 ms at least, 200 ms at most; Nagle's algorithm needs no held ACK to hold a segment
    nagle = copied.parts.get("nagle", 0) / 1e9
    if said.causes.get("nagle-delayed-ack", 0) * copied.wall_s > max(0.05 * copied.wall_s, 0.2 * held + 0.1 + 1.2 * nagle):
        yield f"nagle-delayed-ack {said.causes['nagle-delayed-ack']:.0%}, but {held} ACKs were delayed"


class Kept:
    """A copy that `keep` wrote: what `Verdict` needs of it."""

    def __init__(self, path, folder):
        known = json.loads(path.read_text())
        self.parts, self.wall_s, self.port = known["categories_ns"], known["wall_s"], known["client_port"]
        self.kernel = {end: known[f"kernel_{end}"] for end in ENDS}
        self.scenario = scenario.restored(known["scenario"])
        self.path, self.folder = path, folder

    def capture(self, end):
        """The capture, unpacked."""
        target = self.folder / f"{end}.pcap"
        with open(target, "wb") as file:
            subprocess.run(["gzip", "-dc", self.path.with_name(f"{self.path.stem}-{end}.pcap.gz")], stdout=file, check=True)
        return target


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
                "top": self.said.top if self.said else None, "wall_s": self.copied.wall_s, "said_wall_s": self.said.wall_s if self.said else None, "accepted": referee.accepted(self.copied.parts), "shares": of,
                "said": self.said.causes if self.said else None, "right": self.right, "share_error": self.error, "moved": self.moved,
                "contradicted": self.contradicted}


def judged(copied, joined=False):
    """The verdicts of both ends, and, if wanted, of both captures together."""
    found, captures = [], {end: copied.capture(end) for end in ENDS}
    for end in (*ENDS, JOINED) if joined else ENDS:
        said = explained([captures[end]] if end in captures else list(captures.values()), copied.port)
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


def totals(rows):
    """The figures of some captures, by name."""
    if not rows:
        return {}
    tops = collections.defaultdict(set)
    for row in rows:
        tops[row["copy"]].update({row["top"]} if row["end"] in ENDS else ())
    count = len(rows)
    return {"copies": len(tops), "captures": count, "right": sum(row["right"] for row in rows) / count,
            "share_error": sum(row["share_error"] for row in rows) / count, "moved": sum(row["moved"] for row in rows) / count,
            "ends_agree": sum(len(top) <= 1 for top in tops.values()) / len(tops), "contradictions": sum(len(row["contradicted"]) for row in rows)}


TOTALS = "| | copies | right | error of a share | wrongly charged | ends agree | contradictions |\n|---|--:|--:|--:|--:|--:|--:|"


def total_line(name, rows, both=True):
    of = totals(rows)
    if not of:
        return f"| {name} | 0 | – | – | – | – | – |"
    agree = f"{of['ends_agree']:.1%}" if both else "–"
    return f"| {name} | {of['copies']} | {of['right']:.1%} | {of['share_error']:.1f} | {of['moved']:.1f} | {agree} | {of['contradictions']} |"


def summary(rows):
    one = [row for row in rows if row["end"] in ENDS]
    found = [total_line("development families", [row for row in one if not row["held_out"]])]
    found.append(total_line("held-out families", [row for row in one if row["held_out"]]))
    found += [total_line(f"all, captured at the {end}", [row for row in one if row["end"] == end], False) for end in ENDS]
    found.append(total_line("**all, from one end**", one))
    together = [row for row in rows if row["end"] == JOINED]
    return [TOTALS, *found, *([total_line("**all, both captures joined**", together, False)] if together else [])]


def by_cause(rows):
    """The captures by the referee's largest cause."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[max(row["shares"], key=row["shares"].get)].append(row)
    yield "| largest cause by the referee | captures | right | error of a share | wrongly charged |\n|---|--:|--:|--:|--:|"
    for cause, of in sorted(groups.items(), key=lambda item: -len(item[1])):
        figures = totals(of)
        yield f"| {cause} | {len(of)} | {figures['right']:.0%} | {figures['share_error']:.1f} | {figures['moved']:.1f} |"


def version():
    """The commit whose binary is measured, as far as git knows."""
    def git(*words):
        return subprocess.run(["git", "-C", page.PAGE.parent, *words], capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + (" with changes" if git("status", "--porcelain", "--", "crates") else "") or "unknown"


def write(rows, rejections):
    """The figures of all copies into the page."""
    one, together = [row for row in rows if row["end"] in ENDS], [row for row in rows if row["end"] == JOINED]
    about = (f"Linux {platform.release()}, {os.cpu_count()} processors, {datetime.date.today()}, commit {version()}: "
             f"{len({row['copy'] for row in rows})} copies judged, {rejections} rejected.\n")
    both = ["", "Joined:", "", *by_cause(together)] if together else []
    excluded = page.contradicted(rows)
    page.write_page(lead=[about, *page.lead(rows)], random=["", *summary(rows), "", "From one end:", "", *by_cause(one), *both, ""],
                    made=["", *page.commands(rows), ""],
                    failures=["", *page.failures(rows), *(["", "Contradictions of kernel counters:", "", *excluded] if excluded else []), ""])


def missing():
    """Why this cannot run here, or None."""
    lacking = [name for name in ("smbd", "tcpdump", "cc", "javac") if shutil.which(subject.program(name)) is None]
    reason = impossible() or ktrace.impossible() or (f"there is no {', '.join(lacking)}" if lacking else None)
    try:
        return reason or ktrace.mount()
    except (RuntimeError, subprocess.SubprocessError) as error:
        return str(error)


def parse(words):
    parser = argparse.ArgumentParser(prog="scripts/explain-real", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--family", default="", help="only families whose name contains this")
    parser.add_argument("--development", action="store_true", help="no held-out family")
    parser.add_argument("--reveal", action="store_true", help="also the rows of held-out families")
    parser.add_argument("--keep", metavar="FOLDER", help="captures and truth of development families (with --reveal: of all)")
    parser.add_argument("--write", action="store_true", help="the figures into docs/evidence/accuracy-real.md, with those of joined captures")
    parser.add_argument("--joined", action="store_true", help="also explain both captures together (coax explain --join)")
    parser.add_argument("--logs", metavar="FOLDER", help="keep everything there, so that --from can judge it by changed rules (large)")
    parser.add_argument("--pairs", type=int, metavar="N", help="so many copies with and without changes: an exam of advice and predictions")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="copies with each change, of which the median counts (--pairs)")
    parser.add_argument("--from", dest="source", metavar="FOLDER", help="judge what --keep or --logs left there, instead of making copies")
    parser.add_argument("--json", metavar="FILE", help="all figures; of held-out families only totals, unless --reveal")
    parser.add_argument("--no-explain", action="store_true", help="only the referee")
    arguments = parser.parse_args(words)
    arguments.joined |= arguments.write
    if arguments.write and (arguments.no_explain or arguments.family or arguments.development):
        parser.error("--write takes copies of all families, judged: not --no-explain, --family or --development")
    return arguments


def hidden(family, arguments):
    return scenario.held_out(family) and not arguments.reveal


def rejected(wanted, error, arguments):
    about = ("held out", "") if hidden(wanted.family, arguments) else (wanted.name, f" ({wanted.text()})")
    return f"| {about[0]} | rejected | {' '.join(str(error).split())[:300]}{about[1]} |"


FAILURES = (copying.Rejected, RuntimeError, OSError, subprocess.SubprocessError)


def examine(recorded, folder, arguments):
    """What there is to print of a copy that was made, the rows of its captures, and whether it was rejected. Removes the folder."""
    try:
        copied = copying.judge(recorded)
        secret = hidden(copied.scenario.family, arguments)
        if arguments.keep and not secret:
            keep(copied, arguments.keep)
        found = [] if arguments.no_explain else judged(copied, arguments.joined)
        lines = list(map(line, found)) or [f"{copied.scenario.name}: {copied.wall_s:.2f} s, {list_of(referee.shares(copied.parts), 6)}"]
        return [] if secret else lines, [verdict.row() for verdict in found], False
    except FAILURES as error:
        return [rejected(recorded.scenario, error, arguments)], [], True
    finally:
        if arguments.logs:
            recorded.save(arguments.logs)
        shutil.rmtree(folder, ignore_errors=True)


def prepare(scratch):
    """Servers and clients that cannot run here."""
    os.setpriority(os.PRIO_PROCESS, 0, -10)  # what is measured is not to wait for what else runs on the machine
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that namespaces, processes and traces end
    programs.compile_java(scratch)
    user_space.prepare(scratch)
    return programs.lacking({*scenario.SERVERS, *scenario.OTHERS})


def make(arguments, scratch):
    """Makes new copies; another process judges them meanwhile. The rows of all captures, and how many copies were rejected."""
    lacking = prepare(scratch)
    wanted = lambda name: arguments.family in name and not (arguments.development and scenario.held_out(name))
    chosen = scenario.choose(arguments.seed, arguments.copies, wanted, lacking)
    print(f"Linux {platform.release()}, seed {arguments.seed}, {len(chosen)} copies\n\n{HEADER}", flush=True)
    waiting, rows, failed = collections.deque(), [], 0
    with concurrent.futures.ProcessPoolExecutor(1, initializer=os.setpriority, initargs=(os.PRIO_PROCESS, 0, 0)) as pool:
        for scenario_ in chosen:
            folder = Path(tempfile.mkdtemp(prefix="explain-real-"))
            folder.chmod(0o755)
            try:
                waiting.append(pool.submit(examine, copying.sized(scenario_, folder, scratch), folder, arguments))
            except FAILURES as error:
                shutil.rmtree(folder, ignore_errors=True)
                print(rejected(scenario_, error, arguments), flush=True)
                failed += 1
            while waiting and (len(waiting) > 3 or waiting[0].done()):
                failed += shown(waiting.popleft(), rows)
        failed += sum(shown(future, rows) for future in waiting)
    return rows, failed


def shown(future, rows):
    """Prints a copy's lines and adds its rows to the others. Whether it was rejected."""
    lines, found, is_rejected = future.result()
    print("\n".join(lines), end="\n" if lines else "", flush=True)
    rows += found
    return is_rejected


def judge_again(path, arguments):
    """What there is to print of a copy that was kept, the rows of its captures, and whether it was rejected."""
    with tempfile.TemporaryDirectory(prefix="explain-real-") as scratch:
        try:
            copied = copying.judge(copying.Recorded.load(path.parent)) if path.name == copying.RECORDED else Kept(path, Path(scratch))
        except FAILURES:
            return [], [], True  # as it was then
        family = copied.scenario.family
        if arguments.family not in family or arguments.development and scenario.held_out(family):
            return [], [], False
        secret = hidden(family, arguments)
        if arguments.keep and not secret:
            keep(copied, arguments.keep)
        verdicts = [] if arguments.no_explain else judged(copied, arguments.joined)
        return [] if secret else list(map(line, verdicts)), [verdict.row() for verdict in verdicts], False


def again(arguments, _):
    """Judges copies that were kept, by changed rules if their logs were. The rows of all captures, and how many were rejected."""
    rows, source = [], Path(arguments.source)
    paths = sorted(source.glob("*.json")) + sorted(source.glob(f"*/{copying.RECORDED}"))
    print(HEADER)
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        failed = sum(shown(future, rows) for future in [pool.submit(judge_again, path, arguments) for path in paths])
    return rows, failed


def main(words=None):
    arguments = parse(words)
    if not arguments.source and (reason := missing()):
        print(f"explain-real: SKIPPED, {reason}", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    with tempfile.TemporaryDirectory(prefix="explain-real-") as scratch:
        Path(scratch).chmod(0o755)
        if arguments.pairs:
            rows = pairs.run(arguments, prepare(Path(scratch)), Path(scratch))
            if arguments.write:
                page.write_page(exam=list(pairs.table(rows, f"Linux {platform.release()}, {os.cpu_count()} processors, load {os.getloadavg()[1]:.0f}, "
                                                            f"{datetime.date.today()}, commit {version()}, seed {arguments.seed}")))
        else:
            rows, failed = (again if arguments.source else make)(arguments, Path(scratch))
            print("\n" + "\n".join(summary(rows)))
            if arguments.write:
                write(rows, failed)
    if arguments.json:
        public = [row for row in rows if arguments.reveal or not row["held_out"]]
        Path(arguments.json).write_text(json.dumps({"seed": arguments.seed, "totals": {} if arguments.pairs else totals(rows), "rows": public}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
