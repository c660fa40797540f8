"""docs/writing-a-client.md: the shortest conversations in four dialects, as they ran against `coax serve` and smbd.

Without options it compares the page with a run; COAX_BLESS=1 renews the page."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from developers.serving import serving
from peers import rawsmb, subject

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "writing-a-client.md"
TEXT = b"HELLO FROM 1989\r\n"
NO_ANDX = b"\xff\x00\x00\x00"
# Fields that the server chooses or that change with time, and what the page shows instead
CHOSEN = {"Challenge": "(8 random bytes)", "SessionKey": "(key)", "SystemTime": "(time)", "ServerTime": "(time)", "ServerDate": "(date)", "ServerTimeZone": "(minutes)",
          "DomainName": '"WORKGROUP"', "ServerName": '"SERVER"', "PrimaryDomain": '"WORKGROUP"', "ResumeKey": "(21 bytes)", "FID": "fid", "TID": "tid", "UID": "uid",
          "SID": "sid", "FileId": "(id)", "VolumeGUID": "(GUID)", "AllocationSize": "(size)"}
HIDDEN = {"ByteCount", "AndXCommand", "AndXReserved", "AndXOffset", "BufferFormat", "Pad", "Unused", "Reserved", "Reserved1", "Reserved2", "ServerFID",
          "NextEntryOffset", "Terminator", "DataLengthHigh", "Type", "Length", "ShortName", "ShortNameLength", "FileNameLength", "EaSize", "LastNameOffset",
          "EaErrorOffset", "ParameterDisplacement", "DataDisplacement", "TotalParameterCount", "TotalDataCount", "ParameterCount", "ParameterOffset",
          "DataCount", "DataOffset", "SetupCount", "Reserved3", "NameLength", "DataLength", "MaxParameterCount", "MaxSetupCount", "FileIndex"}


class Client(rawsmb.Connection):
    """What the older dialects lack and a client needs all the same."""

    def search(self, pattern):
        self.call(0x81, struct.pack("<HH", 10, 0x16), b"\x04" + pattern + b"\x00\x05\x00\x00")

    def open_andx(self, name):
        words = NO_ANDX + struct.pack("<HHHHIHIII", 0, 0x42, 0x16, 0x20, 0, 0x11, 0, 0, 0)
        return self.call(0x2D, words, name + b"\x00").word(2)

    def nt_create(self, name):
        words = NO_ANDX + struct.pack("<BHIIIQIIIIIB", 0, len(name), 0, 0, 0x0012019F, 0, 0x80, 3, 3, 0x40, 2, 0)
        reply = self.call(0xA2, words, name + b"\x00")
        return struct.unpack_from("<H", bytes(reply.words), 5)[0]

    def read_andx(self, fid):
        self.call(0x2E, NO_ANDX + struct.pack("<HIHHIH", fid, 0, 4096, 0, 0, 0))

    def write_andx(self, fid, data):
        self.call(0x2F, NO_ANDX + struct.pack("<HIIHHHHH", fid, 0, 0, 0, 0, 0, len(data), 59), data)

    def find_first2(self, pattern, level):
        parameters = struct.pack("<HHHHI", 0x16, 100, 0x0003, level, 0) + pattern + b"\x00"
        words = struct.pack("<HHHHBBHIHHHHHBBH", len(parameters), 0, 10, 4000, 0, 0, 0, 0, 0, len(parameters), 68, 0, 0, 1, 0, 1)
        self.call(0x32, words, b"\x00\x00\x00" + parameters)


def core(client):
    client.negotiate("CORE")
    client.tree_connect("SERVER", "SHARE")
    client.search(b"\\*.*")
    fid, _ = client.open("A.TXT")
    client.read(fid, 0, 4096)
    client.close_file(fid)
    fid = client.create("B.TXT")
    client.write(fid, 0, TEXT)
    client.close_file(fid)
    client.delete("B.TXT")
    client.tree_disconnect()


def lanman(client, age="LANMAN1"):
    client.negotiate(age)
    client.log_on()
    client.tree_connect_andx("SERVER", "SHARE")
    if age == "LANMAN1":
        client.search(b"\\*.*")
    else:
        client.find_first2(b"\\*", 1)
    fid = client.open_andx(b"\\B.TXT")
    client.write_andx(fid, TEXT)
    client.read_andx(fid)
    client.close_file(fid)
    client.delete("B.TXT")
    client.tree_disconnect()


def lanman2(client):
    lanman(client, "LANMAN2")


def nt(client):
    client.negotiate("NT1")
    client.log_on()
    client.tree_connect_andx("SERVER", "SHARE")
    client.find_first2(b"\\*", 0x104)
    fid = client.nt_create(b"\\B.TXT")
    client.write_andx(fid, TEXT)
    client.read_andx(fid)
    client.close_file(fid)
    client.delete("\\B.TXT")
    client.tree_disconnect()


DIALECTS = [
    ("PC NETWORK PROGRAM 1.0 (core protocol)", core, """The oldest dialect has no log-on. The share's password is in TREE_CONNECT. File names are 8.3, and times and sizes have 32 bits.
