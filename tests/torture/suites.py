"""smbtorture's suites that speak SMB1, with what running them takes (names as `smbtorture --list-suites` has them)."""
import fnmatch
import re

BASE = """
lock delete charset delaywrite aliases fdpass unlink attr trans2 birthtime negnowait dir1 dir2 deny1 deny2 deny3 denydos
ntdeny1 ntdeny2 tcon tcondev vuid rw1 open defer_open xcopy iometer rename properties mangle openattr winattr chkpath
secleak disconnect samba3error casetable utable smb trans2-scan nttrans createx_access createx_sharemodes_file
createx_sharemodes_dir maximum_allowed bench-holdcon bench-holdopen bench-readwrite bench-torture scan-pipe_number
scan-ioctl scan-maxfid smb1-twrp-openroot
""".split()
RAW = """
sfileinfo search open oplock notify unlink read write lock context session rename streams acls composite offline qfsinfo
qfileinfo qfileinfo.ipc close mkdir mux ioctl chkpath seek eas samba3hide samba3closeerr samba3rootdirfid
samba3rootdirfid2 samba3checkfsp samba3oplocklogoff samba3badnameblob samba3badpath samba3caseinsensitive
samba3posixtimedlock scan-eamax bench-oplock bench-lock bench-open bench-lookup bench-tcon ping-pong hold-oplock
""".split()
OTHER = """
unix.whoami unix.info2 rap.basic rap.rpc rap.printing rap.sam rap.scan bench.nbench dfs.domain
rpc.samba3.smb1-pipe-name
""".split()
ALL = [f"base.{name}" for name in BASE] + [f"raw.{name}" for name in RAW] + OTHER

# Never end by themselves, or need somebody beside them.
ENDLESS = {"raw.hold-oplock", "raw.ping-pong", "base.bench-holdcon", "base.bench-holdopen"}
# Scans of all opcodes, levels and characters, and a bench whose verdict is always "false": no value as a test.
SCANS = {"base.smb", "base.nttrans", "base.casetable", "base.utable", "base.scan-pipe_number", "raw.bench-lookup"}
# How many times the usual time limit a suite may take against a correct server.
PATIENCE = {
    "base.delaywrite": 4, "base.deny1": 3, "base.deny2": 3, "raw.notify": 2, "raw.oplock": 2, "raw.acls": 2,
    "base.utable": 2, "base.casetable": 2, "base.createx_access": 2, "base.createx_sharemodes_file": 2,
    "base.createx_sharemodes_dir": 2, "raw.lock": 2, "base.mangle": 2, "base.bench-torture": 2, "base.lock": 2,
    "base.maximum_allowed": 2, "raw.bench-lock": 0.4, "raw.bench-open": 0.4,
}
# When their time is up these drop requests of which smbtorture may just have read the four bytes of the reply's length;
# it then takes the reply's "SMB" for the next length and waits for 5 MB that never arrive (seen in strace, with both
# servers). Such a run says nothing of the server: it is tried again, so many times in all.
ATTEMPTS = {"raw.bench-lock": 6, "raw.bench-open": 6}


def chosen(patterns):
    """Suites by patterns with commas or blanks between them; all that end and judge something when there are none."""
    wanted = [pattern for pattern in re.split(r"[,\s]+", patterns) if pattern]
    if not wanted:
        return [name for name in ALL if name not in ENDLESS | SCANS]
    found = []
    for pattern in wanted:
        hits = [name for name in ALL if fnmatch.fnmatch(name, pattern)] or [pattern]
        found += [name for name in hits if name not in found]
    return found
