"""The steps of packaging/action, as a runner calls them."""
import contextlib
import functools
import http.server
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from peers import subject

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "packaging" / "action" / "run"
sys.path.append(str(ROOT / "packaging"))
from packages import build  # noqa: E402


def step(folder, **inputs):
    """One step: its exit code and output. Outputs and environment last, as on a runner."""
    for name in ("output", "env"):
        (folder / name).touch()
    exported = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())
    environment = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_ENV": str(folder / "env"), **exported}
    environment |= {f"COAX_ACTION_{name.upper()}": value for name, value in inputs.items()}
    done = subprocess.run(["bash", "-c", f'"{RUN}"'], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def outputs(folder):
    return dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())


def a_client_that_behaves(folder):
    code, text = step(folder, binary=subject.coax_binary(), arguments="--fault READ_ANDX#1=delay 50ms\n--workgroup TEST")
    assert code == 0, text
    made = outputs(folder)
    assert made["url"] == f"smb://127.0.0.1:{made['direct-port']}/CI" and Path(made["folder"]).is_dir(), made
    (Path(made["folder"]) / "A.TXT").write_text("hello")
    done = subprocess.run([subject.coax_binary(), "get", made["url"] + "/A.TXT", folder / "B.TXT"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    code, text = step(folder, command="stop")
    assert code == 0 and '"applied":1' in text, text
    assert not Path(made["folder"]).exists()


def a_fault_that_is_not_met(folder):
    code, text = step(folder, binary=subject.coax_binary(), arguments="--fault READ_ANDX=drop")
    assert code == 0, text
    code, text = step(folder, command="stop")
    assert code == 1 and "was never applied" in text, text


def wrong_inputs(folder):
    code, text = step(folder, binary=subject.coax_binary(), arguments="--fault REED_ANDX=drop")
    assert code == 1 and "did you mean 'READ_ANDX'?" in text, text
    assert step(folder, binary="/nonexistent")[0] == 1
    assert "is not a command" in step(folder, command="halt")[1]
    assert "no server was started" in step(folder, command="stop")[1]


def a_release(folder):
    """The layout of a release, as scripts/package makes it, with the binary under test."""
    made, files = folder / "site" / f"v{build.version()}", folder / "files"
    made.mkdir(parents=True)
    build.documents(subject.coax_binary(), files)
    (files / "web").mkdir()
    return build.archive(subject.coax_binary(), platform.machine(), files, made)


@contextlib.contextmanager
def hosted(site):
    """A server for the folder; its address and the paths that were asked for."""
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def a_release_is_downloaded_and_verified(folder):
    archive = a_release(folder)
    tag, good = f"v{build.version()}", archive.read_bytes()
    with hosted(folder / "site") as (address, asked):
        for attempt in (1, 2):
            code, text = step(folder, release=tag, releases=address + "/")
            assert code == 0 and "coax serves smb://" in text, text
            assert len(asked) == 2, f"attempt {attempt}: a release is downloaded once: {asked}"
            code, text = step(folder, command="stop")
            assert code == 0, text
        unpacked = folder / archive.name.removesuffix(".tar.gz")
        assert (unpacked / "coax").read_bytes() == Path(subject.coax_binary()).read_bytes()

        def refused(words, **inputs):
            shutil.rmtree(unpacked, ignore_errors=True)
            code, text = step(folder, **{"release": tag, "releases": address, **inputs})
            assert code == 1 and words in text, text
            assert not [path for path in folder.iterdir() if path.name.startswith("coax-0")], "nothing of it stays"

        archive.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        refused("is not the file whose checksum SHA256SUMS")
        archive.write_bytes(good[:1000])
        refused("is not the file whose checksum SHA256SUMS")
        archive.unlink()
        refused(f"cannot download {address}/{tag}/{archive.name}")
        (archive.parent / "SHA256SUMS").write_text("")
        refused(f"release {tag} has no {archive.name}")
        refused(f"cannot download {address}/v9.9.9/SHA256SUMS", release="v9.9.9")
        refused("is not a release", release="../../etc")
        refused("exclude each other", binary=subject.coax_binary())
        refused("cannot download http://192.0.2.1/", releases="http://192.0.2.1")
    refused("cannot download")


def main():
    for case in (a_client_that_behaves, a_fault_that_is_not_met, wrong_inputs, a_release_is_downloaded_and_verified):
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder))
            print(f"{case.__name__.replace('_', ' ')}: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
