"""IPX from end to end: coax's client and an independent one copy to and from coax's server over a virtual cable between
two network namespaces without IP addresses, in all four frame types, and tshark reads every frame.

Needs root (namespaces). Bytes, counts and messages are asserted, never time.
"""
import argparse
import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ipx.wire import FRAME_TYPES
from netbeui.main import SECONDS, Cable, browser_frames_are_meant, browsing, capture, check, run
from peers import subject

SIZE = 1_000_000
NETWORK = "0017A2C0"
# Wireshark's fields of each encapsulation
FRAME_FILTERS = {
    "802.2": "llc.dsap == 0xe0 && llc.ssap == 0xe0",
    "802.3": "eth.len && !llc",
    "ethernet-ii": "eth.type == 0x8137",
    "snap": "llc.type == 0x8137",
}


@contextlib.contextmanager
def server(cable, folder, log, spec, *more):
    with open(log, "w", encoding="utf-8") as out:
        command = [subject.coax_binary(), "serve", "--share", f"DATA={folder}", "--guest", "rw", "--name", "attic", "--json",
                   "--ipx", spec, "--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0", *more]
        process = cable.start(cable.server, *command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                              env={**os.environ, "RUNTIME_DIRECTORY": str(log.parent)})
    end = time.monotonic() + SECONDS
    while '"listening"' not in log.read_text():
        check(process.poll() is None and time.monotonic() < end, "the server does not start:", log.read_text())
        time.sleep(0.05)
    # names are claimed three times, 500 ms apart
    while (done := cable.coax("ls", "ipx://ATTIC:eth0/DATA", ok=False)).returncode:
        check(time.monotonic() < end, "no session:", done.stderr, log.read_text())
        time.sleep(0.2)
    yield process
    process.send_signal(signal.SIGINT)
    check(process.wait(SECONDS) == 0, "the server ends with", process.returncode, log.read_text())


def copies(cable, scratch, folder, url):
    original, back = scratch / "DOOM.WAD", scratch / "BACK.WAD"
    original.write_bytes(os.urandom(SIZE))
    cable.coax("put", original, url + "/DOOM.WAD")
    check((folder / "DOOM.WAD").read_bytes() == original.read_bytes(), "the upload differs", url)
    cable.coax("get", url + "/DOOM.WAD", back)
    check(back.read_bytes() == original.read_bytes(), "the download differs", url)
    back.unlink()
    check("DOOM.WAD" in cable.coax("ls", url).stdout, "no listing", url)
    check("DATA" in cable.coax("ls", url.rsplit("/", 1)[0]).stdout, "no list of shares", url)
    cable.coax("rm", url + "/DOOM.WAD")
    check(not (folder / "DOOM.WAD").exists(), "the file was not deleted")


def listing(cable, folder, url):
    """A folder whose listing needs several responses of a transaction, and a client of 1993."""
    for at in range(120):
        (folder / f"A file with quite a long name, number {at}.txt").touch()
    shown = cable.coax("ls", url).stdout
    check(shown.count("quite a long name") == 120, "the listing lacks files:", url, shown)
    cable.coax("ls", "--as", "ms-net-3.11-basic", url)
    for path in folder.glob("A file*"):
        path.unlink()


def peer(cable, frame):
    tests = Path(__file__).resolve().parent.parent
    run("ip", "netns", "exec", cable.client, sys.executable, "-m", "ipx.peer", "eth0", frame, "ATTIC", "DATA",
        env={**os.environ, "PYTHONPATH": str(tests)})


def fields(path, wanted, *names):
    names = [word for name in names for word in ("-e", name)]
    return run("tshark", "-r", path, "-Y", wanted, "-T", "fields", *names).stdout.splitlines()


