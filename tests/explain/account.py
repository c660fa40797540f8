"""From what emulator and kernel logged to the events that `referee` sweeps over, and the copy's begin and end."""
import bisect
import collections
import dataclasses

from explain import user_space
from explain.bench import DELIVERED, DOWN, OTHER, QUEUE_DROP, UP

SYN, ACK = 2, 16
READS, WRITES = {0x0A, 0x13, 0x1A, 0x1B, 0x2E}, {0x0B, 0x14, 0x1D, 0x1E, 0x2C, 0x2F}
READ_RAW, WRITE_RAW, CLOSE, LOCKING, SECONDARY = 0x1A, 0x1D, 0x04, 0x24, {0x26, 0x33, 0xA1}
# where the FID is: from the start of the parameter words
FID_OF_REQUEST = {0x0A: 0, 0x13: 0, 0x1A: 0, 0x1B: 0, 0x2E: 4, 0x0B: 0, 0x14: 0, 0x1D: 0, 0x1E: 0, 0x2C: 0, 0x2F: 4, CLOSE: 0}
FID_OF_OPEN = {0x02: 0, 0x03: 0, 0x0F: 0, 0x2D: 4, 0xA2: 5}
WORDS, WRITE_MODE = 37, 14
NT_TRANSACT, FUNCTION, NOTIFY, NT_CANCEL = 0xA0, 36, 4, 0xA4
KEEP_ALIVE = 0x85
LEAST_MSS = 1448  # 1,500 bytes less the headers and time stamps: what Linux sends over this link if it has enough to send
WOULD_BLOCK = -11  # EAGAIN
STOOD_STILL = 1_000_000  # nanoseconds


def number(head, at):
    return int.from_bytes(head[at : at + 2], "little")


@dataclasses.dataclass(slots=True)
class Exchange:
    """A request and its response, or None."""

    request: object
    command: int | None
    response: object = None

    @property
    def moves_data(self):
        return self.command in READS or self.command in WRITES or self.command is None

    @property
    def fid(self):
        at = FID_OF_REQUEST.get(self.command)
        return None if at is None else number(self.request.head, WORDS + at)


def is_smb(message):
    return message.head[4:8] == b"\xffSMB"


def key(head):
    return head[30:32], head[34:36]  # PID and MID


def exchanges(messages):
    """The requests of a connection in order, each with its response."""
    found, waiting, raw_writes = [], collections.defaultdict(collections.deque), collections.deque()
    for message in sorted(messages, key=lambda message: message.first):
        if message.head[0] == KEEP_ALIVE:
            continue
        if message.way == UP:
            exchange = asked(message, raw_writes)
            found.append(exchange)
            if not expects_answer(exchange):
                continue
            waiting["raw" if exchange.command == READ_RAW else key(message.head) if exchange.command is not None else "none"].append(exchange)
        elif is_smb(message) and message.head[8] == LOCKING and not message.head[13] & 0x80:
            continue  # the server breaks an oplock
        else:
            answered(message, waiting)
    return found


def expects_answer(exchange):
    """Whether the server is to answer now: not what continues a request, releases an oplock, or waits for changes of a folder."""
    command, head = exchange.command, exchange.request.head
    if command == NT_TRANSACT:
        return number(head, WORDS + FUNCTION) != NOTIFY
    return command not in SECONDARY | {-1, NT_CANCEL} and not (command == LOCKING and head[34:36] == b"\xff\xff")


def asked(message, raw_writes):
    """Command -1: data of a raw write that nobody answers."""
    if not is_smb(message):
        if message.head[0] == 0 and raw_writes:
            return Exchange(message, None if raw_writes.popleft() & 1 else -1)
        return Exchange(message, None)
    command = message.head[8]
    if command == WRITE_RAW:
        raw_writes.append(number(message.head, WORDS + WRITE_MODE))
    return Exchange(message, command)


def answered(message, waiting):
    queue = waiting[key(message.head)] if is_smb(message) else waiting["raw"]
    if not queue:
        queue = waiting["none"]
    if queue:
        # many clients give every request the same MID: what was asked before the newest request is answered or never will be
        queue.pop().response = message
        queue.clear()


