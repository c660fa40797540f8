"""The lab's NetBEUI and IPX beside real copies: coax's client and server on packet sockets of a virtual cable, and the lab with
the same settings. Both captures are counted by this script, which uses nothing of coax.

Numbers and sizes of frames with data must be the same. Acknowledgments depend on how often a station's thread runs: the kernel gives it
several frames at once, and it answers them together. So a real copy has at most as many as the lab's, and at least one for each window.
With --rate the frames come as far apart as on Ethernet, and a real copy has nearly as many as the lab's.
Needs root (namespaces).
"""
import argparse
import os
import struct
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ipx import main as ipx
from netbeui import main as netbeui
from netbeui.bench import limit
from netbeui.main import Cable, capture, check, run

SIZE = 2_000_000
URLS = {"netbeui": "nbf://ATTIC:eth0/DATA", "nbipx": "ipx+nb://ATTIC:eth0:802.2/DATA", "ipx": "ipx+direct://ATTIC:eth0:802.2/DATA"}
LAB_SERVER = bytes([2, 0, 0, 0, 0, 1])
# frames that may be in flight before an acknowledgment (docs/netbeui.md, docs/ipx.md)
WINDOWS = {"netbeui": 7, "nbipx": 32}


def frames(path):
    """The frames of a capture."""
    plain = path.with_suffix(".plain")
    run("tshark", "-n", "-r", path, "-F", "pcap", "-w", plain)
    data = plain.read_bytes()
    at = 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def of_netbeui(frame):
    """Kind and data bytes (SC30-3587 §5.6: commands 15 and 16 carry data)."""
    length = int.from_bytes(frame[12:14], "big")
    if length > 1500 or frame[14] != 0xf0:
        return None
    if frame[16] & 3 == 1:
        return "acknowledgment", 0
    if frame[16] & 1 == 0 and frame[22] in (0x15, 0x16):
        return "data", length - 18
    return None


def of_ipx(frame, socket):
    if int.from_bytes(frame[12:14], "big") > 1500 or frame[14:17] != b"\xe0\xe0\x03":
        return None
    packet = frame[17:]
    packet = packet[:int.from_bytes(packet[2:4], "big")]
    is_session = packet[5] == 4 and socket in (packet[16:18], packet[28:30])
    return packet[30:] if is_session else None


def of_nbipx(frame):
    """docs/ipx.md: system packets acknowledge; stream 6 carries data."""
    packet = of_ipx(frame, b"\x04\x55")
    if packet is None or len(packet) < 18 or packet[1] != 6:
        return None
    if packet[0] & 0x80:
        return "acknowledgment", 0
    return ("data", len(packet) - 18) if len(packet) > 18 else None


def of_direct(frame):
    packet = of_ipx(frame, b"\x05\x50")
    return ("data", len(packet)) if packet and packet[:4] == b"\xffSMB" else None


KINDS = {"netbeui": of_netbeui, "nbipx": of_nbipx, "ipx": of_direct}


def counted(path, transport, server):
    """Frames with file data by direction and size, other frames with data, and acknowledgments by direction."""
    data, acknowledgments = Counter(), Counter()
    for frame in frames(path):
        found = KINDS[transport](frame)
        if found is None:
            continue
        kind, length = found
        way = "to client" if frame[6:12] == server else "to server"
        if kind == "data":
            data[way, length] += 1
        else:
            acknowledgments[way] += 1
    return data, acknowledgments


def real(cable, scratch, transport, direction):
    """A capture of a real copy."""
    original, path = scratch / "FILE.BIN", scratch / f"real-{transport}-{direction}.pcap"
    folder = scratch / "share"
    url = f"{URLS[transport]}/FILE.BIN"
    original.write_bytes(os.urandom(SIZE))
    if direction == "to-client":
        (folder / "FILE.BIN").write_bytes(original.read_bytes())
    with capture(cable, path):
        if direction == "to-server":
            cable.coax("put", original, url)
        else:
            cable.coax("get", url, scratch / "BACK.BIN")
        settle(path)
    return path


def settle(path):
    """tcpdump may be behind: waits until the file has not grown for a second."""
    size = -1
    while size != (size := path.stat().st_size):
        time.sleep(1)


def in_the_lab(cable, scratch, transport, direction):
    """A capture of the lab's copy. What `coax serve` offers differs from the lab's Samba in these values."""
    path = scratch / f"lab-{transport}-{direction}.pcapng"
    settings = ["transport=" + transport, f"size={SIZE}", "direction=" + direction, "server.config.extended_security=true"]
    words = [word for setting in settings for word in ("--set", setting)]
    cable.coax("lab", "copy", "--client", "modern", *words, "--pcap", path)
    return path


def large(data):
    """Frames that carry file data: larger than requests and responses without it."""
    return Counter({key: count for key, count in data.items() if key[1] > 700})


def compare(cable, scratch, transport, direction):
    seen, acknowledged = counted(real(cable, scratch, transport, direction), transport, own_address(cable))
    lab, lab_acknowledged = counted(in_the_lab(cable, scratch, transport, direction), transport, LAB_SERVER)
    where = f"{transport} {direction}"
    check(large(seen) == large(lab), where, "frames with data differ:", large(seen), "in the lab", large(lab))
    back, forth = ("to client", "to server") if direction == "to-server" else ("to server", "to client")
    total = sum(count for (way, _), count in large(seen).items() if way == forth)
    if transport in WINDOWS:
        most, least = lab_acknowledged[back], total // WINDOWS[transport]
        check(least <= acknowledged[back] <= most, where, "acknowledgments", acknowledged[back], "not from", least, "to", most)
    megabytes = SIZE / 1e6
    return (f"{where}: {total / megabytes:.1f} frames with data a MB in both; acknowledgments a MB: "
            f"real {acknowledged[back] / megabytes:.1f}, lab {lab_acknowledged[back] / megabytes:.1f}")


def own_address(cable):
    """The server's."""
    mac = run("ip", "-n", cable.server, "-br", "link", "show", "eth0").stdout.split()[2]
    return bytes.fromhex(mac.replace(":", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", default="", help="limit the cable, as in 10mbit (needs sch_tbf); frames then come one by one")
    rate = parser.parse_args().rate
    with tempfile.TemporaryDirectory() as name, Cable() as cable:
        scratch = Path(name)
        scratch.chmod(0o755)
        folder = scratch / "share"
        folder.mkdir()
        folder.chmod(0o777)
        limit(cable, rate)
        told = []
        with netbeui.server(cable, folder, scratch / "netbeui.json"):
            told += [compare(cable, scratch, "netbeui", way) for way in ("to-server", "to-client")]
        with ipx.server(cable, folder, scratch / "ipx.json", "eth0:802.2"):
            for transport in ("nbipx", "ipx"):
                told += [compare(cable, scratch, transport, way) for way in ("to-server", "to-client")]
    print("\n".join(told))


if __name__ == "__main__":
    sys.exit(main())
