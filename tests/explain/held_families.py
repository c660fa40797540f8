"""The families of copies that nobody inspects, so that published figures are not those of what the analyser was tuned on."""
from explain.drawing import (ALL_SERVERS, LARGE, MBIT, MS, OTHERS, PIPELINED, PROFILES, SERIAL, both_ways, combined, log_uniform, pair, path,
                             put_only, registry, verb)

FAMILIES = {}
family = registry(FAMILIES)

# those to which a change of `pairs` applies in many draws, for exams
FOR_PAIRS = ("howto-buffers", "howto-xmit", "howto-everything", "no-lowdelay", "ledger-share", "careful-nas", "java-reader", "script-blocks",
             "bare-redirector", "explorer-window", "raw-refused", "signed-branch", "shy-receiver", "shy-sender", "policed-line", "patchwork")

BULK = tuple(dict.fromkeys(PIPELINED + LARGE))
STEADY = tuple(client for client in SERIAL if client not in ("ms-net-3.11-basic", "ibm-dls-5.0-predir"))  # not 1,000 bytes at a time
DOS = ("ms-net-3.11-full", "ms-net-3.11-basic", "ibm-dls-5.0-full", "ibm-dls-5.0-predir", "wfw-3.11")
DESKTOPS = ("windows-95", "windows-98", "nt-4-copy", "nt-4-explorer", "windows-2000", "os2-warp", "wfw-3.11")
RAW = ("ms-net-3.11-full", "ibm-dls-5.0-full", "wfw-3.11", "windows-95", "windows-98", "nt-4-copy", "os2-warp")
SIGNERS = ("modern", "smbclient", "windows-2000")
NO_CURL = tuple(client for client in (*OTHERS, *PROFILES) if client != "curl")  # it takes a short answer for the end of the file
SIMPLE = ("smbclient", "impacket", "pysmb", "apart")  # their TCP_NODELAY can be chosen
HOWTO_BUFFERS = (4096, 8192, 8192, 8192, 16_384, 32_768)


def mbit(rng, low, high):
    return int(log_uniform(rng, low, high) * MBIT)


def whole(rng, low, high):
    return int(log_uniform(rng, low, high))


def ms(rng, low, high):
    return int(log_uniform(rng, low, high) * MS)


def subscriber(rng, down, up, round_trip_ms, queue_ms, up_queue_ms):
    """A path with less rate to the server than from it."""
    found = path(rng, down, round_trip_ms, queue_ms)
    found["up"] |= {"rate": up, "queue_bytes": max(int(up * up_queue_ms / 8000), 6000)}
    return found


def either_queue(rng, rate, round_trip_ms, queue_ms, packets):
    """A path whose queue is limited by bytes, or in one draw of three by packets."""
    return path(rng, rate, round_trip_ms, queue_packets=rng.choice(packets)) if rng.random() < 0.33 else path(rng, rate, round_trip_ms, queue_ms)


def fitting(setup):
    """Without what these programs do not have or do not obey."""
    server, client, is_put = setup["server"], setup["client"], setup["verb"] == "put"
    copiers, ours = (client, setup.get("beside")), server in ("smbd", "coax")
    keeps = {
        "signing": client in SIGNERS and setup.get("beside") != "curl" and ours,
        "client_rcvbuf": client == "smbclient" or client in ("jcifs", "jcifs-ng") and not is_put,
        "client_sndbuf": client == "smbclient",
        "client_rate": client == "curl",
        "client_delay_us": client in (*OTHERS, "apart"),
        "client_nodelay": client in SIMPLE,
        "max_xmit": ours and "curl" not in copiers and not setup.get("block"),
        "large_requests": ours and "curl" not in copiers,
        "raw": ours,
        "offer_signing": server == "smbd",
        "sync": server == "smbd" and is_put,
        "strict_sync": server == "smbd" and is_put,
        "server_write_us": server == "smbd" and is_put,
        "server_sync_us": server == "smbd" and is_put,
        "server_read_us": server == "smbd" and not is_put,
    }
    found = {name: value for name, value in setup.items() if keeps.get(name, True)}
    # a socket option of smbclient replaces its TCP_NODELAY
    return {"client_nodelay": True, **found} if client == "smbclient" and {"client_rcvbuf", "client_sndbuf"} & set(found) else found


# lines over land


