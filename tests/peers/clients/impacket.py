"""impacket: NT LM 0.12 in ASCII with NT status, and, by its low-level calls, the requests of the older dialects."""
import functools

from .. import corpus
from ..cell import Failed, Row

BLOCK = 16000


def connect(session, nbt):
    from impacket.smb import SMB_DIALECT
    from impacket.smbconnection import SMBConnection

    subject = session.subject
    port = subject.nbt if nbt else subject.direct
    connection = SMBConnection(subject.name, subject.host, sess_port=port, preferredDialect=SMB_DIALECT, timeout=30)
    connection.login(subject.user, subject.password)
    return connection


def cycle(session, nbt):
    share = session.subject.share
    client = connect(session, nbt)
    session.step("shares", lambda: shares(session, client))
    session.step("mkdir", lambda: (client.createDirectory(share, "drafts"), session.expect_drafts()))
    session.step("put", lambda: put(session, client))
    session.step("list", lambda: session.expect_listed(
        entry.get_longname() for entry in client.listPath(share, r"planted\*")))
    session.step("get", lambda: get(session, client))
    session.step("rename", lambda: (client.rename(share, r"drafts\B1.BIN", r"drafts\RENAMED.BIN"),
                                    session.expect_renamed("B1.BIN", "RENAMED.BIN")))
    session.skip("attr", "impacket has no call for it")
    session.step("long", lambda: named(session, client, corpus.LONG_NAME))
    session.skip("nonascii", "impacket speaks ASCII in NT LM 0.12")
    session.step("delete", lambda: delete(session, client))
    session.step("rmdir", lambda: (client.deleteDirectory(share, "drafts"), session.expect_drafts(there=False)))
    client.logoff()


def shares(session, client):
    names = [share["shi1_netname"].rstrip("\0").lower() for share in client.listShares()]
    if session.subject.share.lower() not in names:
        raise Failed(f"the share is not among {names}")


def put(session, client):
    for name in corpus.SIZES:
        with open(session.originals / name, "rb") as file:
            client.putFile(session.subject.share, f"drafts\\{name}", file.read)
    session.expect_put()


def get(session, client):
    for name in corpus.SIZES:
        with open(session.fetched / name, "wb") as file:
            client.getFile(session.subject.share, f"planted\\{name}", file.write)
    session.expect_got()


def named(session, client, name):
    copy = session.fetched / "named.bin"
    with open(session.originals / "B511.BIN", "rb") as file:
        client.putFile(session.subject.share, f"drafts\\{name}", file.read)
    with open(copy, "wb") as file:
        client.getFile(session.subject.share, f"drafts\\{name}", file.write)
    session.expect_named(name, copy)


def delete(session, client):
    for path in session.drafts.iterdir():
        client.deleteFile(session.subject.share, f"drafts\\{path.name}")
    session.expect_empty()


def low_level(session, reader, writer, opener, block):
    """Copies with one pair of requests: OPEN or OPEN_ANDX, READ, READ_ANDX or READ_RAW, and the writes alike."""
    for step in ("shares", "mkdir", "list", "rename", "attr", "long", "nonascii", "delete", "rmdir"):
        session.skip(step, "the row is about reading and writing")
    (session.share / "drafts").mkdir()
    (session.share / "drafts").chmod(0o777)
    for name in corpus.SIZES:
        (session.share / "drafts" / name).touch()
        (session.share / "drafts" / name).chmod(0o666)
    smb = connect(session, nbt=False).getSMBServer()
    tid = smb.tree_connect_andx(f"\\\\{session.subject.host}\\{session.subject.share}", None)
    session.step("put", lambda: low_level_put(session, smb, tid, getattr(smb, writer), getattr(smb, opener), block))
    session.step("get", lambda: low_level_get(session, smb, tid, getattr(smb, reader), getattr(smb, opener), block))


def low_level_put(session, smb, tid, write, opener, block):
    for name in corpus.SIZES:
        data = (session.originals / name).read_bytes()
        fid = opener(tid, f"drafts\\{name}", 0x01, 0x42)[0]
        for at in range(0, len(data), block):
            write(tid, fid, data[at : at + block], at)
        smb.close(tid, fid)
    session.expect_put()


def low_level_get(session, smb, tid, read, opener, block):
    for name, size in corpus.SIZES.items():
        fid = opener(tid, f"planted\\{name}", 0x01, 0x40)[0]
        parts, at = [], 0
        while at < size:
            piece = read(tid, fid, at, min(block, size - at))
            if not piece:
                raise Failed(f"{name} ended at {at}")
            parts.append(piece)
            at += len(piece)
        smb.close(tid, fid)
        (session.fetched / name).write_bytes(b"".join(parts))
    session.expect_got()


LOW_LEVEL = {
    "OPEN READ WRITE": ("read", "write", "open", BLOCK),
    "OPEN_ANDX READ_ANDX WRITE_ANDX": ("read_andx", "write_andx", "open_andx", BLOCK),
    "READ_RAW WRITE_RAW": ("read_raw", "write_raw", "open_andx", 65535),
}


def rows():
    for nbt in (True, False):
        yield Row("impacket", functools.partial(cycle, nbt=nbt), "nbt" if nbt else "direct", nbt, ("impacket",))
    for name, (reader, writer, opener, block) in LOW_LEVEL.items():
        run = functools.partial(low_level, reader=reader, writer=writer, opener=opener, block=block)
        yield Row(f"impacket {name}", run, needs=("impacket",))


ROWS = list(rows())
