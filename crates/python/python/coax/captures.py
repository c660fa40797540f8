"""Captures: one (:func:`explain`) or many (:func:`explain_many`)."""
from __future__ import annotations

import html as _html
import json as _json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from . import _arguments, _coax
from ._arguments import PathLike
from ._pyarrow import pyarrow, table as _table

if TYPE_CHECKING:
    import pyarrow as pa


class Record(Mapping):
    """An object of the JSON report; its fields are keys and attributes. docs/explain-json.md lists them."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Dict[str, Any]) -> None:
        self._fields = fields

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._fields[key])

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return _wrapped(self._fields[key])
        except KeyError:
            raise AttributeError(f"there is no field {key!r}; there are {', '.join(self._fields)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._fields!r})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self._fields,)


class Copy(Record):
    """One copy of a file.

    ``name``, ``bytes`` (of payload), ``wall_s`` (seconds), ``direction`` ("to-server" or "to-client"), ``frames`` (first and last frame),
    ``verdict``, ``headline`` (with the best remedy), ``remedy``, ``causes`` (``seconds`` and ``share`` of each), ``advice`` (with
    ``predicted_s``, seconds).
    """

    name: str
    bytes: int
    wall_s: float
    direction: str
    verdict: str
    headline: Optional[str]
    remedy: Optional[str]
    frames: List[int]
    causes: List[Record]
    advice: List[Record]

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self["bytes"] / self["wall_s"] if self["wall_s"] else float("nan")


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    return value


class Report:
    """What a capture says about its copies.

    A notebook shows it as the page of ``coax explain --html``, with its graphs.
    """

    def __init__(self, native: "_coax.Explained") -> None:
        self._native = native
        self._json: Optional[str] = None
        self._data: Optional[Dict[str, Any]] = None

    @property
    def json(self) -> str:
        """What ``coax explain --json`` prints, byte for byte."""
        if self._json is None:
            self._json = self._native.json()
        return self._json

    @property
    def data(self) -> Dict[str, Any]:
        """The capture's object (docs/explain-json.md) as a dict."""
        if self._data is None:
            self._data = _json.loads(self.json)["captures"][0]
        return self._data

    @property
    def text(self) -> str:
        """What ``coax explain`` prints."""
        return self._native.text()

    @property
    def html(self) -> str:
        """A page that needs no other file: what ``coax explain --html`` writes."""
        return self._native.html()

    @property
    def file(self) -> str:
        """The capture's name, or the names of those that were joined."""
        return self.data["file"]

    @property
    def verdict(self) -> str:
        """One line about the whole capture."""
        return self.data["verdict"]

    @property
    def grade(self) -> str:
        """How far the capture can be trusted."""
        return self.data["grade"]

    @property
    def seconds(self) -> Optional[float]:
        """Time from the first packet to the last, seconds; None if there are no packets."""
        return self.data["seconds"]

    @property
    def copies(self) -> List[Copy]:
        """The copies of files, in the order of their beginnings."""
        return [Copy(one) for one in self.data["copies"]]

    @property
    def connections(self) -> List[Record]:
        """The TCP connections and NetBEUI sessions."""
        return [Record(one) for one in self.data["connections"]]

    @property
    def remarks(self) -> List[Record]:
        """Problems that belong to no copy."""
        return [Record(one) for one in self.data["remarks"]]

    def to_arrow(self, table: str = "copies") -> "pa.Table":
        """A table of docs/batch.md: "copies", "causes", "advice" or "connections". The fields' metadata has unit and description."""
        return _table(self._native.table(_arguments.text(table, "table")))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table "copies" for libraries that read Arrow streams."""
        return self._native.table("copies").__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<coax.Report of {self.file!r}: {self.verdict}>"

    def _repr_html_(self) -> str:
        page = _html.escape(self.html, quote=True)
        style = "width:100%;height:720px;border:1px solid #8884;border-radius:4px"
        # in a frame of its own, the page's style and names of functions do not meet those of the notebook
        return f'<iframe srcdoc="{page}" style="{style}" sandbox="allow-scripts" title="coax explain"></iframe>'


def explain(path: PathLike, *, join: Union[PathLike, Sequence[PathLike]] = (), client: Optional[str] = None) -> Report:
    """Explains where the time of the copies in a capture went.

    ``path`` is a pcap or pcapng file, optionally gzipped. ``join`` names further captures of the same copies: that of the other end, or the
    other pieces of one capture (``coax explain --join``). ``client`` is the client's profile (:func:`coax.profiles`) instead of the
    recognised one.

    Raises :class:`coax.CaptureError` if a file cannot be read, :class:`coax.UnknownNameError` if there is no such profile.
    """
    files = [_arguments.path(path, "path"), *_arguments.paths(join, "join")]
    if client is not None:
        _arguments.text(client, "client")
    return Report(_coax.explain(files, client))


class Captures:
    """The results of :func:`explain_many`, as they come. It can be read once.

    An iterator of ``pyarrow.RecordBatch``, and an Arrow stream: ``pyarrow.table(captures)``, ``polars.DataFrame(captures)`` and
    ``duckdb.from_arrow(...)`` read it without copying. Ctrl-C ends the work: iteration and :meth:`read_all` raise ``KeyboardInterrupt``,
    and another library that reads the stream an error of its own.
    """

    def __init__(self, native: "_coax.Batches") -> None:
        self._native = native

    def __iter__(self) -> Iterator["pa.RecordBatch"]:
        library = pyarrow()
        for batch in self._native:
            yield library.record_batch(batch)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    @property
    def schema(self) -> "pa.Schema":
        """The columns; their metadata has unit and description."""
        return pyarrow().schema(self._native)

    def read_all(self) -> "pa.Table":
        """All that is left, as one table."""
        library = pyarrow()
        return library.Table.from_batches(list(self), self.schema)


def explain_many(
    paths: Union[PathLike, Iterable[PathLike]],
    *,
    jobs: Optional[int] = None,
    table: str = "copies",
    shard: Optional[Tuple[int, int]] = None,
    batch_rows: int = 1,
) -> Captures:
    """Explains captures, and those in folders, on ``jobs`` threads (default: number of CPUs).

    ``table`` is "copies", "causes", "advice" or "connections" (docs/batch.md), or "reports": one row for each capture with its JSON object.
    Each table has the column ``error`` beside: what cannot be read is one row with its name and the reason, and the other columns are
    missing. Rows are in the order of the names. A batch has the rows of one capture, or of several until there are ``batch_rows``. At most
    a few captures are kept in memory. ``shard=(I, N)`` explains only the I-th of N parts, those of ``coax explain --shard I/N``.
    """
    if jobs is not None:
        _arguments.whole(jobs, "jobs", 1)
    files = _arguments.paths(paths, "paths")
    rows = _arguments.whole(batch_rows, "batch_rows", 1)
    part = _arguments.shard(shard)
    return Captures(_coax.explain_many(files, jobs, _arguments.text(table, "table"), part, rows))