@family
def narrow_line(rng):
    """A serial cable with PPP, or ISDN."""
    return {**pair(rng, ALL_SERVERS), **verb(rng),
            **path(rng, rng.choice((38_400, 64_000, 64_000, 115_200, 128_000)), log_uniform(rng, 9, 65), rng.choice((700, 2500)))}


@family
def leased_line(rng):
    return {**pair(rng, ALL_SERVERS, STEADY), **verb(rng), **path(rng, rng.choice((256_000, 512_000, 1_544_000, 2_048_000)), log_uniform(rng, 9, 110),
                                                                  queue_packets=rng.choice((16, 40, 64)))}


@family
def home_tunnel(rng):
    """A tunnel over DSL: to the server it is slower."""
    return {**pair(rng, ALL_SERVERS), **verb(rng), **subscriber(rng, mbit(rng, 6, 60), mbit(rng, 0.6, 6), log_uniform(rng, 14, 75), rng.choice((40, 150, 500)),
                                                                rng.choice((60, 300, 900)))}


@family
def cable_modem(rng):
    """Much faster from the server than to it, so that ACKs share a narrow way with a deep queue."""
    setup = {**pair(rng, clients=BULK), "verb": rng.choice(("get", "get", "put"))}
    return {**setup, **subscriber(rng, mbit(rng, 15, 90), mbit(rng, 0.4, 2), log_uniform(rng, 9, 35), rng.choice((25, 120)), whole(rng, 100, 1500))}


@family
def saturated_upstream(rng):
    """Someone else sends as much as the line to the server takes while this client gets a file."""
    setup = {**pair(rng, clients=NO_CURL), "verb": "get",
             **subscriber(rng, mbit(rng, 3, 30), mbit(rng, 0.5, 3), log_uniform(rng, 10, 55), 200, whole(rng, 40, 400))}
    up = setup["up"]
    return {**setup, "up": {**up, "cross_rate": int(up["rate"] * rng.uniform(0.5, 1)), "cross_size": rng.choice((600, 1400))}}


@family
def policed_line(rng):
    """A provider that takes a few packets more than its rate allows, and no others."""
    setup = {**pair(rng, clients=(*BULK, "jcifs", "curl")), **verb(rng),
             **path(rng, mbit(rng, 2, 45), log_uniform(rng, 7, 85), queue_packets=rng.choice((3, 6, 8, 14, 24)))}
    return both_ways(setup, loss=rng.choice((0, 0, 0, log_uniform(rng, 0.0005, 0.004))))


@family
def ocean_bulk(rng):
    setup = {**pair(rng, ALL_SERVERS, BULK), **verb(rng), **path(rng, mbit(rng, 8, 140), log_uniform(rng, 90, 280), rng.choice((15, 80, 350)))}
    return both_ways(setup, loss=rng.choice((0, 0, log_uniform(rng, 0.0002, 0.003))))


# radio


@family
def cellular_tunnel(rng):
    setup = {**pair(rng, ALL_SERVERS, BULK), **verb(rng),
             **subscriber(rng, mbit(rng, 4, 50), mbit(rng, 1, 12), log_uniform(rng, 28, 95), whole(rng, 120, 1200), whole(rng, 120, 1200))}
    return both_ways(setup, jitter=ms(rng, 3, 28), loss=rng.choice((0, 0, log_uniform(rng, 0.0003, 0.003))))


@family
def geostationary_serial(rng):
    return both_ways({**pair(rng, clients=STEADY), **verb(rng), **path(rng, mbit(rng, 0.5, 25), log_uniform(rng, 500, 660), rng.choice((150, 600)))},
                     loss=rng.choice((0, 0, 0, 0.002)))


@family
def low_orbit(rng):
    """A satellite that moves: the link stands still when another takes over."""
    setup = {**pair(rng, clients=BULK), **verb(rng), **subscriber(rng, mbit(rng, 25, 120), mbit(rng, 5, 20), log_uniform(rng, 24, 60), 120, 150)}
    return both_ways(setup, jitter=ms(rng, 1, 14), loss=log_uniform(rng, 0.0003, 0.005), stop_every=whole(rng, 700, 2600) * MS,
                     stop_for=whole(rng, 25, 140) * MS)


