"""Threads, signals and memory."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import coax

FOLDER = "tests/captures/labelled"


def ticks_during(work):
    """How often another thread of Python ran during the work, which is nearly all native."""
    count, working, done = [0], threading.Event(), threading.Event()

    def tick():
        while not done.is_set():
            count[0] += working.is_set()
            time.sleep(0.001)
    thread = threading.Thread(target=tick)
    thread.start()
    working.set()
    work()
    working.clear()
    done.set()
    thread.join()
    return count[0]


@pytest.mark.parametrize("work", [
    lambda: coax.lab.run("dos-dls-5.0-full", size="2GB"),
    lambda: coax.explain_many(FOLDER, jobs=1).read_all(),
    lambda: coax.lab.sweep("dos-dls-5.0-full", set={"size": "1MB"}, grid={"seed": range(100)}, threads=1),
])
def test_other_threads_run_meanwhile(work):
    # a call that holds the lock lets the thread run once before and once after it at most
    assert ticks_during(work) > 4


SLOW = {
    "run": "coax.lab.run('lan-2000-to-2000', size='400GB')",
    "sweep": "coax.lab.sweep('dos-dls-5.0-full', set={'size': '50MB'}, grid={'seed': range(5000)})",
    "iterator": "list(coax.explain_many(sys.argv[1]))",
    "stream": "__import__('pyarrow').table(coax.explain_many(sys.argv[1]))",
    "capture": "coax.explain(sys.argv[1])",
}


@pytest.mark.parametrize("name", SLOW)
def test_ctrl_c_ends_long_work(name, tmp_path):
    pipe = tmp_path / "slow.pcap"
    os.mkfifo(pipe)
    script = f"""
        import sys, coax
        print("ready", flush=True)
        try:
            {SLOW[name]}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        except Exception as error:
            # a library that reads the stream has errors of its own
            print("interrupted" if "interrupted by a signal" in str(error) else error, flush=True)
    """
    # a shell starts its background jobs with SIGINT ignored, and Python then installs no handler
    interruptible = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script), pipe], stdout=subprocess.PIPE, text=True, **interruptible)
    writer = os.open(pipe, os.O_RDWR)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(timeout=20) == 0
        assert time.monotonic() - began < 10
    finally:
        process.kill()
        process.stdout.close()
        os.close(writer)


def thread_name(task):
    try:
        return Path(f"/proc/self/task/{task}/comm").read_text().strip()
    except OSError:  # it ended after it was listed
        return None


def test_a_reader_that_stops_ends_the_work():
    before = threading.active_count()
    captures = iter(coax.explain_many(FOLDER, jobs=2))
    next(captures)
    del captures

    def native():
        return [thread_name(task) for task in os.listdir("/proc/self/task")].count("coax")
    for _ in range(300):
        if not native():
            break
        time.sleep(0.1)
    assert threading.active_count() == before and not native()


def test_memory_does_not_grow_with_the_number_of_captures(tmp_path):
    for number in range(150):
        shutil.copy("tests/captures/zeek-cifs_negotiate_lanman.pcap", tmp_path / f"{number}.pcap")
        shutil.copy("tests/captures/arkime-smbclient.pcap", tmp_path / f"x{number}.pcap")
    seen = []
    for number, _ in enumerate(coax.explain_many(tmp_path, table="reports", jobs=2)):
        if number in (100, 299):
            seen.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert len(seen) == 2 and seen[1] - seen[0] < 8 * 1024, seen
