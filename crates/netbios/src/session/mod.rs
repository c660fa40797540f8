//! A NetBIOS session: a stream of messages over a stream of bytes (RFC 1001 §16, RFC 1002 §4.3, §5.3).

mod buffer;
#[cfg(test)]
mod tests;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::Malformed;
use coax_wire::nbt::name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION, ScopedName};
use coax_wire::nbt::session::{
    Control, Framing, HEADER_LEN, Header, MAX_CONTROL_LEN, PacketType, Refusal, TooLong,
};
use coax_wire::time::{Span, Time};

use buffer::{Buffer, IDLE_CAPACITY};

/// What carries a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP port 139: session request and reply, then messages of up to 17 bits' length, and keep-alives.
    Nbt139,
    /// TCP port 445: messages of up to 24 bits' length, nothing else.
    Direct445,
}

impl Transport {
    /// How its packets write their length.
    pub const fn framing(self) -> Framing {
        match self {
            Self::Nbt139 => Framing::Nbt,
            Self::Direct445 => Framing::Direct,
        }
    }
}

/// Which called names a server accepts on port 139. Cloning shares the names.
#[derive(Clone, Debug)]
pub enum Accept {
    /// Every name: old machines call servers by aliases, LMHOSTS entries and addresses.
    Any,
    /// These names (with the suffix `<20>` or `<00>`, whatever their own), `*SMBSERVER` and IPv4 addresses
    /// written as names; others get the refusal 82.
    Names(Arc<[NbName]>),
    /// None: every session is refused, for instance because there are too many.
    Nothing(Refusal),
}

impl Accept {
    /// Whether a session with this called name is accepted, or how it is refused. The scope does not count.
    ///
    /// # Errors
    /// The refusal to send.
    pub fn judge(&self, called: &NbName) -> Result<(), Refusal> {
        let names = match self {
            Self::Any => return Ok(()),
            Self::Nothing(refusal) => return Err(*refusal),
            Self::Names(names) => names,
        };
        let wanted = called.characters();
        let served = matches!(called.suffix(), SUFFIX_SERVER | SUFFIX_WORKSTATION);
        let known = names.iter().any(|name| name.characters() == wanted)
            || wanted == NbName::SMBSERVER.characters()
            || is_address(wanted);
        if served && known {
            Ok(())
        } else {
            Err(Refusal::CalledNameNotPresent)
        }
    }
}

/// What a session may use.
#[derive(Clone, Copy, Debug)]
pub struct SessionConfig {
    /// The longest message taken from the peer, in bytes; a longer one is an error.
    pub max_message: usize,
    /// On port 139: send a keep-alive after this long without a byte from the peer (RFC 1002 §6 recommends
    /// 60 s and leaves it optional). `None`: never.
    pub keep_alive: Option<Span>,
    /// How long the session request or its reply may take.
    pub handshake: Span,
    /// After this long without a byte from the peer, the receive buffer's free memory is given back.
    pub idle: Span,
    /// Servers on port 139 that [`Accept::Any`]: a peer that starts with a message instead of a session request
    /// is served as on port 445. smbclient does so on any port other than 139, and smbd allows it.
    pub bare_messages: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            max_message: Framing::Nbt.max_len(),
            keep_alive: None,
            handshake: Span::from_secs(30),
            idle: Span::from_secs(2),
            bare_messages: true,
        }
    }
}

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The peer sent a control packet that does not decode.
    #[error("the peer sent a malformed session packet: {0}")]
    Malformed(#[from] Malformed),
    /// The peer sent flags that must be zero; it lost its place in the stream, most likely.
    #[error("the peer sent reserved session flags {0:#04x}")]
    ReservedFlags(u8),
    /// The peer sent a packet that is not allowed at this point.
    #[error("the peer sent an unexpected session packet of type {0:#04x}")]
    Unexpected(u8),
    /// The peer announced a packet longer than allowed.
    #[error("the peer announced a packet of {len} bytes; at most {max} are taken")]
    TooLong {
        /// What it announced, in bytes.
        len: usize,
        /// What would be taken, in bytes.
        max: usize,
    },
    /// The peer sent a session request on port 445, which knows none. It was refused with code 8F.
    #[error(
        "the peer sent a NetBIOS session request to a port for direct hosting; that belongs to port 139"
    )]
    RequestOnDirect,
    /// We refused the peer's session request; [`Session::called`] tells what it called.
    #[error("the session request was refused: {0}")]
    WeRefused(Refusal),
    /// The server refused our session request.
    #[error("the server refused the session: {0}")]
    PeerRefused(Refusal),
    /// The server wants the session elsewhere.
    #[error("the server redirects the session to {address}:{port}")]
    Retargeted {
        /// Where to connect.
        address: Ipv4Addr,
        /// The TCP port.
        port: u16,
    },
    /// The peer was silent for too long during the handshake.
    #[error("the peer did not finish the session handshake in time")]
    HandshakeTimeout,
    /// The peer closed the connection within a packet or before the handshake was over.
    #[error("the peer closed the connection within a packet")]
    CutShort,
}

