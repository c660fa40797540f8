"""What goes over the wire while the redirectors copy: captured by dumpcap, read by tshark."""
import collections
import contextlib
import shutil
import tempfile
import time
import tomllib
from pathlib import Path

from peers import referee

BLOCKS = Path(__file__).parent / "blocks.toml"
# command, and the fields that say how much it moves: low part, high part
MOVERS = {
    "0x0a": ("READ", "smb.count", None),
    "0x0b": ("WRITE", "smb.count", None),
    "0x1a": ("READ_RAW", "smb.maxcount", None),
    "0x1d": ("WRITE_RAW", "smb.total_data_len", None),
    "0x2e": ("READ_ANDX", "smb.maxcount_low", "smb.maxcount_high"),
    "0x2f": ("WRITE_ANDX", "smb.data_len_low", "smb.data_len_high"),
}
COLUMNS = ["frame.time_epoch", "smb.cmd", *dict.fromkeys(field for _, *pair in MOVERS.values() for field in pair if field)]


class Capture:
    """Everything to and from a server, and who was copying when."""

    def __init__(self, server):
        self.server = server
        self.folder = Path(tempfile.mkdtemp(prefix="wire-"))
        self.path = self.folder / "all.pcapng"
        self.times = []
        self.capturing = contextlib.ExitStack()

    def __enter__(self):
        self.capturing.enter_context(referee.capturing(self.server, self.path))
        return self

    def __exit__(self, *_):
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end(self):
        """No more is captured."""
        self.capturing.close()

    @contextlib.contextmanager
    def during(self, profile, what):
        """Notes who copies which way meanwhile."""
        started = time.time()
        try:
            yield
        finally:
            self.times.append((started, time.time(), profile, what))

    def whose(self, moment):
        return next(((profile, what) for start, end, profile, what in self.times if start <= moment <= end), None)

    def blocks(self):
        """(redirector, way): how many requests of which command and size moved data."""
        fields = [part for column in COLUMNS for part in ("-e", column)]
        data = " || ".join(f"smb.cmd == {code}" for code in MOVERS)
        chosen = f"tcp.dstport == {self.server.direct} && ({data})"
        output = referee.tshark(self.path, self.server, "-Y", chosen, "-T", "fields", "-E", "separator=/t", *fields)
        counted = collections.defaultdict(collections.Counter)
        for line in output.splitlines():
            values = dict(zip(COLUMNS, line.split("\t")))
            counted[self.whose(float(values["frame.time_epoch"]))].update(requests(values))
        return counted


def requests(values):
    """Command and size of a frame's request; nothing if several share the frame, because their fields cannot be separated."""
    movers = [code for code in values["smb.cmd"].split(",") if code in MOVERS]
    if len(movers) != 1:
        return []
    name, low, high = MOVERS[movers[0]]
    number = lambda field: int(values.get(field) or "0", 0) if field else 0
    return [(name, number(low) + (number(high) << 16))]


def judge(capture, rule, size, profiles):
    """Sentences about what is wrong: marks of tshark on our requests, and blocks other than the documents describe."""
    rules = tomllib.loads(referee.ALLOWED.read_text()).get("excused", [])
    wrong = []
    for mark in referee.marks(capture.path, capture.server):
        # what servers send is tests/peers/referee.py's affair
        if not mark["from_server"] and not referee.excused(mark, rules, capture.server.kind):
            wrong.append(f"{rule['name']}, frame {mark['frame']}: {mark['info']} [{mark['message']}]")
    counted = capture.blocks()
    for expected in tomllib.loads(BLOCKS.read_text())["redirector"]:
        if rule["name"] in expected["servers"] and expected["name"] in profiles:
            for way in ("put", "get"):
                found = counted[(expected["name"], way)]
                wrong += misfits(found, tuple(expected[way]), size, f"{expected['name']} with {rule['name']}, {way}")
    return wrong[:50]


def misfits(found, bulk, size, what):
    """Three bytes in four must go in requests of that command and size, and none in a larger one. (The copying program's own
    buffer need not be a multiple of the redirector's block.)"""
    moved = found[bulk] * bulk[1]
    if moved * 4 >= size * 3 and all(block <= bulk[1] for _, block in found):
        return []
    seen = ", ".join(f"{count} {name} of {block:,}" for (name, block), count in found.most_common(5))
    return [f"{what}: {bulk[0]} of {bulk[1]:,} expected, seen {seen or 'nothing'}"]
