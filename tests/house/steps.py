"""The steps of `scripts/test`, by tier."""
import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

from explain import ktrace
from installed import image, machine
from lab import link
from netbeui import guest

ROOT = Path(__file__).resolve().parents[2]
QUICK, CI, LONG = "quick", "ci", "long"
TIERS = {
    QUICK: "needs the Rust toolchain and Python only",
    CI: "installs and runs independent clients, servers and analysers",
    LONG: "takes long or needs an idle machine",
}
WORKSPACE = ["--locked", "--workspace"]


@dataclasses.dataclass
class Step:
    """A command of the test program."""

    key: str
    title: str
    tier: str
    command: list
    limit_s: int
    arguments: tuple = ()  # replaced by the words behind `--`
    impossible: object = lambda: None  # the reason why the step cannot run here, or None
    after: tuple = ()  # steps that must have passed, as far as they are part of the run
    cargo: bool = False  # it builds: only one such step runs at a time
    alone: bool = False  # it measures time: no other step runs beside it
    load: float = 1  # how many processors it keeps busy; less than one if it mostly waits for a network or a clock
    namespace: bool = False  # it needs free ports 137, 139 and 445
    environment: dict = dataclasses.field(default_factory=dict)

    def full_command(self, arguments=None):
        command = [*self.command, *(self.arguments if arguments is None else arguments)]
        if command[0] == "python":
            command[0] = interpreter()
        if self.namespace and not self.environment.get("COAX_PEERS_NO_NAMESPACE"):
            return [str(ROOT / "scripts" / "lib" / "in-namespace"), *command]
        return command


def module(name):
    return ["python", "-m", name]


def interpreter():
    """The Python with the peers' packages. On a fresh machine the step "install" creates it during the run."""
    peers = Path(os.environ.get("PEERS_DIR", ROOT / "target" / "peers")) / "venv" / "bin" / "python"
    return str(peers) if peers.exists() else sys.executable


def no_tshark():
    return None if shutil.which("tshark") else "tshark is not installed"


def no_root():
    return None if os.geteuid() == 0 else "only root can create the second Unix account that smbd needs"


def no_cable():
    missing = [program for program in ("ip", "tcpdump", "tshark", "setpriv") if not shutil.which(program)]
    if missing:
        return "not installed: " + ", ".join(missing)
    return None if os.geteuid() == 0 else "only root can create network namespaces"


def no_doctor():
    missing = [program for program in ("nft", "iptables", "nmbd", "smbd", "nc.openbsd", "setfacl", "setpriv") if not shutil.which(program)]
    if missing:
        return "not installed: " + ", ".join(missing)
    return None if os.geteuid() == 0 else "only root can create network namespaces"


def no_browser():
    missing = [program for program in ("chromium", "chromedriver") if not shutil.which(program)]
    return "not installed: " + ", ".join(missing) if missing else None


def no_package(*names):
    peers = Path(os.environ.get("PEERS_DIR", ROOT / "target" / "peers")) / "venv" / "bin" / "python"
    found = subprocess.run([str(peers), "-c", "import " + ", ".join(names)], capture_output=True) if peers.exists() else None
    return None if found and found.returncode == 0 else "not installed: " + ", ".join(names)


def no_node():
    return None if shutil.which("node") else "not installed: node"


def no_mdbook():
    tools = Path(os.environ.get("COAX_PACKAGE_TOOLS", ROOT / "target" / "package-tools")) / "bin"
    if shutil.which("mdbook") or shutil.which("mdbook", path=tools):
        return None
    return "mdbook is not installed (cargo install mdbook --locked)"


def peer(key, title, name, limit_s=300, arguments=(), tier=CI, after=("install", "build"), **more):
    return Step(key, title, tier, module(name), limit_s, arguments, after=after, **more)


def real(key, title, name, arguments=()):
    """A comparison with the kernel over an emulated link, which delays packets in real time."""
    return peer(key, title, name, 3600, arguments, LONG, ("release",), impossible=link.impossible, alone=True,
                environment={"COAX_PROFILE": "release"})


