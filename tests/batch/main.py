"""DuckDB reads the tables of coax explain --parquet: the queries of docs/batch.md, and figures beside those of the JSON lines."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "tests" / "captures"


def queries():
    return re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "batch.md").read_text(), re.S)


def made(folder):
    """The tables, and the captures' JSON."""
    words = ["explain", CAPTURES / "labelled", CAPTURES / "tcp", "--ndjson", folder / "lines", "--parquet", folder]
    done = subprocess.run([subject.coax_binary(), *words], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "lines").read_text().splitlines()]


def main():
    import duckdb
    with tempfile.TemporaryDirectory() as folder:
        captures = made(Path(folder))
        copies = [copy for capture in captures for copy in capture["copies"]]
        os.chdir(folder)
        database = duckdb.connect()
        for query in queries():
            rows = database.execute(query).fetchall()
            assert rows, query
            print(f"{len(rows):4} rows: {query.splitlines()[0]}")
        count, seconds, size = database.execute("SELECT count(*), sum(seconds), sum(bytes) FROM 'copies.parquet'").fetchone()
        assert count == len(copies) and size == sum(copy["bytes"] for copy in copies), (count, size)
        assert abs(seconds - sum(copy["wall_s"] for copy in copies)) < 1e-6, seconds
        total = database.execute("SELECT sum(seconds) FROM 'causes.parquet'").fetchone()[0]
        assert abs(total - seconds) < 1e-6, (total, seconds)
        about = database.execute("SELECT decode(value) FROM parquet_kv_metadata('copies.parquet') WHERE decode(key) = 'coax.columns'").fetchone()
        assert json.loads(about[0])["seconds"]["unit"] == "s", about
        os.chdir(ROOT)
    print(f"{len(captures)} captures, {count} copies: DuckDB's sums are those of the JSON lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
