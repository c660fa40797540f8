"""Recorded load: clients of several dialects that change files at random and note what each reply promised."""
import contextlib
import copy
import random
import socket
import struct
import subprocess
import threading

from peers import rawsmb

from .record import File, Folder

THROUGH = 0x4042  # reads and writes, shares all, writes through
PLAIN = 0x42
CREATE_OR_TRUNCATE, OPEN = 0x12, 0x01
NT_THROUGH = 0x42  # FILE_WRITE_THROUGH, and no folder
DIALECTS = ["CORE", "LANMAN1", "NT1"]
FILES_KEPT = 6
LONGEST = 200_000
# Of a hundred changes; what a dialect cannot do becomes a write.
ALL = {"write": 40, "through": 18, "flush": 12, "length": 4, "reopen": 8, "create": 7, "rename": 4, "delete": 3, "folder": 2, "time": 2}
# Names and attributes alone: no sync of data helps them to the disk.
NAMES = {"create": 30, "rename": 25, "delete": 15, "folder": 15, "time": 15}


class Worker(threading.Thread):
    """One connection. `promises(kind)` says whether the reply to that kind of change promises it, `mix` how often each
    kind is chosen."""

    def __init__(self, server, number, seed, promises, mix=None):
        super().__init__(daemon=True)
        self.server, self.number, self.promises, self.mix = server, number, promises, mix or ALL
        self.dialect = DIALECTS[number % len(DIALECTS)]
        self.random = random.Random(f"{seed} {number}")
        self.lock = threading.Lock()
        self.records, self.open = [], []
        self.serial = self.replies = self.promised = 0
        self.ending, self.error = False, None

    # --- the thread

    def run(self):
        try:
            with rawsmb.Connection(self.server.host, self.server.direct, timeout=60) as self.smb:
                self.connect()
                while not self.ending:
                    self.change()
        except (OSError, ConnectionError) as error:
            self.error = None if self.ending else error
        except Exception as error:  # the main thread reports it
            self.error = error

    def crash(self):
        """Cuts the connection off in whatever it does."""
        self.ending = True
        with contextlib.suppress(AttributeError, OSError):  # it may not be connected yet
            self.smb.socket.shutdown(socket.SHUT_RDWR)

    def connect(self):
        self.smb.negotiate(self.dialect)
        if self.dialect == "CORE":
            self.smb.tree_connect(self.server.name, self.server.share)
        else:
            self.smb.log_on()
            self.smb.tree_connect_andx(self.server.name, self.server.share)

    def snapshot(self):
        """The records as they are now, for a fault that happens now."""
        with self.lock:
            return copy.deepcopy(self.records)

    def change(self):
        kind = self.random.choices(list(self.mix), self.mix.values())[0]
        if kind in ("create", "folder", "time") or not self.open:
            return getattr(self, kind if kind in ("folder", "time") else "create")()
        getattr(self, kind)(self.random.choice(self.open))

    # --- acknowledgements

    def acknowledge(self, kind, record, change=None):
        with self.lock:
            self.replies += 1
            if change is not None:
                record.acknowledge(change)
            if self.promises(kind):
                self.promised += 1
                record.promise()

    def new_name(self, extension="DAT"):
        self.serial += 1
        return f"W{self.number}{self.serial:06}.{extension}"

    def data(self):
        return self.random.randbytes(self.random.choice([1, 100, 512, 4096, 5000, 16_000]))

    def place(self, record):
        size = len(record.content)
        return size if self.random.random() < 0.5 else self.random.randrange(size + 1)

    # --- changes of contents

    def write(self, entry, through=False):
        record, fid, always = entry
        offset = self.place(record)
        data = self.data() if offset < LONGEST else b"again"
        offset = min(offset, LONGEST)
        with self.lock:
            change = record.begin(offset, data)
        through = self.send_write(fid, offset, data, through) or always
        self.acknowledge("through" if through else "write", record, change)

    def through(self, entry):
        self.write(entry, through=True)

    def send_write(self, fid, offset, data, through):
        """Whether the request itself asked for write-through."""
        if self.dialect == "CORE":
            self.smb.write(fid, offset, data)
            return False
        if self.dialect == "LANMAN1" and self.random.random() < 0.5 and (through or len(data) > 1000):
            written = self.smb.write_raw(fid, offset, data, through=through)
            if not through:
                # The interim reply comes before the data: the next reply is the first that follows the write.
                self.smb.seek(fid, 0, 0)
        else:
            written = self.write_andx(fid, offset, data, 1 if through else 0)
        if written != len(data):
            raise AssertionError(f"{written} of {len(data)} bytes were written")
        return through

    def write_andx(self, fid, offset, data, mode):
        wide = self.dialect == "NT1"
        at = 32 + 1 + (28 if wide else 24) + 2
        words = rawsmb.NO_ANDX + struct.pack("<HIIHHHHH", fid, offset, 0, mode, 0, 0, len(data), at)
        words += struct.pack("<I", 0) if wide else b""
        return self.smb.call(rawsmb.WRITE_ANDX, words, data).word(2)

    def length(self, entry):
        record, fid, always = entry
        length = self.random.randrange(len(record.content) + 5000)
        with self.lock:
            change = record.begin(length, None)
        self.smb.write(fid, length, b"")
        self.acknowledge("through" if always else "length", record, change)

    def flush(self, entry):
        record, fid, _ = entry
        self.smb.flush(fid if self.random.random() < 0.8 else 0xFFFF)
        self.acknowledge("flush", record)

    # --- opens

    def open_file(self, name, create):
        """The FID, and whether the open writes through."""
        always = self.random.random() < 0.25
        if self.dialect == "NT1":
            fid = self.smb.nt_create(name, disposition=5 if create else 1, options=NT_THROUGH if always else 0x40)
        elif self.dialect == "LANMAN1":
            fid = self.smb.open_andx(name, THROUGH if always else PLAIN, CREATE_OR_TRUNCATE if create else OPEN)
        elif create:
            fid, always = self.smb.create(name), False
        else:
            fid = self.smb.open(name, THROUGH if always else PLAIN)[0]
        return fid, always

    def create(self):
        if len(self.open) >= FILES_KEPT:
            record, fid, _ = self.open.pop(0)
            self.smb.close_file(fid)
            self.acknowledge("close", record)
        record = File(self.new_name())
        with self.lock:
            self.records.append(record)
        fid, always = self.open_file(record.names[-1], True)
        record.acknowledge_name()
        self.acknowledge("create", record)
        self.open.append((record, fid, always))

    def reopen(self, entry):
        record, fid, _ = entry
        self.open.remove(entry)
        self.smb.close_file(fid)
        self.acknowledge("close", record)
        self.open.append((record, *self.open_file(record.names[-1], False)))

    # --- names and attributes

    def rename(self, entry):
        record, fid, _ = entry
        self.open.remove(entry)
        self.smb.close_file(fid)
        name = self.new_name()
        with self.lock:
            record.begin_rename(name)
        self.smb.rename(record.names[-2], name)
        record.acknowledge_name()
        self.acknowledge("rename", record)
        self.open.append((record, *self.open_file(name, False)))

    def delete(self, entry):
        record, fid, _ = entry
        self.open.remove(entry)
        self.smb.close_file(fid)
        with self.lock:
            record.deletion = "begun"
        self.smb.delete(record.names[-1])
        record.deletion = "acknowledged"
        self.acknowledge("delete", record)

    def folder(self):
        record = Folder(self.new_name("DIR"))
        with self.lock:
            self.records.append(record)
        self.smb.mkdir(record.name)
        with self.lock:
            self.replies += 1
            record.promised = self.promises("folder")

    def time(self):
        """A file of its own whose time of last write is set last of all."""
        record = File(self.new_name("TIM"))
        with self.lock:
            self.records.append(record)
        name, modified = record.names[-1], 1_000_000_000 + 2 * self.serial
        self.smb.close_file(self.smb.create(name))
        self.smb.call(rawsmb.SETATR, struct.pack("<HI10x", 0, modified), rawsmb.text(name) + rawsmb.text(""))
        record.acknowledge_name()
        with self.lock:
            if self.promises("time"):
                record.attributes = {"modified": modified}
        self.acknowledge("time", record)


