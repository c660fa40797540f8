//! Sends one message to a user or machine (NET SEND, WinPopup) on a session of its own, without a log-on: core protocol
//! (SMB-CORE), section 6.
//!
//! The text always goes in blocks, as from smbclient: smbd 4.17 takes SEND_START_MULTI_BLOCK as the first request of a
//! connection, and ends it at a SEND_SINGLE_BLOCK.

use alloc::{collections::VecDeque, vec::Vec};

use coax_netbios::{Session, SessionConfig, Transport};
use coax_wire::{
    block::{Block, WireStr},
    command,
    header::Header,
    io::Writer,
    nbt::name::ScopedName,
    smb::message::{MAX_BLOCK_LEN, MAX_TEXT_LEN, Start, Text, emit_group, parse_group},
    status::reply::ReplyStatus,
    time::{Span, Time},
};

use crate::error::Error;

/// How long a reply may take.
const REPLY_TIMEOUT: Span = Span::from_secs(30);

/// A message, in the code page of the recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    /// The sender's name.
    pub from: Vec<u8>,
    /// The recipient's name.
    pub to: Vec<u8>,
    /// The text; [`MAX_TEXT_LEN`] bytes are sent.
    pub text: Vec<u8>,
}

/// Sends a message over a session to the recipient's name with the suffix 03. Drive it like
/// [`Client`](crate::Client).
pub struct MessageSender {
    session: Session,
    message: UserMessage,
    state: State,
    deadline: Option<Time>,
    transmits: VecDeque<Vec<u8>>,
    result: Option<Result<(), Error>>,
}

/// The request that waits for its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Calling,
    Starting,
    /// Text up to this byte was sent.
    Text {
        group: u16,
        sent: usize,
    },
    Ending,
}

impl State {
    fn command(self) -> u8 {
        match self {
            Self::Calling | Self::Starting => command::SEND_START_MULTI_BLOCK,
            Self::Text { .. } => command::SEND_TEXT_MULTI_BLOCK,
            Self::Ending => command::SEND_END_MULTI_BLOCK,
        }
    }
}

impl MessageSender {
    /// The sender's end of a new connection to `called`. Poll transmits at once.
    pub fn new(now: Time, called: ScopedName, calling: ScopedName, message: UserMessage) -> Self {
        let config = SessionConfig {
            handshake: REPLY_TIMEOUT,
            ..SessionConfig::default()
        };
        let mut sender = Self {
            session: Session::client(now, Transport::Nbt139, called, calling, config),
            message,
            state: State::Calling,
            deadline: None,
            transmits: VecDeque::new(),
            result: None,
        };
        sender.message.text.truncate(MAX_TEXT_LEN);
        sender.turn(now);
        sender
    }

    /// Bytes arrived.
    pub fn handle_bytes(&mut self, now: Time, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && self.result.is_none() {
            let taken = self.session.handle_bytes(now, rest);
            self.turn(now);
            rest = rest.get(taken..).unwrap_or_default();
            if taken == 0 {
                return;
            }
        }
    }

    /// The recipient closed the connection.
    pub fn handle_eof(&mut self) {
        let waiting = Some(self.state.command());
        self.finish(Err(Error::Closed { waiting }));
    }

    /// It is `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.session.handle_timeout(now);
        self.turn(now);
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.finish(Err(Error::Silent {
                command: self.state.command(),
                after: REPLY_TIMEOUT,
            }));
        }
    }

    /// The next bytes to send.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let own = self.session.poll_transmit();
        own.or_else(|| self.transmits.pop_front())
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let session = self.session.poll_timeout();
        session.into_iter().chain(self.deadline).min()
    }

    /// Whether the message was delivered, once that is known.
    pub fn result(&self) -> Option<&Result<(), Error>> {
        self.result.as_ref()
    }

    fn turn(&mut self, now: Time) {
        if self.result.is_some() {
            return;
        }
        if let Some(error) = self.session.error() {
            return self.finish(Err(error.into()));
        }
        if self.state == State::Calling && self.session.is_established() {
            self.begin(now);
        }
        while let Some(message) = self.session.poll_message() {
            let state = self.state;
            let step = message
                .map_err(Error::from)
                .and_then(|message| next(state, message));
            self.session.consume();
            match step {
                Ok(answer) => self.advance(now, answer),
                Err(error) => self.finish(Err(error)),
            }
            if self.result.is_some() {
                return;
            }
        }
    }

    fn begin(&mut self, now: Time) {
        let (from, to) = (self.message.from.clone(), self.message.to.clone());
        let start = Start {
            originator: oem(&from),
            destination: oem(&to),
        };
        self.state = State::Starting;
        self.request(now, |out| start.emit(out));
    }

    /// The reply to the last request came.
    fn advance(&mut self, now: Time, answer: Answer) {
        match (self.state, answer) {
            (State::Starting, Answer::Group(group)) => self.send_text(now, group, 0),
            (State::Text { group, sent }, _) => self.send_text(now, group, sent),
            _ => self.finish(Ok(())),
        }
    }

    fn send_text(&mut self, now: Time, group: u16, sent: usize) {
        let rest = self.message.text.get(sent..).unwrap_or_default();
        let text = rest.get(..MAX_BLOCK_LEN).unwrap_or(rest).to_vec();
        if text.is_empty() {
            self.state = State::Ending;
            return self.request(now, |out| emit_group(group, out));
        }
        let sent = sent.saturating_add(text.len());
        self.state = State::Text { group, sent };
        self.request(now, |out| Text { group, text: &text }.emit(out));
    }

    fn request(&mut self, now: Time, emit: impl FnOnce(&mut Writer)) {
        let mut out = Writer::default();
        let header = Header {
            command: self.state.command(),
            ..Header::default()
        };
        header.emit(&mut out);
        emit(&mut out);
        let message = out.into_vec();
        match self.session.header_for(message.len()) {
            Ok(head) => {
                let mut bytes = head.to_vec();
                bytes.extend(message);
                self.transmits.push_back(bytes);
                self.deadline = Some(now + REPLY_TIMEOUT);
            }
            Err(_) => self.finish(Err(Error::Protocol("the message is too long"))),
        }
    }

    fn finish(&mut self, result: Result<(), Error>) {
        self.deadline = None;
        self.result.get_or_insert(result);
    }
}

