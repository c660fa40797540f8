//! One session as the local program sees it: a stream socket with the packets of RFC 1002 §4.3.

use std::{
    collections::VecDeque,
    io::{self, IoSlice, Write},
    os::unix::net::UnixStream,
};

use coax_netbios::nbf::SessionId;
use coax_wire::nbt::session::{Control, Framing, HEADER_LEN, Header, MAX_CONTROL_LEN, PacketType};
use rustix::io::Errno;

/// What the program sent.
#[derive(Debug)]
pub(crate) enum Input {
    /// A message for the peer.
    Message(Vec<u8>),
    /// A packet of the session service.
    Control(Control),
    /// The program closed its end, or broke the protocol.
    End,
}

/// A packet for the program.
#[derive(Debug)]
struct Output {
    header: Vec<u8>,
    bytes: Vec<u8>,
    sent: usize,
    is_message: bool,
}

/// The network's end of a program's socket.
#[derive(Debug)]
pub(crate) struct Bridge {
    pub(crate) stream: UnixStream,
    /// The session, once there is one.
    pub(crate) session: Option<SessionId>,
    /// There may be something to read.
    pub(crate) readable: bool,
    /// The session is over: the socket is closed when everything is written.
    pub(crate) closing: bool,
    header: [u8; HEADER_LEN],
    header_len: usize,
    body: Vec<u8>,
    body_len: usize,
    output: VecDeque<Output>,
}

impl Bridge {
    pub(crate) fn new(stream: UnixStream, session: Option<SessionId>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            session,
            readable: true,
            closing: false,
            header: [0; HEADER_LEN],
            header_len: 0,
            body: Vec::new(),
            body_len: 0,
            output: VecDeque::new(),
        })
    }

    /// Whether everything was written.
    pub(crate) fn is_written(&self) -> bool {
        self.output.is_empty()
    }

    pub(crate) fn push_control(&mut self, control: &Control) {
        self.output.push_back(Output {
            header: control.emit(),
            bytes: Vec::new(),
            sent: 0,
            is_message: false,
        });
    }

    /// Queues a message; whether its length can be written.
    pub(crate) fn push_message(&mut self, bytes: Vec<u8>) -> bool {
        let Ok(header) = Framing::Nbt.header(bytes.len()) else {
            return false;
        };
        self.output.push_back(Output {
            header: header.to_vec(),
            bytes,
            sent: 0,
            is_message: true,
        });
        true
    }

    /// Writes what the program takes; how many messages it has now.
    pub(crate) fn flush(&mut self) -> io::Result<usize> {
        let mut messages = 0usize;
        while let Some(front) = self.output.front_mut() {
            let header = front.header.get(front.sent..).unwrap_or_default();
            let into = front.sent.saturating_sub(front.header.len());
            let bytes = front.bytes.get(into..).unwrap_or_default();
            match self
                .stream
                .write_vectored(&[IoSlice::new(header), IoSlice::new(bytes)])
            {
                Ok(count) => front.sent = front.sent.saturating_add(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if front.sent >= front.header.len().saturating_add(front.bytes.len()) {
                messages = messages.saturating_add(usize::from(front.is_message));
                self.output.pop_front();
            }
        }
        Ok(messages)
    }

    /// The next packet that the program sent, if all of it is there.
    pub(crate) fn read(&mut self) -> Option<Input> {
        loop {
            if self.header_len < HEADER_LEN {
                let space = self.header.get_mut(self.header_len..).unwrap_or_default();
                match read_some(&self.stream, space) {
                    Ok(0) => return Some(Input::End),
                    Ok(count) => self.header_len = self.header_len.saturating_add(count),
                    Err(Errno::AGAIN) => break,
                    Err(_) => return Some(Input::End),
                }
                if self.header_len < HEADER_LEN {
                    continue;
                }
                let len = Header(self.header).len(Framing::Nbt);
                let is_message = Header(self.header).packet_type() == PacketType::Message;
                if !is_message && len > MAX_CONTROL_LEN {
                    return Some(Input::End);
                }
                (self.body, self.body_len) = (vec![0; len], 0);
            }
            if self.body_len == self.body.len() {
                return Some(self.take_packet());
            }
            let space = self.body.get_mut(self.body_len..).unwrap_or_default();
            match read_some(&self.stream, space) {
                Ok(0) => return Some(Input::End),
                Ok(count) => self.body_len = self.body_len.saturating_add(count),
                Err(Errno::AGAIN) => break,
                Err(_) => return Some(Input::End),
            }
        }
        self.readable = false;
        None
    }

    fn take_packet(&mut self) -> Input {
        let kind = Header(self.header).packet_type();
        let body = std::mem::take(&mut self.body);
        (self.header_len, self.body_len) = (0, 0);
        match kind {
            PacketType::Message => Input::Message(body),
            kind => Control::parse(kind, &body).map_or(Input::End, Input::Control),
        }
    }
}

fn read_some(stream: &UnixStream, space: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::read(stream, &mut *space) {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}
