"""Random copies from a seed. A `Scenario` is plain data: replace a field to get the same copy with one thing changed."""
import dataclasses
import hashlib
import random

MBIT = 1_000_000
MS = 1_000_000  # nanoseconds
SERVERS = ("smbd", "coax", "impacket", "jfileserver")
PROFILES = ("modern", "linux-cifs", "nt-4-copy", "nt-4-explorer", "windows-2000", "windows-95", "windows-98", "wfw-3.11", "os2-warp",
            "smbclient-1999", "ms-net-3.11-full", "ibm-dls-5.0-full", "ps2-opl", "ms-net-3.11-basic", "ibm-dls-5.0-predir")
OTHERS = ("smbclient", "curl", "impacket", "pysmb", "jcifs", "jcifs-ng")
# which clients copy with which server: see docs/referee.md
WORKS_WITH = {"smbd": (*OTHERS, *PROFILES, "apart"), "coax": (*OTHERS, *PROFILES, "apart"), "impacket": ("smbclient", "curl", "modern"),
              "jfileserver": ("smbclient", "jcifs", "jcifs-ng", "modern", "windows-2000")}
# (bytes of a usual request, requests in flight) where the server takes them: only to choose a file's size
HABITS = {"modern": (60_000, 8), "linux-cifs": (60_000, 1), "smbclient": (64_000, 4), "curl": (32_000, 1), "impacket": (60_000, 1),
          "pysmb": (16_000, 1), "jcifs": (16_000, 1), "jcifs-ng": (60_000, 1), "wfw-3.11": (60_000, 1), "os2-warp": (16_000, 1),
          "windows-95": (16_000, 1), "windows-98": (16_000, 1), "ms-net-3.11-basic": (1_000, 1), "ibm-dls-5.0-predir": (1_000, 1),
          "apart": (4_096, 1), "nt-4-copy": (4_300, 1), "nt-4-explorer": (4_100, 1), "windows-2000": (60_000, 1), "ps2-opl": (16_000, 1)}
