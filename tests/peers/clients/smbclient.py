"""Samba's smbclient, in every dialect that it can offer."""
import functools
import re

from .. import corpus
from ..cell import Failed, Row, run_command

# What smbclient wants said before it talks to anything older than NT LM 0.12.
OLD = ["client min protocol=CORE", "client lanman auth=yes", "client plaintext auth=yes"]
LM_ONLY = ["client ntlmv2 auth=no"]
DIALECTS = {
    "CORE": LM_ONLY,
    "COREPLUS": LM_ONLY,
    "LANMAN1": LM_ONLY,
    "LANMAN2": LM_ONLY,
    "NT1": [],
}


class Smbclient:
    """smbclient with its settings fixed; each call is one process, as a person would run it."""

    def __init__(self, session, dialect, options, port):
        subject = session.subject
        self.session = session
        self.service = f"//{subject.host}/{subject.share}"
        # ignore the configuration of this machine
        self.base = ["smbclient", "-s", "/dev/null", "-p", str(port), "-m", dialect]
        self.base += ["-U", f"{subject.user}%{subject.password}"]
        self.base += [f"--option={option}" for option in OLD + options]
        self.host = subject.host

    def run(self, commands):
        output = run_command(self.base + [self.service, "-c", commands])
        # smbclient exits with 0 after most failed commands
        error = re.search(r".*(NT_STATUS_(?!OK)\w+|ERR(DOS|SRV|HRD)\w*|[Ff]ailed).*", output)
        if error:
            raise Failed(error.group(0).strip()[:200])
        return output

    def shares(self):
        output = run_command(self.base + ["-g", "-L", self.host])
        if f"Disk|{self.session.subject.share}|" not in output:
            raise Failed("the share is not listed: " + " ".join(output.split())[-120:])


def listing(output):
    """Names and attributes of `ls`: two blanks, the name, attributes, size, date."""
    pattern = re.compile(r"^  (.*?) +([DAHSRNV]*) +(\d+)  \w{3} \w{3}", re.M)
    return {name: (attributes, int(size)) for name, attributes, size in pattern.findall(output)}


def cycle(session, dialect, options, nbt=False):
    subject = session.subject
    client = Smbclient(session, dialect, options, subject.nbt if nbt else subject.direct)
    long_names = dialect not in ("CORE", "COREPLUS")
    session.step("shares", client.shares)
    session.step("mkdir", lambda: (client.run("mkdir drafts"), session.expect_drafts()))
    session.step("put", lambda: put(session, client))
    session.step("list", lambda: listed(session, client))
    session.step("get", lambda: get(session, client))
    session.step("rename", lambda: (client.run(r"cd drafts; rename B1.BIN RENAMED.BIN"),
                                    session.expect_renamed("B1.BIN", "RENAMED.BIN")))
    session.step("attr", lambda: attributes(client))
    for step, name in (("long", corpus.LONG_NAME), ("nonascii", corpus.NON_ASCII_NAME)):
        if long_names:
            session.step(step, functools.partial(named, session, client, name))
        else:
            session.skip(step, "the dialect has 8.3 names only")
    session.step("delete", lambda: (client.run("cd drafts; rm *"), session.expect_empty()))
    session.step("rmdir", lambda: (client.run("rmdir drafts"), session.expect_drafts(there=False)))


def put(session, client):
    client.run(f"lcd {session.originals}; cd drafts; " + "; ".join(f"put {name}" for name in corpus.SIZES))
    session.expect_put()


def get(session, client):
    client.run(f"lcd {session.fetched}; cd planted; " + "; ".join(f"get {name}" for name in corpus.SIZES))
    session.expect_got()


def listed(session, client):
    files = {name.upper(): size for name, (_, size) in listing(client.run(r"ls planted\*")).items()}
    session.expect_listed(files)
    wrong = {name: files[name] for name, size in corpus.SIZES.items() if files[name] != size}
    if wrong:
        raise Failed(f"wrong sizes listed: {wrong}")


def attributes(client):
    client.run("cd drafts; setmode B511.BIN +h")
    files = {name.upper(): flags for name, (flags, _) in listing(client.run(r"ls drafts\*")).items()}
    if "H" not in files.get("B511.BIN", ""):
        raise Failed(f"not hidden: {files}")
    client.run("cd drafts; setmode B511.BIN -h")


def named(session, client, name):
    copy = session.fetched / "named.bin"
    client.run(f'lcd {session.originals}; cd drafts; put B511.BIN "{name}"')
    client.run(f'cd drafts; get "{name}" {copy}')
    session.expect_named(name, copy)


def rows():
    for dialect, options in DIALECTS.items():
        for nbt in (True, False):
            transport = "nbt" if nbt else "direct"
            run = functools.partial(cycle, dialect=dialect, options=options, nbt=nbt)
            # smbclient asks for a session on port 139 alone
            yield Row(f"smbclient {dialect}", run, transport, nbt, ("smbclient",))
    signed = ["client signing=required"]
    yield Row("smbclient NT1 signed", functools.partial(cycle, dialect="NT1", options=signed), needs=("smbclient",))


ROWS = list(rows())
