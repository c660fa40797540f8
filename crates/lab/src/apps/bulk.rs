//! One-way raw TCP transfers, like mTCP's SpdTest and netcat.

use coax_wire::time::{Span, Time};

use crate::{
    app::{App, AppEvent, Context},
    cause::Account,
    payload::Payload,
    side::Side,
    world::{Ended, Setup, World},
};

/// Sends a number of bytes of the pattern and closes its direction.
#[derive(Debug)]
pub struct BulkSender {
    bytes: u64,
}

impl BulkSender {
    /// Sends `bytes`.
    pub const fn new(bytes: u64) -> Self {
        Self { bytes }
    }
}

impl App for BulkSender {
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent) {
        match event {
            AppEvent::Start if context.side() == Side::Client => context.connect(),
            AppEvent::Connected => {
                context.send(Payload::pattern(0, self.bytes));
                context.close();
            }
            AppEvent::Reset => context.stop(),
            _ => {}
        }
    }
}

/// Reads all data and stops the run at the end.
#[derive(Debug)]
pub struct BulkReceiver {
    expected: u64,
    received: u64,
    intact: bool,
    first: Option<Time>,
    finished: Option<Time>,
}

impl BulkReceiver {
    /// Expects `bytes`.
    pub const fn new(bytes: u64) -> Self {
        Self {
            expected: bytes,
            received: 0,
            intact: true,
            first: None,
            finished: None,
        }
    }

    /// Number of received bytes.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Whether all received bytes were correct.
    pub const fn intact(&self) -> bool {
        self.intact
    }

    /// The times of the established connection and of the last byte.
    pub const fn times(&self) -> (Option<Time>, Option<Time>) {
        (self.first, self.finished)
    }
}

impl App for BulkReceiver {
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent) {
        match event {
            AppEvent::Start if context.side() == Side::Client => context.connect(),
            AppEvent::Connected => {
                self.first = Some(context.now());
                context.begin_account();
            }
            AppEvent::Readable => {
                let read = context.recv(u64::MAX);
                self.intact &= read.is_pattern_at(self.received);
                self.received = self.received.saturating_add(read.len());
                if self.received >= self.expected && self.finished.is_none() {
                    self.finished = Some(context.now());
                    context.stop();
                }
            }
            AppEvent::Reset => context.stop(),
            _ => {}
        }
    }
}

/// The result of a bulk transfer.
#[derive(Debug)]
#[non_exhaustive]
pub struct BulkResult {
    /// How the run ended.
    pub ended: Ended,
    /// Number of received bytes.
    pub bytes: u64,
    /// Whether all of them were correct.
    pub intact: bool,
    /// From the established connection to the last byte.
    pub took: Span,
    /// The causes of that time.
    pub account: Account,
    /// The world at the end of the run.
    pub world: World,
}

impl BulkResult {
    /// Bytes per second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / (self.took.0.max(1)) as f64
    }
}

/// Sends `bytes` from `from` to the other host. The account starts when the receiver is connected.
pub fn bulk(setup: &Setup, from: Side, bytes: u64, limit: Span) -> BulkResult {
    let mut world = World::new(setup);
    bulk_in(&mut world, from, bytes, limit).finish(world)
}

/// The same in a given world, for captures.
pub fn bulk_in(world: &mut World, from: Side, bytes: u64, limit: Span) -> BulkOutcome {
    let (mut sender, mut receiver) = (BulkSender::new(bytes), BulkReceiver::new(bytes));
    let ended = match from {
        Side::Client => world.run(&mut sender, &mut receiver, limit),
        Side::Server => world.run(&mut receiver, &mut sender, limit),
    };
    BulkOutcome { ended, receiver }
}

/// A completed transfer whose world is still in use.
#[derive(Debug)]
pub struct BulkOutcome {
    ended: Ended,
    receiver: BulkReceiver,
}

impl BulkOutcome {
    /// Adds the world to the result.
    pub fn finish(self, world: World) -> BulkResult {
        let receiver = self.receiver;
        let (first, finished) = receiver.times();
        let begin = first.unwrap_or_default();
        BulkResult {
            ended: self.ended,
            bytes: receiver.received(),
            intact: receiver.intact(),
            took: finished.unwrap_or_else(|| world.now()) - begin,
            account: world.account(),
            world,
        }
    }
}
