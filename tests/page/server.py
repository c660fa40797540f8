"""A `coax serve --web` for tests, and what can be asked of its page without a browser."""
import contextlib
import http.client
import json
import os
import queue
import re
import subprocess
import threading
from pathlib import Path

from peers import subject

PATIENCE_S = 30


class Server:
    """A server with a page; `events` are its lines."""

    def __init__(self, folder, *options, address="127.0.0.1:0", config="", takeover=False):
        self.folder = Path(folder)
        share = self.folder / "data"
        share.mkdir(exist_ok=True)
        conf = self.folder / "smb.conf"
        conf.write_text(f"[global]\nmap to guest = bad user\nguest account = nobody\n{config}\n"
                        f"[DATA]\npath = {share}\nguest ok = yes\nread only = no\ncoax:password = hush-hush\n")
        command = [subject.coax_binary(), "serve", "--json", "--config", conf, "--direct", "127.0.0.1:0", "--web", address, *options]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.events = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.port = int(self.event("listening")["direct"].rpartition(":")[2])
        notice = self.notice("the web page is at")
        self.url = re.search(r"http://\S+?/", notice)[0]
        found = re.search(r"its token is (\w+)", notice)
        self.token = found and found[1]
        self.place = self.url.split("/")[2]
        self.web_port = int(self.place.rpartition(":")[2])

    def read(self):
        for line in self.process.stdout:
            self.events.put(json.loads(line))

    def event(self, kind):
        while True:
            event = self.events.get(timeout=PATIENCE_S)
            if event["event"] == kind:
                return event

    def notice(self, part):
        while True:
            text = self.event("notice")["text"]
            if part in text:
                return text

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    def ask(self, method, path, body=None, **fields):
        """Status, fields and text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.web_port, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=fields)
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode()

    def get(self, path, **fields):
        status, _, text = self.ask("GET", path, **fields)
        assert status == 200, (path, status, text)
        return text

    def now(self):
        return json.loads(self.get("/snapshot"))["now"]

    def processor_s(self):
        """Processor time that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def running(folder, *options, **more):
    server = Server(folder, *options, **more)
    try:
        yield server
    finally:
        server.stop()


def smbclient(port, words):
    """smbclient at work."""
    command = ["smbclient", "//127.0.0.1/DATA", "-s", "/dev/null", "-N", "-p", str(port), "-m", "NT1",
               "--option=client min protocol=NT1", "-c", words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
