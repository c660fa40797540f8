//! The account of one connection.

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

use crate::{
    charge::{Reported, Slice, Slow, charge, for_room},
    constants::{COPY_PAUSE_MAX, HANDING_MAX, IDLE_AFTER, SAMPLE_MIN, TICKS},
    copy::Copy,
    inbound::{Path, Pieces},
    kernel::Kernel,
    recent::{Recent, Shares, less, sum},
    request::{Direction, Purpose, Request},
};

/// What a connection does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// The client has all replies and has not requested anything more.
    #[default]
    Waiting,
    /// A part of a message has arrived.
    Receiving,
    /// The server works on a request.
    Serving,
    /// A request waits for another client: for a lock, an oplock or an open file.
    Parked,
    /// Replies wait for room in the send buffer.
    Sending,
}

/// Where the server's own time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Requests waited for a thread, or for a free pass to a share's disk.
    pub queue: Span,
    /// The server worked: its program and its disk.
    pub work: Span,
    /// Requests waited for other clients: locks, oplocks, open files.
    pub others: Span,
}

/// Keeps the account of a connection. Each call says what happened at `now`; the time since the call before is charged to
/// what the connection did meanwhile.
#[derive(Clone, Debug)]
pub struct Meter {
    at: Time,
    doing: Doing,
    /// When [`Self::doing`] began.
    since: Time,
    slice: Slice,
    /// What is charged of the slice already.
    charged: Account,
    slice_began: Time,
    /// A request has come after a gap, and what it is for is not known yet.
    gap_ended: bool,
    pieces: Pieces,
    path: Path,
    kernel: Kernel,
    reported: Reported,
    /// The delivery rate, bytes a second: follows rises quickly and falls slowly.
    rate: u64,
    recent: Recent,
    copy: Option<Copy>,
    server: Server,
    /// What was charged since [`Self::take_charged`].
    fresh: Account,
}

impl Meter {
    /// The account of a connection whose first request has just arrived.
    pub fn new(now: Time) -> Self {
        Self {
            at: now,
            doing: Doing::default(),
            since: now,
            slice: Slice::default(),
            charged: Account::default(),
            slice_began: now,
            gap_ended: false,
            pieces: Pieces::default(),
            path: Path::default(),
            kernel: Kernel::default(),
            reported: Reported::default(),
            rate: 0,
            recent: Recent::default(),
            copy: None,
            server: Server::default(),
            fresh: Account::default(),
        }
    }

    /// What the connection does, and since when.
    pub fn doing(&self) -> (Doing, Time) {
        (self.doing, self.since)
    }

    /// What the last `seconds` were spent on ([`crate::SECONDS`], [`crate::MINUTE`]). Idle time is not part of it.
    pub fn recent(&self, now: Time, seconds: u64) -> Shares {
        self.recent.last(now, seconds)
    }

    /// The copy that is under way, or the last one.
    pub fn copy(&self) -> Option<&Copy> {
        self.copy.as_ref()
    }

    /// Where the server's own time went since the connection began.
    pub fn server(&self) -> Server {
        self.server
    }

    /// What was charged since this was last called, for totals.
    pub fn take_charged(&mut self) -> Account {
        core::mem::take(&mut self.fresh)
    }

    /// The kernel's last report.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether nothing happened in the last minute, so that the account may be dropped.
    pub fn is_old(&self, now: Time) -> bool {
        self.doing == Doing::Waiting && self.recent.is_old(now)
    }

    /// The account as it is at `now`, with the wait that is not over yet: without it, a client that has all it asked for and does
    /// not go on would look as fast as before. `kernel` are the counters at this moment.
    #[must_use]
    pub fn looked_at(mut self, now: Time, kernel: Kernel) -> Self {
        let span = now - self.at;
        match self.doing {
            Doing::Waiting if self.is_idle(span) => return self,
            // the pieces of a message are charged together, at its end
            Doing::Receiving => return self,
            Doing::Waiting => {
                self.slice.gaps = sum(self.slice.gaps, span);
                self.slice.longest = self.slice.longest.max(span);
            }
            Doing::Serving | Doing::Parked => self.think(span),
            Doing::Sending => self.slice.sending = sum(self.slice.sending, span),
        }
        self.at = self.at.max(now);
        self.sample(now, kernel);
        self
    }

