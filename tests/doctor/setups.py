"""coax setup: what it writes is served; a setup that fails changes nothing."""
import contextlib
import hashlib
import os
import pty
import select
import subprocess
import time

from netbios.network import wait_for
from peers import subject

from .faults import mounted

LANMAN1 = ("-m", "LANMAN1", "--option=client min protocol=CORE", "--option=client lanman auth=yes", "--option=client ntlmv2 auth=no")
NT1 = ("-m", "NT1", "--option=client min protocol=CORE")
PASSWORD = "Secret77"


def setup(host, *words, text=""):
    return host.run(subject.coax_binary(), "setup", *map(str, words), input=text)


def tree(folder):
    """Every file below a folder, with owner, mode and contents."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        stat = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        found[str(path)] = (stat.st_mode, stat.st_uid, stat.st_gid, digest)
    return found


@contextlib.contextmanager
def served(host, config):
    """coax serve with what setup wrote, which --check accepts without a word."""
    checked = host.run(subject.coax_binary(), "serve", "--config", config, "--check")
    assert checked.returncode == 0 and checked.stderr == "", checked.stderr
    process = host.start(subject.coax_binary(), "serve", "--config", config)
    wait_for(lambda: ":139" in host.run("ss", "-ltn").stdout, "coax to listen", 20)
    yield
    host.stop(process)


def guests_read(net, folder):
    """The two necessary answers: a new folder that guests read and nobody writes."""
    host, client = net.host("tower"), net.host("client")
    config = folder / "etc" / "smb.conf"
    done = setup(host, "--folder", folder / "new" / "Old Files", "--write", "nobody", "--name", "TOWER", "--config", config)
    assert done.returncode == 0, done.stderr
    (folder / "new" / "Old Files" / "HELLO.TXT").write_text("hello\n")
    with served(host, config):
        got = client.run("smbclient", f"//{host.address}/OLD_FILES", "-N", *LANMAN1, "-c", f"get HELLO.TXT {folder}/got; put {folder}/got X")
        assert (folder / "got").read_text() == "hello\n", got
        assert not (folder / "new" / "Old Files" / "X").exists(), got


def users_write(net, folder):
    """Users with passwords write, by LM and NTLM responses; guests read; without guests nobody else does."""
    host, client = net.host("tower"), net.host("client")
    config = folder / "smb.conf"
    words = ("--folder", folder / "old", "--write", "anna,bob", "--share", "data", "--config", config, "--network", "eth0", "--password-stdin")
    done = setup(host, *words, text=f"{PASSWORD}\nother\n")
    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stdout + done.stderr + config.read_text()
    assert (folder / "users").stat().st_mode & 0o777 == 0o600
    users = (folder / "users").read_text()
    (folder / "file").write_text("x" * 5000)
    with served(host, config):
        for name, dialect in (("A", LANMAN1), ("B", NT1)):
            done = client.run("smbclient", f"//{host.address}/DATA", "-U", f"anna%{PASSWORD}", *dialect, "-c", f"put {folder}/file {name}")
            assert (folder / "old" / name).exists() and (folder / "old" / name).read_text() == "x" * 5000, done
        done = client.run("smbclient", f"//{host.address}/DATA", "-N", *NT1, "-c", f"get A {folder}/back; put {folder}/file C")
        assert (folder / "back").exists() and not (folder / "old" / "C").exists(), done
        addresses = host.run("ss", "-Hltn").stdout.split()
        assert f"{host.address}:139" in addresses and "0.0.0.0:139" not in addresses, addresses
    # again, without guests: the users keep their passwords, and a new one gets one
    words = ("--folder", folder / "old", "--write", "anna,eve", "--share", "data", "--config", config, "--network", "10.77.1.0/24", "--no-guests",
             "--machines", "nt", "--password-stdin", "--overwrite")
    before = config.read_text()
    done = setup(host, *words, text="third\n")
    assert done.returncode == 0, done.stderr
    assert (folder / "smb.conf.old").read_text() == before
    assert (folder / "users").read_text().startswith(users)
    with served(host, config):
        done = client.run("smbclient", f"//{host.address}/DATA", "-U", f"anna%{PASSWORD}", *NT1, "-c", f"put {folder}/file D")
        assert (folder / "old" / "D").exists(), done
        done = client.run("smbclient", f"//{host.address}/DATA", "-N", *NT1, "-c", "ls")
        assert done.returncode != 0, done


def asks_before_it_replaces(net, folder):
    """An smb.conf that is there is replaced only with --overwrite and stays under a name of its own; --dry-run writes nothing."""
    host = net.host("tower")
    config = folder / "smb.conf"
    config.write_text("[global]\nworkgroup = MINE\n")
    words = ("--folder", folder / "old", "--write", "everybody", "--config", config)
    before = tree(folder)
    done = setup(host, *words)
    assert done.returncode == 1 and "smb.conf exists; nothing is changed" in done.stderr and "--overwrite" in done.stderr, done
    assert tree(folder) == before
    done = setup(host, *words, "--overwrite", "--dry-run")
    assert done.returncode == 0 and "read only = no" in done.stdout, done
    assert tree(folder) == before
    done = setup(host, *words, "--overwrite")
    assert done.returncode == 0 and (folder / "smb.conf.old").read_text() == "[global]\nworkgroup = MINE\n", done
    # the same again is no loss, and asks nothing
    assert setup(host, *words).returncode == 0
    first = config.read_text()
    done = setup(host, *words, "--share", "OTHER", "--overwrite")
    assert done.returncode == 0 and f"stays as {config}.old.1\n" in done.stdout, done
    assert (folder / "smb.conf.old").read_text() == "[global]\nworkgroup = MINE\n"
    assert (folder / "smb.conf.old.1").read_text() == first
    # a link to another file system; the text is not UTF-8
    with mounted(folder / "disk", "64k") as disk:
        (disk / "real.conf").write_bytes(b"[B\xfccher]\npath = /tmp\n")
        linked = folder / "linked.conf"
        linked.symlink_to(disk / "real.conf")
        words = ("--folder", folder / "old", "--write", "everybody", "--config", linked)
        done = setup(host, *words)
        assert done.returncode == 1 and "linked.conf exists; nothing is changed" in done.stderr, done
        done = setup(host, *words, "--overwrite")
        assert done.returncode == 0 and f"stays as {disk}/real.conf.old\n" in done.stdout, done
        assert linked.is_symlink() and "read only = no" in linked.read_text()
        assert (disk / "real.conf.old").read_bytes() == b"[B\xfccher]\npath = /tmp\n"


def a_failure_changes_nothing(net, folder):
    """A full disk, a read-only folder, a file in the way, a missing password: everything is as before."""
    host = net.host("tower")
    with mounted(folder / "disk", "24k") as disk:
        etc = disk / "etc"
        etc.mkdir()
        (etc / "smb.conf").write_text("[global]\n# mine\n")
        (etc / "users").write_text("")
        words = ("--folder", disk / "old", "--config", etc / "smb.conf", "--overwrite", "--password-stdin")
        with contextlib.suppress(OSError), open(disk / "fill", "wb", buffering=0) as fill:
            while True:
                fill.write(bytes(512))
        before = tree(disk)
        done = setup(host, *words, "--write", "anna", text="secret\n")
        assert done.returncode == 1 and "No space left" in done.stderr and "nothing is changed" in done.stderr, done
        assert tree(disk) == before
        # one page is left: the configuration fits, the users do not
        (disk / "fill").write_bytes((disk / "fill").read_bytes()[:-4096])
        before = tree(disk)
        done = setup(host, *words, "--write", "anna", text="secret\n")
        assert done.returncode == 1 and "nothing is changed" in done.stderr, done
        assert tree(disk) == before
        (disk / "fill").unlink()
        before = tree(disk)
        done = setup(host, *words, "--write", "anna,bob", text="secret\n")
        assert done.returncode == 1 and "bob" in done.stderr, done
        assert tree(disk) == before
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = setup(host, *words, "--write", "nobody")
        assert done.returncode == 1 and "Read-only file system" in done.stderr, done
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        (etc / "users").unlink()
        (etc / "users").mkdir()
        before = tree(disk)
        done = setup(host, *words, "--write", "anna", text="secret\n")
        assert done.returncode == 1 and "nothing is changed" in done.stderr, done
        assert tree(disk) == before
        (etc / "users").rmdir()
        done = setup(host, *words, "--write", "anna", text="secret\n")
        assert done.returncode == 0, done
    # a user without rights is told so, and by whom it can be done
    file = folder / "theirs" / "smb.conf"
    file.parent.mkdir()
    (folder / "shared").mkdir()
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", subject.coax_binary(), "setup", "--folder", folder / "shared",
               "--write", "nobody", "--config", file]
    done = host.run(*command)
    assert done.returncode == 1 and "Permission denied" in done.stderr and "sudo" in done.stderr, done
    assert list(file.parent.iterdir()) == []


class Terminal:
    """coax setup on a terminal of its own."""

    def __init__(self, host, *words):
        self.master, slave = pty.openpty()
        command = host.command([subject.coax_binary(), "setup", *words])
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(slave)
        self.text = ""

    def wait(self, words, seconds=20):
        """Waits for words on the screen, which are new."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            try:
                data = os.read(self.master, 4096) if ready else b""
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"'{words}' does not appear:\n{self.text}")
            self.text += data.decode()
        before, _, self.text = self.text.partition(words)
        return before

    def type(self, text):
        os.write(self.master, (text + "\n").encode())

    def end(self):
        with contextlib.suppress(OSError):
            while data := os.read(self.master, 4096):
                self.text += data.decode()
        os.close(self.master)
        return self.process.wait(20)


