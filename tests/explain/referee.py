"""Partition of a copy's wall time by what was known at each moment. docs/referee.md states the rules.

`partition` sweeps over events, which set or change a value of `Stream` or `Copy`. Between two events the state is constant,
so each nanosecond belongs to one category.
"""
import collections
import dataclasses
import math

UP, DOWN = 0, 1

# category -> the cause of coax that it is compared with, and other causes that are right too where it dominates
CAUSES = {
    "carrying": ("bandwidth", ()),
    "other-traffic": ("queueing", ()),
    "timeout": ("timeout", ()),
    "probe": ("timeout", ("fast-recovery",)),
    "fast-recovery": ("fast-recovery", ()),
    "window-after-loss": ("fast-recovery", ("send-window",)),
    "window-after-timeout": ("timeout", ("send-window", "fast-recovery")),
    "slow-start": ("slow-start", ("send-window",)),
    "congestion-window": ("send-window", ("fast-recovery",)),
    "pacing": ("pacing", ("send-window",)),
    "pacing-start": ("pacing", ("send-window", "slow-start")),
    "send-buffer": ("send-window", ()),
    "receive-window": ("receive-window", ()),
    "client-unread": ("client-think", ("zero-window", "receive-window")),
    "server-unread": ("server-think", ("zero-window", "receive-window")),
    "nagle": ("nagle-delayed-ack", ()),
    "delayed-ack": ("nagle-delayed-ack", ()),
    "client": ("client-think", ()),
    "client-stack": ("client-think", ()),
    "server": ("server-think", ()),
    "server-stack": ("server-think", ()),
    "round-trips": ("round-trips", ()),
    "metadata": ("metadata", ()),
}
AFTER_LOSS = {"fast-recovery": "window-after-loss", "probe": "window-after-loss", "timeout": "window-after-timeout"}


@dataclasses.dataclass(slots=True)
class Stream:
    """One direction of the copy's connection. Offsets count bytes of the stream."""

    useful: int = 0  # packets with bytes that the receiver lacks, now in transmission
    useful_queued: int = 0  # such packets in the queue
    own_queued: int = 0  # packets of this connection in the queue
    other: int = 0  # packets of others in transmission
    holes: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # losses not yet repaired, by what repairs them
    # the sender, as late as a packet takes from it to the queue: so the state in which the link is idle is the one that leaves it idle
    written: int = 0  # offset up to which the program has offered data
    stalled: int = 0  # the program waits for room in the send buffer
    sent: int = 0  # highest offset sent
    acked: int = 0  # highest offset that the sender knows to be acknowledged
    edge: int = 1 << 62  # end of the receive window
    window: int = 1 << 62  # its size
    cwnd: int = 1 << 62  # congestion window, bytes
    # at once
    departed: int = 0  # highest offset sent
    delivered: int = 0  # offset up to which everything has arrived
    read: int = 0  # offset up to which the receiving program has read
    ack_sent: int = 0  # highest offset acknowledged by the receiver
    mss: int = 1448
    divisor: int = 3  # a sender with that part of its window free sends
    nodelay: int = 1
    paced: int = 0  # the sender's congestion control paces
    lost: str = ""  # what repaired the last loss; empty: none so far
    peak: int = 0  # bytes in flight at the last loss


@dataclasses.dataclass(slots=True)
class Copy:
    """The state of both directions, and the requests."""

    up: Stream = dataclasses.field(default_factory=Stream)
    down: Stream = dataclasses.field(default_factory=Stream)
    serving: int = 0  # requests complete at the server whose responses it has not offered completely
    data: int = 0  # requests that move file data, from the client's program until the response has arrived
    to_server: bool = False

    @property
    def streams(self):
        """The direction of the file first."""
        return ((UP, self.up), (DOWN, self.down)) if self.to_server else ((DOWN, self.down), (UP, self.up))


def category(copy):
    """What the copy waits for in this state: the first rule that holds."""
    streams = copy.streams
    for _, stream in streams:
        if stream.useful or stream.useful_queued and not stream.other:
            return "carrying"
    for _, stream in streams:
        if stream.own_queued and stream.other:
            return "other-traffic"
    for _, stream in streams:
        for kind in ("timeout", "probe", "fast-recovery"):
            if stream.holes[kind] > 0:
                return kind
    for way, stream in streams:
        if reason := blocked(way, stream):
            return reason
    if copy.serving > 0:
        return "server"
    if any(stream.departed > stream.delivered for _, stream in streams):
        return "round-trips" if copy.data > 0 else "metadata"
    return "client"


