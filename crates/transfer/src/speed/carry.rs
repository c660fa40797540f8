//! Runs one transfer over a connection with blocking calls of at most a tenth of a second.

use std::{
    io::{self, ErrorKind, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::OnceLock,
    time::{Duration, Instant},
};

use coax_speed::{
    Config, DiagError, End, Report, Role, TcpFigures, TcpState, Transfer, Transmit, fill_pattern,
};
use coax_wire::time::{Span, Time};
use rustix::net::{RecvFlags, recv};
use socket2::SockRef;

use super::{
    kernel::Kernel,
    limits::{Event, Limits},
    stop::Stop,
};

/// Maximum number of bytes per write call.
const SEND_BYTES: usize = 256 * 1024;
/// Maximum number of bytes per read call if the kernel discards the data.
const RECEIVE_BYTES: usize = 1024 * 1024;
/// Maximum number of bytes per read call if the data is copied; small enough for a processor's cache.
const COPY_BYTES: usize = 128 * 1024;
/// Limit of unsent bytes in the kernel's buffer. A sender with a time limit can then stop at once and does not wait
/// until a slow peer has received megabytes.
const UNSENT_BYTES: u32 = 512 * 1024;
/// Timeout of a blocking call. It limits how fast a signal is noticed and how often kernel statistics are read.
const TICK: Duration = Duration::from_millis(100);
/// The same timeout while the sender waits for the last ACK from a peer that does not close.
const LAST_TICK: Duration = Duration::from_millis(10);

/// The measurement of one connection.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The transferred amount and how the transfer ended.
    pub report: Report,
    /// The local address.
    pub local: Option<SocketAddr>,
    /// The peer's address.
    pub peer: Option<SocketAddr>,
    /// The last TCP statistics of the kernel; `None` if the system does not provide them.
    pub tcp: Option<TcpFigures>,
    /// The operating system's error message, if one ended the transfer.
    pub error: Option<String>,
}

impl Measured {
    /// Whether the requested amount was transferred completely.
    pub fn is_complete(&self) -> bool {
        self.report.end == Some(End::Done)
    }
}

