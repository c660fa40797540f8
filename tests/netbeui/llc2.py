"""coax's LLC type 2 and Linux's: the module llc2 of Debian's kernel is the other station. Connections in both directions, data,
losses (REJ), a receiver that is busy (RNR), windows of 1 to 127, ends by both sides. tshark reads every frame.

Bytes, counts and ends are asserted, never time.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

from . import guest as guests

OWN_MAC = "02:00:00:00:00:01"
MIB = 1 << 20


def check(condition, *seen):
    if not condition:
        raise AssertionError(" ".join(map(str, seen)))


class Pair:
    """coax's station and the guest."""

    def __init__(self, guest, station):
        self.guest, self.station = guest, station

    def run(self, command, guest, **options):
        """The station's report and the guest's. `guest` is what the guest's program is told, or None."""
        if guest and guest.startswith("accept"):
            self.guest.start("/llc_guest " + guest)
            self.guest.wait("^listening")
        words = [f"{key.replace('_', '-')}={value}" for key, value in options.items()]
        process = subprocess.Popen([self.station, *self.guest.sockets, command, *words], stdout=subprocess.PIPE, text=True)
        check(process.stdout.readline() == "ready\n", "the station does not start")
        if guest and guest.startswith("connect"):
            self.guest.start("/llc_guest " + guest)
        told = process.communicate(timeout=90)[0]
        check(process.returncode == 0, "the station failed")
        report, end = json.loads(told), None
        if guest:
            found = self.guest.wait(r"^end sent=(\d+) received=(\d+) false=(\d+) errno=(\d+)")
            end = dict(zip(("sent", "received", "false", "errno"), map(int, found.groups())))
            self.guest.wait("^done")
        check(report["false_at"] is None, "false byte", report)
        return report, end


def sound(report, end, sent=0, received=0, ended="closed"):
    """All bytes arrived, in order, and the link ended as it should."""
    check(report["established"] and report["end"] == ended, report, end)
    check((report["sent"], report["received"]) == (sent, received), report, end)
    check(end == {"sent": received, "received": sent, "false": 0, "errno": 0}, report, end)


def coax_connects_and_sends(pair):
    """coax opens the link, sends 1 MiB and closes."""
    for sap in (0xf0, 0x04):
        report, end = pair.run("connect", f"accept {sap} 0 0 0", sap=sap, send=MIB)
        sound(report, end, sent=MIB)


def coax_connects_and_receives(pair):
    """coax opens the link, receives 1 MiB and closes."""
    report, end = pair.run("connect", f"accept 0xf0 {MIB} 0 0", receive=MIB)
    sound(report, end, received=MIB)


def linux_connects_and_sends(pair):
    """The kernel opens the link, sends 1 MiB and closes."""
    report, end = pair.run("accept", f"connect {OWN_MAC} 0xf0 {MIB} 1400 0", send=1400, receive=MIB)
    sound(report, end, sent=1400, received=MIB, ended="the peer closed the link")


def an_echo_comes_back(pair):
    """Data in both directions at once: coax returns what the kernel sends, whose frames carry the acknowledgments."""
    size = 70_000  # fits the receive buffer of the kernel, which would not say RNR but discard frames
    report, end = pair.run("accept", f"connect {OWN_MAC} 0xf0 {size} {size} 0", echo=1)
    check(report["end"] == "the peer closed the link" and report["received"] == size, report)
    check(end == {"sent": size, "received": size, "false": 0, "errno": 0}, report, end)


