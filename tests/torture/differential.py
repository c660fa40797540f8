"""coax and smbd as the two servers of smbtorture's differential judges, on two loopback addresses and one port.

gentest sends the same random operations to both and stops at the first difference; locktest does so with byte-range
locks. Both then shrink the sequence to the shortest that still differs.
"""
import contextlib
import re
import socket
import subprocess
from pathlib import Path

from peers import subject

ADDRESSES = ("127.0.0.1", "127.0.0.2")
# what differs by nature: EAs and ACLs depend on the file system, and change notification on timing
IGNORED = Path(__file__).parent / "gentest-ignore.txt"
GENTEST = ["--noeas", "--noacls", "--valid", "--fast", f"--ignore={IGNORED}"]


def same_ports():
    """One pair of ports that is free on both addresses: the judges take only one port for both servers."""
    if subject.OWN_NAMESPACE:
        return (139, 445)
    for _ in range(100):
        nbt, direct = subject.free_port(ADDRESSES[0]), subject.free_port(ADDRESSES[0])
        with contextlib.suppress(OSError):
            for port in (nbt, direct):
                with socket.socket() as probe:
                    probe.bind((ADDRESSES[1], port))
            return (nbt, direct)
    raise RuntimeError("no port is free on both addresses")


def run(tool, first, second, operations, seed, extra=(), timeout_s=600):
    """0 when nothing differed, 1 when something did. The judge's words go to the terminal."""
    ports = same_ports()
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(subject.start(kind, host=host, wanted_ports=ports))
            for kind, host in zip((first, second), ADDRESSES)
        ]
        command = [tool, *(f"//{server.host}/{server.share}" for server in servers)]
        command += [f"--user{n}={server.user}%{server.password}" for n, server in enumerate(servers, 1)]
        command += ["-s", "/dev/null", f"--option=smb ports={ports[1]}", "--option=client min protocol=CORE"]
        command += ["--option=client max protocol=NT1", f"--num-ops={operations}", f"--seed={seed}"]
        command += GENTEST if tool == "gentest" else []
        print(f"{tool}: {first} is 1, {second} is 2; {operations} operations, seed {seed}", flush=True)
        return judge(tool, command + list(extra), timeout_s)


def seeds_folder():
    """gentest writes the seeds it used into the folder it runs in."""
    folder = subject.ROOT / "target" / "torture"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def judge(tool, command, timeout_s):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=timeout_s, cwd=seeds_folder())
    except subprocess.TimeoutExpired:
        print(f"{tool}: no verdict after {timeout_s} s")
        return 1
    output = re.sub(r"(lpcfg_do_global_parameter|WARNING: no network interfaces).*\n", "", done.stdout + done.stderr)
    print(output[-6000:])
    return 1 if done.returncode != 0 or re.search(r"inconsistent|Mismatch|Failed at operation", output) else 0
