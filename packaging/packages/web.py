"""The web page: index.html contains the engine, so it needs no server and can be opened from disk."""
import base64
import functools
import gzip
import shutil
import tomllib
from pathlib import Path

from .build import check_size, target_folder
from .toolchain import OUT, PROFILE, PROFILE_FOLDER, ROOT, TOOLS, WEB_TARGET, install_tool, run, say, web_build

SOURCES = ROOT / "crates" / "web" / "page"
LARGEST_PACKED = 3_000_000
COMPRESSION = 1 if PROFILE == "dev" else 9
# only the program that writes bindings, not those that run tests, and without TLS for them
BINDINGS_OPTIONS = ["--debug", "--no-default-features", "--bin", "wasm-bindgen"]


def bindings_version():
    """The version of wasm-bindgen that the engine is built with; the program must have the same."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return next(package["version"] for package in packages if package["name"] == "wasm-bindgen")


def bindings_tool():
    version = bindings_version()
    found = shutil.which("wasm-bindgen") or shutil.which("wasm-bindgen", path=TOOLS / "bin")
    if found and run([found, "--version"]).split()[-1] == version:
        return found
    folder = TOOLS / f"wasm-bindgen-{version}"
    program = folder / "bin" / "wasm-bindgen"
    return program if program.exists() else install_tool("wasm-bindgen", "wasm-bindgen-cli", f"={version}", folder, BINDINGS_OPTIONS)


def engine():
    """The engine's script and its module."""
    command, environment = web_build()
    say("the engine of the web page")
    run(command, env=environment)
    built = Path(environment.get("CARGO_TARGET_DIR", target_folder())) / WEB_TARGET / PROFILE_FOLDER / "coax_web.wasm"
    folder = OUT / "web-engine"
    run([bindings_tool(), "--target", "no-modules", "--no-typescript", "--out-dir", folder, built])
    return (folder / "coax_web.js").read_text(), (folder / "coax_web_bg.wasm").read_bytes()


@functools.cache
def page():
    """One HTML file with everything."""
    bindings, module = engine()
    packed = base64.b64encode(gzip.compress(module, COMPRESSION, mtime=0)).decode()
    parts = {
        "/*STYLE*/": (SOURCES / "page.css").read_text(),
        "/*BINDINGS*/": bindings,
        "/*WORKER*/": (SOURCES / "worker.js").read_text(),
        "/*SCRIPT*/": (SOURCES / "page.js").read_text(),
        "ENGINE": packed,
    }
    assert not any("</script" in part.lower() for part in parts.values())
    filled, rest = "", (SOURCES / "index.html").read_text()
    for mark, part in parts.items():
        before, found, rest = rest.partition(mark)
        assert found, mark
        filled += before + part
    folder = OUT / "web"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "index.html"
    made.write_text(filled + rest)
    size = len(gzip.compress(made.read_bytes(), COMPRESSION))
    say(f"web/index.html packed: {size:,} bytes")
    if size > LARGEST_PACKED and PROFILE == "dist":
        raise SystemExit(f"package: {made} has {size:,} bytes packed, more than {LARGEST_PACKED:,}")
    return check_size(made, 10_000_000)
