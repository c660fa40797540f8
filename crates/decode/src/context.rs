//! What a reply answers: its layout depends on the request.

use std::collections::{HashMap, VecDeque};

use coax_wire::header::{Header, Mid, Pid};

use crate::layout::Direction;

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

/// The requests of one connection, so that replies can be decoded.
///
/// It remembers the last 1,024.
#[derive(Debug, Default)]
pub struct Context {
    requests: HashMap<(Pid, Mid), Asked>,
    order: VecDeque<(Pid, Mid)>,
}

impl Context {
    /// What the message is about: of a request nothing is known yet.
    pub(crate) fn asked(&self, header: &Header, direction: Direction) -> Asked {
        match direction {
            Direction::Request => Asked::default(),
            Direction::Response => self
                .requests
                .get(&(header.pid, header.mid))
                .cloned()
                .unwrap_or_default(),
        }
    }

    /// Remembers a request.
    pub(crate) fn remember(&mut self, header: &Header, asked: Asked) {
        let key = (header.pid, header.mid);
        if asked == Asked::default() {
            self.requests.remove(&key);
            return;
        }
        if self.requests.insert(key, asked).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > MAX_REQUESTS {
            if let Some(oldest) = self.order.pop_front() {
                self.requests.remove(&oldest);
            }
        }
    }
}
