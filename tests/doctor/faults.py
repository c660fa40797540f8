"""Faults of a machine, its network and a client, each made for real."""
import contextlib
import json
import os
import subprocess
import sys
import time

from netbios.machines import Coax, Nmbd
from netbios.network import wait_for
from peers import subject

CONF = "[global]\nnetbios name = TOWER\nworkgroup = LAB\nmap to guest = Bad User\n{globals}\n[OLD]\npath = {path}\nguest ok = yes\n{share}\n"


def conf(folder, globals_="", share="", path=None):
    path = path or folder / "old"
    path.mkdir(exist_ok=True)
    file = folder / "smb.conf"
    file.write_text(CONF.format(globals=globals_, share=share, path=path))
    return file


def doctor(host, *words, user=None):
    """The report of coax doctor, whose exit code must fit it."""
    command = [subject.coax_binary(), "doctor", "--json", *map(str, words)]
    if user:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    done = host.run(*command)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    report = json.loads(done.stdout)
    assert report["schema"] == 1 and done.returncode == (1 if report["errors"] else 0), report
    severities = [finding["severity"] for finding in report["findings"]]
    order = ["error", "warning", "note", "ok"]
    assert severities == sorted(severities, key=order.index), severities
    return report


def the(report, severity, *words):
    """The one finding of this severity with all these words."""
    def text(finding):
        return " | ".join(str(finding[key]) for key in ("check", "what", "where", "why", "fix"))
    for finding in report["findings"]:
        if finding["severity"] == severity and all(word in text(finding) for word in words):
            return finding
    shown = "\n".join(f"{finding['severity']}: {text(finding)}" for finding in report["findings"])
    raise AssertionError(f"no {severity} with {words} in\n{shown}")


def errors(report):
    return [finding["what"] for finding in report["findings"] if finding["severity"] == "error"]


def samba_holds_the_ports(net, folder):
    """smbd and nmbd are named as holders of their ports; with the ports free again there is no error."""
    host = net.host("tower")
    file = conf(folder)
    assert errors(doctor(host, "--config", file)) == []
    samba = Nmbd(host, folder, "OTHER", smbd=True)
    wait_for(lambda: "smbd" in host.run("ss", "-ltnp").stdout, "smbd to listen", 20)
    wait_for(lambda: "nmbd" in host.run("ss", "-lunp").stdout, "nmbd to listen", 20)
    report = doctor(host, "--config", file)
    for port in (139, 445):
        found = the(report, "error", f"holds TCP port {port}", "smbd (process ", "disable --now smbd nmbd")
        assert found["where"].endswith(f":{port}"), found
    the(report, "warning", "holds UDP port 137", "nmbd (process ")
    the(report, "note", "another SMB server runs: ", "smbd (process")
    samba.stop()


def another_program_holds_a_port(net, folder):
    """A program that is not Samba is named, to root; other users are told what they may not know."""
    host = net.host("tower")
    file = conf(folder)
    listener = host.start("nc.openbsd", "-l", "-k", host.address, "139")
    wait_for(lambda: ":139" in host.run("ss", "-ltn").stdout, "netcat to listen", 10)
    found = the(doctor(host, "--config", file), "error", "holds TCP port 139", f"(process {listener.pid})")
    assert found["where"] == f"{host.address}:139" and str(listener.pid) in found["fix"], found
    report = doctor(host, "--config", file, user=65534)
    # another coax of root may run on this machine, in a network that this user may not know
    severity = "note" if any("who also runs coax" in finding["what"] for finding in report["findings"]) else "error"
    the(report, severity, "a process of user 0", "holds TCP port 139", "sudo")
    the(report, "warning", "may not use ports below 1024", "setcap")
    the(report, "note", "the rules of nftables", "not read", "CAP_NET_ADMIN")


