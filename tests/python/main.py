"""The Python package as a user gets it: the wheel in a fresh virtual environment without Rust, and pytest's tests of checks/ there."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
CHECKS = Path(__file__).resolve().parent / "checks"
# an independent client of the server, and what reads and checks the package
PACKAGES = ["pytest==9.*", "pyarrow>=15", "pysmb==1.2.15", "mypy==2.*"]


def wheel():
    found = sorted((ROOT / "target" / "wheel-dev").glob("coax-*.whl"))
    assert found, "there is no wheel: COAX_WHEEL_PROFILE=dev scripts/package wheel"
    return found[-1]


def without_rust():
    """The environment of a machine without Rust."""
    folders = [folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "cargo").exists() and not (Path(folder) / "rustc").exists()]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CARGO", "RUST", "PYTHON", "VIRTUAL_ENV"))}
    environment = {**kept, "PATH": ":".join(folders), "PYTHONDONTWRITEBYTECODE": "1"}
    assert not shutil.which("cargo", path=environment["PATH"]) and not shutil.which("rustc", path=environment["PATH"])
    return environment


def fresh(folder, packages, environment):
    """A virtual environment with the wheel and some packages."""
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", folder], check=True, env=environment)
    python = Path(folder) / "bin" / "python"
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, wheel()], check=True, env=environment)
    alone = "import coax; assert coax.lab.run('dos-dls-5.0-full', size='100kB').seconds > 0; print(coax.__version__, 'without other packages')"
    subprocess.run([python, "-c", alone], check=True, env=environment, cwd=folder)
    subprocess.run([*install, *packages], check=True, env=environment)
    return python


def main(packages=PACKAGES, checks=("captures", "lab", "messages", "server", "processes", "types", "batches")):
    parser = argparse.ArgumentParser(prog="python", description=__doc__)
    parser.add_argument("-k", help="only tests whose names contain this")
    words = ["-k", parser.parse_args().k] if parser.parse_args().k else []
    environment = {**without_rust(), "COAX": str(subject.coax_binary()), "COAX_ROOT": str(ROOT)}
    with tempfile.TemporaryDirectory(prefix="coax-python-") as folder:
        Path(folder).chmod(0o755)
        python = fresh(folder, packages, environment)
        files = [CHECKS / f"test_{name}.py" for name in checks]
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5", *files, *words]
        return subprocess.run(list(map(str, command)), env=environment, cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