/// What a reply says.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Done,
    Group(u16),
}

fn next(state: State, message: &[u8]) -> Result<Answer, Error> {
    let command = state.command();
    let nonsense = |what| Error::Nonsense { command, what };
    let header = Header::parse(message).map_err(nonsense)?;
    if header.command != command {
        return Err(Error::Protocol("a reply to another request"));
    }
    if header.status != 0 {
        let status = ReplyStatus::of(&header);
        return Err(Error::Refused { command, status });
    }
    if state != State::Starting {
        return Ok(Answer::Done);
    }
    let block = Block::first(message).map_err(nonsense)?;
    // smbd's reply has no identifier, and it does not look at that of the next requests.
    Ok(Answer::Group(parse_group(&block).unwrap_or(0)))
}

fn oem(raw: &[u8]) -> WireStr<'_> {
    WireStr {
        raw,
        unicode: false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use alloc::vec;
    use coax_netbios::{Accept, SessionError};
    use coax_wire::nbt::name::NbName;

    const NOW: Time = Time(1);

    fn sender(text: &[u8]) -> MessageSender {
        let name = |name: &str| ScopedName::from(name.parse::<NbName>().unwrap());
        let message = UserMessage {
            from: b"JIM".to_vec(),
            to: b"ANN".to_vec(),
            text: text.to_vec(),
        };
        MessageSender::new(NOW, name("ANN<03>"), name("JIM<03>"), message)
    }

    /// A recipient that answers as `answer` says, given the command and the block's bytes.
    fn talk(sender: &mut MessageSender, mut answer: impl FnMut(u8, &Block<'_>) -> (u32, Vec<u16>)) {
        let config = SessionConfig::default();
        let mut other = Session::server(NOW, Transport::Nbt139, Accept::Any, config);
        for _ in 0..100 {
            while let Some(bytes) = sender.poll_transmit() {
                other.handle_bytes(NOW, &bytes);
                while let Some(message) = other.poll_message() {
                    let message = message.unwrap().to_vec();
                    other.consume();
                    let mut header = Header::parse(&message).unwrap();
                    let (status, words) = answer(header.command, &Block::first(&message).unwrap());
                    header.status = status;
                    let mut out = Writer::default();
                    header.emit(&mut out);
                    out.u8(words.len() as u8);
                    words.iter().for_each(|word| {
                        out.u16(*word);
                    });
                    out.u16(0);
                    let reply = out.into_vec();
                    let mut bytes = other.header_for(reply.len()).unwrap().to_vec();
                    bytes.extend(reply);
                    sender.handle_bytes(NOW, &bytes);
                }
            }
            match other.poll_transmit() {
                Some(bytes) => sender.handle_bytes(NOW, &bytes),
                None => return,
            }
        }
    }

    #[test]
    fn a_text_goes_in_blocks_of_128_bytes_and_ends_at_1600() {
        for (len, commands, sent) in [(128, 3, 128), (129, 4, 129), (5000, 15, 1600)] {
            let mut sender = sender(&vec![b'x'; len]);
            let (mut seen, mut text) = (Vec::new(), 0);
            talk(&mut sender, |command, block| {
                seen.push(command);
                match command {
                    command::SEND_TEXT_MULTI_BLOCK => {
                        let piece = Text::parse(block).unwrap();
                        assert!(piece.group == 9 && piece.text.len() <= 128);
                        text += piece.text.len();
                    }
                    command::SEND_START_MULTI_BLOCK => return (0, vec![9]),
                    _ => assert_eq!(parse_group(block), Ok(9)),
                }
                (0, Vec::new())
            });
            assert_eq!(sender.result(), Some(&Ok(())));
            assert_eq!((seen.len(), text), (commands, sent), "{len}");
        }
    }

    #[test]
    fn a_refusal_and_silence_and_nonsense_are_told() {
        let mut sender_refused = sender(b"tea");
        talk(&mut sender_refused, |_, _| (0x0052_0002, Vec::new()));
        let told = sender_refused.result().unwrap().clone().unwrap_err();
        assert!(matches!(told, Error::Refused { .. }), "{told}");
        let mut to_smbd = sender(b"tea");
        talk(&mut to_smbd, |_, _| (0, Vec::new()));
        assert_eq!(to_smbd.result(), Some(&Ok(())));
        let mut late = sender(b"tea");
        late.handle_timeout(NOW + Span::from_secs(31));
        assert!(matches!(
            late.result(),
            Some(Err(Error::Session(SessionError::HandshakeTimeout)))
        ));
        let mut gone = sender(b"tea");
        gone.handle_eof();
        assert!(matches!(gone.result(), Some(Err(Error::Closed { .. }))));
    }
}
