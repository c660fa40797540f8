"""Captures: the results are those of the program."""
import gzip
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import coax

ROOT = Path(os.environ["COAX_ROOT"])
ALL = sorted(path.relative_to(ROOT) for path in (ROOT / "tests" / "captures").rglob("*") if path.name.endswith((".pcap", ".pcapng", ".gz")))
ONE = "tests/captures/labelled/base-client.pcapng.gz"
SMALL = sorted(Path("tests/captures") / path.name for path in (ROOT / "tests" / "captures").glob("*.pcap"))
TABLES = ["copies", "causes", "advice", "connections"]


def rows(table):
    return table.drop_columns(["error"]).to_pylist() if "error" in table.column_names else table.to_pylist()


def test_the_json_of_every_capture_is_the_program_s_byte_for_byte(program):
    assert len(ALL) > 30
    compared = 0
    for path in ALL:
        try:
            report = coax.explain(path)
        except coax.CaptureError as error:
            assert program("explain", path, "--json", status=1).strip() == '{\n  "captures": []\n}', error
            continue
        assert report.json == program("explain", path, "--json"), path
        compared += 1
    assert compared > 30


def test_text_and_page_are_the_program_s(program, tmp_path):
    report = coax.explain(ONE)
    assert report.text == program("explain", ONE)
    program("explain", ONE, "--html", tmp_path / "page.html")
    assert report.html == (tmp_path / "page.html").read_text()
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.count("<iframe") == 1 and "&lt;script&gt;" in shown


def test_captures_of_both_ends_are_joined(program):
    both = ["tests/captures/labelled/base-client.pcapng.gz", "tests/captures/labelled/base-server.pcapng.gz"]
    report = coax.explain(both[0], join=both[1])
    assert report.json == program("explain", "--join", *both, "--json")
    assert report.data["joined"] is not None


def test_a_client_may_be_named(program):
    assert coax.explain(ONE, client="wfw-3.11").json == program("explain", ONE, "--client", "wfw-3.11", "--json")


def test_attributes_are_the_fields_of_the_report():
    report = coax.explain(ONE)
    data = json.loads(report.json)["captures"][0]
    assert (report.file, report.verdict, report.grade, report.seconds) == (data["file"], data["verdict"], data["grade"], data["seconds"])
    [copy, *_] = report.copies
    assert copy.wall_s == data["copies"][0]["wall_s"] and copy["bytes"] == copy.bytes == data["copies"][0]["bytes"]
    assert copy.rate == pytest.approx(copy.bytes / copy.wall_s)
    assert sum(cause.seconds for cause in copy.causes) == pytest.approx(copy.wall_s)
    assert pickle.loads(pickle.dumps(copy)) == copy
    with pytest.raises(AttributeError, match="there is no field 'walls'; there are .*wall_s"):
        copy.walls
    assert repr(report).startswith("<coax.Report of 'tests/captures")


def test_tables_of_one_capture_have_units_and_are_those_of_the_program(program, tmp_path):
    slow = "tests/captures/labelled/andx4k-client.pcapng.gz"
    program("explain", slow, "--parquet", tmp_path)
    report = coax.explain(slow)
    for name in TABLES:
        table = report.to_arrow(name)
        expected = pyarrow.parquet.read_table(tmp_path / f"{name}.parquet")
        assert table.num_rows > 0 and table.to_pylist() == expected.to_pylist()
        about = json.loads(expected.schema.metadata[b"coax.columns"])
        for field in table.schema:
            assert field.metadata[b"description"].decode() == about[field.name]["description"]
            assert field.metadata.get(b"unit", b"").decode() == about[field.name]["unit"]
    assert pyarrow.table(report).to_pylist() == report.to_arrow().to_pylist()


def test_tables_of_many_captures_are_those_of_the_program_for_any_number_of_jobs(program, tmp_path):
    slow = "tests/captures/labelled/andx4k-client.pcapng.gz"
    program("explain", ONE, "tests/captures/tcp", slow, "--parquet", tmp_path)
    paths = [ONE, Path("tests/captures/tcp"), slow]
    for name, jobs, batch_rows in zip(TABLES, [1, 2, 7, 3], [1, 5, 1000, 2]):
        found = coax.explain_many(paths, table=name, jobs=jobs, batch_rows=batch_rows).read_all()
        expected = pyarrow.parquet.read_table(tmp_path / f"{name}.parquet")
        assert rows(found) == expected.to_pylist() and found.column("error").null_count == found.num_rows


def test_shards_together_are_everything():
    folder = SMALL
    whole = coax.explain_many(folder, table="reports").read_all().to_pylist()
    parts = [coax.explain_many(folder, table="reports", shard=(index, 3)).read_all().to_pylist() for index in (1, 2, 3)]
    assert sorted(sum(parts, []), key=lambda row: row["capture"]) == sorted(whole, key=lambda row: row["capture"])
    assert max(map(len, parts)) < len(whole)


def test_reports_are_those_of_explain():
    for row in coax.explain_many(SMALL, table="reports").read_all().to_pylist():
        assert json.loads(row["report"]) == coax.explain(row["capture"]).data


def test_batches_come_one_by_one_and_share_memory():
    native = coax.explain_many([ONE, "tests/captures/labelled/andx4k-client.pcapng.gz"])._native
    batches = list(native)
    assert len(batches) == 2
    one, other = pyarrow.record_batch(batches[0]), pyarrow.record_batch(batches[0])
    for first, second in zip(one.columns, other.columns):
        addresses = [[buffer.address for buffer in column.buffers() if buffer and buffer.size] for column in (first, second)]
        assert addresses[0] == addresses[1]


