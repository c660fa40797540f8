"""Captures and sweeps on a Ray cluster, as Ray Data datasets (docs/scale.md).

Work is divided into batches of seconds, so that the cost of a task does not count; a task has one batch and one CPU. Ray runs a task again
on another machine if its worker dies, and results do not depend on it: each batch gives the same rows everywhere.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from . import _arguments, _batching
from ._arguments import PathLike

if TYPE_CHECKING:
    import pyarrow as pa
    import ray.data

__all__ = ["explain", "sweep"]


def explain(
    paths: Union[PathLike, Iterable[PathLike]],
    *,
    table: str = "copies",
    batch_seconds: float = 10.0,
    bytes_per_second: float = _batching.BYTES_PER_SECOND,
    ray_remote_args: Optional[Mapping[str, Any]] = None,
) -> "ray.data.Dataset":
    """The rows of :func:`coax.explain_many` for the same captures, explained on a Ray cluster.

    All machines must see the captures under the same names. A batch has captures whose work takes about ``batch_seconds`` (seconds) at
    ``bytes_per_second``; rows do not depend on it. A capture that cannot be read is a row with ``error``. Rows come in any order unless
    ``DataContext.execution_options.preserve_order`` is set; ``capture`` and ``copy`` identify them.
    """
    files = _arguments.paths(paths, "paths")
    seconds = _batching.positive(batch_seconds, "batch_seconds")
    rate = _batching.positive(bytes_per_second, "bytes_per_second")
    # an unknown table is an error here, not in a task
    from .captures import explain_many
    explain_many([], table=table)
    batches = _batching.capture_batches(files, seconds, rate)
    return _dataset(batches or [{"paths": [], "failures": []}], _explained, {"table": table}, ray_remote_args)


def sweep(
    scenario: PathLike,
    *,
    grid: Optional[Mapping[str, Any]] = None,
    ranges: Optional[Mapping[str, str]] = None,
    sample: Optional[str] = None,
    set: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    replicates: int = 1,
    batch_seconds: float = 10.0,
    seconds_per_point: Optional[float] = None,
    ray_remote_args: Optional[Mapping[str, Any]] = None,
) -> "ray.data.Dataset":
    """The rows of :func:`coax.lab.sweep` for up to 100,000,000 runs, simulated on a Ray cluster.

    A scenario's file must be there under the same name on all machines. A batch has points whose simulation takes about ``batch_seconds``
    (seconds); the cost of a point is measured here at a few places of the space, unless ``seconds_per_point`` is given. Rows do not depend
    on it. ``point`` identifies and orders them.
    """
    given: Dict[str, Any] = {"grid": grid, "ranges": ranges, "sample": sample, "set": set, "seed": seed, "replicates": replicates}
    name = _arguments.path(scenario, "scenario")
    seconds = _batching.positive(batch_seconds, "batch_seconds")
    each = None if seconds_per_point is None else _batching.positive(seconds_per_point, "seconds_per_point")
    space = _batching.Space(name, given)
    count = space.parts(seconds, None if each is None else each * space.about["all_points"] / max(space.groups, 1))
    parts = [{"part": part, "parts": count} for part in range(1, count + 1)]
    return _dataset(parts, _simulated, {"scenario": name, "given": given}, ray_remote_args)


def _dataset(
    batches: List[Dict[str, Any]], work: Any, arguments: Dict[str, Any], ray_remote_args: Optional[Mapping[str, Any]]
) -> "ray.data.Dataset":
    try:
        import ray.data
    except ImportError as error:
        raise ImportError("this needs Ray Data: pip install coax[ray]") from error
    import json
    items = ray.data.from_items([{"batch": json.dumps(batch)} for batch in batches], override_num_blocks=len(batches))
    return items.map_batches(work, batch_size=1, fn_kwargs=arguments, **{"num_cpus": 1, **dict(ray_remote_args or {})})


def _batch(items: Mapping[str, Any]) -> Dict[str, Any]:
    import json
    [text] = items["batch"]
    batch: Dict[str, Any] = json.loads(str(text))
    return batch


def _explained(items: Mapping[str, Any], table: str) -> Iterator["pa.Table"]:
    yield from _batching.explain_batch(_batch(items), table)


def _simulated(items: Mapping[str, Any], scenario: str, given: Dict[str, Any]) -> Iterator["pa.Table"]:
    # the metadata of a part is not that of the whole
    yield _batching.sweep_batch(_batch(items), scenario, given).replace_schema_metadata(None)
