"""The lab: copies of old computers, simulated in virtual time (docs/lab.md). The same arguments always give the same result."""
from __future__ import annotations

import json as _json
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _arguments, _coax
from ._arguments import PathLike
from ._pyarrow import pyarrow, table as _table
from .errors import ScenarioError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Indices", "Run", "run", "scenarios", "sensitivity", "sweep", "tables"]


class Run:
    """One simulated copy."""

    def __init__(self, native: "_coax.Run") -> None:
        self.json: str = native.json
        self.text: str = native.text
        self.data: Dict[str, Any] = _json.loads(self.json)

    @property
    def seconds(self) -> float:
        """Virtual time of the copy, seconds; until the client gave up if it failed."""
        return self.data["seconds"]

    @property
    def bytes(self) -> int:
        """Bytes of the file; 0 if the copy failed."""
        return self.data["bytes"]

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds

    @property
    def failed(self) -> Optional[str]:
        """Why the simulated client gave up; None if the copy succeeded."""
        return self.data["failed"]

    @property
    def causes_s(self) -> Dict[str, float]:
        """Seconds that the copy spent on each cause; together they are the copy's time."""
        return {cause: ns / 1e9 for cause, ns in self.data["causes_ns"].items()}

    def __repr__(self) -> str:
        outcome = f"failed: {self.failed}" if self.failed else f"{self.seconds:.3f} s, {self.rate / 1e6:.3f} MB/s"
        return f"<coax.lab.Run {self.data['title'] or 'copy'!r}: {outcome}>"


def run(
    scenario: PathLike,
    changes: Optional[Mapping[str, Any]] = None,
    *,
    seed: Optional[int] = None,
    pcap: Optional[PathLike] = None,
    tap: str = "client",
    **more_changes: Any,
) -> Run:
    """Simulates one copy.

    ``scenario`` is one of :func:`scenarios`, a cell of a table ("copy-times/dls-4.0/to-server"), or a TOML file. ``changes`` are values of
    its keys with their units, such as ``{"link.delay": "31 ms", "size": "1MB"}``; as keyword arguments, ``__`` stands for the dot
    (``link__delay="31 ms"``). ``pcap`` names a file for a capture, and FILE.truth.json for the cause of every nanosecond; ``tap`` is where
    it is taken: "client", "server" or "wire".

    A copy that fails, as that of a real client would, is a result (:attr:`Run.failed`). Raises :class:`coax.ScenarioError` if a name, key
    or value is wrong, :class:`coax.OutputError` if a file cannot be read or written.
    """
    name = _arguments.path(scenario, "scenario")
    values = _arguments.assignments(changes, "changes") + _arguments.assignments(more_changes, "changes")
    if seed is not None:
        _arguments.whole(seed, "seed")
    capture = None if pcap is None else _arguments.path(pcap, "pcap")
    return Run(_coax.run(name, values, seed, capture, _arguments.text(tap, "tap")))


