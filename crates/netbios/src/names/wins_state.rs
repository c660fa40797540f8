//! Where a name stands at the WINS server.

use core::net::Ipv4Addr;

use coax_wire::time::Time;

/// Where a name stands at the WINS server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WinsState {
    /// Not registered there, or not yet.
    Idle,
    /// A request is under way.
    Asking {
        what: Ask,
        id: u16,
        sent: u8,
        /// WINS servers that did not answer.
        failed: u8,
        /// Index of the server that is asked.
        server: usize,
        due: Time,
    },
    /// Registered until it has to be refreshed.
    Registered { refresh: Time },
    /// No server answered; `registered` if one had granted the name before.
    Unreachable { registered: bool, retry: Time },
}

/// A request to a WINS server, or on its behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Register,
    /// An END-NODE CHALLENGE: the owner is asked whether it still has the name (RFC 1002 §4.2.7).
    Challenge(Ipv4Addr),
    /// The challenged owner is gone: register without RD, an overwrite.
    Overwrite,
    Refresh,
    Release,
}

impl WinsState {
    pub(super) fn start(now: Time) -> Self {
        Self::ask(Ask::Register, now)
    }

    pub(super) fn ask(what: Ask, now: Time) -> Self {
        Self::Asking {
            what,
            id: 0,
            sent: 0,
            failed: 0,
            server: 0,
            due: now,
        }
    }

    pub(super) fn is_registered(self) -> bool {
        matches!(
            self,
            Self::Registered { .. }
                | Self::Asking {
                    what: Ask::Refresh,
                    ..
                }
                | Self::Unreachable {
                    registered: true,
                    ..
                }
        )
    }

    pub(super) fn is_busy_releasing(self) -> bool {
        matches!(
            self,
            Self::Asking {
                what: Ask::Release,
                ..
            }
        )
    }

    pub(super) fn release(&mut self, now: Time) {
        if !self.is_busy_releasing() {
            *self = match self.is_registered() {
                true => Self::ask(Ask::Release, now),
                false => Self::Idle,
            };
        }
    }

    pub(super) fn due(self) -> Option<Time> {
        match self {
            Self::Asking { due, .. } => Some(due),
            Self::Registered { refresh } => Some(refresh),
            Self::Unreachable { retry, .. } => Some(retry),
            Self::Idle => None,
        }
    }

    pub(super) fn is_answered_by(self, reply_id: u16) -> bool {
        matches!(self, Self::Asking { id, sent, .. } if id == reply_id && sent > 0)
    }
}
