"""Rules that the compiler does not check: sans-IO crates use no std, files stay small, pages name tests that exist and are listed."""
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from house import links
from house.steps import BY_KEY

ROOT = Path(__file__).resolve().parents[2]
SANS_IO = ["wire", "netbios", "logon", "catalog", "server", "client", "speed", "pace", "waits", "lab", "fault"]
# their feature `std` does nothing: they are no_std with it, too
STD_IN_NAME_ONLY = {"siphasher"}
LONG, TOO_LONG = 600, 1000


TEST_MODULE = re.compile(
    r"""#\[cfg\(test\)\]\s*(?:\#\[(?:path\s*=\s*"([\w/.]+)"|[^\]]*)\]\s*)*(?:pub(?:\(\w+\))?\s+)?mod\s+(\w+)\s*;"""
)


def test_modules(folder):
    """The modules, or files, that a crate compiles only for its tests."""
    found = set()
    for path in folder.glob("src/**/*.rs"):
        for file, module in TEST_MODULE.findall(path.read_text()):
            found.add(Path(file).name if file else module)
    return found


def without_std(crate):
    """A crate uses no std outside its tests."""
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
    """No dependency of the crate is built with its feature `std`, if the crate is built alone."""
    command = ["cargo", "tree", "--locked", "-e", "normal,no-proc-macro", "-p", f"coax-{crate}", "--prefix", "none", "-f", "{p}|{f}"]
    for line in sorted(set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())):
        package, _, features = line.partition("|")
        if "std" in features.split(",") and package.split()[0] not in STD_IN_NAME_ONLY:
            yield f"coax-{crate}: its dependency {package} is built with std"


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
    """Pages with promises name the test of each promise: the tests and scripts exist."""
    sources = [*ROOT.glob("crates/**/*.rs")]
    tests = {name for path in sources if "target" not in path.parts for name in re.findall(r"\bfn (\w+)", path.read_text())}
    for page in CLAIMS:
        path = ROOT / "docs" / page
        for name in re.findall(r"`([\w/]+)`", path.read_text() if path.exists() else ""):
            if name.count("_") >= 3 and "/" not in name and name not in tests:
                yield f"docs/{page} names a test {name}, which does not exist"
            if name.startswith("scripts/") and not (ROOT / name).exists():
                yield f"docs/{page} names {name}, which does not exist"


def steps():
    """Every `scripts/NAME` and every `--only STEP` in the documentation exists."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*")]
    for page in (page for page in pages if page.is_file()):
        text = page.read_text()
        for name in sorted(set(re.findall(r"(?<![\w/-])scripts/([a-z][a-z-]*)", text))):
            if not (ROOT / "scripts" / name).exists():
                yield f"{page.relative_to(ROOT)} names scripts/{name}, which does not exist"
        for key in sorted(set(re.findall(r"scripts/test --only ([a-z][a-z-]*)", text)) - set(BY_KEY)):
            yield f"{page.relative_to(ROOT)} names the step {key}, which does not exist"


# as typed, and as words in a list
FILTER = re.compile(r"""--test\W+all\W+([a-z]\w*)::""")


def filters():
    """Every `--test all NAME::` names a module of such a program: with a filter that matches nothing, cargo runs no test and is content."""
    programs = list(ROOT.glob("crates/*/tests/all"))
    modules = {path.stem for program in programs for path in program.iterdir()}
    named = 0
    patterns = ["*.md", "docs/**/*.md", "scripts/*", "tests/house/*.py", "crates/**/*.md", "crates/**/*.rs", "crates/**/*.txt"]
    for path in (path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()):
        for name in FILTER.findall(path.read_text()):
            named += 1
            if name not in modules:
                yield f"{path.relative_to(ROOT)} names tests of a module {name}, which does not exist"
    if not named:
        yield "no page and no step names a module of tests: the pattern is wrong"


FENCE = re.compile(r"^\s*(?://[/!] ?)?\s*```(.*)$", re.M)
RUST = {"", "rust", "no_run", "should_panic", "compile_fail", "ignore", "standalone"}


def has_examples(texts):
    """One of these pages has an example in Rust, which rustdoc runs."""
    openings = [fence for text in texts for fence in FENCE.findall(text)[::2]]
    return any(set(re.split(r"[,\s]+", opening.strip())) <= RUST for opening in openings)


def doc_examples():
    """Crates without examples in their documentation say so: to look for them takes rustdoc as long as to check the crate. Others must not."""
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        folder = manifest.parent
        if not (folder / "src" / "lib.rs").exists():
            continue
        pages = [path.read_text() for path in [*folder.glob("README.md"), *folder.glob("src/**/*.rs")]]
        is_off = "doctest = false" in manifest.read_text()
        if has_examples(pages) and is_off:
            yield f"{manifest.relative_to(ROOT)} has doctest = false, but the crate's documentation has examples in Rust"
        if not has_examples(pages) and not is_off:
            yield f"{manifest.relative_to(ROOT)}: the crate's documentation has no example in Rust; write doctest = false in [lib]"


def main():
    wrong = [sentence for crate in SANS_IO for check in (without_std, features_without_std) for sentence in check(crate)]
    wrong += [*sizes(), *claims(), *steps(), *filters(), *doc_examples(), *links.missing_in_contents()]
    for sentence in wrong:
        print(sentence)
    print(f"{len(wrong)} rules broken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
