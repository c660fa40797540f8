"""One client in one dialect over one transport: a row of the matrix, and how its steps are run and judged."""
import dataclasses
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import corpus

STEPS = ["shares", "mkdir", "put", "list", "get", "rename", "attr", "long", "nonascii", "delete", "rmdir", "other"]
OK, FAIL, NOT_APPLICABLE = "ok", "FAIL", "-"


@dataclasses.dataclass
class Outcome:
    """What a step came to; `reason` says why it failed, or why it does not apply."""

    state: str
    reason: str = ""


class Failed(Exception):
    """A step failed; the text says how."""


@dataclasses.dataclass
class Row:
    """A client the matrix runs. `run(session)` fills in outcomes; `needs` names peers as install.py does, and
    `needs_nbt_139` says that only the real port will do."""

    name: str
    run: object
    transport: str = "direct"
    needs_nbt_139: bool = False
    needs: tuple = ()


class Session:
    """What a client gets to work with: the subject, the corpus, a folder to fetch into, and the server's own folder."""

    def __init__(self, subject, originals, scratch):
        self.subject = subject
        self.originals = Path(originals)
        self.outcomes = {}
        self.fetched = Path(tempfile.mkdtemp(prefix="fetched-", dir=scratch))
        self.share = subject.folder
        self.reset()

    def reset(self):
        """The share as every client finds it: a folder `planted` with the corpus, and nothing else."""
        for entry in self.share.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.copytree(self.originals, self.share / "planted")
        (self.share / "planted").chmod(0o777)

    @property
    def drafts(self):
        """The folder the client makes, fills and removes, as it is on disk (None when it is not there)."""
        return corpus.find(self.share, "drafts")

    def step(self, name, action):
        """Runs one step; any error is that step's failure and not the end of the row."""
        try:
            action()
            self.outcomes[name] = Outcome(OK)
        except Exception as error:
            self.outcomes[name] = Outcome(FAIL, " ".join(f"{type(error).__name__}: {error}".split())[:300])
        return self.outcomes[name].state == OK

    def skip(self, name, reason):
        self.outcomes[name] = Outcome(NOT_APPLICABLE, reason)

    # What the server's disk must show after a step. Judged here, so that no client judges itself.

    def expect_drafts(self, there=True):
        if (self.drafts is not None) != there:
            raise Failed("the folder is not on the server's disk" if there else "the folder is still there")

    def expect_put(self):
        self.expect_equal(self.drafts)

    def expect_got(self):
        self.expect_equal(self.fetched)

    def expect_equal(self, folder):
        wrong = corpus.differences(folder, self.originals) if folder else ["no folder"]
        if wrong:
            raise Failed("; ".join(wrong))

    def expect_renamed(self, old, new):
        if corpus.find(self.drafts, old) or not corpus.find(self.drafts, new):
            raise Failed(f"{old} was not renamed to {new} on disk")

    def expect_named(self, name, copy=None):
        """A file of an unusual name: on disk under exactly that name, and fetched back equal."""
        original = corpus.digest(self.originals / "B511.BIN")
        path = self.drafts / name
        if not path.exists():
            raise Failed(f"{name!r} is not on disk; there are {sorted(p.name for p in self.drafts.iterdir())}")
        for found in [path] + ([Path(copy)] if copy else []):
            if corpus.digest(found) != original:
                raise Failed(f"{found.name!r} differs")

    def expect_empty(self):
        left = sorted(entry.name for entry in self.drafts.iterdir())
        if left:
            raise Failed(f"still there: {left}")

    def expect_listed(self, names):
        missing = sorted(set(map(str.lower, corpus.SIZES)) - {name.lower() for name in names})
        if missing:
            raise Failed(f"not listed: {missing}")


def run_command(command, timeout=60, **options):
    """A client program's output; Failed with the end of it when it did not exit with 0."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, **options
    )
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    output = "\n".join(line for line in lines if "option is deprecated" not in line)
    if done.returncode != 0:
        raise Failed(output.strip()[-300:] or f"exit code {done.returncode}")
    return output