def copy_of(found):
    """The exchanges of the file that moved most: (the first, the last, whether to the server)."""
    weight, written = collections.Counter(), collections.Counter()
    for exchange in found:
        if exchange.fid is not None and exchange.moves_data and exchange.response:
            weight[exchange.fid] += exchange.request.len + exchange.response.len
            written[exchange.fid] += exchange.request.len - exchange.response.len
    if not weight:
        raise ValueError("no request moved data")
    fid = weight.most_common(1)[0][0]
    data = [at for at, exchange in enumerate(found) if exchange.fid == fid and exchange.moves_data]
    first, last = data[0], data[-1]
    for at in range(first, -1, -1):
        where = FID_OF_OPEN.get(found[at].command)
        if where is not None and found[at].response and number(found[at].response.head, WORDS + where) == fid:
            first = at
            break
    for at in range(last, len(found)):
        if found[at].command == CLOSE and found[at].fid == fid:
            last = at
            break
    return found[first], found[last], written[fid] > 0 or any(found[at].command == WRITE_RAW for at in data)


class Received:
    """Which bytes of a stream the receiver has."""

    def __init__(self):
        self.next, self.ahead = 0, []

    def take(self, begin, end):
        """Whether any byte is new."""
        if end <= self.next:
            return False
        if begin > self.next:
            if any(low <= begin and end <= high for low, high in self.ahead):
                return False
            bisect.insort(self.ahead, (begin, end))
            return True
        self.next = end
        while self.ahead and self.ahead[0][0] <= self.next:
            self.next = max(self.next, self.ahead.pop(0)[1])
        return True


def unwrapped(value, base):
    """Stream offset of a sequence number: 0 is the first byte of data; what is far ahead of 4 GB cannot be."""
    offset = (value - base) % 2**32
    return offset if offset < 2**31 + 2**30 else offset - 2**32


class Curve:
    """A stream offset that grows with time."""

    def __init__(self):
        self.times, self.values = [], []

    def add(self, at, value):
        if not self.values or value > self.values[-1]:
            self.times.append(at)
            self.values.append(value)

    def reaches(self, value):
        """When it first is `value` or more, or None."""
        at = bisect.bisect_left(self.values, value)
        return self.times[at] if at < len(self.times) else None


