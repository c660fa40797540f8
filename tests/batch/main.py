"""DuckDB reads the tables of coax explain --parquet: the queries of docs/batch.md, and figures beside those of the JSON lines. On a disk that
becomes full, no table is left under its name.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from doctor.faults import mounted
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


def run(*words):
    return subprocess.run([subject.coax_binary(), *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=300)


def kept(disk):
    """What is on the disk, without the marks of earlier tables."""
    return {str(path.relative_to(disk)): path.read_bytes() for path in sorted(disk.rglob("*")) if path.is_file()}


def full_disks(folder):
    """Disks from one page up: each run fails whole, or succeeds whole; tables of an earlier run stay as they are."""
    # few captures and points: their tables take several disks already, and each disk is a run
    explain = ("explain", CAPTURES / "labelled" / "nagle_lan-client.pcapng.gz", CAPTURES / "tcp", "--parquet")
    sweep = ("lab", "sweep", "dos-dls-5.0-full", "--set", "size=20kB", "--grid", "link.delay=0..20 ms:100", "--json", "--parquet")
    for words, target, expected in ((explain, "", 4), (sweep, "runs.parquet", 1)):
        failures, size = 0, 4
        while True:
            with mounted(folder / "disk", f"{size}k") as disk:
                old = disk / (target or "copies.parquet")
                if size >= 8:
                    old.write_bytes(b"an earlier table")
                before = kept(disk)
                done = run(*words, disk / target if target else disk)
                after = kept(disk)
            if done.returncode == 0:
                tables = [name for name in after if name.endswith(".parquet")]
                assert len(tables) == expected == len(after) and all(after[name].startswith(b"PAR1") and after[name].endswith(b"PAR1") for name in tables), after.keys()
                break
            assert done.returncode == 1 and "cannot be written: " in done.stderr and "No space left" in done.stderr, done
            assert after == before, f"{size} KiB: {after.keys()}"
            failures, size = failures + 1, size + 4
        assert failures >= 3, f"{words}: only {failures} disks became full"
        print(f"coax {words[0]}: {failures} disks of 4 to {size - 4} KiB became full and kept what they had; {size} KiB suffice")


def main():
    import duckdb
    if os.geteuid() == 0:
        with tempfile.TemporaryDirectory() as folder:
            full_disks(Path(folder))
    else:
        print("SKIPPED: only root can mount small disks")
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
