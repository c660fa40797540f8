"""Random copies from a seed. A `Scenario` is plain data: replace a field to get the same copy with one thing changed."""
import collections
import dataclasses
import itertools
import random

from explain import families, far_families, held_families
from explain.drawing import HABITS, MBIT, MS, OTHERS, PROFILES, SERVERS, WORKS_WITH, log_uniform

FAMILIES = {**families.FAMILIES, **far_families.FAMILIES, **held_families.FAMILIES}
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
    offer_signing: bool = True  # as smbd's default does
    sync: bool = False
    strict_sync: bool = True  # smbd's default: it obeys clients that ask for the disk
    server_read_us: int = 0
    server_write_us: int = 0
    server_sync_us: int = 0
    client_delay_us: int = 0  # at each block
    client_rate: int = 0  # bytes a second that curl allows itself
    client_stop: tuple = ()  # (milliseconds between stops, milliseconds stopped)
    server_stop: tuple = ()
    beside: str = ""  # another client that copies a file of half the size at the same time
    beside_verb: str = ""  # its direction, where it is not the same
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


def held_out(name):
    """Nobody inspects these families: see docs/referee.md."""
    return name in held_families.FAMILIES


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


def in_turn(names, order):
    """The names again and again in a random order, every other one of a held-out family."""
    groups = [[name for name in sorted(names) if held_out(name) == held] for held in (False, True)]
    for group in groups:
        random.Random(order).shuffle(group)
    turns = [itertools.cycle(group) for group in groups if group]
    return itertools.chain.from_iterable(zip(*turns))


def choose(seed, count, wanted=None, lacking=(), names=None, of=None, order="order", first=0):
    """So many scenarios, from all families that are wanted or from these names, those that `of` accepts."""
    if names is None:
        names = [name for name in FAMILIES if wanted is None or wanted(name)]
    drawn = collections.Counter()
    found = []
    for name in itertools.islice(in_turn(names, f"{order}/{seed}"), 20 * count):
        scenario = draw(name, first + seed * 10_000 + drawn[name])
        drawn[name] += 1
        if not {scenario.server, scenario.client, scenario.beside} & set(lacking) and (of is None or of(scenario)):
            found.append(scenario)
        if len(found) == count:
            break
    return found
