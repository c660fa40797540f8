"""Windows 9x domain log-on: coax's answers beside those of nmbd and smbd as domain controllers, byte by byte."""
import base64
import json
import struct
import sys

from peers import subject

from .machines import Coax, Nmbd, lookup
from .network import wait_for

SERVER, DOMAIN, CLIENT = "TOWER", "LAB", "WIN98"
PASSWORD = "secret"
SLOT = b"\\MAILSLOT\\TEMP\\NETLOGON\0"
TOKENS = b"\xff\xff\xff\xff"


def wide(text):
    return text.encode("utf-16-le") + b"\0\0"


def even(data):
    return data + b"\0" * (len(data) % 2)


REQUESTS = {
    "Windows 95 log-on": b"\0\0WIN98\0ANNA\0" + SLOT + b"\x01" + TOKENS,
    "LAN Manager 2.0 log-on": b"\0\0WIN98\0ANNA\0" + SLOT + b"\0\xff\xff\x34\x12",
    "primary query of LAN Manager": b"\x07\0WIN98\0" + SLOT + b"\xff\xff",
    "primary query of NT": even(b"\x07\0WIN98\0" + SLOT) + wide("WIN98") + b"\x01\0\0\0" + TOKENS,
}
# nmbd 4.17 does not answer it
NOT_OF_NMBD = "primary query of LAN Manager"
SAM_LOGON = b"\x12\0\0\0" + wide("NT4") + wide("ANNA") + SLOT + b"\0" * 8 + b"\x01\0\0\0" + TOKENS

# Sends each request as a datagram to DOMAIN<1C> and prints the data of the mailslot that answers. RFC 1002 section 4.4.2.
ASK = r"""
import base64, json, socket, struct, sys
server, own, requests = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
def encoded(name, suffix):
    raw = name.encode().ljust(15) + bytes([suffix])
    return b"\x20" + bytes(n for byte in raw for n in (0x41 + (byte >> 4), 0x41 + (byte & 15))) + b"\0"
def mailslot(name, data):
    head = b"\xffSMB\x25" + bytes(27) + b"\x11" + struct.pack("<HHHHBBHIHHHHHBBHHH", 0, len(data), 0, 0, 0, 0, 0, 1000, 0, 0, 0,
        len(data), 69 + len(name), 3, 0, 1, 1, 2)
    return head + struct.pack("<H", len(name) + len(data)) + name + data
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 138))
s.settimeout(3)
answers = {}
for number, (key, data) in enumerate(requests.items()):
    body = encoded("WIN98", 0) + encoded("LAB", 0x1c) + mailslot(b"\\MAILSLOT\\NET\\NETLOGON\0", base64.b64decode(data))
    s.sendto(struct.pack(">BBH4sHHH", 0x11, 2, number, socket.inet_aton(own), 138, len(body), 0) + body, (server, 138))
    try:
        while True:  # broadcasts of the browser arrive too
            packet = s.recv(2000)
            to = bytes(((packet[49 + 2 * n] - 0x41) << 4) + packet[50 + 2 * n] - 0x41 for n in range(16))
            if to.startswith(b"WIN98 "):
                break
        smb = packet[82:]
        count, offset = struct.unpack("<HH", smb[33 + 22:33 + 26])
        slot = smb[69:].split(b"\0")[0].decode()
        answers[key] = [to.decode("latin1"), slot, base64.b64encode(smb[offset:offset + count]).decode()]
    except socket.timeout:
        answers[key] = None
print(json.dumps(answers))
"""


def ask(client, server, requests):
    packed = json.dumps({key: base64.b64encode(data).decode() for key, data in requests.items()})
    done = client.run(sys.executable, "-c", ASK, server.address, client.address, packed)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# RAP calls: function, descriptors and parameters of [MS-RAP] 2.5.8.2.1 and 2.5.10.2.1, as Windows 95 sends them.