    /// Bytes were read; `whole`: they end with the end of a message. Returns whether [`Self::sample`] is due.
    pub fn received(&mut self, now: Time, bytes: usize, whole: bool) -> bool {
        let span = now - self.at;
        let bytes = bytes as u64;
        match self.doing {
            Doing::Waiting if self.is_idle(span) => self.skip(now),
            Doing::Waiting => {
                self.slice.gaps = sum(self.slice.gaps, span);
                self.slice.longest = self.slice.longest.max(span);
                self.gap_ended = true;
            }
            Doing::Receiving => self.pieces.add(span, bytes),
            Doing::Serving | Doing::Parked => self.think(span),
            Doing::Sending => self.slice.sending = sum(self.slice.sending, span),
        }
        if self.doing != Doing::Receiving && !whole {
            self.pieces.begin(bytes);
        }
        self.become_(
            now,
            if whole {
                Doing::Serving
            } else {
                Doing::Receiving
            },
        );
        now - self.slice_began >= SAMPLE_MIN
    }

    /// The server begins to work on a message.
    pub fn request(&mut self, now: Time, request: Request) {
        let span = now - self.at;
        if self.doing == Doing::Sending {
            self.slice.sending = sum(self.slice.sending, span);
        } else {
            self.server.queue = sum(self.server.queue, span);
            self.charged.add(Cause::ServerThink, span);
        }
        self.become_(now, Doing::Serving);
        match request.purpose {
            Purpose::Data {
                direction,
                family,
                fid,
                bytes,
            } => {
                self.copies(now, direction, fid);
                if let Some(copy) = &mut self.copy {
                    copy.note(family, bytes);
                }
            }
            Purpose::Flush => {
                if let Some(copy) = &mut self.copy {
                    copy.flushes = copy.flushes.saturating_add(1);
                }
            }
            _ => {}
        }
        self.count(request);
        if let Purpose::Close { fid } = request.purpose
            && self.copy.as_ref().is_some_and(|copy| copy.fid == fid)
        {
            self.end_copy(now);
        }
    }

    /// The server has done what it can with the requests that arrived; `parked`: one of them waits for another client.
    pub fn served(&mut self, now: Time, parked: bool) {
        if self.doing != Doing::Serving {
            return;
        }
        let span = now - self.at;
        self.server.work = sum(self.server.work, span);
        self.charged.add(Cause::ServerThink, span);
        self.become_(
            now,
            if parked {
                Doing::Parked
            } else {
                Doing::Serving
            },
        );
    }

    /// Whether the hand-over that ends at `now` took so long that [`Self::handed`] needs to know what it waited for.
    pub fn handed_slowly(&self, now: Time) -> bool {
        let is_handing = matches!(self.doing, Doing::Serving | Doing::Parked | Doing::Sending);
        is_handing && now - self.at > HANDING_MAX
    }

    /// The kernel has taken `bytes` of replies; `all`: and none are left. `slow`: if the hand-over was slow, how many bytes were
    /// sent before it, and what the kernel reports after it.
    pub fn handed(&mut self, now: Time, bytes: u64, all: bool, slow: Option<(u64, Kernel)>) {
        self.slice.bytes = self.slice.bytes.saturating_add(bytes);
        let span = now - self.at;
        match self.doing {
            // an oplock break or a keep-alive, which nothing waits for
            Doing::Waiting | Doing::Receiving => return,
            Doing::Parked if bytes == 0 => return,
            _ if all && span <= HANDING_MAX => self.think(span),
            _ => {
                let room = slow.map_or(span, |(start, kernel)| {
                    self.see(&kernel);
                    for_room(&Slow {
                        span,
                        start,
                        before: &self.kernel,
                        age: self.at - self.slice_began,
                        now: &kernel,
                    })
                });
                self.slice.sending = sum(self.slice.sending, room);
                self.think(less(span, room));
            }
        }
        self.become_(now, if all { Doing::Waiting } else { Doing::Sending });
    }

    /// What waited for another client goes on: a reply leaves.
    pub fn resumed(&mut self, now: Time) {
        let span = now - self.at;
        if self.doing == Doing::Parked {
            self.think(span);
            self.become_(now, Doing::Serving);
        }
    }

    /// The kernel's counters at `now`, which the call before has given. Charges the time since the last sample.
    pub fn sample(&mut self, now: Time, kernel: Kernel) {
        self.report(&kernel);
        let slice = core::mem::take(&mut self.slice);
        let (waits, used) = charge(&slice, &self.reported);
        self.reported.busy = less(self.reported.busy, used.busy).min(TICKS);
        self.reported.window_limited =
            less(self.reported.window_limited, used.window_limited).min(TICKS);
        self.reported.is_closed = false;
        self.merge(&waits);
        self.settle(now);
    }

