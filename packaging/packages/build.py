"""Builds each package into target/packages."""
import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path

from .toolchain import FEATURES, OUT, PROFILE, PROFILE_FOLDER, ROOT, STATIC_TARGETS, STRIPPED, Unavailable, cargo_tool, run, say, static_build, system_program

FILES = OUT / "files"
LARGEST_BINARY = 12_000_000
LARGEST_IMAGE = 15_000_000
IMAGE = "coax:latest"
IMAGE_USER = 10001


def target_folder():
    text = subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT)
    return Path(json.loads(text)["target_directory"])


def version():
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return manifest["workspace"]["package"]["version"]


def commit():
    done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "commit unknown"


def check_size(path, limit):
    size = path.stat().st_size
    if size > limit and PROFILE == "dist":
        raise SystemExit(f"package: {path} has {size:,} bytes, more than {limit:,}")
    say(f"{path.relative_to(OUT)}: {size:,} bytes")
    return path


def native_binary():
    """The stripped binary for this machine, which the distribution's packages contain."""
    FILES.mkdir(parents=True, exist_ok=True)
    if PROFILE == "dev":
        run(["strip", "-o", FILES / "coax", tested_binary()])
    else:
        shutil.copy2(published_binary(), FILES / "coax")
    return check_size(FILES / "coax", LARGEST_BINARY)


def tested_binary():
    """The binary of the other tests: the one that COAX names, or a build of the whole workspace as in the step `build` of scripts/test.

    A build of other features would take its place, and the next step would build it again.
    """
    if given := os.environ.get("COAX"):
        return Path(given)
    run(["cargo", "build", "-q", "--locked", "--workspace", "--bins", "--examples"])
    return target_folder() / "debug" / "coax"


def published_binary():
    # Rust's linker for this architecture is lld, which keeps equal functions once
    folded = ["-C", "link-arg=-Wl,--icf=all"] if platform.machine() == "x86_64" else []
    command = ["cargo", "rustc", "-q", "--profile", PROFILE, "--locked", "-p", "coax", *FEATURES, "--bin", "coax", *STRIPPED, *folded]
    run(command, env={**os.environ, "COAX_COMMIT": commit()})
    return target_folder() / PROFILE / "coax"


def static_binary(architecture):
    """The stripped static binary for an architecture."""
    command, environment = static_build(architecture)
    say(f"static binary for {architecture}")
    run(command, env={**environment, "COAX_COMMIT": commit()})
    built = Path(environment.get("CARGO_TARGET_DIR", target_folder())) / STATIC_TARGETS[architecture] / PROFILE_FOLDER / "coax"
    kept = OUT / "static" / architecture / "coax"
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built, kept)
    return check_size(kept, LARGEST_BINARY)


def documents(binary, files=FILES):
    """Manual pages and completions, from the program itself."""
    pages, completions = files / "man", files / "completions"
    shutil.rmtree(pages, ignore_errors=True)
    completions.mkdir(parents=True, exist_ok=True)
    run([binary, "man", pages])
    for page in pages.glob("*.1"):
        with gzip.GzipFile(page.with_suffix(".1.gz"), "wb", mtime=0) as packed:
            packed.write(page.read_bytes())
        page.unlink()
    for shell, name in (("bash", "coax.bash"), ("zsh", "_coax"), ("fish", "coax.fish"), ("powershell", "_coax.ps1")):
        (completions / name).write_text(run([binary, "completions", shell]))


def web_folder():
    """What `coax web` serves: the page; or, if it cannot be built here, a text that says so."""
    from . import web  # which needs this module
    folder = FILES / "web"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        shutil.copy2(web.page(), folder / "index.html")
    except Unavailable as reason:
        say(f"without the web page: {reason}")
        text = "This package was built without the web page, index.html. scripts/package web builds it; coax web --folder names its folder.\n"
        (folder / "README.txt").write_text(text)
    return folder


def deb():
    """The package for Debian and its descendants."""
    tool = cargo_tool("cargo-deb")
    documents(native_binary())
    web_folder()
    compression = [] if PROFILE == "dist" else ["--fast"]
    made = run([tool, "-p", "coax", "--no-build", "--no-strip", "--output", OUT / "", "-q", *compression]).split()
    return check_size(newest(OUT, "*.deb") if not made else Path(made[-1]), LARGEST_BINARY)


def rpm():
    """The package for Fedora, openSUSE and their descendants."""
    tool = cargo_tool("cargo-generate-rpm")
    documents(native_binary())
    web_folder()
    run([tool, "-p", "crates/coax", "--output", OUT / ""])
    return check_size(newest(OUT, "*.rpm"), LARGEST_BINARY)


def newest(folder, pattern):
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime)


def tarball(architecture):
    """The static binary with its documents, and the checksums of all tarballs."""
    binary = static_binary(architecture)
    if architecture == platform.machine():
        documents(binary)
    elif not (FILES / "man").exists():
        documents(native_binary())
    web_folder()
    return check_size(archive(binary, architecture, FILES, OUT), LARGEST_BINARY)


def archive(binary, architecture, files, out):
    """A tarball of a release in the folder `out`, and the checksums of all that are there."""
    name = f"coax-{version()}-linux-{architecture}"
    path = out / f"{name}.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        packed.add(binary, f"{name}/coax")
        for file in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
            packed.add(ROOT / file, f"{name}/{file}")
        for file in ("coax.service", "smb.conf"):
            packed.add(ROOT / "packaging" / file, f"{name}/{file}")
        for folder in ("man", "completions", "web"):
            packed.add(files / folder, f"{name}/{folder}")
    checksums(out)
    return path


def checksums(out):
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(out.glob("*.tar.gz"))]
    (out / "SHA256SUMS").write_text("".join(lines))


def root_of_image(binary):
    """The image's whole file system."""
    root = OUT / "image" / "rootfs"
    shutil.rmtree(root.parent, ignore_errors=True)
    for folder in ("usr/bin", "etc", "share", "var/lib/coax", "tmp"):
        (root / folder).mkdir(parents=True)
    shutil.copy2(binary, root / "usr" / "bin" / "coax")
    (root / "etc" / "passwd").write_text(f"root:x:0:0::/:/none\ncoax:x:{IMAGE_USER}:{IMAGE_USER}::/var/lib/coax:/none\n")
    (root / "etc" / "group").write_text(f"root:x:0:\ncoax:x:{IMAGE_USER}:\n")
    (root / "tmp").chmod(0o1777)
    if os.geteuid() == 0:
        os.chown(root / "var" / "lib" / "coax", IMAGE_USER, IMAGE_USER)
    return root


def image():
    """An image as an archive that docker, podman and skopeo load. (An OCI archive would lose the health check.)"""
    buildah = [system_program("buildah", ["buildah"]), "--storage-driver", "vfs", "--root", OUT / "buildah", "--runroot", OUT / "buildah-run"]
    root_of_image(static_binary(platform.machine()))
    shutil.copy2(ROOT / "packaging" / "Containerfile", OUT / "image" / "Containerfile")
    run([*buildah, "bud", "--isolation", "chroot", "--format", "docker", "-t", IMAGE, OUT / "image"])
    path = OUT / f"coax-{version()}-image.tar"
    path.unlink(missing_ok=True)
    run([*buildah, "push", IMAGE, f"docker-archive:{path}:{IMAGE}"])
    return check_size(path, LARGEST_IMAGE)
