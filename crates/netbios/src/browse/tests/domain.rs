//! Several networks: WINS finds the domain master, and lists are fetched as NetServerEnum2 gives them.

use super::*;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;

/// Stations of this number and above answer no NetServerEnum2.
const UNREACHABLE: u16 = 9000;

impl Net {
    /// What the driver does for a browser.
    pub(super) fn exchange(&mut self, station: u16, event: BrowserEvent) {
        let now = self.now;
        match event {
            BrowserEvent::FindDomainMaster => {
                let master = self.browsers.iter().find(|(_, b)| b.config.domain_master);
                let found = master.map(|(at, b)| (b.config.computer, *at));
                let browser = self.browsers.get_mut(&station).unwrap();
                browser.handle_domain_master(now, found);
            }
            BrowserEvent::Fetch { from, whole } => {
                let at = self.browsers[&station].address_of(from).unwrap();
                let lists = self.browsers.get(&at).filter(|_| at < UNREACHABLE);
                let lists = lists.map(|browser| lists_of(browser, whole));
                let browser = self.browsers.get_mut(&station).unwrap();
                browser.handle_lists(now, from, lists);
            }
            _ => {}
        }
    }

    /// The servers that a master browser gives to clients.
    fn given(&self, station: u16) -> BTreeSet<String> {
        let lists = lists_of(&self.browsers[&station], true);
        let names = lists.servers.into_iter().map(|server| server.name);
        names.map(|name| String::from_utf8(name).unwrap()).collect()
    }

    /// Three networks: their master browsers 0 (the domain master), 1000 and 2000, and a server on each.
    fn routed() -> Self {
        let mut net = Net::new();
        for (at, level) in [(0, 40), (1000, 33), (2000, 33)] {
            net.join(at, routed(&format!("MASTER{}", at / 1000), level, at == 0));
        }
        net.run(MINUTE);
        for at in [1, 1001, 2001] {
            net.join(at, routed(&format!("S{at}"), 1, false));
        }
        net
    }
}

fn lists_of(browser: &Browser<u16>, whole: bool) -> Fetched {
    let list = browser.list();
    let mut servers = vec![browser.own_entry()];
    servers.extend(list.servers().cloned());
    let mut workgroups: Vec<ListedWorkgroup> = list.workgroups().cloned().collect();
    if whole {
        servers.extend(list.remote_servers().cloned());
        workgroups.extend(list.remote_workgroups().cloned());
    }
    Fetched {
        servers,
        workgroups,
    }
}

fn routed(computer: &str, os_level: u8, domain_master: bool) -> BrowserConfig {
    BrowserConfig {
        wins: true,
        domain_master,
        ..config(computer, os_level)
    }
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|name| name.to_string()).collect()
}

/// The time between the announcements of a server in the long run.
const ANNOUNCEMENT_INTERVAL: u64 = 12 * MINUTE;
const ALL: [&str; 6] = ["MASTER0", "MASTER1", "MASTER2", "S1", "S1001", "S2001"];

#[test]
fn all_masters_list_the_servers_of_all_networks_within_one_interval() {
    let mut net = Net::routed();
    net.run(ANNOUNCEMENT_INTERVAL);
    for master in [0, 1000, 2000] {
        assert_eq!(net.given(master), names(&ALL), "{master}");
    }
    // what they hear themselves is theirs alone
    let local = lists_of(&net.browsers[&1000], false).servers.len();
    assert_eq!(local, 2);
    let told = net.sent.iter();
    let told = told.filter(|(_, _, m)| matches!(m, BrowserMessage::MasterAnnouncement(_)));
    let mut from: Vec<u16> = told.map(|(_, from, _)| *from).collect();
    from.sort_unstable();
    from.dedup();
    assert_eq!(
        from,
        [1000, 2000],
        "the domain master announces itself to nobody"
    );
}

#[test]
fn a_server_that_joins_or_leaves_is_right_everywhere_within_one_interval() {
    let mut net = Net::routed();
    net.run(60 * MINUTE);
    net.join(1002, routed("NEW", 1, false));
    net.leave(2001);
    net.leave(1);
    net.run(ANNOUNCEMENT_INTERVAL);
    for master in [0, 1000, 2000] {
        let right = names(&["MASTER0", "MASTER1", "MASTER2", "NEW", "S1001"]);
        assert_eq!(net.given(master), right, "{master}");
    }
}

#[test]
fn the_list_of_a_domain_master_does_not_revive_a_server_that_left() {
    let mut net = Net::routed();
    net.run(ANNOUNCEMENT_INTERVAL);
    let stale = lists_of(&net.browsers[&0], true);
    assert!(stale.servers.iter().any(|server| server.name == b"S1001"));
    net.leave(1001);
    let now = net.now;
    let master = net.browsers.get_mut(&1000).unwrap();
    master.handle_lists(now, name("MASTER0"), Some(stale));
    assert!(!net.given(1000).contains("S1001"));
    // on another network it is another matter
    net.join(2002, routed("S1001", 1, false));
    net.run(ANNOUNCEMENT_INTERVAL);
    for master in [0, 1000, 2000] {
        assert!(net.given(master).contains("S1001"), "{master}");
    }
}

