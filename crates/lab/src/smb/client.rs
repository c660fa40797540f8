//! The client application: the redirector's engine over a session.

use alloc::{
    collections::VecDeque,
    format,
    string::{String, ToString},
    sync::Arc,
};

use coax_client::{
    Client, CopySpec, Credentials, Direction, Event, JobId, LocalError, LocalFiles, Operation,
    Outcome, Tail, Target, Transmit, profile::Profile,
};
use coax_netbios::Transport;
use coax_wire::{
    codepage::CodePage,
    command,
    nbt::{name::ScopedName, session::HEADER_LEN},
    time::{FileTime, Span, Time},
};

use super::{
    Files, OneFile,
    bytes::{ByteAssembler, is_command, joined},
    clock,
    disk::count_wrong,
    mix::Mix,
    name_of, since_start,
};
use crate::{
    app::{App, AppEvent, Context, DiskWork},
    cause::Cause,
    payload::{Payload, pattern_byte},
    side::{End, Side},
};

/// The local file: the pattern with a fixed length.
#[derive(Debug, Default)]
struct Local {
    size: u64,
    whole: bool,
    /// Received bytes that were not yet charged to the machine.
    uncharged: u64,
    wrong: u64,
}

impl LocalFiles for Local {
    fn write(&mut self, _: JobId, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        self.uncharged = self.uncharged.saturating_add(data.len() as u64);
        if self.whole {
            self.wrong = self.wrong.saturating_add(count_wrong(offset, data));
        }
        Ok(())
    }

    fn read(&mut self, _: JobId, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = left.min(buffer.len());
        for (at, byte) in (offset..).zip(buffer.iter_mut().take(count)) {
            *byte = pattern_byte(at);
        }
        Ok(count)
    }
}

/// The state of an outgoing piece.
#[derive(Debug)]
enum Stage {
    /// The processor works on it; then the disk reads and writes these numbers of bytes.
    Work(Payload, u64, u64),
    /// The disk reads for it; then this number of bytes must be written.
    Disk(Payload, u64),
}

/// A client that copies files one after the other. The account starts with the first copy, and the run ends with the
/// last one.
pub struct Redirector {
    client: Client,
    specs: VecDeque<CopySpec>,
    copied: u64,
    local: Local,
    assembler: ByteAssembler,
    outbox: VecDeque<Transmit>,
    /// Number of remaining pieces of the current message.
    pieces_left: usize,
    stage: Option<Stage>,
    timer: Option<Time>,
    began: Option<Time>,
    ended: Option<Time>,
    mix: Mix,
    result: Option<Result<u64, String>>,
}

impl core::fmt::Debug for Redirector {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Redirector")
            .field("began", &self.began)
            .field("result", &self.result)
            .finish_non_exhaustive()
    }
}

impl Redirector {
    /// A client with `profile` that copies `files`. File data is generated and compared if `whole`.
    pub fn new(profile: Arc<Profile>, direction: Direction, files: Files, whole: bool) -> Self {
        let transport = (*profile.transport.port).into();
        Self::over(transport, profile, direction, files, whole)
    }

    /// The same with this framing, whatever port the profile has.
    pub fn over(
        transport: Transport,
        profile: Arc<Profile>,
        direction: Direction,
        files: Files,
        whole: bool,
    ) -> Self {
        let spec = |file: OneFile| CopySpec {
            first_request: file.first_request,
            ..match direction {
                Direction::ToServer => CopySpec::put(file.name, file.size),
                Direction::ToClient => CopySpec::get(file.name),
            }
        };
        let mut client = Client::new(
            clock(Time(0)),
            profile.clone(),
            target(transport, files.client),
        );
        client.record_exchanges();
        Self {
            client,
            specs: files.each().map(spec).collect(),
            copied: 0,
            local: Local {
                whole,
                ..Local::default()
            },
            assembler: ByteAssembler::new(whole),
            outbox: VecDeque::new(),
            pieces_left: 0,
            stage: None,
            timer: None,
            began: None,
            ended: None,
            mix: Mix::default(),
            result: None,
        }
    }

    /// Start of the copy.
    pub const fn began(&self) -> Option<Time> {
        self.began
    }

    /// End of the copy.
    pub const fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// The requests of the copy.
    pub const fn mix(&self) -> &Mix {
        &self.mix
    }

    /// Number of bytes copied, or the error; `None` before the end of the copy.
    pub const fn result(&self) -> Option<&Result<u64, String>> {
        self.result.as_ref()
    }

