//! The server application: the server's engine behind its session.

use alloc::{format, sync::Arc, vec::Vec};

pub use coax_catalog::server::ServerParams;
use coax_netbios::{Accept, Session, SessionConfig, Transport};
use coax_server::{Carriage, Connection, Peer, Tail, Transmit};
use coax_wire::time::{Span, Time};

use super::{
    bytes::{ByteAssembler, is_command, joined},
    clock,
    disk::Meter,
    pacing::Pacing,
    service::{Bell, Service},
    since_start,
};
use crate::{
    app::{App, AppEvent, Context, DiskWork},
    payload::Payload,
};

/// A request in progress: its disk work and its responses.
#[derive(Debug)]
struct Busy {
    disk_read: u64,
    disk_write: u64,
    answers: Vec<Payload>,
}

/// The server's end of a client's connection.
pub struct FileServer {
    session: Session,
    connection: Connection,
    service: Service,
    bell: Arc<Bell>,
    assembler: ByteAssembler,
    pacing: Pacing,
    busy: Option<Busy>,
    timer: Option<Time>,
}

impl core::fmt::Debug for FileServer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FileServer")
            .field("busy", &self.busy)
            .finish_non_exhaustive()
    }
}

impl FileServer {
    /// The application of a client's connection.
    pub fn new(
        service: &Service,
        client: u16,
        (transport, carriage): (Transport, Carriage),
    ) -> Self {
        let session = SessionConfig {
            max_message: 1 << 20,
            ..SessionConfig::default()
        };
        let peer = Peer {
            address: format!("192.0.2.{}", u32::from(client) + 2),
            number: u64::from(client) + 1,
            carriage,
            ..Peer::default()
        };
        let bell = service.bell(client);
        Self {
            session: Session::server(clock(Time(0)), transport, Accept::Any, session),
            connection: Connection::new(service.server.clone(), bell.clone(), peer, *b"virtual!"),
            service: service.clone(),
            bell,
            assembler: ByteAssembler::new(service.whole),
            pacing: Pacing::new(service.pacing),
            busy: None,
            timer: None,
        }
    }

    /// Reads and serves until a request is in progress or no data is left.
    fn serve(&mut self, context: &mut Context<'_>) {
        while self.busy.is_none() {
            if self.bell.is_rung() {
                self.deal(context, false);
                continue;
            }
            if let Some(bytes) = self.session.poll_transmit() {
                self.pacing.send(context, Payload::from(bytes));
            }
            match self.session.poll_message() {
                Some(Ok(_)) => self.take_message(context),
                Some(Err(_)) => return context.close(),
                None => {
                    if !self.read(context) {
                        break;
                    }
                }
            }
        }
        self.watch_timer(context);
    }

    /// Reads as much as fits; returns whether there was data.
    fn read(&mut self, context: &mut Context<'_>) -> bool {
        let ready = context.readable();
        if ready == 0 {
            return false;
        }
        let space = self
            .session
            .recv_space(usize::try_from(ready).unwrap_or(usize::MAX));
        let payload = context.recv(space.len() as u64);
        self.assembler.copy_to(&payload, space);
        self.session
            .received(clock(context.now()), payload.len() as usize);
        self.pacing
            .received(context, payload.len(), self.session.missing_bytes() as u64);
        !payload.is_empty()
    }

    fn take_message(&mut self, context: &mut Context<'_>) {
        let Some(Ok(message)) = self.session.poll_message() else {
            return;
        };
        let command = is_command(message);
        self.connection
            .handle_message(clock(context.now()), message);
        self.session.consume();
        self.deal(context, command);
    }

    /// Takes the engine's responses and starts the machine's work for them.
    fn deal(&mut self, context: &mut Context<'_>, command: bool) {
        while self.bell.take() {
            self.connection.handle_wake(clock(context.now()));
        }
        for client in self.service.take_woken() {
            if client != context.client() {
                context.wake(client);
            }
        }
        let mut meter = self.service.folder.take_meter();
        let mut answers = Vec::new();
        while let Some(transmit) = self.connection.poll_transmit() {
            answers.extend(self.framed(transmit, &mut meter));
        }
        while self.connection.poll_event().is_some() {}
        let cost = context.machine().request;
        let bytes = meter.read.saturating_add(meter.written);
        let variable = cost.of(bytes).0.saturating_sub(cost.fixed.0);
        let fixed = if command { cost.fixed.0 } else { 0 };
        self.busy = Some(Busy {
            disk_read: meter.read,
            disk_write: meter.written,
            answers,
        });
        let span = Span(variable.saturating_add(fixed));
        if span.0 > 0 {
            context.work(span, 0);
        } else {
            self.proceed(context);
        }
    }

    /// A response with its session header. File data stays a pattern.
    fn framed(&mut self, transmit: Transmit, meter: &mut Meter) -> Option<Payload> {
        let mut head = self.session.header_for(transmit.len()).ok()?.to_vec();
        head.extend_from_slice(&transmit.head);
        let data = match transmit.tail {
            Tail::None => Payload::new(),
            Tail::File { offset, len, .. } => {
                meter.read = meter.read.saturating_add(len as u64);
                Payload::pattern(offset, len as u64)
            }
            Tail::Bytes(bytes) => match meter.last_read {
                Some((offset, len)) if len == bytes.len() && !self.service.whole => {
                    self.connection.recycle(bytes);
                    Payload::pattern(offset, len as u64)
                }
                _ => Payload::from(bytes),
            },
        };
        Some(joined(head, data))
    }

    /// The processor or the disk has finished; after both, the responses are sent.
    fn proceed(&mut self, context: &mut Context<'_>) {
        let Some(busy) = &mut self.busy else { return };
        let machine = *context.machine();
        let (read, write) = (
            core::mem::take(&mut busy.disk_read),
            core::mem::take(&mut busy.disk_write),
        );
        if read > 0 && !machine.disk_read.is_zero() {
            return context.disk(DiskWork::Read(read), 0);
        }
        if write > 0 && !machine.disk_write.is_zero() {
            return context.disk(DiskWork::Write(write), 0);
        }
        for answer in core::mem::take(&mut busy.answers) {
            self.pacing.send(context, answer);
        }
        self.pacing.resumed(context);
        self.busy = None;
    }

    fn watch_timer(&mut self, context: &mut Context<'_>) {
        if self.timer.is_some() {
            return;
        }
        if let Some(due) = self.connection.poll_timeout().map(since_start) {
            self.timer = Some(due);
            context.timer(due - context.now(), 0);
        }
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        self.timer = None;
        let now = clock(context.now());
        let due = self.connection.poll_timeout().is_some_and(|at| at <= now);
        if due && self.busy.is_none() {
            self.connection.handle_timeout(now);
            self.deal(context, false);
        }
    }
}

impl App for FileServer {
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent) {
        match event {
            AppEvent::Worked(_) | AppEvent::DiskDone(_) => self.proceed(context),
            AppEvent::Timer(_) => self.timer(context),
            AppEvent::PeerFinished | AppEvent::Reset => return context.close(),
            AppEvent::Start => self.pacing.listening(context),
            AppEvent::Connected => self.pacing.connected(context),
            AppEvent::Drained => self.pacing.drained(context),
            AppEvent::Readable | AppEvent::Woken => {}
        }
        self.serve(context);
    }
}
