//! Receiving: the peer's frames in each state.

use coax_wire::llc::{Control, FrameReject, Pdu, Supervisory, Unnumbered};
use coax_wire::time::Time;

use super::config::{LinkEnd, LinkEvent};
use super::{HALF, Link, State, after, distance};

impl Link {
    /// The peer sent this at `now`. Take events and frames next.
    pub fn handle_pdu(&mut self, now: Time, pdu: &Pdu<'_>) {
        self.idle_due = now + self.config.inactivity;
        match pdu.control {
            Control::Unnumbered { kind, pf } => self.unnumbered(now, kind, pf, pdu),
            Control::Information { .. } | Control::Supervisory { .. } if !self.is_linked() => {
                self.without_link(pdu);
            }
            Control::Supervisory { kind, nr, pf } => {
                if !self.acknowledged(now, nr) {
                    return self.reject(now, pdu, FrameReject::BAD_NR);
                }
                if !pdu.info.is_empty() {
                    return self.reject(now, pdu, FrameReject::INFORMATION);
                }
                self.supervisory(now, kind, pf, pdu.response);
                self.pump(now);
            }
            Control::Information { ns, nr, pf } => {
                if !self.acknowledged(now, nr) {
                    return self.reject(now, pdu, FrameReject::BAD_NR);
                }
                if pdu.info.len() > self.config.max_info {
                    return self.reject(now, pdu, FrameReject::TOO_LONG);
                }
                if pdu.response && pf {
                    self.poll_answered(now);
                }
                self.information(now, ns, pf && !pdu.response, pdu.info);
                self.pump(now);
            }
        }
    }

    fn is_linked(&self) -> bool {
        matches!(self.state, State::Opening | State::Open)
    }

    /// A command of a link that does not exist.
    fn without_link(&mut self, pdu: &Pdu<'_>) {
        let (Control::Information { pf, .. } | Control::Supervisory { pf, .. }) = pdu.control
        else {
            return;
        };
        if pf && !pdu.response && matches!(self.state, State::Closed | State::Disconnecting) {
            self.send_unnumbered(true, Unnumbered::Dm, true, &[]);
        }
    }

    fn supervisory(&mut self, now: Time, kind: Supervisory, pf: bool, response: bool) {
        self.remote_busy = kind == Supervisory::Rnr;
        if kind == Supervisory::Rej {
            self.go_back();
        }
        if response && pf {
            self.poll_answered(now);
        }
        if !response && pf {
            self.send_supervisory(true, self.readiness(), true);
        }
        if self.remote_busy && self.reply_due.is_none() {
            self.restart_reply(now);
        }
    }

    fn information(&mut self, now: Time, ns: u8, poll: bool, info: &[u8]) {
        if self.local_busy {
            self.count_discarded();
            return self.send_supervisory(true, Supervisory::Rnr, poll);
        }
        if ns == self.vr {
            self.vr = after(self.vr, 1);
            (self.rejecting, self.rejects) = (None, 0);
            self.counters.received = self.counters.received.saturating_add(1);
            self.events.push_back(LinkEvent::Data(info.to_vec()));
            return self.accepted(now, poll);
        }
        self.count_discarded();
        let is_duplicate = distance(ns, self.vr) < HALF;
        if is_duplicate || self.rejecting.is_some() {
            // After a gap the peer was told already; only a poll must be answered.
            if is_duplicate || poll {
                self.send_supervisory(true, Supervisory::Rr, poll);
            }
            return;
        }
        self.rejecting = Some(self.next_reject(now));
        self.send_supervisory(true, Supervisory::Rej, poll);
    }

    fn accepted(&mut self, now: Time, poll: bool) {
        if poll {
            return self.send_supervisory(true, Supervisory::Rr, true);
        }
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        if self.unacknowledged >= self.config.acknowledge_every {
            self.acknowledge = true;
        } else {
            self.delay_due.get_or_insert(now + self.config.delay);
        }
    }

    fn unnumbered(&mut self, now: Time, kind: Unnumbered, pf: bool, pdu: &Pdu<'_>) {
        match (kind, pdu.response) {
            (Unnumbered::Sabme, false) => self.opened_by_peer(now, pf),
            (Unnumbered::Disc, false) => self.closed_by_peer(now, pf),
            (Unnumbered::Ua, true) => match self.state {
                State::Connecting if pf => {
                    self.reset_variables(now);
                    self.state = State::Opening;
                    self.send_poll(now);
                }
                State::Disconnecting => self.end(now, LinkEnd::Local),
                _ => {}
            },
            (Unnumbered::Dm, true) => match self.state {
                State::Closed => {}
                State::Connecting => self.end(now, LinkEnd::Refused),
                State::Disconnecting => self.end(now, LinkEnd::Local),
                State::Opening | State::Open => self.end(now, LinkEnd::Peer),
            },
            (Unnumbered::Frmr, true) if self.is_linked() => self.end(now, LinkEnd::Protocol),
            _ => {}
        }
    }

    fn opened_by_peer(&mut self, now: Time, pf: bool) {
        let is_fresh = self.high == 0 && self.vr == 0 && self.queue.is_empty();
        match self.state {
            State::Disconnecting => {
                return self.send_unnumbered(true, Unnumbered::Dm, pf, &[]);
            }
            // The peer's own UA was lost: the link exists already.
            State::Open if is_fresh => {}
            State::Open => {
                self.reset_variables(now);
                self.events.push_back(LinkEvent::Reset);
            }
            State::Closed | State::Connecting | State::Opening => {
                self.reset_variables(now);
                self.state = State::Open;
                self.events.push_back(LinkEvent::Established);
            }
        }
        self.send_unnumbered(true, Unnumbered::Ua, pf, &[]);
    }

    fn closed_by_peer(&mut self, now: Time, pf: bool) {
        let kind = match self.state {
            State::Closed => Unnumbered::Dm,
            _ => Unnumbered::Ua,
        };
        self.send_unnumbered(true, kind, pf, &[]);
        match self.state {
            State::Closed => {}
            State::Disconnecting => self.end(now, LinkEnd::Local),
            _ => self.end(now, LinkEnd::Peer),
        }
    }

    /// The peer broke the protocol: it is told, and the link ends.
    fn reject(&mut self, now: Time, pdu: &Pdu<'_>, reasons: u8) {
        let reject = FrameReject {
            rejected: pdu.control.emit().0,
            vs: self.vs,
            vr: self.vr,
            response: pdu.response,
            reasons,
        };
        let (Control::Information { pf, .. } | Control::Supervisory { pf, .. }) = pdu.control
        else {
            return;
        };
        let is_final = pf && !pdu.response;
        self.send_unnumbered(true, Unnumbered::Frmr, is_final, &reject.emit());
        self.end(now, LinkEnd::Protocol);
    }

    fn count_discarded(&mut self) {
        self.counters.discarded = self.counters.discarded.saturating_add(1);
    }
}
