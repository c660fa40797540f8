//! What a reply answers: its layout depends on the request.

use coax_wire::header::{Header, Mid, Pid};

use crate::{layout::Direction, recent::Recent};

/// What a request asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The function of a transaction.
    pub(crate) function: Option<u16>,
    /// The information level and its family.
    pub(crate) level: Option<(&'static str, u16)>,
    /// Entries of a listing have resume keys.
    pub(crate) resume_keys: bool,
    /// The name of a transaction.
    pub(crate) name: String,
}

/// Requests that are remembered.
const MAX_REQUESTS: usize = 1024;

/// The requests of one connection, so that replies can be decoded. It remembers the last 1,024.
#[derive(Debug)]
pub struct Context {
    requests: Recent<(Pid, Mid), Asked>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            requests: Recent::new(MAX_REQUESTS),
        }
    }
}

impl Context {
    /// What the message is about: of a request nothing is known yet.
    pub(crate) fn asked(&self, header: &Header, direction: Direction) -> Asked {
        let answered = self.requests.get(&(header.pid, header.mid));
        match direction {
            Direction::Request => Asked::default(),
            Direction::Response => answered.cloned().unwrap_or_default(),
        }
    }

    /// Remembers a request.
    pub(crate) fn remember(&mut self, header: &Header, asked: Asked) {
        let key = (header.pid, header.mid);
        if asked == Asked::default() {
            self.requests.remove(&key);
        } else {
            *self.requests.of(key, Asked::default) = asked;
        }
    }
}
