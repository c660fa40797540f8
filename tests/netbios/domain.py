"""Lists across networks: coax and nmbd as domain master and local masters on two networks, joined by WINS."""
import os

from .browsing import browse, listed, smbclient_list
from .machines import Coax, Nmbd, lookup, nmblookup
from .network import wait_for

# nmbd answers a local master's announcement after a minute, and writes its list once in a while
NMBD = 150


class Networks:
    """Two networks with a client on each; the domain master is also the WINS server."""

    def __init__(self, net, scratch):
        # the guest's process of smbd reads nmbd's list as nobody
        scratch.chmod(0o755)
        os.chmod(scratch.parent, 0o755)
        self.net, self.scratch = net, scratch
        self.first, self.second = net.host("tower"), net.host("annex", 2)
        self.clients = [net.host("client1"), net.host("client2", 2)]
        self.of_coax = set()

    def coax(self, host, name, extra, interval=5):
        text = f"hosts allow = 10.77.\ncoax:browse sync interval = {interval}\n{extra}"
        self.of_coax.add(host)
        return Coax(host, self.scratch, name, globals_=text)

    def nmbd(self, host, name, extra):
        return Nmbd(host, self.scratch, name, globals_=f"os level = 40\npreferred master = yes\n{extra}", smbd=True)

    def wins(self):
        return f"wins server = {self.first.address}"

    def masters(self):
        return zip(self.clients, (self.first, self.second))


def see(networks, names, seconds, what):
    """Both networks' masters give these servers, by coax browse and, if the master is coax, by smbclient -L: smbd 4.17 gives smbclient
    no servers, not even itself."""
    for client, master in networks.masters():
        wait_for(lambda: listed(client) == names, f"{what}: {sorted(names)} at {client.name}, not {sorted(listed(client))}", seconds)
        if master in networks.of_coax:
            servers, groups = smbclient_list(client, networks.scratch, master)
            assert servers == names and "LAB" in groups, (client.name, servers, groups)


def names_are_right(networks, domain_master):
    """The domain master is found through WINS, and each network has a local master of its own."""
    for client, master in networks.masters():
        found = lookup(client, "LAB#1b", "--resolve", "wins", "--wins", networks.first.address)["addresses"]
        assert found == [domain_master.address], found
        text = nmblookup(client, networks.scratch, "--recursion", f"--unicast={networks.first.address}", "LAB#1b")
        assert f"{domain_master.address} LAB<1b>" in text, text
        assert master.address in nmblookup(client, networks.scratch, "-M", "LAB")


def both_coax(net, scratch):
    """coax is domain master and local master on two networks: lists agree after a machine joins, leaves or moves."""
    networks = Networks(net, scratch)
    tower = networks.coax(networks.first, "TOWER", "wins support = yes\ndomain master = yes")
    annex = networks.coax(networks.second, "ANNEX", networks.wins())
    wait_for(lambda: annex.said("TOWER is the domain master browser of LAB; coax exchanges lists with it"), "the domain master")
    see(networks, {"TOWER", "ANNEX"}, 60, "two masters")
    names_are_right(networks, networks.first)
    groups = browse(networks.clients[1])
    assert [group["name"] for group in groups] == ["LAB"], groups
    far = net.host("far", 2)
    guest = networks.coax(far, "FAR", f"{networks.wins()}\nlocal master = no")
    see(networks, {"TOWER", "ANNEX", "FAR"}, 90, "a machine joins")
    guest.stop()
    see(networks, {"TOWER", "ANNEX"}, 90, "it leaves")
    annex.stop(kill=True)
    wait_for(lambda: tower.said("the master browser ANNEX gives no list of servers: 10.77.2.2:139: "), "the failure in the log", 90)
    wait_for(lambda: listed(networks.clients[0]) == {"TOWER"}, "ANNEX forgotten", 90)
    return {networks.first.address, networks.second.address, far.address}


def coax_is_domain_master(net, scratch):
    """coax is domain master with WINS, nmbd local master of the other network."""
    networks = Networks(net, scratch)
    tower = networks.coax(networks.first, "TOWER", "wins support = yes\ndomain master = yes")
    wait_for(lambda: tower.said("coax is the master browser of LAB: it won the election"), "the election")
    barn = networks.nmbd(networks.second, "ANNEX", networks.wins())
    see(networks, {"TOWER", "ANNEX"}, NMBD, "two masters")
    names_are_right(networks, networks.first)
    far = networks.nmbd(net.host("far", 2), "FAR", f"{networks.wins()}\nlocal master = no\npreferred master = no")
    wait_for(lambda: listed(networks.clients[0]) == {"TOWER", "ANNEX", "FAR"}, "FAR at the domain master", NMBD)
    far.stop()
    wait_for(lambda: listed(networks.clients[0]) == {"TOWER", "ANNEX"}, "FAR gone at the domain master", NMBD)
    assert barn.listed() >= {"TOWER", "ANNEX"}, barn.listed()
    return {networks.first.address}


def nmbd_is_domain_master(net, scratch):
    """nmbd is domain master with WINS, coax local master of the other network."""
    networks = Networks(net, scratch)
    networks.nmbd(networks.first, "TOWER", "wins support = yes\ndomain master = yes")
    annex = networks.coax(networks.second, "ANNEX", networks.wins())
    wait_for(lambda: annex.said("TOWER is the domain master browser of LAB; coax exchanges lists with it"), "the domain master", NMBD)
    see(networks, {"TOWER", "ANNEX"}, NMBD, "two masters")
    names_are_right(networks, networks.first)
    far = networks.coax(net.host("far"), "FAR", f"{networks.wins()}\nlocal master = no")
    wait_for(lambda: listed(networks.clients[1]) == {"TOWER", "ANNEX", "FAR"}, "FAR at the local master", NMBD)
    far.stop()
    wait_for(lambda: listed(networks.clients[1]) == {"TOWER", "ANNEX"}, "FAR gone at the local master", NMBD)
    return {networks.second.address}


TESTS = [both_coax, coax_is_domain_master, nmbd_is_domain_master]
for test in TESTS:
    test.segments = 2