/// Transfers data until the transfer ends, then closes the connection.
pub fn carry(
    stream: TcpStream,
    role: Role,
    limits: Limits,
    stop: &Stop,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Measured {
    let mut carrier = Carrier::new(stream, role, limits);
    while carrier.transfer.end().is_none() {
        if stop.is_set() {
            carrier.transfer.failed(End::Interrupted);
        } else {
            carrier.step(on_event);
        }
    }
    carrier.ask();
    Measured {
        report: carrier.transfer.report(carrier.now()),
        local: carrier.stream.local_addr().ok(),
        peer: carrier.peer,
        tcp: carrier.figures,
        error: carrier.error.map(|error| error.to_string()),
    }
}

/// One connection, its transfer and the clock.
struct Carrier {
    stream: TcpStream,
    peer: Option<SocketAddr>,
    kernel: Option<Kernel>,
    transfer: Transfer,
    role: Role,
    start: Instant,
    asked: Time,
    figures: Option<TcpFigures>,
    error: Option<io::Error>,
    /// All data is written, and the write direction is closed.
    shut: bool,
    /// The peer closed its write direction.
    peer_closed: bool,
    sink: Vec<u8>,
    /// TRUNC: the kernel discards the bytes without copying them (tcp(7)).
    flags: RecvFlags,
}

impl Carrier {
    fn new(stream: TcpStream, role: Role, limits: Limits) -> Self {
        let config = Config {
            role,
            bytes: limits.bytes,
            time: limits.time.map(span),
            idle: span(limits.idle),
        };
        let mut carrier = Self {
            kernel: Kernel::about(&stream),
            peer: stream.peer_addr().ok(),
            transfer: Transfer::new(config, Time(0)),
            role,
            start: Instant::now(),
            asked: Time(0),
            figures: None,
            error: None,
            shut: false,
            peer_closed: false,
            // if nothing is copied, only the length matters: the kernel discards the data
            sink: vec![
                0;
                if limits.copy {
                    COPY_BYTES
                } else {
                    RECEIVE_BYTES
                }
            ],
            flags: if limits.copy {
                RecvFlags::empty()
            } else {
                RecvFlags::TRUNC
            },
            stream,
        };
        if let Err(error) = carrier.prepare() {
            carrier.fail(error);
        }
        carrier.ask();
        carrier
    }

    fn prepare(&self) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_read_timeout(Some(TICK))?;
        self.stream.set_write_timeout(Some(TICK))?;
        SockRef::from(&self.stream).set_tcp_notsent_lowat(UNSENT_BYTES)
    }

    fn now(&self) -> Time {
        Time(0) + span(self.start.elapsed())
    }

    /// One step: due timers, then a write, a read, or the close of the write direction.
    fn step(&mut self, on_event: &mut dyn FnMut(Event<'_>)) {
        let now = self.now();
        let due = self.transfer.poll_timeout().is_some_and(|due| due <= now);
        if due || (self.role == Role::Send && now >= self.asked + span(TICK)) {
            self.ask();
        }
        if due {
            self.transfer.handle_timeout(now);
            if let Some(sample) = self.transfer.poll_sample() {
                let bytes = self.transfer.bytes();
                on_event(Event::Second(sample, bytes, self.figures.as_ref()));
            }
        }
        match self.transfer.poll_transmit(now) {
            Transmit::Data(most) => self.write(most),
            Transmit::Shut => self.shut(),
            Transmit::Nothing => self.wait_for_peer(),
        }
    }

    fn write(&mut self, most: u64) {
        let block = block();
        let length = usize::try_from(most).map_or(block.len(), |most| most.min(block.len()));
        match self.stream.write(block.get(..length).unwrap_or_default()) {
            Ok(written) => self.transfer.written(self.now(), written as u64),
            Err(error) => self.fail(error),
        }
    }

    fn shut(&mut self) {
        self.ask();
        self.shut = true;
        let shut = self
            .stream
            .shutdown(Shutdown::Write)
            .and_then(|()| self.stream.set_read_timeout(Some(LAST_TICK)));
        if let Err(error) = shut {
            self.fail(error);
        }
    }

    /// Waits for the peer to close. A receiver reads. A sender discards received data and checks whether everything is
    /// acknowledged.
    fn wait_for_peer(&mut self) {
        if self.peer_closed {
            std::thread::sleep(LAST_TICK / 4);
        } else {
            self.read();
        }
        if self.shut && self.transfer.end().is_none() {
            self.ask();
        }
    }

    fn read(&mut self) {
        let room = self.sink.len();
        let length = match self.role {
            Role::Receive => {
                usize::try_from(self.transfer.receivable()).map_or(room, |most| most.min(room))
            }
            Role::Send => room,
        };
        let buffer = self.sink.get_mut(..length).unwrap_or_default();
        match recv(&self.stream, buffer, self.flags) {
            Ok((_, 0)) => {
                self.peer_closed = true;
                self.ask();
                self.transfer.peer_closed(self.now());
            }
            Ok((_, bytes)) => self.transfer.received(self.now(), bytes as u64),
            Err(error) => self.fail(error.into()),
        }
    }

    /// Reads the kernel's statistics of the connection.
    fn ask(&mut self) {
        let now = self.now();
        self.asked = now;
        let Some(kernel) = &self.kernel else {
            if self.peer_closed {
                self.transfer.flushed(now);
            }
            return;
        };
        match kernel.ask() {
            Ok(socket) => {
                if let Some(figures) = socket.figures {
                    self.figures = Some(figures);
                    if let Some(bytes) = figures.acknowledged_bytes {
                        self.transfer.acknowledged(now, bytes);
                    }
                }
                if socket.state == TcpState::Flushed {
                    self.transfer.flushed(now);
                }
            }
            // closed by both sides and completely acknowledged, unless the socket reports an error
            Err(DiagError::Gone) if self.shut => match self.stream.take_error() {
                Ok(None) => self.transfer.flushed(now),
                Ok(Some(error)) | Err(error) => self.fail(error),
            },
            Err(_) => {}
        }
    }

    fn fail(&mut self, error: io::Error) {
        let end = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::Interrupted => return,
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
                End::Reset
            }
            _ => End::Broken,
        };
        self.transfer.failed(end);
        self.error = Some(error);
    }
}

/// The block of bytes that is sent repeatedly.
fn block() -> &'static [u8] {
    static BLOCK: OnceLock<Vec<u8>> = OnceLock::new();
    BLOCK.get_or_init(|| {
        let mut bytes = vec![0; SEND_BYTES];
        fill_pattern(&mut bytes, 0xc0a8);
        bytes
    })
}

fn span(duration: Duration) -> Span {
    Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