def the_packet_filter_drops(net, folder):
    """Rules of nftables and iptables that drop a port are found, and the fix that is told opens it."""
    host = net.host("tower")
    file = conf(folder)
    host.run("nft", "add table inet f; add chain inet f in { type filter hook input priority 0; policy drop; };"
             "add rule inet f in ct state established accept; add rule inet f in iifname lo accept;"
             "add rule inet f in tcp dport 445 accept", check=True)
    report = doctor(host, "--config", file)
    found = the(report, "error", "drops TCP 139 on eth0", "table inet f, chain in: policy drop")
    names = the(report, "warning", "drops UDP 137, 138 on eth0")
    assert len(errors(report)) == 1, errors(report)
    for fix in (found["fix"], names["fix"]):
        host.run("sh", "-c", fix.replace("sudo ", ""), check=True)
    the(doctor(host, "--config", file), "ok", "the packet filter lets clients in")
    assert reaches(net, host, 139)
    host.run("nft", "flush", "ruleset", check=True)
    host.run("iptables", "-A", "INPUT", "-p", "tcp", "-m", "multiport", "--dports", "139,445", "-m", "comment", "--comment", "no SMB", "-j", "REJECT",
             check=True)
    assert not reaches(net, host, 139)
    report = doctor(host, "--config", file)
    found = the(report, "error", "drops TCP 139, 445 on eth0", '--comment "no SMB" -j REJECT')
    host.run("sh", "-c", found["fix"].replace("sudo ", ""), check=True)
    assert errors(doctor(host, "--config", file)) == []
    assert reaches(net, host, 139)


def kinds_of_rules(net, folder):
    """Doctor and the kernel agree about rules with TCP flags, states, verdict maps and both families of addresses."""
    host = net.host("tower")
    net.host("prober").ip("-6 addr add fd00:1::9/64 dev eth0 nodad")
    host.ip("-6 addr add fd00:1::5/64 dev eth0 nodad")
    both = conf(folder, "interfaces = ::\nbind interfaces only = yes")
    chain = "add table inet f; add chain inet f in { type filter hook input priority 0; };"
    for nft, over_ipv4, over_ipv6 in [
            ("add rule inet f in tcp flags syn tcp dport 139 drop", False, False),
            ("add rule inet f in tcp flags & (fin|syn|rst|ack) == syn tcp dport 139 drop", False, False),
            ("add rule inet f in tcp flags & (fin|syn|rst|ack) == ack tcp dport 139 drop", True, True),
            ("add rule inet f in ct state new tcp dport 139 drop", False, False),
            ("add rule inet f in ct state ! new tcp dport 139 drop", True, True),
            ("add map inet f m { type inet_service : verdict; }; add element inet f m { 139 : drop, 445 : accept };"
             "add rule inet f in tcp dport vmap @m", False, False),
            ("add rule inet f in iifname vmap { lo : accept, eth0 : drop }", False, False),
            ("add rule inet f in ip saddr vmap { 10.77.0.0/16 : drop }", False, True),
            ("add rule inet f in ip6 saddr vmap { fd00::/8 : drop, fe80::/10 : accept }", True, False),
            ("add rule inet f in tcp dport . iifname vmap { 139 . eth0 : drop }", False, False),
            ("add rule inet f in tcp dport vmap { 22 : accept, * : drop }", False, False),
            ("add rule inet f in meta nfproto ipv6 tcp dport 139 drop", True, False),
            ("add table ip6 g; add chain ip6 g in { type filter hook input priority 0; };"
             "add rule ip6 g in tcp dport 139 drop", True, False)]:
        host.run("nft", chain + nft, check=True)
        agree(net, host, both, nft, over_ipv4, over_ipv6)
        host.run("nft", "flush", "ruleset", check=True)
    for program, options, over_ipv4, over_ipv6 in [
            ("iptables", "-p tcp --syn --dport 139", False, True),
            ("iptables", "-p tcp ! --syn --dport 139", True, True),
            ("iptables", "-p tcp --dport 139 -m conntrack --ctstate NEW", False, True),
            ("ip6tables", "-p tcp --syn --dport 139", True, False),
            ("ip6tables", "-s fd00::/8 -p tcp --dport 139", True, False)]:
        host.run(program, "-A", "INPUT", *options.split(), "-j", "DROP", check=True)
        agree(net, host, both, options, over_ipv4, over_ipv6)
        host.run("nft", "flush", "ruleset", check=True)
    host.run("nft", chain + "add rule inet f in meta mark 0 tcp dport 139 drop", check=True)
    the(doctor(host, "--config", both), "note", "may drop TCP 139 on eth0", "a rule was not understood: meta mark 0 tcp dport 139 drop")


