"""tshark reads what the lab writes: every frame dissects, every checksum is right, times are nanoseconds in order.

The lab writes captures of lossy copies over TCP at the client, at the server and on the wire, and over NetBEUI and IPX on the wire. Payloads are a pattern; whatever
protocol tshark's heuristics see in it does not count.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
WRONG = "_ws.malformed && !thrift || tcp.checksum.status == 0 || ip.checksum.status == 0 || frame.time_delta < 0"
CHECKED = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]


def tshark(path, *arguments):
    command = ["tshark", "-n", "-r", str(path), *CHECKED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"tshark on {path.name}: {done.stderr.strip()[-300:]}")
    return done.stdout.splitlines()


def counted(path, *filters):
    """How many frames match each filter, and the times of all frames: one run of tshark, which takes longer to start than to read."""
    lines = tshark(path, "-T", "fields", "-e", "frame.time_epoch", "-z", ",".join(("io,stat,0", *filters)))
    times = lines[:lines.index("")]
    row = next(line for line in lines if "<>" in line)
    # each filter has a column of frames and one of bytes
    counts = [int(number) for number in row.partition("<>")[2].replace("|", " ").split()[1::2]]
    if len(counts) != len(filters):
        raise SystemExit(f"tshark on {path.name} counts something else: {row}")
    return counts, times


def faults(path, fault, count):
    """A sentence about the frames that match the filter `fault`, if there are any."""
    if count:
        yield f"{path.name}: {count} frames are wrong, the first: {tshark(path, '-Y', fault)[0]}"


def without_tcp(path, protocol):
    """Sentences about what is wrong with a capture of NetBEUI or IPX."""
    # tshark 4.0 expects no negHints in SPNEGO's negTokenInit2 ([MS-SPNG] 2.2.1); over TCP it is the same
    fault = "(_ws.malformed || _ws.expert.severity >= 0x600000 || frame.time_delta < 0) && !(smb.cmd == 0x72 && spnego)"
    (wrong, known, messages), times = counted(path, fault, protocol, "smb")
    yield from faults(path, fault, wrong)
    if len(times) < 300 or len(times) != known:
        yield f"{path.name}: {len(times)} frames, {known} of {protocol}; at least 300 were sent"
    if messages < 10:
        yield f"{path.name}: no SMB messages"


def complaints(path):
    """Sentences about what is wrong with a capture."""
    for transport, protocol in (("netbeui-", "llc && !ipx"), ("nbipx-", "ipx"), ("ipx-", "ipx")):
        if path.name.startswith(transport):
            yield from without_tcp(path, protocol)
            return
    (wrong, frames, again), times = counted(path, WRONG, "tcp", "tcp.analysis.retransmission")
    yield from faults(path, WRONG, wrong)
    if frames < 200:
        yield f"{path.name}: {frames} TCP frames, at least 200 were sent"
    if not any(len(stamp.partition(".")[2].rstrip("0")) > 6 for stamp in times):
        yield f"{path.name}: times are no nanoseconds"
    if path.name.endswith("-client.pcapng") and not again:
        yield f"{path.name}: frames were lost, yet tshark sees no retransmission"


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([subject.example("captures"), folder], check=True, cwd=ROOT)
        captures = sorted(Path(folder).glob("*.pcapng"))
        wrong = [sentence for path in captures for sentence in complaints(path)]
    for sentence in wrong:
        print(sentence)
    print(f"{len(captures)} captures read by tshark, {len(wrong)} complaints")
    return 1 if wrong or not captures else 0


if __name__ == "__main__":
    sys.exit(main())
