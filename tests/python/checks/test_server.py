"""The server in this process, with pysmb as the client."""
import io
import os
import socket
import subprocess
import sys
import warnings

import pytest
from smb.smb_structs import OperationFailure
from smb.SMBConnection import SMBConnection

import coax


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "games"
    found.mkdir()
    (found / "DOOM.WAD").write_bytes(b"IWAD" * 10_000)
    return found


def connected(url, user="", password=""):
    client = SMBConnection(user, password, "PC", "COAX", use_ntlm_v2=True, is_direct_tcp=False)
    assert client.connect(url.host, url.port, timeout=20)
    return client


def read(client, url, name):
    data = io.BytesIO()
    client.retrieveFile(url.share, name, data)
    return data.getvalue()


def test_a_guest_reads_and_may_not_write(folder):
    server = coax.serve(folder)
    with server as url:
        assert url == f"smb://127.0.0.1:{url.port}/GAMES" and isinstance(url, str)
        with connected(url) as client:
            assert read(client, url, "DOOM.WAD") == b"IWAD" * 10_000
            with pytest.raises(OperationFailure):
                client.storeFile(url.share, "NEW.TXT", io.BytesIO(b"x"))
        kinds = {event["event"] for event in server.events()}
        assert "listening" in kinds and len(kinds) > 1
    assert not (folder / "NEW.TXT").exists()
    assert server.events()[0]["event"] == "listening"


def test_writes_are_in_the_folder(folder):
    with coax.serve(folder, guest="rw", share="TEST") as url, connected(url) as client:
        assert url.share == "TEST"
        client.storeFile("TEST", "NEW.TXT", io.BytesIO(b"y" * 100_000))
        assert (folder / "NEW.TXT").read_bytes() == b"y" * 100_000


def test_users_have_passwords(folder):
    with coax.serve(folder, guest="none", users={"joe": "secret"}) as url:
        with connected(url, "joe", "secret") as client:
            assert len(read(client, url, "DOOM.WAD")) == 40_000
        wrong = SMBConnection("joe", "wrong", "PC", "COAX", use_ntlm_v2=True, is_direct_tcp=False)
        assert not wrong.connect(url.host, url.port, timeout=20)


def test_two_servers_run_side_by_side_and_stop(folder, tmp_path):
    with coax.serve(folder) as one, coax.serve(tmp_path) as other:
        assert one.port != other.port
        with connected(one) as client, connected(other) as second:
            assert read(client, one, "DOOM.WAD") == read(second, other, "games/DOOM.WAD")
    for url in (one, other):
        with pytest.raises(OSError):
            socket.create_connection((url.host, url.port), timeout=2).close()


def test_a_server_stops_when_the_test_fails_and_starts_again(folder):
    server = coax.serve(folder)
    with pytest.raises(KeyError), server as url:
        raise KeyError
    with pytest.raises(OSError):
        socket.create_connection((url.host, url.port), timeout=2).close()
    with server as again:
        with pytest.raises(RuntimeError, match="runs already"):
            server.start()
        assert again.port
    server.stop()


def test_the_process_is_not_confined(folder, tmp_path):
    with coax.serve(folder):
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_text("x")
        assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\n"
        assert os.listdir("/")


def test_a_process_that_forgets_to_stop_ends(folder):
    script = f"import coax; server = coax.serve({str(folder)!r}); print(server.start())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and done.stdout.startswith("smb://"), done.stderr


def test_options_are_those_of_smb_conf(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with coax.serve(folder, options={"max protocol": "LANMAN1"}) as url:
            client = SMBConnection("", "", "PC", "COAX", use_ntlm_v2=True, is_direct_tcp=False)
            with pytest.raises(Exception):
                assert client.connect(url.host, url.port, timeout=20)
    with pytest.warns(coax.ServeWarning, match="no parameter|unknown|not"):
        with coax.serve(folder, options={"no such option": "yes"}):
            pass


@pytest.mark.parametrize("arguments, error, message", [
    ({"folder": "/no/where"}, coax.ServeError, "cannot share '/no/where'"),
    ({"guest": "everything"}, coax.ServeError, "write none, ro or rw"),
    ({"share": "A NAME THAT IS TOO LONG"}, coax.ServeError, "old clients see no share"),
    ({"options": {"max protocol": "SMB9"}}, coax.ServeError, "SMB9"),
    ({"host": "192.0.2.1"}, coax.ServeError, "192.0.2.1"),
    ({"host": "localhost."}, ValueError, "localhost."),
    ({"port": 70_000}, ValueError, "port must be at most 65535"),
    ({"port": "139"}, TypeError, "port must be an int, not str"),
    ({"folder": None}, TypeError, "folder must be a path"),
    ({"users": {"joe": None}}, TypeError, "each password must be a str"),
])
def test_what_is_wrong_is_named(folder, arguments, error, message):
    with pytest.raises(error) as caught:
        with coax.serve(**{"folder": folder, **arguments}):
            pass
    assert message in str(caught.value)


def test_a_port_in_use_is_told(folder):
    with coax.serve(folder) as url:
        with pytest.raises(coax.ServeError, match=str(url.port)):
            coax.serve(folder, port=url.port).start()
