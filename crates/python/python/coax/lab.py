"""The lab: copies of old computers, simulated in virtual time (docs/lab.md). The same arguments always give the same result."""
from __future__ import annotations

import csv as _csv
import io as _io
import json as _json
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _arguments, _coax
from ._arguments import PathLike
from ._pyarrow import pyarrow, table as _table
from .errors import ScenarioError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Fit", "Fitted", "Indices", "Parameter", "Prediction", "Run", "fit", "run", "scenarios", "sensitivity", "sweep", "tables"]


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


class Parameter(NamedTuple):
    """An estimated value of a machine or network."""

    name: str
    """Its key in a scenario, or its short name such as "client.packet"."""
    unit: str
    """The unit of all its numbers: "s", "bit/s", or "" for bytes and plain numbers."""
    estimate: float
    """Median of the likely values."""
    low: float
    """5 % quantile."""
    high: float
    """95 % quantile."""
    chosen: float
    """Its value in :attr:`Fit.scenario`."""
    possible: Tuple[float, float]
    """The range before the measurements."""
    knowledge: str
    """What the measurements say: "determined", "range", "at-most", "at-least" or "undetermined"."""


class Fitted(NamedTuple):
    """A measurement beside the fitted scenario."""

    name: str
    measured_s: float
    """Measured time, seconds."""
    fitted_s: float
    """Time of the fitted scenario, seconds."""


class Prediction(NamedTuple):
    """A predicted copy."""

    name: str
    seconds: Optional[float]
    """Median, seconds; None if the copy fails with most of the likely values."""
    low_s: Optional[float]
    """Seconds that 95 % of the measurements exceed; None if unknown."""
    high_s: Optional[float]
    """Seconds that 95 % of the measurements stay below; None if unknown."""
    fails: float
    """Part of the likely values with which the copy fails, 0 to 1."""


class Fit:
    """Values that were estimated from measured copies."""

    def __init__(self, native: "_coax.Fit") -> None:
        self.json: str = native.json
        self.text: str = native.text
        self.data: Dict[str, Any] = _json.loads(self.json)

    @property
    def parameters(self) -> Dict[str, Parameter]:
        """The estimated values by name, in the order in which they were given."""
        found = [dict(one, unit=one["unit"] or "", possible=tuple(one["possible"])) for one in self.data["parameters"]]
        return {one["name"]: Parameter(**one) for one in found}

    @property
    def fitted(self) -> List[Fitted]:
        """The measurements beside the fitted scenario."""
        return [Fitted(**one) for one in self.data["fitted"]]

    @property
    def predictions(self) -> List[Prediction]:
        """The predicted copies: those of the files, then those of ``predict``."""
        return [Prediction(**one) for one in self.data["predictions"]]

    @property
    def deviation(self) -> float:
        """Deviation between lab and measurement that was used, as a part of the time."""
        return self.data["deviation"]

    @property
    def runs(self) -> int:
        """Number of simulated copies."""
        return self.data["runs"]

    @property
    def left_out(self) -> List[str]:
        """What the files contain that was not used, with the reasons."""
        return self.data["left_out"]

    @property
    def scenario(self) -> str:
        """The scenario with likely values, as the text of a file for :func:`run`."""
        return self.data["scenario"]

    def __repr__(self) -> str:
        values = ", ".join(f"{one.name}={one.estimate:.4g} {one.unit}".rstrip() for one in self.parameters.values())
        return f"<coax.lab.Fit: {values}>"


def fit(
    measured: Union[PathLike, Iterable[PathLike], Iterable[Mapping[str, Any]]],
    *,
    scenario: Optional[PathLike] = None,
    unknown: Union[None, Iterable[str], Mapping[str, Union[str, bool]]] = None,
    set: Optional[Mapping[str, Any]] = None,
    predict: Iterable[Mapping[str, Any]] = (),
    deviation: float = 0.03,
    members: int = 96,
    cap: Union[int, str] = "2MB",
    seed: int = 1,
) -> Fit:
    """Estimates unknown values of a machine or network from measured copies, and predicts other copies (docs/fit.md).

    ``measured`` is a file or several: TOML, CSV, or the JSON of ``coax bench``, ``coax explain`` or ``coax speed``. Or it is a list of copies,
    each a mapping with ``seconds`` (a number), and any of ``name``, ``kind`` ("copy" or "speed"), ``spread`` (standard deviation as a part of the
    time) and keys of a scenario: ``{"seconds": 16.1, "direction": "to-client", "size": "8MB"}``. ``scenario`` has all known values: one of
    :func:`scenarios` or a TOML file (default: that of the files, else a modern client); ``set`` changes values of it.

    ``unknown`` lists values to estimate: names, such as "client.packet", or "KEY=A..B" and "KEY=A..B:log"; or it maps keys to ranges, True for
    the usual one. Default: those of the files, else client.packet, client.request, server.request and link.delay. ``predict`` has the values in
    which each copy to predict differs from the scenario: ``[{"direction": "to-server", "size": "42MB"}]``.

    ``deviation`` is that between lab and reality, as a part of the time; ``members`` the size of the population (8 to 2,000). Of a larger file,
    ``cap`` bytes are simulated and continued with their rate. The result does not depend on the number of processors.

    Raises :class:`coax.ScenarioError` if a measurement, name, key or value is wrong, :class:`coax.OutputError` if a file cannot be read.
    """
    return Fit(_coax.fit(_FitArguments(locals())))


