"""`scripts/explain-real --pairs N`: an exam of advice and predictions.

A copy is made, captured and explained. Then it is made again with one thing changed, for each change that applies. What explain
predicted of the change stands beside what it brought, and its first advice beside the best of the changes.
"""
import collections
import contextlib
import dataclasses
import json
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from explain import copying, held_families, scenario
from explain.programs import JCIFS
from peers import subject

ENDS = ("client", "server")
RAW = ("ms-net-3.11-full", "ibm-dls-5.0-full", "ibm-dls-5.0-predir", "wfw-3.11", "windows-95", "windows-98", "nt-4-copy", "nt-4-explorer", "os2-warp")
WORTH = 0.05  # a change that brings less of the time is no improvement, and one that brings so much less than another is as good


@dataclasses.dataclass(frozen=True)
class Change:
    """A change, the advice that recommends it, and the fields that it sets where they are not so already."""

    name: str
    advice: tuple
    fields: dict
    when: object = lambda scenario_: True
    if_recommended: object = lambda scenario_: False  # copies to which it applies only if it is the first advice
    receiver: str = ""  # the advice is about this end only if it receives the file

    def advice_of(self, to):
        """Ids of advice that recommends it for such a copy. Advice about a receive buffer names the end that receives the file."""
        receiver = "client" if to.verb == "get" else "server"
        return self.advice if self.receiver in ("", receiver) else ()

    def applies(self, to, recommended=False):
        is_due = self.when(to) or recommended and self.if_recommended(to)
        return is_due and any(getattr(to, name) != value for name, value in self.fields.items())


def profile(name, verb=""):
    return lambda to: to.client == name and verb in ("", to.verb)


CHANGES = (
    Change("TCP_NODELAY at the client", ("client-nodelay", "client-nodelay-far"), {"client_nodelay": True},
           lambda to: to.client_nodelay is False and to.client in ("apart", "impacket", "pysmb", "smbclient")),
    Change("TCP_NODELAY at the server", ("server-nodelay", "server-nodelay-far", "server-nodelay-early-timer"), {"server_nodelay": True},
           lambda to: to.server == "smbd"),
    Change("larger requests", ("samba-larger-requests", "nt-larger-request-buffer", "nt-larger-request-buffer-and-window"),
           {"max_xmit": 65535}, lambda to: to.max_xmit, lambda to: to.server in ("smbd", "coax")),  # what the advice says, and no more; without a line, Samba has 16,644
    Change("receive buffer of the client", ("fixed-receive-buffer", "small-receive-buffer-of-the-client"), {"client_rcvbuf": 0, "client_rmem": 0},
           lambda to: to.client not in JCIFS or not to.client_rcvbuf, receiver="client"),
    # what jcifs calls its receive buffer is the length of its reads
    Change("larger reads", ("program-larger-reads",), {"client_rcvbuf": 0}, lambda to: to.client in JCIFS and to.verb == "get"),
    Change("receive buffer of the server", ("fixed-receive-buffer", "small-receive-buffer-of-the-server"), {"server_rcvbuf": 0, "server_rmem": 0},
           receiver="server"),
    Change("send buffer of the client", ("fixed-send-buffer-of-the-client",), {"client_sndbuf": 0, "client_wmem": 0}),
    Change("send buffer of the server", ("fixed-send-buffer",), {"server_sndbuf": 0, "server_wmem": 0}),
    # smbd offers no raw mode while it offers signatures, as the advice says
    Change("raw mode", ("offer-raw-reads", "offer-raw-writes"), {"raw": True, "offer_signing": False},
           lambda to: not to.signing and (not to.raw or to.server == "smbd" and to.client in RAW)),
    Change("no sync", ("strict-sync", "write-through", "samba-sync-always"), {"sync": False, "strict_sync": False},
           lambda to: to.sync),
    Change("no signing", ("signing",), {"signing": False}),
    # how the basic ones write has no source
    Change("the full redirector", ("ms-net-full-redirector",), {"client": "ms-net-3.11-full"}, profile("ms-net-3.11-basic", "get")),
    Change("the full DLS redirector", ("dls-full-redirector",), {"client": "ibm-dls-5.0-full"}, profile("ibm-dls-5.0-predir", "get")),
    Change("copy without Explorer", ("copy-without-notify",), {"client": "nt-4-copy"}, profile("nt-4-explorer")),
    Change("requests in flight", ("more-requests-in-flight",), {"client": "modern"}, profile("windows-2000")),
    # as much as both accept, less 64 bytes: smbd and coax take 16,644
    Change("larger blocks", ("program-larger-blocks", "use-raw-writes"), {"block": 16_580},
           lambda to: not to.max_xmit and 0 < to.block < 8_000 and to.client in ("impacket", "apart")),
)
QUEUE = ("deeper-queue", "losses-on-the-way")
TRIED = {advice for change in CHANGES for advice in change.advice} | set(QUEUE)
# of the families for development; those that nobody inspects are named in held_families
FAMILIES = ("nagle", "small-requests", "client-window", "server-window", "send-buffer", "no-raw", "synchronous", "signed", "old-clients", "shallow-queue",
            "nagle-far", "nagle-server", "small-requests-far", "small-buffers", "window-near-product", "send-limits", "raw-loss", "synchronous-far",
            "signed-far", "old-clients-far", "two-packet-queue")
