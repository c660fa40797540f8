"""Name service clients on UDP 137: only where the server listens there, which takes a namespace of our own."""
import socket
import struct

from ..cell import Failed, Row, run_command


def listens(host):
    """Whether anybody answers a node status request (RFC 1002, section 4.2.17)."""
    name = b"\x20" + b"CK" + b"A" * 30 + b"\x00"  # "*" and fifteen zero bytes
    query = struct.pack(">HHHHHH", 0x4242, 0, 1, 0, 0, 0) + name + struct.pack(">HH", 0x21, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(1)
        try:
            probe.sendto(query, (host, 137))
            return len(probe.recv(2048)) > 56
        except OSError:
            return False


def says(output, wanted):
    if wanted.lower() not in output.lower():
        raise Failed(f"no {wanted!r} in: " + " ".join(output.split())[-200:])


def cycle(session):
    host, name = session.subject.host, session.subject.name
    steps = {
        "list": lambda: says(run_command(["nmblookup", "-s", "/dev/null", "-A", host]), f"{name}"),
        "get": lambda: says(run_command(["nmblookup", "-s", "/dev/null", "-U", host, name]), f"{host} {name}<00>"),
        "shares": lambda: says(run_command(["nbtscan", "-q", host]), name),
        "attr": lambda: says(
            run_command(["nmap", "-Pn", "-n", "-sU", "-p", "137", "--script", "nbstat", host]), f"NetBIOS name: {name}"
        ),
    }
    there = listens(host)
    for step, action in steps.items():
        session.step(step, action) if there else session.skip(step, "no answer on UDP 137")


ROWS = [Row("names", cycle, "udp", needs=("nmap", "nbtscan", "smbclient"))]
