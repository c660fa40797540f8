//! What connection tracking says of a packet.

use super::{Packet, Turn, holds::Match};

/// What the rules that a packet passed told connection tracking.
#[derive(Clone, Copy)]
pub(super) struct Tracking {
    /// The packet is untracked.
    pub(super) untracked: Match,
    /// The packet that this one replies to was untracked.
    pub(super) request_untracked: Match,
}

impl Tracking {
    /// A rule says `notrack`. It has no effect once the kernel has looked up the connection.
    pub(super) fn untrack(&mut self, turn: Turn, sure: bool) {
        let now = match turn {
            Turn::BeforeTracking(_) if sure => Match::Yes,
            Turn::BeforeTracking(_) | Turn::WithTracking => Match::Perhaps,
            Turn::AfterTracking => Match::No,
        };
        self.untracked = self.untracked.max(now);
    }

    /// The states that the packet may have in a chain.
    pub(super) fn states(self, packet: &Packet<'_>, turn: Turn) -> Vec<&'static str> {
        let mut states = Vec::new();
        if self.untracked != Match::No {
            states.push("untracked");
        }
        if self.untracked != Match::Yes {
            // A packet without a connection that is not `untracked` is `invalid` to both nftables and iptables.
            if turn != Turn::AfterTracking {
                states.push("invalid");
            }
            if !matches!(turn, Turn::BeforeTracking(_)) {
                states.extend(self.tracked(packet));
            }
        }
        states
    }

    /// The states of a packet whose connection the kernel looks up. Announcements at UDP 138 reply to nothing.
    fn tracked(self, packet: &Packet<'_>) -> Vec<&'static str> {
        if !packet.reply || (packet.protocol, packet.port) == ("udp", 138) {
            return vec!["new"];
        }
        // A reply to an untracked packet begins a connection. TCP begins none with SYN and ACK.
        let alone = match packet.protocol {
            "tcp" => "invalid",
            _ => "new",
        };
        match self.request_untracked {
            Match::No => vec!["established"],
            Match::Perhaps => vec!["established", alone],
            Match::Yes => vec![alone],
        }
    }
}