def every_frame_is_sound(path, frame):
    # tshark 4.0 expects no negHints in SPNEGO's negTokenInit2 ([MS-SPNG] 2.2.1); over TCP it is the same
    # and it does not join the packets of an NBIPX message, whose first one it reads as if it were all
    piece = "nmpi.session.total_data_length > nmpi.session.data_length"
    fault = f"(_ws.malformed || _ws.expert.severity >= 0x600000) && !(smb.cmd == 0x72 && spnego) && !({piece})"
    faults = fields(path, fault, "frame.number", "_ws.col.Info")
    check(not faults, "tshark finds faults:", faults[:20])
    count = int(run("capinfos", "-rcMT", path).stdout.split()[-1])
    check(count > 3000, count, "frames")
    # the client that is not told a frame type asks in all four; everything else is in the server's
    other = fields(path, f"!({FRAME_FILTERS[frame]}) && !(eth.dst == ff:ff:ff:ff:ff:ff)", "frame.number")
    check(not other, "frames of another type:", other[:20])
    check(len(fields(path, f"({FRAME_FILTERS[frame]}) && ipx", "frame.number")) > 3000, "no IPX")
    return count


def meaning(path):
    """What tshark reads is what was meant."""
    direct = set(fields(path, "smb && ipx.dst.socket == 0x0550", "ipx.packet_type", "ipx.src.socket"))
    check(direct == {"0x04\t0x0552"}, "requests of direct hosting:", direct)
    sequences = fields(path, "smb && ipx.dst.socket == 0x0550 && smb.cmd == 0x72", "smb.sessid", "smb.sequence_num")
    check(set(sequences) == {"0\t1"}, "connection and number of the first request:", set(sequences))
    names = set(fields(path, "ipx.packet_type == 0x14", "ipx.dst.socket"))
    check(names <= {"0x0455", "0x0551", "0x0553"} and "0x0455" in names, "sockets of propagated packets:", names)
    networks = set(fields(path, "eth.src && smb && ipx.src.socket == 0x0550", "ipx.src.net"))
    check(networks == {"0x" + NETWORK.lower()}, "the server's network:", networks)
    check(len(fields(path, "smb && ipx.src.socket == 0x0455", "frame.number")) > 20, "no SMB over NetBIOS")
    calls = fields(path, "nmpi.session.dest_conn_id == 0xffff", "nmpi.conn_control", "nmpi.session.send_seq_number")
    check(set(calls) == {"0x41\t0"}, "calls:", set(calls))
    sessions = fields(path, "nmpi.session.data_length > 0 && nmpi.conn_control.sys_packet == 0 && nmpi.session.dest_conn_id != 0xffff", "nmpi.session.src_conn_id", "ipx.src.node",
                      "nmpi.session.send_seq_number", "nmpi.session.total_data_length", "nmpi.session.offset", "nmpi.session.data_length",
                      "nmpi.conn_control.end_msg")
    check(len(sessions) > 1000, "few packets of sessions:", len(sessions))
    for line in sessions:
        *_, total, offset, length, is_last = line.split("\t")
        whole = int(offset) + int(length) == int(total)
        check(whole == (is_last in ("1", "True")), "the end of a message:", line)


def one_frame_type(cable, scratch, folder, frame):
    path, log = scratch / "ipx.pcap", scratch / "server.json"
    with capture(cable, path), server(cable, folder, log, f"eth0:{frame}:{NETWORK}"):
        copies(cable, scratch, folder, f"ipx+nb://ATTIC:eth0:{frame}/DATA")
        copies(cable, scratch, folder, f"ipx+direct://ATTIC:eth0:{frame}/DATA")
        listing(cable, folder, "ipx+direct://ATTIC/DATA")
        listing(cable, folder, "ipx+nb://ATTIC/DATA")
        peer(cable, frame)
        browsing(cable, log, "eth0 (IPX)", ("--ipx", f"eth0:{frame}"), ("ipx.browser", "eth0", frame))
        check((folder / "PYDIRECT.BIN").stat().st_size == 20_000, "the independent client's file")
    text = log.read_text()
    check('"transport":"ipx"' in text and '"transport":"nbipx"' in text, text)
    frames = every_frame_is_sound(path, frame)
    meaning(path)
    browser_frames_are_meant(path)
    return frames