def bench(name, title, source):
    return Step(f"bench-{name}", title, LONG, module(source), 1800, namespace=name in ("server", "client"),
                after=("release",), alone=True, environment={"COAX_PROFILE": "release"})


STEPS = [
    Step("install", "installation of peers", CI, ["scripts/install-peers"], 900),
    Step("format", "formatting", QUICK, ["cargo", "fmt", "--all", "--check"], 120),
    Step("rules", "house rules", QUICK, module("house.rules"), 300),
    Step("licences", "licences of dependencies", QUICK, module("house.licences"), 120),
    Step("links", "the checks of links find faults; a step that does not end is ended", QUICK,
         module("unittest") + ["-q", "house.test_links", "house.test_limited", "house.test_main", "house.test_rules"], 60),
    Step("explain-referee", "rules of the referee for real copies, and their page", QUICK, module("unittest") + ["-q", "explain.test_referee", "explain.test_page"], 120),
    # only one of those that build runs at a time, so they come before those that can run beside them
    Step("build", "binaries for the steps below", CI, ["cargo", "build", "-q", *WORKSPACE, "--bins", "--examples"], 1800, cargo=True),
    Step("tests", "unit, scenario and structure tests", QUICK, ["cargo", "test", "--no-fail-fast", *WORKSPACE, "--lib", "--bins", "--tests"],
         2400, after=("install",), cargo=True),
    Step("packages", "debug builds of the packages that the next steps use", CI, ["scripts/package", "deb", "image", "web", "--skip-unavailable"], 1800,
         after=("install", "build"), cargo=True, environment={"COAX_PACKAGE_PROFILE": "dev"}),
    Step("wheel", "the Python package for the next step", CI, ["scripts/package", "wheel", "--skip-unavailable"], 900, after=("build",), cargo=True,
         environment={"COAX_WHEEL_PROFILE": "dev"}),
    Step("lints", "compiler and clippy warnings", QUICK,
         ["cargo", "clippy", "-q", *WORKSPACE, "--all-targets", "--", "-D", "warnings"], 900, cargo=True),
    Step("doctests", "examples in the documentation", CI, ["cargo", "test", "-q", *WORKSPACE, "--doc"], 600,
         after=("build",), cargo=True),
    Step("exhaustive", "more cases of the tests that need bounded time", CI,
         ["cargo", "test", "-q", *WORKSPACE, "--test", "all", "hostile::", "--", "--ignored"], 900, after=("tests",), cargo=True),
    Step("documentation", "rustdoc without warnings", CI, ["cargo", "doc", "-q", *WORKSPACE, "--no-deps"], 600,
         cargo=True, environment={"RUSTDOCFLAGS": "-D warnings"}),
    Step("no-std", "builds for a target without std", CI, module("house.no_std"), 900, after=("build",), cargo=True),
    Step("simulation", "the simulation finds known defects", CI, ["scripts/simulation-proof"], 1200, after=("build",), cargo=True),
    Step("samples", "sample outputs in the documents are current", CI, module("samples.main"), 600, after=("build",)),
    Step("guides", "links of all pages; commands and messages in the guides", CI, module("house.guides"), 120, after=("build",)),
    Step("site", "the documentation's site: every page, link and anchor, nothing from other hosts", CI, module("house.site"), 120,
         impossible=no_mdbook),
    peer("site-browser", "the site in a browser: light, dark, on a phone, without a network", "browser.site", 300, after=("install", "site"),
         impossible=lambda: no_mdbook() or no_browser()),
    Step("package", "packages of the libraries", CI, module("house.package"), 300, after=("build",), load=0.25),
    peer("netbios", "NetBIOS names and WINS among coax, nmbd and others", "netbios.main",
         arguments=("--only", "names,coax_serves,both_are_coax,coax_is_master"), impossible=no_root, load=0.25),
    peer("netbios-domain", "browse lists of two networks, coax as domain master and local master", "netbios.main", arguments=("--only", "both_coax"),
         impossible=no_root, load=0.25),
    peer("netbios-users", "messages and domain log-ons beside smbclient, smbd and nmbd", "netbios.main",
         arguments=("--only", "messages,logons"), impossible=no_root, load=0.25),
    peer("torture", "smbtorture: tests that must pass", "torture.main", 900, ("--ci",), namespace=True),
    peer("peers", "independent clients and dialects", "peers.main", 600, ("--why",), namespace=True),
    peer("peers-ephemeral", "the same on ephemeral ports", "peers.main", 300, ("--only", "smbclient,raw,pysmb"),
         environment={"COAX_PEERS_NO_NAMESPACE": "1"}),
    peer("authorization", "access decisions beside smbd", "peers.authorization", impossible=no_root),
    peer("client", "client against independent servers and faults", "client.main"),
    peer("profiles", "redirectors against servers", "profiles.main", 300, ("--ci",)),
    peer("referee", "tshark finds no malformed packet", "peers.referee", 600, namespace=True),
    peer("speed", "raw TCP speed with netcat", "speed.main"),
    peer("isolation", "a client in trouble does not disturb others", "isolation.main"),
    peer("netbeui", "NetBEUI over a virtual cable, read by tshark", "netbeui.main", impossible=no_cable, load=0.25),
    peer("netbeui-llc", "LLC beside Linux's llc2 in QEMU", "netbeui.llc2", 300, impossible=guest.impossible, load=0.25),
    peer("ipx", "IPX in four frame types, with a client of its own, read by tshark", "ipx.main", 600, impossible=no_cable, load=0.5),
    peer("doctor", "coax doctor finds faults made for real; coax setup writes what is served, or nothing", "doctor.main", 600, impossible=no_doctor, load=0.25),
    peer("durability", "kills, power cuts and syncs", "durability.main", load=0.5),
    peer("pacing", "bursts that an old card can take", "pacing.main", 300, ("--ci",), impossible=link.impossible, load=0.25),
    peer("homes", "[homes] as smbclient sees it", "homes.main"),
    peer("faults", "faults of coax serve --fault with independent clients", "developers.faults", load=0.25),
    peer("audit", "the audit log of smbclient's operations; a full disk, a syslog daemon that stops", "audit.main", 180, impossible=no_root),
    peer("live", "the server's account of copies beside explain", "live.main", 300, impossible=link.impossible, load=0.25),
    peer("page", "the page of a running server in Chromium; what it refuses", "page.main", 300,
         impossible=lambda: no_browser() or no_package("prometheus_client"), load=0.5),
    peer("writing", "the page for authors of clients is current; its messages work with smbd", "developers.writing", impossible=no_root),
    peer("action", "steps of the GitHub Action", "developers.action", load=0.25),
    peer("replay", "captures played against coax and smbd", "developers.replays", impossible=no_root),
    peer("decode", "fields of messages beside tshark", "decode.main"),
    peer("batch", "DuckDB reads the tables of many captures", "batch.main", impossible=lambda: no_package("duckdb")),
    peer("explain-wild", "explain beside tcptrace and tshark", "explain.wild", 600),
    peer("explain-slow", "explain on slow operations between real programs", "explain.slow", 300,
         impossible=lambda: no_root() or (None if shutil.which("tcpdump") else "tcpdump is not installed"), load=0.25),
    peer("explain-netbios", "explain on copies over NetBEUI and IPX with known faults, beside tshark", "explain.netbios", 300, impossible=no_cable, load=0.25),
    peer("explain-schema", "explain's JSON is valid by its schema", "explain.schema", 300),
    peer("explain-copies", "copies between real programs beside the referee", "explain.fixed", 300,
         impossible=lambda: link.impossible() or ktrace.impossible(), load=0.5),
    peer("lab-captures", "tshark reads the lab's captures", "lab.captures", impossible=no_tshark),
    peer("lab-stations", "NetBEUI and IPX in the lab have the frames of real copies", "lab.stations", 300, impossible=no_cable, load=0.25),
    peer("lab-indices", "samples and sensitivity indices beside SciPy and SALib", "lab.indices", impossible=lambda: no_package("duckdb", "SALib")),
    peer("lab-kernel", "the lab and the kernel's TCP copy the same bytes", "lab.real", 300, ("--small",), impossible=link.impossible),
    peer("lab-fit", "lab fit from two real copies", "lab.fit", 300, ("--small",), impossible=lambda: link.impossible() or no_root(), load=0.5),
    peer("browser", "pages in a browser", "browser.main", 600, impossible=no_browser),
    peer("installed", "the Debian package and coax setup on a fresh Debian 12", "installed.main", 900, ("--built",), after=("packages",),
         impossible=machine.impossible),
    peer("image", "the container image without root", "installed.image", 300, ("--built",), after=("packages",),
         impossible=image.impossible, namespace=True),
    peer("web", "the web page beside the program, in node and Chromium", "web.main", 600, after=("packages", "build"), impossible=lambda: no_browser() or no_node()),
    peer("python", "the Python package in a fresh environment without Rust", "python.main", 900, after=("wheel", "build")),
    peer("scale", "examples of many machines: xargs, Slurm's array script", "scale.main", 600, after=("build",)),
    peer("notebook", "the notebook runs without an error", "python.notebook", 900, after=("wheel", "build")),
    Step("fuzz", "fuzz targets, 2 s each", CI, ["scripts/fuzz"], 600, ("--seconds", "2"), after=("build",)),
    Step("packages-dist", "packages as they are published, and their sizes", LONG, ["scripts/package", "deb", "image", "web", "--skip-unavailable"], 3600,
         after=("installed", "image", "web"), cargo=True),
    Step("release", "release build", LONG, ["cargo", "build", "-q", "--release", "--locked", "-p", "coax"], 1800, cargo=True),
    Step("readme", "the README's first command", LONG,
         ["cargo", "run", "-q", "--release", "--locked", "--", "serve", "examples/share", "--check"], 900, after=("release",), cargo=True),
    peer("torture-all", "smbtorture beside Samba", "torture.main", 7200, tier=LONG, after=("release",),
         namespace=True, environment={"COAX_PROFILE": "release"}),
    peer("foreign", "binaries for other architectures under emulation", "installed.foreign", 5400, tier=LONG, after=("install",), cargo=True),
    real("lab-real", "the lab beside the kernel's TCP", "lab.real", ("--assert",)),
    real("lab-fit-real", "lab fit predicts real copies", "lab.fit", ("--assert",)),
    real("pacing-all", "pacing beside smbd over many rings", "pacing.main"),
    peer("netbios-torture", "smbtorture's nbt.* against coax and nmbd", "netbios.main", 600, ("--only", "torture."), LONG, impossible=no_root),
    peer("netbios-all", "the same with every role of nmbd, and smbtorture", "netbios.main", 1800, tier=LONG, impossible=no_root),
    real("live-fresh", "the server's account of copies that it was not made with", "live.main", ("--fresh",)),
    real("live-cost", "what the server's account costs", "live.cost"),
    real("explain-real", "explain beside the kernel's own account", "explain.real"),
    Step("reloads", "a thousand reloads while clients copy", LONG,
         ["cargo", "test", "-q", "--locked", "-p", "coax", "--test", "all", "operation::", "--", "--ignored"], 1800, after=("tests",), cargo=True),
    Step("memory", "flat memory over a million connections", LONG,
         ["cargo", "test", "-q", "--locked", "-p", "coax", "--test", "all", "memory::", "--", "--ignored"], 3600, after=("tests",), cargo=True),
    peer("ray", "coax.ray on two local workers, one of them killed", "python.on_ray", 1200, tier=LONG, after=("wheel",)),
    peer("spark", "Spark's mapInPandas over the same batches", "python.on_spark", 1200, tier=LONG, after=("wheel",)),
    Step("accuracy", "explain beside the lab's ground truth", LONG, ["scripts/accuracy"], 3600, cargo=True),
    Step("fuzz-long", "fuzz targets, 60 s each", LONG, ["scripts/fuzz"], 3600, ("--seconds", "60")),
    bench("server", "server beside smbd", "bench.main"),
    bench("client", "client beside smbclient and curl", "bench.client"),
    bench("explain", "analyser beside tshark", "bench.explain"),
    bench("lab", "simulation speed", "bench.lab"),
    bench("speed", "raw TCP beside iperf3", "speed.bench"),
]
BY_KEY = {step.key: step for step in STEPS}
