"""smbtorture's tests of names, WINS and datagrams (nbt.*) against coax and nmbd, each as WINS server and domain controller. What nmbd
passes, coax must pass. COAX_BLESS=1 writes the results to nbt.tsv and into docs/evidence/conformance.md."""
import csv
import os
from pathlib import Path

from torture import runner

from .machines import Coax, Nmbd, lookup
from .network import wait_for

HERE = Path(__file__).parent
TABLE = HERE / "nbt.tsv"
PAGE = HERE.parents[1] / "docs" / "evidence" / "conformance.md"
BEGIN = "## Names, WINS and datagrams\n"
# suite -> whose name it is told
SUITES = {
    "nbt.register.register_own": "PLAIN",
    "nbt.register.refresh_own": "PLAIN",
    "nbt.wins.wins": "WINS",
    "nbt.wins.wins_bad_names": "WINS",
    "nbt.dgram.netlogon": "WINS",
    "nbt.dgram.netlogon2": "WINS",
    "nbt.dgram.ntlogon": "WINS",
    "nbt.bench.namequery": "PLAIN",
    "nbt.bench-wins.wins": "WINS",
}
WHY = {
    "nbt.wins.wins": "names without a scope pass; coax ignores those of another scope",
    "nbt.dgram.netlogon2": "asks for a domain controller of Windows NT and later; coax is none",
    "nbt.dgram.ntlogon": "joins the domain first, which needs the controller of an NT domain",
}
CONTROLLER = "wins support = yes\ndomain logons = yes\ndomain master = yes\nhosts allow = 10.77. 127."


def verdicts(kind, net, scratch):
    """Results of all suites against one kind of server."""
    server, plain, client = (net.host(f"{name}{kind}", segment) for name, segment in (("wins", 1), ("plain", 1), ("client", 1)))
    folder = scratch / kind
    folder.mkdir(mode=0o755)
    # wins_bad_names looks there for what the hook of a harmless name wrote
    hook = folder / "hook"
    hook.write_text(f"#!/bin/sh\nprintf %s \"$2\" > {folder}/wins_hook_writes_here\n")
    hook.chmod(0o755)
    text = f"{CONTROLLER}\nwins hook = {hook}"
    if kind == "coax":
        machines = [Coax(server, folder, "WINS", globals_=text), Coax(plain, folder, "PLAIN")]
    else:
        machines = [Nmbd(server, folder, "WINS", globals_=text, smbd=True), Nmbd(plain, folder, "PLAIN", smbd=True)]
    wait_for(lambda: lookup(client, "WINS", "--resolve", "wins", "--wins", server.address)["ok"], "the WINS server", 90)
    wait_for(lambda: lookup(client, "PLAIN")["ok"], "PLAIN by broadcast", 90)
    wait_for(lambda: lookup(client, "LAB#1b")["ok"], "the domain master", 90)
    conf = folder / "torture.conf"
    conf.write_text(f"[global]\nname resolve order = bcast\nnetbios name = CLIENT\nworkgroup = LAB\ninterfaces = {client.address}/24\n"
                    f"bind interfaces only = yes\nlock directory = {folder}\nprivate dir = {folder}\n"
                    f"state directory = {folder}\ncache directory = {folder}\npid directory = {folder}\n")
    found = {suite: one(client, folder, conf, name, suite) for suite, name in SUITES.items()}
    for machine in machines:
        machine.stop()
    return found, {server.address, plain.address}


def one(client, folder, conf, name, suite):
    """The result of one suite, which ends within 25 s or counts as failed."""
    command = ["timeout", "--signal=KILL", "25", "env", f"SELFTEST_TMPDIR={folder}", "smbtorture", f"--configfile={conf}", "--format=subunit",
               f"//{name}/FILES", "-U%", "-t", "3", suite]
    done = client.run(*command)
    (folder / f"{suite}.log").write_text(done.stdout + done.stderr)
    code = None if done.returncode in (-9, 137) else done.returncode
    # whether the server or smbtorture's patience ends it makes no difference
    return "success" if runner.judge(suite, done.stdout, code, 0).result == "success" else "failure"


def coax_passes_what_nmbd_passes(net, scratch):
    """smbtorture's nbt.* against coax and nmbd."""
    scratch.chmod(0o755)
    ours, addresses = verdicts("coax", net, scratch)
    theirs, _ = verdicts("nmbd", net, scratch)
    rows = [(suite, ours[suite], theirs[suite]) for suite in SUITES]
    print("\n".join("    " + " ".join(f"{cell:28}" for cell in row) for row in rows))
    behind = [suite for suite in SUITES if theirs[suite] == "success" != ours[suite]]
    assert not behind, f"nmbd passes and coax does not: {behind}"
    if os.environ.get("COAX_BLESS") == "1":
        TABLE.write_text("".join("\t".join(row) + "\n" for row in [("suite", "coax", "nmbd"), *rows]))
        text = PAGE.read_text()
        PAGE.write_text(text[:text.index(BEGIN)] + section() if BEGIN in text else text + "\n" + section())
    told = [tuple(row.values()) for row in read_table()]
    assert told == rows, f"{TABLE.name} has other results; COAX_BLESS=1 writes it: {told}"
    return addresses


def read_table():
    with open(TABLE, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def section():
    """The part of docs/evidence/conformance.md, which ends the page."""
    lines = [BEGIN, "`scripts/test --only netbios-torture` runs smbtorture's nbt.* against coax and against nmbd 4.17.12 with smbd, each as WINS server",
             "and domain controller of Windows 9x. The suites of WINS replication are left out: neither has it.", "",
             "| suite | coax | nmbd | why not |", "|---|---|---|---|"]
    for row in read_table():
        why = WHY.get(row["suite"], "") if row["coax"] != "success" else ""
        lines.append(f"| {row['suite']} | {row['coax']} | {row['nmbd']} | {why} |")
    return "\n".join(lines) + "\n"


TESTS = [coax_passes_what_nmbd_passes]
