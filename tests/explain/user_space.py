"""Clients whose TCP is not the kernel's: coax's engine on smoltcp, or on lwIP, whose packets go through a TUN device of the client's host.

The kernel of that host only forwards. It knows nothing of the connection, so the programs log what passed between engine and TCP.
"""
import shutil
from pathlib import Path

from explain.bench import PORT, build
from explain.drawing import USER_SPACE
from peers import subject

HERE = Path(__file__).resolve().parent
ENGINE_LOG, LWIP_LOG = "engine.log", "lwip.log"
EXAMPLE, LWIP_HEADER = "stack_client", Path("/usr/include/lwip/lwip/tcp.h")
ACK_CLOCKED_NS = 5_000_000  # what is sent so soon after an ACK was sent because of it
DUPLICATE_ACKS = 3  # that make a sender repeat a segment (RFC 5681 3.2)
SYN, ACK, DELIVERED = 2, 16, 0
OPEN, RECOVERY, LOSS = 0, 3, 4  # as the kernel numbers the states


def lacking():
    """Which of these clients cannot run here."""
    return {"smoltcp", "lwip"} if shutil.which("cargo") is None else set() if LWIP_HEADER.exists() else {"lwip"}


def prepare(scratch):
    """Builds the programs."""
    if "smoltcp" not in lacking():
        subject.example(EXAMPLE)
    if "lwip" not in lacking():
        build(HERE / "lwip_pump.c", scratch / "lwip_pump", "-I", LWIP_HEADER.parents[1], libraries=("-llwip",))


def command(scenario, bench, running, local, remote, scratch):
    """The command of the client; its standard input is the device."""
    ends, nodelay = bench.addresses, int(scenario.client_nodelay is not False)
    job = {"verb": scenario.verb, "local": local, "remote": remote, "share": running.share, "user": running.user, "password": running.password,
           "log": bench.folder / ENGINE_LOG, "client": ends["client"], "server": ends["server"], "nodelay": nodelay}
    job |= {name: value for name, value in (("receive", scenario.client_rmem), ("send", scenario.client_wmem)) if value}
    engine = subject.example(EXAMPLE)
    words = [f"{key}={value}" for key, value in job.items()]
    if scenario.client == "smoltcp":
        return [engine, "smoltcp", *words]
    return [scratch / "lwip_pump", ends["client"], ends["server"], PORT, nodelay, bench.folder / LWIP_LOG, engine, "stream", *words]


def read(folder):
    """(time, kind, value) of each line of the programs' logs, in order."""
    found = []
    for name in (ENGINE_LOG, LWIP_LOG):
        if (folder / name).exists():
            lines = (line.split() for line in (folder / name).read_text().splitlines())
            found += [(int(at), kind, int(value)) for at, kind, value in lines]
    return sorted(found, key=lambda line: line[0])


def is_user_space(client):
    return client in USER_SPACE


def states(data, acks):
    """(time, state) of the sender's recovery from losses, as its packets show it.

    `data`: (sent, begin, end) of its packets; `acks`: (arrived, acknowledged, bytes of data) of those that it received. A repetition that no
    ACK preceded was the timer's; one after three duplicate ACKs begins a recovery, which lasts until all that was sent then is acknowledged.
    """
    events = sorted([(at, 0, begin, end) for at, begin, end in data] + [(at, 1, value, size) for at, value, size in acks])
    state, until, highest, acked, repeats, last = OPEN, 0, 0, 0, 0, None
    for at, is_ack, first, second in events:
        before = state
        if is_ack:
            repeats = 0 if first > acked else repeats + (first == acked and not second)
            acked, last = max(acked, first), at
            state = OPEN if acked >= until else state
        else:
            if first < highest:
                prompted = last is not None and at - last <= ACK_CLOCKED_NS
                state = LOSS if not prompted else RECOVERY if state == OPEN and repeats >= DUPLICATE_ACKS else state or RECOVERY
                until = highest
            highest = max(highest, second)
        if state != before:
            yield at, state
