"""Fields of `coax decode` beside those of tshark: offset, length and name of each field of every SMB and NetBIOS message in the captures."""
import collections
import gzip
import json
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

from peers import subject

CAPTURES = Path(__file__).resolve().parents[1] / "captures"
# Copies between coax and coax over a virtual cable that loses frames, at the client
CABLE = Path(__file__).resolve().parent / "captures"
# What stands before IPX in the other frame types
FRAME_TYPES = {"ethernet-ii": b"", "802.3": b"", "snap": b"\xaa\xaa\x03\0\0\0\x81\x37"}
IPX_TYPE, MAX_PAYLOAD = 0x8137, 1500
SMB_HEADER = 32  # bytes
LLC_OF_IPX = b"\xe0\xe0\x03"
# What tshark calls the fields that matter most, and what the specification calls them
NAMES = dict(line.split(None, 1) for line in (Path(__file__).parent / "names.txt").read_text().splitlines() if line and line[0] != "#")
# tshark's protocols, and the field with which such a message begins in coax's list
PROTOCOLS = {"smb": ("Protocol",), "nbns": ("NetBIOS name service packet",), "nbdgm": ("NetBIOS datagram",), "netbios": ("NetBEUI frame",),
             "llc": ("LLC",), "ipx": ("IPX packet",), "nmpi": ("NMPI packet",), "ipxrip": ("RIP packet",), "ipxsap": ("SAP packet",),
             "nbipx": ("NBIPX name packet", "NBIPX datagram", "NBIPX session packet")}
# Calls over named pipes, whose fields tshark lists beside the SMB message that carries them
CALLS = ("dcerpc", "srvsvc", "wkssvc", "spoolss", "svcctl", "winreg", "lsarpc", "pnp")
# Where the specification says something else than tshark: DataLengthHigh has two bytes in READ_ANDX's response ([MS-SMB] 2.2.4.2.2)
DIFFERENT = {("smb.data_len_high", 4)}
# Captures whose only purpose is to break a decoder, and one with a transaction that has fewer words than its SetupCount says: tshark and coax go
# different ways in what has no meaning
BROKEN = {"tcpdump-smb_data_print-oobr.pcapng", "tcpdump-smb_data_print-segv.pcap", "tcpdump-smb_print_trans-oobr1.pcap", "zeek-smb1-OSS-fuzz-54883.pcap",
          "zeek-netbios-split-session-msg.pcap", "zeek-smb1_transaction_secondary_request.pcap"}


def fields_of(parent):
    """The fields below an element. What tshark adds to an identifier comes from other frames."""
    for field in parent.findall("field"):
        yield field
        if field.get("name") not in ("smb.fid", "smb.tid"):
            yield from fields_of(field)


def of_tshark(path):
    """(Frame, protocol) -> for each message in it: (offset, length, name) of the fields that are in its bytes."""
    command = ["tshark", "-n", "-r", path, "-T", "pdml", "-Y", "smb || nbns || nbdgm || netbios || ipx || (llc.dsap == 0xf0 && llc.ssap & 0xf0 == 0xf0)", "-o", "tcp.desegment_tcp_streams:TRUE", "-o", "nbss.desegment_nbss_commands:TRUE",
               # what tshark puts together from several messages has no place in one of them: see listings()
               "-o", "smb.trans_reassembly:FALSE", "-o", "smb.dcerpc_reassembly:FALSE"]
    # other protocols' fields are most of the output
    command += ["-J", " ".join(["geninfo", *PROTOCOLS, *CALLS])]
    done = subprocess.run(command, capture_output=True, timeout=300)
    frames = collections.defaultdict(list)
    for packet in xml.fromstring(done.stdout).iter("packet"):
        number = int(packet.find("./proto[@name='geninfo']/field[@name='num']").get("show"))
        messages = [proto for proto in packet.iter("proto") if proto.get("name") in PROTOCOLS]
        calls = [proto for proto in packet.iter("proto") if proto.get("name") in CALLS]
        for proto in messages:
            start = int(proto.get("pos"))
            # calls are those of the frame's message if it has only one; what tshark put together from several has other positions
            parts = [proto] + [call for call in calls if len(messages) == 1 and int(call.get("pos")) > start]
            # a position before the message counts from the start of a buffer within it, such as the names of printers
            frames[number, proto.get("name")].append({(int(field.get("pos")) - start, int(field.get("size")), field.get("name"))
                                                      for part in parts for field in fields_of(part)
                                                      if int(field.get("size")) > 0 and int(field.get("pos")) >= start})
    return frames


