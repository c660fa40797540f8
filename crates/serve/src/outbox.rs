//! The send queue of a client: messages with their session headers, sent in order as far as the client accepts them.

use std::{collections::VecDeque, io::IoSlice};

use coax_server::{Tail, Transmit};
use rustix::{fd::OwnedFd, io::Errno};

use super::{socket::Socket, taps::Taps};
use coax_disk::DiskFile;

/// Page size, bytes.
const PAGE: u64 = 4096;
/// Replaces bytes that a file lost after the reply announced its length.
const ZEROS: [u8; 4096] = [0; 4096];

/// Messages to send, oldest first.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: VecDeque<Entry>,
    /// Bytes sent so far, framing included.
    sent_total: u64,
}

/// One message and its send position.
#[derive(Debug)]
struct Entry {
    framing: [u8; 4],
    /// Bytes of `framing` to send: 0 if the entry is not a message, for example a keep-alive.
    framing_len: usize,
    message: Transmit,
    sent: usize,
}

impl Outbox {
    /// Appends a message with its session header.
    pub(super) fn push(&mut self, framing: [u8; 4], message: Transmit) {
        self.queue.push_back(Entry {
            framing,
            framing_len: framing.len(),
            message,
            sent: 0,
        });
    }

    /// Appends bytes of the session layer itself.
    pub(super) fn push_bytes(&mut self, bytes: Vec<u8>) {
        let message = Transmit {
            head: bytes,
            tail: Tail::None,
        };
        self.queue.push_back(Entry {
            framing: [0; 4],
            framing_len: 0,
            message,
            sent: 0,
        });
    }

    /// Whether everything was sent.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Unsent bytes in memory.
    pub(super) fn waiting_bytes(&self) -> usize {
        let of = |entry: &Entry| match &entry.message.tail {
            Tail::Bytes(bytes) => entry.message.head.len().saturating_add(bytes.len()),
            Tail::None | Tail::File { .. } => entry.message.head.len(),
        };
        self.queue.iter().map(of).fold(0, usize::saturating_add)
    }

    /// Bytes sent so far, framing included.
    pub(super) fn sent_total(&self) -> u64 {
        self.sent_total
    }

    /// Sends as much as the client accepts without a long wait; the rest stays queued. Returns the largest buffer that
    /// is no longer needed. `taps` capture the bytes sent.
    pub(super) fn flush(&mut self, socket: &Socket, taps: &Taps) -> Result<Vec<u8>, Errno> {
        let mut done = Vec::new();
        while let Some(entry) = self.queue.front_mut() {
            let before = entry.sent;
            let outcome = entry.send(socket, taps);
            self.sent_total = self
                .sent_total
                .saturating_add(entry.sent.saturating_sub(before) as u64);
            if !outcome? {
                return Ok(done);
            }
            let sent = self.queue.pop_front();
            if let Some(Tail::Bytes(bytes)) = sent.map(|entry| entry.message.tail)
                && bytes.len() > done.len()
            {
                done = bytes;
            }
        }
        if self.queue.capacity() > 64 {
            self.queue.shrink_to(4);
        }
        Ok(done)
    }
}

impl Entry {
    /// Sends until the queue is empty (`true`) or the client accepts no more.
    fn send(&mut self, socket: &Socket, taps: &Taps) -> Result<bool, Errno> {
        self.load_strange(taps.is_on())?;
        self.load_uneven()?;
        let front = self.framing_len.saturating_add(self.message.head.len());
        let len = front.saturating_add(self.message.tail.len());
        while self.sent < len {
            let sent = match (disk_file(&self.message.tail), self.sent >= front) {
                (Some((fd, offset)), true) => {
                    let done = self.sent.saturating_sub(front);
                    send_file(
                        socket,
                        fd,
                        offset.saturating_add(done as u64),
                        len.saturating_sub(self.sent),
                    )?
                }
                (file, _) => self.send_memory(socket, file.is_some())?,
            };
            if sent == 0 {
                return Ok(false);
            }
            if taps.is_on() {
                self.show(sent, taps);
            }
            self.sent = self.sent.saturating_add(sent);
        }
        Ok(true)
    }

    fn send_memory(&self, socket: &Socket, more: bool) -> Result<usize, Errno> {
        socket.send(&self.unsent().map(IoSlice::new), more)
    }

