"""The kernel's TCP over an emulated link, beside the lab's stack `linux-6` over the same link in virtual time.

Real time is disturbed by whatever else the machine does: nothing is asserted about it unless `--assert` says so. With
`--small` one short transfer must run in both, whole, and no more is asked.
"""
import argparse
import dataclasses
import json
import os
import platform
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

from lab.link import CLIENT, SERVER, Emulator, Link, Namespace, impossible
from peers import subject

ROOT = Path(__file__).resolve().parents[2]
PORT, CHUNK, LIMIT = 5001, 65_536, 120
PATTERN = bytes(range(251)) * 1024
TCP_CONGESTION, TOTAL_RETRANS = 13, 100  # offset of tcpi_total_retrans in struct tcp_info
MBIT = 1_000_000


@dataclasses.dataclass(frozen=True)
class Case:
    """What is transferred, over which link, and how near the lab should come."""

    name: str
    link: Link
    app: str  # bulk: client to server; read, write: blocks, one at a time
    bytes: int
    tolerance: float = 0.10
    congestion: str = "reno"
    receive_buffer: int = 0
    block: int = 0
    split: bool = False
    nodelay: bool = False
    small: int = 60  # a request, or a write's response
    header: int = 64  # before the block

    @property
    def blocks(self):
        return -(-self.bytes // self.block)


LAN = Link(20 * MBIT, 0.010, 262_144)
CASES = [
    Case("bulk", LAN, "bulk", 10_000_000),
    Case("bulk, CUBIC", LAN, "bulk", 10_000_000, congestion="cubic"),
    Case("bulk, 50 Mbit/s, 5 ms", Link(50 * MBIT, 0.005, 262_144), "bulk", 20_000_000),
    Case("bulk, queue of 24 KB", Link(20 * MBIT, 0.010, 24_576), "bulk", 10_000_000, 0.25),
    Case("bulk, queue of 24 KB, CUBIC", Link(20 * MBIT, 0.010, 24_576), "bulk", 10_000_000, 0.25, "cubic"),
    Case("window, SO_RCVBUF 8192", LAN, "bulk", 1_000_000, receive_buffer=8192),
    Case("window, SO_RCVBUF 16384", LAN, "bulk", 2_000_000, receive_buffer=16_384),
    Case("window, SO_RCVBUF 32768, 20 ms", Link(20 * MBIT, 0.020, 262_144), "bulk", 3_000_000, receive_buffer=32_768),
    Case("read 4096", LAN, "read", 819_200, block=4096),
    Case("read 512", LAN, "read", 102_400, block=512),
    Case("write 4096 in one", LAN, "write", 819_200, block=4096),
    Case("write 512 in two, Nagle", LAN, "write", 25_600, block=512, split=True),
    Case("write 512 in two, TCP_NODELAY", LAN, "write", 102_400, block=512, split=True, nodelay=True),
    Case("bulk, each 200th lost", Link(20 * MBIT, 0.010, 262_144, 200), "bulk", 5_000_000, 0.25),
    Case("bulk, each 50th lost", Link(20 * MBIT, 0.010, 262_144, 50), "bulk", 3_000_000, 0.25),
    Case("bulk, each 50th lost, CUBIC", Link(20 * MBIT, 0.010, 262_144, 50), "bulk", 3_000_000, 0.25, "cubic"),
    Case("bulk, 8 given packets lost", Link(20 * MBIT, 0.010, 262_144, 0, (100, 101, 102, 600, 601, 1200, 1201, 1202)),
         "bulk", 5_000_000, 0.25),
    Case("write 4096, each 40th lost", Link(20 * MBIT, 0.010, 262_144, 40), "write", 409_600, 0.25, block=4096),
]
SMALL = Case("small", Link(10 * MBIT, 0.005, 65_536, 0, (20,)), "bulk", 200_000)


def in_lab(case, window, scale):
    """The case in virtual time, with the window that the kernel was seen to offer where it is the limit."""
    link = case.link
    values = {"app": case.app, "bytes": case.bytes, "rate": link.rate, "delay_us": round(link.delay * 1e6),
              "queue": link.queue, "loss_every": link.loss_every, "block": case.block, "small": case.small,
              "header": case.header, "split": int(case.split), "nodelay": int(case.nodelay),
              "loss_packets": ",".join(map(str, link.loss_packets)),
              "congestion": {"reno": "new-reno"}.get(case.congestion, case.congestion)}
    if case.receive_buffer:
        values |= {"window": window, "scale": scale}
    command = [str(subject.example("linux_pair"))]
    command += [f"{key}={value}" for key, value in values.items()]
    output = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True, timeout=600).stdout
    result = json.loads(output)
    return {**result, "took": result["took_ns"] / 1e9}


def in_kernel(case):
    """The case in real time between two namespaces."""
    client, server = Namespace(CLIENT, SERVER), Namespace(SERVER, CLIENT)
    try:
        emulator = Emulator(case.link, client, server, LIMIT)
        try:
            result = transfer(case, client, server)
        finally:
            seen = emulator.stop()
        return {**result, **(seen or {})}
    finally:
        client.close()
        server.close()


