//! Announcements: of this server, of its workgroup, and to LAN Manager.

use coax_wire::browser::{Announcement, BrowserMessage, LanmanAnnouncement};
use coax_wire::mailslot;
use coax_wire::nbt::name::{NbName, SUFFIX_WORKSTATION};
use coax_wire::time::{Span, Time};

use super::super::state::Role;
use super::super::types::{LmAnnounce, MSBROWSE, SUFFIX_ELECTION, SUFFIX_MASTER};
use super::Browser;
use crate::datagram::Route;

/// The longest wait before an announcement that was requested ([MS-BRWS] 3.2.5.2).
const REQUESTED_MAX_MS: u64 = 30_000;

impl<A: Copy + Eq> Browser<A> {
    pub(super) fn step_announcements(&mut self, now: Time) {
        if let Some(period_ms) = self.announcing.step(now) {
            self.announce(period_ms);
        }
        if self.requested.is_some_and(|due| due <= now) {
            self.requested = None;
            let period_ms = self.announcing.period_ms();
            self.announce(period_ms);
        }
        if self.role == Role::Master
            && let Some(period_ms) = self.domain_announcing.step(now)
        {
            self.announce_workgroup(period_ms);
        }
        self.step_lanman(now);
    }

    /// Somebody asks all servers to announce themselves.
    pub(super) fn announce_soon(&mut self, now: Time) {
        if self.requested.is_none() {
            self.requested = Some(now + self.random_ms(0, REQUESTED_MAX_MS));
        }
    }

    /// The last announcement: type 0.
    pub(super) fn announce_leaving(&mut self) {
        let mut goodbye = self.announcement(0);
        goodbye.server_type = 0;
        let master = self.config.workgroup.with_suffix(SUFFIX_MASTER);
        self.broadcast(master, false, &BrowserMessage::Host(goodbye));
        if self.lanman.is_some() {
            self.send_lanman(0);
        }
    }

    pub(super) fn handle_lanman(&mut self, now: Time, to: NbName, heard: &LanmanAnnouncement) {
        if to.characters() != self.config.workgroup.characters() {
            return;
        }
        self.lanman_heard = true;
        if self.config.lm_announce == LmAnnounce::Auto && self.lanman.is_none() {
            self.lanman = Some(now);
        }
        let period_ms = u32::from(heard.period_s).saturating_mul(1000);
        let announcement = Announcement {
            update_count: 0,
            period_ms,
            name: heard.name.clone(),
            version: heard.version,
            server_type: heard.server_type,
            comment: heard.comment.clone(),
        };
        self.list.put_server(now, &announcement);
    }

    fn step_lanman(&mut self, now: Time) {
        if self.lanman.is_none_or(|due| due > now) {
            return;
        }
        self.lanman = match self.config.lm_interval_s {
            0 => None,
            seconds => Some(now + Span::from_secs(u64::from(seconds))),
        };
        if self.lanman.is_some() {
            self.send_lanman(self.announced_type());
        }
    }

    fn send_lanman(&mut self, server_type: u32) {
        let announcement = LanmanAnnouncement {
            server_type,
            version: self.config.version,
            period_s: u16::try_from(self.config.lm_interval_s).unwrap_or(u16::MAX),
            name: self.config.computer.characters().to_vec(),
            comment: self.config.comment.clone(),
        };
        let to = self.config.workgroup.with_suffix(SUFFIX_WORKSTATION);
        let data = announcement.emit();
        self.send(to, true, Route::Everybody, mailslot::LANMAN, data);
    }

    /// A server tells the master browser of itself; a master browser tells all browsers.
    fn announce(&mut self, period_ms: u32) {
        let announcement = self.announcement(period_ms);
        let workgroup = self.config.workgroup;
        match self.role {
            Role::Master => {
                let browsers = workgroup.with_suffix(SUFFIX_ELECTION);
                self.broadcast(browsers, true, &BrowserMessage::LocalMaster(announcement));
            }
            Role::Server | Role::Potential | Role::Backup => {
                let master = workgroup.with_suffix(SUFFIX_MASTER);
                self.broadcast(master, false, &BrowserMessage::Host(announcement));
            }
        }
    }

    /// A master browser tells those of other workgroups of its own one.
    fn announce_workgroup(&mut self, period_ms: u32) {
        let mut announcement = self.announcement(period_ms);
        announcement.name = self.config.workgroup.characters().to_vec();
        announcement.comment = self.config.computer.characters().to_vec();
        announcement.server_type |= coax_wire::browser::server_type::DOMAIN_ENUM;
        self.broadcast(MSBROWSE, true, &BrowserMessage::Domain(announcement));
    }

    fn announcement(&self, period_ms: u32) -> Announcement {
        Announcement {
            update_count: 0,
            period_ms,
            name: self.config.computer.characters().to_vec(),
            version: self.config.version,
            server_type: self.announced_type(),
            comment: self.config.comment.clone(),
        }
    }
}
