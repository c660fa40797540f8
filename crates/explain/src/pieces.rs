//! A capture that arrives in pieces, where the program may not wait for more.

use std::io::{self, ErrorKind, Read};

use coax_capture::Reader;

use crate::{Analyser, Error, report::Capture};

/// A capture's format must show in its first bytes; they are collected before the reader begins.
const FIRST: usize = 1 << 16;

/// Explains a capture of which one piece after the other is handed over. It uses as much memory as [`crate::explain`], and one
/// piece.
#[derive(Debug, Default)]
pub struct Pieces {
    analyser: Analyser,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Too few bytes to recognise the format.
    Beginning(Feed),
    Reading(Box<Reader<Feed>>),
}

impl Default for State {
    fn default() -> Self {
        Self::Beginning(Feed::default())
    }
}

/// Bytes that have arrived and were not read yet.
#[derive(Debug, Default)]
struct Feed {
    bytes: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Feed {
    /// A piece is as long as the caller likes, so it is not copied if all before it was read.
    fn push(&mut self, piece: Vec<u8>) {
        if self.at >= self.bytes.len() {
            self.bytes = piece;
        } else {
            self.bytes.drain(..self.at);
            self.bytes.extend_from_slice(&piece);
        }
        self.at = 0;
    }
}

impl Read for Feed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.is_empty() && !self.ended {
            return Err(ErrorKind::WouldBlock.into());
        }
        let len = rest.read(into)?;
        self.at += len;
        Ok(len)
    }
}

impl Pieces {
    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// As [`crate::explain`]; the rest of the file is of no use then.
    pub fn push(&mut self, piece: Vec<u8>) -> Result<(), Error> {
        match &mut self.state {
            State::Beginning(feed) => {
                feed.push(piece);
                if feed.bytes.len() < FIRST {
                    return Ok(());
                }
                self.begin()?;
            }
            State::Reading(reader) => reader.source().push(piece),
        }
        self.read_on()
    }

    /// The analysis, after the last piece.
    ///
    /// # Errors
    /// As [`crate::explain`].
    pub fn finish(mut self) -> Result<Capture, Error> {
        match &mut self.state {
            State::Beginning(feed) => {
                feed.ended = true;
                self.begin()?;
            }
            State::Reading(reader) => reader.source().ended = true,
        }
        self.read_on()?;
        Ok(self.analyser.finish())
    }

    fn begin(&mut self) -> Result<(), Error> {
        if let State::Beginning(feed) = &mut self.state {
            let reader = Reader::new(std::mem::take(feed))?;
            self.state = State::Reading(Box::new(reader));
        }
        Ok(())
    }

    fn read_on(&mut self) -> Result<(), Error> {
        let State::Reading(reader) = &mut self.state else {
            return Ok(());
        };
        match self.analyser.read_on(reader) {
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            done => done,
        }
    }
}
