"""jcifs 1.3 and jcifs-ng, each as it comes and with every NT feature switched off."""
import functools
import os
import urllib.parse

from .. import corpus, install
from ..cell import FAIL, OK, Failed, Outcome, Row, run_command

LEGACY = {
    "jcifs.smb.client.useUnicode": "false",
    "jcifs.smb.client.useNTSmbs": "false",
    "jcifs.smb.client.useNtStatus": "false",
    "jcifs.smb.client.useExtendedSecurity": "false",
    "jcifs.smb.lmCompatibility": "0",
    "jcifs.encoding": "Cp850",
}
# in this mode it opens a file for reading only and then sets attributes through that, and leaks the handle when refused
NO_ATTRIBUTES = {"driver.attributes": "false"}
UNBATCHED = {"jcifs.smb.client.useBatching": "false"}
SMB1 = {
    "jcifs.smb.client.minVersion": "SMB1",
    "jcifs.smb.client.maxVersion": "SMB1",
    "jcifs.smb.client.disableSMB1": "false",
}


def cycle(session, generation, properties, nbt):
    subject = session.subject
    port = subject.nbt if nbt else subject.direct
    # user and password in the URL for jcifs 1.3, in properties for jcifs-ng
    login = f"{subject.user}:{urllib.parse.quote(subject.password)}@" if generation == "jcifs13" else ""
    url = f"smb://{login}{subject.host}:{port}/{subject.share}/"
    settings = {
        "jcifs.resolveOrder": "DNS", "jcifs.smb.client.responseTimeout": "10000",
        "driver.user": subject.user, "driver.password": subject.password, "file.encoding": "UTF-8",
        "sun.jnu.encoding": "UTF-8", **properties,
    }
    jars = install.JARS / generation
    command = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    command += [f"-D{key}={value}" for key, value in settings.items()]
    command += ["-cp", f"{install.CLASSES / generation}:{jars}/*", "Driver", url]
    command += [str(session.originals), str(session.fetched), corpus.LONG_NAME, corpus.NON_ASCII_NAME]
    note(session, run_command(command, timeout=120, env=dict(os.environ, LC_ALL="C.UTF-8")))
    if "attr" not in session.outcomes:
        session.skip("attr", "the client sets attributes through a handle for reading only")
    judge(session)


def note(session, output):
    for line in output.splitlines():
        state, _, rest = line.partition(" ")
        step, _, reason = rest.partition(" ")
        if state in ("ok", "FAIL"):
            session.outcomes[step] = Outcome(OK if state == "ok" else FAIL, reason[:300])
    if not session.outcomes:
        raise Failed(output[-300:])


def judge(session):
    """The driver ends with everything deleted, so only what it fetched, and what is left, can be judged here."""
    if session.outcomes.get("get", Outcome(FAIL)).state == OK:
        session.step("get", session.expect_got)
    if session.outcomes.get("rmdir", Outcome(FAIL)).state == OK:
        session.step("rmdir", lambda: session.expect_drafts(there=False))


def rows():
    modes = {
        "jcifs 1.3 NT": ("jcifs13", {}, True),
        "jcifs 1.3 legacy": ("jcifs13", LEGACY | NO_ATTRIBUTES, True),
        "jcifs 1.3 legacy, no batches": ("jcifs13", LEGACY | NO_ATTRIBUTES | UNBATCHED, False),
        "jcifs-ng NT": ("jcifsng", SMB1, True),
        "jcifs-ng legacy": ("jcifsng", SMB1 | LEGACY, False),
    }
    for name, (generation, properties, both) in modes.items():
        for nbt in (True, False) if both else (False,):
            run = functools.partial(cycle, generation=generation, properties=properties, nbt=nbt)
            yield Row(name, run, "nbt" if nbt else "direct", nbt, (generation,))


ROWS = list(rows())
