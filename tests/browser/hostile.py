"""A capture of copies whose names would do harm if a page took them for more than names."""
import struct

NAMES = [
    "\\</script><script>window.stolen=1</script>",
    "\\<img src=x onerror=window.stolen=2>",
    "\\a\"'><b onmouseover=window.stolen=3>&lt;&#60;${window.stolen=4}`",
    "\\-->]]><!--<svg/onload=window.stolen=5>",
]
UNSEEN = [(0x00, 0x1f), (0x7f, 0x9f), (0x200b, 0x200f), (0x2028, 0x202e), (0x2066, 0x2069)]


def is_unseen(character):
    return any(low <= ord(character) <= high for low, high in UNSEEN)


def smb(command, reply, mid, words, data=b""):
    header = struct.pack("<4sBIBHH8sHHHHH", b"\xffSMB", command, 0, 0x80 if reply else 0, 0, 0, b"", 0, 1, 1, 1, mid)
    body = header + bytes([len(words) // 2]) + words + struct.pack("<H", len(data)) + data
    return struct.pack(">I", len(body)) + body


def messages(fid, name):
    """(from the client, message) of one copy: open, two reads, close."""
    no_more = b"\xff\0\0\0"
    yield True, smb(0x2d, False, 1, no_more + struct.pack("<HHHHIHIII", 0, 0, 0, 0, 0, 1, 0, 0, 0), name.encode("latin-1") + b"\0")
    yield False, smb(0x2d, True, 1, no_more + struct.pack("<HHIIHHHHIH", fid, 0, 0, 2000, 0, 0, 0, 1, 0, 0))
    for offset in (0, 1000):
        yield True, smb(0x2e, False, 2, no_more + struct.pack("<HIHHIH", fid, offset, 1000, 0, 0, 0))
        yield False, smb(0x2e, True, 2, no_more + struct.pack("<HHHHH10s", 0, 0, 0, 1000, 59, b""), bytes(1000))
    yield True, smb(4, False, 3, struct.pack("<HI", fid, 0))
    yield False, smb(4, True, 3, b"")


class Capture:
    def __init__(self):
        self.out = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        self.at = 1_000_000
        self.sequence = {True: 1000, False: 5000}

    def packet(self, client, flags, data=b"", wait=5000):
        self.at += wait
        ends = (b"\x0a\0\0\1", b"\x0a\0\0\2") if client else (b"\x0a\0\0\2", b"\x0a\0\0\1")
        ports = (1025, 139) if client else (139, 1025)
        tcp = struct.pack(">HHIIBBHHH", *ports, self.sequence[client], self.sequence[not client], 0x50, flags, 8760, 0, 0)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(data), 0, 0, 64, 6, 0, *ends)
        frame = bytes(12) + b"\x08\0" + ip + tcp + data
        self.out += struct.pack("<IIII", self.at // 1_000_000, self.at % 1_000_000, len(frame), len(frame)) + frame
        self.sequence[client] += len(data) + (1 if flags & 2 else 0)


def write(path):
    capture = Capture()
    capture.packet(True, 2)
    capture.packet(False, 0x12)
    capture.packet(True, 0x10)
    for fid, name in enumerate(NAMES, start=1):
        for client, message in messages(fid, name):
            # the first is the longest: it is the one that is shown
            capture.packet(client, 0x18, message, wait=9000 - 1000 * fid)
    path.write_bytes(capture.out)
