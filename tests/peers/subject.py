"""The server under test: coax, Samba's smbd, or one that somebody else started.

`start()` is a context manager: own folders, own ports (ephemeral, or 139 and 445 inside a network namespace of our own),
loopback only, and nothing left behind.
"""
import contextlib
import dataclasses
import functools
import getpass
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USER = "smbtest"
PASSWORD = "Pass1234"
SHARE = "tmp"
PRINTER = "laser"
WORKGROUP = "WORKGROUP"
OWN_NAMESPACE = bool(os.environ.get("COAX_PEERS_NAMESPACE"))

# Both servers read these: every dialect and every kind of password allowed, since that is what is tested.
COMMON = {
    "workgroup": WORKGROUP,
    "netbios name": "SUBJECT",
    "server min protocol": "CORE",
    "lanman auth": "yes",
    "ntlm auth": "yes",
    "map to guest": "Bad User",
    "guest account": "nobody",
    "log level": "0",
    "dos charset": "CP850",
    "server signing": "auto",
}
SMBD_ONLY = {
    "server role": "standalone server",
    "disable spoolss": "yes",
    "load printers": "no",
    "printcap name": "/dev/null",
    "bind interfaces only": "yes",
    "host msdfs": "no",
    "mangled names": "yes",
}


@dataclasses.dataclass
class Subject:
    """Where a running server is reached and what a test may know of it."""

    kind: str
    host: str
    nbt: int | None
    direct: int
    share: str = SHARE
    user: str = USER
    password: str = PASSWORD
    folder: Path | None = None
    pid: int | None = None
    printer: str | None = None
    spool: Path | None = None

    @property
    def name(self):
        return "SUBJECT"


def start(kind, scratch=None, **options):
    """The server of that kind as a context manager: "coax", "smbd" or "HOST:PORT"."""
    if kind == "smbd":
        return smbd(scratch, **options)
    if kind == "coax":
        return coax(scratch, **options)
    return elsewhere(kind)


@contextlib.contextmanager
def elsewhere(address):
    host, _, port = address.rpartition(":")
    share = os.environ.get("SUBJECT_SHARE", SHARE)
    user = os.environ.get("SUBJECT_USER", USER)
    password = os.environ.get("SUBJECT_PASSWORD", PASSWORD)
    folder = os.environ.get("SUBJECT_FOLDER")
    yield Subject("other", host, None, int(port), share, user, password, Path(folder) if folder else None)


def run_folder():
    """Where servers have their folders: beside what was built, or in the temporary folder if no other account gets there."""
    folder = ROOT / "target" / "peers" / "run"
    if all(parent.stat().st_mode & stat.S_IXOTH for parent in [ROOT, *ROOT.parents]):
        return folder
    return Path(tempfile.gettempdir()) / "coax-peers"


@contextlib.contextmanager
def scratch_folder(scratch):
    base = Path(scratch) if scratch else run_folder()
    base.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="subject-", dir=base))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port(host):
    """A free port. smbd cannot choose one itself."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, 0))
        return probe.getsockname()[1]


def ports(host, wanted):
    if wanted:
        return wanted
    return (139, 445) if OWN_NAMESPACE else (free_port(host), free_port(host))


def write_config(path, parameters, shares, folder):
    """An smb.conf with these global parameters and these shares of one folder, writable for all."""
    lines = ["[global]"] + [f"\t{key} = {value}" for key, value in parameters.items()]
    for name, special in shares.items():
        share = {"path": folder, "read only": "no", "guest ok": "yes", **special}
        lines += [f"[{name}]"] + [f"\t{key} = {value}" for key, value in share.items()]
    path.write_text("\n".join(lines) + "\n")


def wait_until_listening(host, port, process, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode} before it listened")
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"no program listens on {host}:{port} after {seconds} s")


def stop(process):
    """Ends a server and whatever it forked: it leads a session of its own."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


# --- smbd ---------------------------------------------------------------------------------------------------------


def unix_account(name=USER):
    """smbd needs a Unix account behind its user: one of our own where we may make it, else whoever runs this."""
    if os.geteuid() != 0:
        return getpass.getuser()
    if subprocess.run(["id", name], capture_output=True).returncode != 0:
        subprocess.run(["useradd", "-M", "-N", "-s", "/usr/sbin/nologin", name], check=True, capture_output=True)
    return name


def smbd_folders(base):
    names = ["private dir", "lock directory", "state directory", "cache directory", "pid directory", "ncalrpc dir"]
    folders = {name: base / name.split()[0] for name in names}
    for folder in folders.values():
        folder.mkdir(mode=0o755, exist_ok=True)
    return folders


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") or name


