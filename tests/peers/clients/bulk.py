"""A file of 42 MB, put and got again by the core's READ and WRITE and by raw mode, with equal hashes on the disk."""
import functools

from .. import corpus
from ..cell import Failed, Row
from .raw import Core, Raw

SIZE = 42_000_000
NAME = "M42.BIN"


def cycle(session, kind, age):
    for step in ("shares", "mkdir", "list", "rename", "attr", "delete", "rmdir"):
        session.skip(step, "the row is about one large file")
    (session.share / "drafts").mkdir(mode=0o777)
    (session.share / "drafts").chmod(0o777)
    planted = corpus.plant(session.share / "planted" / NAME, SIZE)
    client = kind(session, age, nbt=True)
    session.step("put", lambda: put(session, client, planted))
    session.step("get", lambda: get(client, planted))
    client.connection.close()


def put(session, client, planted):
    client.put(NAME, planted.read_bytes())
    copy = corpus.find(session.drafts, NAME)
    if copy is None or corpus.digest(copy) != corpus.digest(planted):
        raise Failed("the copy on the server's disk differs")


def get(client, planted):
    if client.get(NAME) != planted.read_bytes():
        raise Failed("what came back differs")


ROWS = [
    Row("bulk CORE", functools.partial(cycle, kind=Core, age="CORE"), "nbt"),
    Row("bulk LANMAN1 raw mode", functools.partial(cycle, kind=Raw, age="LANMAN1"), "nbt", needs=("impacket",)),
]