/// One NetBIOS session, of a server or a client.
///
/// A driver's round: read into [`recv_space`](Self::recv_space), report with [`received`](Self::received), then
/// take messages with [`poll_message`](Self::poll_message) and [`consume`](Self::consume) until there are none,
/// and send what [`poll_transmit`](Self::poll_transmit) gives, though never between the header and the end of
/// a message of one's own. Sleep until [`poll_timeout`](Self::poll_timeout), then call
/// [`handle_timeout`](Self::handle_timeout). After an error: send what is left to transmit, and close.
pub struct Session {
    state: State,
    framing: Framing,
    config: SessionConfig,
    buffer: Buffer,
    /// Bytes (header included) of the message that `buffer` begins with, once it is whole.
    message: Option<usize>,
    transmit: Vec<u8>,
    names: Option<(ScopedName, ScopedName)>,
    /// When the peer was last heard; the start, before that.
    heard: Time,
    /// When the last keep-alive went out; the start, before that.
    kept_alive: Time,
    /// When free memory was last given back; the start, before that.
    shrunk: Time,
}

enum State {
    /// A server on port 139 waits for the session request.
    AwaitRequest(Accept),
    /// A client on port 139 waits for the reply.
    AwaitReply,
    Established,
    Failed(SessionError),
}

/// What to do after a packet was looked at.
enum Step {
    /// Look at the next packet.
    Continue,
    /// A message, or nothing whole, is in front.
    Pause,
}

impl Session {
    /// The server's end of a fresh connection.
    pub fn server(now: Time, transport: Transport, accept: Accept, config: SessionConfig) -> Self {
        let state = match transport {
            Transport::Nbt139 => State::AwaitRequest(accept),
            Transport::Direct445 => State::Established,
        };
        Self::new(now, transport, state, config)
    }

    /// The client's end of a fresh connection; on port 139 it sends a session request at once.
    pub fn client(
        now: Time,
        transport: Transport,
        called: ScopedName,
        calling: ScopedName,
        config: SessionConfig,
    ) -> Self {
        if transport == Transport::Direct445 {
            return Self::new(now, transport, State::Established, config);
        }
        let mut session = Self::new(now, transport, State::AwaitReply, config);
        let request = Control::Request {
            called: called.clone(),
            calling: calling.clone(),
        };
        session.transmit = request.emit();
        session.names = Some((called, calling));
        session
    }

    /// The called name, once known: on port 139 only.
    pub fn called(&self) -> Option<&ScopedName> {
        self.names.as_ref().map(|(called, _)| called)
    }

    /// The calling name, once known: on port 139 only. It is the client's claim and nothing more.
    pub fn calling(&self) -> Option<&ScopedName> {
        self.names.as_ref().map(|(_, calling)| calling)
    }

    /// Whether messages may be sent.
    pub fn is_established(&self) -> bool {
        matches!(self.state, State::Established)
    }