@family
def workshop_radio(rng):
    """A scanner or a machine tool behind Wi-Fi at the edge of its range."""
    setup = {**pair(rng, clients=("apart", "pysmb", "impacket", "ms-net-3.11-full", "windows-95", "curl")), **verb(rng),
             **path(rng, mbit(rng, 1, 18), log_uniform(rng, 3, 35), rng.choice((60, 250)))}
    return put_only(both_ways(setup, jitter=ms(rng, 2, 22), loss=log_uniform(rng, 0.001, 0.02)))


@family
def mesh_radio(rng):
    """Several hops that repeat what they lose, so that packets overtake each other."""
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 8, 70), log_uniform(rng, 5, 55), rng.choice((50, 220)))},
                     jitter=ms(rng, 0.5, 9), reorder=log_uniform(rng, 0.002, 0.06), reorder_by=ms(rng, 1.5, 20))


@family
def power_line(rng):
    """A network over mains wires: short pauses and losses."""
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 12, 95), log_uniform(rng, 2.5, 16), rng.choice((30, 120)))},
                     stop_every=whole(rng, 170, 500) * MS, stop_for=whole(rng, 9, 75) * MS, loss=log_uniform(rng, 0.0006, 0.015))


# local networks


@family
def dos_behind_switch(rng):
    """10 Mbit/s behind a switch that keeps a few packets."""
    return {**pair(rng, clients=DOS), **verb(rng), **path(rng, 10 * MBIT, log_uniform(rng, 0.3, 4), queue_packets=rng.choice((3, 5, 8, 16)))}


@family
def shared_coaxial_cable(rng):
    """10 Mbit/s that others use in bursts."""
    rate = 10 * MBIT
    return both_ways({**pair(rng, clients=(*DOS, *DESKTOPS)), **verb(rng), **path(rng, rate, log_uniform(rng, 0.2, 2.5), rng.choice((12, 60)))},
                     cross_rate=int(rate * rng.uniform(0.5, 1.1)), cross_on=whole(rng, 30, 250) * MS, cross_off=whole(rng, 60, 700) * MS,
                     cross_size=rng.choice((400, 1100, 1500)))


@family
def retro_party(rng):
    """Two machines copy from the same server over one cable."""
    return {**pair(rng, clients=(*DESKTOPS, *OTHERS)), **verb(rng),
            **path(rng, rng.choice((10, 10, 25, 40)) * MBIT, log_uniform(rng, 0.3, 6), rng.choice((10, 40, 150))),
            "beside": rng.choice(("modern", "smbclient", "curl"))}


@family
def opposite_rival(rng):
    """A second copy in the other direction of a subscriber's line."""
    up = mbit(rng, 0.8, 6)
    setup = {**pair(rng, clients=BULK), **verb(rng),
             **subscriber(rng, int(up * log_uniform(rng, 1.2, 9)), up, log_uniform(rng, 6, 60), rng.choice((50, 300)), rng.choice((50, 300, 800)))}
    return {**setup, "beside": rng.choice(("modern", "smbclient")), "beside_verb": "put" if setup["verb"] == "get" else "get"}


# settings that old guides recommend


@family
def howto_buffers(rng):
    """`socket options = SO_RCVBUF=8192 SO_SNDBUF=8192` and the like."""
    size = rng.choice(HOWTO_BUFFERS)
    return {**pair(rng, clients=(*BULK, "curl", "windows-98")), **verb(rng), **path(rng, mbit(rng, 10, 100), log_uniform(rng, 0.8, 70), rng.choice((40, 160))),
            "server_rcvbuf": size, "server_sndbuf": size, "server_nodelay": rng.random() < 0.75}


@family
def howto_xmit(rng):
    setup = {**pair(rng, clients=NO_CURL), **verb(rng), **either_queue(rng, mbit(rng, 5, 90), log_uniform(rng, 0.7, 55), 70, (10, 20, 32))}
    return {**setup, "max_xmit": rng.choice((2048, 2920, 4356, 4356, 8192, 16_384, 65_535)), "large_requests": rng.random() < 0.4, "raw": rng.random() < 0.6}


@family
def howto_everything(rng):
    """Each line of an old guide: small buffers, small requests, no raw mode, without TCP_NODELAY."""
    size = rng.choice((8192, 16_384))
    return {**pair(rng, ("smbd",), (*DESKTOPS, "smbclient", "jcifs", "linux-cifs")), **verb(rng), **path(rng, mbit(rng, 4, 100), log_uniform(rng, 0.5, 40), 90),
            "server_rcvbuf": size, "server_sndbuf": size, "max_xmit": rng.choice((4356, 8192, 16_384)), "large_requests": rng.random() < 0.5,
            "raw": rng.random() < 0.4, "server_nodelay": rng.random() < 0.4}


