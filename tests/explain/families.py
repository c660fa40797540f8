"""Families of copies that are used for development, as those of `far_families` are. `held_families` has those that nobody inspects."""
from explain.drawing import ALL_SERVERS, LARGE, MBIT, MS, OTHERS, PIPELINED, PROFILES, SERIAL, both_ways, combined, log_uniform, pair, path, put_only, registry, verb

FAMILIES = {}
family = registry(FAMILIES)


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
def smoltcp_client(rng):
    setup = {**pair(rng, clients=("smoltcp",)), **verb(rng), **path(rng, int(log_uniform(rng, 2, 40)) * MBIT, log_uniform(rng, 1, 80), rng.choice((30, 200)))}
    buffers = {"client_rmem": int(log_uniform(rng, 6_000, 200_000)), "client_wmem": int(log_uniform(rng, 6_000, 200_000))}
    return both_ways({**setup, **buffers, "client_nodelay": rng.random() < 0.7}, loss=rng.choice((0, 0, log_uniform(rng, 0.001, 0.01))))


@family
def mixture(rng):
    """Anything with anything."""
    names = [name for name in sorted(FAMILIES) if name not in ("mixture", "nagle", "gigabit", "smoltcp-client")]
    first, second = (FAMILIES[name](rng) for name in rng.sample(names, 2))
    return combined(first, second)
