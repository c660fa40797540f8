"""How often the ranges of `coax lab fit` contain the truth: simulated machines with known values.

`cd tests && python3 -m lab.coverage 400 448`. Each number is the seed of a machine. Its values are drawn from the usual ranges; three copies
are simulated, disturbed by 3 % and fitted; two others, disturbed likewise, are predicted.
"""
import argparse
import json
import math
import random
import subprocess
import tempfile
from pathlib import Path

from peers import subject

DISTURBED = 0.03
#: name of an unknown value, its usual range in seconds, and the keys that it sets
UNKNOWN = {
    "client.packet": (1e-6, 1e-2, [f"client.machine.{work}.fixed" for work in ("rx_data", "rx_ack", "tx_data", "tx_ack")]),
    "client.request": (5e-6, 5e-2, ["client.machine.request.fixed"]),
    "server.request": (5e-6, 5e-2, ["server.machine.request.fixed"]),
}
BASE = """
link = "ethernet-10"
[client]
profile = "wfw-3.11"
stack = "wfw-tcpip-32"
machine = "fast"
"""
BLOCK = "client.profile.read.block"
MEASURED = [
    {"name": "read in blocks of 1,024", "direction": "to-client", "size": "80kB", BLOCK: 1024},
    {"name": "read in blocks of 8,192", "direction": "to-client", "size": "200kB", BLOCK: 8192},
    {"name": "write", "direction": "to-server", "size": "200kB"},
]
PREDICTED = [
    {"name": "read in blocks of 4,096", "direction": "to-client", "size": "200kB", BLOCK: 4096},
    {"name": "the same over 20 ms", "direction": "to-client", "size": "80kB", BLOCK: 4096, "link.delay": "20 ms"},
]


def lab(*arguments):
    """The JSON of `coax lab`."""
    command = [subject.coax_binary(), "lab", *arguments, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def simulated(base, copy, values, chance):
    """Seconds of a copy on the machine, disturbed."""
    sets = {key: value for key, value in copy.items() if key != "name"}
    for name, (_, _, keys) in UNKNOWN.items():
        sets |= {key: f"{values[name] * 1e6:.4f} us" for key in keys}
    options = [option for key, value in sets.items() for option in ("--set", f"{key}={value}")]
    return lab("run", base, *options)["seconds"] * math.exp(chance.gauss(0, DISTURBED))


def machine(seed, members, folder):
    """Whether each range of a value contains it, and each range of a time; and the errors of the median times."""
    chance = random.Random(seed)
    values = {name: math.exp(chance.uniform(math.log(low), math.log(high))) for name, (low, high, _) in UNKNOWN.items()}
    base = folder / "base.toml"
    base.write_text(BASE)
    measured = [{**copy, "seconds": simulated(str(base), copy, values, chance)} for copy in MEASURED]
    truths = [simulated(str(base), copy, values, chance) for copy in PREDICTED]
    tables = [("copy", copy) for copy in measured] + [("predict", copy) for copy in PREDICTED]
    lines = [f'scenario = "{base}"', "[unknown]", *(f'"{name}" = true' for name in UNKNOWN)]
    for kind, copy in tables:
        lines += [f"[[{kind}]]", *(f'"{key}" = {json.dumps(value)}' for key, value in copy.items())]
    copies = folder / "copies.toml"
    copies.write_text("\n".join(lines))
    found = lab("fit", str(copies), "--members", str(members), "--seed", str(seed))
    inside = [one["low"] <= values[one["name"]] <= one["high"] for one in found["parameters"]]
    times = [one["low_s"] <= truth <= one["high_s"] for one, truth in zip(found["predictions"], truths)]
    errors = [abs(one["seconds"] / truth - 1) for one, truth in zip(found["predictions"], truths)]
    return inside, times, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--members", type=int, default=48)
    options = parser.parse_args()
    values, times, errors = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.end):
            for whole, part in zip((values, times, errors), machine(seed, options.members, Path(folder))):
                whole.extend(part)
    print(f"{sum(values)} of {len(values)} values and {sum(times)} of {len(times)} times within their range; largest error {max(errors):.0%}")


if __name__ == "__main__":
    main()
