"""What builds a package: the Rust target, a linker for it, and cargo's helpers. Each is installed if it is missing."""
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "target" / "packages"
TOOLS = Path(os.environ.get("COAX_PACKAGE_TOOLS", ROOT / "target" / "package-tools"))
# cargo's helper -> its version and options of its installation. A debug build of cargo-deb takes less than half of the time, and packs as
# fast, because a library in C does it.
CARGO_TOOLS = {"cargo-deb": ("^3.8", ["--debug"]), "cargo-generate-rpm": ("^0.21", []), "mdbook": ("^0.5", [])}
# COAX_PACKAGE_PROFILE=dev makes packages for tests from builds without optimization; they are several times larger and slower
PROFILE = os.environ.get("COAX_PACKAGE_PROFILE", "dist")
PROFILE_FOLDER = "debug" if PROFILE == "dev" else PROFILE
# cargo does not strip a program whose own package has a setting in the profile
STRIPPED = ["--", "-C", "strip=symbols"]
# what packages contain: Parquet would make the program larger than its limit, and the Python package writes it too
FEATURES = ["--no-default-features", "--features", "page"]
WEB_TARGET = "wasm32-unknown-unknown"
# the web page has more room than the program: what every packet goes through is optimized for speed
WEB_FASTEST = ["coax-capture", "coax-cause", "coax-explain", "coax-wire", "hashbrown"]
PYTHON_BUILD = "maturin>=1.9,<2"
PYTHON_TOOLS = ["ziglang", "cargo-zigbuild"]
# The architecture's name -> Rust's target
STATIC_TARGETS = {
    "x86_64": "x86_64-unknown-linux-musl",
    "aarch64": "aarch64-unknown-linux-musl",
    "armv7": "armv7-unknown-linux-musleabihf",
    "i686": "i686-unknown-linux-musl",
}
DEBIAN_RUST = ["rustc-web", "cargo-web", "rust-web-src"]


class Unavailable(Exception):
    """A tool is missing and cannot be installed here."""


def say(text):
    print(f"package: {text}", file=sys.stderr, flush=True)


def run(command, **options):
    """Runs a command whose failure ends the build with its output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=options.pop("cwd", ROOT), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"package: {' '.join(words)} failed with exit code {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def installed_tool(name):
    """The path of one of cargo's helpers, or None."""
    return shutil.which(name) or shutil.which(name, path=TOOLS / "bin")


def cargo_tool(name):
    """The path of one of cargo's helpers."""
    found = installed_tool(name)
    if found:
        return found
    version, options = CARGO_TOOLS[name]
    return install_tool(name, name, version, options=options)


def install_tool(name, crate, version, folder=TOOLS, options=()):
    """Installs a program from crates.io into a folder of its own.

    The versions that its author locked come first. A registry may not offer one of them any more: then the newest
    compatible ones are used.
    """
    say(f"cargo install {crate} (some minutes)")
    command = ["cargo", "install", "--quiet", "--root", folder, crate, "--version", version, *options]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TOOLS / "target"), "CARGO_PROFILE_DEV_DEBUG": "0"}
    try:
        run([*command, "--locked"], env=environment)
    except SystemExit as error:
        say(f"{error}\npackage: {crate} again, without its author's Cargo.lock")
        run(command, env=environment)
    return str(folder / "bin" / name)


def system_program(program, packages):
    """A program of the distribution."""
    found = shutil.which(program)
    if found:
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Unavailable(f"{program} is not installed (Debian: apt-get install {' '.join(packages)})")
    say("apt-get install " + " ".join(packages))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-qq"], env=environment)
    run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages], env=environment)
    return shutil.which(program)


def python_tools():
    """A virtual environment with zig and cargo-zigbuild."""
    environment = TOOLS / "venv"
    if not (environment / "bin" / "cargo-zigbuild").exists():
        say("pip install " + " ".join(PYTHON_TOOLS))
        run([sys.executable, "-m", "venv", environment])
        run([environment / "bin" / "pip", "install", "-q", *PYTHON_TOOLS])
    return environment


def rustup_has(target):
    """True if rustup has the target, or could install it."""
    if not shutil.which("rustup"):
        return False
    done = subprocess.run(["rustup", "target", "add", target], cwd=ROOT, capture_output=True, text=True)
    return done.returncode == 0


