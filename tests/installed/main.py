"""The Debian package on a fresh Debian 12: installed, found on the network, copied to and from, upgraded, removed, purged.

The machine boots with systemd in a container; smbclient and nmblookup run on another host of the same network.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from netbios.network import Network, wait_for

from . import machine as machines

ROOT = Path(__file__).resolve().parents[2]
EXPOSURE_LIMIT = 2.0
PASSWORD = "secret"
# smbclient refuses old dialects and, while NTLMv2 is on, the LM response that DOS sends (smb.conf(5), "client ntlmv2 auth")
LANMAN1 = ("-m", "LANMAN1", "--option=client min protocol=CORE", "--option=client lanman auth=yes", "--option=client ntlmv2 auth=no")
WRITABLE = """
[WORK]
    path = /srv/files
    valid users = anna
    read only = no
"""


class Case:
    """What a test has: the machine with the package, the client's host, and a folder for files."""

    def __init__(self, machine, client, package, folder):
        self.machine, self.client, self.package, self.folder = machine, client, package, folder

    def smb(self, share, commands, *options):
        return self.client.run("smbclient", f"//{self.machine.host.address}/{share}", *options, "-c", commands)

    def service(self, name):
        return self.machine.must("systemctl", "show", "coax", "-p", name, "--value").strip()

    def status_of_service(self):
        text = self.machine.read(f"/proc/{self.service('MainPID')}/status")
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def install(case):
    """One command, and the service runs."""
    case.machine.must("dpkg", "-i", case.machine.copy_in(case.package, "coax.deb"))
    wait_for(lambda: case.service("ActiveState") == "active", "the service to be active", 30)
    expect(case.machine.must("systemctl", "is-enabled", "coax").strip() == "enabled", "the service starts at boot")
    expect(case.machine.must("stat", "-c", "%U %G %a", "/etc/coax/users").split() == ["coax", "coax", "600"], "only coax reads the passwords")
    version = case.machine.must("coax", "--version")
    # a package for tests contains the development build; that the commit gets into a package is checked on the image
    expect(re.match(r"coax \d+\.\d+\.\d+ \((commit [0-9a-f]{12}|development build)", version), f"--version names the commit: {version}")
    expect(case.machine.run("test", "-s", "/usr/share/man/man1/coax-serve.1.gz").returncode == 0, "the manual is there")
    page = "/usr/share/coax/web/index.html"
    web = case.machine.run("timeout", "2", "coax", "web", "--port", "8137")
    if case.machine.run("test", "-e", page).returncode == 0:
        expect(web.stdout.startswith("http://127.0.0.1:8137/\n") and page in web.stdout, f"coax web serves the page: {web.stdout}{web.stderr}")
    else:  # the package was built where the page cannot be
        expect(web.returncode == 1 and f"no {page}" in web.stderr, f"coax web names what is missing: {web.stdout}{web.stderr}")


def two_commands(case):
    """The two commands of docs/start.md: after apt and coax setup, other machines find, list and read the share."""
    page = (ROOT / "docs" / "start.md").read_text()
    commands = page.split("## The shortest way, on Debian")[1].split("```")[1].strip().splitlines()
    expect(len(commands) == 2 and commands[0].startswith("sudo apt install ./coax_"), f"two commands: {commands}")
    install, setup = (command.removeprefix("sudo ").split() for command in commands)
    case.machine.copy_in(case.package, Path(install[-1]).name)
    case.machine.must("sh", "-c", f"cd /root && {' '.join(install)}")
    said = case.machine.must(*setup)
    expect("The service runs with the new configuration" in said, f"coax setup says what it did: {said}")
    expect(case.service("ActiveState") == "active", "the service is active")
    case.machine.must("sh", "-c", "echo hello > /srv/coax/FIRST.TXT")
    name = case.machine.must("hostname").strip().upper()
    wait_for(lambda: re.search(rf"^{re.escape(case.machine.host.address)} {name}<00>",
                               case.client.run("nmblookup", "-B", case.client.broadcast, name).stdout, re.M), "nmblookup finds the name")
    options = (*LANMAN1, "-N")
    got = case.smb("PUBLIC", f"get FIRST.TXT {case.folder}/first", *options)
    expect((case.folder / "first").read_text() == "hello\n", f"smbclient -m LANMAN1 reads: {got.stdout}{got.stderr}")
    listed = wait_for(lambda: re.search(rf"WORKGROUP\s+{name}", case.client.run("smbclient", "-L", case.machine.host.address, *options).stdout),
                      "the browse list to name the server as its workgroup's master", 90)
    expect(listed, "the browse list has it")
    case.machine.must("dpkg", "-P", "coax")