    /// Why the session is over, if it is.
    pub fn error(&self) -> Option<SessionError> {
        match self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// How lengths are written; a server with `bare_messages` learns it from the first packet.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// The four bytes to send before a message of `len` bytes.
    ///
    /// # Errors
    /// [`TooLong`] when the transport cannot frame it.
    pub fn header_for(&self, len: usize) -> Result<[u8; HEADER_LEN], TooLong> {
        self.framing.header(len)
    }

    /// Bytes of memory the receive buffer holds.
    pub fn buffered_capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Bytes received that are no whole message yet, or one that was not consumed.
    pub fn waiting_bytes(&self) -> usize {
        self.buffer.waiting().len()
    }

    /// Space to read the peer's bytes into, `hint` being how many are known to be there (0 if unknown).
    ///
    /// It is empty only after an error or while a whole message fills it, waiting to be consumed.
    pub fn recv_space(&mut self, hint: usize) -> &mut [u8] {
        if self.error().is_some() {
            return &mut [];
        }
        let needed = self.needed();
        self.buffer.space(needed, hint)
    }

    /// The first `count` bytes of the space were read from the peer at `now`. Poll messages and transmits next.
    pub fn received(&mut self, now: Time, count: usize) {
        self.heard = now;
        self.buffer.fill(count);
        self.advance();
    }

    /// Takes as many of `bytes` as fit at the moment, by copying, and tells how many. After messages were
    /// polled and consumed the rest can be offered again.
    pub fn handle_bytes(&mut self, now: Time, bytes: &[u8]) -> usize {
        let mut taken = 0usize;
        while self.message.is_none() {
            let rest = bytes.get(taken..).unwrap_or_default();
            let space = self.recv_space(rest.len());
            let count = space.len().min(rest.len());
            if count == 0 {
                break;
            }
            if let (Some(space), Some(bytes)) = (space.get_mut(..count), rest.get(..count)) {
                space.copy_from_slice(bytes);
            }
            self.received(now, count);
            taken = taken.saturating_add(count);
        }
        taken
    }

    /// The peer closed its side. Call it when all messages were polled and consumed.
    ///
    /// # Errors
    /// [`SessionError::CutShort`] when that was within a packet or the handshake, or the error the session had.
    pub fn handle_eof(&mut self) -> Result<(), SessionError> {
        let clean =
            self.is_established() && (self.message.is_some() || self.buffer.waiting().is_empty());
        if !clean {
            self.fail(SessionError::CutShort);
        }
        self.error().map_or(Ok(()), Err)
    }

    /// The message in front, without its header, or why the session is over. Gives the same message until
    /// [`consume`](Self::consume) is called.
    pub fn poll_message(&mut self) -> Option<Result<&[u8], SessionError>> {
        if let Some(len) = self.message {
            let packet = self.buffer.waiting().get(HEADER_LEN..len);
            return packet.map(Ok);
        }
        self.error().map(Err)
    }

    /// The message in front is done with. Poll for the next one, and for transmits.
    pub fn consume(&mut self) {
        if let Some(len) = self.message.take() {
            self.buffer.consume(len);
            self.advance();
        }
    }

    /// Bytes of the handshake or a keep-alive to send.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        (!self.transmit.is_empty()).then(|| core::mem::take(&mut self.transmit))
    }

