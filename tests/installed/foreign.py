"""The static binaries for other architectures serve and copy under QEMU's user emulation.

QEMU before 9.2 lacks openat2(), so a newer one is unpacked from Debian's backports if needed.
"""
import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from netbios.network import wait_for
from peers.install import HOME

ROOT = Path(__file__).resolve().parents[2]
EMULATORS = {"aarch64": "qemu-aarch64", "armv7": "qemu-arm", "i686": "qemu-i386", "x86_64": None}
BACKPORTS = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main\n"


def emulator(architecture):
    """A command that runs programs of the architecture, or None."""
    name = EMULATORS[architecture]
    if name is None or (architecture == "i686" and platform.machine() == "x86_64"):
        return []
    for candidate in (shutil.which(f"{name}-static"), shutil.which(name), str(backported(name) or "")):
        if candidate and new_enough(candidate):
            return [candidate]
    return None


def new_enough(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    version = re.search(r"version (\d+)\.(\d+)", done.stdout)
    return bool(version) and (int(version[1]), int(version[2])) >= (9, 2)


def backported(name):
    """QEMU from Debian's backports, unpacked beside the other peers."""
    home = HOME / "qemu"
    program = home / "usr" / "bin" / name
    if program.exists() or not shutil.which("apt-get"):
        return program if program.exists() else None
    lists = HOME / "qemu-apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (lists / folder).mkdir(parents=True, exist_ok=True)
    (lists / "sources.list").write_text(BACKPORTS)
    options = ["-o", f"Dir::Etc::SourceList={lists}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
               "-o", f"Dir::State::Lists={lists}/lists", "-o", f"Dir::Cache={lists}/cache"]
    for words in (["update", "-qq"], ["download", "-qq", "qemu-user/bookworm-backports"]):
        if subprocess.run(["apt-get", *options, *words], cwd=lists, capture_output=True).returncode != 0:
            return None
    for package in lists.glob("qemu-user_*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(home)], check=True)
    return program if program.exists() else None


def examine(command, folder):
    """Yields sentences about what is wrong: a copy both ways by smbclient and by the binary's own client."""
    share, data = folder / "share", os.urandom(2_000_000)
    share.mkdir()
    (share / "A.BIN").write_bytes(data)
    yield from serve_and_copy(command, folder, share, data)
    kept = hashlib.sha256((share / "B.BIN").read_bytes()).digest() if (share / "B.BIN").exists() else b""
    if kept != hashlib.sha256(data).digest():
        yield "the file that smbclient put is not what it sent"


def serve_and_copy(command, folder, share, data):
    log = folder / "log"
    with open(log, "wb") as output:
        server = subprocess.Popen([*command, "serve", str(share), "--guest", "rw", "--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0"],
                                  stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    try:
        port = wait_for(lambda: re.search(r"direct SMB at 127\.0\.0\.1:(\d+)", log.read_text(errors="replace")), "the server", 60)[1]
        done = subprocess.run(["smbclient", "//127.0.0.1/SHARE", "-p", port, "-N", "-m", "NT1", "--option=client min protocol=NT1",
                               "-c", f"get A.BIN {folder}/got; put {folder}/got B.BIN"], capture_output=True, text=True, timeout=120)
        if not (folder / "got").exists() or (folder / "got").read_bytes() != data:
            yield f"smbclient: {done.stdout}{done.stderr}\n{log.read_text(errors='replace')[-2000:]}"
        own = subprocess.run([*command, "get", f"smb://127.0.0.1:{port}/SHARE/A.BIN", f"{folder}/own", "--as", "nt-4-copy"],
                             capture_output=True, text=True, timeout=120)
        if not (folder / "own").exists() or (folder / "own").read_bytes() != data:
            yield f"coax get: {own.stdout}{own.stderr}"
    finally:
        server.terminate()
        if server.wait(60) != 0:
            yield f"the server ends with {server.returncode}"
    if "panicked" in log.read_text(errors="replace"):
        yield f"the server panicked:\n{log.read_text(errors='replace')[-2000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(EMULATORS), help="architectures, with commas")
    parser.add_argument("--built", action="store_true", help="take the binaries below target/packages/static")
    given = parser.parse_args()
    failed = 0
    for architecture in given.only.split(","):
        binary = ROOT / "target" / "packages" / "static" / architecture / "coax"
        if not given.built:
            built = subprocess.run([str(ROOT / "scripts" / "package"), f"static-{architecture}"], capture_output=True, text=True)
            if built.returncode != 0:
                print(f"FAILED {architecture}: {built.stderr}")
                failed += 1
                continue
        runner = emulator(architecture)
        if runner is None:
            print(f"SKIPPED {architecture}: no {EMULATORS[architecture]} of version 9.2 or newer can be had here")
            continue
        folder = Path(tempfile.mkdtemp(prefix=f"coax-{architecture}-"))
        try:
            wrong = list(examine([*runner, str(binary)], folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        failed += bool(wrong)
        print("\n".join([f"FAILED {architecture}:", *wrong]) if wrong else f"passed {architecture}: {binary.stat().st_size:,} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