SMALLEST, LARGEST = 12_000, 30_000_000


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A copy. Times of the path are in nanoseconds, of programs in microseconds, rates in bits a second; 0 or None: as it comes."""

    family: str
    seed: int
    server: str = "smbd"
    client: str = "modern"
    verb: str = "get"
    bytes: int = 1_000_000
    block: int = 0  # smbclient, impacket, jcifs
    up: dict = dataclasses.field(default_factory=dict)  # settings of emulator.c
    down: dict = dataclasses.field(default_factory=dict)
    offload: bool = False  # segments larger than the link's in the captures
    congestion: str = "cubic"
    client_rmem: int = 0
    server_rmem: int = 0
    client_wmem: int = 0
    server_wmem: int = 0
    client_rcvbuf: int = 0
    client_sndbuf: int = 0
    server_rcvbuf: int = 0
    server_sndbuf: int = 0
    client_nodelay: bool | None = None
    server_nodelay: bool | None = True
    max_xmit: int = 0
    large_requests: bool = True
    raw: bool = True
    signing: bool = False
    sync: bool = False
    server_read_us: int = 0
    server_write_us: int = 0
    server_sync_us: int = 0
    client_delay_us: int = 0  # at each block
    client_rate: int = 0  # bytes a second that curl allows itself
    client_stop: tuple = ()  # (milliseconds between stops, milliseconds stopped)
    server_stop: tuple = ()
    beside: str = ""  # another client that copies a file of half the size at the same time
    snap: int = 200

    @property
    def name(self):
        return f"{self.family}-{self.seed}"

    @property
    def round_trip_s(self):
        return sum(way.get(key, 0) for way in (self.up, self.down) for key in ("before", "after")) / 1e9

    @property
    def ways(self):
        """Settings of emulator.c."""
        found = {f"{name}.{key}": value for name, way in (("up", self.up), ("down", self.down)) for key, value in way.items()}
        return {**found, **({"offload": 1, "coalesce": 1} if self.offload else {})}

    def text(self):
        """What differs from the usual, in one line."""
        usual = Scenario("", 0)
        fields = [field.name for field in dataclasses.fields(self) if field.name not in ("family", "seed", "up", "down", "snap")]
        said = [f"{name} {getattr(self, name)}" for name in fields if getattr(self, name) != getattr(usual, name) or name in ("server", "client", "verb")]
        for name, way in (("up", self.up), ("down", self.down)):
            said.append(f"{name}: " + " ".join(f"{key} {value / MS:g} ms" if key in IN_NS else f"{key} {value:g}" for key, value in way.items()))
        return ", ".join(said)


def restored(fields):
    """A scenario from its JSON."""
    return Scenario(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


IN_NS = ("before", "after", "jitter", "reorder_by", "cross_on", "cross_off", "stop_every", "stop_for")


def path(rng, rate, round_trip_ms, queue_ms=None, queue_packets=0, far=None, **more):
    """Both directions of a path. `far`: share of the delay that lies before the queue."""
    one_way = round_trip_ms / 2 * MS
    far = rng.choice((0.0, 0.0, 0.3, 0.8)) if far is None else far
    way = {"rate": rate, "before": int(one_way * far), "after": int(one_way * (1 - far))}
    if queue_packets:
        way["queue_packets"] = queue_packets
    elif queue_ms is not None:
        way["queue_bytes"] = max(int(rate * queue_ms / 8000), 6000)
    return {"up": dict(way), "down": {**way, **more}}


def log_uniform(rng, low, high):
    return low * (high / low) ** rng.random()


def pair(rng, servers=("smbd", "coax"), clients=()):
    server = rng.choice(servers)
    works = WORKS_WITH[server]
    allowed = [client for client in clients or works if client in works and (clients or client != "apart")]
    return {"server": server, "client": rng.choice(allowed)}


def verb(rng):
    return {"verb": rng.choice(("get", "put"))}


def put_only(setup):
    """The program that sends header and data apart only writes."""
    return {**setup, "verb": "put"} if setup["client"] == "apart" else setup


def both_ways(setup, **more):
    return {**setup, "up": {**setup["up"], **more}, "down": {**setup["down"], **more}}


PIPELINED = ("modern", "smbclient")
LARGE = ("modern", "smbclient", "impacket", "jcifs-ng", "linux-cifs", "windows-2000")
SERIAL = tuple(client for client in HABITS if client not in (*PIPELINED, "apart"))
ALL_SERVERS = ("smbd", "smbd", "coax", "coax", "impacket", "jfileserver")

FAMILIES = {}


def family(function):
    FAMILIES[function.__name__.replace("_", "-")] = function
    return function


@family
def lan_serial(rng):
    return {**pair(rng, ALL_SERVERS, SERIAL), **verb(rng), **path(rng, rng.choice((100, 1000)) * MBIT, log_uniform(rng, 0.2, 4), 50)}


@family
def wan_serial(rng):
    return {**pair(rng, ALL_SERVERS, SERIAL), **verb(rng), **path(rng, rng.choice((10, 50, 100)) * MBIT, log_uniform(rng, 15, 300), 200)}


@family
def slow_link(rng):
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, int(log_uniform(rng, 56_000, 4 * MBIT)), log_uniform(rng, 2, 80), 1000)}


@family
def fast_link(rng):
    return {**pair(rng, ALL_SERVERS, PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 5, 80)) * MBIT, log_uniform(rng, 0.2, 20), 100)}


@family
def asymmetric(rng):
    setup = {**pair(rng, ALL_SERVERS, PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 4, 25)) * MBIT, log_uniform(rng, 15, 60), 300)}
    setup["up"]["rate"] = int(log_uniform(rng, 0.3, 2) * MBIT)
    setup["up"]["queue_bytes"] = int(setup["up"]["rate"] * rng.choice((100, 1000)) / 8000)
    return setup


@family
def shallow_queue(rng):
    return {**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 3, 60)) * MBIT, log_uniform(rng, 4, 60), queue_packets=rng.choice((2, 5, 10, 20)))}


@family
def loss_lan(rng):
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, 100 * MBIT, log_uniform(rng, 1, 10), 50)}, loss=log_uniform(rng, 0.002, 0.04))


@family
def loss_wan(rng):
    return both_ways({**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, 50 * MBIT, log_uniform(rng, 15, 120), 200)}, loss=log_uniform(rng, 0.001, 0.03))


@family
def client_window(rng):
    size = int(log_uniform(rng, 12_000, 130_000))
    where = rng.choice(("client_rmem", "client_rcvbuf"))
    clients = PIPELINED + LARGE if where == "client_rmem" else ("smbclient", "jcifs-ng")
    return {**pair(rng, clients=clients), "verb": "get", **path(rng, 100 * MBIT, log_uniform(rng, 10, 100), 100), where: size}


@family
def server_window(rng):
    size = int(log_uniform(rng, 12_000, 130_000))
    return {**pair(rng, clients=PIPELINED + LARGE), "verb": "put", **path(rng, 100 * MBIT, log_uniform(rng, 10, 100), 100),
            rng.choice(("server_rmem", "server_rcvbuf")): size}


@family
def send_buffer(rng):
    size, end = int(log_uniform(rng, 8_000, 50_000)), rng.choice(("client", "server"))
    return {**pair(rng, clients=PIPELINED + ("impacket", "jcifs-ng")), "verb": "get" if end == "server" else "put",
            **path(rng, 100 * MBIT, log_uniform(rng, 10, 60), 100), f"{end}_wmem": size}


@family
def nagle(rng):
    setup = {**pair(rng, ("smbd", "smbd", "coax"), ("impacket", "pysmb", "smbclient", "jcifs", "apart", "apart", "apart")), **verb(rng),
             **path(rng, 100 * MBIT, log_uniform(rng, 0.3, 30), 50)}
    return put_only({**setup, "client_nodelay": False, "server_nodelay": False, "block": int(log_uniform(rng, 600, 6000))})


@family
def slow_disk_read(rng):
    return {**pair(rng, ("smbd",)), "verb": "get", **path(rng, 100 * MBIT, log_uniform(rng, 0.3, 40), 50), "server_read_us": int(log_uniform(rng, 1000, 40_000))}


@family
def slow_disk_write(rng):
    return {**pair(rng, ("smbd",)), "verb": "put", **path(rng, 100 * MBIT, log_uniform(rng, 0.3, 40), 50), "server_write_us": int(log_uniform(rng, 1000, 40_000))}


@family
def synchronous(rng):
    return {**pair(rng, ("smbd",)), "verb": "put", **path(rng, 100 * MBIT, log_uniform(rng, 0.3, 20), 50), "sync": True,
            "server_sync_us": int(log_uniform(rng, 2000, 40_000))}


@family
def client_stops(rng):
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, rng.choice((20, 100)) * MBIT, log_uniform(rng, 0.5, 50), 100),
            "client_stop": (int(log_uniform(rng, 200, 800)), int(log_uniform(rng, 100, 900)))}


@family
def server_stops(rng):
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, rng.choice((20, 100)) * MBIT, log_uniform(rng, 0.5, 50), 100),
            "server_stop": (int(log_uniform(rng, 200, 800)), int(log_uniform(rng, 100, 900)))}


@family
def client_delays(rng):
    return {**pair(rng, ALL_SERVERS, OTHERS), **verb(rng), **path(rng, 100 * MBIT, log_uniform(rng, 0.5, 40), 100),
            "client_delay_us": int(log_uniform(rng, 2000, 60_000))}


@family
def limited_client(rng):
    return {**pair(rng, clients=("curl",)), **verb(rng), **path(rng, 100 * MBIT, log_uniform(rng, 0.5, 40), 100), "client_rate": int(log_uniform(rng, 50_000, 1_500_000))}


@family
def cross_steady(rng):
    rate = int(log_uniform(rng, 2, 40)) * MBIT
    return both_ways({**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, rate, log_uniform(rng, 1, 40), rng.choice((50, 300)))},
                     cross_rate=int(rate * rng.uniform(0.3, 0.9)))


@family
def cross_bursts(rng):
    rate = int(log_uniform(rng, 2, 40)) * MBIT
    return both_ways({**pair(rng), **verb(rng), **path(rng, rate, log_uniform(rng, 1, 40), rng.choice((50, 300)))},
                     cross_rate=int(rate * rng.uniform(0.8, 1.2)), cross_on=200 * MS, cross_off=int(log_uniform(rng, 100, 600)) * MS)


@family
def two_copies(rng):
    rate = int(log_uniform(rng, 2, 30)) * MBIT
    return {**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, rate, log_uniform(rng, 1, 40), rng.choice((50, 300))),
            "beside": rng.choice(("smbclient", "modern"))}


@family
def bbr_wan(rng):
    return {**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 5, 100)) * MBIT, log_uniform(rng, 10, 200), 200), "congestion": "bbr"}


@family
def bbr_loss(rng):
    return both_ways({**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 5, 50)) * MBIT, log_uniform(rng, 10, 100), 200), "congestion": "bbr"},
                     loss=log_uniform(rng, 0.001, 0.03))


@family
def reno_wan(rng):
    return {**pair(rng, ALL_SERVERS, PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 5, 100)) * MBIT, log_uniform(rng, 10, 300), 100), "congestion": "reno"}


@family
def reordering(rng):
    return both_ways({**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 5, 50)) * MBIT, log_uniform(rng, 4, 60), 100)},
                     reorder=log_uniform(rng, 0.002, 0.05), reorder_by=int(log_uniform(rng, 1, 12) * MS))


@family
def jitter(rng):
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, 50 * MBIT, log_uniform(rng, 5, 60), 100)}, jitter=int(log_uniform(rng, 2, 30) * MS))


@family
def outages(rng):
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, rng.choice((5, 20, 50)) * MBIT, log_uniform(rng, 2, 40), 1000)},
                     stop_every=int(log_uniform(rng, 400, 1500)) * MS, stop_for=int(log_uniform(rng, 60, 300)) * MS)


@family
def signed(rng):
    return {**pair(rng, clients=("modern", "smbclient", "windows-2000")), **verb(rng), **path(rng, 100 * MBIT, log_uniform(rng, 1, 120), 100), "signing": True}


@family
def old_clients(rng):
    return {**pair(rng, clients=PROFILES), **verb(rng), **path(rng, rng.choice((10, 100)) * MBIT, log_uniform(rng, 0.4, 30), 50)}


@family
def small_requests(rng):
    return {**pair(rng), **verb(rng), **path(rng, rng.choice((10, 100)) * MBIT, log_uniform(rng, 1, 30), 50), "max_xmit": rng.choice((1500, 2920, 4356)), "raw": False,
            "large_requests": False}


@family
def no_raw(rng):
    return {**pair(rng, clients=("wfw-3.11", "os2-warp", "windows-95", "windows-98", "ms-net-3.11-full")), **verb(rng),
            **path(rng, 100 * MBIT, log_uniform(rng, 1, 40), 50), "raw": rng.random() < 0.5}


@family
def long_fat(rng):
    return {**pair(rng, clients=PIPELINED), **verb(rng), **path(rng, 1000 * MBIT, log_uniform(rng, 30, 300), 100)}


@family
def gigabit(rng):
    return {**pair(rng, clients=LARGE), **verb(rng), **path(rng, 1000 * MBIT, log_uniform(rng, 0.1, 1), 20)}


@family
def offloaded(rng):
    return {**pair(rng, clients=PIPELINED + LARGE), **verb(rng), **path(rng, int(log_uniform(rng, 10, 300)) * MBIT, log_uniform(rng, 0.5, 60), 100), "offload": True}


@family
def mixture(rng):
    """Anything with anything."""
    names = [name for name in sorted(FAMILIES) if name not in ("mixture", "nagle", "gigabit")]
    first, second = (FAMILIES[name](rng) for name in rng.sample(names, 2))
    clients = {"server", "client", "verb", "up", "down", "block"}
    more = {key: value for key, value in second.items() if key not in clients and not (key == "client_rate" and first["client"] != "curl")}
    extra = {key: value for key, value in second["down"].items() if key in ("loss", "reorder", "reorder_by", "jitter")}
    if first["server"] != "smbd":
        more = {key: value for key, value in more.items() if not key.startswith("server_") or key == "server_stop"}
        more.pop("signing", None)
    return both_ways({**more, **first}, **extra)


def held_out(name):
    """Half of the families are never inspected. The number was chosen, before the first copy, as the first that separates pairs
    of similar families (client-window and server-window, loss-lan and loss-wan, …)."""
    return bool(hashlib.sha256(f"2636 {name}".encode()).digest()[0] & 1)


def draw(name, seed):
    """The family's scenario of that seed."""
    rng = random.Random(f"{name}/{seed}")
    scenario = Scenario(name, seed, **{"congestion": rng.choice(("cubic", "cubic", "reno", "bbr")), "snap": rng.choice((128, 200, 200, 1600)),
                                       **FAMILIES[name](rng)})
    seconds = log_uniform(rng, 1.2, 3.5)
    return dataclasses.replace(scenario, bytes=size_for(scenario, seconds))


