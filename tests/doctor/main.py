"""coax doctor and coax setup on real machines: each fault is made in a network namespace and must be found with its fix;
what setup writes is served to smbclient, and a setup that fails changes nothing.
"""
import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from netbios.network import Network

from . import faults, setups

TESTS = [*faults.TESTS, *setups.TESTS]


def main():
    parser = argparse.ArgumentParser(prog="scripts/test --only doctor --", description=__doc__)
    parser.add_argument("--only", default="", help="names of tests, separated by commas; part of a name will do")
    only = parser.parse_args().only
    failed = 0
    with tempfile.TemporaryDirectory(prefix="coax-doctor-") as temporary:
        for test in TESTS:
            name = test.__name__
            if only and not any(part in name for part in only.split(",")):
                continue
            folder = Path(temporary) / name
            folder.mkdir()
            folder.parent.chmod(0o755)
            began = time.monotonic()
            fault = None
            try:
                with Network("doc", 1) as network:
                    test(network, folder)
            except Exception:
                fault = traceback.format_exc()
            failed += fault is not None
            print(f"{'FAIL' if fault else 'ok  '} {name}: {test.__doc__.splitlines()[0]} ({time.monotonic() - began:.1f} s)", flush=True)
            if fault:
                print("    " + fault.replace("\n", "\n    "))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
