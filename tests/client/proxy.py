"""A TCP relay that misbehaves on purpose."""
import contextlib
import socket
import threading
import time


class Relay:
    """Relays to a port of this machine. `cut` closes both sides after so many bytes one way, `act` is called there instead
    if given; `pause` is slept after each piece."""

    def __init__(self, port, to_client=None, to_server=None, act=None, pause=0.0):
        self.target, self.limits, self.act, self.pause = port, (to_server, to_client), act, pause
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.target))
                for source, sink, limit in ((client, server, self.limits[0]), (server, client, self.limits[1])):
                    threading.Thread(target=self.pump, args=(source, sink, limit), daemon=True).start()

    def pump(self, source, sink, limit):
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                time.sleep(self.pause)
                passed += len(data)
                if limit is not None and passed >= limit:
                    limit = None
                    if self.act is None:
                        break
                    self.act()
                sink.sendall(data)
        for side in (source, sink):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class Babbler(Relay):
    """Answers whatever comes with the same bytes."""

    def __init__(self, answer):
        self.answer = answer
        super().__init__(0)

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                client.recv(4096)
                client.sendall(self.answer)
                client.shutdown(socket.SHUT_WR)