DEEP_MS = 300


def deeper(to, recommended=False):
    """The same with a queue of 300 ms: of a copy whose queue holds some packets, and of any with a shorter one if that is recommended. Or None."""
    size = lambda of: int(of["rate"] * DEEP_MS / 8000)
    is_shallow = recommended and all(of.get("queue_bytes", 0) < size(of) for of in (to.up, to.down))
    if "queue_packets" not in to.down and not is_shallow:
        return None
    way = lambda of: {key: value for key, value in of.items() if key != "queue_packets"} | {"queue_bytes": size(of)}
    return dataclasses.replace(to, up=way(to.up), down=way(to.down))


def changed(to, recommended=()):
    """(change's name, its advice, the changed scenario) of each that applies, and of each that is recommended by the ids of its advice."""
    is_wanted = lambda change: change.applies(to, bool(set(change.advice) & set(recommended)))
    found = [(change.name, change.advice_of(to), dataclasses.replace(to, **change.fields)) for change in CHANGES if is_wanted(change)]
    queue = deeper(to, bool(set(QUEUE) & set(recommended)))
    return found + ([("a deeper queue", QUEUE, queue)] if queue else [])


def choose(seed, count, lacking, development=False, part=""):
    """So many scenarios to which a change applies, of families whose names contain `part`. Development: from no family that is held out."""
    names = [name for name in (*FAMILIES, *(() if development else held_families.FOR_PAIRS)) if part in name]
    return scenario.choose(seed, count, lacking=lacking, names=names, of=changed, order="pairs", first=5_000_000)


def advised(path, port):
    """Advice of the longest copy on that port: [(id, predicted seconds or None)], and its time."""
    done = subprocess.run([subject.coax_binary(), "explain", "--json", path], capture_output=True, text=True, timeout=120)
    copies = []
    if done.returncode == 0:
        capture = json.loads(done.stdout)["captures"][0]
        copies = [copy for copy in capture["copies"] if capture["connections"][copy["connection"]]["client"].endswith(f":{port}")]
    if not copies:
        return [], None
    copy = max(copies, key=lambda one: one["wall_s"])
    return [(one["id"], one["predicted_s"]) for one in copy["advice"]], copy["wall_s"]


def copies_of(wanted, scratch, folder, repeat):
    """So many judged copies, each in a folder of its own: all have the size that the first one needs. Raises Rejected if the first is."""
    first = copying.judge(copying.sized(wanted, folder, scratch))
    yield first
    for place in range(1, repeat):
        run = folder / f"again-{place}"
        run.mkdir()
        run.chmod(0o755)
        with contextlib.suppress(copying.Rejected):
            yield copying.judge(copying.perform(first.scenario, run, scratch))


