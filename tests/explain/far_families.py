"""Families of copies that were held out up to commit baa2a5b4 and are used for development since.

They draw from other ranges and combinations than those of `families`.
"""
from explain.drawing import (ALL_SERVERS, LARGE, MBIT, MS, OTHERS, PIPELINED, PROFILES, SERIAL, both_ways, combined, log_uniform, pair, path,
                             put_only, registry, verb)

FAMILIES = {}
family = registry(FAMILIES)
BULK = tuple(dict.fromkeys(PIPELINED + LARGE))
RAW = ("wfw-3.11", "os2-warp", "windows-95", "windows-98", "ms-net-3.11-full")


def mbit(rng, low, high):
    return int(log_uniform(rng, low, high) * MBIT)


def toward_receiver(setup, **more):
    """These settings only where the data travel."""
    way = "up" if setup["verb"] == "put" else "down"
    return {**setup, way: {**setup[way], **more}}


def toward_sender(setup, **more):
    """These settings only where the ACKs of the data travel."""
    way = "down" if setup["verb"] == "put" else "up"
    return {**setup, way: {**setup[way], **more}}


# paths


@family
def modem(rng):
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, int(log_uniform(rng, 56_000, 256_000)), log_uniform(rng, 80, 300), rng.choice((300, 1000)))}


@family
def subscriber_line(rng):
    setup = {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 1, 16), log_uniform(rng, 8, 50), rng.choice((60, 250, 1000)))}
    setup["up"] |= {"rate": mbit(rng, 0.128, 1), "queue_bytes": rng.choice((12_000, 40_000, 128_000))}
    return setup


@family
def bloated_queue(rng):
    return {**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 1, 20), log_uniform(rng, 3, 60), log_uniform(rng, 600, 1000)),
            "congestion": rng.choice(("cubic", "reno"))}


@family
def two_packet_queue(rng):
    return {**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 1, 25), log_uniform(rng, 1, 25), queue_packets=rng.choice((2, 3, 4)))}


@family
def short_queue_serial(rng):
    return {**pair(rng, ALL_SERVERS, SERIAL), **verb(rng), **path(rng, mbit(rng, 1, 100), log_uniform(rng, 2, 100), queue_packets=rng.choice((6, 12, 30)))}


@family
def metropolitan(rng):
    return {**pair(rng, ALL_SERVERS, BULK), **verb(rng), **path(rng, mbit(rng, 150, 1000), log_uniform(rng, 1, 12), rng.choice((5, 40)))}


@family
def satellite(rng):
    return both_ways({**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 2, 50), log_uniform(rng, 240, 300), rng.choice((200, 800)))},
                     loss=rng.choice((0, 0, 0.001, 0.004)))


@family
def office_serial(rng):
    return {**pair(rng, ALL_SERVERS, SERIAL), **verb(rng), **path(rng, rng.choice((10, 100, 1000)) * MBIT, log_uniform(rng, 0.1, 1.5), 30)}


@family
def wireless(rng):
    return both_ways({**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 5, 50), log_uniform(rng, 2, 25), 150)},
                     jitter=int(log_uniform(rng, 1, 12) * MS), loss=log_uniform(rng, 0.0005, 0.01),
                     reorder=log_uniform(rng, 0.001, 0.01), reorder_by=int(log_uniform(rng, 1, 6) * MS))


@family
def loss_of_data(rng):
    return toward_receiver({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 4, 100), log_uniform(rng, 2, 90), 150)}, loss=log_uniform(rng, 0.002, 0.03))


@family
def loss_of_acks(rng):
    return toward_sender({**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 4, 100), log_uniform(rng, 2, 90), 150)}, loss=log_uniform(rng, 0.01, 0.2))


@family
def heavy_loss(rng):
    return both_ways({**pair(rng), **verb(rng), **path(rng, mbit(rng, 5, 100), log_uniform(rng, 0.5, 25), 100)}, loss=log_uniform(rng, 0.03, 0.1))


@family
def reordering_far(rng):
    return toward_receiver({**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 5, 80), log_uniform(rng, 20, 180), 150)},
                           reorder=log_uniform(rng, 0.005, 0.12), reorder_by=int(log_uniform(rng, 2, 40) * MS))


@family
def long_outages(rng):
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 2, 60), log_uniform(rng, 1, 80), 800)},
                     stop_every=int(log_uniform(rng, 1500, 4000)) * MS, stop_for=int(log_uniform(rng, 300, 1200)) * MS)


