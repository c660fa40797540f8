//! The state machine of one transfer.

use coax_wire::time::{Span, Time};

use crate::{
    report::{End, Report},
    role::Role,
    sample::{Sample, Sampler},
};

/// Amount and limits of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The direction.
    pub role: Role,
    /// Stop after this many bytes. Without it, a receiver reads until the peer closes.
    pub bytes: Option<u64>,
    /// Stop after this time from the established connection. A sender still waits until all written data is
    /// acknowledged.
    pub time: Option<Span>,
    /// Give up after this time without progress.
    pub idle: Span,
}

/// The driver's next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// Write at most this number of bytes, and call [`Transfer::written`].
    Data(u64),
    /// Everything is written: close the write direction. Returned once.
    Shut,
    /// Nothing: wait for the peer.
    Nothing,
}

/// One connection that carries plain bytes in one direction. The crate's documentation lists compatible programs.
#[derive(Debug)]
pub struct Transfer {
    config: Config,
    started: Time,
    first_byte: Option<Time>,
    last_moved: Time,
    /// Sender: bytes written to the local TCP.
    written: u64,
    /// Bytes that count as moved: received, acknowledged, or written if there is no ACK information.
    moved: u64,
    acknowledgements_told: bool,
    shut: bool,
    ended: Option<(Time, End)>,
    sampler: Sampler,
    fresh: Option<Sample>,
}

impl Transfer {
    /// A transfer over a connection established at `now`.
    pub fn new(config: Config, now: Time) -> Self {
        Self {
            config,
            started: now,
            first_byte: None,
            last_moved: now,
            written: 0,
            moved: 0,
            acknowledgements_told: false,
            shut: false,
            ended: None,
            sampler: Sampler::new(now),
            fresh: None,
        }
    }

    /// The next action. Call it again after [`Self::written`]; it returns [`Transmit::Shut`] once.
    pub fn poll_transmit(&mut self, now: Time) -> Transmit {
        if self.config.role == Role::Receive || self.shut || self.ended.is_some() {
            return Transmit::Nothing;
        }
        let left = self
            .config
            .bytes
            .map_or(u64::MAX, |wanted| wanted.saturating_sub(self.written));
        if left == 0 || self.time_is_up(now) {
            self.shut = true;
            return Transmit::Shut;
        }
        Transmit::Data(left)
    }

    /// How many bytes a receiver may still read. A sender discards what it reads.
    pub fn receivable(&self) -> u64 {
        self.config
            .bytes
            .map_or(u64::MAX, |wanted| wanted.saturating_sub(self.moved))
    }

    /// When to call [`Self::handle_timeout`]; `None` after the end.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.ended.is_some() {
            return None;
        }
        let due = self.sampler.due().min(self.last_moved + self.config.idle);
        Some(match self.config.time {
            Some(time) if !self.shut => due.min(self.started + time),
            _ => due,
        })
    }

    /// Returns the newest sample once, for a progress line.
    pub const fn poll_sample(&mut self) -> Option<Sample> {
        self.fresh.take()
    }

    /// How it ended; `None` while it runs.
    pub fn end(&self) -> Option<End> {
        self.ended.map(|(_, end)| end)
    }

    /// Bytes moved so far, as in [`Report::bytes`].
    pub const fn bytes(&self) -> u64 {
        self.moved
    }

    /// The measurement so far.
    pub fn report(&self, now: Time) -> Report {
        let until = self.ended.map_or(now, |(at, _)| at);
        Report {
            role: self.config.role,
            bytes: self.moved,
            wanted: self.config.bytes,
            elapsed: until - self.started,
            first_byte: self.first_byte.map(|first| first - self.started),
            end: self.end(),
            samples: self.sampler.list().to_vec(),
        }
    }

    /// Sender: `bytes` were written to the local TCP.
    pub fn written(&mut self, now: Time, bytes: u64) {
        if self.ended.is_some() || bytes == 0 {
            return;
        }
        self.first_byte.get_or_insert(now);
        self.written = self.written.saturating_add(bytes);
        if !self.acknowledgements_told {
            self.moved = self.written;
            self.last_moved = now;
        }
    }

    /// Sender: the peer's TCP has acknowledged `total` bytes since the start. After the first call, the transfer counts
    /// acknowledged instead of written bytes, so call it before the first write. Otherwise a send buffer of megabytes
    /// makes a slow machine look fast.
    pub fn acknowledged(&mut self, now: Time, total: u64) {
        if self.ended.is_some() {
            return;
        }
        self.acknowledgements_told = true;
        // Linux counts SYN and FIN as well
        let total = total.min(self.written);
        if total > self.moved {
            self.last_moved = now;
            self.moved = total;
        }
    }

    /// Sender: the peer's TCP has acknowledged all data and our FIN.
    pub fn flushed(&mut self, now: Time) {
        if self.shut && self.ended.is_none() {
            self.moved = self.written;
            self.finish(now, End::Done);
        }
    }

    /// Receiver: `bytes` arrived.
    pub fn received(&mut self, now: Time, bytes: u64) {
        if self.ended.is_some() || self.config.role == Role::Send || bytes == 0 {
            return;
        }
        self.first_byte.get_or_insert(now);
        self.moved = self.moved.saturating_add(bytes);
        self.last_moved = now;
        if self.receivable() == 0 || self.time_is_up(now) {
            self.finish(now, End::Done);
        }
    }

    /// The peer closed its direction. This ends a receiver. A sender ignores it, because netcat closes its direction
    /// early when it has nothing to send.
    pub fn peer_closed(&mut self, now: Time) {
        if self.config.role == Role::Receive {
            let end = match (self.moved, self.config.bytes) {
                (0, _) => End::Empty,
                (moved, Some(wanted)) if moved < wanted => End::Short,
                _ => End::Done,
            };
            self.finish(now, end);
        }
    }

    /// The transfer ended with [`End::Reset`], [`End::Interrupted`] or [`End::Broken`]. The time counts to the last
    /// byte.
    pub fn failed(&mut self, end: End) {
        self.finish(self.last_moved, end);
    }

    /// Takes a due sample, and ends the transfer at its time limit or idle timeout.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.ended.is_some() {
            return;
        }
        if now >= self.last_moved + self.config.idle {
            return self.finish(self.last_moved, End::Silent);
        }
        if self.config.role == Role::Receive && self.time_is_up(now) {
            return self.finish(now, End::Done);
        }
        if now >= self.sampler.due() {
            self.fresh = Some(self.sampler.cut(now, self.moved));
        }
    }

    fn time_is_up(&self, now: Time) -> bool {
        self.config
            .time
            .is_some_and(|time| now >= self.started + time)
    }

    fn finish(&mut self, at: Time, end: End) {
        if self.ended.is_none() {
            self.sampler.finish(at, self.moved);
            self.ended = Some((at, end));
        }
    }
}

#[cfg(test)]
mod tests;
