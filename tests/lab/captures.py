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


def without_tcp(path, protocol):
    """Sentences about what is wrong with a capture of NetBEUI or IPX."""
    # tshark 4.0 expects no negHints in SPNEGO's negTokenInit2 ([MS-SPNG] 2.2.1); over TCP it is the same
    fault = "(_ws.malformed || _ws.expert.severity >= 0x600000 || frame.time_delta < 0) && !(smb.cmd == 0x72 && spnego)"
    if wrong := tshark(path, "-Y", fault):
        yield f"{path.name}: {len(wrong)} frames are wrong, the first: {wrong[0]}"
    frames, known = tshark(path, "-T", "fields", "-e", "frame.number"), tshark(path, "-Y", protocol, "-T", "fields", "-e", "frame.number")
    if len(frames) < 300 or frames != known:
        yield f"{path.name}: {len(frames)} frames, {len(known)} of {protocol}; at least 300 were sent"
    if len(tshark(path, "-Y", "smb")) < 10:
        yield f"{path.name}: no SMB messages"


def complaints(path):
    """Sentences about what is wrong with a capture."""
    for transport, protocol in (("netbeui-", "llc && !ipx"), ("nbipx-", "ipx"), ("ipx-", "ipx")):
        if path.name.startswith(transport):
            yield from without_tcp(path, protocol)
            return
    if wrong := tshark(path, "-Y", WRONG):
        yield f"{path.name}: {len(wrong)} frames are wrong, the first: {wrong[0]}"
    frames = tshark(path, "-Y", "tcp", "-T", "fields", "-e", "frame.time_epoch")
    if len(frames) < 200:
        yield f"{path.name}: {len(frames)} TCP frames, at least 200 were sent"
    if not any(len(stamp.partition(".")[2].rstrip("0")) > 6 for stamp in frames):
        yield f"{path.name}: times are no nanoseconds"
    if path.name.endswith("-client.pcapng") and not tshark(path, "-Y", "tcp.analysis.retransmission"):
        yield f"{path.name}: frames were lost, yet tshark sees no retransmission"


def main():
    with tempfile.TemporaryDirectory() as folder:
        # the whole workspace, because then cargo uses what the tests have built
        subprocess.run(["cargo", "build", "-q", "--locked", "--workspace", "--example", "captures"], check=True, cwd=ROOT)
        subprocess.run([subject.target_folder() / "debug" / "examples" / "captures", folder], check=True, cwd=ROOT)
        captures = sorted(Path(folder).glob("*.pcapng"))
        wrong = [sentence for path in captures for sentence in complaints(path)]
    for sentence in wrong:
        print(sentence)
    print(f"{len(captures)} captures read by tshark, {len(wrong)} complaints")
    return 1 if wrong or not captures else 0


if __name__ == "__main__":
    sys.exit(main())
