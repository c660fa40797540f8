"""`coax serve --ci` as a script uses it."""
import contextlib
import json
import subprocess
import threading

from peers import subject


class Server:
    """A running server: its events, and what it says at the end."""

    def __init__(self, arguments):
        command = [subject.coax_binary(), "serve", "--ci", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.listening, self.ci = (json.loads(self.process.stdout.readline()) for _ in range(2))
        self.events = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        self.events += map(json.loads, self.process.stdout)

    @property
    def port(self):
        return self.ci["direct_port"]

    @property
    def summary(self):
        return self.events[-1]

    def of(self, kind):
        return [event for event in self.events if event["event"] == kind]

    def stop(self):
        self.process.terminate()
        self.code = self.process.wait(20)
        self.reader.join(20)


@contextlib.contextmanager
def serving(*arguments, faults=()):
    server = Server([*arguments, *(word for fault in faults for word in ("--fault", fault))])
    try:
        yield server
    finally:
        server.stop()