def untracked_packets(net, folder):
    """Doctor and the kernel agree about packets that rules exempt from connection tracking, before and after it sees them."""
    host = net.host("tower")
    net.host("prober").ip("-6 addr add fd00:1::9/64 dev eth0 nodad")
    host.ip("-6 addr add fd00:1::5/64 dev eth0 nodad")
    both = conf(folder, "interfaces = ::\nbind interfaces only = yes")
    begin = ("add table inet f; add chain inet f pre {{ type filter hook prerouting priority {}; }};"
             "add chain inet f in {{ type filter hook input priority 0; }};")
    drop_untracked = "add rule inet f in ct state untracked tcp dport 139 drop"
    drop_others = "add rule inet f in ct state new,established accept; add rule inet f in tcp dport 139 drop"
    for priority, notrack, then, over_ipv4, over_ipv6 in [
            (-300, "tcp dport 139 notrack", drop_untracked, False, False),
            (-300, "meta nfproto ipv4 tcp dport 139 notrack", drop_untracked, False, True),
            (-300, "tcp dport 445 notrack", drop_untracked, True, True),
            (-150, "tcp dport 139 notrack", drop_untracked, True, True),
            (-300, "tcp dport 139 notrack", drop_others, False, False),
            (-150, "tcp dport 139 notrack", drop_others, True, True)]:
        rule = f"{begin.format(priority)} add rule inet f pre {notrack}; {then}"
        host.run("nft", rule, check=True)
        agree(net, host, both, rule, over_ipv4, over_ipv6)
        host.run("nft", "flush", "ruleset", check=True)
    for target in (["NOTRACK"], ["CT", "--notrack"]):
        host.run("iptables", "-t", "raw", "-A", "PREROUTING", "-p", "tcp", "--dport", "139", "-j", *target, check=True)
        host.run("iptables", *"-A INPUT -p tcp --dport 139 -m conntrack --ctstate UNTRACKED -j DROP".split(), check=True)
        agree(net, host, both, target, False, True)
        host.run("nft", "flush", "ruleset", check=True)


def agree(net, host, file, rule, over_ipv4, over_ipv6):
    """Both say which family of addresses reaches TCP 139."""
    said = [what for what in errors(doctor(host, "--config", file)) if "drops TCP 139" in what]
    doctor_says = (not [what for what in said if "IPv6" not in what], not [what for what in said if "IPv6" in what])
    kernel_says = (reaches(net, host, 139), reaches(net, host, 139, "fd00:1::5"))
    assert kernel_says == (over_ipv4, over_ipv6), (rule, kernel_says)
    assert doctor_says == kernel_says, (rule, said, kernel_says)


def reaches(net, host, port, address=None):
    """Whether a packet from another machine arrives: the kernel then refuses, because nobody listens."""
    address = address or host.address
    client = next((other for other in net.hosts if other.name == "prober"), None) or net.host("prober")
    script = (f"import socket\ntry:\n    socket.create_connection(({address!r}, {port}), 1)\n"
              "except ConnectionRefusedError as e:\n    print('refused')\nexcept OSError as e:\n    print(e)\n")
    listener = host.start("nc.openbsd", "-l", address, str(port))
    wait_for(lambda: f":{port}" in host.run("ss", "-ltn").stdout, "netcat to listen", 10)
    said = client.run("python3", "-c", script).stdout
    host.stop(listener)
    return said == ""


