"""NetBIOS without TCP/IP (NetBEUI) from end to end: coax's client copies to and from coax's server over a virtual cable
between two network namespaces that have no IP addresses, and tshark reads every frame.

Needs root (namespaces). Bytes, counts and messages are asserted, never time.
"""
import argparse
import contextlib
import hashlib
import itertools
import json
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
SESSIONS = 500
# five times what was measured
MOST_KB_EACH = 100


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

    numbers = itertools.count()

    def __init__(self):
        number = next(self.numbers)
        self.server, self.client = (f"coax-nbf-{side}-{os.getpid()}-{number}" for side in "sc")

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
    # the kernel hands frames over at least once a second
    time.sleep(1.5)
    dump.send_signal(signal.SIGINT)
    check("0 packets dropped by kernel" in dump.communicate(timeout=SECONDS)[1], "the capture lacks frames")


@contextlib.contextmanager
def server(cable, folder, log):
    """coax serve with its sandbox, on NetBEUI and on TCP."""
    with open(log, "w", encoding="utf-8") as out:
        command = [subject.coax_binary(), "serve", "--share", f"DATA={folder}", "--guest", "rw", "--name", "attic", "--json",
                   "--netbeui", "eth0", "--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0"]
        process = cable.start(cable.server, *command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                              env={**os.environ, "RUNTIME_DIRECTORY": str(log.parent)})
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


def browse(cable, *words):
    """The workgroup as coax browse lists it: its master, and its servers with their shares."""
    report = json.loads(cable.coax("browse", "--json", *words).stdout)
    check([group["name"] for group in report["workgroups"]] == ["WORKGROUP"], report)
    group = report["workgroups"][0]
    shares = lambda server: [share["name"] for share in server["shares"] or []]
    return group["master"], {server["name"]: shares(server) for server in group["servers"]}


def said(log, *parts):
    """Waits for a line of the server's log that contains all of these."""
    end = time.monotonic() + SECONDS
    while not any(all(part in line for part in parts) for line in log.read_text().splitlines()):
        check(time.monotonic() < end, "the server does not say:", parts, log.read_text())
        time.sleep(0.1)


def status_says(cable, log, at, role, master):
    """Waits until `coax status` has the station's names, its role and the master browser."""
    end = time.monotonic() + SECONDS
    while True:
        networks = json.loads(cable.coax("status", "--socket", log.parent / "status", "--json").stdout)["networks"]
        station = next((network for network in networks if network["address"] == at), None)
        if station and (station["role"], station["master"]) == (role, master):
            break
        check(time.monotonic() < end, "coax status:", networks)
        time.sleep(0.1)
    check({"ATTIC<00>", "ATTIC<20>"} <= {name["name"] for name in station["names"]}, "names:", station)


def browsing(cable, log, at, options, peer):
    """An independent station hears the master browser, joins its list, and wins and leaves an election."""
    tests = Path(__file__).resolve().parent.parent
    python = lambda what: run("ip", "netns", "exec", cable.client, sys.executable, "-m", *peer, what,
                              env={**os.environ, "PYTHONPATH": str(tests)})
    said(log, f"{at}: coax is the master browser of WORKGROUP: it won the election")
    master, servers = browse(cable, *options)
    check((master, servers) == ("ATTIC", {"ATTIC": ["DATA"]}), master, servers)
    python("announce")
    master, servers = browse(cable, "WORKGROUP", "--no-shares", *options)
    check((master, set(servers)) == ("ATTIC", {"ATTIC", "PYPC"}), master, servers)
    status_says(cable, log, at, "master", None)  # this server itself
    python("elect")
    said(log, f"{at}: coax is not the master browser of WORKGROUP: PYPC won the election by its higher 'os level'")
    status_says(cable, log, at, "master", None)  # PYPC has left
    master, servers = browse(cable, "--no-shares", *options)
    check((master, set(servers)) == ("ATTIC", {"ATTIC"}), "the list after a departure:", master, servers)
    lost = cable.coax("browse", "HOME", *options, ok=False)
    check(lost.returncode == 1 and "no master browser of HOME answered" in lost.stderr, lost.stderr)
    check("= help: name the workgroup" in lost.stderr, lost.stderr)
    absent = cable.coax("browse", options[0], "eth7", ok=False)
    check(absent.returncode == 1 and "there is no Ethernet interface eth7; there are: eth0" in absent.stderr, absent.stderr)
    check("= help" not in absent.stderr, "help for another problem:", absent.stderr)


