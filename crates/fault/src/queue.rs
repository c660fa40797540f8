//! What is to be sent, and when.

use alloc::{collections::VecDeque, vec::Vec};

use coax_wire::time::{Span, Time};

/// How a fault ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// FIN.
    Close,
    /// RST.
    Reset,
}

/// What the driver does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Out<T> {
    /// Send this message, framed.
    Unchanged(T),
    /// Send this message, framed.
    Message(Vec<u8>),
    /// Send these bytes as they are.
    Bytes(Vec<u8>),
    /// End the connection.
    End(Ending),
}

/// Something to do at a time.
#[derive(Debug)]
struct Held<T> {
    due: Time,
    out: Out<T>,
    /// Bytes are sent in pieces of this size, with this pause after each.
    pieces: Option<(usize, Span)>,
}

/// Messages to send, in order; each waits for those before it.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    held: VecDeque<Held<T>>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            held: VecDeque::new(),
        }
    }
}

impl<T> Queue<T> {
    pub(crate) fn push(&mut self, due: Time, out: Out<T>) {
        self.held.push_back(Held {
            due,
            out,
            pieces: None,
        });
    }

    pub(crate) fn push_pieces(&mut self, due: Time, bytes: Vec<u8>, pieces: (usize, Span)) {
        self.held.push_back(Held {
            due,
            out: Out::Bytes(bytes),
            pieces: Some(pieces),
        });
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.held.front().map(|held| held.due)
    }

    pub(crate) fn poll(&mut self, now: Time) -> Option<Out<T>> {
        let front = self.held.front_mut().filter(|held| held.due <= now)?;
        if let (Some((size, pause)), Out::Bytes(bytes)) = (front.pieces, &mut front.out)
            && bytes.len() > size
        {
            let rest = bytes.split_off(size);
            front.due = now + pause;
            return Some(Out::Bytes(core::mem::replace(bytes, rest)));
        }
        self.held.pop_front().map(|held| held.out)
    }
}
