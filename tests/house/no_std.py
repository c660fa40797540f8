"""Builds the crates with `#![no_std]` for a target without a standard library. That proves that nothing in them uses one.

It needs one of these: the target x86_64-unknown-none (`rustup target add x86_64-unknown-none`), the sources of the standard
library (`rustup component add rust-src`), or Debian's packages rustc-web, rust-web-src and their libraries, installed or
unpacked into the folder that $COAX_NO_STD_RUST names. Without any of them the step says so and passes.
"""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = "x86_64-unknown-none"
BUILD_STD = ["-Z", "build-std=core,alloc"]


def crates():
    """Packages whose library declares `#![no_std]`."""
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        library = manifest.parent / "src" / "lib.rs"
        if library.exists() and "#![no_std]" in library.read_text():
            yield f"coax-{manifest.parent.name}"


def sysroot(rustc, environment):
    done = subprocess.run([rustc, "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, env=environment)
    return Path(done.stdout.strip() or "/nonexistent")


def toolchain():
    """Options of cargo and an environment for a build without std, or None."""
    environment = dict(os.environ)
    rustlib = sysroot("rustc", environment) / "lib" / "rustlib"
    if (rustlib / TARGET).exists():
        return [], environment
    if (rustlib / "src" / "rust" / "library" / "core").exists():
        return BUILD_STD, {**environment, "RUSTC_BOOTSTRAP": "1"}
    debian = Path(os.environ.get("COAX_NO_STD_RUST", "/")) / "usr"
    rustc, sources = debian / "bin" / "rustc", debian / "lib" / "rustlib" / "src" / "rust" / "library" / "core"
    if rustc.exists() and sources.exists():
        libraries = debian / "lib" / "x86_64-linux-gnu"
        return BUILD_STD, {**environment, "RUSTC": str(rustc), "LD_LIBRARY_PATH": str(libraries), "RUSTC_BOOTSTRAP": "1"}
    return None


def main():
    found = toolchain()
    if found is None:
        print(f"SKIPPED: neither {TARGET} nor the sources of the standard library are installed")
        return 0
    options, environment = found
    packages = list(crates())
    command = ["cargo", "check", "--locked", *options, "--target", TARGET]
    command += [word for package in packages for word in ("-p", package)]
    if environment.get("RUSTC"):
        environment["CARGO_TARGET_DIR"] = str(ROOT / "target" / "no-std")
    code = subprocess.run(command, cwd=ROOT, env=environment).returncode
    print(f"{', '.join(packages)}: {'build' if code == 0 else 'DO NOT build'} for {TARGET}")
    return code


if __name__ == "__main__":
    sys.exit(main())
