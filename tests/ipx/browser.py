"""The browser of netbeui.browser on IPX: mailslots of NMPI, as Windows 2000 sends them in tests/captures/tcpdump-ipx.pcap.
Run inside the client's namespace: ipx.browser INTERFACE FRAME announce|elect.
"""
import struct
import sys

from ipx.wire import BROADCAST, Wire
from netbeui.browser import LOCAL_MASTER, OWN, WORKGROUP, browser_message, mailslot, main, netbios_name

MAILSLOTS = 0x0553
WRITE = 0xfc
MACHINE, GROUP, BROWSERS = 1, 2, 3


class Ipx:
    """Mailslots of a workgroup."""

    def __init__(self, interface, frame):
        self.wire = Wire(interface, frame)

    def send(self, _, message):
        kind = BROWSERS if message[0] == LOCAL_MASTER else GROUP
        header = bytes(32) + struct.pack("<BBH", WRITE, kind, 0) + netbios_name(WORKGROUP, 0) + netbios_name(OWN, 0)
        self.wire.send(BROADCAST, MAILSLOTS, MAILSLOTS, 20, header + mailslot(message))

    def receive(self, until):
        while (packet := self.wire.receive(MAILSLOTS, until, broadcasts=True)) is not None:
            _, _, data = packet
            operation, kind = data[32:34]
            to, source = data[36:52], data[52:68]
            message = browser_message(data[68:])
            if operation == WRITE and message and (kind == MACHINE or to == netbios_name(WORKGROUP, 0)):
                return source, to, message
        return None


if __name__ == "__main__":
    main(Ipx(*sys.argv[1:3]), sys.argv[3])