    /// Captures the next `sent` bytes, which the kernel has accepted.
    fn show(&self, sent: usize, taps: &Taps) {
        let mut left = sent;
        let parts = self.unsent().map(|part| {
            let taken = part.get(..left.min(part.len())).unwrap_or_default();
            left = left.saturating_sub(taken.len());
            taken
        });
        taps.sent(&parts.concat());
    }

    /// The unsent bytes in memory, in order.
    fn unsent(&self) -> [&[u8]; 3] {
        let framing = self.framing.get(..self.framing_len).unwrap_or_default();
        let tail = match &self.message.tail {
            Tail::Bytes(bytes) => bytes.as_slice(),
            Tail::None | Tail::File { .. } => &[],
        };
        let mut skip = self.sent;
        [framing, &self.message.head, tail].map(|part| {
            let rest = part.get(skip.min(part.len())..).unwrap_or_default();
            skip = skip.saturating_sub(part.len());
            rest
        })
    }

    /// A file's range that begins within a page would lie in one page more than it needs, and a pipe takes 16: what lies
    /// before the next page is sent from memory with the head.
    fn load_uneven(&mut self) -> Result<(), Errno> {
        let Transmit { head, tail } = &mut self.message;
        let Some((fd, at)) = disk_file(tail) else {
            return Ok(());
        };
        let uneven = ((PAGE - at % PAGE) % PAGE) as usize;
        if uneven == 0 || self.sent > 0 || uneven >= tail.len() {
            return Ok(());
        }
        let start = head.len();
        head.resize(start.saturating_add(uneven), 0);
        // Zeros stay where the file has become shorter: the reply announced the length.
        let room = head.get_mut(start..).unwrap_or_default();
        rustix::io::pread(fd, room, at)?;
        if let Tail::File { offset, len, .. } = tail {
            *offset = offset.saturating_add(uneven as u64);
            *len = len.saturating_sub(uneven);
        }
        Ok(())
    }

    /// Reads a tail whose file is not on disk into memory; with `any`, reads every tail, so that its bytes can be
    /// captured.
    fn load_strange(&mut self, any: bool) -> Result<(), Errno> {
        if let Tail::File { file, offset, len } = &self.message.tail
            && (any || disk_file(&self.message.tail).is_none())
        {
            let mut bytes = vec![0; *len];
            file.read_at(*offset, &mut bytes).map_err(|_| Errno::IO)?;
            self.message.tail = Tail::Bytes(bytes);
        }
        Ok(())
    }
}

/// The descriptor and offset of a tail that is in a file on disk.
fn disk_file(tail: &Tail) -> Option<(&OwnedFd, u64)> {
    match tail {
        Tail::File { file, offset, .. } => {
            let file = file.as_any().downcast_ref::<DiskFile>()?;
            Some((file.fd(), *offset))
        }
        Tail::None | Tail::Bytes(_) => None,
    }
}

/// Sends from the page cache, or zeros where the file has ended: the reply announced the length. A read error ends the
/// connection: the reply header is already sent, so no status can report it.
fn send_file(socket: &Socket, fd: &OwnedFd, offset: u64, len: usize) -> Result<usize, Errno> {
    match socket.send_file(fd, offset, len) {
        Ok(Some(sent)) => Ok(sent),
        Ok(None) => send_zeros(socket, len),
        Err(Errno::INVAL | Errno::NOSYS) => send_read(socket, fd, offset, len),
        Err(other) => Err(other),
    }
}

/// For file systems that do not support `sendfile`.
fn send_read(socket: &Socket, fd: &OwnedFd, offset: u64, len: usize) -> Result<usize, Errno> {
    let mut bytes = vec![0; len.min(64 * 1024)];
    let read = rustix::io::pread(fd, &mut *bytes, offset)?;
    match bytes.get(..read) {
        None | Some([]) => send_zeros(socket, len),
        Some(bytes) => socket.send(&[IoSlice::new(bytes)], len > bytes.len()),
    }
}

fn send_zeros(socket: &Socket, len: usize) -> Result<usize, Errno> {
    let zeros = ZEROS.get(..len).unwrap_or(&ZEROS);
    socket.send(&[IoSlice::new(zeros)], len > zeros.len())
}
