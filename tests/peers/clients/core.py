"""Every request of the core protocol, in the order a DOS redirector would send them, judged on the server's disk.

The sequences and their replies are those of the Microsoft Networks SMB file sharing protocol of 1988; the same ones are
checked byte for byte in crates/server/src/handlers/core_tests.rs.
"""
import functools

from ..cell import Failed, Row
from ..rawsmb import Connection, SmbError
from .raw import Core

ERRBADFILE, ERRBADPATH, ERRNOACCESS, ERRBADFID = (1, 2), (1, 3), (1, 5), (1, 6)
ERRSHARE, ERRLOCK, ERRFILEXISTS, ERRINVNID = (1, 32), (1, 33), (1, 80), (2, 5)
READ_WRITE_DENY_NONE, READ_DENY_WRITE = 0x42, 0x20


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: {found!r}, not {wanted!r}")


def refused(wanted, action, *arguments):
    """The request must end in that class and code."""
    try:
        action(*arguments)
    except SmbError as error:
        expect(f"{action.__name__}{arguments}", error.dos, wanted)
        return
    raise Failed(f"{action.__name__}{arguments} was not refused")


def on_disk(session, name):
    path = session.drafts / name
    return path.read_bytes() if path.exists() else None


def files(session, client):
    """CREATE, WRITE, SEEK, READ, FLUSH, CLOSE, OPEN; truncating and extending by writing nothing."""
    fid = client.create(r"\drafts\A.TXT", 0x20)
    expect("written", client.write(fid, 0, b"hello"), 5)
    expect("seek from the end", client.seek(fid, 2, -1), 4)
    expect("read", bytes(client.read(fid, 1, 3)), b"ell")
    expect("read at the end", bytes(client.read(fid, 5, 10)), b"")
    client.flush(fid)
    expect("on disk", on_disk(session, "A.TXT"), b"hello")
    client.write(fid, 7, b"")
    expect("extended", on_disk(session, "A.TXT"), b"hello\0\0")
    client.write(fid, 2, b"")
    client.close_file(fid)
    expect("truncated", on_disk(session, "A.TXT"), b"he")
    refused(ERRBADFID, client.close_file, fid)
    refused(ERRBADFILE, client.open, r"\drafts\NONE")
    refused(ERRBADPATH, client.open, r"\nowhere\NONE")
    fid, size = client.open(r"\drafts\A.TXT", READ_WRITE_DENY_NONE)
    expect("size", size, 2)
    refused(ERRSHARE, client.open, r"\drafts\A.TXT", READ_DENY_WRITE)
    client.close_file(fid)


def new_files(session, client):
    """CREATE_NEW, CREATE_TEMPORARY, PROCESS_EXIT."""
    client.close_file(client.mknew(r"\drafts\NEW"))
    refused(ERRFILEXISTS, client.mknew, r"\drafts\NEW")
    fid, name = client.ctemp(r"\drafts")
    client.write(fid, 0, b"temporary")
    expect("temporary", on_disk(session, name.rpartition("\\")[2]), b"temporary")
    client.exit_process()
    refused(ERRBADFID, client.close_file, fid)
    client.delete(r"\drafts\NEW")
    client.delete(rf"\drafts\{name.rpartition(chr(92))[2]}")


def locks(session, client, other, plus):
    """LOCK and UNLOCK between two connections; LOCK_AND_READ and WRITE_AND_UNLOCK where the dialect has them."""
    (session.drafts / "LOCK").write_bytes(b"abcdef")
    (session.drafts / "LOCK").chmod(0o666)
    mine = client.open(r"\drafts\LOCK", READ_WRITE_DENY_NONE)[0]
    theirs = other.open(r"\drafts\LOCK", READ_WRITE_DENY_NONE)[0]
    if plus:
        expect("locked and read", client.lock_and_read(mine, 1, 2), b"bc")
        refused(ERRLOCK, other.lock_and_read, theirs, 2, 1)
    else:
        client.lock(mine, 1, 2)
    refused(ERRLOCK, other.lock, theirs, 0, 6)
    refused(ERRLOCK, other.write, theirs, 1, b"X")
    refused(ERRLOCK, other.unlock, theirs, 1, 2)
    if plus:
        expect("written and unlocked", client.write_and_unlock(mine, 1, b"BC"), 2)
    else:
        client.write(mine, 1, b"BC")
        client.unlock(mine, 1, 2)
    other.lock(theirs, 0, 6)
    expect("on disk", on_disk(session, "LOCK"), b"aBCdef")
    other.close_file(theirs)
    client.close_file(mine)
    client.delete(r"\drafts\LOCK")


