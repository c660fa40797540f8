"""tshark judges every captured frame: none may be malformed or have an expert error."""
import subprocess

FIELDS = ["frame.number", "ip.src", "udp.srcport", "_ws.col.Info", "_ws.expert.message"]
# marks of TCP itself do not count: on a busy machine the kernel retransmits, and a client that stops resets
NETBIOS = "(nbns || nbdgm || nbss || smb || browser)"
MARKS = f"_ws.malformed || (_ws.expert.severity >= 0x600000 && {NETBIOS} && !tcp.analysis.flags)"


def tshark(path, *arguments):
    done = subprocess.run(["tshark", "-n", "-r", str(path), *arguments], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise RuntimeError(f"tshark: {done.stderr.strip()[-300:]}")
    return done.stdout.splitlines()


def offences(path, addresses):
    """Marked frames that were sent from `addresses`, and the number of their frames."""
    fields = [part for field in FIELDS for part in ("-e", field)]
    source = " || ".join(f"ip.src == {address}" for address in addresses)
    marked = tshark(path, "-Y", f"({source}) && ({MARKS})", "-T", "fields", *fields)
    return marked, len(tshark(path, "-Y", source, "-T", "fields", "-e", "frame.number"))
