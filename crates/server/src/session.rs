//! Logged-on users of one connection, and the connection's signing.

use alloc::{boxed::Box, collections::BTreeMap, string::String};
use coax_logon::{
    signing::{FIRST_REPLY, ServerSequence, Signer},
    spnego::Acceptor,
};
use coax_wire::header::Uid;

/// Tells a connection's sessions apart for good: a UID may come round, or become another user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionId(u64);

/// A logged-on session.
#[derive(Clone, Debug)]
pub struct Session {
    /// Which.
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
    /// Log-ons in several steps that are not finished.
    pending: BTreeMap<u16, Box<Acceptor>>,
    next: u16,
    /// Sessions there have been.
    established: u64,
}

impl SessionTable {
    /// The session of `uid`. Clients that never set one up share one implied guest session, whatever UID they send
    /// (core clients send 0, [MS-CIFS] 3.3.5.2; DOS redirectors leave what was in the field).
    pub fn find(&self, uid: Uid) -> Option<&Session> {
        self.sessions.get(&uid.0).or(if self.sessions.is_empty() {
            self.implied.as_ref()
        } else {
            None
        })
    }

    /// Adds a session, or says that all UIDs up to `limit` are taken.
    pub fn add(&mut self, limit: usize, user: Option<String>) -> Option<Uid> {
        let uid = self.free_uid(limit)?;
        self.establish(uid, user);
        Some(uid)
    }

    /// Adds a session under a UID that a log-on in several steps was given. The session that had the UID before, if one
    /// did, is given back.
    pub fn establish(&mut self, uid: Uid, user: Option<String>) -> Option<Session> {
        let session = self.make(user);
        self.sessions.insert(uid.0, session)
    }

    fn make(&mut self, user: Option<String>) -> Session {
        self.established = self.established.wrapping_add(1);
        let id = SessionId(self.established);
        Session { id, user }
    }

    /// Lets a client without session set-up in as a guest.
    pub fn imply_guest(&mut self) {
        if self.implied.is_none() {
            self.implied = Some(self.make(None));
        }
    }

    /// Whether `uid` is a session that was set up.
    pub fn is_logged_on(&self, uid: Uid) -> bool {
        self.sessions.contains_key(&uid.0)
    }

    /// Removes a session.
    pub fn remove(&mut self, uid: Uid) -> Option<Session> {
        self.sessions.remove(&uid.0)
    }

    /// Whether nobody is logged on.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Sessions and log-ons in progress.
    pub fn len(&self) -> usize {
        self.sessions.len().saturating_add(self.pending.len())
    }

    /// A log-on in several steps begins or goes on: `uid` if it is the client's already, else a new one; `None` if
    /// `limit` are taken.
    pub fn suspend(&mut self, limit: usize, uid: Option<Uid>, logon: Box<Acceptor>) -> Option<Uid> {
        let uid = match uid {
            Some(uid) => uid,
            None => self.free_uid(limit)?,
        };
        self.pending.insert(uid.0, logon);
        Some(uid)
    }

    /// The log-on in progress under `uid`, taken out.
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

/// The connection's signing: off until a log-on gives it a key.
#[derive(Debug, Default)]
pub struct Signing {
    active: Option<Active>,
}

#[derive(Debug)]
struct Active {
    signer: Signer,
    sequence: ServerSequence,
    /// The reply to the log-on that switched signing on has not been signed yet.
    fresh: bool,
}

/// A request's place in the signing sequence: the number that all its replies carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignedRequest {
    reply_number: Option<u32>,
}

impl Signing {
    /// Whether messages are signed.
    pub fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Switches signing on, if it is not yet: the first log-on with a key decides for the whole connection.
    pub fn activate(&mut self, signer: Signer) {
        self.active.get_or_insert_with(|| Active {
            signer,
            sequence: ServerSequence::default(),
            fresh: true,
        });
    }

    /// Gives a request its place in the sequence, and says whether its signature is right.
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

    /// The number to sign a reply with, if it is to be signed.
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
            // Every message begins with a whole header, so there is room for the signature.
            let _ = active.signer.sign(number, message);
        }
    }
}