def names(session, client):
    """SEARCH over many requests, RENAME and DELETE by wildcards, folders that are none."""
    for number in range(30):
        client.close_file(client.create(rf"\drafts\F{number:02}.OLD"))
    found = {name for name, _, _ in client.search(r"\drafts\F??.OLD", attributes=0, count=4)}
    expect("found", len(found), 30)
    client.rename(r"\drafts\F??.OLD", r"\drafts\G??.NEW", 0)
    expect("renamed", sorted(path.name.upper() for path in session.drafts.iterdir())[:2], ["A.TXT", "G00.NEW"])
    refused(ERRNOACCESS, client.rename, r"\drafts\G00.NEW", r"\drafts\G01.NEW")
    client.delete(r"\drafts\G0?.NEW")
    expect("left", len(list(session.drafts.iterdir())), 21)
    refused(ERRNOACCESS, client.rmdir, r"\drafts")
    client.delete(r"\drafts\*.*")
    session.expect_empty()
    refused(ERRBADFILE, client.delete, r"\drafts\*.*")


def attributes(session, client):
    path = r"\drafts\HIDDEN"
    client.close_file(client.create(path))
    client.setatr(path, 0x02)
    expect("hidden", client.getatr(path)[0] & 0x3F, 0x02)
    refused(ERRBADFILE, client.delete, path)
    client.delete(path, 0x02)
    session.expect_empty()


def printing(session, client):
    """OPEN, WRITE and CLOSE_PRINT_FILE, GET_PRINT_QUEUE; the job lies in the printer's folder."""
    subject = session.subject
    client.tree_connect(subject.name, subject.printer, device="LPT1:")
    fid = client.open_print_file("JIM", setup=2)
    client.write_print_file(fid, b"\x1bE")
    client.write_print_file(fid, b"a page\x0c")
    client.close_print_file(fid)
    expect("in the queue", client.print_queue(), 0)
    jobs = [path.read_bytes() for path in subject.spool.iterdir()]
    expect("printed", jobs, [b"\x1bEa page\x0c"])
    for path in subject.spool.iterdir():
        path.unlink()


def cycle(session, age, nbt):
    both = [Core(session, age, nbt).connection for _ in range(2)]
    client, other = both
    plus = age != "CORE"
    for step, reason in SKIPPED.items():
        session.skip(step, reason)
    session.step("mkdir", lambda: mkdir(session, client))
    session.step("put", lambda: (files(session, client), new_files(session, client)))
    session.step("other", lambda: other_requests(session, client, other, plus))
    session.step("list", lambda: names(session, client))
    session.step("attr", lambda: attributes(session, client))
    session.step("rmdir", lambda: rmdir(session, client))
    for connection in both:
        connection.close()


SKIPPED = {
    "shares": "has no such request",
    "get": "the raw and bulk rows fetch",
    "rename": "is part of list",
    "delete": "is part of list",
}


def mkdir(session, client):
    client.mkdir(r"\drafts")
    session.expect_drafts()
    client.chkpath(r"\drafts")
    refused(ERRNOACCESS, client.mkdir, r"\drafts")
    refused(ERRBADPATH, client.chkpath, r"\planted\B1.BIN")


def other_requests(session, client, other, plus):
    locks(session, client, other, plus)
    expect("bytes in a block", client.dskattr()[2], 512)
    if session.subject.printer:
        printing(session, other)


def rmdir(session, client):
    """The end: after TREE_DISCONNECT the TID means nothing."""
    client.rmdir(r"\drafts")
    session.expect_drafts(there=False)
    client.tree_disconnect()
    refused(ERRINVNID, client.chkpath, "\\")


def rows():
    for age in ("CORE", "COREPLUS"):
        for nbt in (True, False):
            run = functools.partial(cycle, age=age, nbt=nbt)
            yield Row(f"every request of {age}", run, "nbt" if nbt else "direct")


ROWS = list(rows())