    /// The negotiated parameters.
    pub fn link(&self) -> Option<&coax_client::Link> {
        self.client.link()
    }

    /// Number of wrong bytes received, if data is compared.
    pub const fn wrong_bytes(&self) -> u64 {
        self.local.wrong
    }

    /// Reads the received data.
    fn receive(&mut self, context: &mut Context<'_>) {
        if context.machine().blocking && self.stage.is_some() {
            return;
        }
        let now = clock(context.now());
        loop {
            let ready = context.readable();
            let space = self
                .client
                .recv_space(usize::try_from(ready).unwrap_or(usize::MAX));
            if ready == 0 || space.is_empty() {
                return;
            }
            let payload = context.recv(space.len() as u64);
            self.assembler.copy_to(&payload, space);
            self.client
                .received(now, payload.len() as usize, &mut self.local);
        }
    }

    /// Handles the engine's events and transmits.
    fn poll(&mut self, context: &mut Context<'_>) {
        while let Some(exchange) = self.client.poll_exchange() {
            if self.began.is_some() {
                self.mix.add(exchange.command, exchange.bytes);
            }
        }
        while let Some(event) = self.client.poll_event() {
            self.event(context, event);
        }
        while let Some(transmit) = self.client.poll_transmit() {
            self.outbox.push_back(transmit);
        }
        self.advance(context);
        self.watch_timer(context);
        if self.result.is_some() {
            self.ended.get_or_insert(context.now());
            context.stop();
        }
    }

    fn event(&mut self, context: &mut Context<'_>, event: Event) {
        match event {
            Event::Connected(_) => {
                context.begin_account();
                self.began = Some(context.now());
                self.next(context);
            }
            Event::Done { result, .. } => match result {
                Ok(Outcome::Copied { bytes, .. }) => {
                    self.copied = self.copied.saturating_add(bytes);
                    self.next(context);
                }
                Ok(other) => self.result = Some(Err(format!("the copy ended as {other:?}"))),
                Err(error) => self.result = Some(Err(error.to_string())),
            },
            Event::Closed(error) => {
                if self.result.is_none() {
                    self.result = Some(Err(error.to_string()));
                }
            }
            Event::Progress { .. } => {}
        }
    }

    /// Starts the next file, or ends the copy.
    fn next(&mut self, context: &mut Context<'_>) {
        let Some(spec) = self.specs.pop_front() else {
            self.result = Some(Ok(self.copied));
            return;
        };
        self.local.size = spec.size.unwrap_or(0);
        let now = clock(context.now());
        self.client
            .submit(now, Operation::Copy(spec), &mut self.local);
    }

    /// Starts the next outgoing piece if none is in progress.
    fn advance(&mut self, context: &mut Context<'_>) {
        while self.stage.is_none() {
            let Some(transmit) = self.outbox.pop_front() else {
                return;
            };
            let read = transmit.tail.len() as u64;
            let write = core::mem::take(&mut self.local.uncharged);
            let span = self.work_before(context, &transmit, write);
            let payload = joined(transmit.head, data_of(transmit.tail));
            if span.0 > 0 {
                self.stage = Some(Stage::Work(payload, read, write));
                context.work(span, 0);
            } else {
                self.disk_part(context, payload, read, write);
            }
        }
    }

    /// Processor time before a piece is sent. The whole message is charged before its first piece, however it is split.
    fn work_before(&mut self, context: &mut Context<'_>, piece: &Transmit, write: u64) -> Span {
        let cost = context.machine().request;
        let work = |bytes: u64| cost.of(bytes).0.saturating_sub(cost.fixed.0);
        if self.pieces_left > 0 {
            self.pieces_left -= 1;
            return Span(work(write));
        }
        let waiting = self.outbox.iter().take(pieces_behind(piece, &self.outbox));
        let (mut bytes, mut command) = (write, command_of(&piece.head));
        bytes = bytes.saturating_add(piece.tail.len() as u64);
        for more in waiting {
            bytes = bytes.saturating_add(more.tail.len() as u64);
            command = command.or_else(|| command_of(&more.head));
            self.pieces_left += 1;
        }
        if let Some(command) = command {
            context.exchange_is(cause_of(command));
        }
        let fixed = if command.is_some() { cost.fixed.0 } else { 0 };
        Span(work(bytes).saturating_add(fixed))
    }

