//! Finding the master browser, and being it.

use alloc::vec::Vec;

use coax_wire::browser::{Announcement, BrowserMessage, server_type};
use coax_wire::mailslot::{self, MailslotMessage};
use coax_wire::nbt::name::{NbName, SUFFIX_WORKSTATION};
use coax_wire::time::{Span, Time};

use super::super::state::{Election, ElectionReason, Role, Search};
use super::super::types::{BrowserEvent, SUFFIX_ELECTION, SUFFIX_MASTER};
use super::Browser;
use crate::datagram::{Incoming, Outgoing, Route};

/// Requests for the list of backup browsers before there counts as no master ([MS-BRWS] 3.2.6).
const REQUESTS: u8 = 3;
/// Time between them.
const REQUEST_INTERVAL: Span = Span::from_secs(1);
/// How often a browser that is no master makes sure that there is one: the period of all announcements in the long run.
const CHECK_INTERVAL: Span = Span::from_secs(12 * 60);
/// How often a master browser looks whether there are enough backup browsers.
const BACKUP_CHECK: Span = Span::from_secs(15 * 60);
/// Bit of a reset: stop being the master browser.
const RESET_MASTER: u8 = 0x01;
/// Bit of a reset: forget the list.
const RESET_LISTS: u8 = 0x02;

impl<A: Copy + Eq> Browser<A> {
    pub(super) fn step_search(&mut self, now: Time) {
        if self.role == Role::Master || self.search.due.is_none_or(|due| due > now) {
            return;
        }
        if self.election != Election::Idle {
            self.search = Search::later(now);
            return;
        }
        if self.search.sent >= REQUESTS {
            self.search = Search::later(now);
            return self.call_election(now, ElectionReason::NoMaster);
        }
        let random = self.random_ms(0, u64::from(u32::MAX)).as_millis();
        let token = match self.search.sent {
            0 => u32::try_from(random).unwrap_or(1).max(1),
            _ => self.search.token,
        };
        self.search = Search {
            sent: self.search.sent.saturating_add(1),
            token,
            due: Some(now + REQUEST_INTERVAL),
        };
        let request = BrowserMessage::GetBackupList { count: 4, token };
        let master = self.config.workgroup.with_suffix(SUFFIX_MASTER);
        self.broadcast(master, false, &request);
    }

    /// The master browser answered our search.
    pub(super) fn handle_backup_list(&mut self, from: NbName, token: u32, listed: &[Vec<u8>]) {
        if self.search.sent == 0 || token != self.search.token {
            return;
        }
        // The answer may come from the workgroup's name; the master browser stands first in its own list.
        let first = listed.first().map(|name| name.to_ascii_uppercase());
        let first = first.and_then(|name| NbName::new(&name, SUFFIX_WORKSTATION).ok());
        let master = match from.suffix() {
            SUFFIX_MASTER => first.unwrap_or(from),
            _ => from,
        };
        self.found_master(master);
    }

    fn found_master(&mut self, master: NbName) {
        let last = self.search.due;
        self.search = Search {
            due: last.map(|due| due + CHECK_INTERVAL),
            ..Search::idle()
        };
        self.master = Some(master);
        self.tell(BrowserEvent::Master(master));
    }

    /// A master browser that says goodbye leaves the network without one.
    pub(super) fn notice_leaving_master(&mut self, now: Time, heard: &Announcement) {
        let master = self.master.filter(|master| {
            master
                .characters()
                .eq_ignore_ascii_case(heard.name.as_slice())
        });
        let takes_part = matches!(self.role, Role::Potential | Role::Backup);
        if heard.server_type == 0 && master.is_some() && takes_part {
            self.master = None;
            self.search = Search::starting(now + REQUEST_INTERVAL);
        }
    }

    /// A master browser of our workgroup announced itself.
    pub(super) fn handle_master(&mut self, now: Time, heard: &Announcement) {
        let name = NbName::new(&heard.name, 0).unwrap_or(self.config.computer);
        self.list.put_server(now, heard);
        if name.characters() == self.config.computer.characters() {
            return;
        }
        if heard.server_type == 0 {
            self.notice_leaving_master(now, heard);
        } else if self.role == Role::Master {
            // Two masters: an election leaves the better one.
            self.call_election(now, ElectionReason::OtherMaster(name));
        } else if self.role != Role::Server {
            self.search = Search::starting(now + CHECK_INTERVAL);
            self.master = Some(name);
            self.tell(BrowserEvent::Master(name));
        }
    }

