"""Checks docs/guides, docs/recipes and the links of all pages.

- Every relative link leads to a file.
- A guide has the five steps, says what was not tried, and has at most 120 lines.
- Every `coax serve` command and every block marked `ini` (an smb.conf) passes `coax serve --check` without a warning. Addresses,
  interfaces and folders are replaced by those of this machine.
- Every reason in a quoted line of coax stands in the source code, so a page does not keep a message that has changed.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from house import links
from peers import subject

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted(path for path in (ROOT / "docs" / "guides").glob("*.md") if path.name != "README.md")
PAGES = [*sorted((ROOT / "docs" / "guides").glob("*.md")), *sorted((ROOT / "docs" / "recipes").glob("*.md"))]
STEPS = ["## 1. Requirements", "## 2. Settings", "## 3. Verify", "## 4. Errors", "## 5. Speed"]
LONGEST = 120  # lines
SHORTEST_REASON = 10  # characters; shorter pieces of a message say nothing
EPHEMERAL = ["--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0"]
QUOTED = re.compile(r"`((?:refused |the print command |coax cannot |share [A-Z]+: |\d+ jobs |offers )[^`]*)`")
BETWEEN = re.compile(r"""…|"[^"]*"|\[[^\]]*\]|[()]|\d[\d.]*|: |; |\\\S+|/\S+|[A-Z][A-Z_]{2,}\S*""")


def coax():
    return os.environ.get("COAX", str(subject.target_folder() / "debug" / "coax"))


def dead_links():
    """Links in READMEs of crates are left to rustdoc, which includes some of these pages."""
    yield from links.dead_in_markdown([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/**/*.md")])


def shape():
    for page in PAGES:
        if page.read_text().count("\n") > LONGEST:
            yield f"{page.relative_to(ROOT)} has more than {LONGEST} lines"
    for page in GUIDES:
        lines = page.read_text().splitlines()
        if [line for line in lines if line.startswith("## ")] != STEPS:
            yield f"{page.relative_to(ROOT)} lacks the five steps, or has others"
        if not lines[2].startswith("> **Not tried on "):
            yield f"{page.relative_to(ROOT)} does not say at its top what was not tried"


def messages():
    """The text of the source code with its string literals on one line."""
    text = " ".join(path.read_text() for path in sorted(ROOT.glob("crates/*/src/**/*.rs")))
    return re.sub(r"\s+", " ", re.sub(r"\\\n\s*", "", text)).replace('\\"', '"')


def stale_reasons():
    source = messages()
    for page in PAGES:
        for quoted in QUOTED.findall(page.read_text()):
            for piece in BETWEEN.split(quoted):
                piece = piece.strip(" ,.")
                is_event = piece.startswith("refused ")  # the event's own words: "refused {what}"
                if len(piece) >= SHORTEST_REASON and not is_event and piece not in source:
                    yield f"{page.relative_to(ROOT)} quotes “{piece}”, which no message contains"


def on_this_machine(text, folder):
    """The text with addresses, interfaces and folders that exist here."""

    def path(found):
        here = folder / found.group(0).strip("/").replace("/", "-")
        here.mkdir(exist_ok=True)
        return str(here)

    text = re.sub(r"/(?:srv|mnt|var/spool)/[\w/-]+", path, text.replace("/etc/coax/users", str(folder / "users")))
    text = re.sub(r"^interfaces = .*$", "interfaces = 127.0.0.1", text, flags=re.M)
    return re.sub(r"\b(?:0\.0\.0\.0|192\.168\.\d+\.\d+):\d+", "127.0.0.1:0", text)


def commands(page, folder):
    """The words of each command that the page's blocks contain, ready to run."""
    for number, (kind, block) in enumerate(re.findall(r"```(\w*)\n(.*?)```", page.read_text(), re.S)):
        if kind == "ini":
            config = folder / f"{page.stem}-{number}.conf"
            config.write_text(on_this_machine(block, folder))
            yield [coax(), "serve", "--config", str(config), *EPHEMERAL, "--check"]
        for line in block.splitlines():
            line = line.split("  #")[0].strip()
            if line.startswith("coax serve") and "--config" not in line:
                words = shlex.split(on_this_machine(line, folder))[1:]
                listeners = [] if {"--nbt", "--direct"} & set(words) else EPHEMERAL
                yield [coax(), *words, *listeners, "--check"]


def refused_commands():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        user = [coax(), "user", "add", "scanner", "--file", str(folder / "users")]
        subprocess.run(user, input="secret\n", text=True, check=True, capture_output=True)
        for page in PAGES:
            for command in commands(page, folder):
                run = subprocess.run(command, text=True, capture_output=True, timeout=60, env={**os.environ, "COAX_PASSWORD": "secret"})
                if run.returncode or re.search("warning:|error:", run.stderr):
                    yield f"{page.relative_to(ROOT)}: {shlex.join(command[1:])}: {run.stderr.strip()}"


def main():
    wrong = [sentence for check in (dead_links, shape, stale_reasons, refused_commands) for sentence in check()]
    for sentence in wrong:
        print(sentence)
    print(f"{len(PAGES)} pages, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
