"""Broadcast names: registration, conflict, release, queries by several programs."""
import sys

from .machines import Coax, Nmbd, lookup, nmblookup
from .network import wait_for


def owned(client, name, owner):
    """Whether a broadcast for `name` finds `owner`."""
    return owner.address in lookup(client, name)["addresses"]


def queries(net, scratch):
    """nmblookup, coax lookup, nbtscan, impacket and pysmb find coax, and coax lookup finds nmbd."""
    server, other, client = net.host("tower"), net.host("barn"), net.host("client")
    coax = Coax(server, scratch, "TOWER", globals_="netbios aliases = ATTIC")
    Nmbd(other, scratch, "BARN")
    wait_for(lambda: owned(client, "TOWER", server), "TOWER by broadcast")
    wait_for(lambda: owned(client, "BARN", other), "BARN by broadcast")
    wait_for(lambda: owned(client, "ATTIC", server), "the alias ATTIC")
    text = nmblookup(client, scratch, "TOWER#20")
    assert f"{server.address} TOWER<20>" in text, text
    text = nmblookup(client, scratch, "-S", "TOWER")
    assert "TOWER           <20> -         B <ACTIVE>" in text, text
    text = nmblookup(client, scratch, "-A", server.address)
    assert "LAB             <00> - <GROUP> B <ACTIVE>" in text, text
    status = lookup(client, other.address)["nodes"][0]
    held = {(own["name"], own["suffix"], own["group"]) for own in status["names"]}
    assert {("BARN", "20", False), ("LAB", "00", True)} <= held, held
    group = lookup(client, "LAB#00")
    assert set(group["addresses"]) >= {server.address, other.address}, group
    assert not lookup(client, "NOBODY")["ok"]
    scanners(client, server)
    coax.stop()
    wait_for(lambda: not lookup(client, "TOWER")["ok"], "TOWER released")
    return {server.address, client.address}


def scanners(client, server):
    text = client.run("nbtscan", "-v", "-s", "|", f"{server.address}/32").stdout
    assert f"{server.address}|TOWER          |20U" in text.replace("  |", "  |"), text
    script = ("from impacket import nmb\n"
              "n = nmb.NetBIOS()\n"
              f"print([e.ips if hasattr(e, 'ips') else e for e in [n.getnodestatus('TOWER', {server.address!r})]] != [])\n"
              f"print(n.getnetbiosname({server.address!r}))\n")
    done = client.run(sys.executable, "-c", script)
    assert done.stdout.split() == ["True", "TOWER"], (done.stdout, done.stderr)
    script = ("from nmb.NetBIOS import NetBIOS\n"
              "n = NetBIOS(broadcast=True)\n"
              f"print(n.queryName('TOWER', ip={client.broadcast!r}, timeout=5))\n"
              f"print(n.queryIPForName({server.address!r}, timeout=5))\n")
    done = client.run(sys.executable, "-c", script)
    assert f"['{server.address}']" in done.stdout and "TOWER" in done.stdout.splitlines()[1], (done.stdout, done.stderr)


def conflicts(net, scratch):
    """A name that nmbd has is refused to coax, and one that coax has to nmbd."""
    first, second, client = net.host("one"), net.host("two"), net.host("client")
    nmbd = Nmbd(first, scratch, "TOWER")
    wait_for(lambda: owned(client, "TOWER", first), "nmbd's TOWER")
    coax = Coax(second, scratch, "TOWER")
    wait_for(lambda: coax.said(r"the name TOWER<20> belongs to 10\.77\.1\.1"), "the refusal in coax's log")
    assert lookup(client, "TOWER")["addresses"] == [first.address]
    nmbd.stop()
    coax.stop()
    coax.start()
    wait_for(lambda: owned(client, "TOWER", second), "coax's TOWER")
    Nmbd(first, scratch, "TOWER")
    wait_for(lambda: coax.said(r"10\.77\.1\.1 claimed our name TOWER"), "the defence in coax's log")
    assert lookup(client, "TOWER")["addresses"] == [second.address]
    return {second.address}


def forged(net, scratch):
    """Forged conflicts and releases take no name from coax, and no reply leaves its network."""
    server, client = net.host("tower"), net.host("client")
    coax = Coax(server, scratch, "TOWER")
    wait_for(lambda: owned(client, "TOWER", server), "TOWER by broadcast")
    name = "20" + "".join(f"{ord('A') + (b >> 4):02x}{ord('A') + (b & 15):02x}" for b in b"TOWER          \x20") + "00"
    record = name + "00200001" + "00000000" + "0006" + "0000" + "0a4d0163"
    demand = "4242ad870000000100000000" + record
    release = "4243301000010000000000 01".replace(" ", "") + name + "00200001" + "c00c00200001" + "00000000" + "0006" + "0000" \
        + bytes(map(int, server.address.split("."))).hex()
    script = ("import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
              "s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\ns.bind(('', 137))\n"
              f"for data in ({demand!r}, {release!r}):\n"
              f"    for to in ({server.address!r}, {client.broadcast!r}):\n        s.sendto(bytes.fromhex(data), (to, 137))\n")
    client.run(sys.executable, "-c", script, check=True)
    wait_for(lambda: coax.said("no other machine answers to it; the name is kept"), "the check in coax's log")
    assert owned(client, "TOWER", server)
    client.ip("addr add 192.168.5.5/32 dev eth0")
    foreign = ("import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.settimeout(2)\n"
               "s.bind(('192.168.5.5', 0))\n"
               f"s.sendto(bytes.fromhex('4244000000010000000000002043' + '4b' + '41' * 30 + '0000210001'), ({server.address!r}, 137))\n"
               "try:\n    print(len(s.recv(1000)))\nexcept TimeoutError:\n    print('silence')\n")
    server.ip("route add 192.168.5.5/32 dev eth0")
    assert client.run(sys.executable, "-c", foreign).stdout.strip() == "silence"
    local = foreign.replace("192.168.5.5", client.address)
    assert client.run(sys.executable, "-c", local).stdout.strip().isdigit()
    return {server.address}


def lmhosts(net, scratch):
    """Client verbs find servers through LMHOSTS, WINS and broadcasts; a bad line is told with its remedy."""
    server, client = net.host("tower"), net.host("client")
    Coax(server, scratch, "TOWER")
    wait_for(lambda: owned(client, "TOWER", server), "TOWER by broadcast")
    from peers import subject
    coax = subject.coax_binary()
    done = client.run(coax, "ls", "smb://tower/FILES", "--transport", "nbt")
    assert done.returncode == 0 and "a broadcast gives" in done.stderr, done
    # a server that knows its own name only is called by the name that its node status tells
    file = scratch / "lmhosts"
    file.write_text(f"10.0.0 broken\n{server.address} shed #PRE\n")
    done = client.run(coax, "ls", "smb://shed/FILES", "--transport", "nbt", "--lmhosts", file)
    assert done.returncode == 0 and "lmhosts, line 1: '10.0.0' is no IPv4 address; write ADDRESS NAME" in done.stderr, done
    assert "LMHOSTS gives" in done.stderr, done
    done = client.run(coax, "ls", "smb://nobody/FILES")
    assert done.returncode == 1 and "no machine answered a broadcast" in done.stderr, done
    return {server.address, client.address}


TESTS = [queries, conflicts, forged, lmhosts]
