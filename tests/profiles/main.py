"""Every redirector of data/clients against every server: a file both ways, a tree of small files both ways, each byte compared
on the server's own disk; and, under a capture, what tshark says of each conversation and which blocks the data went in.

What cannot be is in tests/profiles/expected.toml, the blocks are in tests/profiles/blocks.toml.
"""
import argparse
import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from client import servers
from peers import install, subject

from . import wire

HERE = Path(__file__).parent
PROFILES = sorted(path.stem for path in (subject.ROOT / "data" / "clients").glob("*.toml"))
# a signed connection has no raw mode
GLOBALS = {"server signing": "disabled"}


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only profiles --", description=__doc__)
    parser.add_argument("--servers", default="", help="those whose name contains one of these, with commas")
    parser.add_argument("--as", dest="profiles", default="", help="these redirectors, with commas")
    parser.add_argument("--size", type=int, default=42_000_000, help="bytes of the file")
    parser.add_argument("--files", type=int, default=500, help="files of the tree")
    parser.add_argument("--ci", action="store_true", help="a small file and a small tree")
    parser.add_argument("--no-capture", action="store_true", help="without tshark")
    arguments = parser.parse_args()
    if arguments.ci:
        arguments.size, arguments.files = 1_000_000, 5
    return arguments


def digest(folder):
    """Every file below a folder: path to hash."""
    files = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def originals(folder, size, files):
    """What is copied: one file, and a tree of small ones in folders of 25."""
    (folder / "BIG.BIN").write_bytes(random.Random(0).randbytes(size))
    for number in range(files):
        path = folder / "TREE" / f"D{number // 25:02}" / f"F{number:04}.DAT"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(random.Random(number).randbytes(number * 37 % 20_000))


class Copier:
    """Copies as one redirector, with one server."""

    def __init__(self, binary, server, profile, watch):
        self.binary, self.server, self.profile, self.watch = binary, server, profile, watch

    def url(self, path):
        return f"smb://{self.server.user}@{self.server.host}:{self.server.direct}/{self.server.share}/{path}"

    def run(self, verb, *words):
        command = [self.binary, verb, *map(str, words), "--as", self.profile, "--allow-weak"]
        with self.watch(self.profile, " ".join([verb, *(["-r"] if "-r" in words else [])])):
            done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, "COAX_PASSWORD": self.server.password})
        if done.returncode != 0:
            raise RuntimeError(" ".join(done.stderr.split())[:300])

    def there_and_back(self, source, scratch):
        """Puts and gets file and tree; what differs is an error."""
        share = self.server.folder
        self.run("put", source / "BIG.BIN", self.url("BIG.BIN"))
        self.run("get", self.url("BIG.BIN"), scratch / "BIG.BIN")
        if (source / "TREE").exists():
            self.run("put", "-r", source / "TREE", self.url(""))
            self.run("get", "-r", self.url("TREE"), scratch / "TREE")
        for name, folder in (("the server's disk", share), ("what came back", scratch)):
            if digest(folder) != digest(source):
                raise RuntimeError(f"{name} differs from what was sent")


def empty(folder):
    for entry in Path(folder).iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def one(copier, source):
    """Seconds taken, or why it did not work."""
    started = time.monotonic()
    empty(copier.server.folder)
    with tempfile.TemporaryDirectory(prefix="profiles-") as scratch:
        try:
            copier.there_and_back(source, Path(scratch))
        except Exception as error:  # the other redirectors are still worth trying
            return None, str(error) or type(error).__name__
    return time.monotonic() - started, None


def judged(rule, profile, why):
    """The verdict in a word, and a sentence if it is not as expected."""
    cannot = rule.get("cannot", {}).get(profile)
    if cannot and why:
        return "cannot", None
    if cannot:
        return "UNEXPECTED", f"{profile} with {rule['name']}: works, though expected.toml says: {cannot}"
    if why:
        return "FAILED", f"{profile} with {rule['name']}: {why}"
    return "same", None


def against(rule, arguments, binary, source, profiles):
    """All redirectors with one server: verdicts by profile, and sentences about what is wrong."""
    options = {"globals_": {**GLOBALS, **rule.get("globals", {})}} if rule["kind"] in ("coax", "smbd") else {}
    verdicts, wrong = {}, []
    with servers.start(rule["kind"], **options) as server, contextlib.ExitStack() as stack:
        server.folder.chmod(0o777)
        # in a hurry, one dialect of each server is listened to
        listens = not arguments.no_capture and (not arguments.ci or rule["name"].endswith("-nt1"))
        capture = None if not listens else stack.enter_context(wire.Capture(server))
        watch = capture.during if capture else lambda *_: contextlib.nullcontext()
        for profile in profiles:
            if arguments.ci and rule.get("slow") and profile in rule["cannot"]:
                verdicts[profile] = "cannot"  # taken on trust: it waits for answers that never come
                continue
            seconds, why = one(Copier(binary, server, profile, watch), source)
            verdicts[profile], sentence = judged(rule, profile, why)
            wrong += [sentence] if sentence else []
            took = f"{seconds:5.1f} s" if seconds else "       "
            print(f"{rule['name']:14} {profile:20} {verdicts[profile]:10} {took} {why or ''}", flush=True)
        if capture:
            capture.end()
            wrong += wire.judge(capture, rule, arguments.size, [name for name in profiles if verdicts[name] == "same"])
    return verdicts, wrong


def table(results, profiles):
    """The matrix: a row a redirector, a column a server."""
    width = max(map(len, profiles))
    lines = [" " * width + "  " + "  ".join(results)]
    for profile in profiles:
        cells = (verdicts.get(profile, "").ljust(len(name)) for name, verdicts in results.items())
        lines.append(profile.ljust(width) + "  " + "  ".join(cells))
    return "\n".join(lines)


def main():
    arguments = parse()
    missing = set(install.missing_peers())
    if missing and os.environ.get("CI") == "true":
        sys.exit(f"missing peers: {', '.join(sorted(missing))}")
    wanted = [part for part in arguments.servers.split(",") if part] or [""]
    rules = tomllib.loads((HERE / "expected.toml").read_text())["server"]
    profiles = [name for name in arguments.profiles.split(",") if name] or PROFILES
    binary, results, wrong = subject.coax_binary(), {}, []
    with tempfile.TemporaryDirectory(prefix="profiles-") as folder:
        for rule in (rule for rule in rules if any(part in rule["name"] for part in wanted)):
            if rule["kind"] in missing or (rule["kind"] == "smbd" and "smbd" in missing):
                print(f"{rule['name']}: SKIPPED, it is not installed")
                continue
            source = Path(folder) / rule["name"]
            source.mkdir()
            originals(source, arguments.size, arguments.files)
            results[rule["name"]], sentences = against(rule, arguments, binary, source, profiles)
            wrong += sentences
    print(table(results, profiles))
    for sentence in wrong:
        print(f"WRONG {sentence}")
    count = sum(verdict == "same" for verdicts in results.values() for verdict in verdicts.values())
    print(f"{count} of {sum(map(len, results.values()))} combinations copy both ways, {len(wrong)} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