def on_a_terminal(net, folder):
    """Four questions; a wrong answer is explained and asked again; passwords are not shown; no leaves everything as it is."""
    host = net.host("tower")
    config = folder / "smb.conf"
    before = tree(folder)
    screen = Terminal(host, "--config", config)
    screen.wait("1. Which folder")
    screen.wait("[/srv/coax]")
    screen.type("/proc/x")
    screen.wait("/proc belongs to the system")
    screen.type(f"{folder}/old")
    screen.wait("2. Who may write")
    screen.type("a:b")
    screen.wait("cannot be a user name")
    screen.type("anna")
    screen.wait("3. Which machines")
    screen.type("")
    screen.wait("4. On which network")
    screen.wait("eth0 (10.77.1.1/24)")
    screen.type("eth7")
    screen.wait("not an interface or network of this machine")
    screen.type("")
    shown = screen.wait("Write this? [Y/n]")
    assert f"path = {folder}/old" in shown and "write list = anna" in shown, shown
    screen.type("n")
    assert screen.end() == 1 and "nothing is changed" in screen.text, screen.text
    assert tree(folder) == before
    screen = Terminal(host, "--config", config, "--folder", f"{folder}/old", "--write", "anna", "--machines", "dos")
    screen.wait("1. On which network")
    screen.type("")
    screen.wait("Write this?")
    screen.type("")
    screen.wait("assword")
    screen.type(PASSWORD)
    end = screen.end()
    assert end == 0 and "NET USE X:" in screen.text and PASSWORD not in screen.text, screen.text
    assert (folder / "users").read_text().startswith("anna:")
    screen = Terminal(host, "--config", config, "--folder", f"{folder}/old", "--write", "nobody", "--machines", "dos", "--network", "all")
    screen.wait("exists. Replace it, and keep it as")
    screen.type("")
    assert screen.end() == 1 and "write list" in config.read_text()


TESTS = [guests_read, users_write, asks_before_it_replaces, a_failure_changes_nothing, on_a_terminal]
