"""IPX, NBIPX and direct hosting as an independent client speaks them: written from docs/ipx.md and [MS-CIFS] with packet
sockets and struct, and without anything of coax. Needs CAP_NET_RAW."""
import socket
import struct
import time

FRAME_TYPES = ("802.2", "802.3", "ethernet-ii", "snap")
PROTOCOLS = {"802.2": 0x0004, "snap": 0x0004, "802.3": 0x0001, "ethernet-ii": 0x8137}
ENCAPSULATION = {"802.2": b"\xe0\xe0\x03", "802.3": b"", "snap": b"\xaa\xaa\x03\0\0\0\x81\x37"}
BROADCAST = b"\xff" * 6
NETBIOS, SERVER, NAMES, CLIENT = 0x0455, 0x0550, 0x0551, 0x0552
SECONDS = 5


def netbios_name(text, suffix):
    return text.encode().ljust(15) + bytes([suffix])


class Wire:
    """A node with packets in one frame type."""

    def __init__(self, interface, frame):
        self.frame = frame
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(PROTOCOLS[frame]))
        self.socket.bind((interface, PROTOCOLS[frame]))
        self.node = self.socket.getsockname()[4]

    def send(self, node, to, own, kind, data):
        header = struct.pack(">HHBB4s6sH4s6sH", 0xffff, 30 + len(data), 0, kind, b"\0" * 4, node, to, b"\0" * 4, self.node, own)
        packet = header + data
        if self.frame == "ethernet-ii":
            field = 0x8137
        else:
            packet = ENCAPSULATION[self.frame] + packet
            packet += b"\0" * (len(packet) % 2)
            field = len(packet)
        self.socket.send((node + self.node + struct.pack(">H", field) + packet).ljust(60, b"\0"))

    def receive(self, own, until, broadcasts=False):
        """The next packet to a socket of ours: node and socket of the sender, data. None: there was none in time."""
        nodes = (self.node, BROADCAST) if broadcasts else (self.node,)
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame = self.socket.recv(2000)
            except socket.timeout:
                return None
            if frame[:6] not in nodes or frame[6:12] == self.node:
                continue
            payload = frame[14:]
            if self.frame != "ethernet-ii":
                inside = ENCAPSULATION[self.frame]
                if not payload.startswith(inside):
                    continue
                payload = payload[len(inside):]
            checksum, length, _, _, _, node, to, _, source, sender = struct.unpack(">HHBB4s6sH4s6sH", payload[:30])
            if checksum == 0xffff and node in nodes and to == own:
                return source, sender, payload[30:length]
        return None

    def ask(self, own, to, kind, data, accept):
        """Broadcasts a question until an answer is accepted."""
        for _ in range(6):
            self.send(BROADCAST, to, own, kind, data)
            until = time.monotonic() + 1
            while (packet := self.receive(own, until)) is not None:
                if accept(packet[2]):
                    return packet
        raise AssertionError("no answer")


