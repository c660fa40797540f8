"""A browser on NetBEUI that shares nothing with coax, written from [MS-BRWS], [MS-MAIL] and docs/netbeui.md: it hears the
master browser, asks it for the list, announces a machine, and takes part in elections. Run inside the client's namespace:
netbeui.browser INTERFACE announce|elect.
"""
import socket
import struct
import sys
import time

GROUP = bytes((3, 0, 0, 0, 0, 1))
SERVER, WORKGROUP, OWN = "ATTIC", "WORKGROUP", "PYPC"
MASTER, ELECTION = 0x1d, 0x1e
SECONDS = 40
SLOT = b"\\MAILSLOT\\BROWSE\0"
HOST, REQUEST, VOTE, WANTED, BACKUPS, LOCAL_MASTER = 0x01, 0x02, 0x08, 0x09, 0x0a, 0x0f


def netbios_name(text, suffix):
    return text.encode().ljust(15) + bytes([suffix])


def mailslot(message):
    """SMB_COM_TRANSACTION that writes a message to the browsers' mailslot."""
    start = 32 + 1 + 34 + 2 + len(SLOT)
    words = struct.pack("<HHHHBBHIHHHHHBBHHH", 0, len(message), 0, 0, 0, 0, 0, 1000, 0, 0, 0, len(message), start, 3, 0, 1, 1, 2)
    return b"\xffSMB\x25" + bytes(27) + bytes([len(words) // 2]) + words + struct.pack("<H", len(SLOT) + len(message)) + SLOT + message


def browser_message(data):
    """The message in a mailslot write, or None."""
    if data[:5] != b"\xffSMB\x25" or len(data) < 67:
        return None
    length, start = struct.unpack("<HH", data[32 + 1 + 22:32 + 1 + 26])
    return data[start:start + length]


def announcement(command, name, server_type, minutes=12):
    head = struct.pack("<BBI", command, 0, minutes * 60_000) + name.encode().ljust(16, b"\0")
    return head + struct.pack("<BBIBBBB", 4, 0, server_type, 0x0f, 0x01, 0x55, 0xaa) + b"in Python\0"


def election(version, criteria, name=OWN):
    return struct.pack("<BBIII", VOTE, version, criteria, 0, 0) + name.encode() + b"\0"


class NetBeui:
    """Datagrams of NetBIOS frames."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(4))
        self.socket.bind((interface, 4))
        self.node = self.socket.getsockname()[4]

    def send(self, suffix, message):
        header = struct.pack("<HHBBHHH", 44, 0xefff, 0x08, 0, 0, 0, 0) + netbios_name(WORKGROUP, suffix) + netbios_name(OWN, 0)
        pdu = b"\xf0\xf0\x03" + header + mailslot(message)
        self.socket.send((GROUP + self.node + struct.pack(">H", len(pdu)) + pdu).ljust(60, b"\0"))

    def receive(self, until):
        """The next browser message that a station sent: source name, destination name, message."""
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame = self.socket.recv(2000)
            except socket.timeout:
                break
            length = struct.unpack(">H", frame[12:14])[0]
            pdu = frame[14:14 + length]
            if frame[6:12] == self.node or pdu[:3] != b"\xf0\xf0\x03" or pdu[7:8] != b"\x08":
                continue
            to, source = pdu[15:31], pdu[31:47]
            message = browser_message(pdu[47:])
            if message:
                return source, to, message
        return None


def wait(network, accept, what, seconds=SECONDS):
    until = time.monotonic() + seconds
    while (heard := network.receive(until)) is not None:
        if accept(*heard):
            return heard
    raise AssertionError(f"not heard: {what}")


def name_of(message):
    return message[6:22].split(b"\0")[0].decode()


def is_master(_, __, message):
    return message[0] == LOCAL_MASTER and name_of(message) == SERVER and struct.unpack("<I", message[24:28])[0] & 0x40000


def announce(network):
    """A machine that joins: it finds the master browser and announces itself."""
    token = 0x70797468
    for attempt in range(SECONDS):
        network.send(MASTER, struct.pack("<BBI", WANTED, 4, token))
        try:
            source, to, message = wait(network, lambda _, __, m: m[0] == BACKUPS and m[2:6] == struct.pack("<I", token), "the list", 1)
            break
        except AssertionError:
            if attempt == SECONDS - 1:
                raise
    assert to == netbios_name(OWN, 0), to
    assert source == netbios_name(WORKGROUP, MASTER), source
    names = message[6:].split(b"\0")
    assert message[1] == 1 and names[0].decode() == SERVER, message
    network.send(MASTER, announcement(HOST, OWN, 0x0001_1003))


def elect(network):
    """A better candidate wins; when it leaves, coax becomes master browser again."""
    for _ in range(4):
        network.send(ELECTION, election(1, 0xff010f01))
        until = time.monotonic() + 1
        while (heard := network.receive(until)) is not None:
            assert heard[2][0] != VOTE, "the worse candidate goes on"
    network.send(ELECTION, announcement(LOCAL_MASTER, OWN, 0x0005_1003))
    time.sleep(1)
    network.send(MASTER, announcement(HOST, OWN, 0))
    network.send(ELECTION, election(0, 0))
    votes = 0
    while True:
        _, _, message = wait(network, lambda *_: True, "the election")
        if message[0] == VOTE and message[1] == 1:
            assert message[14:].split(b"\0")[0].decode() == SERVER, message
            votes += 1
        elif is_master(None, None, message):
            break
    assert votes >= 4, f"master after {votes} requests"


def main(network, what):
    {"announce": announce, "elect": elect}[what](network)


if __name__ == "__main__":
    main(NetBeui(sys.argv[1]), sys.argv[2])
