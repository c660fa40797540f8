"""Faults of `coax serve --fault`, as clients that we did not write and redirectors of coax meet them."""
import io
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from developers.serving import serving
from peers import rawsmb, subject

BYTES = bytes(range(256)) * 800


def impacket_client(server):
    from impacket.smb import SMB_DIALECT
    from impacket.smbconnection import SMBConnection

    client = SMBConnection("COAX", "127.0.0.1", sess_port=server.port, preferredDialect=SMB_DIALECT, timeout=5)
    client.login("guest", "")
    return client


def fetch(client):
    got = io.BytesIO()
    client.getFile("CI", "A.BIN", got.write)
    return got.getvalue()


def plant(server):
    (Path(server.ci["folder"]) / "A.BIN").write_bytes(BYTES)


def impacket_waits_for_a_delayed_reply():
    with serving(faults=["READ_ANDX#2=delay 700ms"]) as server:
        plant(server)
        began = time.monotonic()
        assert fetch(impacket_client(server)) == BYTES
        assert time.monotonic() - began >= 0.7
    assert server.code == 0, server.summary


def impacket_sees_the_status():
    from impacket.smbconnection import SessionError

    with serving(faults=["NT_CREATE_ANDX=error SHARING_VIOLATION"]) as server:
        plant(server)
        try:
            fetch(impacket_client(server))
        except SessionError as error:
            assert error.getErrorCode() == 0xC0000043, error
        else:
            raise AssertionError("no error")
    assert server.code == 0, server.summary


def impacket_loses_the_connection_and_comes_back():
    with serving(faults=["READ_ANDX#2=disconnect"]) as server:
        plant(server)
        try:
            fetch(impacket_client(server))
        except Exception:  # impacket has several for this
            pass
        else:
            raise AssertionError("the connection was not lost")
        assert fetch(impacket_client(server)) == BYTES
    assert [event["fault"] for event in server.of("fault")] == ["READ_ANDX#2=disconnect"]
    assert any(event["why"] == "the fault READ_ANDX#2=disconnect" for event in server.of("disconnected"))


def impacket_times_out_without_a_reply():
    with serving(faults=["READ_ANDX#1=drop"]) as server:
        plant(server)
        try:
            fetch(impacket_client(server))
        except Exception as error:
            assert "timed out" in str(error).lower() or "timeout" in type(error).__name__.lower() or "NETBIOS" in str(error), repr(error)
        else:
            raise AssertionError("no timeout")


