"""nmap's SMB scripts: an SMB1 client of their own in Lua."""
import functools
import re

from ..cell import Failed, Row, run_command


def script(session, name, port, wanted, arguments=""):
    subject = session.subject
    login = f"smbusername={subject.user},smbpassword={subject.password},smbtype=v1,smbport={port}"
    command = ["nmap", "-Pn", "-n", "--disable-arp-ping", "-p", str(port), "--script", f"+{name}"]
    command += ["--script-args", ",".join(filter(None, [login, arguments])), subject.host]
    output = run_command(command, timeout=90)
    missing = [pattern for pattern in wanted if not re.search(pattern, output, re.I)]
    if missing:
        raise Failed(f"{name} does not say {missing}: " + " ".join(output.split())[-250:])


def cycle(session, nbt):
    subject = session.subject
    port = subject.nbt if nbt else subject.direct
    for step in ("put", "get", "mkdir", "rename", "long", "nonascii", "delete", "rmdir"):
        session.skip(step, "nmap has no script for it")
    protocols = functools.partial(script, session, "smb-protocols", port, [r"NT LM 0\.12"])
    security = functools.partial(script, session, "smb-security-mode", port, ["authentication_level: user",
                                                                             "challenge_response: supported"])
    system = functools.partial(script, session, "smb-os-discovery", port, ["smb-os-discovery:\\s+.*OS:"])
    session.step("other", lambda: (protocols(), security()))
    session.step("attr", system)
    share = rf"\\\\[^\\]+\\{subject.share}\b"
    session.step("shares", lambda: script(session, "smb-enum-shares", port, [share]))
    session.step("list", lambda: script(session, "smb-ls", port, ["M3.BIN"],
                                        f"smb-ls.share={subject.share},smb-ls.path=\\planted"))


ROWS = [
    Row("nmap", functools.partial(cycle, nbt=True), "nbt", True, ("nmap",)),
    Row("nmap", functools.partial(cycle, nbt=False), "direct", False, ("nmap",)),
]
