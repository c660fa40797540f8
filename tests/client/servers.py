"""Servers to talk to, each on ephemeral loopback ports with a folder of its own: coax, smbd, JFileServer, impacket's smbserver."""
import contextlib
import subprocess
import sys

from peers import install, subject

JFILESERVER = """<?xml version="1.0"?>
<fileserver>
  <servers><SMB enable="true"/><FTP enable="false"/><NFS enable="false"/></servers>
  <SMB>
    <host name="SUBJECT" domain="WORKGROUP">
      <broadcast>{broadcast}</broadcast>
      <smbdialects>SMB1</smbdialects>
      <bindto>{host}</bindto>
      <tcpipSMB port="{direct}" platforms="linux"/>
    </host>
    <sessionDebug flags="Error"/>
    <authenticator type="enterprise"><mode>USER</mode><allowGuest/></authenticator>
  </SMB>
  <debug><output type="console"><class>org.filesys.debug.ConsoleDebug</class></output></debug>
  <shares>
    <diskshare name="{share}"><driver>
      <class>org.filesys.smb.server.disk.JavaNIODiskDriver</class><LocalPath>{folder}</LocalPath>
    </driver></diskshare>
  </shares>
  <security>
    <JCEProvider>org.bouncycastle.jce.provider.BouncyCastleProvider</JCEProvider>
    <users><user name="{user}"><password>{password}</password></user></users>
  </security>
</fileserver>
"""


@contextlib.contextmanager
def process(command, base, host, direct, kind, **options):
    """A server that listens at one port, and is ended with all it started."""
    with open(base / "out.log", "wb") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=base)
        try:
            subject.wait_until_listening(host, direct, server, 60)
            yield subject.Subject(kind, host, None, direct, folder=base / "share", pid=server.pid, **options)
        finally:
            subject.stop(server)


@contextlib.contextmanager
def jfileserver(host="127.0.0.1", direct=None):
    with subject.scratch_folder(None) as base:
        direct = direct or subject.free_port(host)
        (base / "share").mkdir()
        settings = {"host": host, "broadcast": host.rpartition(".")[0] + ".255", "direct": direct, "folder": base / "share", "share": subject.SHARE}
        settings |= {"user": subject.USER, "password": subject.PASSWORD}
        (base / "server.xml").write_text(JFILESERVER.format(**settings))
        jars = install.JARS / "jfileserver"
        command = ["java", "-cp", f"{jars}/*", "org.filesys.app.SMBFileServer", str(base / "server.xml")]
        with process(command, base, host, direct, "jfileserver") as server:
            yield server


@contextlib.contextmanager
def impacket(host="127.0.0.1", direct=None):
    with subject.scratch_folder(None) as base:
        direct = direct or subject.free_port(host)
        (base / "share").mkdir()
        command = [sys.executable, str(install.VENV / "bin" / "smbserver.py"), "-ip", host, "-port", str(direct)]
        command += ["-username", subject.USER, "-password", subject.PASSWORD, subject.SHARE, str(base / "share")]
        # it knows its share in capitals only
        with process(command, base, host, direct, "impacket", share=subject.SHARE.upper()) as server:
            yield server


def start(kind, **options):
    """A server of that kind, as a context manager that gives a `Subject`."""
    return {"coax": subject.coax, "smbd": subject.smbd, "jfileserver": jfileserver, "impacket": impacket}[kind](**options)
