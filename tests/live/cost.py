"""What the account of `coax status` costs: CPU time of two servers, one with accounts and one without, for the same requests.

The server without accounts is started with COAX_ACCOUNT=off. Both answer in short slices, in turns. Other programs can only make a slice
slower, so the fastest tenth of the slices of each is compared; the spread of the ratio comes from drawing slices again (bootstrap).
"""
import argparse
import contextlib
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import cases, measure
from peers import subject

SIZE = 256_000_000
BLOCKS = {"reads of 64 bytes": 64, "reads of 4 KiB": 4096, "reads of 60 KiB": 61_440}
REQUESTS = 400  # of a slice
DRAWS = 300


@contextlib.contextmanager
def started(folder, accounts):
    os.environ["COAX_ACCOUNT"] = "on" if accounts else "off"
    folder.mkdir(mode=0o755)
    with subject.start("coax", folder, globals_={"coax:pacing": "no"}) as running:
        os.environ.pop("COAX_ACCOUNT")
        with open(running.folder / "big.bin", "wb") as file:
            file.truncate(SIZE)
        yield running


def a_slice(running, connection, fid, block):
    """CPU microseconds of the server for each request."""
    before = measure.cpu_seconds(running.pid)
    for number in range(REQUESTS):
        if len(connection.read_andx(fid, number * block, block)) != block:
            raise RuntimeError("a read fell short")
    return (measure.cpu_seconds(running.pid) - before) / REQUESTS * 1e6


def fastest(slices):
    """The mean of the fastest tenth."""
    return statistics.mean(sorted(slices)[: max(1, len(slices) // 10)])


def compared(servers, block, slices):
    took = {True: [], False: []}
    with contextlib.ExitStack() as stack:
        connections = {which: stack.enter_context(cases.connected(running, "NT1")) for which, running in servers.items()}
        fids = {which: connection.open_andx(r"\big.bin") for which, connection in connections.items()}
        for number in range(slices):
            for which in (True, False) if number % 2 else (False, True):
                took[which].append(a_slice(servers[which], connections[which], fids[which], block))
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slices", type=int, default=120)
    slices = parser.parse_args().slices
    print("| requests | µs of CPU each, with the account | without | ratio | 95 % of redrawn ratios |\n|---|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory(prefix="cost-", dir="/dev/shm") as scratch, contextlib.ExitStack() as stack:
        folder = Path(scratch)
        folder.chmod(0o755)
        servers = {which: stack.enter_context(started(folder / str(which), which)) for which in (True, False)}
        for name, block in BLOCKS.items():
            took = compared(servers, block, slices)
            drawn = sorted(fastest(random.choices(took[True], k=slices)) / fastest(random.choices(took[False], k=slices)) for _ in range(DRAWS))
            with_it, without = fastest(took[True]), fastest(took[False])
            low, high = drawn[DRAWS // 40], drawn[-DRAWS // 40]
            print(f"| {name} | {with_it:.2f} | {without:.2f} | {with_it / without:.3f} | {low:.3f} to {high:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
