//! One other station: the link to it, and what waits to go over it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::llc::SAP_NETBIOS;
use coax_wire::time::Time;

use crate::llc::Link;

use super::config::{NbfConfig, SessionId};

/// The link tells its peer to wait while more frames than this wait to go out.
const CROWDED: usize = 64;

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) link: Link,
    /// Frames of sessions other than data, and whether each polls.
    control: VecDeque<(Vec<u8>, bool)>,
    /// Sessions with something to send, in turn.
    pub(super) ready: VecDeque<SessionId>,
    /// Sessions of this link, those that are being opened included.
    pub(super) sessions: usize,
    /// The number of the next session.
    pub(super) next_number: u8,
    /// When a link without sessions is closed.
    pub(super) close_due: Option<Time>,
    /// When an idle link carries SESSION ALIVE.
    pub(super) alive_due: Time,
}

impl Peer {
    pub(super) fn new(now: Time, config: &NbfConfig, remote: Mac) -> Self {
        Self {
            link: Link::new(now, config.mac, remote, SAP_NETBIOS, config.link),
            control: VecDeque::new(),
            ready: VecDeque::new(),
            sessions: 0,
            next_number: config.first_session,
            close_due: Some(now + config.open_timeout),
            alive_due: now + config.alive,
        }
    }

    /// Queues a frame that is not data.
    pub(super) fn push(&mut self, info: &[u8], poll: bool) {
        self.control.push_back((info.to_vec(), poll));
    }

    /// Lets a session send when its turn comes.
    pub(super) fn wake(&mut self, session: SessionId) {
        if !self.ready.contains(&session) {
            self.ready.push_back(session);
        }
    }

    /// Hands control frames to the link while it has room.
    pub(super) fn flush_control(&mut self, now: Time) {
        while self.link.room() > 0 {
            let Some((info, poll)) = self.control.pop_front() else {
                break;
            };
            self.link.send(now, info, poll);
        }
        // A peer that does not take our frames must not fill our memory with answers to its own.
        if self.control.len() > CROWDED {
            self.link.set_busy(true);
        } else if self.control.is_empty() {
            self.link.set_busy(false);
        }
    }

    /// Whether nothing waits, and everything sent is acknowledged.
    pub(super) fn is_quiet(&self) -> bool {
        self.control.is_empty() && self.link.is_idle()
    }
}
