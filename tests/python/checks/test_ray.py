"""coax.ray on two local workers: the rows of one process, whatever happens to the workers."""
import os
import resource
import shutil
import signal
import subprocess
import threading
import time

import pytest
import ray

import coax
import coax.ray
from coax import lab
from test_batches import SPACE, poisoned


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=150 << 20)
    yield
    ray.shutdown()


def rows(dataset):
    found = dataset.take_all()
    return sorted(found, key=lambda row: (row["capture"], row.get("copy") if row.get("copy") is not None else -1, row["error"] or ""))


def expected(paths):
    found = coax.explain_many(paths).read_all().to_pylist()
    return sorted(found, key=lambda row: (row["capture"], row["copy"] if row["copy"] is not None else -1, row["error"] or ""))


@pytest.mark.parametrize("seconds", [1e-6, 0.2, 3600])
def test_captures_give_the_rows_of_one_process_and_poisoned_ones_fail_alone(tmp_path, seconds):
    paths = poisoned(tmp_path)
    found = rows(coax.ray.explain(paths, batch_seconds=seconds))
    assert found == expected(paths)
    assert sum(row["error"] is not None for row in found) == 2


@pytest.mark.parametrize("seconds", [0.001, 0.2, 60])
def test_sweeps_give_the_rows_of_one_process(seconds):
    dataset = coax.ray.sweep("dos-dls-5.0-full", **SPACE, batch_seconds=seconds)
    found = sorted(dataset.take_all(), key=lambda row: row["point"])
    assert found == lab.sweep("dos-dls-5.0-full", **SPACE).to_pylist()


def workers():
    """Process ids of Ray's workers that work for us."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines()
    return [int(line.split()[0]) for line in found if "ray::" in line and "Map" in line]


def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    for number in range(12):
        shutil.copytree("tests/captures/labelled", tmp_path / str(number))
    killed = []
    done = threading.Event()

    def kill():
        while not done.is_set() and len(killed) < 2:
            for pid in workers()[:1]:
                time.sleep(0.3)
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.2)
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = rows(coax.ray.explain(tmp_path, batch_seconds=0.5))
    finally:
        done.set()
        killer.join()
    assert killed, "no worker was killed: the test tests nothing"
    assert found == expected([str(tmp_path)])


def test_memory_of_the_driver_is_bounded(tmp_path):
    for number in range(40):
        shutil.copytree("tests/captures/labelled", tmp_path / str(number))
    count, seen = 0, []
    for batch in coax.ray.explain(tmp_path, table="reports", batch_seconds=0.5).iter_batches(batch_size=16):
        count += len(batch["capture"])
        seen.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert count == 40 * 14, count
    assert seen[-1] - seen[len(seen) // 4] < 100 * 1024, seen
