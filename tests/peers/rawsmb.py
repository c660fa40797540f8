"""A small SMB1 client that says exactly what it is told to, byte by byte, in any dialect from CORE to NT LM 0.12.

Nothing in the package registries does file work in the core dialect, so the sequences here are the specifications' own
(SMB file sharing protocol 6.0p for the core, the LAN Manager 1.0 extensions, [MS-CIFS] for the rest). It also serves the
benchmarks: one system call to send, `recv_into` a buffer that is kept, nothing copied that need not be.
"""
import socket
import struct

HEADER = struct.Struct("<4sBIBHH8sHHHHH")
COUNTS = struct.Struct("<H")
MAGIC = b"\xffSMB"

# Dialects a client of each age offers, oldest first, as the specifications list them.
DIALECTS = {
    "CORE": ["PC NETWORK PROGRAM 1.0"],
    "COREPLUS": ["PC NETWORK PROGRAM 1.0", "MICROSOFT NETWORKS 1.03"],
    "LANMAN1": ["PC NETWORK PROGRAM 1.0", "MICROSOFT NETWORKS 3.0", "LANMAN1.0"],
    "LANMAN2": ["PC NETWORK PROGRAM 1.0", "MICROSOFT NETWORKS 3.0", "LANMAN1.0", "LM1.2X002"],
    # as Windows for Workgroups and the full DOS redirector offer them
    "WFW": ["PC NETWORK PROGRAM 1.0", "MICROSOFT NETWORKS 3.0", "DOS LM1.2X002", "DOS LANMAN2.1",
            "Windows for Workgroups 3.1a"],
    "NT1": ["PC NETWORK PROGRAM 1.0", "LANMAN1.0", "LM1.2X002", "LANMAN2.1", "NT LM 0.12"],
}

MKDIR, RMDIR, OPEN, CREATE, CLOSE, DELETE, RENAME = 0x00, 0x01, 0x02, 0x03, 0x04, 0x06, 0x07
FLUSH, LOCK, UNLOCK, CTEMP, MKNEW, EXIT, LOCK_AND_READ, WRITE_AND_UNLOCK = 0x05, 0x0C, 0x0D, 0x0E, 0x0F, 0x11, 0x13, 0x14
OPEN_PRINT_FILE, WRITE_PRINT_FILE, CLOSE_PRINT_FILE, GET_PRINT_QUEUE = 0xC0, 0xC1, 0xC2, 0xC3
GETATR, SETATR, READ, WRITE, CHKPATH, SEEK, READ_RAW, WRITE_RAW = 0x08, 0x09, 0x0A, 0x0B, 0x10, 0x12, 0x1A, 0x1D
WRITE_COMPLETE, ECHO, OPEN_ANDX, READ_ANDX, WRITE_ANDX, TRANS2 = 0x20, 0x2B, 0x2D, 0x2E, 0x2F, 0x32
TREE_CONNECT, TREE_DISCONNECT, NEGOTIATE, SESSION_SETUP_ANDX = 0x70, 0x71, 0x72, 0x73
LOGOFF_ANDX, TREE_CONNECT_ANDX, DSKATTR, SEARCH, NT_CREATE_ANDX = 0x74, 0x75, 0x80, 0x81, 0xA2

FLAGS2_LONG_NAMES, FLAGS2_NT_STATUS = 0x0001, 0x4000
NO_ANDX = b"\xff\x00\x00\x00"
ATTR_DIRECTORY = 0x10


class SmbError(Exception):
    """The server answered with an error: its status as the wire has it."""

    def __init__(self, command, status):
        self.command, self.status = command, status
        self.dos = (status & 0xFF, status >> 16)
        super().__init__(f"command {command:#04x} answered {status:#010x} (class {self.dos[0]}, code {self.dos[1]})")


class Reply:
    """A reply's parameter words and data bytes, not judged."""

    def __init__(self, message):
        fields = HEADER.unpack_from(message)
        self.command, self.status, self.tid, self.uid = fields[1], fields[2], fields[8], fields[10]
        count = message[32]
        self.words = bytes(message[33 : 33 + 2 * count])
        self.message = message
        self.data_at = 33 + 2 * count + 2

    def word(self, index):
        return COUNTS.unpack_from(self.words, 2 * index)[0]

    def long(self, byte_offset):
        return struct.unpack_from("<I", self.words, byte_offset)[0]

    @property
    def data(self):
        (size,) = COUNTS.unpack_from(self.message, self.data_at - 2)
        return bytes(self.message[self.data_at : self.data_at + size])


