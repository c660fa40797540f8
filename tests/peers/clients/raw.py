"""Our own byte-by-byte client: the file work of the core dialect and the raw mode, which no other client here does."""
import functools

from .. import corpus
from ..cell import Failed, Row
from ..rawsmb import WRITE_COMPLETE, Connection, SmbError

CHUNK = 1024  # fits the smallest buffer a server may state


class Core:
    """CORE and COREPLUS: tree connect with no log-on, create, write, open, read, close."""

    def __init__(self, session, age, nbt):
        subject = session.subject
        self.session, self.age = session, age
        port = subject.nbt if nbt else subject.direct
        self.connection = Connection(subject.host, port, "*SMBSERVER" if nbt else None)
        self.connection.negotiate(age)
        self.block = self.enter(subject)

    def enter(self, subject):
        return min(self.connection.tree_connect(subject.name, subject.share) - 64, 16000)

    def put(self, name, data):
        fid = self.connection.create(f"\\drafts\\{name}")
        for at in range(0, len(data), self.block):
            written = self.connection.write(fid, at, data[at : at + self.block])
            if written != len(data[at : at + self.block]):
                raise Failed(f"{name}: {written} written at {at}")
        self.connection.close_file(fid)

    def get(self, name):
        fid, size = self.connection.open(f"\\planted\\{name}")
        parts, at = [], 0
        while (piece := bytes(self.connection.read(fid, at, self.block))) and at <= size:
            parts.append(piece)
            at += len(piece)
        self.connection.close_file(fid)
        if at != size:
            raise Failed(f"{name}: opened with {size} bytes, read {at}")
        return b"".join(parts)

    def list(self):
        return {name: size for name, attributes, size in self.connection.search(r"\planted\*.*") if not attributes & 0x10}

    def more(self):
        """What else the core has: sizes set by writing nothing, seek, disk figures, a path that is none."""
        connection = self.connection
        fid = connection.create(r"\drafts\MORE.BIN")
        connection.write(fid, 5000, b"")
        if connection.seek(fid, 2, 0) != 5000:
            raise Failed("writing nothing did not extend the file")
        connection.write(fid, 10, b"")
        connection.close_file(fid)
        if connection.getatr(r"\drafts\MORE.BIN")[1] != 10:
            raise Failed("writing nothing did not truncate the file")
        if connection.dskattr()[0] == 0:
            raise Failed("no disk")
        connection.chkpath(r"\drafts")
        try:
            connection.chkpath(r"\nowhere")
        except SmbError:
            return
        raise Failed("a folder that is none passed for one")


class LoggedOn(Core):
    """The core's file work after a LAN Manager log-on, as Windows for Workgroups and the full DOS redirector do it."""

    def enter(self, subject):
        self.connection.log_on(subject.user, subject.password)
        self.connection.tree_connect_andx(subject.name, subject.share)
        return CHUNK


class Raw(Core):
    """LANMAN1: log on, then READ_RAW and WRITE_RAW in 65,535-byte pieces."""

    def enter(self, subject):
        self.connection.log_on(subject.user, subject.password)
        self.connection.tree_connect_andx(subject.name, subject.share)
        return 65535

    def put(self, name, data):
        fid = self.connection.open_andx(f"\\drafts\\{name}", mode=0x42, function=0x12)
        for at in range(0, len(data), self.block):
            piece = data[at : at + self.block]
            # every other piece with its start inside the request, as redirectors do
            self.connection.write_raw(fid, at, piece, with_request=0 if at % 2 else min(len(piece), 512))
        self.connection.close_file(fid)

    def get(self, name):
        size = self.connection.getatr(f"\\planted\\{name}")[1]
        fid = self.connection.open_andx(f"\\planted\\{name}")
        parts, at = [], 0
        while piece := bytes(self.connection.read_raw(fid, at, self.block)):
            parts.append(piece)
            at += len(piece)
            if at > size:
                raise Failed(f"{name}: more than its size came back, {piece[:8]!r}…")
        self.connection.close_file(fid)
        return b"".join(parts)

    def more(self):
        super().more()
        if self.connection.final_command != WRITE_COMPLETE:
            raise Failed(f"a raw write ended with command {self.connection.final_command:#04x}")


def cycle(session, kind, age, nbt):
    client = None

    def connect():
        nonlocal client
        client = kind(session, age, nbt)

    session.skip("shares", "has no such request")
    if not session.step("other", connect):
        return
    connection = client.connection
    session.step("mkdir", lambda: (connection.mkdir(r"\drafts"), session.expect_drafts()))
    session.step("put", lambda: put_all(session, client))
    session.step("list", lambda: listed(session, client))
    session.step("get", lambda: get_all(session, client))
    session.step("rename", lambda: (connection.rename(r"\drafts\B1.BIN", r"\drafts\RENAMED.BIN"),
                                    session.expect_renamed("B1.BIN", "RENAMED.BIN")))
    session.step("attr", lambda: attributes(connection))
    session.step("other", client.more)
    session.step("delete", lambda: delete(session, connection))
    session.step("rmdir", lambda: (connection.rmdir(r"\drafts"), session.expect_drafts(there=False)))
    connection.close()


def put_all(session, client):
    for name in corpus.SIZES:
        client.put(name, (session.originals / name).read_bytes())
    session.expect_put()


def get_all(session, client):
    for name in corpus.SIZES:
        (session.fetched / name).write_bytes(client.get(name))
    session.expect_got()


def listed(session, client):
    files = client.list()
    session.expect_listed(files)
    if files != corpus.SIZES:
        raise Failed(f"listed {files}")


def attributes(connection):
    path = r"\drafts\B511.BIN"
    connection.setatr(path, 0x02 | 0x20)
    if not connection.getatr(path)[0] & 0x02:
        raise Failed("not hidden")
    connection.setatr(path, 0x20)


def delete(session, connection):
    connection.delete(r"\drafts\RENAMED.BIN")
    connection.delete(r"\drafts\*.*")  # what DEL *.* is on the wire
    session.expect_empty()


def rows():
    for age in ("CORE", "COREPLUS"):
        for nbt in (True, False):
            run = functools.partial(cycle, kind=Core, age=age, nbt=nbt)
            yield Row(f"raw {age}", run, "nbt" if nbt else "direct")
    for age in ("LANMAN1", "WFW", "NT1"):
        run = functools.partial(cycle, kind=LoggedOn, age=age, nbt=True)
        yield Row(f"raw {age} core files", run, "nbt", needs=("impacket",))
    for nbt in (True, False):
        run = functools.partial(cycle, kind=Raw, age="LANMAN1", nbt=nbt)
        yield Row("raw LANMAN1 raw mode", run, "nbt" if nbt else "direct", needs=("impacket",))


ROWS = list(rows())
