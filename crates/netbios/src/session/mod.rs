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

/// The transport of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP port 139: session request and reply, then messages with a 17-bit length, and keep-alives.
    Nbt139,
    /// TCP port 445: messages with a 24-bit length only.
    Direct445,
}

impl Transport {
    /// The framing of its packets.
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
    /// Every name, because old machines use aliases, LMHOSTS entries and addresses as called names.
    Any,
    /// These names (with the suffix `<20>` or `<00>`), `*SMBSERVER`, and IPv4 addresses written as names. Other names
    /// get error 82.
    Names(Arc<[NbName]>),
    /// No name: every session is refused, for example because there are too many.
    Nothing(Refusal),
}

impl Accept {
    /// Checks the called name; ignores the scope.
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

/// Limits and options of a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionConfig {
    /// Maximum length of a received message, bytes; a longer one is an error.
    pub max_message: usize,
    /// On port 139: send a keep-alive after this time without data from the peer (RFC 1002 §6 recommends 60 s and makes
    /// it optional). `None`: never.
    pub keep_alive: Option<Span>,
    /// Timeout of the session request and its reply.
    pub handshake: Span,
    /// After this time without data from the peer, the receive buffer's free memory is released.
    pub idle: Span,
    /// For servers on port 139 with [`Accept::Any`]: a peer that starts with a message instead of a session request is
    /// served as on port 445. smbclient does so on any port other than 139, and smbd allows it.
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

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The peer sent a control packet that cannot be decoded.
    #[error("the peer sent a malformed session packet: {0}")]
    Malformed(#[from] Malformed),
    /// The peer set reserved flags; it has probably lost the packet boundary.
    #[error("the peer sent reserved session flags {0:#04x}")]
    ReservedFlags(u8),
    /// The peer sent a packet that is not allowed in this state.
    #[error("the peer sent an unexpected session packet of type {0:#04x}")]
    Unexpected(u8),
    /// The peer announced a packet longer than allowed.
    #[error("the peer announced a packet of {len} bytes; at most {max} are taken")]
    TooLong {
        /// The announced length, bytes.
        len: usize,
        /// The maximum length, bytes.
        max: usize,
    },
    /// The peer sent a session request on port 445, which does not use them. It got error 8F.
    #[error(
        "the peer sent a NetBIOS session request to a port for direct hosting; that belongs to port 139"
    )]
    RequestOnDirect,
    /// We refused the peer's session request; [`Session::called`] returns the called name.
    #[error("the session request was refused: {0}")]
    WeRefused(Refusal),
    /// The server refused our session request.
    #[error("the server refused the session: {0}")]
    PeerRefused(Refusal),
    /// The server redirects the session to another address.
    #[error("the server redirects the session to {address}:{port}")]
    Retargeted {
        /// The address.
        address: Ipv4Addr,
        /// The TCP port.
        port: u16,
    },
    /// The peer sent nothing during the handshake until the timeout.
    #[error("the peer did not finish the session handshake in time")]
    HandshakeTimeout,
    /// The peer closed the connection within a packet or during the handshake.
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
    /// Length of the complete message at the start of `buffer`, header included.
    message: Option<usize>,
    transmit: Vec<u8>,
    names: Option<(ScopedName, ScopedName)>,
    /// When the last data from the peer arrived, initially the start.
    heard: Time,
    /// When the last keep-alive was sent, initially the start.
    kept_alive: Time,
    /// When free memory was last released, initially the start.
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

/// What to do after a packet.
enum Step {
    /// Look at the next packet.
    Continue,
    /// A message is ready, or the next packet is incomplete.
    Pause,
}

impl Session {
    /// The server's end of a new connection.
    pub fn server(now: Time, transport: Transport, accept: Accept, config: SessionConfig) -> Self {
        let state = match transport {
            Transport::Nbt139 => State::AwaitRequest(accept),
            Transport::Direct445 => State::Established,
        };
        Self::new(now, transport, state, config)
    }

    /// The client's end of a new connection. On port 139 it sends a session request at once.
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

    /// The called name, if known; on port 139 only.
    pub fn called(&self) -> Option<&ScopedName> {
        self.names.as_ref().map(|(called, _)| called)
    }

    /// The calling name, if known; on port 139 only. The client chooses it freely.
    pub fn calling(&self) -> Option<&ScopedName> {
        self.names.as_ref().map(|(_, calling)| calling)
    }

    /// Whether messages may be sent.
    pub fn is_established(&self) -> bool {
        matches!(self.state, State::Established)
    }