def netbios_name(name, suffix):
    """A first-level encoded NetBIOS name (RFC 1001, section 14.1)."""
    padded = name.upper().encode("ascii").ljust(15) + bytes([suffix])
    half = bytes(value for byte in padded for value in (0x41 + (byte >> 4), 0x41 + (byte & 15)))
    return b"\x20" + half + b"\x00"


def text(value):
    """The core's string with its buffer format byte in front."""
    return b"\x04" + value.encode("cp850") + b"\x00"


class Connection:
    """One connection, one user, one tree. Requests are serial unless a caller sends and receives on its own."""

    def __init__(self, host, port, called=None, timeout=30):
        self.socket = socket.create_connection((host, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray(4 + 0x20000)
        self.view = memoryview(self.buffer)
        self.tid = self.uid = self.mid = 0
        self.pid = 0x4242
        self.flags2 = 0
        self.dialect = None
        self.final_command = None
        if called:
            self.request_session(called)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- the session service and the frame

    def request_session(self, called):
        """Session request, RFC 1002, section 4.3.2."""
        names = netbios_name(called, 0x20) + netbios_name("RAWSMB", 0x00)
        self.socket.sendall(struct.pack(">BBH", 0x81, 0, len(names)) + names)
        kind = self.receive_exactly(4)[0]
        if kind != 0x82:
            raise ConnectionError(f"the session request was answered with {kind:#04x}")

    def receive_exactly(self, size, at=0):
        view = self.view[at : at + size]
        while len(view):
            got = self.socket.recv_into(view)
            if got == 0:
                raise ConnectionError("the server closed the connection")
            view = view[got:]
        return self.view[at : at + size]

    def receive_frame(self):
        """One session message's bytes, a view that is good until the next receive. Keep-alives are passed over."""
        while True:
            header = self.receive_exactly(4)
            size = int.from_bytes(header[1:4], "big")
            if header[0] == 0x00:
                return self.receive_exactly(size, 4)
            self.receive_exactly(size, 4)

    def head(self, command, size, flags2=None):
        """NetBIOS and SMB header for a message of `size` bytes in all."""
        self.mid = (self.mid + 1) & 0x7FFF
        flags2 = self.flags2 if flags2 is None else flags2
        smb = HEADER.pack(MAGIC, command, 0, 0x08, flags2, 0, b"", 0, self.tid, self.pid, self.uid, self.mid)
        return struct.pack(">I", size) + smb

    def send(self, command, words=b"", data=b""):
        size = 32 + 1 + len(words) + 2 + len(data)
        counts = bytes([len(words) // 2]) + words + COUNTS.pack(len(data) & 0xFFFF)
        if len(data) < 4096:
            self.socket.sendall(self.head(command, size) + counts + data)
        else:
            self.send_all([self.head(command, size) + counts, data])

    def send_all(self, parts):
        """Header and data in one system call, without gluing them together first."""
        total = sum(map(len, parts))
        sent = self.socket.sendmsg(parts)
        if sent < total:
            self.socket.sendall(b"".join(parts)[sent:])

    def receive(self, command=None):
        reply = Reply(self.receive_frame())
        if reply.status != 0:
            raise SmbError(reply.command, reply.status)
        if command is not None and reply.command != command:
            raise ConnectionError(f"asked {command:#04x}, answered {reply.command:#04x}")
        return reply

    def call(self, command, words=b"", data=b""):
        self.send(command, words, data)
        return self.receive(command)

    # --- negotiate, log on, tree

    def negotiate(self, age):
        """Offers the dialects of that age; the chosen dialect's name. ConnectionError when none was chosen."""
        offered = DIALECTS[age]
        reply = self.call(NEGOTIATE, b"", b"".join(b"\x02" + name.encode() + b"\x00" for name in offered))
        index = reply.word(0)
        if index >= len(offered):
            raise ConnectionError(f"none of {offered} was accepted")
        self.dialect = offered[index]
        self.flags2 = FLAGS2_LONG_NAMES if age in ("LANMAN2", "NT1") else 0
        if self.dialect == "NT LM 0.12":
            self.challenge = reply.data[:8]
            self.session_key = reply.long(15)
            self.flags2 |= FLAGS2_NT_STATUS
        elif len(reply.words) >= 26:
            self.challenge = reply.data[:8]
            self.session_key = reply.long(12)
        return self.dialect

    def log_on(self, user="", password=""):
        """SESSION_SETUP_ANDX with LM (and under NT LM 0.12 also NTLM) responses; empty for a guest."""
        lm, nt = responses(self.challenge, password) if user else (b"", b"")
        names = b"".join(part.encode("cp850") + b"\x00" for part in (user, "", "Unix", "rawsmb"))
        start = NO_ANDX + struct.pack("<HHHI", 0xFFFF, 2, 1, self.session_key)
        if self.dialect == "NT LM 0.12":
            words = start + struct.pack("<HHII", len(lm), len(nt), 0, 0x0000_4000 | 0x8 | 0x40)
            reply = self.call(SESSION_SETUP_ANDX, words, lm + nt + names)
        else:
            reply = self.call(SESSION_SETUP_ANDX, start + struct.pack("<HI", len(lm), 0), lm + names)
        self.uid = reply.uid

    def tree_connect(self, server, share, password="", device="A:"):
        """The core's TREE_CONNECT: no log-on before it, the share's password in it. The server's buffer size."""
        path = f"\\\\{server}\\{share}".upper()
        reply = self.call(TREE_CONNECT, b"", text(path) + text(password) + text(device))
        self.tid = reply.word(1)
        return reply.word(0)

    def tree_connect_andx(self, server, share):
        path = f"\\\\{server}\\{share}".upper().encode("cp850")
        reply = self.call(TREE_CONNECT_ANDX, NO_ANDX + struct.pack("<HH", 0, 1), b"\x00" + path + b"\x00?????\x00")
        self.tid = reply.tid

    def tree_disconnect(self):
        self.call(TREE_DISCONNECT)

    # --- the core's file work

    def mkdir(self, path):
        self.call(MKDIR, b"", text(path))

    def rmdir(self, path):
        self.call(RMDIR, b"", text(path))

    def chkpath(self, path):
        self.call(CHKPATH, b"", text(path))

    def create(self, path, attributes=0):
        return self.call(CREATE, struct.pack("<HI", attributes, 0), text(path)).word(0)

    def open(self, path, mode=0x00, attributes=0x16):
        """OPEN; mode 0 reads, 1 writes, 2 both, with the sharing mode in bits 4 to 6. The FID and the size."""
        reply = self.call(OPEN, struct.pack("<HH", mode, attributes), text(path))
        return reply.word(0), reply.long(8)

    def close_file(self, fid):
        self.call(CLOSE, struct.pack("<HI", fid, 0))

    def delete(self, path, attributes=0):
        self.call(DELETE, struct.pack("<H", attributes), text(path))

    def rename(self, old, new, attributes=0x16):
        self.call(RENAME, struct.pack("<H", attributes), text(old) + text(new))

    def getatr(self, path):
        """Attributes and size."""
        reply = self.call(GETATR, b"", text(path))
        return reply.word(0), reply.long(6)

    def setatr(self, path, attributes):
        self.call(SETATR, struct.pack("<HI10x", attributes, 0), text(path) + text(""))

    def read(self, fid, offset, count):
        """READ: at most `count` bytes; a view good until the next call."""
        reply = self.call(READ, struct.pack("<HHIH", fid, count, offset, 0))
        size = reply.word(0)
        return reply.message[reply.data_at + 3 : reply.data_at + 3 + size]

    def write(self, fid, offset, data):
        """WRITE; none at all truncates or extends to `offset`. The count written."""
        words = struct.pack("<HHIH", fid, len(data), offset, 0)
        return self.call(WRITE, words, b"\x01" + COUNTS.pack(len(data)) + bytes(data)).word(0)

    def seek(self, fid, mode, offset):
        return self.call(SEEK, struct.pack("<HHi", fid, mode, offset)).long(0)

    def flush(self, fid):
        self.call(FLUSH, COUNTS.pack(fid))

    def lock(self, fid, offset, count):
        self.call(LOCK, struct.pack("<HII", fid, count, offset))

    def unlock(self, fid, offset, count):
        self.call(UNLOCK, struct.pack("<HII", fid, count, offset))

    def lock_and_read(self, fid, offset, count):
        reply = self.call(LOCK_AND_READ, struct.pack("<HHIH", fid, count, offset, 0))
        return bytes(reply.message[reply.data_at + 3 : reply.data_at + 3 + reply.word(0)])

    def write_and_unlock(self, fid, offset, data):
        words = struct.pack("<HHIH", fid, len(data), offset, 0)
        return self.call(WRITE_AND_UNLOCK, words, b"\x01" + COUNTS.pack(len(data)) + bytes(data)).word(0)

    def mknew(self, path, attributes=0):
        return self.call(MKNEW, struct.pack("<HI", attributes, 0), text(path)).word(0)

    def ctemp(self, folder):
        """The FID, and the name the server chose."""
        reply = self.call(CTEMP, struct.pack("<HI", 0, 0), text(folder))
        return reply.word(0), reply.data[1:].split(b"\x00")[0].decode("cp850")

    def exit_process(self):
        self.call(EXIT)

    def open_print_file(self, name, setup=0, mode=1):
        return self.call(OPEN_PRINT_FILE, struct.pack("<HH", setup, mode), text(name)).word(0)

    def write_print_file(self, fid, data):
        self.call(WRITE_PRINT_FILE, COUNTS.pack(fid), b"\x01" + COUNTS.pack(len(data)) + data)

    def close_print_file(self, fid):
        self.call(CLOSE_PRINT_FILE, COUNTS.pack(fid))

    def print_queue(self, count=10):
        """How many jobs wait."""
        return self.call(GET_PRINT_QUEUE, struct.pack("<HH", count, 0)).word(0)

    def search(self, pattern, attributes=0x16, count=50):
        """SEARCH from first to last: (name, attributes, size) of every entry."""
        found, resume, pattern_now = [], b"", pattern
        for _ in range(100_000):
            data = text(pattern_now) + b"\x05" + COUNTS.pack(len(resume)) + resume
            try:
                reply = self.call(SEARCH, struct.pack("<HH", count, attributes), data)
            except SmbError as error:
                if error.dos == (1, 18) or error.status == 0x8000_0006:  # ERRnofiles: the end
                    return found
                raise
            number = reply.word(0)
            if number == 0:
                return found
            entries = reply.data[3:]
            for at in range(0, 43 * number, 43):
                found.append(search_entry(entries[at : at + 43]))
            resume, pattern_now = entries[43 * (number - 1) : 43 * (number - 1) + 21], ""
        raise ConnectionError("the search does not end")

    def dskattr(self):
        """Units, blocks a unit, bytes a block, free units."""
        return struct.unpack_from("<HHHH", self.call(DSKATTR).words)

    # --- LAN Manager and NT

    def open_andx(self, path, mode=0x40, function=0x01):
        """OPEN_ANDX; function 1 opens, 0x10 creates, 0x12 creates or truncates. The FID."""
        words = NO_ANDX + struct.pack("<HHHHIHIII", 0, mode, 0x16, 0, 0, function, 0, 0, 0)
        return self.call(OPEN_ANDX, words, path.encode("cp850") + b"\x00").word(2)

    def nt_create(self, path, access=0x0012_019F, disposition=1, options=0x40):
        name = path.encode("cp850") + b"\x00"
        words = NO_ANDX + struct.pack(
            "<BHIIIQIIIIIB", 0, len(name) - 1, 0, 0, access, 0, 0x80, 7, disposition, options, 2, 0
        )
        reply = self.call(NT_CREATE_ANDX, words, name)
        return struct.unpack_from("<H", reply.words, 5)[0]

    def read_andx(self, fid, offset, count):
        words = NO_ANDX + struct.pack("<HIHHIHI", fid, offset & 0xFFFFFFFF, count & 0xFFFF, 0, count >> 16, 0, offset >> 32)
        reply = self.call(READ_ANDX, words[: None if self.dialect == "NT LM 0.12" else 20])
        size, at = reply.word(5) | reply.word(7) << 16, reply.word(6)
        return reply.message[at : at + size]

    def write_andx(self, fid, offset, data):
        wide = self.dialect == "NT LM 0.12"
        at = 32 + 1 + (28 if wide else 24) + 2
        words = NO_ANDX + struct.pack(
            "<HIIHHHHH", fid, offset & 0xFFFFFFFF, 0, 0, 0, len(data) >> 16, len(data) & 0xFFFF, at
        )
        words += struct.pack("<I", offset >> 32) if wide else b""
        return self.call(WRITE_ANDX, words, data).word(2)

    def read_raw(self, fid, offset, count):
        """READ_RAW: the bytes; none at the end of the file, on an error, or when the server would not."""
        self.send(READ_RAW, struct.pack("<HIHHIH", fid, offset, count, 0, 0, 0))
        return self.receive_frame()

    def write_raw(self, fid, offset, data, through=True, with_request=0):
        """WRITE_RAW: waits for the interim reply before the rest of the data. The count that the final reply states,
        or, without write-through, the count sent."""
        at = 32 + 1 + 24 + 2
        first = data[:with_request]
        words = struct.pack("<HHHIIHIHH", fid, len(data), 0, offset, 0, 1 if through else 0, 0, len(first), at)
        self.send(WRITE_RAW, words, first)
        reply = self.receive()
        if reply.command == WRITE_COMPLETE:  # all of it was in the request, or the server wants no more of it
            self.final_command = reply.command
            return reply.word(0)
        self.send_all([struct.pack(">I", len(data) - with_request), data[with_request:]])
        if not through:
            return len(data)
        reply = self.receive()
        self.final_command = reply.command  # WRITE_COMPLETE; Samba says WRITE_RAW
        return reply.word(0)

    def echo(self, payload=b"echo"):
        return self.call(ECHO, COUNTS.pack(1), payload).data

    def find_all(self, pattern, level=1, count=512):
        """TRANS2 FIND_FIRST2 and FIND_NEXT2: how many entries the folder shows."""
        request = struct.pack("<HHHHI", 0x16, count, 0x6, level, 0) + pattern.encode("cp850") + b"\x00"
        parameters, _ = self.trans2(1, request)
        sid, total, ended = struct.unpack_from("<HHH", parameters)
        while not ended:
            request = struct.pack("<HHHIH", sid, count, level, 0, 0x6 | 0x8) + b"\x00"
            parameters, _ = self.trans2(2, request)
            number, ended = struct.unpack_from("<HH", parameters)
            total += number
        return total

    def query_path(self, path, level=0x0101):
        """TRANS2 QUERY_PATH_INFORMATION; SmbError when there is no such file."""
        request = struct.pack("<HI", level, 0) + path.encode("cp850") + b"\x00"
        return self.trans2(5, request)[1]

    def trans2(self, function, parameters):
        """A TRANSACTION2 that fits one request; its reply may come in pieces."""
        at = 32 + 1 + 30 + 2 + 3
        words = struct.pack(
            "<HHHHBBHIHHHHHBBH", len(parameters), 0, 10, 16000, 0, 0, 0, 0, 0,
            len(parameters), at, 0, 0, 1, 0, function,
        )
        self.send(TRANS2, words, b"\x00\x00\x00" + parameters)
        got_parameters, got_data = b"", b""
        while True:
            reply = self.receive(TRANS2)
            total_p, total_d, _, count_p, at_p, _, count_d, at_d = struct.unpack_from("<8H", reply.words)
            got_parameters += bytes(reply.message[at_p : at_p + count_p])
            got_data += bytes(reply.message[at_d : at_d + count_d])
            if len(got_parameters) >= total_p and len(got_data) >= total_d:
                return got_parameters, got_data


def search_entry(entry):
    """Of a 43-byte directory entry: 21 bytes of resume key, attribute, time, date, size, name."""
    attributes = entry[21]
    size = struct.unpack_from("<I", entry, 26)[0]
    return entry[30:43].split(b"\x00")[0].decode("cp850").rstrip(), attributes, size


def responses(challenge, password):
    """LM and NTLM responses. The ciphers come with impacket, which is installed for its own sake."""
    from impacket import ntlm

    encrypt = ntlm.ntlmssp_DES_encrypt
    return encrypt(ntlm.compute_lmhash(password), challenge), encrypt(ntlm.compute_nthash(password), challenge)