def detection(cable, scratch, folder):
    """A server that is told no frame type serves stations of all four, and learns the number of the network."""
    with server(cable, folder, scratch / "auto.json", "eth0"):
        for frame in FRAME_TYPES:
            cable.coax("ls", f"ipx://ATTIC:eth0:{frame}:{NETWORK}/DATA")
            peer(cable, frame)
    check(f"this is network {NETWORK}" in (scratch / "auto.json").read_text(), "the number was not learned")


def conflict(cable, scratch, folder):
    """Another station has the name: the server says so and goes on over TCP."""
    with server(cable, folder, scratch / "first.json", "eth0:802.2"):
        log = scratch / "second.json"
        with open(log, "w", encoding="utf-8") as out:
            second = cable.start(cable.client, subject.coax_binary(), "serve", folder, "--name", "attic", "--json", "--ipx", "eth0",
                                 "--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0", stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT)
        end = time.monotonic() + SECONDS
        while "belongs to" not in log.read_text():
            check(second.poll() is None and time.monotonic() < end, "no word of the conflict:", log.read_text())
            time.sleep(0.1)
        check("eth0 (IPX): the name ATTIC<20> belongs to the station" in log.read_text(), log.read_text())
        second.send_signal(signal.SIGINT)
        check(second.wait(SECONDS) == 0, "the second server ends with", second.returncode)


def errors(cable, *_):
    for url, code, text in (
            ("ipx://ATTIC:eth7/DATA", 1, "there is no Ethernet interface eth7; there are: eth0"),
            ("ipx://ATTIC:eth0:802.4/DATA", 2, "'802.4' is not a frame type: 802.2, 802.3, ethernet-ii, snap or auto"),
            ("ipx://ATTIC:eth0:snap:XYZ/DATA", 2, "'XYZ' is not a network number"),
            ("ipx://NOBODY/DATA", 1, "no station that this interface reaches has the name NOBODY<20>")):
        done = cable.coax("ls", url, ok=False)
        check(done.returncode == code and text in done.stderr, url, done.returncode, done.stderr)
    command = ["ip", "netns", "exec", cable.client, "setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw",
               subject.coax_binary()]
    with tempfile.TemporaryDirectory() as folder:
        for words, code, text in (
                (("ls", "ipx://ATTIC/DATA"), 1, "IPX on eth0 needs the capability CAP_NET_RAW"),
                (("serve", folder, "--ipx", "eth0", "--check"), 1, "IPX on eth0 needs the capability CAP_NET_RAW"),
                (("serve", folder, "--ipx", "eth9", "--check"), 1, "no Ethernet interface eth9"),
                (("serve", folder, "--ipx", "eth0:token", "--check"), 2, "'token' is not a frame type"),
                (("serve", folder, "--option", "coax:ipx = eth0:snap:0", "--check"), 1, "'0' is not a network number")):
            done = run(*command, *words, ok=False)
            check(done.returncode == code and text in done.stdout + done.stderr, words, done.returncode, done.stdout, done.stderr)


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    # they wait for claims of names and elections most of the time
    with concurrent.futures.ThreadPoolExecutor() as pool:
        counts = [pool.submit(on_a_cable, one_frame_type, frame) for frame in FRAME_TYPES]
        others = [pool.submit(on_a_cable, what) for what in (detection, conflict, errors)]
        frames = sum(count.result() for count in counts)
        for other in others:
            other.result()
    print(f"ipx: {frames} frames of four types, none malformed; copies of {SIZE} bytes are equal")


def on_a_cable(test, *more):
    """The test with a cable and a shared folder of its own."""
    with tempfile.TemporaryDirectory() as name, Cable() as cable:
        scratch = Path(name)
        scratch.chmod(0o755)
        folder = scratch / "share"
        folder.mkdir()
        folder.chmod(0o777)
        return test(cable, scratch, folder, *more)


if __name__ == "__main__":
    sys.exit(main())
