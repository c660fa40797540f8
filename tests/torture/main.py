"""Runs smbtorture's SMB1 suites against the server, several at a time, each worker with a server of its own.

Without options: all suites against coax, in the tests' configuration and in the default one, and docs/evidence/conformance.md is
written. With --ci: only the suites of
tests/torture/expected.tsv, every one of which must pass. --gentest and --locktest compare coax with smbd.
"""
import argparse
import contextlib
import os
import queue
import shutil
import socket
import sys
import threading
import time
from pathlib import Path

from peers import install, subject

from . import conformance, differential, runner, suites

ROOT = Path(__file__).resolve().parents[2]
# What a server is given in the configuration "test"; in "default" it has its own defaults.
# what Samba's own tests set for it
SMBD_GLOBALS = {
    "kernel change notify": "no", "smbd:sharedelay": "100000", "smbd:writetimeupdatedelay": "500000",
}
# suites that try every pair of share modes would wait a second for each that is refused, and those of write times a
# multiple of two seconds for each that does not change
COAX_GLOBALS = {"smbd:sharedelay": "100000", "smbd:writetimeupdatedelay": "500000"}
COAX_SHARE = {"vfs objects": "streams_xattr"}
COAX_OPTIONS = ("torture:sharedelay=100000", "torture:writetimeupdatedelay=500000")
SMBD_OPTIONS = ("torture:sharedelay=100000", "torture:writetimeupdatedelay=500000")
SMBD_SHARE = {
    "vfs objects": "acl_xattr xattr_tdb streams_depot", "dos filemode": "yes", "strict rename": "yes",
    "map archive": "no", "map hidden": "no", "map system": "no", "map readonly": "no", "store dos attributes": "yes",
}


# raw.samba3hide connects to these by name; they show the same folder
MORE_SHARES = {"hideunread": {"hide unreadable": "yes"}, "hideunwrite": {"hide unwriteable files": "yes"}}