def of_coax(path):
    """The same from coax, without groups."""
    done = subprocess.run([subject.coax_binary(), "decode", path, "--json"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    frames = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        fields = message["fields"]
        if any(field["name"] == "Header" and field["length"] < SMB_HEADER for field in fields):
            continue  # a packet that was not kept whole ends in it: tshark dissects nothing of it
        leaves = [field for field, after in zip(fields, [*fields[1:], {"depth": 0}]) if after["depth"] <= field["depth"]]
        for protocol, names in PROTOCOLS.items():
            start = next((field["offset"] for field in fields if field["name"] in names), None)
            if start is not None:
                frames[message["frame"], protocol].append({(field["offset"] - start, field["length"], field["name"])
                                                           for field in leaves if field["length"] and field["name"] != "Protocol"})
    return frames


def conflicts(ours, theirs):
    """Fields of ours that begin or end within a number of tshark's."""
    numbers = [(at, at + size) for at, size, name in theirs if size in (2, 4, 8) and name in NAMES and (name, size) not in DIFFERENT]
    return [(at, size, name) for at, size, name in ours
            if any(at < end and start < at + size and not (at <= start and end <= at + size) and not (start <= at and at + size <= end)
                   for start, end in numbers)]


def listings():
    """A listing that smbd sent in eight responses has each of the folder's sixty files once (tshark decodes only the first response)."""
    path = CAPTURES / "calls" / "samba.pcap.gz"
    done = subprocess.run([subject.coax_binary(), "decode", path, "--json"], capture_output=True, text=True, timeout=300)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    fields = [field for message in messages if message["message"] == "TRANSACTION2 response" for field in message["fields"]]
    found = sorted(field["value"] for field in fields if field["name"] == "FileName" and "continued" not in field.get("meaning", "")
                   and not field["value"].startswith("\\"))
    there = sorted([".", ".."] + [f"a file with a rather long name {number}.txt" for number in range(1, 61)])
    assert found == there, f"a listing in parts: {len(found)} names of {len(there)}: {set(found) ^ set(there)}"
    print(f"{len(found)} names in a listing of several responses: those of the folder")


def in_frame_type(path, frame_type, folder):
    """The capture with its IPX packets in another frame type."""
    data = gzip.decompress(path.read_bytes())
    out, at = data[:24], 24
    while at < len(data):
        seconds, fraction, size, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + size]
        at += 16 + size
        if frame[14:17] == LLC_OF_IPX:
            packet = frame[17:17 + struct.unpack_from(">H", frame, 19)[0]]
            packet = FRAME_TYPES[frame_type] + packet
            if len(packet) > MAX_PAYLOAD:
                continue
            field = struct.pack(">H", IPX_TYPE if frame_type == "ethernet-ii" else len(packet))
            frame = (frame[:12] + field + packet).ljust(60, b"\0")
        out += struct.pack("<IIII", seconds, fraction, len(frame), len(frame)) + frame
    written = folder / f"{frame_type}-{path.name.removesuffix('.gz')}"
    written.write_bytes(out)
    return written


class Score:
    def __init__(self):
        self.messages = self.missing = self.fields = self.stubs = 0
        self.wrong = collections.Counter()
        self.same = collections.Counter()
        self.seen = collections.Counter()

    def compare(self, path):
        theirs, ours = of_tshark(path), of_coax(path)
        # A message in several frames: tshark shows it in the first packet of NBIPX, and in a frame of NetBEUI that the receiver rejected. coax
        # shows it where the receiver has all of it.
        early = [key for key in theirs if key[1] == "smb" and key not in ours and ((key[0], "nbipx") in ours or (key[0], "netbios") in ours)]
        late = [key for key in ours if key[1] == "smb" and key not in theirs]
        if len(early) == len(late):
            theirs = {key: value for key, value in theirs.items() if key not in early}
        for (frame, protocol), messages in theirs.items():
            if len(messages) != len(ours.get((frame, protocol), [])):
                self.missing += 1
                print(f"  {path.name} frame {frame}: {len(messages)} messages of {protocol}; coax: {len(ours.get((frame, protocol), []))}")
                continue
            for one, other in zip(messages, ours[frame, protocol]):
                self.message(path.name, frame, other, one)

    def message(self, capture, frame, ours, theirs):
        self.messages += 1
        by_place = {(at, size): name for at, size, name in ours}
        # arguments of calls that coax has no layout of
        stubs = [range(at, at + size) for at, size, name in ours if name == "Stub"]
        self.stubs += len(stubs)
        end = max(at + size for at, size, name in ours)
        for at, size, name in theirs:
            # what tshark keeps for later in a buffer of its own lies behind the message
            if (name, size) in DIFFERENT or at >= end or any(at in stub for stub in stubs):
                continue
            if name in NAMES:
                self.fields += 1
                mine = by_place.get((at, size))
                if mine in NAMES[name].split():
                    self.same[name] += 1
                else:
                    self.wrong[f"{name} is {mine}"] += 1
                    print(f"  {capture} frame {frame}: {name} at {at} has {size} bytes; coax: {mine}")
            elif (at, size) in by_place:
                self.seen[name, by_place[at, size]] += 1
        for at, size, name in conflicts([field for field in ours if field[2] != "Stub"], theirs):
            self.wrong[f"{name} overlaps"] += 1
            print(f"  {capture} frame {frame}: {name} at {at} with {size} bytes overlaps a number of tshark's")


def main():
    listings()
    score = Score()
    paths = [path for path in sorted(CAPTURES.rglob("*.pcap*")) if path.parent.name != "tcp" and path.name not in BROKEN]
    cable = sorted(CABLE.glob("*.pcap.gz"))
    with tempfile.TemporaryDirectory() as folder:
        paths += cable + [in_frame_type(path, kind, Path(folder)) for path in cable if path.name != "nbf.pcap.gz" for kind in FRAME_TYPES]
        for path in paths:
            score.compare(path)
    if "--names" in sys.argv:
        for (name, mine), count in score.seen.most_common():
            print(f"{count:7} {name} {mine}")
    agreed = sum(score.same.values())
    assert score.stubs < 1000, f"{score.stubs} fields of calls without a layout"
    print(f"{score.messages} messages of {len(paths)} captures: {agreed} of {score.fields} fields of {len(score.same)} names where tshark has them; "
          f"{score.missing} places with another number of messages")
    assert score.messages > 3000 and len(score.same) > 40, "too little was compared"
    return 1 if score.wrong or score.missing else 0


if __name__ == "__main__":
    sys.exit(main())
