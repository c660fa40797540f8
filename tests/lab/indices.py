"""The samples and sensitivity indices of `coax lab sweep` beside SciPy's Sobol' sequence and SALib's estimators, on the same runs."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

RANGES = {"link.delay": (0, 20, "ms"), "link.rate": (1, 10, "Mbit/s"), "client.stack.mss": (536, 1460, "")}
BASE = 128
NEAR = 1e-9


def sweep(folder, sample):
    """The object of a sweep, and the table that DuckDB reads from its Parquet file."""
    import duckdb
    ranges = [word for key, (low, high, unit) in RANGES.items() for word in ("--range", f"{key}={low}..{high} {unit}".strip())]
    table = Path(folder) / f"{sample.partition(':')[0]}.parquet"
    words = ["lab", "sweep", "dos-dls-5.0-full", "--set", "size=100kB", "--sample", sample, *ranges, "--json", "--parquet", table]
    done = subprocess.run([subject.coax_binary(), *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    columns = ["link.delay_s", "link.rate_bit_per_s", "client.stack.mss_bytes", "seconds"]
    listed = ", ".join(f'"{column}"' for column in columns)
    rows = duckdb.execute(f"SELECT {listed} FROM '{table}' ORDER BY point").fetchall()
    return json.loads(done.stdout), rows


def compare_points(rows):
    """The points are those of SciPy's sequence, at most a rounded value away."""
    from scipy.stats import qmc
    scales = [20e-3, 9e6]
    for row, point in zip(rows, qmc.Sobol(len(RANGES), scramble=False).random(len(rows)), strict=True):
        expected = [scales[0] * point[0], 1e6 + scales[1] * point[1]]
        wrong = [(found, one) for found, one in zip(row, expected) if abs(found - one) > 1e-8 * max(one, 1)]
        assert not wrong, wrong
        assert abs(row[2] - (535.5 + 925 * point[2])) <= 0.5 + NEAR, (row, point)


def compare_indices(told, rows):
    import numpy
    from SALib.analyze import sobol
    problem = {"num_vars": len(RANGES), "names": list(RANGES), "bounds": [[0, 1]] * len(RANGES)}
    seconds = numpy.array([row[3] for row in rows])
    found = sobol.analyze(problem, seconds, calc_second_order=False, num_resamples=1000, seed=1)
    for at, key in enumerate(told["sensitivity"]):
        first, total = key["first_order"], key["total"]
        print(f"{key['key']:32} first {first:.6f} {found['S1'][at]:.6f}   total {total:.6f} {found['ST'][at]:.6f}")
        assert abs(first - found["S1"][at]) < NEAR and abs(total - found["ST"][at]) < NEAR, (key, found)
        for ours, theirs in ((key["first_order_half_width_95"], found["S1_conf"][at]), (key["total_half_width_95"], found["ST_conf"][at])):
            # both are bootstraps with random numbers of their own
            assert abs(ours - theirs) < 0.25 * max(ours, theirs) + 1e-3, (key, found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        _, rows = sweep(folder, "sobol:64")
        compare_points(rows)
        told, rows = sweep(folder, f"saltelli:{BASE}")
        compare_indices(told, rows)
    print(f"64 points are SciPy's, and indices of {len(rows)} runs are SALib's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
