//! The browser, and the way of datagrams and time through it.

mod announce;
mod domain;
mod election;
mod master;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::browser::{BrowserMessage, LanmanAnnouncement, server_type};
use coax_wire::mailslot::{self, MailslotMessage};
use coax_wire::nbt::name::{NbName, SUFFIX_WORKSTATION};
use coax_wire::time::{Span, Time};

use super::domain::Domain;
use super::list::{BrowseList, ListedServer};
use super::state::{Election, ElectionReason, Role, Schedule, Search};
use super::types::{
    BrowserConfig, BrowserEvent, LmAnnounce, MSBROWSE, SUFFIX_DOMAIN_MASTER, SUFFIX_ELECTION,
    SUFFIX_MASTER,
};
use crate::datagram::{Incoming, Outgoing, Route};
use crate::names::OwnName;

/// Datagrams and events that may wait.
const MAX_WAITING: usize = 256;

/// The browser service of one network. Drive it like [`NameService`](crate::NameService): datagrams and the time go in,
/// datagrams ([`poll_outgoing`](Self::poll_outgoing)), events and the next deadline come out.
#[derive(Debug)]
pub struct Browser<A> {
    pub(super) config: BrowserConfig,
    pub(super) started: Time,
    pub(super) role: Role,
    pub(super) list: BrowseList,
    pub(super) announcing: Schedule,
    pub(super) domain_announcing: Schedule,
    pub(super) lanman: Option<Time>,
    pub(super) lanman_heard: bool,
    /// Answer to an announcement request, after a random wait.
    pub(super) requested: Option<Time>,
    pub(super) search: Search,
    /// The master browser, as far as it is known.
    pub(super) master: Option<NbName>,
    pub(super) election: Election,
    pub(super) domain: Domain<A>,
    pub(super) next_backup_check: Time,
    pub(super) stopped: bool,
    pub(super) random: u64,
    pub(super) outgoing: VecDeque<Outgoing<A>>,
    pub(super) events: VecDeque<BrowserEvent>,
}

impl<A: Copy + Eq> Browser<A> {
    /// Starts to announce the server and to look for the master browser.
    pub fn new(now: Time, config: BrowserConfig) -> Self {
        let random = config.seed | 1;
        let mut browser = Self {
            started: now,
            role: Role::Server,
            list: BrowseList::new(),
            announcing: Schedule::servers(now),
            domain_announcing: Schedule::workgroups(now),
            lanman: None,
            lanman_heard: false,
            requested: None,
            search: Search::idle(),
            master: None,
            election: Election::idle(),
            domain: Domain::new(),
            next_backup_check: now,
            stopped: false,
            random,
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
            config,
        };
        if browser.config.local_master {
            browser.role = Role::Potential;
            let group = browser.config.workgroup.with_suffix(SUFFIX_ELECTION);
            browser.tell(BrowserEvent::Register(OwnName::group(group)));
            match browser.config.preferred_master {
                true => browser.call_election(now, ElectionReason::Preferred),
                false => browser.search = Search::starting(now),
            }
        }
        if browser.config.domain_master {
            let name = browser.config.workgroup.with_suffix(SUFFIX_DOMAIN_MASTER);
            browser.tell(BrowserEvent::Register(OwnName::unique(name)));
        }
        if browser.config.lm_announce == LmAnnounce::Yes {
            browser.lanman = Some(now);
        }
        browser.handle_timeout(now);
        browser
    }

    /// What this server is on this network.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The list of servers and workgroups. Every server has one, since announcements are broadcast; what it lacks when
    /// it starts late, a master browser fetches with an announcement request.
    pub fn list(&self) -> &BrowseList {
        &self.list
    }

    /// This server as it stands in a list.
    pub fn own_entry(&self) -> ListedServer {
        ListedServer {
            name: self.config.computer.characters().to_vec(),
            version: self.config.version,
            server_type: self.announced_type(),
            comment: self.config.comment.clone(),
        }
    }

    /// A datagram arrived from another network. Only a local master browser's word to the domain master counts.
    pub fn handle_remote_datagram(&mut self, now: Time, incoming: &Incoming<A>) {
        let message = MailslotMessage::parse(&incoming.data);
        let message = message.ok().filter(|slot| slot.is_for(mailslot::BROWSE));
        let message = message.and_then(|slot| BrowserMessage::parse(&slot.data).ok());
        if let Some(BrowserMessage::MasterAnnouncement(name)) = message
            && !self.stopped
        {
            self.handle_master_announcement(now, incoming, &name);
        }
    }

    /// A datagram for one of our names, or for the names of all browsers, arrived.
    pub fn handle_datagram(&mut self, now: Time, incoming: &Incoming<A>) {
        let Ok(message) = MailslotMessage::parse(&incoming.data) else {
            return;
        };
        if self.stopped || incoming.source == self.config.computer.with_suffix(SUFFIX_WORKSTATION) {
            return;
        }
        if message.is_for(mailslot::LANMAN)
            && let Ok(announcement) = LanmanAnnouncement::parse(&message.data)
        {
            self.handle_lanman(now, incoming.destination, &announcement);
        } else if message.is_for(mailslot::BROWSE) || message.is_for(mailslot::LANMAN) {
            let Ok(parsed) = BrowserMessage::parse(&message.data) else {
                return;
            };
            self.handle_message(now, incoming, parsed);
        }
        self.step_domain(now);
    }