    fn disk_part(&mut self, context: &mut Context<'_>, payload: Payload, read: u64, write: u64) {
        let machine = *context.machine();
        let read = if machine.disk_read.is_zero() { 0 } else { read };
        let write = if machine.disk_write.is_zero() {
            0
        } else {
            write
        };
        if write > 0 {
            self.stage = Some(Stage::Disk(payload, read));
            context.disk(DiskWork::Write(write), 0);
        } else if read > 0 {
            self.stage = Some(Stage::Disk(payload, 0));
            context.disk(DiskWork::Read(read), 0);
        } else {
            context.send(payload);
        }
    }

    /// The processor or the disk has finished.
    fn proceed(&mut self, context: &mut Context<'_>) {
        match self.stage.take() {
            Some(Stage::Work(payload, read, write)) => {
                self.disk_part(context, payload, read, write)
            }
            Some(Stage::Disk(payload, read)) => self.disk_part(context, payload, read, 0),
            None => {}
        }
        self.advance(context);
    }

    /// Keeps one timer for the engine's next deadline. If it expires too early, it is set again.
    fn watch_timer(&mut self, context: &mut Context<'_>) {
        if self.timer.is_some() {
            return;
        }
        if let Some(due) = self.client.poll_timeout().map(since_start) {
            self.timer = Some(due);
            context.timer(due - context.now(), 0);
        }
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        self.timer = None;
        let now = clock(context.now());
        if self.client.poll_timeout().is_some_and(|due| due <= now) {
            self.client.handle_timeout(now, &mut self.local);
        }
    }
}

impl App for Redirector {
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent) {
        match event {
            AppEvent::Start => context.connect(),
            AppEvent::Readable => self.receive(context),
            AppEvent::Worked(_) | AppEvent::DiskDone(_) => {
                self.proceed(context);
                self.receive(context);
            }
            AppEvent::Timer(_) => self.timer(context),
            AppEvent::PeerFinished | AppEvent::Reset => {
                self.client
                    .handle_eof(clock(context.now()), &mut self.local);
            }
            AppEvent::Connected | AppEvent::Drained | AppEvent::Woken => {}
        }
        if !matches!(event, AppEvent::Start) {
            self.poll(context);
        }
    }
}

fn target(transport: Transport, client: u16) -> Target {
    let name = |side| ScopedName {
        name: name_of(End::new(side, client)),
        scope: Default::default(),
    };
    Target {
        server: "LAB".into(),
        share: super::service::SHARE.into(),
        service: "?????",
        credentials: Credentials {
            user: "GUEST".into(),
            domain: String::new(),
            password: "".into(),
            allow_weak: true,
        },
        transport,
        called: name(Side::Server),
        calling: name(Side::Client),
        code_page: CodePage::cp437(),
        dialect: None,
        sign: false,
        entropy: [7; 24].into(),
        zone: Default::default(),
        filetime: FileTime::from(clock(Time(0))).0,
    }
}

/// Number of waiting pieces that belong to the message of the first piece, according to its session header.
fn pieces_behind(first: &Transmit, waiting: &VecDeque<Transmit>) -> usize {
    let len = |piece: &Transmit| piece.head.len().saturating_add(piece.tail.len());
    let Some(header) = first.head.first_chunk::<HEADER_LEN>() else {
        return 0;
    };
    let [_, high, middle, low] = *header;
    let whole = u32::from_be_bytes([0, high, middle, low]) as usize + HEADER_LEN;
    let mut sent = len(first);
    let rest = waiting.iter().take_while(|piece| {
        let is_rest = sent < whole;
        sent = sent.saturating_add(len(piece));
        is_rest
    });
    rest.count()
}

/// The command of a piece that starts with a message, with or without session header.
fn command_of(head: &[u8]) -> Option<u8> {
    let message = head.get(HEADER_LEN..).filter(|rest| is_command(rest));
    let message = message.or_else(|| is_command(head).then_some(head))?;
    message.get(4).copied()
}

fn data_of(tail: Tail) -> Payload {
    match tail {
        Tail::None => Payload::new(),
        Tail::Bytes(bytes) => Payload::from(bytes),
        Tail::Local { offset, len, .. } => Payload::pattern(offset, len as u64),
    }
}

/// The cause for the transit time of a command's messages.
fn cause_of(command: u8) -> Cause {
    use command::{
        LOCK_AND_READ, READ, READ_ANDX, READ_MPX, READ_RAW, WRITE, WRITE_ANDX, WRITE_MPX, WRITE_RAW,
    };
    match command {
        READ | READ_ANDX | READ_RAW | READ_MPX | LOCK_AND_READ | WRITE | WRITE_ANDX | WRITE_RAW
        | WRITE_MPX => Cause::RoundTrips,
        _ => Cause::Metadata,
    }
}