class _Arguments:
    """The arguments of a sweep in the form that the native function takes."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.set = _arguments.assignments(given.get("set"), "set")
        self.grid = _arguments.lists(given.get("grid"), "grid")
        self.ranges = _arguments.lists(given.get("ranges"), "ranges")
        sample, seed = given.get("sample"), given.get("seed")
        self.sample = None if sample is None else _arguments.text(sample, "sample")
        self.seed = None if seed is None else _arguments.whole(seed, "seed")
        self.replicates = _arguments.whole(given.get("replicates", 1), "replicates", 1)
        self.part = _arguments.shard(given.get("shard"))


def sweep(
    scenario: PathLike,
    *,
    grid: Optional[Mapping[str, Any]] = None,
    ranges: Optional[Mapping[str, str]] = None,
    sample: Optional[str] = None,
    set: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    replicates: int = 1,
    shard: Optional[Tuple[int, int]] = None,
    threads: Optional[int] = None,
) -> "pa.Table":
    """Simulates a copy for many values; one row for each run, the table of ``coax lab sweep --parquet``.

    ``grid`` has lists of values, or text as on the command line: ``{"client": ["wfw-3.11", "windows-98"], "link.delay": "0..60 ms:4"}``.
    Instead, ``sample`` ("latin:N", "sobol:N", "saltelli:N") takes points from ``ranges``: ``{"link.delay": "0..60 ms"}``. ``set`` changes
    values of all runs. ``replicates`` runs each point with that many seeds. ``shard=(I, N)`` runs the I-th of N parts. A sweep, or a part,
    has at most 10,000 runs, on ``threads`` threads (default: number of CPUs); the result does not depend on it.

    Columns have their unit in the name (``link.delay_s``, ``size_bytes``) and in the fields' metadata. A failed run has its reason in
    ``error``. The schema's metadata ``coax.sweep`` is a JSON object about the sweep, which :func:`sensitivity` reads.

    Raises :class:`coax.ScenarioError` before the first run if a name, key or value is wrong.
    """
    given = {
        "grid": grid, "ranges": ranges, "sample": sample, "set": set, "seed": seed, "replicates": replicates, "shard": shard,
    }
    return _swept(_arguments.path(scenario, "scenario"), _Arguments(given), threads)


def _swept(scenario: str, arguments: _Arguments, threads: Optional[int]) -> "pa.Table":
    if threads is not None:
        _arguments.whole(threads, "threads", 1)
    pyarrow()
    native = _coax.sweep(scenario, arguments, threads)
    return _table(native.table()).replace_schema_metadata({"coax.sweep": native.about()})


class Indices(NamedTuple):
    """Sobol' indices of one key: shares of the variance of the copy's time."""

    first: float
    """First order: the share of the key alone."""
    first_half_width_95: float
    """Half of its 95 % confidence interval."""
    total: float
    """Total: the share of the key with all its interactions."""
    total_half_width_95: float
    """Half of its 95 % confidence interval."""


def sensitivity(tables: Union["pa.Table", Iterable["pa.Table"]]) -> Dict[str, Indices]:
    """Sobol' sensitivity indices of each key, from the table of a sweep with ``sample="saltelli:N"``, or from the tables of all its shards in
    any order.

    Raises :class:`coax.ScenarioError` if a part is missing, is there twice or belongs to another sweep, or if a run failed.
    """
    library = pyarrow()
    parts = [tables] if isinstance(tables, library.Table) else list(tables)
    if not parts or not all(isinstance(part, library.Table) for part in parts):
        raise TypeError("tables must be a pyarrow.Table of coax.lab.sweep, or several")
    about = [_json.loads((part.schema.metadata or {}).get(b"coax.sweep", b"{}")) for part in parts]
    whole = {key: about[0].get(key) for key in ("scenario", "keys", "sample", "replicates", "all_points")}
    for other in about:
        if any(other.get(key) != value for key, value in whole.items()):
            raise ScenarioError("the tables belong to different sweeps")
    if whole["sample"] != "saltelli":
        raise ScenarioError('sensitivity indices need the points of sample="saltelli:N"')
    points: List[List[float]] = [[] for _ in range(whole["all_points"])]
    for part in parts:
        for point, seconds in zip(part.column("point").to_pylist(), part.column("seconds").to_pylist()):
            if seconds is None:
                raise ScenarioError(f"sensitivity indices need all runs, and one of point {point} failed")
            points[point].append(seconds)
    for number, runs in enumerate(points):
        if len(runs) != whole["replicates"]:
            what = "is missing" if len(runs) < whole["replicates"] else "is there twice"
            raise ScenarioError(f"sensitivity indices need each part of the sweep once, and point {number} {what}")
    found = _coax.sensitivity(points, len(whole["keys"]))
    return {key: Indices(*one) for key, one in zip(whole["keys"], found)}


def scenarios() -> List[str]:
    """The names of the scenarios that come with the lab."""
    return _coax.scenarios()


def tables(*names: str) -> List[Dict[str, Any]]:
    """Published tables beside the lab's predictions, the ``tables`` of ``coax lab tables --json``; all if none is named.

    Each cell has ``published`` and ``predicted`` figures and says whether it was predicted, chosen or fitted.
    """
    wanted = [_arguments.text(name, "each name") for name in names] or _coax.table_names()
    return _json.loads(_coax.tables(wanted))["tables"]
