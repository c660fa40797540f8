"""Browsing: elections among coax and nmbd, lists by smbclient and coax browse, announcements."""
import json

from peers import subject

from .machines import Coax, Nmbd, lookup, nmblookup
from .network import wait_for


def browse(client, *words):
    """The report of `coax browse`, or None."""
    done = client.run(subject.coax_binary(), "browse", "--json", "--no-shares", *words)
    return json.loads(done.stdout)["workgroups"] if done.returncode == 0 else None


def listed(client, workgroup="LAB"):
    """The servers of a workgroup, as its master lists them."""
    groups = browse(client, workgroup) or []
    return {server["name"] for group in groups for server in group["servers"] or []}


def master_of(client, workgroup="LAB"):
    found = lookup(client, f"{workgroup}#1d")["addresses"]
    return found[0] if found else None


def smbclient_list(client, scratch, server):
    """Servers and workgroups that `smbclient -L` prints."""
    conf = scratch / "smbclient.conf"
    conf.write_text(f"[global]\nclient min protocol = CORE\nclient max protocol = NT1\nlock directory = {scratch}\n"
                    f"private dir = {scratch}\ncache directory = {scratch}\nstate directory = {scratch}\n")
    text = client.run("smbclient", "-s", conf, "-g", "-N", "-m", "NT1", "-p", "139", "-L", server.address).stdout
    rows = [line.split("|") for line in text.splitlines() if "|" in line]
    return ({row[1] for row in rows if row[0] == "Server"}, {row[1]: row[2] for row in rows if row[0] == "Workgroup"})


def coax_is_master(net, scratch):
    """coax alone becomes master; nmbd joins, is listed, leaves; smbclient -L and coax browse show it; a preferred nmbd wins."""
    server, other, client = net.host("tower"), net.host("barn"), net.host("client")
    coax = Coax(server, scratch, "TOWER")
    wait_for(lambda: coax.said("coax is the master browser of LAB: it won the election"), "the election")
    assert master_of(client) == server.address
    assert server.address in nmblookup(client, scratch, "-M", "LAB")
    assert server.address in nmblookup(client, scratch, "-M", "--", "-")
    nmbd = Nmbd(other, scratch, "BARN", globals_="os level = 2\npreferred master = no", smbd=True)
    wait_for(lambda: listed(client) == {"TOWER", "BARN"}, "both in the list", 90)
    servers, workgroups = smbclient_list(client, scratch, server)
    assert servers == {"TOWER", "BARN"} and workgroups.get("LAB") == "TOWER", (servers, workgroups)
    tree = client.run(subject.coax_binary(), "browse").stdout
    assert "LAB (master browser TOWER)" in tree and "FILES" in tree, tree
    nmbd.stop()
    wait_for(lambda: listed(client) == {"TOWER"}, "BARN gone from the list", 90)
    rival = Nmbd(net.host("rival"), scratch, "RIVAL", globals_="os level = 65\npreferred master = yes")
    wait_for(lambda: coax.said("RIVAL won the election by its higher 'os level'"), "the lost election", 90)
    wait_for(lambda: master_of(client) == rival.host.address, "RIVAL is master", 90)
    rival.stop()
    return {server.address, client.address}


def nmbd_is_master(net, scratch):
    """nmbd is master: coax finds it, appears in its list, and says goodbye when it stops."""
    server, other, client = net.host("barn"), net.host("tower"), net.host("client")
    nmbd = Nmbd(server, scratch, "BARN", globals_="os level = 65\npreferred master = yes", smbd=True)
    wait_for(lambda: master_of(client) == server.address, "nmbd is master", 90)
    coax = Coax(other, scratch, "TOWER")
    wait_for(lambda: coax.said("BARN is the master browser of LAB"), "coax finds the master")
    # smbd 4.17 gives smbclient -L no servers, not even itself, so the test reads nmbd's own list
    wait_for(lambda: {"BARN", "TOWER"} <= nmbd.listed(), "TOWER in nmbd's list", 90)
    heard = len(nmbd.announcements("TOWER"))
    coax.stop()
    wait_for(lambda: len(nmbd.announcements("TOWER")) > heard, "the last announcement at nmbd")
    return {other.address, client.address}


def two_workgroups(net, scratch):
    """Masters of two workgroups, coax and nmbd, list each other's workgroup."""
    server, other, client = net.host("tower"), net.host("barn"), net.host("client")
    Coax(server, scratch, "TOWER", "LAB")
    Nmbd(other, scratch, "BARN", "HOME", globals_="preferred master = yes", smbd=True)
    wait_for(lambda: master_of(client, "LAB") == server.address, "coax is master of LAB", 90)
    wait_for(lambda: master_of(client, "HOME") == other.address, "nmbd is master of HOME", 90)
    wait_for(lambda: smbclient_list(client, scratch, server)[1] == {"LAB": "TOWER", "HOME": "BARN"}, "both workgroups", 150)
    groups = browse(client)
    assert {group["name"]: group["master"] for group in groups} == {"LAB": "TOWER", "HOME": "BARN"}, groups
    return {server.address, client.address}


TESTS = [coax_is_master, nmbd_is_master, two_workgroups]