def interfaces_and_mtu(net, folder):
    """A jumbo MTU, a wrong broadcast address, two interfaces in one network and no address at all."""
    host = net.host("tower")
    file = conf(folder)
    host.ip("link set eth0 mtu 9000")
    the(doctor(host, "--config", file), "warning", "eth0 has an MTU of 9000", "mtu 1500")
    host.ip("link set eth0 mtu 1500")
    host.ip(f"addr del {host.address}/24 dev eth0")
    host.ip(f"addr add {host.address}/24 broadcast 10.255.255.255 dev eth0")
    found = the(doctor(host, "--config", file), "warning", "is 10.255.255.255, not 10.77.1.255")
    host.run("sh", "-c", found["fix"].replace("sudo ", ""), check=True)
    assert not [f for f in doctor(host, "--config", file)["findings"] if "broadcast" in f["what"]]
    host.ip("link add twin type veth peer name twin2")
    host.ip("addr add 10.77.1.77/24 dev twin")
    host.ip("link set twin up")
    report = doctor(host, "--config", file)
    the(report, "warning", "eth0 and twin are in the same network")
    the(report, "warning", "twin has an address and no link")
    host.ip("link del twin")
    host.ip(f"addr del {host.address}/24 dev eth0")
    report = doctor(host, "--config", file)
    the(report, "error", "no IPv4 address", "ip addr add")
    the(report, "note", "was not asked for name conflicts")


