//! The client's non-blocking socket. Only [`Socket::wait`] blocks.

use std::{
    io::{self, IoSlice},
    net::{SocketAddr, TcpStream},
    os::{
        fd::OwnedFd,
        unix::{fs::FileExt, net::UnixStream},
    },
    time::Duration,
};

use coax_client::{Tail, Transmit};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvFlags, SendAncillaryBuffer, SendFlags},
};

use super::{Error, local::LocalEnd};

/// Timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connected socket (TCP, or a local one that carries a session of another network) and the message that is being sent.
#[derive(Debug)]
pub(super) struct Socket {
    stream: OwnedFd,
    out: Option<Out>,
    /// The server accepts no more data; data that it sent can still be read.
    deaf: bool,
}

#[derive(Debug)]
struct Out {
    transmit: Transmit,
    /// Bytes already sent, header and data together.
    sent: usize,
}

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    Bytes(usize),
    Nothing,
    Closed,
}

impl Socket {
    pub fn connect(address: &SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(address, CONNECT_TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self::over(stream.into()))
    }

    /// Over a local socket.
    pub fn local(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::over(stream.into()))
    }

    fn over(stream: OwnedFd) -> Self {
        Self {
            stream,
            out: None,
            deaf: false,
        }
    }

    /// Another handle of the same socket.
    pub fn second_handle(&self) -> io::Result<OwnedFd> {
        self.stream.try_clone()
    }

    /// Whether the next message can be queued.
    pub fn is_free(&self) -> bool {
        self.out.is_none()
    }

    /// Queues a message; [`flush`](Self::flush) sends it.
    pub fn put(&mut self, transmit: Transmit) {
        if !self.deaf {
            self.out = Some(Out { transmit, sent: 0 });
        }
    }

    /// Sends until the socket's buffer is full. Returns whether everything was sent.
    pub fn flush(&mut self, local: &dyn LocalEnd) -> Result<bool, Error> {
        while let Some(out) = &mut self.out {
            match push(&self.stream, out, local) {
                Ok(true) => self.out = None,
                Ok(false) => {}
                Err(Stop::Busy) => return Ok(false),
                Err(Stop::Deaf) => {
                    self.deaf = true;
                    self.out = None;
                }
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads the available data.
    pub fn receive(&self, space: &mut [u8]) -> Result<Received, Error> {
        loop {
            match rustix::net::recv(&self.stream, &mut *space, RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return Ok(Received::Closed),
                Ok((_, count)) => return Ok(Received::Bytes(count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                Err(Errno::CONNRESET | Errno::PIPE | Errno::TIMEDOUT) => {
                    return Ok(Received::Closed);
                }
                Err(error) => {
                    return Err(Error::System {
                        what: "the connection failed",
                        error: error.into(),
                    });
                }
            }
        }
    }

    /// Waits until the socket is readable, or writable if data is queued, or the timeout has passed. Returns whether
    /// the socket is ready.
    pub fn wait(&self, timeout: Option<Duration>) -> bool {
        let mut wanted = PollFlags::IN;
        wanted.set(PollFlags::OUT, self.out.is_some());
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match poll(&mut [PollFd::new(&self.stream, wanted)], timeout.as_ref()) {
            Ok(ready) => ready > 0,
            // A signal interrupted the call.
            Err(_) => true,
        }
    }
}

enum Stop {
    /// The socket's buffer is full.
    Busy,
    /// The peer accepts no more data.
    Deaf,
    Failed(Error),
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Self {
        match error {
            Errno::AGAIN => Self::Busy,
            Errno::PIPE | Errno::CONNRESET | Errno::TIMEDOUT | Errno::NOTCONN => Self::Deaf,
            error => Self::Failed(Error::System {
                what: "cannot send",
                error: error.into(),
            }),
        }
    }
}

/// Sends more of a message. Returns whether the message is complete.
fn push(stream: &OwnedFd, out: &mut Out, local: &dyn LocalEnd) -> Result<bool, Stop> {
    let (head, tail) = (&out.transmit.head, &out.transmit.tail);
    let into_tail = out.sent.saturating_sub(head.len());
    let rest_of_head = head.get(out.sent..).unwrap_or_default();
    let sent = match tail {
        Tail::Local { offset, len, .. } if rest_of_head.is_empty() => {
            let at = offset.saturating_add(into_tail as u64);
            let rest = len.saturating_sub(into_tail);
            match send_local(stream, local, at, rest)? {
                Some(sent) => sent,
                None => {
                    // This file system does not support it: copy through memory.
                    let bytes = read_local(local, at, rest)?;
                    out.transmit = Transmit {
                        head: bytes,
                        tail: Tail::None,
                    };
                    out.sent = 0;
                    return Ok(false);
                }
            }
        }
        Tail::Local { .. } => send(stream, &[IoSlice::new(rest_of_head)], true)?,
        Tail::Bytes(bytes) => {
            let rest = bytes.get(into_tail..).unwrap_or_default();
            let parts = [IoSlice::new(rest_of_head), IoSlice::new(rest)];
            send(stream, &parts, false)?
        }
        Tail::None => send(stream, &[IoSlice::new(rest_of_head)], false)?,
    };
    out.sent = out.sent.saturating_add(sent);
    Ok(out.sent >= head.len().saturating_add(tail.len()))
}

fn send(stream: &OwnedFd, parts: &[IoSlice<'_>], more: bool) -> Result<usize, Stop> {
    let mut flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    flags.set(SendFlags::MORE, more);
    let mut control = SendAncillaryBuffer::default();
    retry(|| rustix::net::sendmsg(stream, parts, &mut control, flags))
}

/// Lets the kernel send a part of the local file; `None` if the file system does not support it.
fn send_local(
    stream: &OwnedFd,
    local: &dyn LocalEnd,
    offset: u64,
    len: usize,
) -> Result<Option<usize>, Stop> {
    let Some((file, name)) = local.file() else {
        return Ok(None);
    };
    let mut at = offset;
    let outcome = retry(
        || match rustix::fs::sendfile(stream, file, Some(&mut at), len) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(None),
            sent => sent.map(Some),
        },
    )?;
    match outcome {
        Some(0) if len > 0 => Err(Stop::Failed(shrunk(name, offset, len))),
        outcome => Ok(outcome),
    }
}

fn read_local(local: &dyn LocalEnd, offset: u64, len: usize) -> Result<Vec<u8>, Stop> {
    let Some((file, name)) = local.file() else {
        return Err(Stop::Failed(shrunk("the local side", offset, len)));
    };
    let mut bytes = vec![0; len];
    let read = file
        .try_clone_to_owned()
        .map(std::fs::File::from)
        .and_then(|file| file.read_exact_at(&mut bytes, offset));
    match read {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(Stop::Failed(shrunk(name, offset, len)))
        }
        Err(error) => Err(Stop::Failed(
            coax_client::Error::Local(super::local::failed(name, &error)).into(),
        )),
    }
}

fn shrunk(name: &str, offset: u64, len: usize) -> Error {
    Error::Shrunk {
        name: name.into(),
        end: offset,
        promised: offset.saturating_add(len as u64),
    }
}

fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Stop> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            outcome => return outcome.map_err(Stop::from),
        }
    }
}