def blocked(way, stream):
    """Why the sender's TCP does not send what its program has offered, or None."""
    unsent = stream.written - stream.sent
    if unsent <= 0:
        return None
    flight = stream.sent - stream.acked
    by_window, by_cwnd = stream.edge - stream.sent, stream.cwnd - flight
    room = min(by_window, by_cwnd)
    # everything has arrived, no ACK is on its way, and one is due
    withheld = stream.sent == stream.delivered and stream.acked == stream.ack_sent < stream.delivered
    # Linux waits for a third of the window rather than send a part of it (tcp_tso_win_divisor)
    if room < min(unsent, max(stream.mss, min(stream.window, stream.cwnd) // stream.divisor)):
        if by_window <= by_cwnd and stream.delivered - stream.read >= max(stream.window, stream.mss):
            return "server-unread" if way == UP else "client-unread"
        if withheld:
            return "delayed-ack"
        return "receive-window" if by_window <= by_cwnd else congestion(stream, flight)
    if stream.stalled:
        return "delayed-ack" if withheld else "send-buffer"
    if unsent < stream.mss and flight > 0 and not stream.nodelay:
        return "nagle"
    if stream.paced:
        return "pacing" if stream.lost else "pacing-start"
    return "client-stack" if way == UP else "server-stack"


def congestion(stream, flight):
    if not stream.lost:
        return "pacing-start" if stream.paced else "slow-start"
    if stream.paced:
        return "pacing"
    return AFTER_LOSS[stream.lost] if flight < stream.peak else "congestion-window"


def apply(copy, event):
    """Events are (time, way or None, field, value). Counts change by the value; `hole+` and `hole-` name the repair."""
    _, way, field, value = event
    if way is None:
        setattr(copy, field, getattr(copy, field) + value)
        return
    stream = copy.down if way == DOWN else copy.up
    if field in ("useful", "useful_queued", "own_queued", "other"):
        setattr(stream, field, getattr(stream, field) + value)
    elif field == "hole+":
        stream.holes[value] += 1
        stream.peak = max(stream.sent - stream.acked, stream.mss) if not stream.lost or sum(stream.holes.values()) == 1 else stream.peak
        stream.lost = value
    elif field == "hole-":
        stream.holes[value] -= 1
    elif field in ("written", "sent", "departed", "delivered", "read", "ack_sent", "acked"):
        setattr(stream, field, max(getattr(stream, field), value))
    else:
        setattr(stream, field, value)


def intervals(events, begin, end, to_server=False):
    """(from, to, category) of each stretch between `begin` and `end`, in order and without gaps."""
    copy, at, now = Copy(to_server=to_server), begin, None
    for event in sorted(events, key=lambda event: event[0]):
        time = event[0]
        if time >= end:
            break
        if time > at:
            now = category(copy)
            yield at, time, now
            at = time
        apply(copy, event)
    if at < end:
        yield at, end, category(copy)


def partition(events, begin, end, to_server=False):
    """Nanoseconds by category. They add up to `end - begin`."""
    found = collections.Counter()
    for start, stop, name in intervals(events, begin, end, to_server):
        found[name] += stop - start
    return found


def shares(parts):
    """Share of each cause of coax in the time."""
    total = sum(parts.values()) or 1
    found = collections.Counter()
    for name, value in parts.items():
        found[CAUSES[name][0]] += value / total
    return dict(found)


TOLERANCE = 0.10


def accepted(parts):
    """Causes that are right as the dominant one: those that can be within 10 points of the largest, the most likely first."""
    of, total, possible = shares(parts), sum(parts.values()) or 1, collections.Counter()
    for name, value in parts.items():
        for cause in (CAUSES[name][0], *CAUSES[name][1]):
            possible[cause] += value / total
    least = max(of.values(), default=0.0) - TOLERANCE - 1e-12
    return sorted((cause for cause, value in possible.items() if value >= least), key=lambda cause: (-of.get(cause, 0.0), -possible[cause]))


def fitted(parts, said):
    """Shares by cause, where the time of a category with several right causes counts for those that `said` has."""
    total = sum(parts.values()) or 1
    found = collections.Counter()
    for name, value in parts.items():
        if not CAUSES[name][1]:
            found[CAUSES[name][0]] += value / total
    for name, value in sorted(parts.items()):
        cause, others = CAUSES[name]
        left = value / total if others else 0.0
        for one in (cause, *others):
            given = min(left, max(said.get(one, 0.0) - found[one], 0.0))
            found[one] += given
            left -= given
        found[cause] += left
    return found


def share_error(parts, said):
    """Mean difference, in points, over the causes with at least half a point in either account."""
    of = fitted(parts, said)
    causes = [name for name in set(of) | set(said) if max(of.get(name, 0), said.get(name, 0)) >= 0.005]
    return 100 * math.fsum(abs(of.get(name, 0) - said.get(name, 0)) for name in causes) / max(len(causes), 1)


def moved(parts, said):
    """Points of the time that would have to move from one cause to another."""
    of = fitted(parts, said)
    return 50 * math.fsum(abs(of.get(name, 0) - said.get(name, 0)) for name in set(of) | set(said))