class _FitArguments:
    """The arguments of an estimate in the form that the native function takes."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.files, self.texts = _measurements(given["measured"])
        self.scenario = None if given["scenario"] is None else _arguments.path(given["scenario"], "scenario")
        self.unknown = _unknown(given["unknown"])
        self.set = _arguments.assignments(given["set"], "set")
        self.predict = _predictions(given["predict"])
        self.deviation = _arguments.number(given["deviation"], "deviation")
        self.members = _arguments.whole(given["members"], "members")
        self.cap = _arguments.value_text(given["cap"], "cap")
        self.seed = _arguments.whole(given["seed"], "seed")


def _measurements(measured: Any) -> Tuple[List[str], List[Tuple[str, str]]]:
    """Files; and copies as a table (CSV), which the native function reads like a file."""
    if isinstance(measured, Mapping):
        raise TypeError("measured must be a path, paths, or a list of mappings, not one mapping")
    if not isinstance(measured, (str, bytes)) and isinstance(measured, Iterable):
        measured = list(measured)
        if measured and all(isinstance(one, Mapping) for one in measured):
            return [], [("measured", _table_of_copies(measured))]
    return _arguments.paths(measured, "measured"), []


def _table_of_copies(copies: List[Mapping[str, Any]]) -> str:
    rows = []
    for number, copy in enumerate(copies):
        row = {_arguments.key_text(key, f"measured[{number}]"): _arguments.value_text(value, str(key)) for key, value in copy.items()}
        seconds = _arguments.number(copy.get("seconds"), f"seconds of measured[{number}]")
        if any("\n" in text or "\r" in text for text in row.values()):
            raise ValueError(f"measured[{number}] has a value with a line break")
        rows.append({"name": f"copy {number + 1}", **row, "seconds": repr(seconds)})
    names = list(dict.fromkeys(["seconds", "name", *(key for row in rows for key in row)]))
    text = _io.StringIO()
    table = _csv.DictWriter(text, names, restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _unknown(unknown: Any) -> List[str]:
    if unknown is None:
        return []
    if isinstance(unknown, str) or not isinstance(unknown, Iterable):
        raise TypeError(f"unknown must be a list of names or a mapping of names to ranges, not {type(unknown).__name__}")
    if not isinstance(unknown, Mapping):
        return [_arguments.text(one, "each of unknown") for one in unknown]
    keys = {_arguments.key_text(key, "unknown"): value for key, value in unknown.items()}
    return [key if value is True else f"{key}={_arguments.text(value, f'the range of {key}')}" for key, value in keys.items()]


def _predictions(predict: Any) -> List[str]:
    if isinstance(predict, (str, bytes, Mapping)) or not isinstance(predict, Iterable):
        raise TypeError(f"predict must be a list of mappings, not {type(predict).__name__}")
    wanted = []
    for number, changes in enumerate(predict):
        words = _arguments.assignments(changes, f"predict[{number}]")
        if not words:
            raise ValueError(f"predict[{number}] is empty: name what differs from the scenario, such as direction")
        with_commas = [word for word in words if "," in word]
        if with_commas:
            raise ValueError(f"predict[{number}] cannot have a value with a comma: {with_commas[0]}")
        wanted.append(",".join(words))
    return wanted


def scenarios() -> List[str]:
    """The names of the scenarios that come with the lab."""
    return _coax.scenarios()


def tables(*names: str) -> List[Dict[str, Any]]:
    """Published tables beside the lab's predictions, the ``tables`` of ``coax lab tables --json``; all if none is named.

    Each cell has ``published`` and ``predicted`` figures and says whether it was predicted, chosen or fitted.
    """
    wanted = [_arguments.text(name, "each name") for name in names] or _coax.table_names()
    return _json.loads(_coax.tables(wanted))["tables"]