    pub(super) fn handle_message(
        &mut self,
        now: Time,
        incoming: &Incoming<A>,
        message: BrowserMessage,
    ) {
        let to = incoming.destination;
        let ours = to.characters() == self.config.workgroup.characters();
        match message {
            BrowserMessage::Host(host) if ours => {
                self.list.put_server(now, &host);
                self.notice_leaving_master(now, &host);
            }
            BrowserMessage::LocalMaster(master) if ours => {
                self.handle_master(now, &master);
            }
            BrowserMessage::Domain(workgroup) if to == MSBROWSE => {
                self.list.put_workgroup(now, &workgroup);
            }
            BrowserMessage::AnnouncementRequest(_) if ours => self.announce_soon(now),
            BrowserMessage::Election(election) if ours && to.suffix() == SUFFIX_ELECTION => {
                self.handle_election(now, &election);
            }
            BrowserMessage::GetBackupList { count, token } if ours => {
                self.answer_backup_list(incoming, count, token);
            }
            BrowserMessage::BackupList { token, servers } => {
                self.handle_backup_list(incoming.source, token, &servers);
            }
            BrowserMessage::BecomeBackup(name) if ours => self.handle_become_backup(&name),
            BrowserMessage::ResetState(state) => self.handle_reset(now, state),
            BrowserMessage::MasterAnnouncement(name) => {
                self.handle_master_announcement(now, incoming, &name);
            }
            _ => {}
        }
    }

    /// It is `now`: announces, searches, elects, and forgets.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.stopped {
            return;
        }
        self.list.expire(now);
        self.step_search(now);
        self.step_election(now);
        self.step_announcements(now);
        self.step_master(now);
        self.step_domain(now);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.stopped {
            return None;
        }
        let master = self.role == Role::Master;
        let domain = Some(self.domain_announcing.due()).filter(|_| master);
        let backups = Some(self.next_backup_check).filter(|_| master);
        let all = [
            Some(self.announcing.due()),
            domain,
            backups,
            self.lanman,
            self.requested,
            self.search.due(),
            self.election.due(),
            self.list.due(),
            self.domain.due(),
        ];
        all.into_iter().flatten().min()
    }

    /// A datagram to send, until there is none.
    pub fn poll_outgoing(&mut self) -> Option<Outgoing<A>> {
        self.outgoing.pop_front()
    }

    /// What to do or to report, until there is nothing.
    pub fn poll_event(&mut self) -> Option<BrowserEvent> {
        self.events.pop_front()
    }

    /// A name that [`BrowserEvent::Register`] asked for was registered, or refused.
    pub fn handle_name(&mut self, now: Time, name: &NbName, registered: bool) {
        if *name == self.config.workgroup.with_suffix(SUFFIX_MASTER) {
            self.handle_master_name(now, registered);
        }
    }

    /// Says goodbye: the lists forget this server, and another one becomes master browser.
    pub fn shutdown(&mut self, now: Time) {
        if self.stopped {
            return;
        }
        self.announce_leaving();
        if self.role == Role::Master {
            self.release_master_names();
            self.send_election_call();
        }
        self.handle_timeout(now);
        self.stopped = true;
    }

    /// The type that is announced: what the server is, and its role as a browser.
    pub(super) fn announced_type(&self) -> u32 {
        let browser = match self.role {
            Role::Server => 0,
            Role::Potential => server_type::POTENTIAL_BROWSER,
            Role::Backup => server_type::POTENTIAL_BROWSER | server_type::BACKUP_BROWSER,
            Role::Master => server_type::POTENTIAL_BROWSER | server_type::MASTER_BROWSER,
        };
        let domain = match self.config.domain_master && self.role == Role::Master {
            true => server_type::DOMAIN_MASTER,
            false => 0,
        };
        self.config.server_type | browser | domain
    }

    /// Sends a browser message to a name; everybody hears it.
    pub(super) fn broadcast(&mut self, destination: NbName, group: bool, message: &BrowserMessage) {
        self.send(
            destination,
            group,
            Route::Everybody,
            mailslot::BROWSE,
            message.emit(),
        );
    }

    pub(super) fn send(
        &mut self,
        destination: NbName,
        group: bool,
        route: Route<A>,
        slot: &[u8],
        data: Vec<u8>,
    ) {
        self.push(Outgoing {
            source: self.config.computer.with_suffix(SUFFIX_WORKSTATION),
            destination,
            group,
            route,
            data: MailslotMessage::new(slot, data).emit(),
        });
    }

    pub(super) fn push(&mut self, outgoing: Outgoing<A>) {
        if self.outgoing.len() < MAX_WAITING {
            self.outgoing.push_back(outgoing);
        }
    }

    pub(super) fn tell(&mut self, event: BrowserEvent) {
        if self.events.len() >= MAX_WAITING {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// A wait between two bounds, in milliseconds, so that stations do not answer all at once.
    pub(super) fn random_ms(&mut self, low: u64, high: u64) -> Span {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let range = high.saturating_sub(low).saturating_add(1);
        let offset = (z ^ (z >> 31)).checked_rem(range).unwrap_or(0);
        Span::from_millis(low.saturating_add(offset))
    }
}