def parse():
    parser = argparse.ArgumentParser(prog="scripts/torture", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subject", default="coax", help="coax or smbd")
    parser.add_argument("--configuration", choices=("both", *conformance.CONFIGURATIONS), default="both",
                        help="the tests' configuration, with short delays and named streams, the default one, or both")
    parser.add_argument("--tests", default="", help="suites, as patterns with commas: 'raw.*,base.rw1'")
    parser.add_argument("--ci", action="store_true", help="the suites of expected.tsv; every one must pass")
    parser.add_argument("--jobs", type=int, default=4, help="suites at a time (most of their time is waiting)")
    parser.add_argument("--timeout", type=float, default=100, help="seconds a suite may take; known slow ones more")
    parser.add_argument("--target", default="", help="smbtorture's leniency: samba3, win7, …; none is strict")
    parser.add_argument("--max-protocol", default="NT1", help="the newest dialect the client offers")
    parser.add_argument("--option", action="append", default=[], help="an option for smbtorture, NAME=VALUE")
    parser.add_argument("--out", help="folder for logs and tables; target/torture/SUBJECT otherwise")
    parser.add_argument("--gentest", type=int, metavar="N", help="N random operations, coax and smbd side by side")
    parser.add_argument("--locktest", type=int, metavar="N", help="N random locks, coax and smbd side by side")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def run_all(arguments, configuration, wanted, out):
    """The verdicts of all suites in one configuration, in the order asked for."""
    own = SMBD_OPTIONS if arguments.subject == "smbd" else COAX_OPTIONS
    options = (*arguments.option, *(own if configuration == "test" else ()))
    settings = runner.Settings(out, arguments.timeout, arguments.max_protocol, arguments.target, options)
    # the longest first, so that none of them is left alone at the end
    seconds = {test: float(row["seconds"] or 0) for test, row in conformance.read_samba().items()}
    todo, verdicts = queue.SimpleQueue(), {}
    for suite in sorted(wanted, key=lambda suite: -seconds.get(suite, 0)):
        todo.put(suite)
    threads = [
        threading.Thread(target=work, args=(arguments.subject, configuration, number, settings, todo, verdicts))
        for number in range(1, min(arguments.jobs, len(wanted)) + 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [verdicts[suite] for suite in wanted if suite in verdicts]


def server_options(kind, configuration):
    """What the server is started with."""
    if configuration == "default":
        return {"more_shares": MORE_SHARES}
    smbd, coax = (SMBD_GLOBALS, SMBD_SHARE), (COAX_GLOBALS, COAX_SHARE)
    globals_, share = smbd if kind == "smbd" else coax
    return {"globals_": globals_, "share": share, "more_shares": MORE_SHARES}


def work(kind, configuration, number, settings, todo, verdicts):
    """One worker: suites one after another, with a new server whenever the last one did not survive a suite."""
    options = server_options(kind, configuration)
    while True:
        with subject.start(kind, host=f"127.0.0.{number}", **options) as server:
            while True:
                try:
                    suite = todo.get_nowait()
                except queue.Empty:
                    return
                verdict = runner.run(server, settings, suite)
                verdicts[suite] = verdict
                show(verdict)
                if not alive(server):
                    print(f"THE SERVER DIED IN {suite}", flush=True)
                    verdict.result, verdict.first = "crash", "the server ended"
                    break


def alive(server):
    """Whether it still takes connections. Its process may be a zombie of ours, so the process id says nothing."""
    with contextlib.suppress(OSError), socket.create_connection((server.host, server.direct), 5):
        return True
    return False


def show(verdict):
    print(f"{verdict.test:32} {verdict.result:8} ok={verdict.passed} bad={verdict.failed} skip={verdict.skipped} "
          f"{verdict.seconds}s {verdict.first[:110]}", flush=True)


def report(configuration, verdicts, out):
    conformance.write_tsv(out / "suites.tsv", verdicts)
    conformance.write_subtests(out / "subtests.tsv", verdicts)
    print(f"{configuration} configuration:")
    print("\n".join(conformance.summary(verdicts, conformance.read_samba(configuration))))


def write_page(arguments, found):
    """docs/evidence/conformance.md, if every suite ran in both configurations."""
    partial = arguments.tests or arguments.ci or arguments.target or arguments.max_protocol != "NT1"
    if arguments.subject == "coax" and not partial and set(found) == set(conformance.CONFIGURATIONS):
        page = ROOT / "docs" / "evidence" / "conformance.md"
        page.write_text(conformance.markdown(found))
        print(f"written: {page.relative_to(ROOT)}")


def main():
    arguments = parse()
    if "smbtorture" in install.missing_programs():
        print("torture: SKIPPED, smbtorture is missing", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    for tool in ("gentest", "locktest"):
        operations = getattr(arguments, tool)
        if operations:
            return differential.run(tool, arguments.subject, "smbd", operations, arguments.seed)
    wanted = conformance.read_expected() if arguments.ci else suites.chosen(arguments.tests)
    chosen = conformance.CONFIGURATIONS if arguments.configuration == "both" else (arguments.configuration,)
    if arguments.ci:
        chosen = ("test",)
    out = Path(arguments.out or ROOT / "target" / "torture" / arguments.subject).resolve()
    if arguments.subject == "coax":
        os.environ["COAX"] = subject.coax_binary()  # built once, not by every worker
    started = time.monotonic()
    found = {}
    for configuration in chosen:
        folder = out / configuration
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        found[configuration] = run_all(arguments, configuration, wanted, folder)
        report(configuration, found[configuration], folder)
    print(f"{time.monotonic() - started:.0f} s; logs and tables in {out}")
    write_page(arguments, found)
    verdicts = found[chosen[0]]
    broken = [verdict for verdict in verdicts if verdict.result != "success"]
    missing = set(wanted) - {verdict.test for verdict in verdicts}
    if arguments.ci:
        for verdict in broken:
            print(f"MUST PASS: {verdict.test}: {verdict.result} {verdict.first}")
        return 1 if broken or missing else 0
    crashed = [verdict for verdicts in found.values() for verdict in verdicts if verdict.result == "crash"]
    return 1 if missing or crashed else 0


if __name__ == "__main__":
    sys.exit(main())