def smbclient(server, commands):
    base = ["smbclient", "-s", "/dev/null", "-p", str(server.port), "-m", "NT1", "-N", "-t", "5", "--option=client min protocol=NT1"]
    done = subprocess.run([*base, "//127.0.0.1/CI", "-c", commands], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def smbclient_copies_through_small_pieces_and_delays():
    with serving(faults=["READ_ANDX=split 1460 1ms", "FIND_FIRST2=split 1 1ms", "WRITE_ANDX=split 7 1ms", "*#every 3=delay 30ms"]) as server, tempfile.TemporaryDirectory() as folder:
        plant(server)
        smbclient(server, f"ls *; get A.BIN {folder}/B.BIN; put {folder}/B.BIN C.BIN")
        assert (Path(folder) / "B.BIN").read_bytes() == BYTES
        assert (Path(server.ci["folder"]) / "C.BIN").read_bytes() == BYTES
    assert server.code == 0, server.summary


def smbclient_prints_the_status():
    for fault, printed in [("NT_CREATE_ANDX=error DISK_FULL", "NT_STATUS_DISK_FULL"), ("NT_CREATE_ANDX=error 0xc0000205", "NT_STATUS_INSUFF_SERVER_RESOURCES"),
                           ("NT_CREATE_ANDX:reply=error ERRDOS/32", "NT_STATUS_SHARING_VIOLATION")]:
        with serving(faults=[fault]) as server:
            plant(server)
            text = smbclient(server, "get A.BIN /dev/null")
            assert printed in text, text


def smbclient_notices_damage():
    """Replies that no client may accept end in an error, not in a file."""
    for fault in ["READ_ANDX#1=mid 0x7777", "READ_ANDX#1=truncate 30", "READ_ANDX#1=cut 60", "READ_ANDX#1=reset", "FIND_FIRST2=truncate 40"]:
        with serving(faults=[fault]) as server, tempfile.TemporaryDirectory() as folder:
            plant(server)
            text = smbclient(server, f"ls *; get A.BIN {folder}/B.BIN")
            assert "NT_STATUS_" in text, (fault, text)
        assert server.summary["injected"][0]["applied"] >= 1, fault


def coax(server, *arguments):
    done = subprocess.run([subject.coax_binary(), *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def redirectors_meet_faults_in_raw_mode():
    """WRITE_RAW with a delayed interim reply; READ_RAW that gives nothing, after which the redirector reads otherwise."""
    with serving(faults=["WRITE_RAW#1:interim=delay 600ms", "READ_RAW#1=truncate 0"]) as server, tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / "A.BIN"
        local.write_bytes(BYTES)
        began = time.monotonic()
        code, text = coax(server, "put", "--as", "wfw-3.11", local, server.ci["url"] + "/A.BIN")
        assert code == 0 and time.monotonic() - began >= 0.6, text
        local.unlink()
        code, text = coax(server, "get", "--as", "wfw-3.11", server.ci["url"] + "/A.BIN", local)
        assert code == 0 and local.read_bytes() == BYTES, text
    assert server.code == 0, server.summary


def redirectors_notice_damage():
    for fault in ["READ_ANDX#1=truncate 30", "READ_ANDX#1=cut 60", "READ_ANDX#1=disconnect", "READ_ANDX#1=reset", "READ_ANDX#1=error ACCESS_DENIED"]:
        with serving(faults=[fault]) as server, tempfile.TemporaryDirectory() as folder:
            plant(server)
            code, text = coax(server, "get", server.ci["url"] + "/A.BIN", Path(folder) / "B.BIN")
            wrong = code == 0 and (Path(folder) / "B.BIN").read_bytes() != BYTES
            assert not wrong, (fault, text)
        assert server.summary["injected"][0]["applied"] >= 1, fault


def oplock_breaks_name_the_file_that_is_read():
    with serving(faults=["READ#1=oplock-break"]) as server:
        plant(server)
        with rawsmb.Connection("127.0.0.1", server.port) as client:
            client.negotiate("CORE")
            client.tree_connect("COAX", "CI")
            fid, _ = client.open("A.BIN")
            client.send(rawsmb.READ, struct.pack("<HHIH", fid, 10, 0, 0))
            broken = bytes(client.receive_frame())
            assert broken[4] == 0x24 and broken[9] & 0x80 == 0 and struct.unpack_from("<H", broken, 37)[0] == fid, broken
            # the release, which has no answer, then the data
            client.send(0x24, struct.pack("<BBHHBBIHH", 0xFF, 0, 0, fid, 2, 0, 0, 0, 0))
            assert client.receive(rawsmb.READ).word(0) == 10
            client.close_file(fid)
    assert server.code == 0, server.summary


def clients_that_we_did_not_write_send_nothing_invalid():
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        plant(server)
        assert fetch(impacket_client(server)) == BYTES
        smbclient(server, f"ls *; mkdir X; cd X; put /etc/hostname Y; rename Y Z; allinfo Z; del Z; cd ..; rmdir X; get A.BIN {folder}/B")
        for profile in ["ms-net-3.11-basic", "wfw-3.11", "windows-95", "windows-98", "nt-4-copy", "windows-2000", "os2-warp", "ps2-opl", "linux-cifs"]:
            code, text = coax(server, "get", "--as", profile, server.ci["url"] + "/A.BIN", Path(folder) / "C.BIN")
            assert code == 0, (profile, text)
    assert server.code == 0, (server.summary, [event["invalid"] for event in server.of("explained") if event["invalid"]])


CASES = [impacket_waits_for_a_delayed_reply, impacket_sees_the_status, impacket_loses_the_connection_and_comes_back, impacket_times_out_without_a_reply,
         smbclient_copies_through_small_pieces_and_delays, smbclient_prints_the_status, smbclient_notices_damage, redirectors_meet_faults_in_raw_mode,
         redirectors_notice_damage, oplock_breaks_name_the_file_that_is_read, clients_that_we_did_not_write_send_nothing_invalid]


def main():
    failed = 0
    for case in CASES:
        began = time.monotonic()
        try:
            case()
            verdict = "ok"
        except Exception as error:  # one case must not hide the others
            failed += 1
            verdict = f"FAILED: {error!r}"
        print(f"{case.__name__.replace('_', ' ')}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