class Account:
    """Everything about one connection, by the client's port.

    `facts` has by way: nodelay, paced. `stacks` has by way the log of a TCP that is not the kernel's. Raises ValueError if the logs do not describe a complete copy."""

    def __init__(self, port, packets, messages, calls, probes, states, addresses, facts, stacks=None):
        self.port, self.addresses = port, addresses
        self.packets = sorted(packets, key=lambda packet: packet.sent)
        self.calls, self.probes, self.states, self.stacks = calls, probes, states, stacks or {}
        self.exchanges = exchanges([one for one in messages if port in (one.sport, one.dport)])
        self.events = []
        self.curves = {(name, way): Curve() for name in ("written", "delivered", "read") for way in (UP, DOWN)}
        self.base = self.first_bytes()
        own = [packet for packet in self.packets if self.own(packet)]
        self.before = {way: min((packet.queued - packet.sent for packet in own if packet.way == way), default=0) for way in (UP, DOWN)}
        self.mss = {way: max([LEAST_MSS] + [packet.len for packet in own if packet.way == way]) for way in (UP, DOWN)}
        for way in (UP, DOWN):
            for field, value in facts[way].items():
                self.events.append((0, way, field, value))

    def own(self, packet):
        return packet.fate != OTHER and self.port in (packet.sport, packet.dport)

    def first_bytes(self):
        base = {packet.way: packet.seq + 1 for packet in self.packets if self.own(packet) and packet.flags & SYN}
        if len(base) != 2:
            raise ValueError("the log lacks a SYN")
        return base

    def offset(self, way, value):
        return unwrapped(value, self.base[way])

    def build(self):
        """All events."""
        self.link()
        self.data()
        self.acknowledgments()
        self.system_calls()
        self.tcp_state()
        self.requests()
        return self.events

    def add(self, at, way, field, value):
        self.events.append((at, way, field, value))

    def link(self):
        """What the link carried for others, and what of this connection waited in its queues."""
        for packet in self.packets:
            if packet.fate == QUEUE_DROP or packet.end == packet.start == packet.queued:
                continue
            if not self.own(packet):
                self.add(packet.start, packet.way, "other", 1)
                self.add(packet.end, packet.way, "other", -1)
            elif packet.start > packet.queued:
                self.add(packet.queued, packet.way, "own_queued", 1)
                self.add(packet.start, packet.way, "own_queued", -1)

    def data(self):
        """First transmissions, arrivals, transmission of useful packets, and losses."""
        for way in (UP, DOWN):
            own = [packet for packet in self.packets if self.own(packet) and packet.way == way and packet.len]
            self.add(0, way, "mss", self.mss[way])
            for packet in own:
                end = self.offset(way, packet.seq) + packet.len
                self.add(packet.sent, way, "departed", end)
                self.add(packet.sent + self.before[way], way, "sent", end)
            received, delivered = Received(), self.curves["delivered", way]
            for packet in sorted((packet for packet in own if packet.fate == DELIVERED), key=lambda packet: packet.arrived):
                begin = self.offset(way, packet.seq)
                if received.take(begin, begin + packet.len):
                    self.transmitted(way, packet)
                delivered.add(packet.arrived, received.next)
            for at, value in zip(delivered.times, delivered.values):
                self.add(at, way, "delivered", value)
            self.losses(way, own, delivered)

    def transmitted(self, way, packet):
        self.add(packet.start, way, "useful", 1)
        # an emulator that was kept from its work is a link that stood still
        self.add(packet.end + (packet.late if packet.late > STOOD_STILL else 0), way, "useful", -1)
        if packet.start > packet.queued:
            self.add(packet.queued, way, "useful_queued", 1)
            self.add(packet.start, way, "useful_queued", -1)

    def losses(self, way, own, delivered):
        """From when a lost packet would have arrived until everything up to its end has."""
        states = self.recoveries(way, own)
        times = [at for at, _ in states]
        sent_by_end = sorted((self.offset(way, packet.seq), packet.sent) for packet in own if packet.fate == DELIVERED)
        usual = min((packet.arrived - packet.end for packet in own if packet.fate == DELIVERED), default=0)
        for packet in own:
            if packet.fate == DELIVERED:
                continue
            begin = self.offset(way, packet.seq)
            expected, repaired = packet.end + usual, delivered.reaches(begin + packet.len)
            if repaired is None or repaired <= expected:
                continue
            again = next((sent for at, sent in sent_by_end[bisect.bisect_left(sent_by_end, (begin, packet.sent + 1)) :]
                          if at == begin and sent > packet.sent), None)
            again = again if again is not None else repaired
            index = bisect.bisect_right(times, again + 100_000) - 1
            state = states[index][1] if index >= 0 else 0
            kind = {4: "timeout", 3: "fast-recovery"}.get(state, "probe")
            self.add(expected, way, "hole+", kind)
            self.add(repaired, way, "hole-", kind)

    def recoveries(self, way, own):
        """(time, state) of the sender: by the kernel, or by the packets if it is not the kernel's."""
        if way in self.stacks:
            data = [(packet.sent, self.offset(way, packet.seq), self.offset(way, packet.seq) + packet.len) for packet in own]
            return list(user_space.states(data, [(packet.arrived, self.offset(way, packet.ack), packet.len) for packet in self.answers(way)]))
        source = self.addresses["client" if way == UP else "server"]
        return sorted((state.at, state.state) for state in self.states if state.source == source and self.port in (state.sport, state.dport))

    def answers(self, way):
        """The packets with an ACK that the sender of that way received, in order."""
        found = [packet for packet in self.packets if self.own(packet) and packet.way != way and packet.flags & ACK and not packet.flags & SYN]
        return sorted((packet for packet in found if packet.fate == DELIVERED), key=lambda packet: packet.arrived)

    def acknowledgments(self):
        for packet in self.packets:
            if self.own(packet) and packet.flags & ACK and not packet.flags & SYN:
                way = UP if packet.way == DOWN else DOWN
                value = self.offset(way, packet.ack)
                self.add(packet.sent, way, "ack_sent", value)
                if packet.fate == DELIVERED:
                    self.add(packet.arrived + self.before[way], way, "acked", value)

    def sockets(self):
        """The kernel's name of the client's and of the server's socket, where they are the kernel's."""
        client, server = (f"{self.addresses[end]}:" for end in ("client", "server"))
        found = {}
        for probe in self.probes:
            if probe.here == f"{client}{self.port}":
                found[UP] = probe.sock
            elif probe.there == f"{client}{self.port}" and probe.here.startswith(server):
                found[DOWN] = probe.sock
        found = {way: sock for way, sock in found.items() if way not in self.stacks}
        if len(found) + len(self.stacks) != 2:
            raise ValueError("the kernel's trace lacks the connection")
        return found

    def system_calls(self):
        """What the programs offered and read."""
        for way, sock in self.sockets().items():
            done = read = 0
            begins, before = self.socket_began(), self.before[way]
            for call in self.calls:
                if call.sock != sock or call.at < begins or call.size < 0 and call.size != WOULD_BLOCK:
                    continue
                if call.kind == "recv":
                    read += max(call.size, 0)
                    other = UP if way == DOWN else DOWN
                    self.curves["read", other].add(call.at, read)
                    self.add(call.at, other, "read", read)
                    continue
                offered = done + max(call.offered, 1)
                self.curves["written", way].add(call.began, offered)
                self.add(call.began + before, way, "written", offered)
                if call.at > call.began:
                    self.add(call.began + before, way, "stalled", 1)
                done += max(call.size, 0)
                self.add(call.at + before, way, "stalled", int(done < offered))

        for way, lines in self.stacks.items():
            self.log_of_program(way, lines)

    def log_of_program(self, way, lines):
        """The same of a program whose TCP is not the kernel's, and the congestion window if that TCP tells it."""
        offered = taken = 0
        other, before = UP if way == DOWN else DOWN, self.before[way]
        for at, kind, value in lines:
            if kind == "read":
                self.curves["read", other].add(at, value)
                self.add(at, other, "read", value)
            elif kind == "cwnd":
                self.add(at + before, way, "cwnd", value)
            else:
                offered, taken = (value, taken) if kind == "offered" else (offered, value)
                self.curves["written", way].add(at, offered)
                self.add(at + before, way, "written", offered)
                self.add(at + before, way, "stalled", int(taken < offered))

    def socket_began(self):
        """A socket's address may have belonged to an earlier connection: calls count from the first SYN on."""
        return min(packet.sent for packet in self.packets if self.own(packet)) - 1_000_000

    def tcp_state(self):
        """A probe shows the state that holds since the one before it."""
        for way, sock in self.sockets().items():
            since = 0
            for probe in self.probes:
                if probe.sock != sock:
                    continue
                at, una = since + self.before[way], self.offset(way, probe.snd_una)
                self.add(at, way, "edge", una + probe.window)
                self.add(at, way, "window", probe.window)
                self.add(at, way, "cwnd", probe.cwnd * self.mss[way])
                since = probe.at + 1
        for way in self.stacks:
            self.windows_by_packets(way)

    def windows_by_packets(self, way):
        """The receive window as the packets that reach the sender say it."""
        scales = [packet.scale for packet in self.packets if self.own(packet) and packet.flags & SYN and packet.fate == DELIVERED]
        scale = next(packet.scale for packet in self.packets if self.own(packet) and packet.flags & SYN and packet.way != way) - 1 if all(scales) else 0
        edge, before = 0, self.before[way]
        self.add(0, way, "divisor", 1 << 62)  # it sends as soon as a segment fits
        for packet in self.answers(way):
            window = packet.window << scale
            edge = max(edge, self.offset(way, packet.ack) + window)
            self.add(packet.arrived + before, way, "edge", edge)
            self.add(packet.arrived + before, way, "window", window)

    def requests(self):
        """Which requests the server holds, and which the client has sent for data."""
        written, delivered = (lambda way, value: self.curves["written", way].reaches(value)), self.curves
        for exchange in self.exchanges:
            if exchange.response is None:
                continue
            asked, answer = exchange.request.end, exchange.response.end
            there, offered = delivered["delivered", UP].reaches(asked), written(DOWN, answer)
            if there is not None and offered is not None and offered > there:
                self.add(there, None, "serving", 1)
                self.add(offered, None, "serving", -1)
            begun, back = written(UP, asked), delivered["delivered", DOWN].reaches(answer)
            if exchange.moves_data and begun is not None and back is not None and back > begun:
                self.add(begun, None, "data", 1)
                self.add(back, None, "data", -1)

    def span(self):
        """(begin, end, to_server) of the copy. Both ends as the client sees them."""
        first, last, to_server = copy_of(self.exchanges)
        message = last.response or last.request
        end = self.curves["delivered", message.way].reaches(message.end)
        if end is None:
            raise ValueError("the copy's last message never arrived")
        return first.request.first, end, to_server
