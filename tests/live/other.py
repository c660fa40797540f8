"""Copies one file with a client library that we did not make; its program may be slow."""
import argparse
import time
from pathlib import Path


class SlowFile:
    """A file whose reader or writer pauses after each so many bytes."""

    def __init__(self, path, mode, pause_s, each):
        self.file, self.pause, self.each, self.since = open(path, mode), pause_s, each, 0

    def counted(self, count):
        self.since += count
        while self.pause and self.since >= self.each:
            self.since -= self.each
            time.sleep(self.pause)

    def write(self, data):
        self.counted(len(data))
        return self.file.write(data)

    def read(self, count=-1):
        data = self.file.read(count)
        self.counted(len(data))
        return data


def impacket(arguments, file):
    from impacket.smb import SMB_DIALECT
    from impacket.smbconnection import SMBConnection

    connection = SMBConnection(arguments.host, arguments.host, sess_port=445, preferredDialect=SMB_DIALECT)
    connection.login(arguments.user, arguments.password)
    if arguments.verb == "get":
        connection.getFile(arguments.share, "BIG.BIN", file.write)
    else:
        connection.putFile(arguments.share, "BIG.BIN", file.read)
    connection.logoff()


def pysmb(arguments, file):
    from smb import smb_structs
    from smb.SMBConnection import SMBConnection

    smb_structs.SUPPORT_SMB2 = False
    connection = SMBConnection(arguments.user, arguments.password, "client", "SUBJECT", use_ntlm_v2=True, is_direct_tcp=True)
    if not connection.connect(arguments.host, 445):
        raise SystemExit("pysmb cannot log on")
    if arguments.verb == "get":
        connection.retrieveFile(arguments.share, "/BIG.BIN", file)
    else:
        connection.storeFile(arguments.share, "/BIG.BIN", file)
    connection.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("client", "verb", "host", "share", "user", "password"):
        parser.add_argument(name)
    parser.add_argument("local", type=Path)
    parser.add_argument("--pause-ms", type=int, default=0)
    parser.add_argument("--each", type=int, default=16_384)
    arguments = parser.parse_args()
    mode = "wb" if arguments.verb == "get" else "rb"
    file = SlowFile(arguments.local, mode, arguments.pause_ms / 1e3, arguments.each)
    {"impacket": impacket, "pysmb": pysmb}[arguments.client](arguments, file)


if __name__ == "__main__":
    main()
