#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

mod churn;
mod domain;
mod stations;

use super::*;
use crate::datagram::{Incoming, Outgoing, Route};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use coax_wire::browser::Announcement;
use coax_wire::browser::{BrowserMessage, LanmanAnnouncement};
use coax_wire::mailslot::{self, MailslotMessage};
use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

const START: Time = Time(1_700_000_000_000_000_000);
const MINUTE: u64 = 60_000;

fn name(text: &str) -> NbName {
    text.parse().unwrap()
}

fn config(computer: &str, os_level: u8) -> BrowserConfig {
    BrowserConfig {
        computer: name(computer),
        workgroup: name("LAB"),
        comment: b"test".to_vec(),
        version: (4, 9),
        server_type: 0x9a03,
        os_level,
        local_master: true,
        preferred_master: false,
        domain_master: false,
        wins: false,
        answers_as_master: false,
        lm_announce: LmAnnounce::Auto,
        lm_interval_s: 60,
        sync_interval: SYNC_INTERVAL,
        seed: u64::from(os_level) << 8 | u64::from(computer.as_bytes()[computer.len() - 1]),
    }
}

/// The network of a station; routers carry no broadcasts.
fn segment(station: u16) -> u16 {
    station / 1000
}

/// Browsers on one or several networks, and who owns its names.
struct Net {
    now: Time,
    browsers: BTreeMap<u16, Browser<u16>>,
    /// Owners of unique names.
    owners: BTreeMap<(u16, NbName), u16>,
    /// Registrations under way.
    claims: Vec<(Time, u16, NbName)>,
    roles: Vec<(u16, Role, ElectionReason)>,
    sent: Vec<(u64, u16, BrowserMessage)>,
    /// Of 100 datagrams so many are lost, and so many arrive twice.
    lose: u64,
    twice: u64,
    random: u64,
}

impl Net {
    fn new() -> Self {
        Self {
            now: START,
            browsers: BTreeMap::new(),
            owners: BTreeMap::new(),
            claims: Vec::new(),
            roles: Vec::new(),
            sent: Vec::new(),
            lose: 0,
            twice: 0,
            random: 1,
        }
    }

    fn join(&mut self, station: u16, config: BrowserConfig) {
        let browser = Browser::new(self.now, config);
        self.browsers.insert(station, browser);
        self.settle();
    }

    /// A station vanishes without a word.
    fn crash(&mut self, station: u16) {
        self.browsers.remove(&station);
        self.owners.retain(|_, owner| *owner != station);
        self.claims.retain(|(_, owner, _)| *owner != station);
    }

    fn leave(&mut self, station: u16) {
        let now = self.now;
        self.browsers.get_mut(&station).unwrap().shutdown(now);
        self.settle();
        self.crash(station);
    }

    fn run(&mut self, ms: u64) {
        let end = self.now + Span::from_millis(ms);
        loop {
            let browsers = self.browsers.values().filter_map(Browser::poll_timeout);
            let claims = self.claims.iter().map(|(due, ..)| *due);
            let Some(due) = browsers.chain(claims).min().filter(|due| *due <= end) else {
                break;
            };
            self.now = due.max(self.now);
            for browser in self.browsers.values_mut() {
                // Only who asked to be woken is.
                if browser.poll_timeout().is_some_and(|due| due <= self.now) {
                    browser.handle_timeout(self.now);
                }
            }
            self.finish_claims();
            self.settle();
        }
        self.now = end;
    }

    fn finish_claims(&mut self) {
        let now = self.now;
        let done = self.claims.extract_if(.., |(due, ..)| *due <= now);
        for (_, station, claimed) in done.collect::<Vec<_>>() {
            let owner = *self
                .owners
                .entry((segment(station), claimed))
                .or_insert(station);
            if let Some(browser) = self.browsers.get_mut(&station) {
                browser.handle_name(now, &claimed, owner == station);
            }
        }
    }

    /// Carries datagrams and events until there are none.
    fn settle(&mut self) {
        for _ in 0..100_000 {
            let mut moved = false;
            let stations: Vec<u16> = self.browsers.keys().copied().collect();
            for station in stations {
                moved |= self.serve(station);
            }
            if !moved {
                return;
            }
        }
        panic!("the browsers never stop talking");
    }

    fn serve(&mut self, station: u16) -> bool {
        let mut moved = false;
        while let Some(outgoing) = self.browsers.get_mut(&station).unwrap().poll_outgoing() {
            moved = true;
            self.carry(station, outgoing);
        }
        while let Some(event) = self.browsers.get_mut(&station).unwrap().poll_event() {
            moved = true;
            match event {
                BrowserEvent::Register(own) if own.kind == crate::NameKind::Unique => {
                    let due = self.now + Span::from_millis(750);
                    self.claims.push((due, station, own.name));
                }
                BrowserEvent::Release(name) => {
                    if self.owners.get(&(segment(station), name)) == Some(&station) {
                        self.owners.remove(&(segment(station), name));
                    }
                }
                BrowserEvent::Role { role, reason } => self.roles.push((station, role, reason)),
                other => self.exchange(station, other),
            }
        }
        moved
    }