def transfer(case, client, server):
    listener = prepared(server.socket(), case)
    listener.bind((SERVER, PORT))
    listener.listen(1)
    result = {}
    far = threading.Thread(target=serve, args=(case, listener, result), daemon=True)
    far.start()
    with prepared(client.socket(), case) as near:
        near.connect((SERVER, PORT))
        begun = time.monotonic()
        {"bulk": send_all, "read": read_blocks, "write": write_blocks}[case.app](case, near)
        result["took"] = time.monotonic() - begun
        if case.app == "bulk":  # its end is the receiver's
            far.join(LIMIT)
            result["took"] = result.pop("received_in", None)
        info = near.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        result["retransmitted"] = struct.unpack_from("=I", info, TOTAL_RETRANS)[0]
    far.join(10)
    return result


def prepared(sock, case):
    sock.settimeout(LIMIT)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, case.congestion.encode())
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(case.nodelay))
    if case.receive_buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, case.receive_buffer)
    return sock


def serve(case, listener, result):
    with listener, listener.accept()[0] as sock:
        begun = time.monotonic()
        sock.settimeout(LIMIT)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(case.nodelay))
        if case.app == "bulk":
            receive_bulk(case, sock, result, begun)
            return
        done = 0
        while done < case.bytes:
            size = min(case.block, case.bytes - done)
            receive(sock, case.small if case.app == "read" else case.header + size)
            sock.sendall(bytes(case.header + size) if case.app == "read" else bytes(case.small))
            done += size
        result["bytes"] = done


def receive_bulk(case, sock, result, begun):
    received, checksum = 0, 0
    while received < case.bytes and (chunk := sock.recv(CHUNK)):
        received += len(chunk)
        checksum = zlib.crc32(chunk, checksum)
    result["received_in"] = time.monotonic() - begun
    result["bytes"] = received
    result["intact"] = checksum == zlib.crc32(content(case.bytes))


def content(size):
    return (PATTERN * (size // len(PATTERN) + 1))[:size]


def send_all(case, sock):
    sock.sendall(content(case.bytes))


def read_blocks(case, sock):
    for number in range(case.blocks):
        sock.sendall(bytes(case.small))
        receive(sock, case.header + min(case.block, case.bytes - number * case.block))


def write_blocks(case, sock):
    for number in range(case.blocks):
        block = bytes(min(case.block, case.bytes - number * case.block))
        for message in [bytes(case.header), block] if case.split else [bytes(case.header) + block]:
            sock.sendall(message)
        receive(sock, case.small)


def receive(sock, size):
    while size:
        size -= len(sock.recv(size)) or stop("the peer closed")


def stop(reason):
    raise ConnectionError(reason)


def whole(case, result):
    return result.get("bytes") == case.bytes and result.get("intact", True)


def compare(case, runs):
    """The medians of several runs beside the lab's."""
    real = [in_kernel(case) for _ in range(runs)]
    window = statistics.median_low(run["window_max"] for run in real)
    lab = in_lab(case, window, real[0]["scale"])
    took = statistics.median(run["took"] for run in real)
    ratio = lab["took"] / took
    return {"case": case.name, "lab": lab, "real": real, "lab_s": lab["took"], "real_s": took, "ratio": ratio,
            "tolerance": case.tolerance, "within": abs(ratio - 1) <= case.tolerance, "window": window,
            "whole": all(whole(case, run) for run in [*real, lab])}


def row(found):
    real = found["real"]
    spread = f"{min(run['took'] for run in real):.2f} to {max(run['took'] for run in real):.2f}"
    again = "/".join(str(run["retransmitted"]) for run in real)
    late = max(run["late_99_ms"] for run in real)
    verdict = "yes" if found["within"] else "**no**"
    return (f"| {found['case']} | {found['lab_s']:.3f} | {found['real_s']:.3f} | {spread} | {found['ratio']:.2f} | "
            f"{found['tolerance'] * 100:.0f} % | {verdict} | {found['lab']['retransmitted']} | {again} | "
            f"{found['window']} | {late:.1f} |")


HEADER = ("| case | lab s | real s | runs | lab / real | allowed | within | sent again, lab | sent again, real | "
          "largest window | late ms |\n|---|---|---|---|---|---|---|---|---|---|---|")


def parse():
    parser = argparse.ArgumentParser(prog="scripts/test --only lab-real --", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each case in real time; the median counts")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--small", action="store_true", help="one short transfer, nothing about time")
    parser.add_argument("--assert", dest="strict", action="store_true", help="fail beyond the tolerances")
    parser.add_argument("--json", metavar="FILE", help="all that was measured")
    return parser.parse_args()


def hurry():
    """Goes before ordinary processes where that is allowed: says whether it is."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    return True


def main():
    arguments = parse()
    if reason := impossible():
        print(f"SKIPPED: no link can be emulated here: {reason}")
        return 1 if arguments.strict else 0
    cases = [SMALL] if arguments.small else [case for case in CASES if arguments.only in case.name]
    if not cases:
        raise SystemExit(f"no case is called `{arguments.only}`")
    priority = "before ordinary processes" if not arguments.small and hurry() else "as an ordinary process"
    print(f"Linux {platform.release()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, run {priority}\n\n{HEADER}")
    found = []
    for case in cases:
        found.append(compare(case, 1 if arguments.small else arguments.runs))
        print(row(found[-1]), flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1))
    broken = [one["case"] for one in found if not one["whole"]]
    beyond = [one["case"] for one in found if not one["within"]]
    print(f"\n{len(found)} cases, {len(beyond)} beyond tolerance, {len(broken)} not whole {broken or ''}")
    return 1 if broken or (arguments.strict and beyond) else 0


if __name__ == "__main__":
    sys.exit(main())