LOGON = b"\x84\0OOWb54WrLh\0WB21BWDWWDDDDDDDzzzD\0\x01\0" + b"anna".ljust(21, b"\0") + b"\0" + b"".ljust(16, b"\0") + b"WIN98".ljust(16, b"\0") \
    + b"\x54\0\x00\x10"
USER = b"\x38\0zWrLh\0B21BzzzWDDzzDDWWzWzDWb21W\0anna\0\x0b\0\x00\x10"
USER_1 = b"\x38\0zWrLh\0B21BB16DWzzWz\0anna\0\x01\0\x00\x10"
CALLS = {"logon": LOGON, "user": USER, "user 1": USER_1}
# Windows 9x keeps its profile in a folder of `logon home`; the other two are for Windows NT and appear in no answer to Windows 9x
PATHS = "logon home = \\\\%N\\%U\\profile\nlogon path = \\\\%N\\nt-profiles\\%U\nlogon drive = Q:\n"

CALL = r"""
import base64, json, struct, sys
sys.path.insert(0, sys.argv[4])
from peers import rawsmb
answers = {}
with rawsmb.Connection(sys.argv[1], 139, "TOWER") as smb:
    smb.negotiate("NT1")
    smb.log_on("anna", sys.argv[2])
    smb.tree_connect_andx("TOWER", "IPC$")
    for key, parameters in json.loads(sys.argv[3]).items():
        parameters = base64.b64decode(parameters)
        name = b"\\PIPE\\LANMAN\0"
        at = 32 + 1 + 28 + 2 + len(name)
        words = struct.pack("<HHHHBBHIHHHHHBB", len(parameters), 0, 8, 4096, 0, 0, 0, 5000, 0, len(parameters), at, 0, 0, 0, 0)
        reply = smb.call(0x25, words, name + parameters)
        answers[key] = base64.b64encode(reply.message).decode()
print(json.dumps(answers))
"""


def coax(server, scratch, name=SERVER):
    scripts = scratch / "netlogon"
    scripts.mkdir(exist_ok=True)
    (scripts / "anna.bat").write_text("NET TIME \\\\TOWER /SET /YES\r\n")
    passwords = scratch / "smbpasswd"
    done = server.run(subject.coax_binary(), "user", "add", "--file", passwords, "anna", input=f"{PASSWORD}\n")
    assert done.returncode == 0, done
    return Coax(server, scratch, name, DOMAIN, globals_=f"domain logons = yes\nlogon script = %U.bat\nsmb passwd file = {passwords}\n"
                f"lanman auth = yes\nntlm auth = yes\n{PATHS}[netlogon]\npath = {scripts}\n[anna]\npath = {scripts}\nvalid users = anna\n[x]\npath = {scripts}\n")


def samba(server, scratch, name=SERVER):
    return Nmbd(server, scratch, name, DOMAIN, smbd=True, globals_="domain logons = yes\nserver role = classic primary domain controller\n"
                "domain master = yes\nlanman auth = yes\nntlm auth = yes\nlogon script = %U.bat\n" + PATHS)


def beside_nmbd(net, scratch):
    """coax answers Windows 9x's and LAN Manager's search for a log-on server with the bytes of nmbd."""
    server, client = net.host("tower"), net.host("client")
    subjects = {}
    for kind, start in (("nmbd", samba), ("coax", coax)):
        folder = scratch / kind
        folder.mkdir()
        running = start(server, folder)
        wait_for(lambda: lookup(client, f"{DOMAIN}#1c")["addresses"] == [server.address], f"LAB<1c> of {kind}", 60)
        wait_for(lambda: lookup(client, f"{DOMAIN}#1b")["addresses"] == [server.address], f"LAB<1b> of {kind}", 90)
        subjects[kind] = ask(client, server, REQUESTS)
        if kind == "coax":
            assert ask(client, server, {"sam": SAM_LOGON}) == {"sam": None}
            assert running.said("WIN98 looks for a log-on server of LAB for the user ANNA; coax answered"), running.notices()
            assert running.said("NT4 asks for a Windows NT domain controller of LAB"), running.notices()
        running.stop()
    for key, theirs in subjects["nmbd"].items():
        ours = subjects["coax"][key]
        assert ours, key
        if key == NOT_OF_NMBD:
            assert theirs is None and base64.b64decode(ours[2]) == b"\x0c\0TOWER\0", (theirs, ours)
            continue
        assert ours == theirs, (key, [base64.b64decode(answer[2]) for answer in (theirs, ours)], theirs, ours)
    return {server.address}


