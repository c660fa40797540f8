"""The machines of a test: coax and Samba's nmbd, each in its host."""
import json
import re

from peers import subject


class Coax:
    """`coax serve` with one share."""

    def __init__(self, host, scratch, name, workgroup="LAB", globals_="", capture=True):
        self.host, self.name = host, name
        folder = scratch / f"{name}-share"
        folder.mkdir(exist_ok=True)
        conf, self.log = scratch / f"{name}.conf", scratch / f"{name}.json"
        self.database = scratch / f"{name}-wins" / "wins.dat"
        conf.write_text(f"[global]\nnetbios name = {name}\nworkgroup = {workgroup}\nserver string = coax {name}\n"
                        f"map to guest = Bad User\ncoax:wins database = {self.database}\n{globals_}\n"
                        f"[FILES]\npath = {folder}\nguest ok = yes\ncomment = files of {name}\n")
        self.arguments = [subject.coax_binary(), "serve", "--config", conf, "--json"]
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "wb") as log:
            self.process = self.host.start(*self.arguments, output=log)
        return self

    def stop(self, kill=False):
        self.host.stop(self.process, kill)

    def events(self):
        lines = self.log.read_text(errors="replace").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def notices(self):
        return [event.get("text", "") for event in self.events()]

    def said(self, pattern):
        """The first notice that matches."""
        return next((text for text in self.notices() if re.search(pattern, text)), None)


class Nmbd:
    """Samba's nmbd."""

    def __init__(self, host, scratch, name, workgroup="LAB", globals_="", smbd=False):
        self.host, self.name = host, name
        self.folder = scratch / f"{name}-samba"
        for part in ("private", "lock", "state", "cache", "pid", "ncalrpc", "log"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        self.conf = self.folder / "smb.conf"
        folders = "".join(f"{key} = {self.folder / part}\n" for key, part in (
            ("private dir", "private"), ("lock directory", "lock"), ("state directory", "state"),
            ("cache directory", "cache"), ("pid directory", "pid"), ("ncalrpc dir", "ncalrpc"),
            # by default, all nmbd of a machine share one folder, and if two start together, one of them exits
            ("nmbd:socket dir", "socket")))
        self.conf.write_text(
            f"[global]\nnetbios name = {name}\nworkgroup = {workgroup}\nserver string = samba {name}\n"
            f"interfaces = {host.address}/24\nbind interfaces only = yes\nserver min protocol = CORE\n"
            f"map to guest = Bad User\nlog file = {self.folder}/log/%m.log\nlog level = 3\n"
            f"load printers = no\ndisable spoolss = yes\n{folders}{globals_}\n")
        self.processes = []
        self.start(smbd)

    def start(self, smbd=False):
        programs = ["nmbd"] + (["smbd"] if smbd else [])
        for program in programs:
            command = [program, "--foreground", "--no-process-group", f"--configfile={self.conf}"]
            with open(self.folder / f"{program}.out", "wb") as output:
                self.processes.append(self.host.start(*command, output=output))
        return self

    def listed(self):
        """The names in nmbd's browse list, which it writes once in a while."""
        file = self.folder / "cache" / "browse.dat"
        return set(re.findall(r'^"([^"]+)"', file.read_text(), re.MULTILINE)) if file.exists() else set()

    def announcements(self, name):
        """Lines of the log about announcements of a server."""
        log = (self.folder / "log" / "log.nmbd")
        texts = [path.read_text(errors="replace") for path in (log, log.with_name("nmbd.log")) if path.exists()]
        return re.findall(rf"process_host_announce: .* for server {name}\.", "\n".join(texts))

    def stop(self, kill=False):
        for process in self.processes:
            self.host.stop(process, kill)
        self.processes = []


def nmblookup(host, scratch, *words):
    """Output of nmblookup on a host."""
    conf = scratch / f"nmblookup-{host.name}.conf"
    if not conf.exists():
        conf.write_text(f"[global]\ninterfaces = {host.address}/24\nbind interfaces only = yes\n"
                        f"lock directory = {scratch}\ncache directory = {scratch}\nstate directory = {scratch}\n")
    return host.run("nmblookup", f"--configfile={conf}", *words).stdout


def lookup(host, *words):
    """The report of `coax lookup` on a host."""
    done = host.run(subject.coax_binary(), "lookup", "--json", "--resolve", "lmhosts,wins,bcast", *words)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)
