"""pysmb: NT LM 0.12 in Unicode, NTLMv2 over the direct port and NTLMv1 over a NetBIOS session."""
import functools

from .. import corpus
from ..cell import Failed, Row


def connect(session, nbt):
    from smb import smb_structs
    from smb.SMBConnection import SMBConnection

    smb_structs.SUPPORT_SMB2 = False
    subject = session.subject
    client = SMBConnection(
        subject.user, subject.password, "PYSMB", subject.name, use_ntlm_v2=not nbt, is_direct_tcp=not nbt
    )
    if not client.connect(subject.host, subject.nbt if nbt else subject.direct, timeout=30):
        raise Failed("refused")
    return client


def cycle(session, nbt):
    share = session.subject.share
    client = connect(session, nbt)
    session.step("shares", lambda: shares(session, client))
    session.step("mkdir", lambda: (client.createDirectory(share, "/drafts"), session.expect_drafts()))
    session.step("put", lambda: put(session, client))
    session.step("list", lambda: session.expect_listed(file.filename for file in client.listPath(share, "/planted")))
    session.step("get", lambda: get(session, client))
    session.step("rename", lambda: (client.rename(share, "/drafts/B1.BIN", "/drafts/RENAMED.BIN"),
                                    session.expect_renamed("B1.BIN", "RENAMED.BIN")))
    session.step("attr", lambda: attributes(share, client))
    session.step("long", lambda: named(session, client, corpus.LONG_NAME))
    session.step("nonascii", lambda: named(session, client, corpus.NON_ASCII_NAME))
    session.step("delete", lambda: (client.deleteFiles(share, "/drafts/*"), session.expect_empty()))
    session.step("rmdir", lambda: (client.deleteDirectory(share, "/drafts"), session.expect_drafts(there=False)))
    session.step("other", lambda: echo(client))
    client.close()


def shares(session, client):
    names = [share.name.lower() for share in client.listShares()]
    if session.subject.share.lower() not in names:
        raise Failed(f"the share is not among {names}")


def put(session, client):
    for name in corpus.SIZES:
        with open(session.originals / name, "rb") as file:
            client.storeFile(session.subject.share, f"/drafts/{name}", file)
    session.expect_put()


def get(session, client):
    for name in corpus.SIZES:
        with open(session.fetched / name, "wb") as file:
            client.retrieveFile(session.subject.share, f"/planted/{name}", file)
    session.expect_got()


def attributes(share, client):
    """pysmb can only read them."""
    file = client.getAttributes(share, "/planted/B511.BIN")
    if file.isDirectory or file.file_size != corpus.SIZES["B511.BIN"]:
        raise Failed(f"attributes {file.file_attributes:#x}, size {file.file_size}")
    if not client.getAttributes(share, "/planted").isDirectory:
        raise Failed("the folder is no folder")


def named(session, client, name):
    copy = session.fetched / "named.bin"
    with open(session.originals / "B511.BIN", "rb") as file:
        client.storeFile(session.subject.share, f"/drafts/{name}", file)
    with open(copy, "wb") as file:
        client.retrieveFile(session.subject.share, f"/drafts/{name}", file)
    session.expect_named(name, copy)


def echo(client):
    if client.echo(b"marco") != b"marco":
        raise Failed("the echo differs")


ROWS = [
    Row("pysmb NTLMv1", functools.partial(cycle, nbt=True), "nbt", needs=("pysmb",)),
    Row("pysmb NTLMv2", functools.partial(cycle, nbt=False), "direct", needs=("pysmb",)),
]