def made(wanted, scratch, keep=None, repeat=1):
    """The copy of median length and what explain advises at each end of it. Its captures are left in the folder `keep`."""
    with tempfile.TemporaryDirectory(prefix="explain-real-") as folder:
        Path(folder).chmod(0o755)
        copies = sorted(copies_of(wanted, scratch, Path(folder), repeat), key=lambda one: one.wall_s)
        copied = copies[(len(copies) - 1) // 2]
        for end in ENDS if keep else ():
            shutil.copy(copied.capture(end), Path(keep) / f"{wanted.name}-{end}.pcap")
        return copied, {end: advised(copied.capture(end), copied.port) for end in ENDS}


def truth(wanted, scratch, repeat):
    """Seconds of so many copies that were not rejected: their median, and by what part of it the longest is longer than the shortest."""
    seconds, problem = [], None
    for _ in range(repeat):
        with tempfile.TemporaryDirectory(prefix="explain-real-") as folder:
            Path(folder).chmod(0o755)
            try:
                seconds.append(copying.judge(copying.perform(wanted, Path(folder), scratch)).wall_s)
            except copying.Rejected as error:
                problem = error
    if not seconds:
        raise problem
    median = statistics.median(seconds)
    return median, (max(seconds) - min(seconds)) / median


def prediction(advice, ids):
    """What the advice with the first of these ids predicts, seconds: the later ids change more than the exam does."""
    known = dict(advice)
    return next((known[one] for one in ids if known.get(one)), None)


def as_at_client(predicted, wall_s, before):
    """The prediction for the time that the client sees: at the server, the copy begins later and ends earlier, by a round trip together."""
    if not predicted:
        return None
    unseen = min(max(before.wall_s - wall_s, 0), before.scenario.round_trip_s)
    return [seconds + unseen for seconds in predicted]


def as_good_as_best(times, before_s):
    """The changes that bring the most, by their seconds. Those that bring less by no more than what is no improvement are as good."""
    least = min(times.values())
    return [name for name, seconds in times.items() if seconds < before_s * (1 - WORTH) and seconds - least < before_s * WORTH]


def example(wanted, scratch, keep=None, repeat=1):
    """Rows of one scenario: a change and an end each."""
    before, said = made(wanted, scratch, keep, repeat)
    first_ones = {advice_[0][0] for advice_, _ in said.values() if advice_}
    times = {name: (advice, *truth(after, scratch, repeat)) for name, advice, after in changed(before.scenario, first_ones)}
    best = min(times, key=lambda name: times[name][1])
    good = as_good_as_best({name: seconds for name, (_, seconds, _) in times.items()}, before.wall_s)
    for end in ENDS:
        advice_, wall_s = said[end]
        first = advice_[0][0] if advice_ else None
        for name, (ids, seconds, spread) in times.items():
            predicted = as_at_client(prediction(advice_, ids), wall_s, before)
            yield {"copy": wanted.name, "held_out": scenario.held_out(wanted.family), "end": end, "change": name, "before_s": before.wall_s,
                   "truth_s": seconds, "spread": spread, "port": before.port, "predicted_s": predicted, "advised": any(one in ids for one, _ in advice_), "first": first,
                   "best": name == best, "first_right": any(first in times[one][0] for one in good) if good else first is None,
                   "first_best": bool(good) and first in times[best][0]}


def line(row):
    predicted = row["predicted_s"]
    said = f"{predicted[1]:.2f} ({predicted[0]:.2f}–{predicted[2]:.2f})" if predicted else "advised" if row["advised"] else "none"
    error = f"{(predicted[1] / row['truth_s'] - 1) * 100:+.0f} %" if predicted else "–"
    return f"| {row['copy']} | {row['end']} | {row['change']} | {row['before_s']:.2f} | {said} | {row['truth_s']:.2f} | {error} |"


HEADER = "| copy | captured at | change | before, s | predicted, s | truth, s | error |\n|---|---|---|--:|--:|--:|--:|"


def summary(rows):
    """The figures of the exam as lines."""
    predicted = [row for row in rows if row["predicted_s"]]
    inside = sum(row["predicted_s"][0] <= row["truth_s"] <= row["predicted_s"][2] for row in predicted)
    errors = [abs(row["predicted_s"][1] / row["truth_s"] - 1) for row in predicted]
    helpful = [row for row in rows if row["best"] and row["truth_s"] < row["before_s"] * (1 - WORTH)]
    counts = collections.Counter({"pairs": len(rows), "predicted": len(predicted), "in range": inside})
    yield f"{counts['pairs']} pairs seen from an end, {counts['predicted']} with a prediction"
    if rows:
        yield f"spread of repeated copies, median: {statistics.median(row['spread'] for row in rows):.0%}"
    if predicted:
        yield f"truth within the predicted range: {inside / len(predicted):.0%}; median error {statistics.median(errors):.0%}"
    if helpful:
        yield f"first advice is the best measured change, or as good: {sum(row['first_right'] for row in helpful)} of {len(helpful)}"
        yield f"and the best itself: {sum(row['first_best'] for row in helpful)}"
        untried = sum(bool(row["first"]) and row["first"] not in TRIED for row in helpful)
        yield f"in {untried} of the others, the exam does not try the first advice"


def figures(rows):
    """The figures of AIMS, each as (text, part that reached it)."""
    predicted = [row for row in rows if row["predicted_s"]]
    inside = sum(row["predicted_s"][0] <= row["truth_s"] <= row["predicted_s"][2] for row in predicted)
    errors = [abs(row["predicted_s"][1] / row["truth_s"] - 1) for row in predicted]
    helpful = [row for row in rows if row["best"] and row["truth_s"] < row["before_s"] * (1 - WORTH)]
    right = sum(row["first_right"] for row in helpful)
    return (f"{inside} of {len(predicted)}" if predicted else "–", f"{statistics.median(errors):.0%}" if predicted else "–",
            f"{right} of {len(helpful)}" if helpful else "–", f"{sum(row['first_best'] for row in helpful)} of {len(helpful)}" if helpful else "–")


AIMS = ("truth within the predicted range (aim: ≥ 85 %)", "median error of a prediction (aim: ≤ 15 %)",
        "first advice is the best measured change, or as good (aim: ≥ 80 %)", "first advice is the best measured change itself")


def table(rows, about):
    """The page's section: all figures, and the rows of the families for development."""
    shown = [row for row in rows if not row["held_out"]]
    groups = [figures(of) for of in (rows, shown, [row for row in rows if row["held_out"]])]
    yield f"{about}: {len(rows)} changes seen from an end, {sum(bool(row['predicted_s']) for row in rows)} with a prediction.\n"
    yield "| figure | all | development families | held-out families |\n|---|--:|--:|--:|"
    for place, aim in enumerate(AIMS):
        yield f"| {aim} | " + " | ".join(group[place] for group in groups) + " |"
    yield f"\n{HEADER}"
    yield from map(line, shown)


def run(arguments, lacking, scratch):
    """Makes the pairs. The rows."""
    seed, reveal = arguments.seed, arguments.reveal
    rows = []
    print(f"seed {seed}\n\n{HEADER}", flush=True)
    for wanted in choose(seed, arguments.pairs, lacking, arguments.development, arguments.family):
        hidden = scenario.held_out(wanted.family) and not reveal
        try:
            found = list(example(wanted, scratch, None if hidden else arguments.keep, arguments.repeat))
        except (copying.Rejected, RuntimeError, OSError, subprocess.SubprocessError) as error:
            print(f"| {'held out' if hidden else wanted.name} | rejected | {' '.join(str(error).split())[:200]} |", flush=True)
            continue
        rows += found
        if not hidden:
            print("\n".join(map(line, found)), flush=True)
    print("\n" + "\n".join(summary(rows)))
    return rows
