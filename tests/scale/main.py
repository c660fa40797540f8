"""The examples of examples/scale: parts by xargs and by Slurm's array script give the tables of one process."""
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "scale"
CAPTURES = ROOT / "tests" / "captures" / "labelled"
TABLES = ("copies", "causes", "advice", "connections")
SWEEP = ["dos-dls-5.0-full", "--set", "size=50kB", "--sample", "saltelli:8", "--range", "link.delay=0..20 ms", "--range", "link.rate=1..100 Mbit/s:log"]


def run(*words, **variables):
    environment = {**os.environ, "COAX": subject.coax_binary(), **{key: str(value) for key, value in variables.items()}}
    done = subprocess.run(list(map(str, words)), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def rows(pattern, order="capture, copy"):
    import duckdb
    return sorted(map(repr, duckdb.execute(f"SELECT * FROM '{pattern}'").fetchall()))


def same(folder, whole):
    for name in TABLES:
        found, expected = rows(folder / f"{name}-*.parquet"), rows(whole / f"{name}.parquet")
        assert found == expected and expected, (folder, name)


def captures(base):
    run(subject.coax_binary(), "explain", CAPTURES, "--parquet", base / "whole")
    run(EXAMPLES / "xargs.sh", CAPTURES, base / "xargs", 5, 2)
    same(base / "xargs", base / "whole")
    # a part that is missing is made again, and only that one
    times = {path: path.stat().st_mtime_ns for path in (base / "xargs").glob("*.parquet")}
    for name in TABLES:
        (base / "xargs" / f"{name}-2-of-5.parquet").unlink()
    run(EXAMPLES / "xargs.sh", CAPTURES, base / "xargs", 5, 2)
    same(base / "xargs", base / "whole")
    changed = [path.name for path, at in times.items() if path.stat().st_mtime_ns != at]
    assert sorted(changed) == sorted(f"{name}-2-of-5.parquet" for name in TABLES), changed
    for task in (2, 1, 3, 2):
        run(EXAMPLES / "slurm.sh", CAPTURES, base / "slurm", SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT=3, SLURM_CPUS_PER_TASK=1)
    same(base / "slurm", base / "whole")
    print("captures: 5 parts by xargs and 3 of Slurm's array script are the tables of one process")


def poisoned(base):
    """A capture that cannot be read fails alone."""
    folder = base / "mixed"
    folder.mkdir()
    (folder / "good.pcapng.gz").write_bytes((CAPTURES / "base-client.pcapng.gz").read_bytes())
    (folder / "bad.pcap").write_bytes(b"no capture")
    run(EXAMPLES / "xargs.sh", folder, base / "bad", 2, 2)
    logs = "".join(path.read_text() for path in (base / "bad").glob("*.log"))
    assert "bad.pcap" in logs and len(rows(base / "bad" / "copies-*.parquet")) == 1, logs
    print("a capture that cannot be read is in its part's log, and the tables are complete")


def sweeps(base):
    whole = json.loads(run(subject.coax_binary(), "lab", "sweep", *SWEEP, "--csv", base / "whole.csv", "--json"))
    run(EXAMPLES / "sweep-xargs.sh", base / "sweep", 3, *SWEEP, PROCESSES=2)
    assert (base / "sweep" / "all.csv").read_text() == (base / "whole.csv").read_text()
    assert len(list(csv.DictReader((base / "whole.csv").open()))) == len(whole["runs"])
    parts = [word for part in (3, 1, 2) for word in ("--merge", base / "sweep" / f"part-{part}.csv")]
    merged = json.loads(run(subject.coax_binary(), "lab", "sweep", *SWEEP, *parts, "--json"))
    assert merged["sensitivity"] == whole["sensitivity"] and whole["sensitivity"], merged
    print("sweep: 3 parts by xargs are the table and the sensitivity indices of one process")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (captures, poisoned, sweeps):
            check(Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