#[test]
fn a_master_browser_that_cannot_be_reached_costs_its_list_after_two_failures() {
    let mut net = Net::routed();
    net.run(ANNOUNCEMENT_INTERVAL);
    net.crash(2000);
    net.crash(2001);
    net.run(7 * MINUTE);
    assert_eq!(net.given(0), names(&["MASTER0", "MASTER1", "S1", "S1001"]));
    // and without a domain master each network has its own list
    net.crash(0);
    net.run(2 * ANNOUNCEMENT_INTERVAL);
    assert_eq!(net.given(1000), names(&["MASTER1", "S1001"]));
    assert!(!net.given(1).contains("S1001"));
}

#[test]
fn a_flood_of_master_announcements_costs_one_fetch_in_half_a_minute_each() {
    let mut net = Net::new();
    net.join(0, routed("MASTER0", 40, true));
    net.run(MINUTE);
    let mut fetches = Vec::new();
    for second in 0..600 {
        let now = net.now + Span::from_secs(second);
        let browser = net.browsers.get_mut(&0).unwrap();
        for forged in 0..200 {
            let message = BrowserMessage::MasterAnnouncement(format!("F{forged}").into_bytes());
            let datagram = Incoming {
                from: 9001,
                ..incoming(name("MASTER0"), mailslot::BROWSE, message.emit())
            };
            browser.handle_remote_datagram(now, &datagram);
        }
        browser.handle_timeout(now);
        while let Some(event) = browser.poll_event() {
            if let BrowserEvent::Fetch { from, whole } = event {
                assert!(!whole);
                fetches.push(from);
                browser.handle_lists(now, from, None);
            }
        }
    }
    let mut different = fetches.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 64);
    assert!(fetches.len() <= 64 * (600 / 30 + 1), "{}", fetches.len());
}

#[test]
fn a_browser_that_takes_its_time_is_not_asked_twice_at_once() {
    let mut net = Net::new();
    net.join(0, routed("MASTER0", 40, true));
    net.run(MINUTE);
    let mut fetches = 0;
    for second in 0..600 {
        let now = net.now + Span::from_secs(second);
        let message = BrowserMessage::MasterAnnouncement(b"SLOW".to_vec());
        let datagram = Incoming {
            from: 9001,
            ..incoming(name("MASTER0"), mailslot::BROWSE, message.emit())
        };
        let browser = net.browsers.get_mut(&0).unwrap();
        browser.handle_remote_datagram(now, &datagram);
        browser.handle_timeout(now);
        let events = core::iter::from_fn(|| browser.poll_event());
        fetches += events
            .filter(|event| matches!(event, BrowserEvent::Fetch { .. }))
            .count();
    }
    assert_eq!(fetches, 1);
}

#[test]
fn a_list_that_changes_all_the_time_costs_one_search_a_minute() {
    let mut net = Net::routed();
    net.run(60 * MINUTE);
    net.sent.clear();
    for round in 0..100 {
        net.join(1100 + round, routed(&format!("J{round}"), 1, false));
        net.run(6_000);
    }
    let told = net
        .sent
        .iter()
        .filter(|(_, from, m)| *from == 1000 && matches!(m, BrowserMessage::MasterAnnouncement(_)));
    let told = told.count();
    assert!((5..=11).contains(&told), "{told} in ten minutes");
}

#[test]
fn master_announcements_count_for_a_domain_master_only() {
    let mut net = Net::new();
    net.join(0, routed("MASTER0", 40, false));
    net.run(MINUTE);
    let now = net.now;
    let message = BrowserMessage::MasterAnnouncement(b"OTHER".to_vec());
    let datagram = incoming(name("MASTER0"), mailslot::BROWSE, message.emit());
    let browser = net.browsers.get_mut(&0).unwrap();
    browser.handle_remote_datagram(now, &datagram);
    browser.handle_datagram(now, &datagram);
    net.run(ANNOUNCEMENT_INTERVAL);
    assert_eq!(net.browsers[&0].address_of(name("OTHER")), None);
}

#[test]
fn lists_of_others_are_bounded_and_do_not_contain_us() {
    let mut net = Net::routed();
    net.run(ANNOUNCEMENT_INTERVAL);
    let server = |name: Vec<u8>| ListedServer {
        name,
        version: (4, 0),
        server_type: 3,
        comment: Vec::new(),
    };
    let many = (0..10_000).map(|n| server(format!("x{n}").into_bytes()));
    let mut servers: Vec<ListedServer> = vec![server(b"MASTER0".to_vec()), server(Vec::new())];
    servers.extend(many);
    let now = net.now;
    for from in ["MASTER1", "MASTER2"] {
        let lists = Fetched {
            servers: servers.clone(),
            workgroups: Vec::new(),
        };
        let browser = net.browsers.get_mut(&0).unwrap();
        browser.handle_lists(now, name(from), Some(lists));
    }
    let remote: Vec<_> = net.browsers[&0].list().remote_servers().collect();
    assert_eq!(remote.len(), 2000);
    assert!(remote.iter().all(|server| server.name.starts_with(b"X")));
}
