"""NetBIOS without TCP/IP (NetBEUI) from end to end: coax's client copies to and from coax's server over a virtual cable
between two network namespaces that have no IP addresses, and tshark reads every frame.

Needs root (namespaces). Bytes, counts and messages are asserted, never time.
"""
import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import subject

SECONDS = 60
SIZE = 10_000_000


def check(condition, *seen):
    if not condition:
        raise AssertionError(" ".join(map(str, seen)))


def run(*command, ok=True, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=180, **more)
    if ok:
        check(done.returncode == 0, command, done.stdout, done.stderr)
    return done


class Cable:
    """Two namespaces and a pair of virtual Ethernet interfaces, both named eth0, without IP addresses."""

    def __init__(self):
        self.server, self.client = (f"coax-nbf-{side}-{os.getpid()}" for side in "sc")

    def __enter__(self):
        run("ip", "netns", "add", self.server)
        run("ip", "netns", "add", self.client)
        run("ip", "-n", self.server, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", self.client)
        for space in (self.server, self.client):
            run("ip", "netns", "exec", space, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", ok=False)
            run("ip", "-n", space, "link", "set", "lo", "up")
            run("ip", "-n", space, "link", "set", "eth0", "up")
        return self

    def __exit__(self, *_):
        for space in (self.server, self.client):
            run("ip", "netns", "del", space, ok=False)

    def start(self, space, *command, **more):
        return subprocess.Popen(["ip", "netns", "exec", space, *map(str, command)], **more)

    def coax(self, *words, ok=True):
        return run("ip", "netns", "exec", self.client, subject.coax_binary(), *words, ok=ok)


@contextlib.contextmanager
def capture(cable, path):
    """Every frame on the cable."""
    dump = cable.start(cable.server, "tcpdump", "-q", "-U", "-s", "0", "-B", "65536", "-i", "eth0", "-w", path,
                       stderr=subprocess.PIPE, text=True)
    check("listening" in dump.stderr.readline() or "listening" in dump.stderr.readline(), "tcpdump does not start")
    yield
    time.sleep(0.5)
    dump.send_signal(signal.SIGINT)
    check("0 packets dropped by kernel" in dump.communicate(timeout=SECONDS)[1], "the capture lacks frames")


@contextlib.contextmanager
def server(cable, folder, log):
    """coax serve with its sandbox, on NetBEUI and on TCP."""
    with open(log, "w", encoding="utf-8") as out:
        command = [subject.coax_binary(), "serve", "--share", f"DATA={folder}", "--guest", "rw", "--name", "attic", "--json",
                   "--netbeui", "eth0", "--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0"]
        process = cable.start(cable.server, *command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    end = time.monotonic() + SECONDS
    while '"listening"' not in log.read_text():
        check(process.poll() is None and time.monotonic() < end, "the server does not start:", log.read_text())
        time.sleep(0.05)
    # names are claimed three times, 500 ms apart
    while cable.coax("ls", "nbf://ATTIC:eth0/DATA", ok=False).returncode:
        check(time.monotonic() < end, "no session:", cable.coax("ls", "nbf://ATTIC:eth0/DATA", ok=False).stderr, log.read_text())
        time.sleep(0.2)
    yield process
    process.send_signal(signal.SIGINT)
    check(process.wait(SECONDS) == 0, "the server ends with", process.returncode, log.read_text())


def copies(cable, scratch, folder):
    url = "nbf://ATTIC/DATA"
    original = scratch / "DOOM.WAD"
    original.write_bytes(os.urandom(SIZE))
    cable.coax("put", original, url + "/DOOM.WAD")
    check((folder / "DOOM.WAD").read_bytes() == original.read_bytes(), "the upload differs")
    cable.coax("get", url + "/DOOM.WAD", scratch / "BACK.WAD")
    check((scratch / "BACK.WAD").read_bytes() == original.read_bytes(), "the download differs")
    listing = cable.coax("ls", url).stdout
    check("DOOM.WAD" in listing and "10" in listing, listing)
    check("DATA" in cable.coax("ls", "nbf://ATTIC:eth0").stdout, "no list of shares")
    cable.coax("rm", url + "/DOOM.WAD")
    check(not (folder / "DOOM.WAD").exists(), "the file was not deleted")
    for profile in ("core", "lanman1"):
        if profile in subject_profiles(cable):
            cable.coax("ls", "--as", profile, url)


def subject_profiles(cable):
    return cable.coax("profiles").stdout.split()


def every_frame_is_sound(path):
    # tshark 4.0 expects no negHints in SPNEGO's negTokenInit2 ([MS-SPNG] 2.2.1); over TCP it is the same
    fault = "(_ws.malformed || _ws.expert.severity >= 0x600000) && !(smb.cmd == 0x72 && spnego)"
    fields = run("tshark", "-r", path, "-Y", fault, "-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info").stdout
    check(not fields, "tshark finds faults:", fields[:2000])
    count = len(run("tshark", "-r", path, "-T", "fields", "-e", "frame.number").stdout.splitlines())
    netbios = len(run("tshark", "-r", path, "-Y", "llc", "-T", "fields", "-e", "frame.number").stdout.splitlines())
    check(count == netbios and count > 15_000, count, "frames, of LLC", netbios)
    foreign = run("tshark", "-r", path, "-Y", "netbios.hdr_len != 14 && netbios.hdr_len != 44", "-T", "fields",
                  "-e", "frame.number").stdout
    check(not foreign, "false header lengths:", foreign)
    return count


def errors(cable):
    unknown = cable.coax("ls", "nbf://ATTIC:eth7/DATA", ok=False)
    check(unknown.returncode == 1 and "there is no Ethernet interface eth7; there are: eth0" in unknown.stderr, unknown.stderr)
    nobody = cable.coax("ls", "nbf://NOBODY/DATA", ok=False)
    check(nobody.returncode == 1 and "called name" in nobody.stderr, nobody.stderr)
    command = ["ip", "netns", "exec", cable.client, "setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]
    bare = run(*command, subject.coax_binary(), "ls", "nbf://ATTIC/DATA", ok=False)
    check(bare.returncode == 1 and "CAP_NET_RAW" in bare.stderr, bare.stderr)
    with tempfile.TemporaryDirectory() as folder:
        start = run(*command, subject.coax_binary(), "serve", folder, "--netbeui", "eth0", "--check", ok=False)
        check(start.returncode == 1 and "CAP_NET_RAW" in start.stderr, start.stderr)
        start = run(*command, subject.coax_binary(), "serve", folder, "--netbeui", "eth9", "--check", ok=False)
        check(start.returncode == 1 and "no Ethernet interface eth9" in start.stderr, start.stderr)
    run("ip", "-n", cable.client, "link", "set", "eth0", "down")
    down = cable.coax("ls", "nbf://ATTIC:eth0/DATA", ok=False)
    check(down.returncode == 1 and "is down" in down.stderr, down.stderr)
    run("ip", "-n", cable.client, "link", "set", "eth0", "up")


def membership(cable):
    groups = run("ip", "-n", cable.server, "maddr", "show", "dev", "eth0").stdout
    check("03:00:00:00:00:01" in groups, groups)


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name, Cable() as cable:
        scratch = Path(name)
        scratch.chmod(0o755)
        folder = scratch / "share"
        folder.mkdir()
        folder.chmod(0o777)
        path = scratch / "netbeui.pcap"
        with capture(cable, path), server(cable, folder, scratch / "server.json"):
            membership(cable)
            copies(cable, scratch, folder)
        log = (scratch / "server.json").read_text()
        check('"transport":"netbeui"' in log, log)
        errors(cable)
        frames = every_frame_is_sound(path)
    print(f"netbeui: {frames} frames, none malformed; copies of {SIZE} bytes are equal")


if __name__ == "__main__":
    sys.exit(main())