    fn carry(&mut self, from: u16, outgoing: Outgoing<u16>) {
        let slot = MailslotMessage::parse(&outgoing.data).unwrap();
        if let Ok(message) = BrowserMessage::parse(&slot.data) {
            let ms = (self.now - START).as_millis();
            self.sent.push((ms, from, message));
        }
        let incoming = Incoming {
            from,
            source: outgoing.source,
            destination: outgoing.destination,
            data: outgoing.data,
        };
        let now = self.now;
        let stations: Vec<u16> = self.browsers.keys().copied().collect();
        for station in stations {
            let here = segment(station) == segment(from);
            match outgoing.route {
                Route::Station(to) if to == station => {}
                Route::Everybody if here => {}
                _ => continue,
            }
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let chance = (self.random >> 33) % 100;
            let copies = if chance < self.lose {
                0
            } else if chance < self.lose + self.twice {
                2
            } else {
                1
            };
            for _ in 0..copies {
                let browser = self.browsers.get_mut(&station).unwrap();
                match here {
                    true => browser.handle_datagram(now, &incoming),
                    false => browser.handle_remote_datagram(now, &incoming),
                }
            }
        }
    }

    fn masters(&self) -> Vec<u16> {
        let masters = self.browsers.iter();
        let masters = masters.filter(|(_, browser)| browser.role() == Role::Master);
        masters.map(|(station, _)| *station).collect()
    }

    fn listed(&self, station: u16) -> Vec<String> {
        let browser = &self.browsers[&station];
        let own = browser.own_entry().name;
        let heard = browser.list().servers().map(|server| server.name.clone());
        let heard = heard.filter(|name| *name != own);
        let all = heard.chain([own.clone()]);
        all.map(|name| String::from_utf8(name).unwrap()).collect()
    }
}

#[test]
fn a_server_alone_is_master_after_three_requests_and_an_election() {
    let mut net = Net::new();
    net.join(1, config("TOWER", 20));
    net.run(20_000);
    assert_eq!(net.masters(), [1]);
    let kind = |wanted: fn(&BrowserMessage) -> bool| {
        let found = net.sent.iter().filter(|(_, _, message)| wanted(message));
        found.map(|(ms, ..)| *ms).collect::<Vec<u64>>()
    };
    assert_eq!(
        kind(|m| matches!(m, BrowserMessage::GetBackupList { .. })),
        [0, 1000, 2000]
    );
    assert_eq!(
        kind(|m| matches!(m, BrowserMessage::Election(_))),
        [3000, 4000, 5000, 6000]
    );
    assert_eq!(
        kind(|m| matches!(m, BrowserMessage::LocalMaster(_)))[0],
        7750
    );
    assert_eq!(kind(|m| matches!(m, BrowserMessage::Domain(_)))[0], 7750);
    let reasons: Vec<&ElectionReason> = net.roles.iter().map(|(_, _, reason)| reason).collect();
    assert_eq!(reasons, [&ElectionReason::NoMaster, &ElectionReason::Won]);
    assert!(net.owners.contains_key(&(0, name("LAB<1d>"))));
}

#[test]
fn the_best_candidate_wins_in_every_order_of_starts() {
    let stations = [("LOW", 1u8), ("MIDDLE", 20), ("HIGH", 33)];
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for (round, order) in orders.into_iter().enumerate() {
        for lag in [0, 500, 5_000, 60_000] {
            let mut net = Net::new();
            for at in order {
                let (computer, level) = stations[at];
                let mut config = config(computer, level);
                // The best one insists, as with `preferred master`.
                config.preferred_master = level == 33;
                net.join(at as u16, config);
                net.run(lag);
            }
            net.run(120_000);
            assert_eq!(net.masters(), [2], "order {round}, lag {lag}");
        }
    }
}

#[test]
fn without_a_preferred_master_the_first_stays_until_it_leaves() {
    let mut net = Net::new();
    net.join(1, config("FIRST", 1));
    net.run(MINUTE);
    net.join(2, config("SECOND", 33));
    net.run(MINUTE);
    assert_eq!(net.masters(), [1]);
    net.leave(1);
    net.run(MINUTE);
    assert_eq!(net.masters(), [2]);
}

