"""Builds packages: scripts/package NAME…; without a name it lists them."""
import argparse
import sys

from . import build, site, web, wheel
from .toolchain import OUT, PROFILE, STATIC_TARGETS, Unavailable, say

PACKAGES = {
    "deb": (build.deb, "Debian and Ubuntu: service, configuration, manual pages, completions"),
    "rpm": (build.rpm, "Fedora and openSUSE: the same"),
    "image": (build.image, "OCI image from scratch, without root"),
    "site": (site.site, "the documentation as a site that needs no network"),
    "wheel": (wheel.wheel, "the Python package"),
    "web": (web.page, "the web page: one HTML file with the analyser and the lab"),
    **{f"static-{name}": (lambda name=name: build.tarball(name), f"tarball with a static binary for {name}") for name in STATIC_TARGETS},
}


def listing():
    return "\n".join(f"  {name:16}{text}" for name, (_, text) in PACKAGES.items())


def main():
    parser = argparse.ArgumentParser(prog="scripts/package", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=f"Builds packages into target/packages:\n\n{listing()}\n  {'all':16}all of them")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--skip-unavailable", action="store_true", help="what cannot be built here is no failure")
    given = parser.parse_args()
    names = given.names
    unknown = [name for name in names if name != "all" and name not in PACKAGES]
    if unknown:
        parser.error(f"there is no package {unknown[0]!r}; there are {', '.join(PACKAGES)} and all")
    if not names:
        parser.print_help()
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    if PROFILE != "dist":
        say(f"profile {PROFILE}: packages for tests, not to be published")
    failed = 0
    for name in PACKAGES if "all" in names else names:
        try:
            print(PACKAGES[name][0]())
        except Unavailable as reason:
            print(f"SKIPPED {name}: it cannot be built here: {reason}", file=sys.stderr)
            failed = 0 if given.skip_unavailable else 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