@family
def no_lowdelay(rng):
    """A server without TCP_NODELAY for clients that ask for one block at a time."""
    setup = {**pair(rng, ("smbd",), ("windows-95", "windows-98", "nt-4-copy", "os2-warp", "pysmb", "jcifs", "impacket", "linux-cifs")),
             "verb": rng.choice(("get", "get", "get", "put")), **either_queue(rng, mbit(rng, 3, 100), log_uniform(rng, 0.4, 30), 60, (4, 12))}
    return {**setup, "server_nodelay": False, "max_xmit": rng.choice((0, 0, 0, 2920, 4356, 8192))}


# servers that are slow or careful


@family
def tired_disk(rng):
    """The disk and the round trip take about the same time."""
    trip = log_uniform(rng, 8, 70)
    setup = {**pair(rng, ("smbd",), NO_CURL), **verb(rng), **path(rng, mbit(rng, 6, 80), trip, rng.choice((60, 250)))}
    return {**setup, "server_write_us" if setup["verb"] == "put" else "server_read_us": int(trip * 1000 * log_uniform(rng, 0.3, 2))}


@family
def ledger_share(rng):
    """A share whose every write must reach the disk: `sync always = yes`."""
    setup = {**pair(rng, ("smbd",), NO_CURL), "verb": "put", **path(rng, mbit(rng, 10, 100), log_uniform(rng, 0.4, 35), 70)}
    return {**setup, "sync": True, "server_sync_us": whole(rng, 3000, 80_000),
            **rng.choice(({}, {}, {"max_xmit": 4356}, {"max_xmit": 8192, "large_requests": False}))}


@family
def careful_nas(rng):
    """Writes that must reach the disk, and something else that limits the copy more or less than they do."""
    setup = {**pair(rng, ("smbd",), BULK), "verb": "put", **either_queue(rng, mbit(rng, 6, 60), log_uniform(rng, 3, 50), 120, (5, 12, 20)), "sync": True,
             "server_sync_us": whole(rng, 600, 40_000), "server_write_us": rng.choice((0, 0, whole(rng, 500, 9000)))}
    other = rng.choice(("server_rmem", "server_rcvbuf", "client_wmem", "max_xmit"))
    return {**setup, other: rng.choice((4356, 8192)) if other == "max_xmit" else whole(rng, 7000, 60_000)}


@family
def swapping_server(rng):
    """A server that its system stops often and shortly."""
    return {**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 8, 110), log_uniform(rng, 0.4, 45), 90),
            "server_stop": (whole(rng, 35, 350), whole(rng, 25, 260))}


# clients that do other things


@family
def hesitant_scanner(rng):
    """A device that sends a strip of the page when it has it."""
    setup = {**pair(rng, clients=("apart", "pysmb", "impacket", "jcifs", "curl", "smbclient")), "verb": "put",
             **path(rng, mbit(rng, 2, 50), log_uniform(rng, 1, 70), rng.choice((60, 200))), "client_delay_us": whole(rng, 1000, 75_000)}
    return both_ways(setup, loss=rng.choice((0, 0, 0, log_uniform(rng, 0.001, 0.008))))


@family
def hesitant_player(rng):
    """A program that works on what it has read before it reads more."""
    return {**pair(rng, ALL_SERVERS, OTHERS), "verb": "get", **path(rng, mbit(rng, 4, 90), log_uniform(rng, 0.6, 85), rng.choice((40, 200))),
            "client_delay_us": whole(rng, 1500, 50_000), "client_rmem": rng.choice((0, 0, whole(rng, 12_000, 90_000)))}


@family
def stuttering_desktop(rng):
    return {**pair(rng, ALL_SERVERS, (*BULK, *OTHERS)), **verb(rng), **path(rng, mbit(rng, 4, 90), log_uniform(rng, 0.6, 60), rng.choice((50, 150))),
            "client_stop": (whole(rng, 25, 220), whole(rng, 15, 180))}


@family
def nightly_quota(rng):
    """curl with a limit of its own on a subscriber's line."""
    setup = {**pair(rng, ("smbd", "coax", "impacket"), ("curl",)), **verb(rng),
             **subscriber(rng, mbit(rng, 3, 30), mbit(rng, 1, 8), log_uniform(rng, 5, 75), 150, 250)}
    rate = setup["up" if setup["verb"] == "put" else "down"]["rate"]
    return {**setup, "client_rate": int(rate / 8 * log_uniform(rng, 0.15, 1.2))}