def browser_frames_are_meant(path):
    """What tshark reads of the browsers' frames: every kind was sent, and the last word is the goodbye."""
    fields = run("tshark", "-r", path, "-Y", "browser", "-T", "fields", "-e", "browser.command", "-e", "browser.server_type",
                 "-e", "browser.server", "-e", "browser.election.version").stdout
    rows = [line.split("\t") for line in fields.splitlines()]
    seen = {row[0] for row in rows}
    check({"0x01", "0x02", "0x08", "0x09", "0x0a", "0x0c", "0x0f"} <= seen, "kinds of browser frames:", sorted(seen))
    goodbyes = [row for row in rows if row[0] == "0x01" and row[1] == "0x00000000" and row[2] == "ATTIC"]
    check(goodbyes, "no goodbye:", rows[-8:])


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


def conflict(cable, scratch, folder):
    """Another station has the name: the server says whose, what to do, and goes on over TCP/IP."""
    with server(cable, folder, scratch / "first.json"):
        log = scratch / "second.json"
        with open(log, "w", encoding="utf-8") as out:
            second = cable.start(cable.client, subject.coax_binary(), "serve", "--share", f"DATA={folder}", "--guest", "rw", "--name",
                                 "attic", "--json", "--netbeui", "eth0", "--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:1445",
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        said(log, "eth0 (NetBEUI): the name ATTIC<20> belongs to the station", "choose another with --name", "Other networks are not affected")
        check("DATA" in cable.coax("ls", "smb://127.0.0.1:1445").stdout, "not served over TCP/IP")
        second.send_signal(signal.SIGINT)
        check(second.wait(SECONDS) == 0, "the second server ends with", second.returncode)


def many_sessions(cable, scratch, folder):
    """An independent client opens 500 sessions of two stations, keeps them, and reads a file in each."""
    content = os.urandom(2000)
    (folder / "SMALL.BIN").write_bytes(content)
    tests = Path(__file__).resolve().parent.parent
    with server(cable, folder, scratch / "many.json") as process:
        before = memory_kb(process)
        done = run("ip", "netns", "exec", cable.client, sys.executable, "-m", "netbeui.sessions", "eth0", SESSIONS, "ATTIC", "DATA", "SMALL.BIN",
                   len(content), env={**os.environ, "PYTHONPATH": str(tests)})
        report, after = json.loads(done.stdout), memory_kb(process)
    check(report["sessions"] == SESSIONS, report)
    check(report["digests"] == [hashlib.sha256(content).hexdigest()], "the file differs:", report)
    each = (after - before) / SESSIONS
    check(each < MOST_KB_EACH, f"{each:.0f} KB a session")
    return each


def memory_kb(process):
    """The most memory that the server had, of the process beneath `ip netns exec`, which is the same one."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmHWM")))


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
            browsing(cable, scratch / "server.json", "eth0 (NetBEUI)", ("--netbeui", "eth0"), ("netbeui.browser", "eth0"))
            copies(cable, scratch, folder)
        log = (scratch / "server.json").read_text()
        check('"transport":"netbeui"' in log, log)
        errors(cable)
        conflict(cable, scratch, folder)
        each = many_sessions(cable, scratch, folder)
        frames = every_frame_is_sound(path)
        browser_frames_are_meant(path)
    print(f"netbeui: {frames} frames, none malformed; copies of {SIZE} bytes are equal; {SESSIONS} sessions read a file, "
          f"{each:.0f} KB of the server each")


if __name__ == "__main__":
    sys.exit(main())
