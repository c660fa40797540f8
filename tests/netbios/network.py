"""Hosts on Ethernet segments: a network namespace for each host, and one with a bridge for each segment, which also
routes between the segments. Everything goes with the block that made it."""
import contextlib
import os
import shutil
import subprocess
import time

NAMESPACES = "/run/netns"


def impossible():
    """Why there can be no such network here, or None."""
    if os.geteuid() != 0:
        return "only root can create bridges and named network namespaces"
    missing = [program for program in ("ip", "nmbd", "nmblookup", "dumpcap", "tshark") if not shutil.which(program)]
    if missing:
        return "not installed: " + ", ".join(missing)
    try:
        with Network("probe", 1):
            return None
    except subprocess.CalledProcessError as error:
        return f"{' '.join(error.cmd)}: {error.stderr.strip()}"


def run(*command, check=True, **more):
    return subprocess.run([str(word) for word in command], check=check, capture_output=True, text=True, **more)


class Host:
    """One machine: its namespace, its address, and the processes in it."""

    def __init__(self, network, name, segment, number):
        self.network, self.name = network, name
        self.address = f"10.77.{segment}.{number}"
        self.broadcast = f"10.77.{segment}.255"
        self.namespace = f"{network.prefix}-{name}"
        self.processes = []
        device = f"v{network.count}"
        network.count += 1
        run("ip", "netns", "add", self.namespace)
        run("ip", "-n", network.switch, "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        run("ip", "-n", network.switch, "link", "set", device, "master", f"br{segment}", "up")
        self.ip("link set lo up")
        self.ip("link set eth0 up")
        self.ip(f"addr add {self.address}/24 broadcast {self.broadcast} dev eth0")
        self.ip(f"route add default via 10.77.{segment}.254")

    def ip(self, words):
        run("ip", "-n", self.namespace, *words.split())

    def command(self, command):
        return ["ip", "netns", "exec", self.namespace, *map(str, command)]

    def run(self, *command, check=False, **more):
        return run(*self.command(command), check=check, timeout=60, **more)

    def start(self, *command, output=subprocess.DEVNULL):
        # smbd signals its process group when it stops
        process = subprocess.Popen(self.command(command), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        self.processes.append(process)
        return process

    def stop(self, process, kill=False):
        process.kill() if kill else process.terminate()
        process.wait(30)
        self.processes.remove(process)


class Network:
    """A switch with segments 1 to `segments`, and hosts that join them."""

    def __init__(self, name, segments):
        self.prefix = f"cx{os.getpid()}{name}"
        self.switch = f"{self.prefix}-sw"
        self.segments, self.hosts, self.count = segments, [], 0
        self.captures = []

    def __enter__(self):
        try:
            run("ip", "netns", "add", self.switch)
            for segment in range(1, self.segments + 1):
                # without snooping, and forwarding at once
                run("ip", "-n", self.switch, "link", "add", f"br{segment}", "type", "bridge", "forward_delay", "0")
                run("ip", "-n", self.switch, "addr", "add", f"10.77.{segment}.254/24", "dev", f"br{segment}")
                run("ip", "-n", self.switch, "link", "set", f"br{segment}", "up")
            run("ip", "netns", "exec", self.switch, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        except subprocess.CalledProcessError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            for process in list(host.processes):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    host.stop(process)
        for name in [host.namespace for host in self.hosts] + [self.switch]:
            if os.path.exists(f"{NAMESPACES}/{name}"):
                run("ip", "netns", "del", name, check=False)

    def host(self, name, segment=1, number=None):
        host = Host(self, name, segment, number or len(self.hosts) + 1)
        self.hosts.append(host)
        return host

    @contextlib.contextmanager
    def capturing(self, path, segment=1):
        """dumpcap on a segment, for NetBIOS over TCP/IP."""
        wanted = "udp port 137 or udp port 138 or tcp port 139"
        command = ["ip", "netns", "exec", self.switch, "dumpcap", "-q", "-i", f"br{segment}", "-f", wanted, "-w", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if line.startswith("File:"):  # it says so once it captures
                break
        try:
            yield
        finally:
            time.sleep(0.5)  # the last packets are still in the kernel's buffer
            process.terminate()
            process.stderr.read()
            process.wait(20)


def wait_for(condition, what, seconds=60):
    """Waits until `condition` returns something true, which is returned."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not seen within {seconds} s: {what}")
        time.sleep(0.1)