def windows(pair):
    """Windows of 1, 2, 7 and 127 frames on both sides."""
    for window in (1, 2, 7, 127):
        report, end = pair.run("connect", f"accept 0xf0 0 0 {window}", send=MIB // 4, window=window)
        sound(report, end, sent=MIB // 4)
        report, end = pair.run("connect", f"accept 0xf0 {MIB // 4} 0 {window}", receive=MIB // 4, window=window)
        sound(report, end, received=MIB // 4)


def the_kernel_rejects_a_gap(pair):
    """1 % of coax's I frames are lost: the kernel sends REJ, coax goes back."""
    report, end = pair.run("connect", "accept 0xf0 0 0 0", send=MIB, lose_sent=10)
    sound(report, end, sent=MIB)
    check(report["rej_received"] > 0 and report["retransmitted"] > 0, report)


def coax_rejects_a_gap(pair):
    """1 % of the kernel's I frames are lost: coax sends REJ, the kernel goes back."""
    report, end = pair.run("connect", f"accept 0xf0 {MIB} 0 0", receive=MIB, lose_received=10)
    sound(report, end, received=MIB)
    check(report["rej_sent"] > 0 and report["discarded"] > 0, report)


def a_busy_receiver(pair):
    """coax says RNR in the middle of a transfer: the kernel stops, and goes on after RR."""
    report, end = pair.run("connect", f"accept 0xf0 {MIB} 0 0", receive=MIB, busy_after=MIB // 4, busy_ms=1500)
    sound(report, end, received=MIB)
    check(report["rnr_sent"] > 0, report)
    # after the last frame that was under way, at most one poll with data in a second
    check(report["while_busy"] <= 3, report)


def nobody_listens(pair):
    """A SAP without a socket: the kernel does not answer, and coax gives up after N2 tries."""
    report, _ = pair.run("connect", None, sap=0x08)
    check(not report["established"] and report["end"] in ("the peer does not answer", "the peer refuses the link"), report)


TESTS = [coax_connects_and_sends, coax_connects_and_receives, linux_connects_and_sends, an_echo_comes_back, windows,
         the_kernel_rejects_a_gap, coax_rejects_a_gap, a_busy_receiver, nobody_listens]


def frames(capture, display=""):
    # the information is a pattern, not NetBIOS or SNA
    command = ["tshark", "-n", "-r", str(capture), "--disable-protocol", "netbios", "--disable-protocol", "sna", "-T", "fields", "-e", "frame.number"]
    return len(subprocess.run(command + (["-Y", display] if display else []), check=True, capture_output=True, text=True).stdout.splitlines())


def read_by_tshark(capture):
    """Malformed frames, and that both sides rejected and were busy as the stations say."""
    check(frames(capture, "_ws.malformed || _ws.expert.severity >= 0x600000") == 0, "tshark finds faults in", capture)
    other = frames(capture, "!llc")
    total = frames(capture)
    check(other == 0 and total > 5000, total, "frames,", other, "of them no LLC")
    rej, rnr = ("llc.control.ftype == 1 && llc.control.s_ftype == 2", "llc.control.ftype == 1 && llc.control.s_ftype == 1")
    for source, what in ((OWN_MAC, rej), (guests.MAC, rej), (OWN_MAC, rnr)):
        check(frames(capture, f"eth.src == {source} && {what}") > 0, "no frame of", source, what)
    return total


def everything(station, only):
    with tempfile.TemporaryDirectory(prefix="coax-llc2-") as name:
        folder = Path(name)
        capture = folder / "frames.pcap"
        with guests.Guest(folder, capture) as guest:
            pair = Pair(guest, station)
            for test in TESTS:
                if not only or any(part in test.__name__ for part in only.split(",")):
                    test(pair)
                    print(f"ok   {test.__name__}: {test.__doc__.splitlines()[0]}", flush=True)
        if not only:
            print(f"llc2 of Linux {guest.kernel}: {read_by_tshark(capture)} frames, none malformed")


def main():
    parser = argparse.ArgumentParser(prog="scripts/test --only netbeui-llc --", description=__doc__)
    parser.add_argument("--only", default="", help="names of tests, separated by commas; part of a name will do")
    arguments = parser.parse_args()
    if (reason := guests.impossible()) is not None:
        print(f"cannot run: {reason}")
        return 1
    station = subject.example("llc_station")
    try:
        guests.build()
    except guests.Unavailable as why:
        print(f"{'failed' if os.environ.get('CI') else 'skipped'}: the kernel with llc2 cannot be installed: {why}")
        return 1 if os.environ.get("CI") else 0
    try:
        everything(station, arguments.only)
    except guests.Silent as silent:
        # an emulated kernel on a busy machine; a fault of coax comes again
        print(f"once more with a new guest: {silent}", flush=True)
        everything(station, arguments.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