def size_for(scenario, seconds):
    """Bytes that take about so long."""
    way = scenario.up if scenario.verb == "put" else scenario.down
    block, depth = HABITS.get(scenario.client, (16_000, 1))
    block = min(scenario.block or block, (scenario.max_xmit or block))
    trip = scenario.round_trip_s + 0.001
    own = scenario.server_read_us + scenario.server_write_us + scenario.server_sync_us + scenario.client_delay_us
    limits = [way["rate"] / 8 * (0.5 if "cross_rate" in way or scenario.beside else 0.95), block * depth / (trip + own / 1e6)]
    limits += [size / trip for size in (scenario.client_rmem, scenario.server_rmem, scenario.client_wmem, scenario.server_wmem,
                                        scenario.client_rcvbuf, scenario.server_rcvbuf) if size]
    if own:
        limits.append(block / (own / 1e6))
    if way.get("loss"):
        limits.append(1.2 * 1448 / trip / way["loss"] ** 0.5)
    if scenario.client_rate:
        limits.append(scenario.client_rate)
    for every, stopped in filter(None, (scenario.client_stop, scenario.server_stop)):
        limits = [limit * every / (every + stopped) for limit in limits]
    return int(min(max(min(limits) * seconds, SMALLEST), LARGEST))


def choose(seed, count, wanted=None, lacking=()):
    """So many scenarios, from all families in turn."""
    names = sorted(name for name in FAMILIES if wanted is None or wanted(name))
    random.Random(f"order/{seed}").shuffle(names)
    found, turn = [], 0
    while len(found) < count and turn < 20 * count:
        scenario = draw(names[turn % len(names)], seed * 10_000 + turn // len(names))
        turn += 1
        if not {scenario.server, scenario.client, scenario.beside} & set(lacking):
            found.append(scenario)
    return found
