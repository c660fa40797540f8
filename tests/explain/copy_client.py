"""A copy by impacket, pysmb, or a program that sends header and data apart, in a process of its own: copy_client.py JSON.

The JSON has library, verb, host, user, password, share, remote, local, delay_s (of the program, at each block it is handed
or asked for), block (0: the library's own) and nodelay (null: the library's own).
"""
import json
import socket
import sys
import time


class Slow:
    """A file whose program does something else for a while at each block."""

    def __init__(self, file, delay_s):
        self.file, self.delay_s = file, delay_s

    def read(self, size=-1):
        time.sleep(self.delay_s)
        return self.file.read(size)

    def write(self, data):
        time.sleep(self.delay_s)
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


def impacket(job, file):
    from impacket.smb import SMB_DIALECT
    from impacket.smbconnection import SMBConnection

    client = SMBConnection("SUBJECT", job["host"], sess_port=445, preferredDialect=SMB_DIALECT, timeout=60)
    client.login(job["user"], job["password"])
    set_nodelay(job, client.getSMBServer().get_socket())
    if not job["block"]:
        if job["verb"] == "get":
            client.getFile(job["share"], job["remote"], file.write)
        else:
            client.putFile(job["share"], job["remote"], file.read)
        return
    smb = client.getSMBServer()
    tid = smb.tree_connect_andx(f"\\\\{job['host']}\\{job['share']}", None)
    move(job, smb, tid, file)


def move(job, smb, tid, file):
    """One request of the wanted size at a time: READ_ANDX or WRITE_ANDX."""
    fid = smb.open_andx(tid, job["remote"], 0x12 if job["verb"] == "put" else 0x01, 0x42 if job["verb"] == "put" else 0x40)[0]
    at = 0
    if job["verb"] == "get":
        while data := smb.read_andx(tid, fid, at, job["block"]):
            file.write(data)
            at += len(data)
    else:
        while data := file.read(job["block"]):
            smb.write_andx(tid, fid, data, at)
            at += len(data)
    smb.close(tid, fid)


def set_nodelay(job, connection):
    if job["nodelay"] is not None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(job["nodelay"]))


def pysmb(job, file):
    from smb import smb_structs
    from smb.SMBConnection import SMBConnection

    smb_structs.SUPPORT_SMB2 = False
    client = SMBConnection(job["user"], job["password"], "PYSMB", "SUBJECT", use_ntlm_v2=True, is_direct_tcp=True)
    if not client.connect(job["host"], 445, timeout=60):
        raise SystemExit("refused")
    set_nodelay(job, client.sock)
    if job["verb"] == "get":
        client.retrieveFile(job["share"], "/" + job["remote"], file, timeout=60)
    else:
        client.storeFile(job["share"], "/" + job["remote"], file, timeout=60)
    client.close()


def apart(job, file):
    """Writes each block with two sends, as programs do that send the header first."""
    from explain.rig import Apart

    with Apart(job["host"], 445, timeout=60) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(bool(job["nodelay"])))
        client.negotiate("NT1")
        client.log_on(job["user"], job["password"])
        client.tree_connect_andx("SUBJECT", job["share"])
        fid, at = client.nt_create(job["remote"], disposition=5), 0
        while data := file.read(job["block"] or 4096):
            client.write_andx(fid, at, data)
            at += len(data)
        client.close_file(fid)


def main():
    job = json.loads(sys.argv[1])
    with open(job["local"], "rb" if job["verb"] == "put" else "wb") as file:
        {"impacket": impacket, "pysmb": pysmb, "apart": apart}[job["library"]](job, Slow(file, job["delay_s"]) if job["delay_s"] else file)


if __name__ == "__main__":
    main()
