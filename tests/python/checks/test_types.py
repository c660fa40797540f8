"""The types that editors and checkers see."""
import subprocess
import sys
from pathlib import Path

import coax

PROGRAM = '''
import coax
from pathlib import Path

report = coax.explain(Path("x.pcap"), client="wfw-3.11")
seconds: float = report.copies[0].wall_s
name: str = report.copies[0].name
run = coax.lab.run("dos-386sx", link__delay="1 ms")
causes: dict[str, float] = run.causes_s
fit = coax.lab.fit([{"seconds": 16.1, "size": "8MB"}], unknown={"client.packet": True}, predict=[{"size": "42MB"}])
packet: float = fit.parameters["client.packet"].estimate
with coax.serve("folder", guest="rw") as url:
    host: str = url.host
try:
    coax.decode(b"")
except coax.CaptureError as error:
    print(error.path, error.reason)
'''
WRONG = ['coax.explain(3)', 'coax.explain("x", client=1)', 'coax.lab.run("x", seed="1")', 'coax.lab.fit("x", unknown=3)', 'coax.serve("x", port="1")', 'coax.decode("85")']


def mypy(*words):
    return subprocess.run([sys.executable, "-m", "mypy", *map(str, words)], capture_output=True, text=True)


def test_the_package_is_typed(tmp_path):
    assert (Path(coax.__file__).parent / "py.typed").exists()
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    good = mypy("--strict", file)
    assert good.returncode == 0, good.stdout
    file.write_text("import coax\n" + "\n".join(WRONG) + "\n")
    wrong = mypy("--strict", file)
    for line in range(2, len(WRONG) + 2):
        assert f"program.py:{line}: error" in wrong.stdout, wrong.stdout


def test_the_stubs_of_the_native_functions_are_complete():
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "coax._coax", "--ignore-missing-stub", "--ignore-positional-only"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_everything_public_is_documented():
    for name in coax.__all__:
        if name != "__version__":
            assert getattr(coax, name).__doc__, name
    for name in coax.lab.__all__:
        assert getattr(coax.lab, name).__doc__, name
    for member in vars(coax.lab.Fit).values():
        assert not isinstance(member, property) or member.__doc__
    assert "seconds" in coax.lab.Run.seconds.__doc__ and "ytes" in coax.lab.Run.bytes.__doc__
