"""Installs the programs that the tests talk to, if they are missing.

Debian packages need root; the Python clients go into a virtual environment and the Java ones into a folder, both below
target/peers. It names each program that it could not install: an error under CI=true, a notice elsewhere.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("PEERS_DIR", ROOT / "target" / "peers"))
VENV = HOME / "venv"
JARS = HOME / "jars"
CLASSES = HOME / "classes"
JAVA_SOURCES = Path(__file__).parent / "java"

# program that shows a package is there -> Debian packages
PROGRAMS = {
    "smbd": ["samba", "samba-vfs-modules"],
    "smbclient": ["smbclient"],
    "smbtorture": ["samba-testsuite", "samba-vfs-modules"],
    "dbench": ["dbench"],
    "tshark": ["tshark"],
    "tcptrace": ["tcptrace"],
    "qemu-system-x86_64": ["qemu-system-x86"],
    "cpio": ["cpio"],
    "gcc": ["gcc", "libc6-dev"],
    "tcpdump": ["tcpdump"],
    "strace": ["strace"],
    "nmap": ["nmap"],
    "nbtscan": ["nbtscan"],
    "curl": ["curl"],
    "nc.openbsd": ["netcat-openbsd"],
    "iperf3": ["iperf3"],
    "setfattr": ["attr"],
    "setfacl": ["acl"],
    "nft": ["nftables"],
    "iptables": ["iptables"],
    "ip": ["iproute2"],
    "unshare": ["util-linux"],
    "losetup": ["mount"],
    "mkfs.ext4": ["e2fsprogs"],
    "strace": ["strace"],
    "debootstrap": ["debootstrap"],
    "systemd-nspawn": ["systemd-container"],
    "buildah": ["buildah"],
    "podman": ["podman"],
    "runc": ["runc"],
    "newuidmap": ["uidmap"],
    "javac": ["default-jdk-headless"],
    "mvn": ["maven"],
    "node": ["nodejs"],
    "chromium": ["chromium", "fonts-dejavu-core"],
    "chromedriver": ["chromium-driver"],
}
PYTHON_PACKAGES = ["impacket==0.13.1", "pysmb==1.2.15", "selenium==4.51.0", "duckdb==2.0.0", "SALib==1.6.0", "jsonschema==4.26.0", "prometheus_client==0.23.1"]
JAVA_SERVERS = {"jfileserver": "org.filesys:jfileserver:1.4.0"}
JAVA_PACKAGES = {"jcifs13": "jcifs:jcifs:1.3.17", "jcifsng": "eu.agno3.jcifs:jcifs-ng:2.1.10"}


def say(text):
    print(f"install-peers: {text}", file=sys.stderr, flush=True)


def quietly(command, **options):
    """Runs a command; its output is shown only if it fails. True when it succeeded."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        say(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}")
    return done.returncode == 0


def missing_programs():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [program for program in PROGRAMS if not shutil.which(program, path=path)]


def install_debian():
    missing = missing_programs()
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    packages = sorted({package for program in missing for package in PROGRAMS[program]})
    say("apt-get install " + " ".join(packages))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    quietly(["apt-get", "update", "-qq"], env=environment)
    install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends"]
    # Debian packages python3-venv separately; it installs no program to look for
    packages += ["python3-venv"] if not has_venv() else []
    if not quietly([*install, *packages], env=environment):
        for package in packages:  # one missing package must not prevent the others
            quietly([*install, package], env=environment)


def has_venv():
    return subprocess.run([sys.executable, "-c", "import ensurepip"], capture_output=True).returncode == 0


def python_is_ready():
    python = VENV / "bin" / "python"
    check = [str(python), "-c", "import impacket, smb, selenium, duckdb, SALib, jsonschema, prometheus_client"]
    return python.exists() and subprocess.run(check, capture_output=True).returncode == 0


def install_python():
    if python_is_ready():
        return
    python = VENV / "bin" / "python"
    say("pip install " + " ".join(PYTHON_PACKAGES))
    base = getattr(sys, "_base_executable", sys.executable)
    if quietly([base, "-m", "venv", str(VENV)]):
        quietly([str(python), "-m", "pip", "install", "-q", *PYTHON_PACKAGES])


def install_java():
    """JFileServer; both jcifs generations, and our driver compiled against each (they share package names, so never together)."""
    if not (shutil.which("mvn") and shutil.which("javac")):
        return
    for server, artifact in JAVA_SERVERS.items():
        if not list((JARS / server).glob(f"{server}*.jar")):
            fetch_jars(artifact, JARS / server)
    for generation, artifact in JAVA_PACKAGES.items():
        jars = JARS / generation
        if not list(jars.glob("jcifs*.jar")):
            fetch_jars(artifact, jars)
        if list(jars.glob("jcifs*.jar")):
            compile_driver(generation, jars)


def fetch_jars(artifact, jars):
    group, name, version = artifact.split(":")
    jars.mkdir(parents=True, exist_ok=True)
    project = jars / "pom.xml"
    project.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>coax</groupId><artifactId>peers</artifactId><version>1</version><dependencies><dependency>"
        f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
        "</dependency></dependencies></project>"
    )
    say(f"maven: {artifact}")
    copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
    quietly(["mvn", "-q", "-B", "-f", str(project), copy, f"-DoutputDirectory={jars}"])


def compile_driver(generation, jars):
    classes = CLASSES / generation
    sources = [JAVA_SOURCES / "Driver.java", JAVA_SOURCES / generation / "Opener.java"]
    newest = max(source.stat().st_mtime for source in sources)
    if (classes / "Driver.class").exists() and (classes / "Driver.class").stat().st_mtime > newest:
        return
    classes.mkdir(parents=True, exist_ok=True)
    quietly(["javac", "-nowarn", "-cp", f"{jars}/*", "-d", str(classes), *map(str, sources)])


def missing_peers():
    """Names of the programs that are still missing."""
    missing = missing_programs()
    missing += [] if python_is_ready() else ["impacket", "pysmb", "selenium"]
    missing += [name for name in JAVA_SERVERS if not list((JARS / name).glob(f"{name}*.jar"))]
    missing += [name for name in JAVA_PACKAGES if not (CLASSES / name / "Driver.class").exists()]
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quiet", action="store_true", help="print nothing if everything is installed")
    arguments = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    install_debian()
    install_python()
    install_java()
    missing = missing_peers()
    if missing:
        say("MISSING PEERS: " + ", ".join(missing) + " (what needs them is skipped)")
        return 1 if os.environ.get("CI") == "true" else 0
    if not arguments.quiet:
        say("all peers are installed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