@contextlib.contextmanager
def smbd(scratch=None, host="127.0.0.1", wanted_ports=None, globals_=None, share=None, more_shares=None, folder=None,
         more_users=()):
    with scratch_folder(scratch) as base:
        nbt, direct = ports(host, wanted_ports)
        folder = Path(folder) if folder else base / "share"
        folder.mkdir(mode=0o777, exist_ok=True)
        folder.chmod(0o777)
        accounts = [unix_account(), *map(unix_account, more_users)]
        parameters = {**COMMON, **SMBD_ONLY, **smbd_folders(base), **(globals_ or {})}
        parameters |= {"interfaces": f"{host}/8", "smb ports": f"{nbt} {direct}", "log file": base / "log"}
        parameters |= {"passdb backend": f"tdbsam:{base}/private/passdb.tdb"}
        config = base / "smb.conf"
        write_config(config, parameters, {SHARE: share or {}, **(more_shares or {})}, folder)
        for account in accounts:
            subprocess.run(
                [program("smbpasswd"), "-c", config, "-s", "-a", account],
                input=f"{PASSWORD}\n{PASSWORD}\n", text=True, check=True, capture_output=True,
            )
        command = [program("smbd"), "--foreground", "--no-process-group", f"--configfile={config}"]
        log = open(base / "smbd.out", "wb")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until_listening(host, direct, process)
            yield Subject("smbd", host, nbt, direct, user=accounts[0], folder=folder, pid=process.pid)
        finally:
            stop(process)
            log.close()


# --- coax ---------------------------------------------------------------------------------------------------------


def target_folder():
    """Where cargo builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def coax_binary():
    """The server's binary: $COAX, or built here, in release unless $COAX_PROFILE says otherwise."""
    if os.environ.get("COAX"):
        return os.environ["COAX"]
    profile = os.environ.get("COAX_PROFILE", "release")
    subprocess.run(["cargo", "build", "-q", "-p", "coax", "--profile", profile], cwd=ROOT, check=True)
    return str(target_folder() / ("debug" if profile == "dev" else profile) / "coax")


@functools.cache
def example(name):
    """The program of a crate's example: from $COAX_EXAMPLES, or built here."""
    if os.environ.get("COAX_EXAMPLES"):
        return Path(os.environ["COAX_EXAMPLES"]) / name
    # the whole workspace, because then cargo uses what the tests have built
    subprocess.run(["cargo", "build", "-q", "--locked", "--workspace", "--example", name], cwd=ROOT, check=True)
    return target_folder() / "debug" / "examples" / name


@contextlib.contextmanager
def coax(scratch=None, host="127.0.0.1", wanted_ports=None, globals_=None, share=None, more_shares=None, folder=None,
         more_users=()):
    binary = coax_binary()
    with scratch_folder(scratch) as base:
        nbt, direct = wanted_ports or ((139, 445) if OWN_NAMESPACE else (0, 0))
        folder = Path(folder) if folder else base / "share"
        folder.mkdir(mode=0o777, exist_ok=True)
        spool = base / "spool"
        spool.mkdir(mode=0o777)
        config = base / "smb.conf"
        printer = {PRINTER: {"path": spool, "printable": "yes", "read only": "no"}}
        shares = {SHARE: share or {}, **printer, **(more_shares or {})}
        write_config(config, {**COMMON, **(globals_ or {})}, shares, folder)
        command = [binary, "serve", "--config", config, "--json"]
        command += [part for user in (USER, *more_users) for part in ("--user", f"{user}:{PASSWORD}")]
        command += ["--nbt", f"{host}:{nbt}", "--direct", f"{host}:{direct}"]
        command += ["--names", f"{host}:137"] if OWN_NAMESPACE else []
        log = open(os.environ.get("COAX_LOG", base / "coax.err"), "ab")
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
        try:
            nbt, direct = listening_line(process, Path(log.name))
            yield Subject("coax", host, nbt, direct, folder=folder, pid=process.pid, printer=PRINTER, spool=spool)
        finally:
            stop(process)
            log.close()


def listening_line(process, errors):
    """Reads stdout up to the line that says where it listens, and keeps the pipe empty ever after."""
    for line in process.stdout:
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if event.get("event") == "listening":
                threading.Thread(target=lambda: process.stdout.read(), daemon=True).start()
                return tuple(int(event[key].rpartition(":")[2]) for key in ("nbt", "direct"))
    said = errors.read_text(errors="replace")[-500:].strip()
    raise RuntimeError(f"coax ended with {process.wait()} before it listened: {said}")
