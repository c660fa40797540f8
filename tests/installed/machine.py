"""A Debian 12 machine that boots with systemd in a container, on a network that the test made."""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from peers.install import HOME

PROGRAMS = ("debootstrap", "systemd-nspawn", "nsenter", "dpkg-deb", "smbclient", "nmblookup")
BOOT_LIMIT_S = 180
PACKAGES = "adduser,systemd,systemd-sysv,dbus"


def impossible():
    """Why no machine can be booted here, or None."""
    if os.geteuid() != 0:
        return "only root can boot a container"
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return "not installed: " + ", ".join(missing)
    return None


def fresh_root():
    """A folder with a new Debian 12, made once."""
    root = HOME / "debian12"
    if not root.exists():
        partial = root.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(partial)],
                       check=True, stdout=subprocess.DEVNULL)
        partial.rename(root)
    return root


class Machine:
    """The container. What it writes goes into a layer of its own, which is thrown away."""

    def __init__(self, host):
        self.host = host
        self.folder = Path(tempfile.mkdtemp(prefix="coax-machine-"))
        self.root = self.folder / "root"
        self.process = self.leader = None

    def __enter__(self):
        lower = fresh_root()
        for name in ("root", "upper", "work"):
            (self.folder / name).mkdir()
        try:
            subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                            f"lowerdir={lower},upperdir={self.folder}/upper,workdir={self.folder}/work", str(self.root)], check=True)
            (self.root / "etc" / "hostname").write_text("vintage\n")
            self.boot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def boot(self):
        log = open(self.folder / "console.log", "wb")
        namespace = f"/run/netns/{self.host.namespace}"
        self.process = subprocess.Popen(
            ["systemd-nspawn", "-q", "-D", str(self.root), "--boot", "--register=no", "--keep-unit", "--machine", "debian", 
             f"--network-namespace-path={namespace}", "--resolv-conf=off", "--console=pipe"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            # the container's own filter of system calls is older than some that the service's filter permits
            env={**os.environ, "SYSTEMD_SECCOMP": "0"})
        deadline, state = time.monotonic() + BOOT_LIMIT_S, "nothing"
        while time.monotonic() < deadline and self.process.poll() is None:
            self.leader = self.leader or self.child()
            state = self.run("systemctl", "is-system-running").stdout.strip() if self.leader else ""
            if state in ("running", "degraded"):
                return
            time.sleep(0.3)
        ended = self.process.poll()
        how = f"systemd-nspawn ended with code {ended}" if ended is not None else f"after {BOOT_LIMIT_S} s systemd says {state!r}"
        raise RuntimeError(f"the machine did not boot: {how}\n" + (self.folder / "console.log").read_text(errors="replace")[-2000:])

    def child(self):
        """The first process inside, once it is there."""
        done = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True)
        return int(done.stdout.split()[0]) if done.stdout.split() else None

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            self.process.kill()
            self.process.wait()
        subprocess.run(["umount", "-R", "-l", str(self.root)], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *command, text=""):
        """Runs a command inside and returns it when it ended."""
        inside = ["nsenter", "-t", str(self.leader), "-a", *map(str, command)]
        return subprocess.run(inside, input=text, capture_output=True, text=True, timeout=120, env={"PATH": os.defpath + ":/usr/sbin:/sbin",
                                                                                                    "DEBIAN_FRONTEND": "noninteractive"})

    def must(self, *command, text=""):
        done = self.run(*command, text=text)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def read(self, path):
        return self.must("cat", path)

    def copy_in(self, source, name):
        """Puts a file into the machine's /root."""
        shutil.copy2(source, self.root / "root" / name)
        return f"/root/{name}"
