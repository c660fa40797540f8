//! Raw TCP one way: what mTCP's SpdTest and netcat do.

use coax_wire::time::{Span, Time};

use crate::{
    app::{App, AppEvent, Context},
    cause::Account,
    payload::Payload,
    side::Side,
    world::{Ended, Setup, World},
};

/// Sends so many bytes of the pattern and ends its direction.
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

/// Reads whatever comes, and stops the run when all has come.
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

    /// Bytes that came.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Every byte was the one that was sent.
    pub const fn intact(&self) -> bool {
        self.intact
    }

    /// When the connection was there and when the last byte came.
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

/// What a bulk transfer came to.
#[derive(Debug)]
pub struct BulkResult {
    /// How it ended.
    pub ended: Ended,
    /// Bytes that arrived.
    pub bytes: u64,
    /// All of them were right.
    pub intact: bool,
    /// From the connection to the last byte.
    pub took: Span,
    /// What that was spent on.
    pub account: Account,
    /// The world at its end.
    pub world: World,
}

impl BulkResult {
    /// Bytes a second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / (self.took.0.max(1)) as f64
    }
}

/// Sends `bytes` from `from` to the other host. The account begins when the receiver's connection is there.
pub fn bulk(setup: &Setup, from: Side, bytes: u64, limit: Span) -> BulkResult {
    let mut world = World::new(setup);
    bulk_in(&mut world, from, bytes, limit).finish(world)
}

/// The same in a world made by the caller, for captures.
pub fn bulk_in(world: &mut World, from: Side, bytes: u64, limit: Span) -> BulkOutcome {
    let (mut sender, mut receiver) = (BulkSender::new(bytes), BulkReceiver::new(bytes));
    let ended = match from {
        Side::Client => world.run(&mut sender, &mut receiver, limit),
        Side::Server => world.run(&mut receiver, &mut sender, limit),
    };
    BulkOutcome { ended, receiver }
}

/// A transfer that has ended in a world that goes on.
#[derive(Debug)]
pub struct BulkOutcome {
    ended: Ended,
    receiver: BulkReceiver,
}

impl BulkOutcome {
    /// The result, with its world.
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
