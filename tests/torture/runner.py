"""Runs one smbtorture suite in a process of its own and reads its subunit output."""
import contextlib
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import suites

NBENCH_LOAD = Path("/usr/share/dbench/client.txt")
RESULT = re.compile(r"^(test|success|successful|failure|error|skip|xfail|uxsuccess|knownfail): (.*?)( \[)?$")
# a result at the end of a line that the test itself never ended
GLUED = re.compile(r"(?:^|(?<=[^\s:]))(success|failure|error|skip): (.*?)( \[)?$")


@dataclasses.dataclass
class Settings:
    """What all suites of a run share."""

    logs: Path
    timeout_s: float = 100
    max_protocol: str = "NT1"
    target: str = ""
    options: tuple = ()


@dataclasses.dataclass
class Verdict:
    """One suite: success, failure, error, skip, timeout, crash or empty, and its subtests' counts."""

    test: str
    result: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    first: str
    subtests: list = dataclasses.field(default_factory=list)


def command(server, settings, suite):
    line = ["smbtorture", f"//{server.host}/{server.share}", "-p", str(server.direct)]
    line += ["-U", f"{server.user}%{server.password}", "--format=subunit", "-s", "/dev/null"]
    line += [f"--basedir={settings.logs}"]
    options = ["client min protocol=CORE", f"client max protocol={settings.max_protocol}", "client lanman auth=yes"]
    options += ["client plaintext auth=yes", f"torture:localdir={server.folder}", *settings.options]
    line += [f"--option={option}" for option in options]
    line += [f"--target={settings.target}"] if settings.target else []
    line += ["-t", "10"] if "bench" in suite else []
    # with its 4,000 requests at once smbtorture needs more than a second for what it does every second, and on a slow
    # machine nothing else any more, whatever the server
    line += ["--entries=100"] if suite == "raw.offline" else []
    if suite in ("bench.nbench", "base.bench-readwrite") and NBENCH_LOAD.exists():
        line.append(f"--loadfile={NBENCH_LOAD}")
    return line + [suite]


def parse(text):
    """(name, result, message) of every subtest; one that never ended has the result "running"."""
    found, current, lines = [], None, iter(text.splitlines())
    for line in lines:
        match = RESULT.match(line)
        if not match:
            match = GLUED.search(line)
            if not match or match.group(2) != current:
                continue
        kind, name, bracket = match.groups()
        if kind == "test":
            current = name
            continue
        message = " ".join(part.strip() for part in iter(lambda: next(lines, "]"), "]")) if bracket else ""
        found.append((name, "success" if kind == "successful" else kind, message.strip()))
        current = None
    return found + ([(current, "running", "")] if current else [])


def empty(folder):
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()


def run(server, settings, suite):
    """One suite against one server; one that smbtorture itself may keep from ending is tried again."""
    for _ in range(suites.ATTEMPTS.get(suite, 1)):
        verdict = attempt(server, settings, suite)
        if verdict.result != "timeout":
            break
    return verdict


def attempt(server, settings, suite):
    """One run of a suite against a server whose folder is emptied first."""
    if server.folder:
        empty(server.folder)
    log = settings.logs / (re.sub(r"[^\w.-]", "_", suite) + ".log")
    started, code = time.monotonic(), None
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command(server, settings, suite), stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True, cwd=settings.logs,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(settings.timeout_s * suites.PATIENCE.get(suite, 1))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the children it forked too
        process.wait()
    return judge(suite, log.read_text(errors="replace"), code, time.monotonic() - started)


def judge(suite, text, code, seconds):
    subtests = parse(text)
    results = [result for _, result, _ in subtests]
    passed, skipped = results.count("success"), results.count("skip")
    failed, errors, running = results.count("failure"), results.count("error"), results.count("running")
    if code is None:
        result = "timeout"
    elif code < 0:
        result = "crash"
    elif errors:
        result = "error"
    elif failed or (running and code):
        result = "failure"
    elif not subtests:
        result = "empty"
    elif not passed and skipped:
        result = "skip"
    else:
        result = "success" if code == 0 else "failure"
    first = re.sub(r"\s+", " ", first_words(result, subtests, text))[:300]
    return Verdict(suite, result, passed, failed + errors + running, skipped, round(seconds, 1), first, subtests)


def first_words(result, subtests, text):
    """The first failure, as text."""
    for name, kind, message in subtests:
        if kind in ("failure", "error") or (kind == "skip" and result == "skip"):
            return f"{name}: {message}"
        if kind == "running":
            return f"unfinished: {name}"
    if result in ("success", "skip"):
        return ""
    noise = ("time:", "smbtorture", "Using seed", "lpcfg_do_global", "progress:")
    return " | ".join([line for line in text.splitlines() if line.strip() and not line.startswith(noise)][-2:])