def debian_rust():
    """Debian's newer Rust with the sources of its standard library, unpacked so that it replaces nothing."""
    home = TOOLS / "debian-rust"
    if (home / "usr" / "bin" / "cargo").exists():
        return home
    system_program("apt-get", [])
    packages = TOOLS / "debs"
    packages.mkdir(parents=True, exist_ok=True)
    say("downloading " + " ".join(DEBIAN_RUST))
    names = [*DEBIAN_RUST, *debian_libraries()]
    try:
        run(["apt-get", "download", "-qq", *names], cwd=packages)
    except SystemExit as error:
        raise Unavailable(f"Debian's Rust cannot be downloaded: {error}") from error
    for package in sorted(packages.glob("*.deb")):
        run(["dpkg", "-x", package, home])
    return home


def debian_libraries():
    """The libraries that Debian's Rust needs beside the compiler."""
    text = run(["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks",
                "--no-replaces", "--no-enhances", "rustc-web", "cargo-web"])
    names = {line.strip() for line in text.splitlines() if line and not line.startswith((" ", "<"))}
    wanted = ("libstd-rust-web", "libllvm", "libgit2", "libssh2", "libhttp-parser", "libmbed", "libz3")
    return sorted(name for name in names if name.startswith(wanted))


def debian_environment():
    """The environment in which cargo is Debian's, which can build the standard library."""
    usr = debian_rust() / "usr"
    return {
        **os.environ,
        "PATH": f"{usr / 'bin'}:{os.environ['PATH']}",
        "RUSTC": str(usr / "bin" / "rustc"),
        "CARGO": str(usr / "bin" / "cargo"),
        "RUSTC_BOOTSTRAP": "1",
        "LD_LIBRARY_PATH": str(usr / "lib" / "x86_64-linux-gnu"),
        "CARGO_TARGET_DIR": str(TOOLS / "target-static"),
    }


def web_build():
    """The command and the environment that build the engine of the web page."""
    build = ["--profile", PROFILE, "--locked", "-p", "coax-web", "--target", WEB_TARGET]
    if PROFILE == "dist":
        build += [word for crate in WEB_FASTEST for word in ("--config", f"profile.dist.package.{crate}.opt-level=3")]
    # wasm-bindgen reads the names of the features that the module needs. The profile dev strips nothing; with another setting it would
    # build macros again.
    keep = {} if PROFILE == "dev" else {f"CARGO_PROFILE_{PROFILE.upper()}_STRIP": "debuginfo"}
    if rustup_has(WEB_TARGET):
        return ["cargo", "build", "-q", *build], {**os.environ, **keep}
    environment = debian_environment()
    return [environment["CARGO"], "build", "-q", "-Z", "build-std=std,panic_abort", *build], {**environment, **keep}


def soonest():
    """Options for the profile dev without what it optimizes and without lines in backtraces: tests of the static binary need neither."""
    packages = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["dev"]["package"]
    settings = ["debug=0", *(f"package.{name}.opt-level=0" for name in packages)]
    return [word for setting in settings for word in ("--config", f"profile.dev.{setting}")]


def static_build(architecture):
    """The command and the environment that build for an architecture with musl, linked statically."""
    target = STATIC_TARGETS[architecture]
    environment = dict(os.environ)
    build = ["--profile", PROFILE, "--locked", "-p", "coax", *FEATURES, "--target", target]
    if PROFILE == "dev":
        build += soonest()
    if rustup_has(target):
        # musl's start-up objects and the linker come with the target; equal functions are kept once
        environment[f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"] = "rust-lld"
        return ["cargo", "rustc", "-q", *build, "--bin", "coax", *STRIPPED, "-C", "link-arg=--icf=all"], environment
    environment, tools = debian_environment(), python_tools()
    environment["PATH"] = f"{tools / 'bin'}:{environment['PATH']}"
    flags = [*STRIPPED, "-C", "link-self-contained=no"]
    return [tools / "bin" / "cargo-zigbuild", "rustc", "-q", "-Z", "build-std=std,panic_abort", *build, "--bin", "coax", *flags], environment
