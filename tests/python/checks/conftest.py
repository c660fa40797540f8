"""The program that results are compared with, and captures."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(os.environ["COAX_ROOT"])


@pytest.fixture(scope="session")
def program():
    """Runs the program coax; returns what it printed."""
    def run(*words, status=0):
        command = [os.environ["COAX"], *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120)
        assert done.returncode == status, (command, done.returncode, done.stderr)
        return done.stdout.decode()
    return run


@pytest.fixture(scope="session")
def captures():
    return ROOT / "tests" / "captures"


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    """Names of files are those that the program prints."""
    monkeypatch.chdir(ROOT)
