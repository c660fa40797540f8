"""The steps of packaging/action, as a runner calls them."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import subject

RUN = Path(__file__).resolve().parents[2] / "packaging" / "action" / "run"


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
    assert "is no command" in step(folder, command="halt")[1]
    assert "no server was started" in step(folder, command="stop")[1]


def main():
    for case in (a_client_that_behaves, a_fault_that_is_not_met, wrong_inputs):
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder))
            print(f"{case.__name__.replace('_', ' ')}: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
