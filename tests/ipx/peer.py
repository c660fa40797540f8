"""An SMB client on IPX that shares nothing with coax: uploads, lists and downloads a file over direct hosting and over
NetBIOS, repeats requests, and asks for services. Run inside the client's namespace: ipx.peer INTERFACE FRAME SERVER SHARE.
"""
import os
import struct
import sys

from ipx.wire import BROADCAST, Direct, NetBios, Wire, smb

DIALECT = b"\x02PC NETWORK PROGRAM 1.0\0\x02MICROSOFT NETWORKS 3.0\0\x02DOS LM1.2X002\0"
PIECE = 900
# bytes of SMB in an Ethernet frame
ROOM = {"802.2": 1467, "802.3": 1470, "ethernet-ii": 1470, "snap": 1462}


def status(reply):
    return struct.unpack("<BBH", reply[5:9])


def ok(reply, command):
    assert reply[4] == command and status(reply) == (0, 0, 0), (hex(reply[4]), status(reply))
    return reply


def words(reply):
    return struct.unpack("<%dH" % reply[32], reply[33:33 + 2 * reply[32]])


class Session:
    """Core and LAN Manager requests over either carriage."""

    def __init__(self, carriage):
        self.carriage, self.mid, self.tid, self.uid = carriage, 0, 0, 0

    def call(self, command, words=b"", data=b""):
        self.mid += 1
        self.last = smb(command, self.mid, words, data, self.tid, self.uid)
        return ok(self.carriage.call(self.last), command)

    def connect(self, server, share):
        reply = self.call(0x72, data=DIALECT)
        assert words(reply)[0] == 2, words(reply)
        self.limit = words(reply)[2]
        setup = struct.pack("<BBHHHHIHI", 0xff, 0, 0, 1400, 1, 0, 0, 0, 0)
        reply = self.call(0x73, setup, b"GUEST\0")
        self.uid = struct.unpack("<H", reply[28 + 0:30])[0]
        unc = b"\x04\\\\" + server.encode() + b"\\" + share.encode() + b"\0\x04\0\x04?????\0"
        self.tid = words(self.call(0x70, data=unc))[1]

    def upload(self, name, content):
        fid = words(self.call(0x03, struct.pack("<HI", 0, 0), b"\x04" + name.encode() + b"\0"))[0]
        for at in range(0, len(content), PIECE):
            piece = content[at:at + PIECE]
            head = struct.pack("<HHIH", fid, len(piece), at, 0)
            reply = self.call(0x0b, head, struct.pack("<BH", 1, len(piece)) + piece)
            assert words(reply)[0] == len(piece)
        self.call(0x04, struct.pack("<HI", fid, 0))

    def download(self, name):
        fid = words(self.call(0x02, struct.pack("<HH", 0x40, 0), b"\x04" + name.encode() + b"\0"))[0]
        content = b""
        while True:
            reply = self.call(0x0a, struct.pack("<HHIH", fid, PIECE, len(content), 0))
            count = words(reply)[0]
            if count == 0:
                break
            at = 33 + 2 * reply[32] + 2 + 3
            content += reply[at:at + count]
        self.call(0x04, struct.pack("<HI", fid, 0))
        return content


def direct(wire, server, share):
    carriage = Direct(wire, server)
    session = Session(carriage)
    session.connect(server, share)
    assert session.limit <= ROOM[wire.frame], f"a message of {session.limit} bytes does not fit into a packet"
    content = os.urandom(20_000)
    session.upload("PYDIRECT.BIN", content)
    assert session.download("PYDIRECT.BIN") == content, "the file differs"
    # A folder is made once, however often the request comes; made twice, it would be an error.
    made = session.call(0x00, data=b"\x04PYFOLDER\0")
    for _ in range(3):
        assert carriage.repeat(session.last) == made, "the last reply, byte for byte"
    session.call(0x01, data=b"\x04PYFOLDER\0")
    session.call(0x71)
    stale = carriage.connection
    carriage.connection = stale ^ 0x5555
    carriage.post(smb(0x2b, 9, struct.pack("<H", 1), b"x"), 1)
    answer = carriage.wait(1, 9)
    assert answer is not None and status(answer[1]) == (2, 0, 0x10), "no ERRinvsess for an unknown connection"


def netbios(wire, server, share):
    carriage = NetBios(wire, server)
    session = Session(carriage)
    session.connect(server, share)
    content = os.urandom(20_000)
    session.upload("PYNBIPX.BIN", content)
    assert session.download("PYNBIPX.BIN") == content, "the file differs"
    carriage.close()


def services(wire):
    """The nearest Windows NT server; nobody is a NetWare server."""
    answer = wire.ask(0x4005, 0x0452, 0, struct.pack(">HH", 3, 0x0640), lambda data: data[:4] == b"\0\x04\x06\x40")
    name = answer[2][4:52].split(b"\0")[0]
    assert name == b"ATTIC", name
    until = __import__("time").monotonic() + 0.5
    wire.send(BROADCAST, 0x0452, 0x4005, 0, struct.pack(">HH", 3, 4))
    assert wire.receive(0x4005, until) is None, "an answer for NetWare servers"


def main():
    interface, frame, server, share = sys.argv[1:]
    wire = Wire(interface, frame)
    services(wire)
    direct(wire, server, share)
    netbios(wire, server, share)


if __name__ == "__main__":
    main()