def set_up(case):
    """coax setup gives the service a folder outside /srv, coax doctor finds no error, and a setup that fails changes nothing."""
    case.machine.must("sh", "-c", "cp -p /etc/coax/smb.conf /root/before")
    old = case.service("MainPID")
    try:
        setup_is_served(case)
        failed_setup_changes_nothing(case)
    finally:
        case.machine.must("sh", "-c", "cp -p /root/before /etc/coax/smb.conf; rm -f /etc/systemd/system/coax.service.d/50-coax-setup.conf; "
                          "systemctl daemon-reload; systemctl reset-failed coax; systemctl restart coax")
    expect(case.service("MainPID") != old and case.service("ActiveState") == "active", "the service runs again")


def setup_is_served(case):
    case.machine.must("sh", "-c", "coax setup --folder /data/old --write carl --share DATA --overwrite --password-stdin", text=PASSWORD + "\n")
    expect("ReadWritePaths=/data/old" in case.machine.read("/etc/systemd/system/coax.service.d/50-coax-setup.conf"), "the unit gets the folder")
    expect(case.machine.must("stat", "-c", "%U %G %a", "/etc/coax/users").split() == ["coax", "coax", "600"], "only coax reads the passwords")
    (case.folder / "data").write_text("x" * 9000)
    done = case.smb("DATA", f"put {case.folder}/data NEW.TXT", "-U", f"carl%{PASSWORD}", *LANMAN1)
    expect(case.machine.must("stat", "-c", "%U %s", "/data/old/NEW.TXT").split() == ["coax", "9000"], f"carl writes: {done.stdout}{done.stderr}")
    report = json.loads(case.machine.run("coax", "doctor", "--json").stdout)
    expect(report["errors"] == 0, f"coax doctor finds no error: {report}")
    expect(any("listens at TCP port 139" in finding["what"] for finding in report["findings"]), f"doctor sees the service: {report}")
    long = case.machine.run("coax", "setup", "--folder", "/data/old", "--write", "carl,dora", "--overwrite", "--password-stdin", text="more than fourteen\n")
    expect(long.returncode == 1 and "cannot send the password of dora; nothing is changed" in long.stderr, f"a long password is refused: {long.stderr}")


def failed_setup_changes_nothing(case):
    files = "cat /etc/coax/smb.conf /etc/coax/users; ls -la /etc/coax /etc/systemd/system/coax.service.d"
    before = case.machine.must("sh", "-c", files)
    # the service cannot start, whatever its configuration
    case.machine.must("sh", "-c", "mkdir -p /run/systemd/system/coax.service.d && "
                      "printf '[Service]\nExecStartPre=/bin/false\n' > /run/systemd/system/coax.service.d/99-bad.conf")
    failed = case.machine.run("coax", "setup", "--folder", "/data/other", "--write", "everybody", "--overwrite")
    case.machine.must("rm", "-r", "/run/systemd/system/coax.service.d")
    expect(failed.returncode == 1 and "nothing is changed" in failed.stderr, f"setup says that it failed: {failed.stdout}{failed.stderr}")
    after = case.machine.must("sh", "-c", files)
    strip = lambda text: re.sub(r"\d+:\d+", "", text)
    expect(strip(after) == strip(before), f"everything is as before: {after}\n{before}")
    expect(case.machine.run("test", "-e", "/data/other").returncode != 0, "the new folder is gone")


