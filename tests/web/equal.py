"""The page's engine under node gives what the program gives: captures and messages byte for byte, scenarios value for value."""
import functools
import json
import random
import subprocess
import tempfile
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
CAPTURES, SCENARIOS = 50, 50
LARGEST = 3_000_000
MUTATIONS = 7
TAPS = [("client", "to-server"), ("server", "to-client")]
HERE = Path(__file__).parent


def node(engine, requests):
    """The answers to these requests."""
    done = subprocess.run(["node", HERE / "native.cjs", engine / "coax_web.js", engine / "coax_web_bg.wasm"], check=True, text=True, timeout=600,
                          input="\n".join(map(json.dumps, requests)), stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


@functools.cache
def coax(*words, folder=ROOT):
    return subprocess.run([subject.coax_binary(), *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120)


def captures(folder):
    """Captures of the repository, those of wrong shape too, and as many of the lab as make 50."""
    found = [path for path in sorted((ROOT / "tests" / "captures").rglob("*.pcap*")) if path.is_file() and path.stat().st_size < LARGEST]
    names = sorted(path.stem for path in (ROOT / "data" / "scenarios").glob("*.toml"))
    kinds = [(name, tap, direction) for tap, direction in TAPS for name in names]
    for name, tap, direction in kinds[:max(0, CAPTURES - len(found))]:
        path = folder / f"{name}-{tap}.pcapng"
        done = coax("lab", "run", name, "--set", "size=60000", "--set", f"direction={direction}", "--tap", tap, "--pcap", path)
        assert done.returncode == 0, done.stderr
        found.append(path)
    return found[:CAPTURES]


def scenarios():
    """Cells of the tables and changes of them: the names and the changes."""
    told = json.loads(coax("lab", "tables", "--json").stdout)
    cells = [cell for table in told["tables"] for cell in table["cells"]]
    names = sorted({cell["scenario"] for cell in cells if (ROOT / "data" / "scenarios" / f"{cell['scenario']}.toml").exists()})
    changes = [[], [["size", "3000000"]], [["size", "1000000"], ["server.stack.receive_window", "8760"]],
               [["size", "500000"], ["link.delay", "20 ms"]], [["size", "400000"], ["direction", "to-client"]]]
    return [(name, change) for change in changes for name in names if suits(name, change)][:SCENARIOS]


def suits(name, change):
    """Whether a change is possible: TCP's window needs TCP, and a shared Ethernet is short."""
    text = (ROOT / "data" / "scenarios" / f"{name}.toml").read_text()
    keys = {key for key, _ in change}
    return not ("server.stack.receive_window" in keys and "transport = " in text or "link.delay" in keys and "hub" in name)


def messages():
    """A negotiation, a name query, a datagram, a NetBEUI frame, and each with some bytes changed or cut."""
    dialects = b"".join(b"\x02" + name + b"\0" for name in (b"PC NETWORK PROGRAM 1.0", b"NT LM 0.12"))
    smb = b"\xffSMB\x72" + bytes(25) + b"\x33\x1c" + b"\0" + len(dialects).to_bytes(2, "little") + dialects
    name = b"\x20" + b"CACACACACACACACACACACACACACACACA" + b"\0"
    whole = [smb, b"\0\0" + len(smb).to_bytes(2, "big") + smb, b"\x12\x34\x01\x10\0\1\0\0\0\0\0\0" + name + b"\0\x20\0\1",
             b"\x11\x0a\x00\x01\x0a\0\0\1\0\x8a\0\x44\0\0" + name + name, b"\x2c\0\xff\xef\x0a\0" + bytes(6) + b"A".ljust(16) + b"B".ljust(16)]
    chance = random.Random(7)
    for message in whole:
        yield message
        for _ in range(MUTATIONS):
            changed = bytearray(message[:chance.randrange(1, len(message) + 1)])
            changed[chance.randrange(len(changed))] = chance.randrange(256)
            yield bytes(changed)


def messages_are_equal(answers):
    """The faults, one line each."""
    for message, answer in zip(messages(), answers, strict=True):
        digits = message.hex()
        text, line = coax("decode", digits), coax("decode", digits, "--json")
        told = answer.get("value", {})
        if (told.get("text"), told.get("json")) != (text.stdout, line.stdout):
            yield f"{digits}: another text {answer.get('error', '')} {text.stderr}"


@functools.cache
def explained(path):
    """What the program says: its exit code, JSON and errors, and its page."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        done = coax("explain", "--json", "--html", page, path.name, folder=path.parent)
        return done, page.read_text() if page.exists() else ""


def captures_are_equal(paths, answers):
    """The faults, one line each. An answer has `json` and `page`, or `error` and `defect`."""
    for path, answer in zip(paths, answers, strict=True):
        done, page = explained(path)
        if done.returncode != 0:
            if "error" not in answer or answer["defect"] or answer["error"] not in done.stderr:
                yield f"{path.name}: coax says {done.stderr!r}, the page {answer.get('error')!r}"
        elif answer.get("value", {}).get("json") != done.stdout:
            yield f"{path.name}: another JSON {answer.get('error', '')}"
        elif answer["value"]["page"] != page:
            yield f"{path.name}: another page"


def requests():
    """The scenarios as the page's engine gets them."""
    return [{"scenario": name, "changes": changes} for name, changes in scenarios()]


def scenarios_are_equal(answers):
    """The faults, one line each."""
    for (name, changes), answer in zip(scenarios(), answers, strict=True):
        words = [word for key, value in changes for word in ("--set", f"{key}={value}")]
        done = coax("lab", "run", name, "--json", *words)
        told = json.loads(done.stdout or "{}")
        told.pop("cell", None)
        if (answer.get("value") or {}).get("summary", {}) != told or answer.get("error", "") not in done.stderr:
            yield f"{name} {changes}: another result {answer.get('error', '')} {done.stderr}"


def node_is_equal(engine, paths):
    """The faults of the engine under node, one line each."""
    yield from captures_are_equal(paths, node(engine, [{"act": "explain", "name": path.name, "path": str(path)} for path in paths]))
    yield from scenarios_are_equal(node(engine, [{"act": "run", "request": request} for request in requests()]))
    yield from messages_are_equal(node(engine, [{"act": "decode", "request": {"digits": message.hex()}} for message in messages()]))
