"""examples/scale/on_spark.py on two local workers."""
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet

import coax
from test_batches import poisoned

ROOT = Path(os.environ["COAX_ROOT"])


def test_spark_gives_the_rows_of_one_process(tmp_path):
    (tmp_path / "captures").mkdir()
    poisoned(tmp_path / "captures")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": "--master local[2] pyspark-shell"}
    command = [sys.executable, ROOT / "examples" / "scale" / "on_spark.py", tmp_path / "captures", tmp_path / "copies.parquet"]
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    key = lambda row: (row["capture"], -1 if row["copy"] is None else row["copy"])
    found = pyarrow.parquet.read_table(tmp_path / "copies.parquet").to_pylist()
    expected = coax.explain_many(tmp_path / "captures").read_all().to_pylist()
    assert sorted(found, key=key) == sorted(expected, key=key) and sum(row["error"] is not None for row in found) == 1
