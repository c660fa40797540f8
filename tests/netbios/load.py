"""Figures: 200 stations in a browse list, 1,000 names at the WINS server, and the server's CPU time for them."""
import os
import sys
import time

from .browsing import listed, smbclient_list
from .machines import Coax, lookup, nmblookup
from .network import wait_for

STATIONS, NAMES = 200, 1000

SEND = r"""
import json, socket, struct, sys, time
kind, server, own, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
def encoded(name, suffix):
    raw = name.encode().ljust(15) + bytes([suffix])
    return b"\x20" + bytes(n for byte in raw for n in (0x41 + (byte >> 4), 0x41 + (byte & 15))) + b"\0"
def announcement(name):
    body = b"\x01\0" + struct.pack("<I", 720000) + name.encode().ljust(16, b"\0") + b"\x04\x00" + struct.pack("<I", 0x402003) + b"\x0f\x01\x55\xaaold\0"
    slot = b"\\MAILSLOT\\BROWSE\0"
    smb = b"\xffSMB\x25" + bytes(27) + b"\x11" + struct.pack("<HHHHBBHIHHHHHBBHHH", 0, len(body), 0, 0, 0, 0, 0, 1000, 0, 0, 0, len(body),
        69 + len(slot), 3, 0, 1, 1, 2) + struct.pack("<H", len(slot) + len(body)) + slot + body
    data = encoded(name, 0) + encoded("LAB", 0x1d) + smb
    return struct.pack(">BBH4sHHH", 0x10, 2, 1, socket.inet_aton(own), 138, len(data), 0) + data
def registration(name, number):
    question = encoded(name, 0x20) + b"\0\x20\0\x01"
    record = b"\xc0\x0c\0\x20\0\x01" + struct.pack(">IHH", 300000, 6, 0x6000) + socket.inet_aton(own)
    return struct.pack(">HHHHHH", number, 0x2900, 1, 0, 0, 1) + question + record
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 0 if kind == "names" else 138))
s.settimeout(5)
answered = 0
for number in range(count):
    if kind == "names":
        s.sendto(registration(f"NAME{number}", number + 1), (server, 137))
        reply = s.recv(1000)
        answered += reply[:2] == struct.pack(">H", number + 1) and reply[3] & 15 == 0
        time.sleep(0.006)
    else:
        s.sendto(announcement(f"OLD{number}"), (server, 138))
        time.sleep(0.022)
print(answered)
"""


def cpu_s(coax):
    """CPU seconds of the server's process."""
    with open(f"/proc/{coax.process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send(client, kind, server, count):
    done = client.run(sys.executable, "-c", SEND, kind, server.address, client.address, count)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def stations(net, scratch):
    """200 stations announce themselves; smbclient -L and coax browse list all of them."""
    server, client = net.host("tower"), net.host("client")
    coax = Coax(server, scratch, "TOWER")
    wait_for(lambda: coax.said("coax is the master browser of LAB: it won the election"), "the election")
    before = cpu_s(coax)
    send(client, "stations", server, STATIONS)
    heard = cpu_s(coax)
    wanted = {f"OLD{number}" for number in range(STATIONS)} | {"TOWER"}
    began = time.monotonic()
    assert listed(client) == wanted
    took = time.monotonic() - began
    assert smbclient_list(client, scratch, server)[0] == wanted
    print(f"     {STATIONS} announcements: {1000 * (heard - before):.0f} ms of CPU; coax browse: {1000 * took:.0f} ms")
    return {server.address}


def names(net, scratch):
    """1,000 names are registered at the WINS server, found, and kept in its file."""
    server, client = net.host("wins"), net.host("client")
    coax = Coax(server, scratch, "WINS", globals_="wins support = yes")
    wait_for(lambda: lookup(client, "WINS", "--resolve", "wins", "--wins", server.address)["ok"], "the WINS server")
    before = cpu_s(coax)
    assert send(client, "names", server, NAMES) == NAMES
    spent = cpu_s(coax) - before
    wait_for(lambda: coax.database.exists() and coax.database.read_text().count('"NAME') == NAMES, "the file", 30)
    for number in (0, NAMES // 2, NAMES - 1):
        text = nmblookup(client, scratch, "--recursion", f"--unicast={server.address}", f"NAME{number}#20")
        assert f"{client.address} NAME{number}<20>" in text, text
    print(f"     {NAMES} registrations: {1000 * spent:.0f} ms of CPU; file {coax.database.stat().st_size} bytes")
    return {server.address}


TESTS = [stations, names]
