//! Elections of the local master browser ([MS-BRWS] 3.3.5.8, 3.3.6).

use core::cmp::Ordering;

use coax_wire::browser::{self, BrowserMessage, ELECTION_VERSION, criteria};
use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

use super::super::state::{Criterion, Election, ElectionReason, Role, Search};
use super::super::types::{BrowserEvent, SUFFIX_ELECTION, master_names};
use super::Browser;

/// Requests without a better answer that win an election.
const REQUESTS: u8 = 4;
/// Time between two requests of a candidate.
const REQUEST_INTERVAL: Span = Span::from_secs(1);
/// Wait of a master browser before it takes part; others wait longer, so that the best speaks first.
const MASTER_WAIT_MS: (u64, u64) = (100, 100);
/// Wait of a backup browser.
const BACKUP_WAIT_MS: (u64, u64) = (200, 600);
/// Wait of a potential browser.
const POTENTIAL_WAIT_MS: (u64, u64) = (800, 3000);
/// How long the name of the master browser may take to be registered.
const NAME_PATIENCE: Span = Span::from_secs(10);
/// Middle bytes of the criteria: version 15.1 of the protocol.
const CRITERIA_VERSION: u32 = 0x010f;

impl<A: Copy + Eq> Browser<A> {
    /// Begins an election at once.
    pub(super) fn call_election(&mut self, now: Time, reason: ElectionReason) {
        if !self.config.local_master || matches!(self.election, Election::Registering { .. }) {
            return;
        }
        self.tell(BrowserEvent::Role {
            role: self.role,
            reason,
        });
        self.election = Election::Running { sent: 0, due: now };
    }

    /// Another machine is a candidate, or asks for an election.
    pub(super) fn handle_election(&mut self, now: Time, heard: &browser::Election) {
        if !self.config.local_master {
            return;
        }
        let name = NbName::new(&heard.name, 0).unwrap_or(self.config.computer);
        let ours = self.candidacy(now);
        let Some(by) = worse_by(&ours, heard) else {
            return self.stand(now, name);
        };
        let was_part = self.election != Election::Idle || self.role == Role::Master;
        self.election = Election::Idle;
        let reason = ElectionReason::Lost { to: name, by };
        if self.role == Role::Master {
            self.become_potential(reason);
        } else if was_part {
            let role = self.role;
            self.tell(BrowserEvent::Role { role, reason });
        }
        // Whoever won announces itself; if nobody does, we look for it.
        self.search = Search::later(now);
    }

    /// We are better: answers after a wait that depends on the role, unless that is planned already.
    fn stand(&mut self, now: Time, caller: NbName) {
        match self.election {
            // Our next request is under way; the other one hears it.
            Election::Running { .. } | Election::Registering { .. } => {}
            Election::Idle => {
                let (low, high) = match self.role {
                    Role::Master => MASTER_WAIT_MS,
                    Role::Backup => BACKUP_WAIT_MS,
                    Role::Potential | Role::Server => POTENTIAL_WAIT_MS,
                };
                let due = now + self.random_ms(low, high);
                self.election = Election::Running { sent: 0, due };
                let role = self.role;
                let reason = ElectionReason::Called(caller);
                self.tell(BrowserEvent::Role { role, reason });
            }
        }
    }

    pub(super) fn step_election(&mut self, now: Time) {
        match self.election {
            Election::Running { sent, due } if due <= now => {
                if sent >= REQUESTS {
                    return self.win(now);
                }
                self.election = Election::Running {
                    sent: sent.saturating_add(1),
                    due: now + REQUEST_INTERVAL,
                };
                let request = BrowserMessage::Election(self.candidacy(now));
                let browsers = self.config.workgroup.with_suffix(SUFFIX_ELECTION);
                self.broadcast(browsers, true, &request);
            }
            Election::Registering { due } if due <= now => {
                self.election = Election::Idle;
                self.become_potential(ElectionReason::NameRefused);
                self.search = Search::later(now);
            }
            _ => {}
        }
    }

    /// Nobody was better.
    fn win(&mut self, now: Time) {
        if self.role == Role::Master {
            self.election = Election::Idle;
            let role = self.role;
            let reason = ElectionReason::Won;
            return self.tell(BrowserEvent::Role { role, reason });
        }
        self.election = Election::Registering {
            due: now + NAME_PATIENCE,
        };
        for name in master_names(self.config.workgroup) {
            self.tell(BrowserEvent::Register(name));
        }
    }

    /// The name of the master browser is ours, or another machine's.
    pub(super) fn handle_master_name(&mut self, now: Time, registered: bool) {
        if !registered {
            self.election = Election::Idle;
            self.become_potential(ElectionReason::NameRefused);
            self.search = Search::later(now);
            return;
        }
        if matches!(self.election, Election::Registering { .. }) {
            self.election = Election::Idle;
            self.become_master(now);
        }
    }

    pub(super) fn become_potential(&mut self, reason: ElectionReason) {
        self.release_master_names();
        self.leave_domain();
        self.role = Role::Potential;
        let role = self.role;
        self.tell(BrowserEvent::Role { role, reason });
    }

    pub(super) fn release_master_names(&mut self) {
        for own in master_names(self.config.workgroup) {
            self.tell(BrowserEvent::Release(own.name));
        }
    }

    /// Asks others to hold an election without us: version and criteria 0.
    pub(super) fn send_election_call(&mut self) {
        let call = BrowserMessage::Election(browser::Election {
            version: 0,
            criteria: 0,
            uptime_ms: 0,
            name: self.config.computer.characters().to_vec(),
        });
        let browsers = self.config.workgroup.with_suffix(SUFFIX_ELECTION);
        self.broadcast(browsers, true, &call);
    }

    fn candidacy(&self, now: Time) -> browser::Election {
        let mut role = match self.role {
            Role::Server | Role::Potential => 0,
            Role::Backup => criteria::BACKUP | criteria::STANDBY,
            Role::Master => criteria::MASTER | criteria::STANDBY,
        };
        if self.config.preferred_master {
            role |= criteria::PREFERRED;
        }
        if self.config.domain_master {
            role |= criteria::DOMAIN_CONTROLLER;
        }
        if self.config.wins {
            role |= criteria::WINS;
        }
        let level = u32::from(self.config.os_level) << 24;
        browser::Election {
            version: ELECTION_VERSION,
            criteria: level | (CRITERIA_VERSION << 8) | role,
            uptime_ms: u32::try_from((now - self.started).as_millis()).unwrap_or(u32::MAX),
            name: self.config.computer.characters().to_vec(),
        }
    }
}

/// What makes `ours` the worse candidate; `None` if it is the better one.
fn worse_by(ours: &browser::Election, theirs: &browser::Election) -> Option<Criterion> {
    let level = |election: &browser::Election| election.criteria >> 24;
    let steps = [
        (ours.version.cmp(&theirs.version), Criterion::Version),
        (level(ours).cmp(&level(theirs)), Criterion::OsLevel),
        (ours.criteria.cmp(&theirs.criteria), Criterion::Role),
        (ours.uptime_ms.cmp(&theirs.uptime_ms), Criterion::Uptime),
        (
            theirs
                .name
                .to_ascii_uppercase()
                .cmp(&ours.name.to_ascii_uppercase()),
            Criterion::Name,
        ),
    ];
    let decided = steps
        .into_iter()
        .find(|(order, _)| *order != Ordering::Equal);
    decided.and_then(|(order, by)| (order == Ordering::Less).then_some(by))
}
