"""An independent client of NetBEUI with many sessions, written from IBM SC30-3587 and ISO 8802-2 without anything of coax: LLC
type 2 with one frame in flight, NetBIOS frames, and the requests of ipx.peer. Run inside the client's namespace:
netbeui.sessions INTERFACE SESSIONS SERVER SHARE FILE BYTES. It opens all sessions, keeps them, and reads the file in each.
"""
import contextlib
import hashlib
import json
import select
import socket
import struct
import sys
import time

from ipx.peer import Session
from netbeui.browser import GROUP, netbios_name

# a link has at most 254 sessions (SC30-3587 §5.6)
SESSIONS_OF_A_STATION = 250
SECONDS = 30
# names are asked for again, as a station may leave out a reply
TRIES, PATIENCE = 5, 3
NAME_QUERY, NAME_RECOGNIZED = 0x0a, 0x0e
DATA_ACK, FIRST_MIDDLE, ONLY_LAST, CONFIRM, INITIALIZE, CONTINUE = 0x14, 0x15, 0x16, 0x17, 0x19, 0x1c
UA, SABME, UI, RR = 0x73, 0x7f, 0x03, 0x01
# the bit of the SSAP that tells a response from a command
RESPONSE = 1


class Station:
    """One station and its link to the server. While one waits for a frame, all of them answer the server's polls."""

    everyone = []

    def __init__(self, interface, number):
        self.node = bytes((2, 0xc0, 0xa8, 0, 0, number))
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(4))
        self.socket.bind((interface, 4))
        self.server, self.sent, self.expected = None, 0, 0
        self.waiting = []
        self.everyone.append(self)

    def transmit(self, to, pdu):
        self.socket.send((to + self.node + struct.pack(">H", len(pdu)) + pdu).ljust(60, b"\0"))

    def receive(self, seconds=SECONDS):
        """Source, SSAP and the rest of the next frame to this station."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            ready = select.select([station.socket for station in self.everyone], [], [], left)[0]
            for station in self.everyone:
                frame = station.socket.recv(2000) if station.socket in ready else b""
                if frame[:6] != station.node:
                    continue
                length = struct.unpack(">H", frame[12:14])[0]
                if station is self:
                    return frame[6:12], frame[15], frame[16:14 + length]
                station.handle(frame[15], frame[16:14 + length])
        raise TimeoutError("the server is silent")

    def connect(self, server):
        self.server = server
        self.transmit(server, bytes((0xf0, 0xf0, SABME)))
        while self.receive()[2][:1] != bytes((UA,)):
            pass

    def post(self, info):
        """Sends an I frame and waits until it is acknowledged."""
        wanted = (self.sent + 1) % 128
        self.transmit(self.server, bytes((0xf0, 0xf0, self.sent << 1, self.expected << 1 | 1)) + info)
        while self.sent != wanted:
            self.take()

    def take(self):
        _, ssap, pdu = self.receive()
        self.handle(ssap, pdu)

    def handle(self, ssap, pdu):
        """What a frame acknowledges, and its information, which is acknowledged at once. A poll is answered."""
        if pdu[0] & 3 == 3:
            return
        if pdu[1] >> 1 == (self.sent + 1) % 128:
            self.sent = (self.sent + 1) % 128
        poll = pdu[1] & 1 and not ssap & RESPONSE
        if pdu[0] & 1:
            assert pdu[0] == RR, f"the server sends the supervisory frame {pdu[0]:#x}"
            if poll:
                self.acknowledge(1)
            return
        if pdu[0] >> 1 == self.expected:
            self.expected = (self.expected + 1) % 128
            self.waiting.append(pdu[2:])
        self.acknowledge(int(poll))

    def acknowledge(self, final):
        self.transmit(self.server, bytes((0xf0, 0xf0 | RESPONSE, RR, self.expected << 1 | final)))

    def session_frame(self, of, *commands):
        """The next frame of a session with one of these commands."""
        while True:
            for at, frame in enumerate(self.waiting):
                if frame[12] == of and frame[4] in commands:
                    return self.waiting.pop(at)
            self.take()


class NetBios:
    """A session: a carriage of ipx.peer's requests."""

    def __init__(self, station, server, number):
        self.station, self.own = station, number
        query = struct.pack("<HHBBHHH", 44, 0xefff, NAME_QUERY, 0, number, 0, number)
        query = bytes((0xf0, 0xf0, UI)) + query + netbios_name(server, 0x20) + netbios_name("PYTHON", 0)
        node, pdu = self.recognized(query, number)
        self.peer = pdu[7]
        assert 1 <= self.peer <= 254, f"the server offers the session {self.peer}"
        correlator = struct.unpack("<H", pdu[11:13])[0]
        if station.server is None:
            station.connect(node)
        self.send(INITIALIZE, 0x8f, 1482, correlator, number)
        station.session_frame(number, CONFIRM)

    def recognized(self, query, number):
        """The station that has the name, and its answer."""
        for _ in range(TRIES):
            self.station.transmit(GROUP, query)
            with contextlib.suppress(TimeoutError):
                while True:
                    node, _, pdu = self.station.receive(PATIENCE)
                    if pdu[0] == UI and pdu[5] == NAME_RECOGNIZED and struct.unpack("<H", pdu[9:11])[0] == number:
                        return node, pdu
        raise AssertionError("the name is not found")

    def send(self, command, data1=0, data2=0, transmit=0, response=0, data=b""):
        header = struct.pack("<HHBBHHHBB", 14, 0xefff, command, data1, data2, transmit, response, self.peer, self.own)
        self.station.post(header + data)

    def call(self, message):
        self.send(ONLY_LAST, response=self.own, data=message)
        self.station.session_frame(self.own, DATA_ACK)
        reply = b""
        while True:
            frame = self.station.session_frame(self.own, FIRST_MIDDLE, ONLY_LAST)
            reply += frame[14:]
            correlator = struct.unpack("<H", frame[10:12])[0]
            if frame[4] == ONLY_LAST:
                self.send(DATA_ACK, transmit=correlator)
                return reply
            if frame[5] & 1:
                self.send(CONTINUE, transmit=correlator)


def main():
    interface, count, server, share, name, size = sys.argv[1:]
    sessions = []
    for at in range(int(count)):
        if at % SESSIONS_OF_A_STATION == 0:
            station = Station(interface, at // SESSIONS_OF_A_STATION + 1)
        session = Session(NetBios(station, server, at % SESSIONS_OF_A_STATION + 1))
        session.connect(server, share)
        sessions.append(session)
    found = {hashlib.sha256(session.download(name)).hexdigest() for session in sessions}
    print(json.dumps({"sessions": len(sessions), "digests": sorted(found), "size": int(size)}))


if __name__ == "__main__":
    main()