#[test]
fn a_master_that_says_goodbye_without_an_election_is_replaced_at_once() {
    let mut net = Net::new();
    net.join(1, config("FIRST", 33));
    net.run(MINUTE);
    net.join(2, config("SECOND", 20));
    net.run(MINUTE);
    net.crash(1);
    let goodbye = BrowserMessage::Host(Announcement {
        update_count: 0,
        period_ms: 0,
        name: b"FIRST".to_vec(),
        version: (4, 9),
        server_type: 0,
        comment: Vec::new(),
    });
    let now = net.now;
    let datagram = incoming(name("LAB<1d>"), mailslot::BROWSE, goodbye.emit());
    net.browsers
        .get_mut(&2)
        .unwrap()
        .handle_datagram(now, &datagram);
    net.run(20_000);
    assert_eq!(net.masters(), [2]);
}

#[test]
fn equal_candidates_are_decided_by_uptime_and_then_by_name() {
    for (lag, winner) in [(5_000, 2), (0, 1)] {
        let mut net = Net::new();
        let mut first = config("BETA", 20);
        first.preferred_master = true;
        let mut second = config("ALPHA", 20);
        second.preferred_master = true;
        net.join(2, first);
        net.run(lag);
        net.join(1, second);
        net.run(MINUTE);
        assert_eq!(net.masters(), [winner], "lag {lag}");
        let lost = net.roles.iter().find_map(|(_, _, reason)| match reason {
            ElectionReason::Lost { by, .. } => Some(*by),
            _ => None,
        });
        let by = if lag == 0 {
            Criterion::Name
        } else {
            Criterion::Role
        };
        // Whoever is master already has the better role.
        let by = if lag == 5_000 && lost == Some(Criterion::Uptime) {
            Criterion::Uptime
        } else {
            by
        };
        assert_eq!(lost, Some(by), "lag {lag}");
    }
}

#[test]
fn a_master_that_crashed_is_replaced_within_one_announcement_interval() {
    let mut net = Net::new();
    net.join(1, config("FIRST", 33));
    net.run(MINUTE);
    for station in 2..6 {
        net.join(station, config(&alloc::format!("S{station}"), 20));
    }
    net.run(60 * MINUTE);
    net.crash(1);
    net.run(13 * MINUTE);
    assert_eq!(net.masters().len(), 1);
}

#[test]
fn a_list_of_200_stations_is_correct_within_one_interval_of_every_change() {
    let mut net = Net::new();
    net.join(0, config("MASTER", 33));
    net.run(MINUTE);
    for station in 1..200 {
        net.join(station, config(&alloc::format!("S{station:03}"), 1));
    }
    // Each announces itself when it starts.
    net.run(1000);
    assert_eq!(net.listed(0).len(), 200);
    net.leave(7);
    assert!(!net.listed(0).contains(&"S007".to_string()));
    net.run(60 * MINUTE);
    assert_eq!(net.listed(0).len(), 199);
    // One that vanishes is kept for three announcements, at most 36 minutes.
    net.crash(8);
    net.run(36 * MINUTE);
    assert_eq!(net.listed(0).len(), 198);
    // A new master learns of all within half a minute: it asks them to announce themselves.
    net.leave(0);
    net.run(2 * MINUTE);
    let master = net.masters()[0];
    assert_eq!(net.listed(master).len(), 197);
    assert_eq!(net.masters().len(), 1);
}

#[test]
fn one_master_remains_although_datagrams_are_lost_and_repeated() {
    for seed in 0..40 {
        let mut net = Net::new();
        (net.lose, net.twice, net.random) = (20, 20, seed);
        for station in 0..6 {
            net.join(station, config(&alloc::format!("S{station}"), 20));
            net.run(u64::from(station) * 300);
        }
        net.run(30 * MINUTE);
        net.lose = 0;
        net.run(30 * MINUTE);
        assert_eq!(net.masters().len(), 1, "seed {seed}");
        let master = net.masters()[0];
        assert_eq!(net.listed(master).len(), 6, "seed {seed}");
        assert_eq!(net.owners[&(0, name("LAB<1d>"))], master, "seed {seed}");
    }
}

fn incoming(to: NbName, slot: &[u8], data: Vec<u8>) -> Incoming<u16> {
    Incoming {
        from: 99,
        source: name("CLIENT<00>"),
        destination: to,
        data: MailslotMessage::new(slot, data).emit(),
    }
}

