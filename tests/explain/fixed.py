"""A few copies between real programs, each slow for one reason: the referee finds it, and `coax explain` at both ends agrees.

Times are not compared. A copy whose programs had to wait for a processor is repeated, at last left out.
"""
import os
import sys
import tempfile
from pathlib import Path

from explain import copies, copying, programs, referee, user_space
from explain.scenario import MBIT, MS, Scenario

TRIES, ENOUGH, MOVED = 3, 0.55, 25  # share of the intended cause by the referee; points that explain may differ


def lan(rate=100 * MBIT, one_way_ms=5, queue_bytes=1_000_000):
    way = {"rate": rate, "after": one_way_ms * MS, "queue_bytes": queue_bytes}
    return {"up": dict(way), "down": dict(way)}


CASES = (
    ("round-trips", Scenario("fixed-round-trips", 1, "smbd", "nt-4-copy", "get", 300_000, **lan(one_way_ms=8))),
    ("bandwidth", Scenario("fixed-bandwidth", 2, "coax", "modern", "get", 1_500_000, **lan(rate=10 * MBIT))),
    ("receive-window", Scenario("fixed-window", 3, "smbd", "smbclient", "get", 1_500_000, client_rmem=65_536, **lan(one_way_ms=20))),
    ("server-think", Scenario("fixed-disk", 4, "smbd", "windows-2000", "get", 1_200_000, server_read_us=60_000, **lan(one_way_ms=1))),
    ("send-window", Scenario("fixed-smoltcp", 6, "smbd", "smoltcp", "put", 600_000, client_wmem=16_000, **lan(one_way_ms=15))),
    ("client-think", Scenario("fixed-client", 5, "coax", "pysmb", "put", 900_000, client_delay_us=20_000, **lan(one_way_ms=1))),
)


def attempt(wanted, scratch):
    """The judged copy, or None if the machine is too busy."""
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(prefix="explain-real-") as folder:
            Path(folder).chmod(0o755)
            try:
                copied = copying.judge(copying.perform(wanted, Path(folder), scratch))
            except copying.Busy as error:
                print(f"{wanted.name}: {error}", flush=True)
                continue
            return copied, copies.judged(copied)
    return None


def faults(cause, copied, verdicts):
    of = referee.shares(copied.parts)
    if sum(copied.parts.values()) != copied.end - copied.begin:
        yield "the referee's sums are not exact"
    if of.get(cause, 0) < ENOUGH:
        yield f"{cause} has {of.get(cause, 0):.0%} by the referee"
    for verdict in verdicts:
        if not verdict.right:
            yield f"explain at the {verdict.end}: {verdict.said.top if verdict.said else 'no copy'}"
        elif verdict.moved > MOVED:
            yield f"explain at the {verdict.end} differs by {verdict.moved:.0f} points"
        yield from verdict.contradicted


def main():
    if reason := copies.missing():
        print(f"explain-copies: SKIPPED, {reason}", file=sys.stderr)
        return 0
    wrong, seen = 0, 0
    with tempfile.TemporaryDirectory(prefix="explain-real-") as scratch:
        Path(scratch).chmod(0o755)
        os.setpriority(os.PRIO_PROCESS, 0, -10)
        user_space.prepare(Path(scratch))
        lacking = programs.lacking({"pysmb", "smbd", "smbclient", "smoltcp"})
        print(copies.HEADER)
        for cause, wanted in CASES:
            result = None if {wanted.client, wanted.server} & lacking else attempt(wanted, Path(scratch))
            if result is None:
                continue
            seen += 1
            print("\n".join(map(copies.line, result[1])), flush=True)
            for fault in faults(cause, *result):
                print(f"{wanted.name}: {fault}")
                wrong += 1
    print(f"{seen} of {len(CASES)} copies judged, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
