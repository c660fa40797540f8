"""Messages between users: smbclient and coax send to coax, coax sends to smbd, by sessions and mailslots."""
import json
import sys

from peers import subject

from .machines import Coax, Nmbd, lookup
from .network import wait_for

LONG = "".join(f"line {number} of a long message\n" for number in range(40))
TEXT = "Käse's ready; $(touch owned) `touch owned`"


def message(host, *words, text=None):
    """`coax message`: its process."""
    return host.run(subject.coax_binary(), "message", *words, input=text)


def received(coax):
    return [event for event in coax.events() if event["event"] == "user_message"]


def wait_text(coax, text, seconds=30):
    """The event of a message with this text."""
    wanted = text.rstrip("\n")
    return wait_for(lambda: next((event for event in received(coax) if event["text"] == wanted), None),
                    f"the message {wanted[:40]!r}", seconds)


def smbclient(host, scratch, to, text):
    conf = scratch / "smbclient.conf"
    conf.write_text(f"[global]\nnetbios name = CLIENT\nclient min protocol = CORE\nclient max protocol = NT1\n"
                    f"name resolve order = bcast\ninterfaces = {host.address}/24\nbind interfaces only = yes\n"
                    f"dos charset = CP850\nlock directory = {scratch}\nprivate dir = {scratch}\n"
                    f"cache directory = {scratch}\nstate directory = {scratch}\n")
    return host.run("smbclient", "-s", conf, "-m", "NT1", "-U", "jim%", "-M", to, input=text)


def owned(client, name):
    return lookup(client, name)["addresses"]


def coax_receives(net, scratch):
    """smbclient -M and coax message reach coax, which runs the message command; too many messages are refused."""
    server, client = net.host("tower"), net.host("client")
    out = scratch / "out"
    command = f"cat %s >> {out}; echo \"from=%f to=%t by=%m at=%I\" >> {out}"
    coax = Coax(server, scratch, "TOWER", globals_=f"message command = {command}\ncoax:message names = ANNA")
    wait_for(lambda: owned(client, "TOWER#03") and owned(client, "ANNA#03"), "TOWER<03> and ANNA<03>")
    done = smbclient(client, scratch, "TOWER", "hello from smbclient\n")
    assert done.returncode == 0, done
    event = wait_text(coax, "hello from smbclient")
    assert (event["from"], event["to"], event["address"]) == ("jim", "TOWER", client.address), event
    assert event["client"], event
    smbclient(client, scratch, "TOWER", LONG)
    wait_text(coax, LONG)
    done = message(client, "--from", "jim", "tower", TEXT)
    assert done.returncode == 0 and f"delivered to TOWER<03> at {server.address}" in done.stdout, done
    assert wait_text(coax, TEXT)["from"] == "JIM"
    done = message(client, "anna", "-", text=LONG)
    assert done.returncode == 0, done
    # mailslots: to a user, to the workgroup
    done = message(client, "--method", "mailslot", "anna", "to a user")
    assert done.returncode == 0 and wait_text(coax, "to a user")["client"] is None, done
    done = message(client, "--json", "lab", "to all")
    report = json.loads(done.stdout)
    assert (report["method"], report["suffix"], report["addresses"]) == ("mailslot", "00", [client.broadcast]), report
    assert wait_text(coax, "to all")["to"] == "LAB"
    wait_for(lambda: out.exists() and "from=JIM to=TOWER" in out.read_text(), "the message command")
    shown = out.read_text()
    assert "hello from smbclient\nfrom=jim to=TOWER by=client at=" + client.address in shown, shown
    assert TEXT in shown and not (scratch / "owned").exists(), shown
    flood(client, coax)
    faults(client)
    return {server.address, client.address}


def flood(client, coax):
    """40 messages at once: at most a burst arrives, and a session is told so."""
    before = len(received(coax))
    script = ("import subprocess, sys\n"
              "for _ in range(40):\n    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n")
    client.run(sys.executable, "-c", script, subject.coax_binary(), "message", "--method", "mailslot", "anna", "flood")
    done = message(client, "tower", "one more")
    assert done.returncode == 1 and "too many messages from here" in done.stderr, done
    assert len(received(coax)) - before <= 25, len(received(coax)) - before


def faults(client):
    done = message(client, "nobody", "x")
    assert done.returncode == 1 and "no machine, user or workgroup nobody is found" in done.stderr, done
    done = message(client, "--method", "session", "lab", "x")
    assert done.returncode == 1 and "LAB is a workgroup" in done.stderr, done
    done = message(client, "tower", "  ")
    assert done.returncode == 2 and "the message is empty" in done.stderr, done
    done = message(client, "--method", "mailslot", "anna", "x" * 1000)
    assert done.returncode == 0 and "characters did not fit into a datagram" in done.stderr, done


def coax_sends(net, scratch):
    """coax reaches smbd's message command; what it says if smbd or coax receive no messages."""
    server, plain, client = net.host("barn"), net.host("plain"), net.host("client")
    out = scratch / "smbd"
    out.mkdir()
    out.chmod(0o777)
    # smbd runs the command as its guest
    for folder in (scratch, scratch.parent):
        folder.chmod(0o755)
    command = f"/bin/sh -c 'cat %s > {out}/%f; echo end >> {out}/%f'"
    Nmbd(server, scratch, "BARN", smbd=True, globals_=f"message command = {command}\ndos charset = CP850")
    Nmbd(plain, scratch, "PLAIN", smbd=True)
    quiet = net.host("quiet")
    Coax(quiet, scratch, "QUIET", globals_="coax:messages = no")
    for name in ("BARN#03", "PLAIN#03", "QUIET#20"):
        wait_for(lambda: owned(client, name), name)
    for sender, text in (("SHORT", "Käse?"), ("LONG", LONG)):
        done = message(client, "--from", sender, "barn", "-", text=text)
        assert done.returncode == 0, done
        wait_for(lambda: (out / sender).exists() and "end" in (out / sender).read_text(), f"{sender} at smbd")
        shown = (out / sender).read_text()
        assert text.strip() in shown, shown
    done = message(client, "--json", server.address, "by address")
    assert json.loads(done.stdout)["name"] == "BARN", done
    done = message(client, "plain", "x")
    assert done.returncode == 1 and "messages are off there" in done.stderr, done
    done = message(client, "quiet", "x")
    assert done.returncode == 1 and f"QUIET ({quiet.address}) does not receive messages" in done.stderr, done
    assert "WinPopup" in done.stderr, done
    return {client.address, quiet.address}


TESTS = [coax_receives, coax_sends]