def confined(case):
    """The process has its own user, one capability and a filter of system calls."""
    status = case.status_of_service()
    expect(status["Uid"].split()[0] != "0", "the service does not run as root")
    expect(int(status["CapEff"], 16) & ~(1 << 10) == 0, f"only CAP_NET_BIND_SERVICE is left: {status['CapEff']}")
    expect(status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2", "privileges and system calls are limited")
    journal = case.machine.run("journalctl", "-u", "coax", "--no-pager").stdout
    expect("not active" not in journal and "by Landlock" in journal, "coax's own limits are active, too")
    shown = case.machine.run("systemd-analyze", "security", "--no-pager", "--offline=true", "/usr/lib/systemd/system/coax.service").stdout
    level = re.search(r"exposure level for coax.service: ([\d.]+)", shown)
    expect(level and float(level[1]) <= EXPOSURE_LIMIT, f"systemd-analyze security says at most {EXPOSURE_LIMIT}: {level and level[1]}")


def visible(case):
    """The name, the share and the browse list are visible from another host."""
    name = case.machine.must("hostname").strip().upper()
    found = wait_for(lambda: re.search(rf"^{re.escape(case.machine.host.address)} {name}<00>",
                                       case.client.run("nmblookup", "-B", case.client.broadcast, name).stdout, re.M), "the name")
    expect(found, "nmblookup finds it")
    status = json.loads(case.machine.must("coax", "status", "--json"))
    expect(status["state"] == "serving", f"coax status: {status}")
    case.machine.must("test", "-s", "/var/lib/coax/coax.redb")
    case.machine.must("sh", "-c", "echo hello > /srv/coax/HELLO.TXT")
    options = (*LANMAN1, "-N")
    listed = case.client.run("smbclient", "-L", case.machine.host.address, *options)
    expect("PUBLIC" in listed.stdout, f"smbclient -m LANMAN1 lists the share: {listed.stdout}{listed.stderr}")
    got = case.smb("PUBLIC", f"get HELLO.TXT {case.folder}/hello", *options)
    expect((case.folder / "hello").read_text() == "hello\n", f"a guest reads: {got.stdout}{got.stderr}")
    refused = case.smb("PUBLIC", f"put {case.folder}/hello NEW.TXT", *options)
    expect("NT_STATUS_ACCESS_DENIED" in refused.stdout or "ERRnoaccess" in refused.stdout, f"a guest does not write: {refused.stdout}")
    wait_for(lambda: re.search(rf"WORKGROUP\s+{name}", case.client.run("smbclient", "-L", case.machine.host.address, *options).stdout),
             "the browse list to name the server as its workgroup's master", 90)


def users(case):
    """A user who is added may write into a share that is added."""
    case.machine.must("coax", "user", "add", "anna", "--config", "/etc/coax/smb.conf", text=PASSWORD + "\n")
    expect(case.machine.must("stat", "-c", "%U %G %a", "/etc/coax/users").split() == ["coax", "coax", "600"], "the file keeps its owner")
    case.machine.must("install", "-d", "-o", "coax", "/srv/files")
    case.machine.must("sh", "-c", "cat >> /etc/coax/smb.conf", text=WRITABLE)
    case.machine.must("systemctl", "restart", "coax")
    data = os.urandom(3_000_000)
    (case.folder / "sent").write_bytes(data)
    log_on = ("-U", f"anna%{PASSWORD}", "-m", "NT1", "--option=client min protocol=NT1")
    done = case.smb("WORK", f"put {case.folder}/sent SENT.BIN; get SENT.BIN {case.folder}/back", *log_on)
    expect((case.folder / "back").read_bytes() == data, f"what came back is what was sent: {done.stdout}{done.stderr}")
    owner = case.machine.must("stat", "-c", "%U", "/srv/files/SENT.BIN").strip()
    expect(owner == "coax", f"files belong to the service's user, not to {owner}")


def reload(case):
    """A changed configuration is applied without a restart, a wrong one is refused by name, and the watchdog is answered."""
    before = case.service("MainPID")
    case.machine.must("sed", "-i", "s/comment = Files.*/comment = Reloaded/", "/etc/coax/smb.conf")
    case.machine.must("systemctl", "reload", "coax")
    options = (*LANMAN1, "-N")
    wait_for(lambda: "Reloaded" in case.client.run("smbclient", "-L", case.machine.host.address, *options).stdout, "the new comment", 20)
    case.machine.must("sh", "-c", "cp -p /etc/coax/smb.conf /root/kept && echo 'guest ok = perhaps' >> /etc/coax/smb.conf")
    case.machine.must("systemctl", "reload", "coax")
    wait_for(lambda: "perhaps" in case.machine.run("journalctl", "-u", "coax", "-n", "40", "--no-pager").stdout, "the refusal", 20)
    case.machine.must("sh", "-c", "cp -p /root/kept /etc/coax/smb.conf")
    expect(case.service("MainPID") == before, "it is the same process")
    expect(case.service("WatchdogTimestampMonotonic") not in ("", "0"), "the watchdog was answered")


def mistake(case):
    """A mistake in smb.conf is named in the journal, and the service does not start with half of it."""
    case.machine.must("sh", "-c", "cp -p /etc/coax/smb.conf /root/kept && echo 'guest ok = perhaps' >> /etc/coax/smb.conf")
    started = case.machine.run("systemctl", "restart", "coax")
    journal = case.machine.run("journalctl", "-u", "coax", "-n", "40", "--no-pager").stdout
    case.machine.must("sh", "-c", "cp -p /root/kept /etc/coax/smb.conf && systemctl reset-failed coax && systemctl restart coax")
    expect(started.returncode != 0, "the service refuses to start")
    expect("perhaps" in journal and "smb.conf" in journal, f"the journal names the line: {journal}")


def rebuilt(case):
    """The same package with a higher version."""
    tree = case.folder / "tree"
    subprocess.run(["dpkg-deb", "-R", str(case.package), str(tree)], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"^Version: (.*)$", r"Version: \1.1", control.read_text(), flags=re.M))
    path = case.folder / "newer.deb"
    subprocess.run(["dpkg-deb", "-b", "-Zgzip", str(tree), str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def upgrade(case):
    """An upgrade during a copy keeps the configuration and every byte that was acknowledged."""
    newer = rebuilt(case)
    big = case.folder / "big"
    with open(big, "wb") as file:
        for _ in range(200):
            file.write(os.urandom(1 << 20))
    log_on = ("-U", f"anna%{PASSWORD}", "-m", "NT1", "--option=client min protocol=NT1")
    old = case.service("MainPID")
    copy = case.client.start("smbclient", f"//{case.machine.host.address}/WORK", *log_on, "-c", f"put {big} BIG.BIN")
    wait_for(lambda: case.machine.run("test", "-s", "/srv/files/BIG.BIN").returncode == 0, "the copy to begin", 30)
    case.machine.must("dpkg", "-i", case.machine.copy_in(newer, "newer.deb"))
    copy.wait(120)
    case.client.processes.remove(copy)
    wait_for(lambda: case.service("ActiveState") == "active" and case.service("MainPID") != old, "the new version to run", 30)
    expect("[WORK]" in case.machine.read("/etc/coax/smb.conf"), "the changed configuration stays")
    if copy.returncode != 0:  # the copy was cut: the client was told, and repeats it
        done = case.smb("WORK", f"put {big} BIG.BIN", *log_on)
        expect(done.returncode == 0, f"the copy can be repeated: {done.stdout}{done.stderr}")
    digest = case.machine.must("sha256sum", "/srv/files/BIG.BIN").split()[0]
    expect(digest == hashlib.sha256(big.read_bytes()).hexdigest(), "the file is what was sent")


def remove(case):
    """Removing keeps configuration and files, purging keeps only files."""
    case.machine.must("dpkg", "-r", "coax")
    expect(case.machine.run("systemctl", "is-active", "coax").stdout.strip() != "active", "the service has stopped")
    expect(case.machine.run("test", "-e", "/etc/coax/smb.conf").returncode == 0, "the configuration stays")
    case.machine.must("dpkg", "-P", "coax")
    for path in ("/etc/coax", "/var/lib/coax", "/usr/bin/coax"):
        expect(case.machine.run("test", "-e", path).returncode != 0, f"{path} is gone")
    expect(case.machine.run("getent", "passwd", "coax").returncode != 0, "the user is gone")
    expect(case.machine.run("test", "-s", "/srv/files/SENT.BIN").returncode == 0, "shared files stay")


CASES = (two_commands, install, confined, visible, users, set_up, reload, mistake, upgrade, remove)


def package(given):
    if given.package:
        return Path(given.package)
    if not given.built:
        subprocess.run([str(ROOT / "scripts" / "package"), "deb"], check=True, stdout=subprocess.DEVNULL)
    return max((ROOT / "target" / "packages").glob("*.deb"), key=lambda path: path.stat().st_mtime)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", help="a .deb that is there already")
    parser.add_argument("--built", action="store_true", help="take the .deb in target/packages")
    given = parser.parse_args()
    deb = package(given)
    folder = Path(tempfile.mkdtemp(prefix="coax-installed-"))
    failed = 0
    try:
        with Network("installed", 1) as network:
            with machines.Machine(network.host("server")) as machine:
                case = Case(machine, network.host("client"), deb, folder)
                for test in CASES:
                    failed += not passes(test, case)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


def passes(test, case):
    begun = time.monotonic()
    try:
        test(case)
    except (AssertionError, RuntimeError, subprocess.SubprocessError, OSError) as error:
        print(f"FAILED {test.__name__}: {error}", flush=True)
        print(case.machine.run("journalctl", "-u", "coax", "-n", "12", "--no-pager").stdout, flush=True)
        return False
    print(f"passed {test.__name__} ({time.monotonic() - begun:.1f} s): {test.__doc__.splitlines()[0]}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