    /// What a look at the kernel's counters shows of the path and the client, at whatever moment.
    fn see(&mut self, kernel: &Kernel) {
        let (rate, new) = (self.rate, kernel.delivery_rate);
        self.rate = match rate {
            0 => new,
            _ if new > rate => rate.saturating_add((new - rate) / 2),
            _ => rate - (rate - new) / 4096,
        };
        let widest = self.reported.widest.max(kernel.client_window);
        self.reported.widest = widest;
        self.reported.is_closed |= kernel.unsent > 0 && kernel.unacknowledged <= 1;
    }

    /// The time since the last sample, as far as it is charged, goes into the copy and the recent past.
    fn settle(&mut self, now: Time) {
        let charged = core::mem::take(&mut self.charged);
        if let Some(copy) = self.copy.as_mut().filter(|copy| !copy.ended) {
            for (cause, span) in charged.iter() {
                copy.account.add(cause, span);
            }
            copy.until = copy.began + copy.account.total();
        }
        self.recent.add(now, &charged);
        for (cause, span) in charged.iter() {
            self.fresh.add(cause, span);
        }
        self.slice_began = now;
    }

    fn report(&mut self, kernel: &Kernel) {
        let before = self.kernel;
        let grown = |now: u64, before: u64| now.saturating_sub(before);
        self.reported.busy = sum(
            self.reported.busy,
            Span(grown(kernel.busy.0, before.busy.0)),
        );
        self.reported.window_limited = sum(
            self.reported.window_limited,
            Span(grown(kernel.window_limited.0, before.window_limited.0)),
        );
        self.reported.acknowledged = grown(kernel.acknowledged, before.acknowledged);
        self.reported.retransmitted = grown(kernel.retransmitted, before.retransmitted);
        self.reported.congestion_window = before.congestion_window;
        self.see(kernel);
        self.reported.delivery_rate = self.rate;
        self.reported.kernel = *kernel;
        if grown(kernel.out_of_order, before.out_of_order) > 0 {
            // a loss was repaired while the client seemed to pause
            for cause in [Cause::ClientThink, Cause::SlowStart, Cause::SendWindow] {
                let part = self.charged.get(cause);
                self.charged.shift(cause, Cause::FastRecovery, part);
            }
        }
        self.kernel = *kernel;
    }

    fn count(&mut self, request: Request) {
        if !core::mem::take(&mut self.gap_ended) {
            return;
        }
        let count = match request.moves_data() {
            true => &mut self.slice.data,
            false => &mut self.slice.metadata,
        };
        *count = count.saturating_add(1);
    }

    /// File data moves: another file's, or in the other direction, begins another copy.
    fn copies(&mut self, now: Time, direction: Direction, fid: u16) {
        let is_same = self
            .copy
            .as_ref()
            .is_some_and(|copy| !copy.ended && copy.fid == fid && copy.direction == direction);
        if is_same {
            return;
        }
        self.end_copy(now);
        self.copy = Some(Copy::begin(direction, fid, now, self.kernel.retransmitted));
    }

    /// What is not sampled yet of the copy is charged with what the kernel reported last.
    fn end_copy(&mut self, now: Time) {
        if self.slice != Slice::default() || self.charged.total().0 > 0 {
            let kernel = self.kernel;
            self.sample(now, kernel);
        }
        if let Some(copy) = &mut self.copy {
            copy.ended = true;
        }
    }

    fn is_idle(&self, span: Span) -> bool {
        let copies = self.copy.as_ref().is_some_and(|copy| !copy.ended);
        span >= if copies { COPY_PAUSE_MAX } else { IDLE_AFTER }
    }

    /// The client was idle.
    fn skip(&mut self, now: Time) {
        self.end_copy(self.at);
        self.slice_began = now;
        self.gap_ended = false;
    }

    fn think(&mut self, span: Span) {
        let part = match self.doing {
            Doing::Parked => &mut self.server.others,
            _ => &mut self.server.work,
        };
        *part = sum(*part, span);
        self.charged.add(Cause::ServerThink, span);
    }

    fn merge(&mut self, account: &Account) {
        for (cause, span) in account.iter() {
            self.charged.add(cause, span);
        }
    }

    fn become_(&mut self, now: Time, doing: Doing) {
        if doing != self.doing {
            self.since = now;
            if self.doing == Doing::Receiving {
                let account = self.pieces.finish(&mut self.path, &self.kernel);
                self.merge(&account);
            }
        }
        (self.at, self.doing) = (self.at.max(now), doing);
    }
}