@family
def shared_medium(rng):
    """A link that others use in turn: it stands still often and shortly."""
    return both_ways({**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 5, 60), log_uniform(rng, 1, 30), 200)},
                     stop_every=int(log_uniform(rng, 40, 160)) * MS, stop_for=int(log_uniform(rng, 8, 35)) * MS)


# other traffic


@family
def cross_light(rng):
    rate = mbit(rng, 1, 60)
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, rate, log_uniform(rng, 0.5, 80), rng.choice((40, 200)))},
                     cross_rate=int(rate * rng.uniform(0.1, 0.4)), cross_size=rng.choice((300, 800, 1500)))


@family
def cross_overload(rng):
    rate = mbit(rng, 1, 40)
    return toward_receiver({**pair(rng, clients=BULK), **verb(rng), **path(rng, rate, log_uniform(rng, 1, 80), rng.choice((60, 400)))},
                           cross_rate=int(rate * rng.uniform(0.9, 1.3)), cross_on=int(log_uniform(rng, 300, 1200)) * MS,
                           cross_off=int(log_uniform(rng, 400, 1600)) * MS)


@family
def cross_toward_sender(rng):
    rate = mbit(rng, 1, 30)
    return toward_sender({**pair(rng), **verb(rng), **path(rng, rate, log_uniform(rng, 1, 60), rng.choice((60, 400)))},
                         cross_rate=int(rate * rng.uniform(0.6, 0.98)))


@family
def rival_copy(rng):
    """Another copy at the same time, in the same or in the other direction."""
    return {**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 1, 20), log_uniform(rng, 2, 80), rng.choice((40, 500))),
            "beside": rng.choice(("smbclient", "modern", "curl")), "beside_verb": rng.choice(("get", "put"))}


# congestion control


@family
def bbr_short_queue(rng):
    return {**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 3, 60), log_uniform(rng, 5, 90), queue_packets=rng.choice((4, 10, 30))),
            "congestion": "bbr"}


@family
def bbr_serial(rng):
    return {**pair(rng, ALL_SERVERS, SERIAL), **verb(rng), **path(rng, mbit(rng, 4, 150), log_uniform(rng, 3, 120), 150), "congestion": "bbr"}


@family
def cubic_far(rng):
    return {**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 20, 200), log_uniform(rng, 20, 180), rng.choice((30, 250))), "congestion": "cubic"}


@family
def reno_loss(rng):
    return both_ways({**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 5, 100), log_uniform(rng, 5, 100), 100), "congestion": "reno"},
                     loss=log_uniform(rng, 0.0004, 0.01))


# buffers


@family
def small_buffers(rng):
    """Receive buffers of both ends, where either may be the limit."""
    sizes = {f"{end}_rmem": int(log_uniform(rng, 7_000, 90_000)) for end in ("client", "server")}
    return {**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 10, 200), log_uniform(rng, 4, 120), 100), **sizes}


@family
def window_near_product(rng):
    """A receive window between half and twice the product of rate and round trip."""
    rate, trip = mbit(rng, 5, 40), log_uniform(rng, 15, 90)
    setup = {**pair(rng, clients=BULK), **verb(rng), **path(rng, rate, trip, rng.choice((30, 200)))}
    receiver = "server" if setup["verb"] == "put" else "client"
    return {**setup, f"{receiver}_rmem": max(int(rate * trip / 8000 * log_uniform(rng, 0.5, 2)), 9_000)}


@family
def send_limits(rng):
    setup = {**pair(rng, clients=("modern", "smbclient", "impacket", "linux-cifs")), **verb(rng), **path(rng, mbit(rng, 20, 150), log_uniform(rng, 5, 100), 100)}
    sender = "client" if setup["verb"] == "put" else "server"
    option = sender == "server" or setup["client"] == "smbclient"
    return {**setup, f"{sender}_{'sndbuf' if option and rng.random() < 0.5 else 'wmem'}": int(log_uniform(rng, 6_000, 90_000))}


# Nagle's algorithm


@family
def nagle_far(rng):
    setup = {**pair(rng, clients=("impacket", "pysmb", "smbclient", "apart", "apart")), **verb(rng), **path(rng, mbit(rng, 5, 100), log_uniform(rng, 15, 120), 80)}
    return put_only({**setup, "client_nodelay": False, "server_nodelay": False,
                     "block": int(log_uniform(rng, 400, 6000 if setup["client"] == "apart" else 24_000))})


