"""Work in batches of seconds: how captures and scenarios are divided for several machines, without any of their libraries."""
from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from . import _arguments, _coax
from .captures import explain_many
from .errors import CoaxError
from .lab import _Arguments, _swept

if TYPE_CHECKING:
    import pyarrow as pa

# measured (docs/scale.md); only the size of batches depends on them
BYTES_PER_SECOND = 500e6
SECONDS_PER_CAPTURE = 0.1
# one part of a sweep has at most so many runs (docs/lab.md)
MAX_RUNS = 10_000


def capture_batches(paths: List[str], seconds: float, bytes_per_second: float = BYTES_PER_SECOND) -> List[Dict[str, Any]]:
    """Captures in the order of their names, in batches whose work takes about ``seconds``; a larger capture is a batch of its own.

    What cannot be read is in the first batch, with its reason, so that it is reported once.
    """
    captures, failures = _coax.find(paths)
    made: List[Dict[str, Any]] = []
    if failures:
        made.append({"paths": [], "failures": [[str(path), reason] for path, reason in failures]})
    waiting: List[str] = []
    cost = 0.0
    for path, size in captures:
        own = SECONDS_PER_CAPTURE + size / bytes_per_second
        if waiting and cost + own > seconds:
            made.append({"paths": waiting, "failures": []})
            waiting, cost = [], 0.0
        waiting.append(str(path))
        cost += own
    if waiting:
        made.append({"paths": waiting, "failures": []})
    return made


def explain_batch(batch: Dict[str, Any], table: str) -> Iterator["pa.Table"]:
    """The rows of a batch; one small table after the other, so that memory is bounded."""
    import pyarrow
    stream = explain_many(list(batch["paths"]), table=table, jobs=1, batch_rows=1000)
    schema = stream.schema
    if batch["failures"]:
        rows = [{"capture": path, "error": reason} for path, reason in batch["failures"]]
        yield pyarrow.Table.from_pylist(rows, schema)
    count = 0
    for one in stream:
        count += 1
        yield pyarrow.Table.from_batches([one], schema)
    if not count and not batch["failures"]:
        yield schema.empty_table()


class Space:
    """The points of a sweep, and how they are divided."""

    def __init__(self, scenario: str, given: Dict[str, Any]) -> None:
        self.scenario = scenario
        self.given = dict(given, shard=None)
        # a part of so many has no points: everything is checked, and nothing simulated
        self.about = json.loads(self._part(1, (1 << 32) - 1).about())
        self.groups = self.about["all_points"] // self._group()

    def _group(self) -> int:
        return len(self.about["keys"]) + 2 if self.about["sample"] == "saltelli" else 1

    def _part(self, index: int, count: int) -> "_coax.Swept":
        return _coax.sweep(self.scenario, _Arguments({**self.given, "shard": (index, count)}), 1)

    def seconds_per_group(self, samples: int = 5) -> float:
        """Measured at some places of the space."""
        places = sorted({1 + at * (self.groups - 1) // max(samples - 1, 1) for at in range(samples)})
        began = time.perf_counter()
        for place in places:
            self._part(place, self.groups)
        return (time.perf_counter() - began) / len(places)

    def parts(self, seconds: float, seconds_per_group: Optional[float] = None) -> int:
        """The number of parts that take about ``seconds`` each."""
        if not self.groups:
            raise CoaxError("the sweep has no points")
        each = self.seconds_per_group() if seconds_per_group is None else seconds_per_group
        groups = max(1, int(seconds / max(each, 1e-9)))
        groups = min(groups, max(1, MAX_RUNS // (self._group() * self.about["replicates"])))
        return -(-self.groups // groups)


def sweep_batch(batch: Dict[str, Any], scenario: str, given: Dict[str, Any]) -> "pa.Table":
    """The rows of a part."""
    shard = (int(batch["part"]), int(batch["parts"]))
    return _swept(scenario, _Arguments({**given, "shard": shard}), 1)


def positive(value: Any, name: str) -> float:
    return _arguments.number(value, name)