@family
def java_reader(rng):
    """jcifs with short reads."""
    setup = {**pair(rng, ("smbd", "coax", "jfileserver"), ("jcifs", "jcifs", "jcifs", "jcifs-ng")), "verb": "get",
             **either_queue(rng, mbit(rng, 4, 100), log_uniform(rng, 0.8, 75), 100, (6, 15)), "client_rcvbuf": whole(rng, 1800, 13_000)}
    return {**setup, "server_nodelay": False} if setup["server"] == "smbd" and rng.random() < 0.3 else setup


@family
def script_blocks(rng):
    """Small scripts that move blocks of their own length, mostly without TCP_NODELAY."""
    setup = {**pair(rng, clients=("impacket", "impacket", "apart", "apart", "smbclient", "pysmb")), **verb(rng),
             **path(rng, mbit(rng, 3, 60), log_uniform(rng, 0.5, 65), rng.choice((50, 160)))}
    return put_only({**setup, "block": whole(rng, 900, 7900), "client_nodelay": rng.random() < 0.3, "server_nodelay": rng.random() < 0.7})


@family
def embedded_stack(rng):
    """A small device whose TCP has buffers of a few segments."""
    setup = {**pair(rng, clients=("smoltcp",)), **verb(rng), **path(rng, mbit(rng, 1, 30), log_uniform(rng, 0.6, 45), rng.choice((30, 150))),
             "client_rmem": whole(rng, 6000, 34_000), "client_wmem": whole(rng, 6000, 34_000)}
    return both_ways({**setup, "client_nodelay": rng.random() < 0.5, "max_xmit": rng.choice((0, 0, 4356, 8192))},
                     loss=rng.choice((0, 0, log_uniform(rng, 0.001, 0.008))),
                     jitter=rng.choice((0, ms(rng, 0.5, 6))))


@family
def controller_board(rng):
    """lwIP behind radio or behind a queue of a few packets."""
    setup = {**pair(rng, clients=("lwip",)), **verb(rng), **either_queue(rng, mbit(rng, 2, 40), log_uniform(rng, 2, 150), 120, (6, 12, 25)),
             "client_nodelay": rng.random() < 0.7}
    return both_ways(setup, **rng.choice(({}, {"jitter": ms(rng, 1, 15)}, {"loss": log_uniform(rng, 0.0008, 0.012)})))


@family
def bare_redirector(rng):
    """DOS clients of which there is a larger version."""
    setup = {**pair(rng, clients=("ms-net-3.11-basic", "ibm-dls-5.0-predir")), **verb(rng),
             **either_queue(rng, rng.choice((2, 10, 10, 100)) * MBIT, log_uniform(rng, 0.5, 28), 60, (3, 6))}
    return {**setup, "raw": rng.random() < 0.7, "server_nodelay": rng.random() < 0.8}


@family
def explorer_window(rng):
    """Windows that copies from a window, one request at a time."""
    setup = {**pair(rng, clients=("nt-4-explorer", "windows-2000")), **verb(rng),
             **either_queue(rng, mbit(rng, 4, 80), log_uniform(rng, 0.8, 90), 110, (4, 9, 18))}
    receiver = "server" if setup["verb"] == "put" else "client"
    return {**setup, **rng.choice(({}, {}, {"max_xmit": 4356}, {f"{receiver}_rmem": whole(rng, 8000, 50_000)}))}


@family
def raw_refused(rng):
    """Clients that would use raw mode, and mostly may not."""
    setup = {**pair(rng, clients=RAW), **verb(rng), **path(rng, rng.choice((4, 10, 30, 100)) * MBIT, log_uniform(rng, 0.7, 65), rng.choice((40, 150)))}
    more = {"offer_signing": rng.random() < 0.5} if setup["server"] == "smbd" else {}
    return {**setup, **more, "raw": rng.random() < 0.15, "max_xmit": rng.choice((0, 0, 0, 8192))}


