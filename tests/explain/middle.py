"""A cable with faults: forwards Ethernet frames between two interfaces, late or not at all, and counts what it did.

Run in the namespace that has both interfaces. It writes one JSON object when it gets SIGTERM. Where the system
permits it, it has real-time priority: on a busy machine, a cable that waits for the processor adds delay of its own.
"""
import argparse
import contextlib
import heapq
import json
import os
import select
import signal
import socket
import sys
import time

ETH_P_ALL = 0x0003
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23
LLC_NETBIOS, NBF = b"\xf0\xf0", b"\xff\xef"
DATA_FIRST_MIDDLE, DATA_ONLY_LAST = 0x15, 0x16
IPX_802_2 = b"\xe0\xe0\x03"
SMB_SERVER, NETBIOS = b"\x05\x50", b"\x04\x55"


def nbf_command(frame):
    """The command of a NetBIOS frame in an I frame, or None."""
    is_i_frame = frame[14:16] == LLC_NETBIOS and frame[16] & 1 == 0
    return frame[22] if is_i_frame and frame[20:22] == NBF else None


def ipx(frame):
    """Source and destination socket, and data, of a packet in an 802.2 frame."""
    if frame[14:17] != IPX_802_2:
        return None
    packet = frame[17:]
    return packet[28:30], packet[16:18], packet[30:]


def is_last(frame, from_server):
    return from_server and nbf_command(frame) == DATA_ONLY_LAST and len(frame) > 100


def is_middle(frame, from_server):
    return from_server and nbf_command(frame) == DATA_FIRST_MIDDLE


def is_direct_answer(frame, from_server):
    found = ipx(frame)
    return from_server and found is not None and found[0] == SMB_SERVER and len(found[2]) > 500


def is_direct_request(frame, from_server):
    found = ipx(frame)
    return not from_server and found is not None and found[1] == SMB_SERVER


def is_nbipx_data(frame, from_server):
    found = ipx(frame)
    return from_server and found is not None and found[0] == NETBIOS and found[2][0] & 0x80 == 0 and len(found[2]) > 500


KINDS = {"last": is_last, "middle": is_middle, "direct-answer": is_direct_answer, "direct-request": is_direct_request,
         "nbipx-data": is_nbipx_data, "none": lambda *_: False}


def port(name):
    ends = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    ends.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    ends.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    ends.bind((name, 0))
    ends.setblocking(False)
    return ends


class Middle:
    def __init__(self, options):
        self.client, self.server = port("client"), port("server")
        self.delay, self.kind, self.every = options.delay_ms / 1000, KINDS[options.drop], options.every
        self.seen = self.dropped = self.forwarded = self.serial = 0
        self.due = []
        self.over = False

    def take(self, source, target):
        while True:
            try:
                frame = source.recv(2048)
            except BlockingIOError:
                return
            if self.kind(frame, source is self.server):
                self.seen += 1
                if self.seen % self.every == 0:
                    self.dropped += 1
                    continue
            self.serial += 1
            heapq.heappush(self.due, (time.monotonic() + self.delay, self.serial, target, frame))

    def send(self):
        while self.due and self.due[0][0] <= time.monotonic():
            *_, target, frame = heapq.heappop(self.due)
            target.send(frame)
            self.forwarded += 1

    def run(self):
        others = {self.client: self.server, self.server: self.client}
        while not self.over:
            wait = max(0, self.due[0][0] - time.monotonic()) if self.due else 0.2
            for ready in select.select(list(others), [], [], min(wait, 0.2))[0]:
                self.take(ready, others[ready])
            self.send()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--drop", choices=KINDS, default="none")
    parser.add_argument("--every", type=int, default=1)
    middle = Middle(parser.parse_args())

    def stop(*_):
        middle.over = True

    signal.signal(signal.SIGTERM, stop)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    print("ready", flush=True)
    middle.run()
    print(json.dumps({"dropped": middle.dropped, "forwarded": middle.forwarded}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
