//! The states in which the server can be, as far as the answers and the disks tell.

use super::{
    Handle, Lock, Moment, Open, State,
    terms::{Check, Place, require},
};
use crate::{
    disk::Listing,
    op::{Oplock, Request},
    reply::Reply,
};

/// The model: all candidate states. There is one, except after a request that failed half-way.
///
/// Each event is judged in every candidate. A candidate that does not allow it is dropped. If none allows it, the server
/// has violated a rule, and the message is that of the first candidate: the one in which no failed request had an effect.
#[derive(Debug)]
pub struct Model {
    states: Vec<State>,
}

/// The maximum number of candidates. A pattern matches at most five files, and two changes may fail half-way in a step.
const MAX_CANDIDATES: usize = 4_096;
/// From here on it pays to compare them.
const MANY_CANDIDATES: usize = 256;

impl Model {
    /// A server with these limits and empty shares.
    #[must_use]
    pub fn new(max_opens: usize, break_timeout: u64) -> Self {
        Self {
            states: vec![State::new(max_opens, break_timeout)],
        }
    }

    /// The first candidate. What clients know is the same in all of them.
    fn first(&self) -> &State {
        &self.states[0]
    }

    fn each(&mut self, mut work: impl FnMut(&mut State) -> Check) -> Check {
        let mut wrong = None;
        let mut left = Vec::new();
        for mut state in self.states.drain(..) {
            match work(&mut state) {
                Ok(()) => left.push(state),
                Err(what) => wrong = wrong.or(Some((what, state))),
            }
        }
        self.states = left;
        match wrong.filter(|_| self.states.is_empty()) {
            Some((what, state)) => {
                self.states.push(state);
                Err(what)
            }
            None => self.branch(),
        }
    }

    /// Adds the candidates in which the failed request had an effect.
    fn branch(&mut self) -> Check {
        let mut all = Vec::new();
        for mut state in self.states.drain(..) {
            let possible = std::mem::take(&mut state.possible);
            let mut branches = vec![state];
            for effect in possible {
                let with = branches.iter().filter_map(|state| state.after(&effect));
                let with: Vec<State> = with.collect();
                branches.extend(with);
            }
            all.extend(branches);
        }
        self.states = all;
        self.limit()
    }

    /// Adds the candidates in which more of several opens are closed.
    fn close_some(&mut self, at: Moment<'_>) -> Check {
        let mut all = self.states.clone();
        self.states.retain_mut(|state| state.close_next(at));
        while !self.states.is_empty() {
            self.branch()?;
            all.extend(self.states.iter().cloned());
            self.states.retain_mut(|state| state.close_next(at));
        }
        self.states = all;
        self.limit()
    }

    /// Closes the rest of several opens.
    ///
    /// # Errors
    /// More candidate states than the model follows.
    pub fn close_rest(&mut self, at: Moment<'_>) -> Check {
        let mut unfinished = true;
        while unfinished {
            let closed = self.states.iter_mut().map(|state| state.close_next(at));
            unfinished = closed.fold(false, |any, closed| any | closed);
            self.branch()?;
        }
        Ok(())
    }

    /// Merges candidates that have become equal, when there are many, and checks that the rest can be followed.
    fn limit(&mut self) -> Check {
        if self.states.len() > MANY_CANDIDATES {
            let mut different: Vec<State> = Vec::new();
            for state in self.states.drain(..) {
                if !different.contains(&state) {
                    different.push(state);
                }
            }
            self.states = different;
        }
        require(
            self.states.len() <= MAX_CANDIDATES,
            "more candidate states than the model follows",
        )
    }

    fn for_all(&mut self, work: impl FnMut(&mut State)) {
        self.states.iter_mut().for_each(work);
    }

    /// Creates a file (or folder: `None`).
    pub fn put(&mut self, place: &Place, bytes: Option<&[u8]>) {
        self.for_all(|state| state.put(place.clone(), bytes.map(<[u8]>::to_vec)));
    }

    /// Judges an answer: checks that the model allows it, and applies it.
    ///
    /// # Errors
    /// The rule that the answer violates.
    pub fn judge(&mut self, request: &Request, reply: &Reply, at: Moment<'_>) -> Check {
        self.close_some(at)?;
        self.each(|state| state.judge(request, reply, at))
    }

    /// Notes that the server has received the data of a raw write without a final answer.
    ///
    /// # Errors
    /// The violated rule.
    pub fn raw_data_taken(&mut self, request: &Request, at: Moment<'_>) -> Check {
        self.each(|state| state.raw_data_taken(request, at))
    }

    /// Removes a connection and everything it held.
    ///
    /// # Errors
    /// More candidate states than the model follows.
    pub fn disconnected(&mut self, client: usize, at: Moment<'_>) -> Check {
        self.for_all(|state| state.disconnected(client));
        self.close_rest(at)
    }

    /// Handles an oplock break that the server sent to a client.
    ///
    /// # Errors
    /// If there was none to break.
    pub fn break_told(&mut self, handle: Handle, to: Oplock, now: u64) -> Check {
        self.each(|state| state.break_told(handle, to, now))
    }

    /// Handles a client's acknowledgement of a break at the server.
    pub fn break_acknowledged(&mut self, request: &Request, fid: u16, level: Oplock) {
        self.for_all(|state| state.break_acknowledged(request, fid, level));
    }

    /// Notes that the server keeps a notification request: from now on the folder is watched.
    pub fn watched(&mut self, request: &Request) {
        self.for_all(|state| state.watched(request));
    }

    /// Ends oplocks whose holders timed out.
    pub fn expire(&mut self, now: u64) {
        self.for_all(|state| state.expire(now));
    }

    /// Checks the invariants after every connection has handled its events.
    ///
    /// # Errors
    /// A missed notification or break.
    pub fn settled(&mut self, pending: &[Request]) -> Check {
        self.each(|state| state.settled(pending))
    }

    /// Compares a share's disk with the acknowledged operations.
    ///
    /// # Errors
    /// The first difference.
    pub fn audit(&mut self, share: usize, disk: &Listing) -> Check {
        self.each(|state| state.audit(share, disk))
    }

    /// Ends the step: half-done changes that the disk does not show did not happen.
    pub fn end_step(&mut self) {
        self.for_all(State::end_step);
    }

    /// Notes that the client has cached a write, or has written its cached data.
    pub fn set_dirty(&mut self, handle: Handle, dirty: bool) {
        self.for_all(|state| state.set_dirty(handle, dirty));
    }

    /// Whether the client may use its cache of an open: it has the oplock as far as it knows.
    #[must_use]
    pub fn may_cache(&self, handle: Handle) -> bool {
        self.first().may_cache(handle)
    }

    /// The contents of the file behind a FID.
    #[must_use]
    pub fn contents(&self, handle: Handle) -> Option<&[u8]> {
        self.first().contents(handle)
    }

    /// An open.
    #[must_use]
    pub fn open(&self, handle: Handle) -> Option<&Open> {
        self.first().open(handle)
    }

    /// The number of open files of a client.
    #[must_use]
    pub fn open_count(&self, client: usize) -> usize {
        self.first().open_count(client)
    }

    /// The locks of a client.
    pub fn locks_of(&self, client: usize) -> impl Iterator<Item = &Lock> {
        self.first().locks_of(client)
    }

    /// The number of files and folders on a share, including its root.
    #[must_use]
    pub fn objects(&self, share: usize) -> usize {
        self.first().objects(share)
    }
}
