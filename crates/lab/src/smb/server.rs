//! The server application: the server's engine behind its session.

use alloc::{string::ToString, sync::Arc, vec, vec::Vec};
use core::sync::atomic::{AtomicBool, Ordering};

use coax_catalog::server::Newest;
pub use coax_catalog::server::ServerParams;
use coax_netbios::{Accept, Session, SessionConfig, Transport};
use coax_server::{
    Connection, Peer, Server, Tail, Transmit,
    config::Config,
    share::{Share, ShareKind},
    table::{Exclusive, Tables, Wake},
    vfs::{FsTime, VfsError},
};
use coax_wire::time::{Span, Time};

use super::{
    Files,
    bytes::{ByteAssembler, is_command, joined},
    clock,
    disk::{Folder, Meter},
    pacing::Pacing,
    since_start,
};
use crate::{
    app::{App, AppEvent, Context, DiskWork},
    payload::Payload,
};

/// The share's name.
pub(super) const SHARE: &str = "FILES";

fn config(params: &ServerParams) -> Config {
    let own = Config::default();
    let [native_os, native_lan_man] = own.native.clone();
    Config {
        name: "LAB".to_string(),
        max_buffer: params.max_buffer.unwrap_or(own.max_buffer),
        max_mpx: params.max_mpx.unwrap_or(own.max_mpx),
        read_raw: params.read_raw.unwrap_or(own.read_raw),
        write_raw: params.write_raw.unwrap_or(own.write_raw),
        large_readwrite: params.large_readwrite.unwrap_or(own.large_readwrite),
        unicode: params.unicode.unwrap_or(own.unicode),
        nt_status: params.nt_status.unwrap_or(own.nt_status),
        extended_security: params.extended_security.unwrap_or(own.extended_security),
        max_generation: params
            .dialect
            .map_or(own.max_generation, Newest::generation),
        native: [
            params.native_os.clone().unwrap_or(native_os),
            params.native_lan_man.clone().unwrap_or(native_lan_man),
        ],
        ..own
    }
}

#[derive(Debug)]
struct Alone(spin::Mutex<Tables>);

impl Exclusive for Alone {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock());
    }
}

#[derive(Debug, Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A request in progress: its disk work and its responses.
#[derive(Debug)]
struct Busy {
    disk_read: u64,
    disk_write: u64,
    answers: Vec<Payload>,
}

/// The server of the share that contains the files.
pub struct FileServer {
    session: Session,
    connection: Connection,
    folder: Folder,
    bell: Arc<Bell>,
    assembler: ByteAssembler,
    pacing: Pacing,
    whole: bool,
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
    /// A server with these files in its share. File data is generated and compared if
    /// `whole`.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn new(
        params: &ServerParams,
        transport: Transport,
        files: Option<Files>,
        whole: bool,
    ) -> Result<Self, VfsError> {
        let now = clock(Time(0));
        let folder = Folder::new(files, whole, FsTime(now.unix_ns()))?;
        let config = config(params);
        let tables = Tables::new(config.tables());
        let disk = ShareKind::Disk(Arc::new(folder.clone()));
        let server = Server {
            config,
            shares: vec![Arc::new(Share::for_guests(1, SHARE, disk))],
            accounts: coax_logon::accounts::Accounts::default(),
            tables: Arc::new(Alone(spin::Mutex::new(tables))),
        };
        let bell = Arc::new(Bell::default());
        let session = SessionConfig {
            max_message: 1 << 20,
            ..SessionConfig::default()
        };
        Ok(Self {
            session: Session::server(now, transport, Accept::Any, session),
            connection: Connection::new(
                Arc::new(server),
                bell.clone(),
                Peer::default(),
                *b"virtual!",
            ),
            folder,
            bell,
            assembler: ByteAssembler::new(whole),
            pacing: Pacing::new(params.pacing),
            whole,
            busy: None,
            timer: None,
        })
    }

    /// Number of these files in the share with their full size.
    pub fn whole_files(&self, files: Files) -> u32 {
        self.folder.whole(files)
    }

    /// Number of wrong bytes received, if data is compared.
    pub fn wrong_bytes(&self) -> u64 {
        self.folder.take_meter().wrong
    }

    /// Reads and serves until a request is in progress or no data is left.
    fn serve(&mut self, context: &mut Context<'_>) {
        while self.busy.is_none() {
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
        while self.bell.0.swap(false, Ordering::Relaxed) {
            self.connection.handle_wake(clock(context.now()));
        }
        let mut meter = self.folder.take_meter();
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
                Some((offset, len)) if len == bytes.len() && !self.whole => {
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
            AppEvent::Readable => {}
        }
        self.serve(context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_states_nothing_offers_what_coax_offers() {
        let (stated, default) = (config(&ServerParams::default()), Config::default());
        let offered = |it: &Config| {
            (
                (it.max_buffer, it.max_mpx, it.large_readwrite),
                (it.read_raw, it.write_raw, it.unicode, it.nt_status),
                (it.max_generation, it.native.clone(), it.extended_security),
            )
        };
        assert_eq!(offered(&stated), offered(&default));
        let stated = config(&ServerParams {
            max_buffer: Some(4356),
            ..ServerParams::default()
        });
        assert_eq!(stated.max_buffer, 4356);
    }
}
