"""Packages every library that may be published, and checks that no packaged file includes one from outside its crate."""
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = {"wire", "netbios", "logon", "client", "server", "capture", "catalog", "explain", "lab"}
INCLUDE = re.compile(r"""include_(?:str|bytes)!\(\s*"([^"]+)"|join\("((?:\.\./)+data[^"]*)"\)""")


def published():
    """Folders of the crates that do not inherit `publish = false`."""
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        if "publish" not in tomllib.loads(manifest.read_text())["package"]:
            yield manifest.parent


def outside(crate):
    """Sentences about files that a crate includes and its package lacks. Files of tests may stay outside."""
    for source in [*crate.glob("src/**/*.rs"), *crate.glob("build.rs")]:
        if "test" in source.name or "tests" in source.parts:
            continue
        for match in INCLUDE.finditer(re.split(r"#\[cfg\(test\)\]", source.read_text())[0]):
            path = Path(match.group(1) or match.group(2))
            if crate not in (source.parent / path).absolute().resolve().parents and ".." in path.parts:
                yield f"{source.relative_to(ROOT)} includes {path}, which the package lacks"


def main():
    crates = list(published())
    wrong = [f"crates/{name} is not published" for name in sorted(LIBRARIES - {crate.name for crate in crates})]
    wrong += [sentence for crate in crates for sentence in outside(crate)]
    command = ["cargo", "package", "-q", "--locked", "--no-verify", "--allow-dirty", "--target-dir", "target/package-check"]
    command += [word for crate in crates for word in ("-p", f"coax-{crate.name}")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        wrong.append(done.stderr)
    print("\n".join(wrong))
    print(f"{len(crates)} packages, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
