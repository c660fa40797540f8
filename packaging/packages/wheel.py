"""The Python package: a wheel for CPython 3.9 and later (stable interface) on this architecture."""
import os
import shutil
import sys

from .toolchain import OUT, PYTHON_BUILD, ROOT, TOOLS, run, say

MANIFEST = ROOT / "crates" / "python" / "Cargo.toml"


def maturin():
    """The path of maturin, in a virtual environment of its own."""
    environment = TOOLS / "wheel-venv"
    program = environment / "bin" / "maturin"
    if not program.exists():
        say(f"pip install {PYTHON_BUILD}")
        run([getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--clear", environment])
        run([environment / "bin" / "python", "-m", "pip", "install", "-q", PYTHON_BUILD])
    return program


def wheel():
    """Builds it. COAX_WHEEL_PROFILE=dev makes one for tests, in a folder of its own and in a fraction of the time."""
    profile = os.environ.get("COAX_WHEEL_PROFILE", "dist")
    folder = OUT if profile == "dist" else OUT.parent / f"wheel-{profile}"
    work = OUT.parent / f"wheel-work-{profile}"
    shutil.rmtree(work, ignore_errors=True)
    say(f"the wheel, profile {profile}")
    # the oldest glibc that the compiled functions need decides the platform in the wheel's name
    run([maturin(), "build", "--manifest-path", MANIFEST, "--locked", "--profile", profile, "--strip", "--out", work])
    [made] = work.glob("coax-*.whl")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("coax-*.whl"):
        old.unlink()
    return shutil.move(made, folder / made.name)
