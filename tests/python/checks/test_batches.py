"""The batches of coax.ray give the rows of one process, whatever their size. Without Ray."""
import gzip
import shutil
from pathlib import Path

import pyarrow
import pytest

import coax
from coax import _batching, lab

ONE = "tests/captures/labelled/base-client.pcapng.gz"
SPACE = {"set": {"size": "50kB"}, "sample": "saltelli:8", "ranges": {"link.delay": "0..20 ms", "link.rate": "1..100 Mbit/s:log"}}


def poisoned(folder):
    """Captures with some that cannot be read, and one that is cut off."""
    for path in [*Path("tests/captures").glob("*.pcap"), Path(ONE), Path("tests/captures/labelled/andx4k-client.pcapng.gz")]:
        shutil.copy(path, folder)
    (folder / "bad.pcap").write_bytes(b"no capture")
    (folder / "cut.pcapng").write_bytes(gzip.decompress(Path(ONE).read_bytes())[:100_000])
    return [str(folder), str(folder / "missing.pcap")]


@pytest.mark.parametrize("seconds", [1e-6, 0.12, 1, 3600])
@pytest.mark.parametrize("table", ["copies", "causes"])
def test_captures_in_batches_give_the_rows_of_one_process(tmp_path, seconds, table):
    paths = poisoned(tmp_path)
    expected = coax.explain_many(paths, table=table).read_all()
    batches = _batching.capture_batches(paths, seconds)
    found = pyarrow.concat_tables(part for batch in batches for part in _batching.explain_batch(batch, table))
    assert found.to_pylist() == expected.to_pylist() and found.schema == expected.schema
    assert sum(error is not None for error in found.column("error").to_pylist()) == 2
    captures = [path for batch in batches for path in batch["paths"]]
    assert len(captures) == len(set(captures)) == len(_batching._coax.find(paths)[0])


def test_batches_have_seconds_of_work_and_a_large_capture_is_alone(tmp_path):
    sizes = [100, 2_000_000, 100, 300_000, 300_000, 300_000, 300_000]
    for number, size in enumerate(sizes):
        (tmp_path / f"{number}.pcap").write_bytes(b"\0" * size)
    batches = _batching.capture_batches([str(tmp_path)], seconds=1, bytes_per_second=1e6)
    found = [[sizes[int(Path(path).stem)] for path in batch["paths"]] for batch in batches]
    assert found == [[100], [2_000_000], [100, 300_000, 300_000], [300_000, 300_000]]


@pytest.mark.parametrize("seconds_per_group, parts", [(1.0, 8), (0.3, 3), (1e-9, 1)])
def test_points_in_parts_give_the_rows_of_one_process(seconds_per_group, parts):
    space = _batching.Space("dos-dls-5.0-full", SPACE)
    assert (space.groups, space.about["all_points"]) == (8, 32)
    count = space.parts(1.0, seconds_per_group)
    assert count == parts
    rows = [_batching.sweep_batch({"part": part, "parts": count}, "dos-dls-5.0-full", SPACE) for part in range(1, count + 1)]
    expected = lab.sweep("dos-dls-5.0-full", **SPACE)
    assert sum((table.to_pylist() for table in rows), []) == expected.to_pylist()


def test_millions_of_points_are_planned_without_simulating_them():
    space = _batching.Space("dos-dls-5.0-full", {**SPACE, "sample": "sobol:16777216"})
    count = space.parts(10.0, 0.005)
    assert count == 8389
    # a part may have no more runs than the lab allows, however fast they are
    assert space.parts(1e9, 1e-9) == 1678
    part = _batching.sweep_batch({"part": 7, "parts": 16_777_216}, "dos-dls-5.0-full", {**SPACE, "sample": "sobol:16777216"})
    assert part.column("point").to_pylist() == [6]


def test_a_wrong_space_is_refused_before_any_task():
    with pytest.raises(coax.ScenarioError, match="dice"):
        _batching.Space("dos-dls-5.0-full", {"sample": "dice:7"})


def test_without_ray_the_text_says_what_to_install():
    import coax.ray
    with pytest.raises(ImportError, match=r"pip install coax\[ray\]"):
        coax.ray.explain(ONE)
    with pytest.raises(coax.UnknownNameError, match="table"):
        coax.ray.explain(ONE, table="x")
    with pytest.raises(TypeError, match="batch_seconds must be a number, not str"):
        coax.ray.explain(ONE, batch_seconds="1")
    with pytest.raises(ValueError, match="batch_seconds must be positive"):
        coax.ray.sweep("dos-386sx", batch_seconds=0)
