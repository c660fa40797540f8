"""Disks that can lose their power: ext4 on a loop device.

What the file system has not handed to its device is in memory alone. A copy of the image file, taken while the device is
idle, therefore is what a disk would hold after a power cut at that moment.
"""
import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

# The journal is committed when somebody syncs, and not by a timer in the middle of a test.
OPTIONS = "commit=600"


def impossible():
    """Why there are no such disks here, or nothing."""
    if os.geteuid() != 0:
        return "loop mounts need root"
    missing = [program for program in ("mkfs.ext4", "losetup", "mount") if not shutil.which(program)]
    if missing:
        return "there is no " + " and no ".join(missing)
    if not Path("/dev/loop-control").exists():
        return "there is no /dev/loop-control"
    return None


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout.strip()


@contextlib.contextmanager
def attached(image):
    device = command("losetup", "--find", "--show", image)
    try:
        yield device
    finally:
        command("losetup", "--detach", device)


@contextlib.contextmanager
def mounted(image, folder):
    """The file system of an image at `folder`; gives the device."""
    folder.mkdir(parents=True, exist_ok=True)
    with attached(image) as device:
        command("mount", "-t", "ext4", "-o", OPTIONS, device, folder)
        try:
            yield device
        finally:
            unmount(folder)


def unmount(folder):
    for _ in range(50):
        with contextlib.suppress(RuntimeError):
            return command("umount", folder)
        time.sleep(0.1)
    command("umount", "--lazy", folder)


def make(image, mebibytes):
    """An image with an empty file system, its tables written now and not later in the background."""
    image.unlink(missing_ok=True)
    with open(image, "wb") as file:
        file.truncate(mebibytes << 20)
    command("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)


def writes(device):
    """Writes completed by the device and requests in flight (Documentation/admin-guide/iostats.rst)."""
    fields = Path(f"/sys/block/{Path(device).name}/stat").read_text().split()
    return int(fields[4]), int(fields[8])


def snapshot(image, device, copy):
    """Copies the image as it was at one moment. The server must be stopped."""
    for _ in range(200):
        before, busy = writes(device)
        if not busy:
            copy_sparse(image, copy)
            if writes(device) == (before, 0):
                return
        time.sleep(0.02)
    raise RuntimeError("the device is never idle")


def copy_sparse(source, target):
    target.unlink(missing_ok=True)
    with open(source, "rb") as old, open(target, "wb") as new:
        size = os.fstat(old.fileno()).st_size
        new.truncate(size)
        place = 0
        while place < size:
            try:
                place = os.lseek(old.fileno(), place, os.SEEK_DATA)
            except OSError:  # no more data
                return
            end = os.lseek(old.fileno(), place, os.SEEK_HOLE)
            old.seek(place)
            new.seek(place)
            shutil.copyfileobj(_Part(old, end - place), new)
            place = end


class _Part:
    """The next `size` bytes of a file."""

    def __init__(self, file, size):
        self.file, self.size = file, size

    def read(self, most):
        data = self.file.read(min(most, self.size))
        self.size -= len(data)
        return data
