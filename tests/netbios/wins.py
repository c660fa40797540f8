"""WINS: coax as client of nmbd, nmbd as client of coax, and names across networks."""

from .machines import Coax, Nmbd, lookup, nmblookup
from .network import wait_for


def in_wins(client, name, server):
    """The addresses that a WINS server has for a name."""
    answers = lookup(client, name, "--resolve", "wins", "--wins", server.address)["answers"]
    return [owner["address"] for answer in answers for owner in answer["owners"]]


def coax_registers(net, scratch):
    """coax registers, refuses and releases names at nmbd's WINS server, over a router."""
    server, near, far, client = net.host("wins"), net.host("near"), net.host("far", 2), net.host("client", 2)
    Nmbd(server, scratch, "WINS", globals_="wins support = yes")
    settings = f"wins server = {server.address}"
    coax = Coax(near, scratch, "TOWER", globals_=settings)
    wait_for(lambda: in_wins(client, "TOWER", server) == [near.address], "TOWER at nmbd's WINS server")
    assert in_wins(client, "LAB#00", server)
    text = nmblookup(client, scratch, "--recursion", f"--unicast={server.address}", "TOWER#20")
    assert f"{near.address} TOWER<20>" in text, text
    # the same name on another network is refused by WINS
    other = Coax(far, scratch, "TOWER2", globals_=f"{settings}\nnetbios name = TOWER")
    wait_for(lambda: other.said("the name TOWER<20> belongs to"), "the refusal of the second TOWER", 90)
    assert in_wins(client, "TOWER", server) == [near.address]
    coax.stop()
    wait_for(lambda: in_wins(client, "TOWER", server) == [], "TOWER released at nmbd's WINS server")
    return {near.address}


def coax_serves(net, scratch):
    """nmbd registers at coax's WINS server; a second owner is challenged; records survive a restart; the hook runs."""
    server, near, far, client = net.host("wins"), net.host("near"), net.host("far", 2), net.host("client", 2)
    changes, static = scratch / "changes", scratch / "lmhosts"
    static.write_text("10.99.0.1 PRINTER\n10.99.0.2 DC1 #DOM:CORP\n")
    hook = scratch / "hook"
    hook.write_text(f"#!/bin/sh\necho \"$@\" >> {changes}\n")
    hook.chmod(0o755)
    coax = Coax(server, scratch, "WINS",
                globals_=f"wins support = yes\nwins hook = {hook}\ncoax:lmhosts = {static}\nhosts allow = 10.77.")
    barn = Nmbd(near, scratch, "BARN", globals_=f"wins server = {server.address}")
    wait_for(lambda: in_wins(client, "BARN", server) == [near.address], "BARN at coax's WINS server", 90)
    assert in_wins(client, "WINS", server) == [server.address]
    assert in_wins(client, "LAB#00", server) == ["255.255.255.255"]
    assert in_wins(client, "PRINTER", server) == ["10.99.0.1"]
    assert in_wins(client, "CORP#1c", server) == ["10.99.0.2"]
    assert in_wins(client, "NOBODY", server) == []
    wait_for(lambda: changes.exists() and f"add BARN 20" in changes.read_text(), "the hook's line")
    wait_for(lambda: coax.database.exists() and '"BARN#20"' in coax.database.read_text(), "BARN in wins.dat")
    coax.stop()
    coax.start()
    wait_for(lambda: in_wins(client, "BARN", server) == [near.address], "BARN after the restart")
    second = Nmbd(far, scratch, "SECOND", globals_=f"netbios name = BARN\nwins server = {server.address}")
    wait_for(lambda: coax.said("a second machine wanted the name BARN"), "the refusal in coax's log", 90)
    assert in_wins(client, "BARN", server) == [near.address]
    second.stop()
    barn.stop()
    wait_for(lambda: in_wins(client, "BARN", server) == [], "BARN released")
    return {server.address}


def both_are_coax(net, scratch):
    """An H node falls back to broadcasts while WINS is silent; a proxy answers B nodes for the other network."""
    server, far, client = net.host("wins"), net.host("far", 2), net.host("client")
    proxy = net.host("proxy")
    settings = f"wins server = {server.address}\ncoax:node type = h"
    late = Coax(proxy, scratch, "PROXY", globals_=f"{settings}\nwins proxy = yes")
    wait_for(lambda: late.said("no WINS server answers"), "the silence of WINS")
    wait_for(lambda: lookup(client, "PROXY")["ok"], "PROXY by broadcast")
    Coax(server, scratch, "WINS", globals_="wins support = yes")
    Coax(far, scratch, "FAR", globals_=settings)
    wait_for(lambda: in_wins(client, "FAR", server) == [far.address], "FAR at the WINS server")
    wait_for(lambda: in_wins(client, "PROXY", server) == [proxy.address], "PROXY returns to WINS", 90)
    found = wait_for(lambda: lookup(client, "FAR") if lookup(client, "FAR")["ok"] else None, "FAR through the proxy")
    assert found["answers"][0]["from"] == f"{proxy.address} answered the broadcast", found
    assert found["addresses"] == [far.address], found
    return {server.address, proxy.address, client.address}


coax_registers.segments = coax_serves.segments = both_are_coax.segments = 2
TESTS = [coax_registers, coax_serves, both_are_coax]