    /// The error that ended the session.
    pub fn error(&self) -> Option<SessionError> {
        match self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The framing. With `bare_messages` the server detects it from the first packet.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// The four bytes to send before a message of `len` bytes.
    ///
    /// # Errors
    /// [`TooLong`] if the framing cannot represent the length.
    pub fn header_for(&self, len: usize) -> Result<[u8; HEADER_LEN], TooLong> {
        self.framing.header(len)
    }

    /// Allocated bytes of the receive buffer.
    pub fn buffered_capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Received bytes that are not consumed.
    pub fn waiting_bytes(&self) -> usize {
        self.buffer.waiting().len()
    }

    /// How many bytes are missing of a packet that has begun to arrive, as far as its length is known; 0 between packets.
    pub fn missing_bytes(&self) -> usize {
        match self.waiting_bytes() {
            0 => 0,
            waiting => self.needed().saturating_sub(waiting),
        }
    }

    /// Space to read the peer's bytes into. `hint` is the number of readable bytes, 0 if unknown.
    ///
    /// It is empty only after an error, or while a whole message is waiting.
    pub fn recv_space(&mut self, hint: usize) -> &mut [u8] {
        if self.error().is_some() {
            return &mut [];
        }
        let needed = self.needed();
        self.buffer.space(needed, hint)
    }

    /// `count` bytes were read from the peer into the space at `now`. Poll messages and transmits next.
    pub fn received(&mut self, now: Time, count: usize) {
        self.heard = now;
        self.buffer.fill(count);
        self.advance();
    }

    /// Copies as many of `bytes` as fit and returns their number. After polling and consuming messages, pass in the
    /// rest.
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

    /// The peer closed its direction. Call it after all messages were consumed.
    ///
    /// # Errors
    /// [`SessionError::CutShort`] if that was within a packet or the handshake, or the session's earlier error.
    pub fn handle_eof(&mut self) -> Result<(), SessionError> {
        let clean =
            self.is_established() && (self.message.is_some() || self.buffer.waiting().is_empty());
        if !clean {
            self.fail(SessionError::CutShort);
        }
        self.error().map_or(Ok(()), Err)
    }

    /// The first message without its header, or the error that ended the session. Returns the same message until
    /// [`consume`](Self::consume) is called.
    pub fn poll_message(&mut self) -> Option<Result<&[u8], SessionError>> {
        if let Some(len) = self.message {
            let packet = self.buffer.waiting().get(HEADER_LEN..len);
            return packet.map(Ok);
        }
        self.error().map(Err)
    }

    /// Removes the first message. Poll messages and transmits next.
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

    /// Runs the due timers. Poll messages (for errors) and transmits next.
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
        // The timeout counts from the start, so that single bytes or keep-alives do not extend it.
        matches!(self.state, State::AwaitRequest(_) | State::AwaitReply)
            .then(|| self.kept_alive + self.config.handshake)
    }

    fn shrink_due(&self) -> Option<Time> {
        let keep = match self.buffer.waiting().len() {
            0 => 0,
            waiting => waiting.saturating_mul(4).max(IDLE_CAPACITY),
        };
        // A driver may request space before data is available, which makes the buffer grow again.
        let quiet_since = self.heard.max(self.shrunk);
        (self.buffer.capacity() > keep).then(|| quiet_since + self.config.idle)
    }

    fn keep_alive_due(&self) -> Option<Time> {
        let wanted = self.is_established() && self.framing == Framing::Nbt;
        let quiet = self.config.keep_alive.filter(|_| wanted)?;
        Some(self.heard.max(self.kept_alive) + quiet)
    }

    /// The length of the first packet; the length of a header until the header is complete.
    fn needed(&self) -> usize {
        Header::first_of(self.buffer.waiting()).map_or(HEADER_LEN, |header| {
            header.len(self.framing).saturating_add(HEADER_LEN)
        })
    }

    /// Handles control packets until a message is ready, the data is incomplete, or an error occurs.
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

    /// Checks whether a packet of this type is allowed now, before its length is checked.
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

    /// Length of the packet with this header, header included.
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

    /// Keeps the first error and frees the buffer.
    fn fail(&mut self, error: SessionError) {
        if self.error().is_none() {
            self.state = State::Failed(error);
            self.message = None;
            self.buffer = Buffer::default();
        }
    }
}

/// Whether the characters are an IPv4 address. Some clients use the address as called name.
fn is_address(characters: &[u8]) -> bool {
    core::str::from_utf8(characters).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
}
