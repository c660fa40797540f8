"""`coax replay`: coax's own captures against coax give no differences; captures of other servers against coax and smbd; injected faults are found."""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from developers.serving import serving
from peers import subject

CAPTURES = Path(__file__).resolve().parents[1] / "captures"
BYTES = bytes(range(256)) * 300
# Every dialect, raw and other modes
PROFILES = ["ms-net-3.11-basic", "ms-net-3.11-full", "wfw-3.11", "windows-95", "windows-98", "nt-4-copy", "windows-2000", "os2-warp", "ps2-opl",
            "linux-cifs", "modern"]


def coax(*arguments, timeout=100):
    return subprocess.run([subject.coax_binary(), *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


def replay(capture, url, *arguments):
    limit = arguments or ("--timeout", "5")
    done = coax("replay", capture, url, "--json", *limit)
    assert done.returncode in (0, 1) and done.stdout, (capture, done.stderr)
    report = json.loads(done.stdout)
    assert report["differs"] == bool(done.returncode), (capture, done.returncode)
    return report


def differences(report):
    return [(found["message"], found["field"], found["recorded"], found["here"]) for connection in report["connections"]
            for found in connection["differences"] if found["class"] == "differs"]


def stops(report):
    return [connection["stopped"] for connection in report["connections"] if connection["stopped"]]


def record(folder, profile):
    """A copy both ways and a listing, as coax serves it."""
    capture = folder / f"{profile}.pcapng"
    with serving("--pcap", str(capture)) as server:
        (Path(server.ci["folder"]) / "A.BIN").write_bytes(BYTES)
        url = server.ci["url"]
        (folder / "B.BIN").write_bytes(BYTES)
        for arguments in (["ls", url + "/"], ["get", url + "/A.BIN", folder / "C.BIN"], ["put", folder / "B.BIN", url + "/B.BIN"], ["mkdir", url + "/D"],
                          ["mv", url + "/B.BIN", url + "/D/E.BIN"], ["rm", url + "/D/E.BIN"], ["rmdir", url + "/D"]):
            done = coax(arguments[0], "--as", profile, *arguments[1:])
            assert done.returncode == 0, (profile, arguments, done.stderr)
    return capture


def coax_against_itself():
    with tempfile.TemporaryDirectory() as folder:
        for profile in PROFILES:
            capture = record(Path(folder), profile)
            with serving() as server:
                (Path(server.ci["folder"]) / "A.BIN").write_bytes(BYTES)
                report = replay(capture, server.ci["url"])
            assert not report["differs"], (profile, differences(report)[:5], stops(report))
            compared = sum(connection["answers_compared"] for connection in report["connections"])
            assert compared >= 25, (profile, compared)
            assert server.summary["invalid_requests"] == 0, server.summary


def faults_are_found():
    for fault, field in [("READ_ANDX#2=error ACCESS_DENIED", "Status"), ("CLOSE=drop", None), ("READ_ANDX#1=disconnect", None),
                         ("TREE_CONNECT_ANDX:reply=error BAD_NETWORK_NAME", "Status")]:
        with tempfile.TemporaryDirectory() as folder:
            capture = record(Path(folder), "windows-2000")
            with serving(faults=[fault]) as server:
                (Path(server.ci["folder"]) / "A.BIN").write_bytes(BYTES)
                report = replay(capture, server.ci["url"], "--timeout", "1")
            assert report["differs"], fault
            if field:
                assert field in {found[1] for found in differences(report)}, (fault, differences(report)[:5])
            else:
                assert stops(report), fault


def captures_of_others_against_coax():
    compared = 0
    for capture in sorted(CAPTURES.glob("*.pcap*")):
        with serving() as server:
            done = coax("replay", capture, server.ci["url"], "--json", "--timeout", "1")
        if done.returncode == 1 and not done.stdout:
            assert done.stderr.startswith("error: "), done.stderr
            continue
        report = json.loads(done.stdout)
        compared += sum(connection["answers_compared"] for connection in report["connections"])
    assert compared >= 100, compared


def smbd_answers_otherwise_than_coax():
    """The same requests to smbd: it chooses the same dialect and copies the same bytes; what differs is named."""
    globals_ = {"map to guest": "Bad User", "server min protocol": "CORE", "lanman auth": "yes", "ntlm auth": "yes", "guest account": subject.USER}
    share = {"guest ok": "yes", "read only": "no"}
    with tempfile.TemporaryDirectory() as folder, subject.start("smbd", globals_=globals_, share=share) as server:
        for profile in ("windows-98", "windows-2000", "nt-4-copy"):
            capture = record(Path(folder), profile)
            (Path(server.folder) / "A.BIN").write_bytes(BYTES)
            url = f"smb://{server.host}:{server.direct}/{server.share}"
            report = replay(capture, url)
            compared = sum(connection["answers_compared"] for connection in report["connections"])
            data = [found for found in differences(report) if found[1] == "Data"]
            assert compared >= 25 and not data and not stops(report), (profile, compared, data[:3], stops(report))
            fields = sorted({found[1] for found in differences(report)})
            print(f"  {profile}: {compared} answers, differences in {', '.join(fields)}")


CASES = [coax_against_itself, faults_are_found, captures_of_others_against_coax, smbd_answers_otherwise_than_coax]


def main():
    failed = 0
    for case in CASES:
        began = time.monotonic()
        try:
            case()
            verdict = "ok"
        except Exception as error:  # one case must not hide the others
            failed += 1
            verdict = f"FAILED: {error!r}"[:1500]
        print(f"{case.__name__.replace('_', ' ')}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
