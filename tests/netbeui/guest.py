"""A guest with Debian's kernel and its module llc2, in QEMU without hardware support. Its only network is a pair of UNIX datagram
sockets that carry Ethernet frames, and each line of its serial console is a command."""
import hashlib
import os
import queue
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("PEERS_DIR", HERE.parents[1] / "target" / "peers")) / "llc2"
MAC = "52:54:00:00:00:02"
PACKAGES = ("qemu-system-x86_64", "gcc", "cpio", "dpkg-deb", "apt-get", "apt-cache")
MODULES = ("virtio_pci", "virtio_net", "llc2")
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev
/bin/busybox --install -s /bin
export PATH=/bin:/
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules/list); do insmod /modules/$module.ko; done
until [ -e /sys/class/net/eth0 ]; do usleep 50000; done
ip link set eth0 up
stty -echo -F /dev/ttyS0
echo ready $(uname -r)
while read -r line; do sh -c "$line" </dev/null; echo done $?; done
poweroff -f
"""


def impossible():
    missing = [program for program in PACKAGES if not shutil.which(program)]
    return "not installed: " + ", ".join(missing) if missing else None


class Unavailable(Exception):
    """The kernel cannot be installed."""


def run(*command, cwd=None, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=cwd, **more).stdout


def package(name, folder):
    """Unpacks a Debian package of the system's sources."""
    try:
        run("apt-get", "-q", "download", name, cwd=folder)
        run("dpkg-deb", "-x", *folder.glob(f"{name}_*.deb"), folder / "tree")
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{name}: {error.stderr.decode(errors='replace').strip()[-300:]}") from error


def kernel_package():
    text = run("apt-cache", "depends", "linux-image-amd64").decode()
    found = re.search(r"Depends: (linux-image-\d\S*)", text)
    if not found:
        raise Unavailable("apt knows no linux-image-amd64; run apt-get update")
    return found[1]


def with_dependencies(tree, names):
    """Files of kernel modules, each behind those that it needs."""
    order = []

    def add(name):
        files = [file for file in tree.rglob("*.ko") if file.stem.replace("-", "_") == name]
        if not files:
            return  # built into the kernel
        needs = re.search(rb"\0depends=([^\0]*)\0", files[0].read_bytes())
        for other in filter(None, needs[1].decode().split(",") if needs else []):
            add(other.replace("-", "_"))
        if files[0] not in order:
            order.append(files[0])

    for name in names:
        add(name)
    return order


def build():
    """Kernel and initial file system, made once; a change of the programs makes them anew."""
    mark = hashlib.sha256(INIT.encode() + (HERE / "llc_guest.c").read_bytes()).hexdigest()
    kernel, initrd, marked = FOLDER / "vmlinuz", FOLDER / "initrd", FOLDER / "mark"
    if marked.exists() and marked.read_text() == mark:
        return kernel, initrd
    shutil.rmtree(FOLDER, ignore_errors=True)
    root = FOLDER / "root"
    (root / "modules").mkdir(parents=True)
    (root / "bin").mkdir()
    for name in (kernel_package(), "busybox-static"):
        package(name, FOLDER)
    modules = with_dependencies(FOLDER / "tree" / "lib" / "modules", MODULES)
    for module in modules:
        shutil.copy(module, root / "modules" / f"{module.stem}.ko")
    (root / "modules" / "list").write_text("\n".join(module.stem for module in modules))
    busybox = [file for file in (FOLDER / "tree").rglob("busybox") if file.is_file() and os.access(file, os.X_OK)]
    shutil.copy(busybox[0], root / "bin" / "busybox")
    run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o", root / "llc_guest", HERE / "llc_guest.c")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    initrd.write_bytes(run("cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet", cwd=root, input=names.encode()))
    shutil.copy(next((FOLDER / "tree" / "boot").glob("vmlinuz-*")), kernel)
    shutil.rmtree(FOLDER / "tree")
    for archive in FOLDER.glob("*.deb"):
        archive.unlink()
    marked.write_text(mark)
    return kernel, initrd


class Silent(AssertionError):
    """Not a word from the guest. Its program waits no longer than 25 s for anything, so its kernel is not running."""


class Guest:
    """The running guest; frames go to and come from the sockets `guest` and `host` in `folder`, and into `capture`."""

    def __init__(self, folder, capture):
        kernel, initrd = build()
        self.sockets = folder / "host", folder / "guest"
        self.socket = self.sockets[1]
        net = f"dgram,id=n0,local.type=unix,local.path={self.sockets[1]},remote.type=unix,remote.path={self.sockets[0]}"
        # without no_timer_check the kernel panics if this machine is so busy that the first ticks come late
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "tcg", "-m", "128", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio",
             "-kernel", kernel, "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1 ipv6.disable=1 no_timer_check", "-netdev", net,
             "-device", f"virtio-net-pci,netdev=n0,mac={MAC},romfile=", "-object", f"filter-dump,id=d0,netdev=n0,file={capture}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.lines, self.heard = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()
        try:
            self.kernel = self.wait(r"^ready (\S+)", 120)[1]
        except Silent:
            self.process.kill()
            raise

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode(errors="replace").rstrip())

    def wait(self, pattern, seconds=40):
        """The next line that matches."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise Silent(f"the guest said no {pattern} within {seconds} s; its last lines: {self.heard[-8:]}") from None
            self.heard.append(line)
            if found := re.search(pattern, line):
                return found

    def start(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
