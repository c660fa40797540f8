"""Keeps the sample outputs in README.md and docs/ equal to what coax prints.

A sample is an HTML comment that lists commands, followed by a fenced block:

    <!-- sample
    coax lab run dos-ms-net-full  # keep: 1; Time spent on +2
    -->

`# keep:` selects output lines: a number keeps that many from the start, TEXT +N keeps the first line that contains TEXT and
the N lines after it. A line with an ellipsis stands for what is left out. `<!-- sample, numbers vary` marks output with
ports, times or rates: there the comparison ignores digits and the width of columns. In a command, `nas` is a server that
this program starts: smb://nas/ATTIC is a share for guests (smb://nas:139/ATTIC the same by NetBIOS session), nas:2000 sends raw
TCP data and nas:2001 receives it.

Without options it compares, and fails where a block is out of date; --write renews such blocks.
"""
import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SAMPLE = re.compile(r"<!-- sample(, numbers vary)?\n(.*?)-->\n+```\n(.*?)```\n", re.S)
SECONDS = 60
MODIFIED = 779_184_000  # 1994-09-10 08:00:00 UTC: files that samples list have this date
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
ELLIPSIS = "…"


def binary():
    if "COAX" not in os.environ:
        subprocess.run(["cargo", "build", "-q", "--release", "--locked", "-p", "coax"], cwd=ROOT, check=True)
    return str(Path(os.environ.get("COAX", subject.target_folder() / "release" / "coax")).resolve())


@contextlib.contextmanager
def started(command):
    """A process that reports the addresses it listens at as its first line of JSON."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def nas(coax, folder):
    """The placeholders of a server and the addresses that they stand for."""
    share = shutil.copytree(ROOT / "examples" / "share", folder / "attic")
    for path in [*share.rglob("*"), share]:
        os.utime(path, (MODIFIED, MODIFIED))
    serve = [coax, "serve", "--share", f"ATTIC={share}:rw", "--guest", "rw", "--json"]
    speed = [coax, "speed", "serve", "--source", "127.0.0.1:0", "--discard", "127.0.0.1:0", "--json"]
    with started([*serve, "--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0"]) as smb, started(speed) as tcp:
        yield {"smb://nas:139": f"smb://{smb['nbt']}", "smb://nas": f"smb://{smb['direct']}",
               "nas:2000": tcp["source"], "nas:2001": tcp["discard"]}


def output(coax, command, addresses, folder):
    """What the command prints, with the placeholders put back for the addresses."""
    for placeholder, address in addresses.items():
        command = command.replace(placeholder, address)
    words = shlex.split(command)
    assert words[0] == "coax", f"a sample runs coax, not {words[0]}"
    done = subprocess.run([coax, *words[1:]], cwd=folder, env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    text = done.stdout.rstrip("\n")
    for placeholder, address in addresses.items():
        text = text.replace(address, placeholder)
    return text.replace(f"{folder}/", "").replace(f"{ROOT}/", "").split("\n")


def kept(lines, rule):
    """The lines that the rule selects, in the output's order."""
    chosen = set()
    for part in filter(None, (part.strip() for part in rule.split(";"))):
        text, _, after = part.rpartition("+")
        if part.isdigit():
            chosen.update(range(int(part)))
            continue
        text, after = (text.strip(), int(after)) if text and after.isdigit() else (part, 0)
        first = next((place for place, line in enumerate(lines) if text in line), None)
        if first is None:
            raise SystemExit(f"no line of the output contains {text!r}:\n" + "\n".join(lines))
        chosen.update(range(first, first + after + 1))
    return chosen or set(range(len(lines)))


def block(coax, commands, addresses, folder):
    """A sample's text: each command after a prompt, and what it prints."""
    text = []
    for line in filter(None, map(str.strip, commands.splitlines())):
        command, _, rule = line.partition("# keep:")
        lines = output(coax, command.strip(), addresses, folder)
        chosen = kept(lines, rule)
        text.append("$ " + command.strip())
        for place, printed in enumerate(lines):
            if place in chosen:
                text.append(printed.rstrip())
            elif text[-1] != ELLIPSIS:
                text.append(ELLIPSIS)
    return "\n".join(text) + "\n"


def comparable(text, varies):
    if not varies:
        return text
    return re.sub(r"[-─ ]+", " ", re.sub(r"\d[\d.,:]*( ?[kKMGTµmn]?(s|B|bit)\b)?", "0", text))


def renewed(coax, page, addresses, folder, stale):
    """The page with every sample as coax prints it now; the stale ones are added to the list."""

    def renew(match):
        varies, commands, old = match.groups()
        new = block(coax, commands, addresses, folder)
        if comparable(new, varies) == comparable(old, varies):
            return match.group(0)
        stale.append(f"{page.relative_to(ROOT)}, sample of {commands.strip().splitlines()[0]}:\n{new}")
        return match.group(0).replace(f"```\n{old}```", f"```\n{new}```")

    return SAMPLE.sub(renew, page.read_text())


def unmatched(page):
    text = page.read_text()
    return text.count("<!-- sample") - len(SAMPLE.findall(text))


def main():
    parser = argparse.ArgumentParser(prog="scripts/test --only samples --", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the samples that are out of date")
    write = parser.parse_args().write
    coax, stale, count = binary(), [], 0
    for page in PAGES:
        if unmatched(page):
            raise SystemExit(f"{page.relative_to(ROOT)}: a sample comment without a fenced block after it")
        if "<!-- sample" not in page.read_text():
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for entry in ("examples", "tests", "data"):
                (folder / entry).symlink_to(ROOT / entry)
            with nas(coax, folder) as addresses:
                text = renewed(coax, page, addresses, folder, stale)
        count += len(SAMPLE.findall(text))
        if write:
            page.write_text(text)
    print("\n".join(stale), end="")
    print(f"{count} samples, {len(stale)} out of date" + (", now renewed" if write and stale else ""))
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main())
