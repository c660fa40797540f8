"""Copies over IPX beside NetBEUI and TCP through a pair of virtual interfaces whose rate tc limits. Needs root and sch_tbf.

Prints the payload rate of each copy (start of the program included) and the CPU time of server and client.
"""
from netbeui import bench

NETWORKS = (
    ("NBIPX", "ipx+nb://ATTIC:eth0:802.2/DATA"),
    ("direct hosting", "ipx+direct://ATTIC:eth0:802.2/DATA"),
    *bench.NETWORKS,
)


if __name__ == "__main__":
    bench.main(__doc__, NETWORKS, ("--ipx", "eth0:802.2"), cases=2)
