"""The files every client copies, and how a copy is judged: on the server's disk, not by what the client believes."""
import hashlib
import random
from pathlib import Path

# 8.3 names, so that every dialect can say them. Sizes at the edges of 16-bit counts, and one of many requests.
SIZES = {"E0.BIN": 0, "B1.BIN": 1, "B511.BIN": 511, "K65535.BIN": 65535, "K65536.BIN": 65536, "M3.BIN": 3_000_000}
LONG_NAME = "A rather long name, with spaces.and dots.text"
NON_ASCII_NAME = "Grüße äöß.txt"
NAMED_SIZE = SIZES["B511.BIN"]


def make(folder):
    """Writes the corpus into a folder: the same bytes on every run."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in SIZES.items():
        (folder / name).write_bytes(random.Random(name).randbytes(size))
    return folder


def plant(path, size):
    """Writes one file of that many bytes, the same on every run."""
    path.write_bytes(random.Random(path.name).randbytes(size))
    return path


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def find(folder, name):
    """A file by its name in whatever case the client gave it; None when it is not there."""
    folder = Path(folder)
    if not folder.is_dir():
        return None
    return next((entry for entry in folder.iterdir() if entry.name.casefold() == name.casefold()), None)


def differences(folder, original, names=tuple(SIZES)):
    """What is wrong with copies of `names`: empty when all are there and equal."""
    wrong = []
    for name in names:
        copy = find(folder, name)
        if copy is None:
            wrong.append(f"{name} is missing")
        elif digest(copy) != digest(Path(original) / name):
            wrong.append(f"{name} differs ({copy.stat().st_size} bytes)")
    return wrong