def test_a_stream_is_read_once():
    captures = coax.explain_many(ONE)
    assert pyarrow.table(captures).num_rows == 1
    with pytest.raises(coax.CoaxError, match="read already"):
        pyarrow.table(captures)


def mixed(folder):
    """Good captures among what people have in such folders."""
    good = Path(ONE)
    (folder / "sub").mkdir()
    shutil.copy(good, folder / "good.pcapng.gz")
    shutil.copy(good, folder / "sub" / "good.pcapng.gz")
    data = gzip.decompress(good.read_bytes())
    (folder / "cut.pcapng").write_bytes(data[: len(data) // 2])
    (folder / "empty.pcap").write_bytes(b"")
    (folder / "short.pcap").write_bytes(data[:20])
    (folder / "text.pcap").write_text("no capture\n")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    (folder / "notes.txt").write_text("x")
    (folder / "no-ending").write_bytes(data)
    return ["empty.pcap", "text.pcap"], ["good.pcapng.gz", "sub/good.pcapng.gz", "cut.pcapng", "short.pcap", "no-ending"]


def test_bad_files_fail_alone_with_their_reasons(tmp_path):
    bad, good = mixed(tmp_path)
    found = coax.explain_many([tmp_path, tmp_path / "missing.pcap"], table="reports").read_all().to_pylist()
    errors = {row["capture"]: row["error"] for row in found if row["error"]}
    assert sorted(errors) == sorted(str(tmp_path / name) for name in [*bad, "missing.pcap"])
    assert "No such file" in errors[str(tmp_path / "missing.pcap")]
    reports = {row["capture"]: json.loads(row["report"]) for row in found if row["report"]}
    assert sorted(reports) == sorted(str(tmp_path / name) for name in good)
    assert reports[str(tmp_path / "cut.pcapng")]["copies"] != [] and reports[str(tmp_path / "short.pcap")]["copies"] == []
    copies = coax.explain_many(tmp_path, table="copies").read_all()
    assert copies.filter(pyarrow.compute.is_valid(copies["error"])).num_rows == len(bad)
    for name in bad:
        with pytest.raises(coax.CaptureError) as caught:
            coax.explain(tmp_path / name)
        assert caught.value.path == str(tmp_path / name) and caught.value.reason == errors[str(tmp_path / name)]
        assert str(caught.value) == f"{tmp_path / name}: {caught.value.reason}"


def test_the_same_file_twice_is_one_capture_and_equal_names_are_told(tmp_path, monkeypatch):
    shutil.copy(ONE, tmp_path / "one.pcapng.gz")
    path = tmp_path / "one.pcapng.gz"
    found = coax.explain_many([path, tmp_path, str(path)], table="reports").read_all()
    assert found.num_rows == 1
    monkeypatch.chdir(tmp_path)
    below = tmp_path / str(path).lstrip("/")
    below.parent.mkdir(parents=True)
    shutil.copy(path, below)
    found = coax.explain_many([path, below.relative_to(tmp_path)], table="reports").read_all().to_pylist()
    assert [bool(row["error"]) for row in found] == [True, False] and "same name" in found[0]["error"]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can own a folder that it may not read")
def test_an_unreadable_folder_is_told(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o700)
    os.chown(tmp_path / "closed", 65534, 65534)
    shutil.copy(ONE, tmp_path / "one.pcapng.gz")
    script = "import sys, coax, json; print(json.dumps(coax.explain_many(sys.argv[1], table='reports').read_all().to_pylist()))"
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    done = subprocess.run([*without, sys.executable, "-c", script, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [closed, one] = json.loads(done.stdout)
    assert closed["capture"] == str(tmp_path / "closed") and "Permission denied" in closed["error"] and one["report"]


@pytest.mark.parametrize("call, message", [
    (lambda: coax.explain(3), "path must be a path (str or os.PathLike), not int"),
    (lambda: coax.explain(b"x"), "path must be a path as str or os.PathLike, not bytes"),
    (lambda: coax.explain(ONE, join=[None]), "each of join must be a path"),
    (lambda: coax.explain(ONE, client=3), "client must be a str, not int"),
    (lambda: coax.explain_many(None), "paths must be a path or an iterable of paths, not NoneType"),
    (lambda: coax.explain_many([ONE, 3]), "each of paths must be a path"),
    (lambda: coax.explain_many(ONE, jobs="2"), "jobs must be an int, not str"),
    (lambda: coax.explain_many(ONE, jobs=True), "jobs must be an int, not bool"),
    (lambda: coax.explain_many(ONE, shard="1/2"), "shard must be a tuple (I, N), such as (2, 8), not '1/2'"),
    (lambda: coax.explain_many(ONE, table=None), "table must be a str, not NoneType"),
    (lambda: coax.explain(ONE).to_arrow(3), "table must be a str, not int"),
])
def test_wrong_types_are_named(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("call, error, message", [
    (lambda: coax.explain_many(ONE, jobs=0), ValueError, "jobs must be at least 1"),
    (lambda: coax.explain_many(ONE, shard=(3, 2)), ValueError, "with I from 1 to N"),
    (lambda: coax.explain_many(ONE, shard=(0, 2)), ValueError, "shard"),
    (lambda: coax.explain_many(ONE, table="copy"), coax.UnknownNameError, "there is no table 'copy'; there are copies, causes, advice, connections"),
    (lambda: coax.explain(ONE, client="dos"), coax.UnknownNameError, "there is no client 'dos'"),
])
def test_wrong_values_are_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
