"""The servers and clients of a scenario, as processes in the namespaces of a bench."""
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from client import servers
from explain import user_space
from explain.bench import build
from explain.rig import inside
from peers import install, subject

HERE = Path(__file__).resolve().parent
JCIFS = {"jcifs": "jcifs13", "jcifs-ng": "jcifsng"}
SMB1_ONLY = {"jcifs.smb.client.minVersion": "SMB1", "jcifs.smb.client.maxVersion": "SMB1", "jcifs.smb.client.disableSMB1": "false"}


def socket_options(nodelay, rcvbuf, sndbuf):
    parts = [f"TCP_NODELAY={int(nodelay)}"] if nodelay is not None else []
    parts += [f"SO_RCVBUF={rcvbuf}"] if rcvbuf else []
    parts += [f"SO_SNDBUF={sndbuf}"] if sndbuf else []
    return " ".join(parts)


def slow_files(scratch, read_us, write_us, sync_us):
    """Environment that makes files slow for a program of libc."""
    wanted = {"SLOW_READ_US": read_us, "SLOW_WRITE_US": write_us, "SLOW_SYNC_US": sync_us}
    wanted = {name: str(value) for name, value in wanted.items() if value}
    if not wanted:
        return {}
    library = build(HERE / "slow_files.c", scratch / "slow_files.so", "-shared", "-fPIC")
    return {"LD_PRELOAD": str(library), **wanted}


@contextlib.contextmanager
def environment(more):
    """This process's environment with more in it: servers are started by functions that pass on what they have."""
    os.environ.update(more)
    try:
        yield
    finally:
        for name in more:
            os.environ.pop(name, None)


@contextlib.contextmanager
def urgent():
    """What is started here runs before all ordinary processes of the machine, so that they do not delay it."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@contextlib.contextmanager
def server(scenario, bench, scratch):
    """The scenario's server in the namespace of the bench's second host."""
    host = bench.addresses["server"]
    options = socket_options(scenario.server_nodelay, scenario.server_rcvbuf, scenario.server_sndbuf)
    globals_ = {"socket options": options} if options else {}
    if scenario.max_xmit:
        globals_["max xmit"] = str(scenario.max_xmit)
    if not scenario.large_requests:
        globals_["large readwrite"] = "no"
    if not scenario.raw:
        globals_ |= {"read raw": "no", "write raw": "no"}
    if scenario.signing:
        globals_["server signing"] = "mandatory"
    elif not scenario.offer_signing:
        globals_["server signing"] = "disabled"
    if scenario.server == "smbd":
        globals_ |= {"aio read size": "0", "aio write size": "0"}
    share = {"strict sync": "yes", "sync always": "yes"} if scenario.sync else {}
    if not scenario.strict_sync:
        share["strict sync"] = "no"
    slow = slow_files(scratch, scenario.server_read_us, scenario.server_write_us, scenario.server_sync_us)
    with inside(bench.hosts["server"]), environment(slow), contextlib.ExitStack() as priority:
        priority.enter_context(urgent())
        if scenario.server in ("smbd", "coax"):
            running = subject.start(scenario.server, bench.folder, host=host, wanted_ports=(139, 445), globals_=globals_, share=share)
        else:
            running = servers.start(scenario.server, host=host, direct=445)
        with running as subject_:
            for name in slow:
                os.environ.pop(name, None)
            priority.close()
            yield subject_


def compile_java(scratch):
    """CopyClient for both generations of jcifs."""
    for generation in JCIFS.values():
        classes = scratch / "classes" / generation
        if (classes / "CopyClient.class").exists():
            continue
        classes.mkdir(parents=True, exist_ok=True)
        sources = [HERE / "CopyClient.java", install.JAVA_SOURCES / generation / "Opener.java"]
        subprocess.run(["javac", "-nowarn", "-cp", f"{install.JARS / generation}/*", "-d", classes, *sources], check=True)


def client_command(scenario, running, local, remote, scratch):
    """The command of the scenario's client."""
    user = f"{running.user}:{running.password}"
    root = f"smb://{user}@{running.host}/{running.share}"
    kind = scenario.client
    if kind == "smbclient":
        options = socket_options(scenario.client_nodelay, scenario.client_rcvbuf, scenario.client_sndbuf)
        more = [f"--option=socket options={options}"] if options else []
        more += ["--option=client signing=required"] if scenario.signing else []
        # smbclient's own request size; 0 is the largest that the server takes
        more += ["-b", str(scenario.block)] if scenario.block else []
        words = f"get {remote} {local}" if scenario.verb == "get" else f"put {local} {remote}"
        return ["smbclient", f"//{running.host}/{running.share}", "-s", "/dev/null", "-U", user.replace(":", "%"), "-m", "NT1", "-p", "445",
                "--option=client min protocol=NT1", *more, "-c", words]
    if kind == "curl":
        url = f"smb://{running.host}/{running.share}/{remote}"
        limit = ["--limit-rate", str(scenario.client_rate)] if scenario.client_rate else []
        return ["curl", "-sS", "-u", user, *limit, *(["-o", local, url] if scenario.verb == "get" else ["-T", local, url])]
    if kind in ("impacket", "pysmb", "apart"):
        job = {"library": kind, "verb": scenario.verb, "host": running.host, "user": running.user, "password": running.password,
               "share": running.share, "remote": remote, "local": str(local), "delay_s": scenario.client_delay_us / 1e6,
               "block": scenario.block, "nodelay": scenario.client_nodelay}
        return [str(install.VENV / "bin" / "python"), str(HERE / "copy_client.py"), json.dumps(job)]
    if kind in JCIFS:
        return java_command(scenario, running, local, remote, scratch)
    command = [subject.coax_binary(), scenario.verb, "--as", kind, "--allow-weak", "--called", running.name, "--transport", "direct"]
    command += ["--sign"] if scenario.signing else []
    return [*command, f"{root}/{remote}", local] if scenario.verb == "get" else [*command, local, f"{root}/{remote}"]