@contextlib.contextmanager
def mounted(folder, size, *options):
    """A small file system of its own; doctor runs in the same mount namespace."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def shares_on_bad_disks(net, folder):
    """A read-only mount, a full disk, a folder of another user and a missing folder."""
    host = net.host("tower")
    with mounted(folder / "disk", "64k") as disk:
        file = conf(folder, share="read only = no", path=disk / "old")
        report = doctor(host, "--config", file)
        the(report, "warning", "in memory (tmpfs)", str(disk))
        with contextlib.suppress(OSError), open(disk / "fill", "wb", buffering=0) as fill:
            while True:
                fill.write(bytes(4096))
        the(doctor(host, "--config", file), "error", "is full", "[OLD]")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        the(doctor(host, "--config", file), "error", "mounted read-only", "remount")
        read = conf(folder, path=disk / "old")
        assert errors(doctor(host, "--config", read)) == []
    own = folder / "private"
    own.mkdir(mode=0o700)
    file = conf(folder, "coax:user = nobody", "read only = no", own)
    found = the(doctor(host, "--config", file), "error", "the user nobody may not read the folder", "setfacl")
    host.run("sh", "-c", found["fix"].replace("sudo ", ""), check=True)
    found = the(doctor(host, "--config", file), "error", "the user nobody may not write in the folder")
    host.run("sh", "-c", found["fix"].split(", or")[0].replace("sudo ", ""), check=True)
    assert errors(doctor(host, "--config", file)) == []
    own.rmdir()
    the(doctor(host, "--config", file), "error", "cannot be used: No such file", "mkdir -p")
    file.write_text(file.read_text().replace("guest ok", "guest okk") + "read onyl = perhaps\n")
    the(doctor(host, "--config", file), "warning", "guest okk", "smb.conf:")


def names_are_taken(net, folder):
    """Another machine with the server's name, and one that has the workgroup's."""
    host, rival, third = net.host("tower"), net.host("rival"), net.host("third")
    file = conf(folder)
    Nmbd(rival, folder, "TOWER", workgroup="HOME")
    Nmbd(third, folder, "LAB", workgroup="HOME")
    def found():
        report = doctor(host, "--config", file)
        return report if len(errors(report)) == 2 else None
    report = wait_for(found, "both conflicts", 20)
    assert the(report, "error", "another machine has the name TOWER")["where"] == rival.address
    assert the(report, "error", "the workgroup's name LAB as its own")["where"] == third.address


def a_client_and_the_server_that_runs(net, folder):
    """A client by name and by address: names, list, admission, what the server refused it; an address that nobody has."""
    host, client = net.host("tower"), net.host("client")
    server = Coax(host, folder, "TOWER", globals_=f"coax:status socket = {folder}/status\npreferred master = yes")
    Nmbd(client, folder, "DOSPC", smbd=True)
    file = folder / "TOWER.conf"
    wait_for(lambda: server.said("master browser"), "coax to become the master browser", 40)
    done = client.run("smbclient", f"//{host.address}/FILES", "-U", "anna%secret", "-m", "LANMAN1", "--option=client min protocol=CORE",
                      "--option=client lanman auth=yes", "-c", "put /etc/hostname X")
    assert done.returncode != 0 or "DENIED" in done.stdout or "noaccess" in done.stdout, done
    script = ("import io, time\nfrom smb.SMBConnection import SMBConnection\n"
              "c = SMBConnection('guest', '', 'DOSPC', 'TOWER', use_ntlm_v2=False, is_direct_tcp=True)\n"
              f"assert c.connect({host.address!r}, 445)\n"
              "try:\n    c.storeFile('FILES', 'X', io.BytesIO(b'x'))\nexcept Exception as e:\n    print(e)\ntime.sleep(40)\n")
    process = client.start(sys.executable, "-c", script)
    def refused():
        found = doctor(host, "--config", file, client.address)
        return found if any("refused" in f["what"] for f in found["findings"]) else None
    report = wait_for(refused, "the refusal in the server's status", 15)
    assert report["address"] == client.address and errors(report) == [], report
    the(report, "ok", "it answers: node status", "TCP 139 (open)")
    the(report, "ok", "its names are DOSPC<00>")
    the(report, "ok", "the server admits")
    the(report, "ok", "it is connected as client", "dialect NT LM 0.12")
    assert "read only = no" in the(report, "warning", "the server refused")["fix"]
    the(report, "ok", "this machine has the name TOWER")
    the(report, "ok", "coax (process", "listens at TCP port 139")
    client.stop(process)
    listed = lambda: [f for f in doctor(host, "--config", file, "DOSPC")["findings"] if "the list of LAB has it" in f["what"]]
    wait_for(listed, "the client in the list", 20)
    report = doctor(host, "--config", file, "DOSPC")
    the(report, "ok", f"DOSPC has the address {client.address} (by broadcast)")
    denied = conf(folder, f"hosts allow = 127.0.0.1 {host.address}")
    report = doctor(host, "--config", denied, client.address)
    found = the(report, "error", f"the server refuses {client.address}", "not on 'hosts allow'")
    assert client.address in found["fix"], found
    begun = time.monotonic()
    report = doctor(host, "--config", file, "10.77.1.200")
    the(report, "error", "does not answer ARP", "check power")
    the(doctor(host, "--config", file, "NOBODY"), "error", "no machine is found by the name NOBODY", "no machine answered")
    assert time.monotonic() - begun < 16
    server.stop()


def a_client_behind_a_small_mtu(net, folder):
    """Packets of 1500 bytes that do not arrive are found although small ones do; a client behind a router is named."""
    host, client = net.host("tower"), net.host("client")
    file = conf(folder)
    subprocess.run(["ip", "netns", "exec", net.switch, "sh", "-c", "nft add table bridge f; nft add chain bridge f x "
                    "'{ type filter hook forward priority 0; }'; nft add rule bridge f x ip length gt 1000 drop"], check=True)
    the(doctor(host, "--config", file, client.address), "warning", "packets of 1500 bytes do not", "MTU")
    report = doctor(host, "--config", file, "10.88.0.9")
    the(report, "note", "10.88.0.9 is behind the router 10.77.1.254", "wins support")


def changes_nothing(net, folder):
    """Doctor changes no file, not even times, and other users may run it."""
    host = net.host("tower")
    file = conf(folder, f"log file = {folder}/log\nsmb passwd file = {folder}/users\ncoax:state directory = {folder}")
    (folder / "users").touch(0o600)
    def state():
        return {path: (os.stat(path).st_mtime_ns, os.stat(path).st_ino) for path in [folder, *folder.rglob("*")]}
    before = state()
    doctor(host, "--config", file, host.address)
    doctor(host, "--config", file, user=65534)
    assert state() == before


TESTS = [samba_holds_the_ports, another_program_holds_a_port, the_packet_filter_drops, kinds_of_rules, untracked_packets,
         interfaces_and_mtu, shares_on_bad_disks,
         names_are_taken, a_client_and_the_server_that_runs, a_client_behind_a_small_mtu, changes_nothing]