class Puts(threading.Thread):
    """A client program that copies one whole file after the other to the server; its exit code 0 is the reply."""

    def __init__(self, name, command, source):
        super().__init__(daemon=True)
        self.program, self.command, self.source = name, command, source
        self.done, self.replies, self.ending, self.error = [], 0, False, None

    def run(self):
        while not self.ending:
            target = f"{self.program}-{self.replies}.bin"
            done = subprocess.run(self.command(target), capture_output=True, timeout=60)
            if done.returncode != 0:
                said = (done.stdout + done.stderr)[-300:]
                self.error = None if self.ending else AssertionError(f"{self.program}: {said}")
                return
            self.done.append(target)
            self.replies += 1

    def losses(self, folder):
        expected = self.source.read_bytes()
        for name in self.done:
            found = (folder / name).read_bytes() if (folder / name).exists() else b""
            if found != expected:
                yield f"{name} was copied and differs ({len(found)} of {len(expected)} bytes)", len(expected)


def everything(_kind):
    """The promise for a server that is killed: whatever was acknowledged is in the page cache."""
    return True


def synced(kind):
    """The promise for a power cut under `strict sync`: what was flushed or written through."""
    return kind in ("through", "flush")


@contextlib.contextmanager
def running(workers):
    """Runs the threads; at the end all are joined."""
    for worker in workers:
        worker.start()
    try:
        yield workers
    finally:
        for worker in workers:
            worker.ending = True
        for worker in workers:
            worker.join(60)


def check(workers):
    """Raises the first error of a thread that was not stopped on purpose."""
    for worker in workers:
        if worker.error is not None:
            raise worker.error