def java_command(scenario, running, local, remote, scratch):
    generation = JCIFS[scenario.client]
    login = f"{running.user}:{running.password}@" if generation == "jcifs13" else ""
    settings = {"jcifs.resolveOrder": "DNS", "jcifs.smb.client.responseTimeout": "60000", "driver.user": running.user,
                "driver.password": running.password, **(SMB1_ONLY if generation == "jcifsng" else {})}
    if scenario.client_rcvbuf:
        settings["jcifs.smb.client.rcv_buf_size"] = str(scenario.client_rcvbuf)
    if scenario.client_sndbuf:
        settings["jcifs.smb.client.snd_buf_size"] = str(scenario.client_sndbuf)
    path = f"{scratch / 'classes' / generation}:{install.JARS / generation}/*"
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *(f"-D{key}={value}" for key, value in settings.items()), "-cp", path,
            "CopyClient", scenario.verb, f"smb://{login}{running.host}:445/{running.share}/{remote}", str(local),
            str(scenario.client_delay_us // 1000), str(scenario.block or 65536)]


def start_client(scenario, bench, running, local, remote, scratch):
    # curl and smbclient have no delay of their own: their local files do
    slow = {}
    if scenario.client in ("curl", "smbclient") and scenario.client_delay_us:
        slow = slow_files(scratch, *((0, scenario.client_delay_us) if scenario.verb == "get" else (scenario.client_delay_us, 0)), 0)
    stdin, is_user_space = subprocess.DEVNULL, user_space.is_user_space(scenario.client)
    if is_user_space:
        stdin, command = bench.hosts["client"].stack, user_space.command(scenario, bench, running, local, remote, scratch)
    else:
        command = client_command(scenario, running, local, remote, scratch)
    with inside(bench.hosts["client"]), urgent():
        return subprocess.Popen(list(map(str, command)), stdin=stdin,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **slow}, start_new_session=True)


def lacking(kinds):
    """Which of these servers and clients cannot run here."""
    missing = set(install.missing_peers())
    needs = {"jcifs": "jcifs13", "jcifs-ng": "jcifsng"}
    return {kind for kind in kinds if needs.get(kind, kind) in missing} | user_space.lacking()