    /// When to call [`handle_timeout`](Self::handle_timeout). Changes with every call that takes a time.
    pub fn poll_timeout(&self) -> Option<Time> {
        [
            self.handshake_due(),
            self.shrink_due(),
            self.keep_alive_due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// It is `now`: does what is due. Poll messages (for the error) and transmits next.
    pub fn handle_timeout(&mut self, now: Time) {
        let is_due = |due: Option<Time>| due.is_some_and(|due| due <= now);
        if is_due(self.handshake_due()) {
            self.fail(SessionError::HandshakeTimeout);
        }
        if is_due(self.shrink_due()) {
            self.buffer.shrink();
            self.shrunk = now;
        }
        if is_due(self.keep_alive_due()) {
            self.kept_alive = now;
            self.transmit.extend(Control::KeepAlive.emit());
        }
    }

    fn new(now: Time, transport: Transport, state: State, config: SessionConfig) -> Self {
        Self {
            state,
            framing: transport.framing(),
            config,
            buffer: Buffer::default(),
            message: None,
            transmit: Vec::new(),
            names: None,
            heard: now,
            kept_alive: now,
            shrunk: now,
        }
    }

    fn handshake_due(&self) -> Option<Time> {
        // Counted from the start, so that neither a trickle of bytes nor keep-alives put it off.
        matches!(self.state, State::AwaitRequest(_) | State::AwaitReply)
            .then(|| self.kept_alive + self.config.handshake)
    }

    fn shrink_due(&self) -> Option<Time> {
        let keep = match self.buffer.waiting().len() {
            0 => 0,
            waiting => waiting.saturating_mul(4).max(IDLE_CAPACITY),
        };
        // A driver that asks for space before it knows that there is something to read makes the buffer grow again.
        let quiet_since = self.heard.max(self.shrunk);
        (self.buffer.capacity() > keep).then(|| quiet_since + self.config.idle)
    }

    fn keep_alive_due(&self) -> Option<Time> {
        let wanted = self.is_established() && self.framing == Framing::Nbt;
        let quiet = self.config.keep_alive.filter(|_| wanted)?;
        Some(self.heard.max(self.kept_alive) + quiet)
    }

    /// How many waiting bytes make the packet in front whole; a header's worth until there is one.
    fn needed(&self) -> usize {
        Header::first_of(self.buffer.waiting()).map_or(HEADER_LEN, |header| {
            header.len(self.framing).saturating_add(HEADER_LEN)
        })
    }

    /// Deals with control packets until a message is in front, or nothing whole, or an error.
    fn advance(&mut self) {
        while self.message.is_none() && self.error().is_none() {
            match self.step() {
                Ok(Step::Continue) => {}
                Ok(Step::Pause) => return,
                Err(error) => self.fail(error),
            }
        }
    }

    fn step(&mut self) -> Result<Step, SessionError> {
        let Some(header) = Header::first_of(self.buffer.waiting()) else {
            return Ok(Step::Pause);
        };
        let packet_type = header.packet_type();
        self.meet(packet_type)?;
        let len = self.checked_len(header)?;
        if self.buffer.waiting().len() < len {
            return Ok(Step::Pause);
        }
        if packet_type == PacketType::Message {
            self.message = Some(len);
            return Ok(Step::Pause);
        }
        let body = self.buffer.waiting().get(HEADER_LEN..len);
        let control = Control::parse(packet_type, body.unwrap_or_default())?;
        self.buffer.consume(len);
        self.handle_control(control)?;
        Ok(Step::Continue)
    }

    /// Whether a packet of this type may come now, known before its length is looked at.
    fn meet(&mut self, packet_type: PacketType) -> Result<(), SessionError> {
        let unexpected = Err(SessionError::Unexpected(packet_type.into()));
        match (&self.state, packet_type) {
            (_, PacketType::KeepAlive) => Ok(()),
            (State::Established, PacketType::Message) => Ok(()),
            (State::Established, PacketType::Request) if self.framing == Framing::Direct => {
                self.refuse(Refusal::UNSPECIFIED);
                Err(SessionError::RequestOnDirect)
            }
            (State::AwaitRequest(_), PacketType::Request) => Ok(()),
            (State::AwaitRequest(Accept::Any), PacketType::Message)
                if self.config.bare_messages =>
            {
                self.framing = Framing::Direct;
                self.state = State::Established;
                Ok(())
            }
            (State::AwaitRequest(_), _) => {
                self.refuse(Refusal::UNSPECIFIED);
                unexpected
            }
            (
                State::AwaitReply,
                PacketType::Positive | PacketType::Negative | PacketType::Retarget,
            ) => Ok(()),
            _ => unexpected,
        }
    }

    /// Bytes of the packet with this header, its header included.
    fn checked_len(&self, header: Header) -> Result<usize, SessionError> {
        match header.reserved_flags(self.framing) {
            0 => {}
            flags => return Err(SessionError::ReservedFlags(flags)),
        }
        let len = header.len(self.framing);
        let max = match header.packet_type() {
            PacketType::Message => self.config.max_message,
            _ => MAX_CONTROL_LEN,
        };
        if len > max {
            return Err(SessionError::TooLong { len, max });
        }
        Ok(len.saturating_add(HEADER_LEN))
    }

    fn handle_control(&mut self, control: Control) -> Result<(), SessionError> {
        match control {
            Control::Request { called, calling } => self.handle_request(called, calling),
            Control::Positive => {
                self.state = State::Established;
                Ok(())
            }
            Control::Negative(refusal) => Err(SessionError::PeerRefused(refusal)),
            Control::Retarget { address, port } => Err(SessionError::Retargeted { address, port }),
            Control::KeepAlive => Ok(()),
        }
    }

    fn handle_request(
        &mut self,
        called: ScopedName,
        calling: ScopedName,
    ) -> Result<(), SessionError> {
        let verdict = match &self.state {
            State::AwaitRequest(accept) => accept.judge(&called.name),
            _ => Err(Refusal::UNSPECIFIED),
        };
        self.names = Some((called, calling));
        if let Err(refusal) = verdict {
            self.refuse(refusal);
            return Err(SessionError::WeRefused(refusal));
        }
        self.transmit.extend(Control::Positive.emit());
        self.state = State::Established;
        Ok(())
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.transmit.extend(Control::Negative(refusal).emit());
    }

    /// The first error stays, and the buffer goes.
    fn fail(&mut self, error: SessionError) {
        if self.error().is_none() {
            self.state = State::Failed(error);
            self.message = None;
            self.buffer = Buffer::default();
        }
    }
}

/// Whether the characters are an IPv4 address: some clients call a server they know by address only that way.
fn is_address(characters: &[u8]) -> bool {
    core::str::from_utf8(characters).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
}