A search returns entries of 43 bytes; the last entry's resume key continues it, until ERRDOS/18."""),
    ("LANMAN 1.0", lanman, """New: SESSION_SETUP_ANDX, AndX commands, raw mode. NEGOTIATE gives the challenge. A guest sends an empty password; a user sends 24 bytes of LM response.
OPEN_ANDX creates the file if OpenMode has bit 4."""),
    ("LANMAN 2.1", lanman2, """New: long names (Flags2 bit 0) and TRANSACTION2. FIND_FIRST2 replaces SEARCH. Flags 0x0003 close the search at once or at its end;
without them, FIND_NEXT2 continues and FIND_CLOSE2 ends it."""),
    ("NT LM 0.12", nt, """New: NTSTATUS (Flags2 bit 14), Unicode (Flags2 bit 15), NT_CREATE_ANDX, 64-bit sizes and times. SESSION_SETUP_ANDX has two passwords: LM and NTLM response.
Names here are OEM, because the client does not set the Unicode bit. OPEN_ANDX still works."""),
]


def run(server, port, folder, play, called=None):
    (folder / "A.TXT").write_bytes(TEXT)
    os.utime(folder / "A.TXT", (600_000_000, 600_000_000))
    with Client("127.0.0.1", port, called=called) as client:
        original, server_name = client.tree_connect, server
        client.tree_connect = lambda _, share, **more: original(server_name, SHARES[server], **more)
        andx = client.tree_connect_andx
        client.tree_connect_andx = lambda _, share: andx(server_name, SHARES[server])
        play(client)


SHARES = {}


def fields(message):
    """The fields behind the header, as NAME=VALUE."""
    shown, skip = [], None
    for field, after in zip(message["fields"], [*message["fields"][1:], {"depth": 0}]):
        name, value = field["name"], field.get("value")
        group = after["depth"] > field["depth"]
        if field["depth"] == 0 or (skip is not None and field["depth"] > skip):
            skip = field["depth"] if name == "Header" else (None if field["depth"] == 0 else skip)
            continue
        if group or name in HIDDEN or name in ("Protocol", "WordCount"):
            continue
        shown.append(f"{name}={text(field)}")
    return shown


def text(field):
    name, value, meaning = field["name"], field.get("value"), field.get("meaning", "")
    if name in CHOSEN and not (name == "AllocationSize" and value == 0):
        return CHOSEN[name]
    if name.endswith(("Time", "Date", "Modified")) and value not in (0, "0", "none"):
        return "(time)"
    if name in NAMES and field["length"] <= 2:
        return '""'
    if value is None or value == "" or name == "Data":
        return f"({field['length']} bytes)"
    if isinstance(value, str):
        return value if value == "none" else f'"{value}"'
    return f"{value:#x} ({meaning})" if meaning and not meaning.startswith("do not") else str(value)


# Texts that may be empty
NAMES = {"AccountName", "PrimaryDomain", "NativeOS", "NativeLanMan"}


def wrap(line, indent):
    words, lines = line.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > 118:
            lines.append(" " * indent)
        lines[-1] += word if not lines[-1].strip() else " " + word
    return "\n".join(lines)


