"""Makes the copy of a scenario between real programs (`perform`, `sized`) and has the referee judge it (`judge`)."""
import collections
import contextlib
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from explain import account, bench, ktrace, programs, referee, scenario, user_space
from explain.bench import DOWN, ENDS, UP

LIMIT_S, SHORTEST_S, LONGEST_S = 40, 0.6, 16.0
STOLEN = 0.05  # share of the copy's time that its processes may have waited for a processor
SAMPLE_NS = 50_000_000
RECORDED = "recorded.json"
LATE_US, LATE, HELD_NS = 20_000, 0.2, 20_000_000  # of the emulator, absolute or of a round trip; of a kernel that could send
FILE, OTHER_FILE = "BIG.BIN", "OTHER.BIN"
PATTERN = bytes((at * 131 + at // 251) % 256 for at in range(64_000))


class Rejected(Exception):
    """The copy says nothing, for instance because a program failed."""


class Busy(Rejected):
    """The copy says nothing, because the machine was too busy."""


@dataclasses.dataclass
class Recorded:
    """A copy that was made; the folder has the captures, the emulator's logs and the kernel's trace."""

    scenario: scenario.Scenario
    folder: Path
    addresses: dict
    kernel: dict
    waited: dict

    def save(self, folder):
        """Moves everything to the folder, to be judged again by `load`."""
        target = Path(folder) / self.scenario.name
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(self.folder, target)
        known = {"scenario": dataclasses.asdict(self.scenario), "addresses": self.addresses, "kernel": self.kernel, "waited": self.waited}
        (target / RECORDED).write_text(json.dumps(known))

    @classmethod
    def load(cls, folder):
        known = json.loads((folder / RECORDED).read_text())
        return cls(scenario.restored(known.pop("scenario")), folder, **known)

    def seconds(self):
        """From the first message to the last, about."""
        times = [message.first for message in bench.messages(self.folder / bench.MESSAGES)]
        return (max(times) - min(times)) / 1e9 if times else 0.0


@dataclasses.dataclass
class Copied:
    """What is known of a copy. Times in nanoseconds since 1970."""

    scenario: scenario.Scenario
    port: int
    begin: int
    end: int
    to_server: bool
    parts: dict
    kernel: dict
    stolen: float
    link: dict
    account: account.Account
    folder: Path

    @property
    def wall_s(self):
        return (self.end - self.begin) / 1e9

    def capture(self, end):
        return self.folder / f"{end}.pcap"

    def truth(self):
        """The JSON beside the captures."""
        of = referee.shares(self.parts)
        sums = lambda name: {way: sum(packet.fate == name for packet in self.account.packets if self.account.own(packet) and packet.way == number)
                             for way, number in (("up", UP), ("down", DOWN))}
        lost, dropped = sums(bench.LOST), sums(bench.QUEUE_DROP)
        return {
            "name": self.scenario.name, "note": self.scenario.text(), "accepted": referee.accepted(self.parts),
            "direction": "to-server" if self.to_server else "to-client", "congestion_control": self.scenario.congestion,
            "server": self.scenario.server, "client": self.scenario.client, "packets_lost": sum(lost.values()),
            "packets_dropped_by_queue": sum(dropped.values()), "stopped_s": 0, "link_busy_share": round(of.get("bandwidth", 0.0), 4),
            "wall_s": self.wall_s, "begin_ns": self.begin, "client_port": self.port,
            "shares": {name: round(value, 5) for name, value in sorted(of.items(), key=lambda item: -item[1])},
            "categories_ns": dict(sorted(self.parts.items(), key=lambda item: -item[1])),
            "stolen_share": round(self.stolen, 4), "emulator": self.link, "kernel_client": self.kernel["client"], "kernel_server": self.kernel["server"],
            "scenario": dataclasses.asdict(self.scenario),
        }


def fill(path, size):
    with open(path, "wb") as file:
        for at in range(0, size, len(PATTERN)):
            file.write(PATTERN[: min(len(PATTERN), size - at)])
    path.chmod(0o666)


def same(path, size):
    """Whether the file is what `fill` writes."""
    if not path.exists() or path.stat().st_size != size:
        return False
    with open(path, "rb") as file:
        return all(file.read(len(PATTERN)) == PATTERN[: min(len(PATTERN), size - at)] for at in range(0, size, len(PATTERN)))


def descendants(pid):
    """The process and all that it started."""
    found, at = [pid], 0
    while at < len(found):
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{found[at]}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        at += 1
    return found


class Watch(threading.Thread):
    """Waiting times of processes for a processor, and their pauses."""

    def __init__(self, pids, stops):
        """`stops`: (pid, milliseconds between stops, milliseconds stopped)."""
        super().__init__(daemon=True)
        self.pids, self.stops, self.over, self.waited = pids, stops, threading.Event(), collections.defaultdict(list)

    def run(self):
        pausing = [threading.Thread(target=self.pause, args=stop, daemon=True) for stop in self.stops]
        for thread in pausing:
            thread.start()
        while not self.over.wait(SAMPLE_NS / 1e9):
            self.sample()
        for thread in pausing:
            thread.join(5)

    def sample(self):
        for pid in self.pids:
            for one in descendants(pid):
                with contextlib.suppress(OSError, ValueError):
                    for task in Path(f"/proc/{one}/task").iterdir():
                        with contextlib.suppress(OSError):
                            self.waited[task.name].append((time.time_ns(), int((task / "schedstat").read_text().split()[1])))

    def pause(self, pid, every_ms, stopped_ms):
        while not self.over.wait(every_ms / 1e3):
            stopped = descendants(pid)
            tell(stopped, signal.SIGSTOP)
            self.over.wait(stopped_ms / 1e3)
            tell(stopped, signal.SIGCONT)

    def stop(self):
        """Of each thread, (time, nanoseconds that it has waited while it could run)."""
        self.over.set()
        self.join(10)
        self.sample()
        return dict(self.waited)


def waited_between(samples, begin, end):
    """The longest that a thread waited for a processor in that time."""
    longest = 0
    for thread in filter(None, samples.values()):
        before = [value for at, value in thread if at <= begin] or [thread[0][1]]
        within = [value for at, value in thread if at <= end + SAMPLE_NS] or before
        longest = max(longest, within[-1] - before[-1])
    return longest


def tell(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def local_files(wanted, folder, running):
    """The client's folder, and (name, size, verb) of each file."""
    local = folder / "local"
    local.mkdir(exist_ok=True)
    files = [(FILE, wanted.bytes, wanted.verb)]
    files += [(OTHER_FILE, wanted.bytes // 2, wanted.beside_verb or wanted.verb)] if wanted.beside else []
    for name, size, verb in files:
        fill((running.folder if verb == "get" else local) / name, size)
    return local, files


def run_clients(wanted, there, running, local, scratch, server_pid):
    """Both clients to their end. Threads' waiting times before and after are in the result."""
    clients = [programs.start_client(wanted, there, running, local / FILE, FILE, scratch)]
    if wanted.beside:
        other = dataclasses.replace(wanted, client=wanted.beside, client_stop=(), client_delay_us=0, block=0, verb=wanted.beside_verb or wanted.verb)
        clients.append(programs.start_client(other, there, running, local / OTHER_FILE, OTHER_FILE, scratch))
    stops = [(clients[0].pid, *wanted.client_stop)] if wanted.client_stop else []
    stops += [(server_pid, *wanted.server_stop)] if wanted.server_stop else []
    watch = Watch([client.pid for client in clients] + [server_pid], stops)
    watch.start()
    deadline, said = time.monotonic() + LIMIT_S, []
    try:
        for client in clients:
            said.append(client.communicate(timeout=max(deadline - time.monotonic(), 0.1))[0])
    except subprocess.TimeoutExpired:
        raise Rejected(f"longer than {LIMIT_S} s") from None
    finally:
        waited = watch.stop()
        for client in clients:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(client.pid, signal.SIGKILL)
            client.wait()
    for client, text in zip(clients, said):
        if client.returncode != 0 or re.search(rb"NT_STATUS_(?!OK)", text):
            raise Rejected(f"{client.args[0]} ended with {client.returncode}: {text[-300:].decode(errors='replace').strip()}")
    return waited


def perform(wanted, folder, scratch):
    """The copy of the scenario. Raises Rejected."""
    setting = {end: {"congestion": wanted.congestion, "tcp_rmem": getattr(wanted, f"{end}_rmem"), "tcp_wmem": getattr(wanted, f"{end}_wmem")}
               for end in ENDS}
    setting["client"]["is_user_space"] = user_space.is_user_space(wanted.client)
    program = bench.build(bench.SOURCE, scratch / "emulator")
    with bench.Bench(folder, program, wanted.ways, wanted.seed % 2**31, setting) as there, contextlib.ExitStack() as stack:
        tracer = stack.enter_context(ktrace.Tracer())
        running = stack.enter_context(programs.server(wanted, there, scratch))
        local, files = local_files(wanted, folder, running)
        before = {end: bench.counters(there.hosts[end]) for end in ENDS}
        with bench.captured(there.hosts, folder, wanted.snap):
            waited = run_clients(wanted, there, running, local, scratch, running.pid)
        kernel = {end: {name: value - before[end][name] for name, value in bench.counters(there.hosts[end]).items()} for end in ENDS}
        wrong = [name for name, size, verb in files if not same((local if verb == "get" else running.folder) / name, size)]
        tracer.stop(folder)
        there.stop()
        addresses = dict(there.addresses)
    if wrong:
        raise Rejected(f"{', '.join(wrong)} is not what was copied")
    shutil.rmtree(local)
    return Recorded(wanted, folder, addresses, kernel, waited)


def judge(recorded):
    """The referee's account. Raises Rejected."""
    wanted, folder, addresses = recorded.scenario, recorded.folder, recorded.addresses
    packets, messages = bench.packets(folder / bench.PACKETS), bench.messages(folder / bench.MESSAGES)
    port = copied_port(messages)
    facts = {UP: {"nodelay": nodelay(wanted, "client"), "paced": int(wanted.congestion == "bbr")},
             DOWN: {"nodelay": nodelay(wanted, "server"), "paced": int(wanted.congestion == "bbr")}}
    known = account.Account(port, packets, messages, *ktrace.read(folder), addresses, facts,
                            {UP: user_space.read(folder)} if user_space.is_user_space(wanted.client) else {})
    try:
        events = known.build()
        begin, end, to_server = known.span()
    except ValueError as error:
        raise Rejected(str(error)) from None
    parts = referee.partition(events, begin, end, to_server)
    if sum(parts.values()) != end - begin:
        raise RuntimeError(f"the referee's sums are not exact: {sum(parts.values())} of {end - begin} ns")
    share = waited_between(recorded.waited, begin, end) / (end - begin)
    late = sorted(packet.late for packet in packets if packet.fate == bench.DELIVERED)
    link = {"packets": len(packets), "late_median_us": late[len(late) // 2] / 1e3, "late_99_us": late[len(late) * 99 // 100] / 1e3}
    held = max((stop - start for start, stop, name in referee.intervals(events, begin, end, to_server) if name.endswith("-stack")), default=0)
    if share > STOLEN:
        raise Busy(f"a process waited {share:.0%} of the time for a processor")
    if link["late_99_us"] > max(LATE_US, wanted.round_trip_s * 1e6 * LATE):
        raise Busy(f"the emulator was up to {link['late_99_us'] / 1e3:.0f} ms late")
    if held > HELD_NS:
        raise Busy(f"the machine did not send for {held / 1e6:.0f} ms")
    return Copied(wanted, port, begin, end, to_server, dict(parts), recorded.kernel, share, link, known, folder)


def nodelay(wanted, end):
    """Whether the program switches Nagle's algorithm off (as strace shows it): by itself, or as the scenario wants it."""
    kind, chosen = getattr(wanted, end), getattr(wanted, f"{end}_nodelay")
    if user_space.is_user_space(kind):
        return int(chosen is not False)
    plain = ("impacket", "pysmb", "apart")
    if kind in plain and end == "client" or kind in ("smbclient", "smbd", "coax"):
        return int(kind not in plain if chosen is None else chosen)
    return int(kind not in ("impacket", "jcifs", "jcifs-ng"))


def copied_port(messages):
    """The client's port of the connection that carried most."""
    size = {}
    for message in messages:
        port = message.sport if message.way == UP else message.dport
        size[port] = size.get(port, 0) + message.len
    if not size:
        raise Rejected("no SMB message was sent")
    return max(size, key=size.get)


def sized(wanted, folder, scratch):
    """The copy, again with another size of file if it lasted too short or too long."""
    for attempt in range(3):
        run = folder / f"{wanted.name}-{attempt}"
        run.mkdir()
        run.chmod(0o755)
        try:
            done = perform(wanted, run, scratch)
        except Rejected as error:
            if "longer" not in str(error) or attempt == 2:
                raise
            wanted = dataclasses.replace(wanted, bytes=max(wanted.bytes // 6, scenario.SMALLEST))
            continue
        seconds = done.seconds()
        if SHORTEST_S <= seconds <= LONGEST_S or attempt == 2:
            return done
        factor = 3.0 / max(seconds, 0.01)
        changed = int(min(max(wanted.bytes * factor, scenario.SMALLEST), scenario.LARGEST))
        if changed == wanted.bytes:
            return done
        wanted = dataclasses.replace(wanted, bytes=changed)
    return done
