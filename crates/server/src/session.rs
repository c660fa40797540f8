//! Sessions of one connection, and the connection's signing.

use alloc::{boxed::Box, collections::BTreeMap, string::String};
use coax_logon::{
    signing::{FIRST_REPLY, ServerSequence, Signer},
    spnego::Acceptor,
};
use coax_wire::header::Uid;

/// Identifies a session permanently; a UID may be reused or pass to another user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionId(u64);

/// A logged-on session.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its identifier.
    pub id: SessionId,
    /// User name; `None` for a guest.
    pub user: Option<String>,
}

impl Session {
    /// Whether this is a guest.
    pub fn is_guest(&self) -> bool {
        self.user.is_none()
    }
}

/// The sessions of a connection.
#[derive(Debug, Default)]
pub struct SessionTable {
    sessions: BTreeMap<u16, Session>,
    implied: Option<Session>,
    /// Incomplete log-ons in several steps.
    pending: BTreeMap<u16, Box<Acceptor>>,
    next: u16,
    /// Number of sessions so far.
    established: u64,
}

impl SessionTable {
    /// The session of `uid`. Clients without session set-up share one implicit guest session, whatever UID they send
    /// (core clients send 0, [MS-CIFS] 3.3.5.2; DOS redirectors send leftover bytes).
    pub fn find(&self, uid: Uid) -> Option<&Session> {
        self.sessions.get(&uid.0).or(if self.sessions.is_empty() {
            self.implied.as_ref()
        } else {
            None
        })
    }

    /// Adds a session; fails if all UIDs up to `limit` are in use.
    pub fn add(&mut self, limit: usize, user: Option<String>) -> Option<Uid> {
        let uid = self.free_uid(limit)?;
        self.establish(uid, user);
        Some(uid)
    }

    /// Adds a session under the UID of a log-on in several steps. Returns the earlier session of that UID, if there is
    /// one.
    pub fn establish(&mut self, uid: Uid, user: Option<String>) -> Option<Session> {
        let session = self.make(user);
        self.sessions.insert(uid.0, session)
    }

    /// The sessions of users with an account.
    pub fn users(&self) -> impl Iterator<Item = (Uid, &str)> {
        let sessions = self.sessions.iter();
        sessions.filter_map(|(uid, session)| Some((Uid(*uid), session.user.as_deref()?)))
    }

    /// All sessions, with the implicit one of a client without session set-up under UID 0.
    pub fn all(&self) -> impl Iterator<Item = (Uid, Session)> {
        let implied = self.implied.iter().map(|session| (0, session));
        let sessions = self.sessions.iter().map(|(uid, session)| (*uid, session));
        let implied = implied.filter(|_| self.sessions.is_empty());
        implied
            .chain(sessions)
            .map(|(uid, session)| (Uid(uid), session.clone()))
    }

    fn make(&mut self, user: Option<String>) -> Session {
        self.established = self.established.wrapping_add(1);
        let id = SessionId(self.established);
        Session { id, user }
    }

    /// Creates the guest session of a client without session set-up.
    pub fn imply_guest(&mut self) {
        if self.implied.is_none() {
            self.implied = Some(self.make(None));
        }
    }

    /// Whether `uid` is a session from a session set-up.
    pub fn is_logged_on(&self, uid: Uid) -> bool {
        self.sessions.contains_key(&uid.0)
    }

    /// Removes a session.
    pub fn remove(&mut self, uid: Uid) -> Option<Session> {
        self.sessions.remove(&uid.0)
    }

    /// Whether there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Sessions and log-ons in progress.
    pub fn len(&self) -> usize {
        self.sessions.len().saturating_add(self.pending.len())
    }

    /// Begins or continues a log-on in several steps, under `uid` if it belongs to the client, else under a new one;
    /// `None` if `limit` are in use.
    pub fn suspend(&mut self, limit: usize, uid: Option<Uid>, logon: Box<Acceptor>) -> Option<Uid> {
        let uid = match uid {
            Some(uid) => uid,
            None => self.free_uid(limit)?,
        };
        self.pending.insert(uid.0, logon);
        Some(uid)
    }

    /// Removes and returns the log-on in progress under `uid`.
    pub fn take_pending(&mut self, uid: Uid) -> Option<Box<Acceptor>> {
        self.pending.remove(&uid.0)
    }

    fn free_uid(&mut self, limit: usize) -> Option<Uid> {
        if self.sessions.len().saturating_add(self.pending.len()) >= limit.min(60_000) {
            return None;
        }
        loop {
            self.next = if self.next == 0 || self.next >= 0xfffe {
                100
            } else {
                self.next.wrapping_add(1)
            };
            if !self.sessions.contains_key(&self.next) && !self.pending.contains_key(&self.next) {
                return Some(Uid(self.next));
            }
        }
    }
}

/// The connection's signing: off until a log-on supplies a key.
#[derive(Debug, Default)]
pub struct Signing {
    active: Option<Active>,
}

#[derive(Debug)]
struct Active {
    signer: Signer,
    sequence: ServerSequence,
    /// The reply to the log-on that enabled signing is not signed yet.
    fresh: bool,
}

/// A request's sequence number, which all its replies carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignedRequest {
    reply_number: Option<u32>,
}

impl Signing {
    /// Whether messages are signed.
    pub fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Enables signing if it is off: the first log-on with a key decides for the whole connection.
    pub fn activate(&mut self, signer: Signer) {
        self.active.get_or_insert_with(|| Active {
            signer,
            sequence: ServerSequence::default(),
            fresh: true,
        });
    }

    /// Assigns a request its sequence number and checks its signature.
    pub fn receive(&mut self, command: u8, message: &[u8]) -> (SignedRequest, bool) {
        let Some(active) = &mut self.active else {
            return (SignedRequest::default(), true);
        };
        let number = active.sequence.next(command);
        let right = active.signer.verify(number.request(), message).is_ok();
        (
            SignedRequest {
                reply_number: Some(number.reply()),
            },
            right,
        )
    }

    /// The sequence number for signing a reply, if it is to be signed.
    pub fn number_for(&mut self, request: SignedRequest) -> Option<u32> {
        let active = self.active.as_mut()?;
        if request.reply_number.is_none() && core::mem::take(&mut active.fresh) {
            return Some(FIRST_REPLY);
        }
        request.reply_number
    }

    /// Signs a message in place.
    pub fn sign(&self, number: u32, message: &mut [u8]) {
        if let Some(active) = &self.active {
            // Every message begins with a whole header, which contains the signature field.
            let _ = active.signer.sign(number, message);
        }
    }
}