@family
def nagle_server(rng):
    return {**pair(rng, ("smbd",), ("smbclient", "curl", "nt-4-copy", "windows-2000", "linux-cifs")), "verb": "get",
            **path(rng, mbit(rng, 10, 100), log_uniform(rng, 0.3, 50), 80), "server_nodelay": False, "max_xmit": rng.choice((0, 2048, 6000, 12_000))}


# slow programs


@family
def slow_store(rng):
    setup = {**pair(rng, ("smbd",)), **verb(rng), **path(rng, mbit(rng, 8, 200), log_uniform(rng, 0.2, 100), 100)}
    return {**setup, "server_write_us" if setup["verb"] == "put" else "server_read_us": int(log_uniform(rng, 500, 70_000))}


@family
def synchronous_far(rng):
    return {**pair(rng, ("smbd",)), "verb": "put", **path(rng, mbit(rng, 5, 100), log_uniform(rng, 8, 120), 100), "sync": True,
            "server_sync_us": int(log_uniform(rng, 800, 60_000))}


@family
def dozing_client(rng):
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 5, 200), log_uniform(rng, 0.3, 90), 150),
            "client_stop": (int(log_uniform(rng, 60, 2000)), int(log_uniform(rng, 40, 1500)))}


@family
def dozing_server(rng):
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 5, 200), log_uniform(rng, 0.3, 90), 150),
            "server_stop": (int(log_uniform(rng, 60, 2000)), int(log_uniform(rng, 40, 1500)))}


@family
def working_client(rng):
    return {**pair(rng, ALL_SERVERS, OTHERS), **verb(rng), **path(rng, mbit(rng, 3, 60), log_uniform(rng, 0.3, 120), 120),
            "client_delay_us": int(log_uniform(rng, 500, 120_000))}


@family
def throttled_client(rng):
    rate = mbit(rng, 1, 40)
    return {**pair(rng, clients=("curl",)), **verb(rng), **path(rng, rate, log_uniform(rng, 2, 100), 150), "client_rate": int(rate / 8 * log_uniform(rng, 0.1, 1.5))}


# requests


@family
def signed_far(rng):
    return both_ways({**pair(rng, clients=("modern", "smbclient", "windows-2000")), **verb(rng), **path(rng, mbit(rng, 4, 80), log_uniform(rng, 10, 200), 150),
                      "signing": True}, loss=rng.choice((0, 0, 0.002, 0.01)))


@family
def small_requests_far(rng):
    return {**pair(rng), **verb(rng), **path(rng, mbit(rng, 2, 60), log_uniform(rng, 15, 150), 120), "max_xmit": rng.choice((1200, 4100, 8192, 16_644)),
            "raw": False, "large_requests": False}


@family
def old_clients_far(rng):
    return {**pair(rng, clients=PROFILES), **verb(rng), **path(rng, mbit(rng, 0.5, 12), log_uniform(rng, 10, 180), 250)}


@family
def raw_loss(rng):
    return both_ways({**pair(rng, clients=RAW), **verb(rng), **path(rng, mbit(rng, 4, 80), log_uniform(rng, 1, 60), 100), "raw": rng.random() < 0.75},
                     loss=rng.choice((0, log_uniform(rng, 0.001, 0.015))))


# captures and stacks


@family
def large_segments(rng):
    """Segments larger than the link's, over paths that lose or delay."""
    setup = {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 10, 400), log_uniform(rng, 0.3, 100), rng.choice((20, 150))), "offload": True}
    return both_ways(setup, loss=rng.choice((0, 0, log_uniform(rng, 0.001, 0.01))))


@family
def cut_packets(rng):
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 4, 300), log_uniform(rng, 0.3, 120), 120), "snap": rng.choice((104, 116, 150, 65_535)),
            "offload": rng.random() < 0.5}


@family
def lwip_client(rng):
    setup = {**pair(rng, clients=("lwip",)), **verb(rng), **path(rng, mbit(rng, 1, 60), log_uniform(rng, 0.5, 120), rng.choice((20, 80, 400)))}
    return both_ways({**setup, "client_nodelay": rng.random() < 0.5}, loss=rng.choice((0, 0, log_uniform(rng, 0.001, 0.02))))


@family
def combination(rng):
    """Anything with anything."""
    names = [name for name in sorted(FAMILIES) if name not in ("combination", "nagle-far", "metropolitan", "rival-copy", "lwip-client")]
    first, second = (FAMILIES[name](rng) for name in rng.sample(names, 2))
    return combined(first, second)