def rap(client, server):
    packed = json.dumps({key: base64.b64encode(data).decode() for key, data in CALLS.items()})
    tests = str(subject.ROOT / "tests")
    done = client.run(sys.executable, "-c", CALL, server.address, PASSWORD, packed, tests)
    assert done.returncode == 0, done.stderr
    return {key: base64.b64decode(message) for key, message in json.loads(done.stdout).items()}


def answer(message):
    """Parameters and data of a TRANSACTION reply ([MS-CIFS] 2.2.4.33.2)."""
    words = struct.unpack_from("<10H", message, 33)
    return message[words[4]:words[4] + words[3]], message[words[7]:words[7] + words[6]]


def text_at(parameters, data, at):
    """The string that a pointer in the data names, less the converter."""
    (low, _), converter = struct.unpack_from("<HH", data, at), struct.unpack_from("<H", parameters, 2)[0]
    return data[(low - converter) & 0xffff:].split(b"\0")[0].decode() if low else ""


# Offsets in the records of [MS-RAP] 2.5.10.4.3 and of level 11 of NetUserGetInfo (LAN Manager).
LOGON_FIELDS = {"computer": 62, "domain": 66, "script": 70}
USER_FIELDS = {"home": 44}
USER_1_FIELDS = {"home": 44, "script": 54}


def beside_smbd(net, scratch):
    """The log-on's RAP calls give the user's script and home folder, with the fields of smbd."""
    server, client = net.host("tower"), net.host("client")
    found = {}
    for kind, start in (("smbd", samba), ("coax", coax)):
        folder = scratch / kind
        folder.mkdir()
        running = start(server, folder)
        wait_for(lambda: lookup(client, f"{SERVER}#20")["addresses"] == [server.address], f"{kind}'s name", 60)
        if kind == "smbd":
            add = ["smbpasswd", "-c", running.conf, "-s", "-a", "anna"]
            server.run("useradd", "--no-create-home", "anna")
            done = server.run(*add, input=f"{PASSWORD}\n{PASSWORD}\n")
            assert done.returncode == 0, done
        found[kind] = answers = {key: answer(message) for key, message in rap(client, server).items()}
        for key, (parameters, _) in answers.items():
            assert parameters[:2] == b"\0\0", (kind, key, parameters)
        running.stop()
    server.run("userdel", "anna")
    for key, fields in (("logon", LOGON_FIELDS), ("user", USER_FIELDS), ("user 1", USER_1_FIELDS)):
        shown = {kind: {field: text_at(*found[kind][key], at) for field, at in fields.items()} for kind in found}
        assert shown["coax"] == shown["smbd"], shown
    assert text_at(*found["coax"]["logon"], LOGON_FIELDS["script"]) == "anna.bat"
    assert text_at(*found["coax"]["user"], USER_FIELDS["home"]) == "\\\\TOWER\\anna\\profile"
    for kind, answers in found.items():
        for key, (_, data) in answers.items():
            assert b"nt-profiles" not in data and b"Q:" not in data, (kind, key, data)
    # the fixed parts: code, name, privilege, counts
    assert found["coax"]["logon"][1][:26] == found["smbd"]["logon"][1][:26], [found[kind]["logon"][1] for kind in found]
    return {server.address}


TESTS = [beside_nmbd, beside_smbd]
