"""What families of copies draw from: programs that work together, and paths."""
MBIT = 1_000_000
MS = 1_000_000  # nanoseconds
SERVERS = ("smbd", "coax", "impacket", "jfileserver")
PROFILES = ("modern", "linux-cifs", "nt-4-copy", "nt-4-explorer", "windows-2000", "windows-95", "windows-98", "wfw-3.11", "os2-warp",
            "smbclient-1999", "ms-net-3.11-full", "ibm-dls-5.0-full", "ps2-opl", "ms-net-3.11-basic", "ibm-dls-5.0-predir")
OTHERS = ("smbclient", "curl", "impacket", "pysmb", "jcifs", "jcifs-ng")
USER_SPACE = ("smoltcp", "lwip")  # clients whose TCP is not the kernel's
# which clients copy with which server: see docs/referee.md
WORKS_WITH = {"smbd": (*OTHERS, *PROFILES, "apart", *USER_SPACE), "coax": (*OTHERS, *PROFILES, "apart", *USER_SPACE),
              "impacket": ("smbclient", "curl", "modern"),
              "jfileserver": ("smbclient", "jcifs", "jcifs-ng", "modern", "windows-2000")}
# (bytes of a usual request, requests in flight) where the server takes them: only to choose a file's size
HABITS = {"modern": (60_000, 8), "linux-cifs": (60_000, 1), "smbclient": (64_000, 4), "curl": (32_000, 1), "impacket": (60_000, 1),
          "pysmb": (16_000, 1), "jcifs": (16_000, 1), "jcifs-ng": (60_000, 1), "wfw-3.11": (60_000, 1), "os2-warp": (16_000, 1),
          "windows-95": (16_000, 1), "windows-98": (16_000, 1), "ms-net-3.11-basic": (1_000, 1), "ibm-dls-5.0-predir": (1_000, 1),
          "apart": (4_096, 1), "nt-4-copy": (4_300, 1), "nt-4-explorer": (4_100, 1), "windows-2000": (60_000, 1), "ps2-opl": (16_000, 1), "smoltcp": (60_000, 8), "lwip": (60_000, 8)}
SPECIAL = ("apart", *USER_SPACE)  # only where a family names them
PIPELINED = ("modern", "smbclient")
LARGE = ("modern", "smbclient", "impacket", "jcifs-ng", "linux-cifs", "windows-2000")
SERIAL = tuple(client for client in HABITS if client not in (*PIPELINED, *SPECIAL))
ALL_SERVERS = ("smbd", "smbd", "coax", "coax", "impacket", "jfileserver")


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
    allowed = [client for client in clients or works if client in works and (clients or client not in SPECIAL)]
    return {"server": server, "client": rng.choice(allowed)}


def verb(rng):
    return {"verb": rng.choice(("get", "put"))}


def put_only(setup):
    """The program that sends header and data apart only writes."""
    return {**setup, "verb": "put"} if setup["client"] == "apart" else setup


def both_ways(setup, **more):
    return {**setup, "up": {**setup["up"], **more}, "down": {**setup["down"], **more}}


def combined(first, second):
    """The first, with what the second has beside its programs and its path; also the second's faults of the path."""
    clients = {"server", "client", "verb", "up", "down", "block"}
    more = {key: value for key, value in second.items() if key not in clients and not (key == "client_rate" and first["client"] != "curl")}
    extra = {key: value for key, value in second["down"].items() if key in ("loss", "reorder", "reorder_by", "jitter")}
    if first["server"] != "smbd":
        more = {key: value for key, value in more.items() if not key.startswith("server_") or key == "server_stop"}
        more.pop("signing", None)
    return both_ways({**more, **first}, **extra)


def registry(families):
    """A decorator that enters a family by its name."""
    def family(function):
        families[function.__name__.replace("_", "-")] = function
        return function

    return family