    /// A client wants the servers that give out the list. A master browser names itself first.
    pub(super) fn answer_backup_list(&mut self, incoming: &Incoming<A>, count: u8, token: u32) {
        let asked = incoming.destination.suffix() == SUFFIX_MASTER;
        if self.role != Role::Master || !asked {
            return;
        }
        let own = self.config.computer.characters().to_vec();
        let backups = self.list.servers();
        let backups = backups.filter(|s| s.server_type & server_type::BACKUP_BROWSER != 0);
        let others = backups.map(|s| s.name.clone()).filter(|name| *name != own);
        let mut servers = Vec::from([own.clone()]);
        servers.extend(others.take(usize::from(count.max(1)).saturating_sub(1)));
        let answer = BrowserMessage::BackupList { token, servers };
        let to = incoming.source.with_suffix(SUFFIX_WORKSTATION);
        let source = match self.config.answers_as_master {
            true => incoming.destination,
            false => self.config.computer.with_suffix(SUFFIX_WORKSTATION),
        };
        self.push(Outgoing {
            source,
            destination: to,
            group: false,
            route: Route::Station(incoming.from),
            data: MailslotMessage::new(mailslot::BROWSE, answer.emit()).emit(),
        });
    }

    /// The master browser wants a server to give out the list, too.
    pub(super) fn handle_become_backup(&mut self, name: &[u8]) {
        let own = name.eq_ignore_ascii_case(self.config.computer.characters());
        if own && self.role == Role::Potential {
            self.role = Role::Backup;
            let (role, reason) = (Role::Backup, ElectionReason::Chosen);
            self.tell(BrowserEvent::Role { role, reason });
        }
    }

    /// Somebody wants us to stop. A forged request costs one election or one round of announcements, and no list.
    pub(super) fn handle_reset(&mut self, now: Time, state: u8) {
        if state & RESET_MASTER != 0 && self.role == Role::Master {
            let computer = self.config.computer;
            self.call_election(now, ElectionReason::Called(computer));
        }
        if state & RESET_LISTS != 0 && self.role == Role::Master {
            self.request_announcements();
        }
    }

    pub(super) fn become_master(&mut self, now: Time) {
        self.role = Role::Master;
        self.search = Search::idle();
        self.announcing.restart(now);
        self.domain_announcing.restart(now);
        self.next_backup_check = now + BACKUP_CHECK;
        let (role, reason) = (Role::Master, ElectionReason::Won);
        self.tell(BrowserEvent::Role { role, reason });
        self.request_announcements();
        self.step_announcements(now);
        self.step_domain(now);
    }

    /// [MS-BRWS] 2.2.2 sends it to `<00>`, Windows and Samba to `<1E>`; all servers have one of them.
    fn request_announcements(&mut self) {
        let request =
            BrowserMessage::AnnouncementRequest(self.config.computer.characters().to_vec());
        for suffix in [SUFFIX_WORKSTATION, SUFFIX_ELECTION] {
            let group = self.config.workgroup.with_suffix(suffix);
            self.broadcast(group, true, &request);
        }
    }

    /// Chooses backup browsers, so that the list survives the master ([MS-BRWS] 3.3.6).
    pub(super) fn step_master(&mut self, now: Time) {
        if self.role != Role::Master || self.next_backup_check > now {
            return;
        }
        self.next_backup_check = now + BACKUP_CHECK;
        let servers: Vec<(Vec<u8>, u32)> = (self.list.servers())
            .map(|server| (server.name.clone(), server.server_type))
            .collect();
        let wanted = match servers.len().saturating_add(1) {
            0 | 1 => 0,
            2..=31 => 1,
            32..=63 => 2,
            _ => 3,
        };
        let is = |kind: u32, bit: u32| kind & bit != 0;
        let backups = servers.iter();
        let backups = backups.filter(|(_, kind)| is(*kind, server_type::BACKUP_BROWSER));
        let missing = usize::saturating_sub(wanted, backups.count());
        let candidates = servers.iter().filter(|(_, kind)| {
            is(*kind, server_type::POTENTIAL_BROWSER)
                && !is(
                    *kind,
                    server_type::BACKUP_BROWSER | server_type::MASTER_BROWSER,
                )
        });
        let chosen: Vec<Vec<u8>> = candidates.take(missing).map(|(n, _)| n.clone()).collect();
        let browsers = self.config.workgroup.with_suffix(SUFFIX_ELECTION);
        for name in chosen {
            self.broadcast(browsers, true, &BrowserMessage::BecomeBackup(name));
        }
    }
}