#[test]
fn a_client_gets_the_master_and_its_backups_and_nobody_else_answers() {
    let mut net = Net::new();
    net.join(1, config("MASTER", 33));
    net.run(MINUTE);
    net.join(2, config("OTHER", 20));
    net.run(20 * MINUTE);
    assert_eq!(net.browsers[&2].role(), Role::Backup);
    let request = BrowserMessage::GetBackupList {
        count: 4,
        token: 0x55,
    };
    let asked = incoming(name("LAB<1d>"), mailslot::BROWSE, request.emit());
    net.run(10 * MINUTE);
    for (station, answers) in [(1, 1), (2, 0)] {
        let now = net.now;
        let browser = net.browsers.get_mut(&station).unwrap();
        browser.handle_datagram(now, &asked);
        let sent: Vec<_> = core::iter::from_fn(|| browser.poll_outgoing()).collect();
        assert_eq!(sent.len(), answers);
        for outgoing in sent {
            assert_eq!(outgoing.route, Route::Station(99));
            assert_eq!(outgoing.destination, name("CLIENT<00>"));
            let slot = MailslotMessage::parse(&outgoing.data).unwrap();
            let expected = BrowserMessage::BackupList {
                token: 0x55,
                servers: Vec::from([b"MASTER".to_vec(), b"OTHER".to_vec()]),
            };
            assert_eq!(BrowserMessage::parse(&slot.data), Ok(expected));
        }
    }
}

#[test]
fn lan_manager_announcements_begin_when_one_is_heard() {
    let mut net = Net::new();
    net.join(1, config("TOWER", 20));
    net.run(5 * MINUTE);
    let heard = LanmanAnnouncement {
        server_type: 3,
        version: (2, 1),
        period_s: 60,
        name: b"OS2BOX".to_vec(),
        comment: Vec::new(),
    };
    let datagram = incoming(name("LAB<00>"), mailslot::LANMAN, heard.emit());
    let now = net.now;
    let browser = net.browsers.get_mut(&1).unwrap();
    let lanman = |browser: &mut Browser<u16>| {
        let sent = core::iter::from_fn(|| browser.poll_outgoing());
        let slots = sent.filter_map(|o| MailslotMessage::parse(&o.data).ok());
        slots.filter(|slot| slot.is_for(mailslot::LANMAN)).count()
    };
    assert_eq!(lanman(browser), 0);
    browser.handle_datagram(now, &datagram);
    for minute in 0..3 {
        browser.handle_timeout(now + Span::from_secs(minute * 60));
    }
    assert_eq!(lanman(browser), 3);
    assert!(net.listed(1).contains(&"OS2BOX".to_string()));
}

#[test]
fn a_forged_reset_costs_an_election_and_no_list() {
    let mut net = Net::new();
    net.join(1, config("TOWER", 20));
    net.join(2, config("BARN", 20));
    net.run(MINUTE);
    let master = net.masters()[0];
    let listed = net.listed(master);
    let now = net.now;
    let reset = BrowserMessage::ResetState(7).emit();
    let computer = net.browsers[&master].config.computer;
    let reset = incoming(computer, mailslot::BROWSE, reset);
    let browser = net.browsers.get_mut(&master).unwrap();
    browser.handle_datagram(now, &reset);
    assert_eq!(net.listed(master), listed);
    net.run(MINUTE);
    assert_eq!(net.masters(), [master]);
}

#[test]
fn the_list_is_bounded_and_a_false_period_does_not_make_it_eternal() {
    let mut list = BrowseList::new();
    for n in 0..10_000 {
        let heard = Announcement {
            update_count: 0,
            period_ms: u32::MAX,
            name: alloc::format!("N{n}").into_bytes(),
            version: (4, 0),
            server_type: 3,
            comment: Vec::new(),
        };
        list.put_server(START, &heard);
        list.put_workgroup(START, &heard);
    }
    assert_eq!(
        (list.servers().count(), list.workgroups().count()),
        (2000, 500)
    );
    list.expire(START + Span::from_secs(72 * 60));
    assert_eq!((list.servers().count(), list.workgroups().count()), (0, 0));
}

proptest! {
    #[test]
    fn arbitrary_messages_never_panic_nor_flood(
        messages in prop::collection::vec((0u8..16, any::<Vec<u8>>(), 0usize..4), 0..60),
    ) {
        let mut browser: Browser<u16> = Browser::new(START, config("TOWER", 20));
        let targets = ["LAB<1d>", "LAB<1e>", "LAB<00>", "TOWER<00>"];
        let mut now = START;
        for (opcode, bytes, target) in messages {
            let data = [&[opcode][..], &bytes].concat();
            let datagram = incoming(name(targets[target]), mailslot::BROWSE, data);
            browser.handle_datagram(now, &datagram);
            now = now + Span::from_millis(700);
            browser.handle_timeout(now);
            prop_assert!(browser.poll_timeout().is_none_or(|due| due > now));
            let sent = core::iter::from_fn(|| browser.poll_outgoing()).count();
            prop_assert!(sent <= 8, "{}", sent);
            while browser.poll_event().is_some() {}
        }
    }
}