def conversation(capture):
    done = subprocess.run([subject.coax_binary(), "decode", capture, "--json"], capture_output=True, text=True, check=True)
    lines = []
    for message in map(json.loads, done.stdout.splitlines()):
        if not any(field["name"] == "Protocol" for field in message["fields"]):
            continue
        is_request = message["message"].endswith("request")
        lines.append(wrap(f"{'>' if is_request else '<'} {message['message'].rsplit(' ', 1)[0]} {' '.join(fields(message))}".rstrip(), 4))
        if is_request:
            lines.append("")
    return "\n".join(line for line in lines if line)


HEAD = """# Writing a client

What a client must send, at least, in four dialects: the messages of real runs, decoded with [coax decode](decode.md). `>` is a request, `<` its
response. Values that the server chooses have names (`tid`, `uid`, `fid`) or are in parentheses. The header is not shown, nor are counts and offsets.

This page is made from runs against `coax serve`; the same program completes against Samba's smbd 4.17, which no
longer accepts the first dialect.
`COAX_BLESS=1 scripts/test --only writing` renews it.

## Before the first message

| port | first |
|---|---|
| 445 | nothing: each message follows a zero and its length in three bytes, big-endian |
| 139 | a session request (RFC 1002 4.3.2): `81 00 00 44`, the called name, the caller's name; the server answers `82 00 00 00` |

Each name has 34 bytes: `20`, 32 letters (each half of the 16 bytes of the name, plus `A`), `00`. If the server's name is unknown, `*SMBSERVER` works.
On port 139 a message follows `00`, a flags byte whose bit 0 is bit 16 of the length, and two bytes of length.

## Every message

A header of 32 bytes: `ff 53 4d 42`, command, status (4 bytes), flags, flags2 (2), PID high (2), signature (8), reserved (2), TID, PID, UID, MID. Numbers
are little-endian. Then the number of words (1 byte), the words, the number of bytes (2), the bytes. Offsets inside a message count from the header.

- Send TID and UID as the server gave them, a MID of your own, and match responses by MID. MID 0xffff is the server's: it breaks an oplock.
- A response with an error has no words and no bytes: read the status first.
- Without Flags2 bit 14 (NTSTATUS) the status is a class, a zero and a 16-bit code. Without bit 15 (Unicode) strings are in the OEM code page.
- A message may be as long as MaxBufferSize of the NEGOTIATE response says, header included.
- AndX commands can be chained; `ff` as AndXCommand ends the chain. Chaining is optional.
- Requests of the older dialects stay valid in the newer ones: a client that knows only the core protocol can talk to every server.
"""

TAIL = """
## Test it

[coax serve --ci](for-client-developers.md) explains every request that fails, and injects faults. [coax replay](replay.md) plays your capture against another
server.
"""


def page():
    text = HEAD
    with tempfile.TemporaryDirectory() as base:
        for number, (name, play, about) in enumerate(DIALECTS):
            capture = Path(base) / f"{number}.pcapng"
            with serving("--pcap", str(capture)) as server:
                SHARES["SERVER"] = server.ci["share"]
                run("SERVER", server.port, Path(server.ci["folder"]), play)
            assert server.code == 0, (name, server.summary, [event for event in server.of("explained") if event["invalid"]])
            text += f"\n## {name}\n\n{about}\n\n```text\n{conversation(capture)}\n```\n"
    return text + TAIL


def over_netbios():
    """The session request of the page, on the server's port for NetBIOS sessions."""
    with serving() as server:
        SHARES["SERVER"] = server.ci["share"]
        run("SERVER", server.ci["nbt_port"], Path(server.ci["folder"]), core, called="*SMBSERVER")
    assert server.code == 0


def against_smbd():
    globals_ = {"map to guest": "Bad User", "server min protocol": "CORE", "lanman auth": "yes", "ntlm auth": "yes", "guest account": subject.USER}
    with subject.start("smbd", globals_=globals_, share={"guest ok": "yes", "read only": "no"}) as server:
        SHARES["SERVER"] = server.share
        # smbd no longer has the core protocol
        for name, play, _ in DIALECTS[1:]:
            run("SERVER", server.direct, Path(server.folder), play)
            print(f"smbd: {name}: ok")


def main():
    made = page()
    over_netbios()
    against_smbd()
    if os.environ.get("COAX_BLESS"):
        PAGE.write_text(made)
    if made != PAGE.read_text():
        print("docs/writing-a-client.md is out of date: COAX_BLESS=1 scripts/test --only writing renews it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
