//! Carries one transfer over a connection, with blocking calls that last a tenth of a second at most.

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

/// Bytes handed to TCP at once.
const SEND_BYTES: usize = 256 * 1024;
/// Bytes taken from TCP at once, at most, while nobody copies them.
const RECEIVE_BYTES: usize = 1024 * 1024;
/// The same while they are copied: what stays in a processor's cache.
const COPY_BYTES: usize = 128 * 1024;
/// Bytes that may wait unsent in the kernel's buffer: a sender by time is to stop then, not when megabytes have drained to a
/// slow machine.
const UNSENT_BYTES: u32 = 512 * 1024;
/// How long a call blocks: how soon a signal is heard, and how often the kernel is asked.
const TICK: Duration = Duration::from_millis(100);
/// The same while the last acknowledgement is awaited from a peer that does not close.
const LAST_TICK: Duration = Duration::from_millis(10);

/// What was measured over one connection.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What moved and how it ended.
    pub report: Report,
    /// Our address.
    pub local: Option<SocketAddr>,
    /// The peer's address.
    pub peer: Option<SocketAddr>,
    /// What TCP counted, as it last said; `None` where the system does not tell.
    pub tcp: Option<TcpFigures>,
    /// The operating system's words, if it ended with an error of its.
    pub error: Option<String>,
}

impl Measured {
    /// Whether everything that was to be moved was.
    pub fn is_complete(&self) -> bool {
        self.report.end == Some(End::Done)
    }
}

/// Moves bytes until it ends, one way or another, and closes the connection.
pub fn carry(
    stream: TcpStream,
    role: Role,
    limits: Limits,
    stop: &Stop,
    told: &mut dyn FnMut(Event<'_>),
) -> Measured {
    let mut carrier = Carrier::new(stream, role, limits);
    while carrier.transfer.end().is_none() {
        if stop.is_set() {
            carrier.transfer.failed(End::Interrupted);
        } else {
            carrier.step(told);
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
    /// Everything is written, and our direction closed.
    shut: bool,
    /// The peer closed its direction.
    peer_closed: bool,
    sink: Vec<u8>,
    /// TRUNC: TCP discards the bytes without copying them (tcp(7)).
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
            // if nothing is copied only its length matters: the kernel throws away what would go there
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

    /// One thing: due timers, then a write, a read, or the end of our direction.
    fn step(&mut self, told: &mut dyn FnMut(Event<'_>)) {
        let now = self.now();
        let due = self.transfer.poll_timeout().is_some_and(|due| due <= now);
        if due || (self.role == Role::Send && now >= self.asked + span(TICK)) {
            self.ask();
        }
        if due {
            self.transfer.handle_timeout(now);
            if let Some(sample) = self.transfer.poll_sample() {
                let bytes = self.transfer.bytes();
                told(Event::Second(sample, bytes, self.figures.as_ref()));
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

    /// A receiver takes what comes. A sender throws it away, and looks whether everything has been acknowledged.
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

    /// Asks the kernel how the connection is.
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
            // closed on both sides with everything acknowledged, unless an error says otherwise
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

/// The bytes that are sent, over and over.
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