def smb(command, mid, words=b"", data=b"", tid=0, uid=0, flags2=0):
    header = struct.pack("<4sBIBHH8sHHHHH", b"\xffSMB", command, 0, 0, flags2, 0, b"\0" * 8, 0, tid, 0x4242, uid, mid)
    return header + bytes([len(words) // 2]) + words + struct.pack("<H", len(data)) + data


class Direct:
    """SMB directly over IPX: each request has the next number and is repeated until it is answered."""

    def __init__(self, wire, server, client="PYTHON"):
        self.wire, self.connection, self.number = wire, 0, 0
        self.names = netbios_name(client, 0) + netbios_name(server, 0x20)
        query = bytes(32) + struct.pack("<BBH", 0xf3, 1, 0x1234) + netbios_name(server, 0x20) + netbios_name(client, 0)
        found = lambda data: data[32:36] == struct.pack("<BBH", 0xf4, 1, 0x1234) and data[36:52] == netbios_name(server, 0x20)
        self.node, _, _ = wire.ask(CLIENT, NAMES, 4, query, found)

    def stamp(self, message, number):
        return message[:14] + struct.pack("<IHHH", 0, self.connection, number, 0)[:8] + message[22:]

    def post(self, message, number):
        trailer = self.names if message[4] == 0x72 else b""
        self.wire.send(self.node, SERVER, CLIENT, 4, self.stamp(message, number) + trailer)

    def wait(self, number, mid):
        until = time.monotonic() + 1
        while (packet := self.wire.receive(CLIENT, until)) is not None:
            reply = packet[2]
            connection, answered = struct.unpack("<HH", reply[18:22])
            if reply[:4] == b"\xffSMB" and answered == number and struct.unpack("<H", reply[30:32])[0] == mid:
                return connection, reply
        return None

    def call(self, message):
        self.number += 1
        mid = struct.unpack("<H", message[30:32])[0]
        for _ in range(6):
            self.post(message, self.number)
            answer = self.wait(self.number, mid)
            if answer is not None:
                self.connection = self.connection or answer[0]
                assert answer[0] == self.connection, "the server changed the connection"
                return answer[1]
        raise AssertionError("no reply")

    def repeat(self, message):
        """The same request with the number of the last one, which the server must not serve again."""
        self.post(message, self.number)
        answer = self.wait(self.number, struct.unpack("<H", message[30:32])[0])
        assert answer is not None, "no reply to a repeated request"
        return answer[1]


class NetBios:
    """A NetBIOS session over IPX with a window of one packet: each packet asks for its acknowledgment."""

    DATA, END, END_ACK = 6, 7, 8

    def __init__(self, wire, server, client="PYTHON", number=77):
        self.wire, self.own, self.peer = wire, number, 0xffff
        self.sequence, self.expected = 0, 0
        find = bytes(32) + b"\0\x01" + netbios_name(server, 0x20)
        known = lambda data: len(data) == 50 and data[33] == 2 and data[34:50] == netbios_name(server, 0x20)
        self.node, _, _ = wire.ask(NETBIOS, NETBIOS, 20, find, known)
        names = netbios_name(client, 0) + netbios_name(server, 0x20) + struct.pack("<HHH", 1024, 0x15, 9)
        self.messages, self.inbox, self.ended = [], b"", False
        self.packet(0x41, self.DATA, names)

    def emit(self, control, stream, data=b"", offset=0, total=None):
        total = len(data) if total is None else total
        header = struct.pack("<BBHHHHHHHH", control, stream, self.own, self.peer, self.sequence, total, offset, len(data),
                             self.expected, (self.expected + 3) & 0xffff)
        self.wire.send(self.node, NETBIOS, NETBIOS, 4, header + data)

    def packet(self, control, stream, data=b"", offset=0, total=None):
        """Sends a packet with a number until it is acknowledged."""
        wanted = (self.sequence + 1) & 0xffff
        for _ in range(8):
            self.emit(control, stream, data, offset, total)
            until = time.monotonic() + 0.5
            while True:
                acknowledged = self.take(until)
                if acknowledged is None:
                    break
                if acknowledged == wanted:
                    self.sequence = wanted
                    return
        raise AssertionError("no acknowledgment")

    def take(self, until):
        """Handles the next packet; what it acknowledges."""
        packet = self.wire.receive(NETBIOS, until)
        if packet is None:
            return None
        data = packet[2]
        control, stream, source, own, sequence, total, offset, length, acknowledged, _ = struct.unpack("<BBHHHHHHHH", data[:18])
        if own != self.own:
            return -1
        if self.peer == 0xffff:
            assert control & 0x81 == 0x81 and acknowledged == 1, "no acceptance"
            self.peer = source
        elif stream == self.DATA and not control & 0x80:
            self.data(control, sequence, total, offset, data[18:18 + length])
        elif stream == self.END:
            self.ended = True
        return acknowledged

    def data(self, control, sequence, total, offset, data):
        if sequence != self.expected:
            return self.emit(0x88, self.DATA)
        assert offset == len(self.inbox), "a piece at a false place"
        self.expected = (self.expected + 1) & 0xffff
        self.inbox += data
        if control & 0x10:
            assert len(self.inbox) == total, "a message of another length"
            self.messages.append(self.inbox)
            self.inbox = b""
        return self.emit(0x80, self.DATA)

    def call(self, message):
        self.packet(0x50, self.DATA, message)
        until = time.monotonic() + SECONDS
        while not self.messages:
            assert self.take(until) is not None, "no reply"
        return self.messages.pop(0)

    def close(self):
        self.packet(0x40, self.END)