@family
def signed_branch(rng):
    """Signed copies, some of which something else limits."""
    setup = {**pair(rng, clients=SIGNERS), **verb(rng), **either_queue(rng, mbit(rng, 5, 90), log_uniform(rng, 2, 95), 120, (6, 16)), "signing": True}
    receiver = "server" if setup["verb"] == "put" else "client"
    return {**setup, **rng.choice(({}, {}, {f"{receiver}_rmem": whole(rng, 9000, 70_000)}, {"max_xmit": 8192, "large_requests": False}))}


# buffers


@family
def shy_receiver(rng):
    """A small receive buffer at the end that gets the file, and in some draws a small send buffer at the other."""
    setup = {**pair(rng, clients=BULK), **verb(rng), **path(rng, mbit(rng, 6, 80), log_uniform(rng, 4, 75), rng.choice((40, 180)))}
    sender, receiver = ("client", "server") if setup["verb"] == "put" else ("server", "client")
    option = rng.random() < 0.5 and (receiver == "server" or setup["client"] == "smbclient")
    more = {"client_nodelay": True} if option and receiver == "client" else {}
    more |= {f"{sender}_wmem": whole(rng, 9000, 80_000)} if rng.random() < 0.35 else {}
    return {**setup, **more, f"{receiver}_{'rcvbuf' if option else 'rmem'}": whole(rng, 6500, 65_000)}


@family
def shy_sender(rng):
    """A small send buffer, and in some draws a receive buffer of similar size."""
    setup = {**pair(rng, clients=("modern", "smbclient", "smbclient", "impacket", "jcifs-ng", "curl")), **verb(rng),
             **path(rng, mbit(rng, 8, 120), log_uniform(rng, 3, 80), rng.choice((50, 180)))}
    sender, receiver = ("client", "server") if setup["verb"] == "put" else ("server", "client")
    option, size = rng.random() < 0.5 and (sender == "server" or setup["client"] == "smbclient"), whole(rng, 6000, 60_000)
    more = {"client_nodelay": True} if option and sender == "client" else {}
    more |= {f"{receiver}_rmem": max(int(size * log_uniform(rng, 0.6, 2.5)), 6500)} if rng.random() < 0.4 else {}
    return {**setup, **more, f"{sender}_{'sndbuf' if option else 'wmem'}": size}


# congestion control and captures


@family
def careful_control(rng):
    """Reno or BBR over a path that delays irregularly and loses a little."""
    return both_ways({**pair(rng, ALL_SERVERS), **verb(rng), **path(rng, mbit(rng, 6, 90), log_uniform(rng, 6, 130), rng.choice((30, 150))),
                      "congestion": rng.choice(("reno", "bbr"))},
                     jitter=ms(rng, 0.5, 8), loss=log_uniform(rng, 0.0004, 0.006))


@family
def odd_capture(rng):
    """Captures that keep much or little, at a card that hands over large segments or not."""
    setup = {**pair(rng, ALL_SERVERS), **verb(rng), **subscriber(rng, mbit(rng, 8, 100), mbit(rng, 6, 60), log_uniform(rng, 0.8, 75), 80, 120)}
    return both_ways({**setup, "snap": rng.choice((110, 140, 256, 1514, 9000)), "offload": rng.random() < 0.6},
                     loss=rng.choice((0, 0, log_uniform(rng, 0.0005, 0.006))))


# two at a time

ALONE = ("assortment", "slow-way", "patchwork", "embedded-stack", "controller-board", "script-blocks")  # that are in no other


@family
def assortment(rng):
    """Anything with anything."""
    first, second = (FAMILIES[name](rng) for name in rng.sample([name for name in sorted(FAMILIES) if name not in ALONE], 2))
    return fitting(combined(first, second))


@family
def slow_way(rng):
    """A long or narrow path with a setting of an old guide, or with a slow program."""
    ways = ("leased-line", "home-tunnel", "cable-modem", "cellular-tunnel", "ocean-bulk", "low-orbit", "mesh-radio", "power-line")
    settings = ("howto-buffers", "howto-xmit", "howto-everything", "tired-disk", "swapping-server", "stuttering-desktop", "hesitant-player", "shy-sender",
                "odd-capture")
    return fitting(combined(FAMILIES[rng.choice(ways)](rng), FAMILIES[rng.choice(settings)](rng)))


@family
def patchwork(rng):
    """Two settings that can be changed: either may be the one that matters."""
    names = [name for name in FOR_PAIRS if name not in ALONE]
    first, second = (FAMILIES[name](rng) for name in rng.sample(names, 2))
    return fitting(combined(first, second))
