"""What the compiler cannot be asked: sans-IO crates stay free of std, files stay small, and pages name tests that exist."""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SANS_IO = ["wire", "netbios", "logon", "catalog", "server", "client", "speed", "lab"]
# built with a feature `std` that does nothing: these are no_std all the same
STD_IN_NAME_ONLY = {"siphasher"}
LONG, TOO_LONG = 600, 1000


TEST_MODULE = re.compile(
    r"""#\[cfg\(test\)\]\s*(?:\#\[(?:path\s*=\s*"([\w/.]+)"|[^\]]*)\]\s*)*(?:pub(?:\(\w+\))?\s+)?mod\s+(\w+)\s*;"""
)


def test_modules(folder):
    """Names of the modules, or files, that a crate compiles for its tests alone."""
    found = set()
    for path in folder.glob("src/**/*.rs"):
        for file, module in TEST_MODULE.findall(path.read_text()):
            found.add(Path(file).name if file else module)
    return found


def without_std(crate):
    """A crate names no std outside its tests, and none of its dependencies brings it in."""
    folder = ROOT / "crates" / crate
    root = (folder / "src" / "lib.rs").read_text()
    if "#![no_std]" not in root.replace(" ", ""):
        yield f"crates/{crate}/src/lib.rs lacks #![no_std]"
    tests = test_modules(folder)
    for path in sorted(folder.glob("src/**/*.rs")):
        if path.stem in tests or path.name in tests or tests & set(path.parent.parts):
            continue
        code = re.split(r"#\[cfg\(test\)\]\s*(?:#\[allow\([^]]*\)\]\s*)*mod \w+ \{", path.read_text())[0]
        for match in re.finditer(r"^(?!\s*//).*?(#\[cfg\(test\)\]\s*)?(\bstd::|extern crate std)", code, re.M):
            if not match.group(1) and "cfg(test)" not in code[max(0, match.start() - 40) : match.start()]:
                line = code[: match.start(2)].count("\n") + 1
                yield f"{path.relative_to(ROOT)}:{line} names std"


def features_without_std(crate):
    """No dependency of the crate has a `std` feature switched on, when built for itself alone."""
    command = ["cargo", "tree", "--locked", "-e", "normal,no-proc-macro", "-p", f"coax-{crate}", "--prefix", "none", "-f", "{p}|{f}"]
    for line in sorted(set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())):
        package, _, features = line.partition("|")
        if "std" in features.split(",") and package.split()[0] not in STD_IN_NAME_ONLY:
            yield f"coax-{crate}: its dependency {package} is built with std"


def bare_metal(crates):
    """Where a target without std is installed, the crates are compiled for it: the surest proof."""
    target = "x86_64-unknown-none"
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
    if not (Path(sysroot) / "lib" / "rustlib" / target).exists():
        print(f"note: no {target} here; std is looked for in sources and features instead")
        return
    command = ["cargo", "check", "-q", "--locked", "--target", target]
    command += [part for crate in crates for part in ("-p", f"coax-{crate}")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        yield f"does not build for {target}:\n{done.stderr[-2000:]}"


def sizes():
    for path in sorted([*ROOT.glob("crates/**/*.rs"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("fuzz/**/*.rs")]):
        if "target" in path.parts:
            continue
        lines = path.read_text().count("\n")
        if lines > TOO_LONG:
            yield f"{path.relative_to(ROOT)} has {lines} lines, more than {TOO_LONG}"
        elif lines > LONG:
            print(f"note: {path.relative_to(ROOT)} has {lines} lines, more than {LONG}")


CLAIMS = ["security.md", "durability.md"]


def claims():
    """Pages that promise something name the tests of each promise: every test and script they name exists."""
    sources = [*ROOT.glob("crates/**/*.rs")]
    tests = {name for path in sources if "target" not in path.parts for name in re.findall(r"\bfn (\w+)", path.read_text())}
    for page in CLAIMS:
        path = ROOT / "docs" / page
        for name in re.findall(r"`([\w/]+)`", path.read_text() if path.exists() else ""):
            if name.count("_") >= 3 and "/" not in name and name not in tests:
                yield f"docs/{page} names a test {name}, which does not exist"
            if name.startswith("scripts/") and not (ROOT / name).exists():
                yield f"docs/{page} names {name}, which does not exist"


def main():
    wrong = [sentence for crate in SANS_IO for check in (without_std, features_without_std) for sentence in check(crate)]
    wrong += [*bare_metal(SANS_IO), *sizes(), *claims()]
    for sentence in wrong:
        print(sentence)
    print(f"{len(wrong)} rules broken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
