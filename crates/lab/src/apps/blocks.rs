//! A stop-and-wait protocol of blocks: the message pattern of an old redirector's file copy, without the commands.

use alloc::vec::Vec;

use coax_wire::time::{Span, Time};

use crate::{
    app::{App, AppEvent, Context},
    cause::Account,
    payload::Payload,
    side::Side,
    world::{Ended, Setup, World},
};

/// A message of the exchange that moves one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender.
    pub from: Side,
    /// Bytes besides the block.
    pub overhead: u64,
    /// Contains the block.
    pub block: bool,
    /// The sender's application first works for the machine's cost per request.
    pub work: bool,
}

/// The size of a copy and the messages of each block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPlan {
    /// Size of the file, bytes.
    pub file: u64,
    /// Size of a block, bytes.
    pub block: u64,
    /// The messages for each block in order. The client sends the first one.
    pub messages: Vec<Message>,
    /// The application writes header and block separately, so that TCP may send the header alone.
    pub split_header: bool,
}

const fn message(from: Side, overhead: u64, block: bool, work: bool) -> Message {
    Message {
        from,
        overhead,
        block,
        work,
    }
}

impl BlockPlan {
    /// A request of `request` bytes, then a response with `header` bytes and the block: core, AndX and raw reads.
    pub fn read(file: u64, block: u64, request: u64, header: u64) -> Self {
        let ask = message(Side::Client, request, false, true);
        let give = message(Side::Server, header, true, true);
        Self::new(file, block, alloc::vec![ask, give])
    }

    /// A request with `header` bytes and the block, then a response of `response` bytes: core and AndX writes.
    pub fn write(file: u64, block: u64, header: u64, response: u64) -> Self {
        let put = message(Side::Client, header, true, true);
        let done = message(Side::Server, response, false, true);
        Self::new(file, block, alloc::vec![put, done])
    }

    /// A request of `request` bytes, an interim response of `go_ahead` bytes, the block after `header` bytes, and a
    /// final response of `response` bytes: raw writes.
    pub fn write_raw(
        file: u64,
        block: u64,
        request: u64,
        go_ahead: u64,
        header: u64,
        response: u64,
    ) -> Self {
        let messages = alloc::vec![
            message(Side::Client, request, false, true),
            message(Side::Server, go_ahead, false, false),
            message(Side::Client, header, true, false),
            message(Side::Server, response, false, true),
        ];
        Self::new(file, block, messages)
    }

    const fn new(file: u64, block: u64, messages: Vec<Message>) -> Self {
        Self {
            file,
            block,
            messages,
            split_header: false,
        }
    }

    /// Number of blocks in the file.
    pub const fn blocks(&self) -> u64 {
        self.file
            .div_ceil(if self.block == 0 { 1 } else { self.block })
    }
}

/// The position of an endpoint in the plan.
#[derive(Clone, Debug)]
struct Script {
    plan: BlockPlan,
    offset: u64,
    step: usize,
    received: u64,
}

impl Script {
    const fn new(plan: BlockPlan) -> Self {
        Self {
            plan,
            offset: 0,
            step: 0,
            received: 0,
        }
    }

    fn message(&self) -> Option<Message> {
        if self.offset >= self.plan.file {
            return None;
        }
        self.plan.messages.get(self.step).copied()
    }

    fn block_len(&self) -> u64 {
        self.plan
            .block
            .min(self.plan.file.saturating_sub(self.offset))
    }

    fn len(&self, message: Message) -> u64 {
        let data = if message.block { self.block_len() } else { 0 };
        data.saturating_add(message.overhead)
    }

    fn advance(&mut self) {
        self.step = self.step.saturating_add(1);
        if self.step >= self.plan.messages.len() {
            self.step = 0;
            self.offset = self.offset.saturating_add(self.block_len());
        }
    }

    /// Counts received bytes; true if the message is complete.
    fn take(&mut self, bytes: u64) -> bool {
        self.received = self.received.saturating_add(bytes);
        let Some(message) = self.message() else {
            return false;
        };
        let whole = self.len(message);
        if self.received < whole {
            return false;
        }
        self.received = self.received.saturating_sub(whole);
        self.advance();
        true
    }

    /// Starts the next action of this side, with processor work first if the message requires it.
    fn proceed(&mut self, context: &mut Context<'_>) {
        let Some(message) = self
            .message()
            .filter(|message| message.from == context.side())
        else {
            return;
        };
        let data = if message.block { self.block_len() } else { 0 };
        let cost = context.machine().request.of(data);
        if message.work && cost.0 > 0 {
            context.work(cost, 0);
        } else {
            self.send_message(context, message);
        }
    }

    fn send_message(&mut self, context: &mut Context<'_>, message: Message) {
        let whole = self.len(message);
        let offset = self.offset;
        let (split, overhead) = (self.plan.split_header && message.block, message.overhead);
        // update the state before sending: TCP may call back within `send`
        self.advance();
        if split {
            context.send(Payload::pattern(offset, overhead));
            context.send(Payload::pattern(
                offset.saturating_add(overhead),
                whole.saturating_sub(overhead),
            ));
        } else {
            context.send(Payload::pattern(offset, whole));
        }
    }

    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent) {
        match event {
            AppEvent::Readable => {
                let read = context.recv(u64::MAX);
                if self.take(read.len()) {
                    self.proceed(context);
                }
            }
            AppEvent::Worked(_) => {
                if let Some(message) = self.message() {
                    self.send_message(context, message);
                }
            }
            AppEvent::Reset => context.stop(),
            _ => {}
        }
    }
}

/// The client. Stops the run at the end of the copy.
#[derive(Debug)]
pub struct BlockClient {
    script: Script,
    began: Time,
}

impl BlockClient {
    /// A client for this plan.
    pub const fn new(plan: BlockPlan) -> Self {
        Self {
            script: Script::new(plan),
            began: Time(0),
        }
    }

    /// Whether the copy is complete.
    pub const fn done(&self) -> bool {
        self.script.offset >= self.script.plan.file
    }
}

impl App for BlockClient {
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent) {
        match event {
            AppEvent::Start => context.connect(),
            AppEvent::Connected => {
                context.begin_account();
                self.began = context.now();
                self.script.proceed(context);
            }
            other => self.script.handle(context, other),
        }
        if self.done() {
            context.stop();
        }
    }
}

/// The server.
#[derive(Debug)]
pub struct BlockServer {
    script: Script,
}

impl BlockServer {
    /// A server for this plan.
    pub const fn new(plan: BlockPlan) -> Self {
        Self {
            script: Script::new(plan),
        }
    }
}

impl App for BlockServer {
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent) {
        self.script.handle(context, event);
    }
}

/// The result of a copy in blocks.
#[derive(Debug)]
#[non_exhaustive]
pub struct BlockResult {
    /// How the run ended.
    pub ended: Ended,
    /// Whether the copy is complete.
    pub done: bool,
    /// From the first request to the last response.
    pub took: Span,
    /// The causes of that time.
    pub account: Account,
    /// The world at the end of the run.
    pub world: World,
}

/// Runs a copy with `plan` in the world of `setup`.
pub fn blocks(setup: &Setup, plan: &BlockPlan, limit: Span) -> BlockResult {
    let mut world = World::new(setup);
    let (mut client, mut server) = (
        BlockClient::new(plan.clone()),
        BlockServer::new(plan.clone()),
    );
    let ended = world.run(&mut client, &mut server, limit);
    BlockResult {
        ended,
        done: client.done(),
        took: world.now() - client.began,
        account: world.account(),
        world,
    }
}
