//! One transfer: what moved, when, what to do next and how it ended.

use coax_wire::time::{Span, Time};

use crate::{
    report::{End, Report},
    role::Role,
    sample::{Sample, Sampler},
};

/// What is to be moved, and what is too long a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which way.
    pub role: Role,
    /// Stop after this many bytes. A receiver without it takes what comes.
    pub bytes: Option<u64>,
    /// Stop after this time, counted from the connection; a sender still waits until what it has written is acknowledged.
    pub time: Option<Span>,
    /// Give up if nothing moves for so long.
    pub idle: Span,
}

/// What the driver is to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// Hand at most so many bytes to TCP, and tell [`Transfer::written`].
    Data(u64),
    /// Everything was written: close our direction. Comes once.
    Shut,
    /// Nothing: wait for the peer.
    Nothing,
}

/// One connection that carries plain bytes one way. See the crate's page for whom it agrees with.
#[derive(Debug)]
pub struct Transfer {
    config: Config,
    started: Time,
    first_byte: Option<Time>,
    last_moved: Time,
    /// Sender: bytes handed to our TCP.
    written: u64,
    /// Bytes that count: received, acknowledged, or written while acknowledgements are not told.
    moved: u64,
    acknowledgements_told: bool,
    shut: bool,
    ended: Option<(Time, End)>,
    sampler: Sampler,
    fresh: Option<Sample>,
}

impl Transfer {
    /// A transfer over a connection that stands since `now`.
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

    /// What to do now. To be asked again after [`Self::written`]; [`Transmit::Shut`] is said once.
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

    /// How many bytes a receiver may still take; a sender none that count.
    pub fn receivable(&self) -> u64 {
        self.config
            .bytes
            .map_or(u64::MAX, |wanted| wanted.saturating_sub(self.moved))
    }

    /// When [`Self::handle_timeout`] is due; `None` once it has ended.
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

    /// The newest sample, once: for a progress line.
    pub const fn poll_sample(&mut self) -> Option<Sample> {
        self.fresh.take()
    }

    /// How it ended; `None` while it runs.
    pub fn end(&self) -> Option<End> {
        self.ended.map(|(_, end)| end)
    }

    /// Bytes moved so far, as [`Report::bytes`].
    pub const fn bytes(&self) -> u64 {
        self.moved
    }

    /// What was measured so far.
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

    /// Sender: `bytes` were handed to our TCP.
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

    /// Sender: the peer's TCP has acknowledged `total` bytes since the beginning. From the first such word on, which should
    /// come before anything is written, these count, not those written: a send buffer of megabytes would otherwise look
    /// like the speed of a slow machine.
    pub fn acknowledged(&mut self, now: Time, total: u64) {
        if self.ended.is_some() {
            return;
        }
        self.acknowledgements_told = true;
        // Linux counts the SYN and the FIN among them
        let total = total.min(self.written);
        if total > self.moved {
            self.last_moved = now;
            self.moved = total;
        }
    }

    /// Sender: the peer's TCP has everything, the end of our direction included.
    pub fn flushed(&mut self, now: Time) {
        if self.shut && self.ended.is_none() {
            self.moved = self.written;
            self.finish(now, End::Done);
        }
    }

    /// Receiver: `bytes` came.
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

    /// The peer closed its direction. That ends what we receive; a sender takes no notice, since netcat closes its own
    /// direction early when it has nothing to say.
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

    /// It ended otherwise: [`End::Reset`], [`End::Interrupted`] or [`End::Broken`]. Time is counted to the last byte.
    pub fn failed(&mut self, end: End) {
        self.finish(self.last_moved, end);
    }

    /// Takes a sample that is due, and ends what was silent or long enough.
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
