"""`[homes]` as smbclient sees it: the own share under two names, lists, refusals, and a user who gets a folder while the server runs."""
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import subject

PASSWORD = "secret"
CONFIGURATION = """[global]
netbios name = TOWER
smb passwd file = {root}/users
[homes]
path = {root}/homes/%S
read only = no
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def smbclient(port, user, *words):
    options = ["-p", str(port), "-m", "NT1", "--option=clientminprotocol=CORE", "-s", "/dev/null", "-U", f"{user}%{PASSWORD}"]
    done = subprocess.run(["smbclient", *words, *options], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def check(truth, *seen):
    if not truth:
        raise AssertionError(" ".join(map(str, seen)))


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server does not listen")


def one_user_has_a_folder(port, root):
    (root / "file").write_text("contents")
    for name in ("anna", "HOMES"):
        said = smbclient(port, "anna", f"//127.0.0.1/{name}", "-c", f"put {root}/file {name}.TXT")
        check((root / "homes" / "anna" / f"{name}.TXT").read_text() == "contents", said)
    check("Home folder of anna" in smbclient(port, "anna", "-L", "127.0.0.1"), "anna does not see her share")
    listed = smbclient(port, "ben", "-L", "127.0.0.1")
    check("IPC$" in listed and "anna" not in listed, listed)
    said = smbclient(port, "ben", "//127.0.0.1/anna", "-c", f"put {root}/file BEN.TXT")
    check("ACCESS_DENIED" in said and not (root / "homes" / "anna" / "BEN.TXT").exists(), said)
    check("BAD_NETWORK_NAME" in smbclient(port, "ben", "//127.0.0.1/homes", "-c", "ls"), "ben has a share")


def another_gets_one(port, root, server):
    (root / "homes" / "ben").mkdir()
    server.send_signal(signal.SIGHUP)
    for _ in range(50):
        said = smbclient(port, "ben", "//127.0.0.1/homes", "-c", f"put {root}/file BEN.TXT")
        if (root / "homes" / "ben" / "BEN.TXT").exists():
            return
        time.sleep(0.2)
    raise AssertionError(said)


def main():
    binary, port = subject.coax_binary(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "homes" / "anna").mkdir(parents=True)
        (root / "smb.conf").write_text(CONFIGURATION.format(root=root))
        for user in ("anna", "ben"):
            subprocess.run([binary, "user", "add", user, "--file", root / "users"], input=PASSWORD + "\n", text=True, check=True, capture_output=True)
        command = [binary, "serve", "--config", root / "smb.conf", "--direct", f"127.0.0.1:{port}"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                wait_for(port)
                one_user_has_a_folder(port, root)
                print("a user with a folder has a share of two names, and nobody else has it", flush=True)
                another_gets_one(port, root, server)
                print("after a reload another user has one", flush=True)
            finally:
                server.terminate()


if __name__ == "__main__":
    sys.exit(main())
