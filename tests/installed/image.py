"""The image under podman without root: small, not root inside, healthy, and smbclient copies from it."""
import argparse
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from netbios.network import wait_for

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("podman", "runc", "newuidmap", "buildah", "smbclient")
USER = "coax-rootless"
PORT = 1445


def impossible():
    """Why no image can be run here, or None."""
    if os.geteuid() != 0:
        return "only root can add the user that runs the container"
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    return "not installed: " + ", ".join(missing) if missing else None


class Runner:
    """podman as a user without privileges, in a network of its own, with its files in one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.account = account()
        shutil.chown(folder, self.account.pw_uid, self.account.pw_gid)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}

    def run(self, *command):
        return subprocess.run(list(map(str, command)), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=180,
                              user=self.account.pw_uid, group=self.account.pw_gid, extra_groups=[])

    def podman(self, *words):
        # the runtime: crun refuses control groups of version 1 and 2 side by side
        return self.run("podman", "--runtime", "runc", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", *words)

    def must(self, *words):
        done = self.podman(*words)
        if done.returncode != 0:
            raise RuntimeError(f"podman {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout


def account():
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--no-create-home", USER], check=True)
        return pwd.getpwnam(USER)


def examine(runner, archive):
    """Yields sentences about what is wrong."""
    share = runner.folder / "share"
    share.mkdir()
    (share / "HELLO.TXT").write_text("hello\n")
    runner.must("load", "-i", archive)
    name = f"coax-{os.getpid()}"
    runner.must("run", "-d", "--name", name, "--network", "host", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges",
                "-v", f"{share}:/share:ro", "localhost/coax:latest")
    try:
        wait_for(lambda: "listening" in log(runner, name), "the server to listen", 30)
        user = runner.must("inspect", "--format", "{{.Config.User}}", name).strip()
        if user.split(":")[0] in ("", "0", "root"):
            yield f"it runs as {user or 'root'}"
        got = runner.run("smbclient", "//127.0.0.1/SHARE", "-p", PORT, "-N", "-m", "NT1", "--option=client min protocol=NT1", "-c", "get HELLO.TXT -")
        if "hello" not in got.stdout:
            yield f"smbclient: {got.stdout}{got.stderr}"
        version = runner.must("exec", name, "/usr/bin/coax", "--version")
        if not re.match(r"coax \d+\.\d+\.\d+ \(commit [0-9a-f]{12}", version):
            yield f"--version does not name the commit: {version}"
        health = runner.podman("healthcheck", "run", name)
        if health.returncode != 0:
            yield f"the health check fails: {health.stdout}{health.stderr}"
        runner.must("stop", "-t", "10", name)
        code = runner.must("inspect", "--format", "{{.State.ExitCode}}", name).strip()
        if code != "0":
            yield f"it ends with exit code {code}"
    finally:
        print(log(runner, name))
        runner.podman("rm", "-f", name)


def log(runner, name):
    done = runner.podman("logs", name)
    return done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", help="an archive that is there already")
    parser.add_argument("--built", action="store_true", help="take the archive in target/packages; without one, say so and pass")
    wanted = parser.parse_args()
    if not wanted.built and not wanted.image:
        subprocess.run([str(ROOT / "scripts" / "package"), "image"], check=True, stdout=subprocess.DEVNULL)
    built = sorted((ROOT / "target" / "packages").glob("*-image.tar"), key=lambda path: path.stat().st_mtime)
    if wanted.built and not built:
        print("SKIPPED: the image could not be built here")
        return 0
    given = wanted.image or built[-1]
    folder = Path(tempfile.mkdtemp(prefix="coax-image-"))
    archive = folder / "image.tar"
    shutil.copy2(given, archive)
    archive.chmod(0o644)
    try:
        wrong = list(examine(Runner(folder), archive))
    finally:
        # the container's files belong to users of its own
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(wrong) or f"passed: {Path(given).name}, {Path(given).stat().st_size:,} bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
