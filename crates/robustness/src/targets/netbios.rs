//! Names beyond one node: the WINS server, lookups, and the files of names.

use std::net::{Ipv4Addr, SocketAddrV4};

use coax_netbios::{
    Browser, BrowserConfig, BrowserEvent, Fetched, Incoming, ListedServer, LmAnnounce, Lmhosts,
    LogonConfig, LogonServer, Lookup, LookupConfig, LookupStep, Messenger, NbtDatagrams,
    NbtDatagramsConfig, Network, Route, SYNC_INTERVAL, WinsConfig, WinsServer, parse_database,
};
use coax_wire::{
    mailslot::{self, MailslotMessage},
    nbt::{name::NbName, ns::QueryKind},
    time::{Span, Time},
};

use crate::choices::Choices;

const START: Time = Time(1_000_000_000);

/// A WINS server fed with datagrams from anywhere, each with its length before it. What it wrote can be read.
pub fn wins_server(data: &[u8]) {
    let config = WinsConfig {
        max_records: 50,
        ..WinsConfig::default()
    };
    let mut server = WinsServer::new(START, config, []);
    let mut now = START;
    let mut choices = Choices::new(data);
    for _ in 0..32 {
        let datagram = choices.counted();
        let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, choices.u8()), 137);
        let _ = server.wants(*from.ip(), datagram);
        server.handle_datagram(now, from, datagram);
        now = now + Span::from_millis(u64::from(choices.u8()));
        server.handle_timeout(now);
        while server.poll_transmit().is_some() {}
        while server.poll_event().is_some() {}
    }
    assert!(server.records().count() <= 50, "more records than allowed");
    let (records, bad) = parse_database(&server.database());
    assert!(bad.is_empty() && records.len() <= 50, "{bad:?}");
    let _ = parse_database(&String::from_utf8_lossy(data));
}

/// A lookup that hears anything ends nevertheless.
pub fn lookups(data: &[u8]) {
    let wins = Ipv4Addr::new(10, 0, 0, 1);
    let mut lookup = Lookup::new(
        START,
        LookupConfig {
            name: NbName::new(b"COAX", 0x20).unwrap().into(),
            kind: QueryKind::Addresses,
            steps: vec![LookupStep::Wins(wins), LookupStep::Broadcast],
            gather: Span::from_millis(500),
            first_id: 0x1234,
        },
    );
    let mut choices = Choices::new(data);
    let mut rounds = 0;
    while let Some(due) = lookup.poll_timeout() {
        let datagram = choices.counted();
        let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, choices.u8()), 137);
        lookup.handle_datagram(due, from, datagram);
        lookup.handle_timeout(due);
        while lookup.poll_transmit().is_some() {}
        rounds += 1;
        assert!(rounds < 1000, "the lookup does not end");
    }
}

/// An LMHOSTS file that includes itself.
pub fn lmhosts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let text: String = text.chars().take(4000).collect();
    let mut opened = 0;
    let lmhosts = Lmhosts::load("lmhosts", &mut |_| {
        opened += 1;
        match opened {
            1..40 => Ok(text.clone()),
            _ => Err("too many".into()),
        }
    });
    let name = NbName::new(b"COAX", 0x20).unwrap();
    let _ = lmhosts.addresses(&name, true);
    assert!(lmhosts.entries().len() <= 20_000 && lmhosts.problems().len() <= 100);
}

/// Packets of port 138 from anywhere, each with its length before it.
pub fn datagrams(data: &[u8]) {
    let address = Ipv4Addr::new(10, 0, 0, 1);
    let network = Network {
        address,
        prefix: 24,
    };
    let mut service = NbtDatagrams::new(NbtDatagramsConfig::new(network));
    let mut choices = Choices::new(data);
    let mut now = START;
    for _ in 0..32 {
        let packet = choices.counted();
        let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, choices.u8()), 138);
        service.handle_packet(now, from, packet);
        now = now + Span::from_millis(u64::from(choices.u8()));
        while let Some(incoming) = service.poll_incoming() {
            assert!(incoming.data.len() <= 65_535);
        }
    }
    assert!(service.poll_transmit().is_none(), "a reply to a packet");
}

/// A messenger and a log-on server fed with mailslot data, each with its length before it: answers are shorter than the
/// longest name allows, go to the sender, and are limited.
pub fn mailslots(data: &[u8]) {
    let name = |text: &[u8], suffix| NbName::new(text, suffix).unwrap();
    let mut messenger = Messenger::new(vec![name(b"COAX", 3)]);
    let mut logons = LogonServer::new(LogonConfig {
        computer: name(b"COAX", 0),
        domain: name(b"LAB", 0),
        primary: true,
    });
    let mut choices = Choices::new(data);
    let mut answers = 0;
    for _ in 0..64 {
        let (to, slot) = match choices.u8() % 4 {
            0 => (name(b"COAX", 3), mailslot::MESSENGER),
            1 => (name(b"LAB", 0x1b), mailslot::NETLOGON),
            _ => (name(b"LAB", 0x1c), mailslot::NETLOGON),
        };
        let data = choices.counted().to_vec();
        let incoming = Incoming {
            from: 7u8,
            source: name(b"WIN98", 0),
            destination: to,
            data: MailslotMessage::new(slot, data).emit(),
        };
        messenger.handle_datagram(&incoming);
        while let Some(received) = messenger.poll_message() {
            assert!(received.message.text.len() <= 1600);
        }
        logons.handle_datagram(START, &incoming);
        while let Some(answer) = logons.poll_outgoing() {
            assert!(answer.route == Route::Station(7) && answer.data.len() < 300);
            answers += 1;
        }
        while logons.poll_event().is_some() {}
    }
    assert!(answers <= 20, "{answers} answers at once");
}

/// A browser fed with messages, each with its length before it.
pub fn browser(data: &[u8]) {
    let name = |text: &[u8]| NbName::new(text, 0).unwrap();
    let mut choices = Choices::new(data);
    let flags = choices.u8();
    let config = BrowserConfig {
        computer: name(b"COAX"),
        workgroup: name(b"LAB"),
        comment: Vec::new(),
        version: (4, 9),
        server_type: 3,
        os_level: 20,
        local_master: true,
        preferred_master: false,
        domain_master: flags & 1 != 0,
        wins: true,
        answers_as_master: flags & 2 != 0,
        lm_announce: LmAnnounce::Auto,
        lm_interval_s: 60,
        sync_interval: SYNC_INTERVAL,
        seed: 7,
    };
    let mut now = START;
    let mut browser: Browser<u8> = Browser::new(now, config);
    for _ in 0..32 {
        let message = choices.counted().to_vec();
        let slot = match choices.u8() & 1 {
            0 => mailslot::BROWSE,
            _ => mailslot::LANMAN,
        };
        let suffix = [0x00, 0x1d, 0x1e, 0x1b][usize::from(choices.u8() & 3)];
        let incoming = Incoming {
            from: choices.u8(),
            source: name(b"CLIENT"),
            destination: name(b"LAB").with_suffix(suffix),
            data: MailslotMessage::new(slot, message).emit(),
        };
        match incoming.from & 1 {
            0 => browser.handle_datagram(now, &incoming),
            _ => browser.handle_remote_datagram(now, &incoming),
        }
        now = now + Span::from_millis(u64::from(choices.u8()) * 16);
        browser.handle_timeout(now);
        let sent = std::iter::from_fn(|| browser.poll_outgoing()).count();
        assert!(sent <= 16, "{sent} datagrams for one");
        exchange(now, &mut browser, &mut choices);
    }
    assert!(browser.list().servers().count() <= 32);
}

/// The browsers of other networks list anything, or fail.
fn exchange(now: Time, browser: &mut Browser<u8>, choices: &mut Choices<'_>) {
    for _ in 0..300 {
        match browser.poll_event() {
            None => break,
            Some(BrowserEvent::Fetch { from, .. }) => {
                let server = ListedServer {
                    name: choices.counted().to_vec(),
                    version: (4, 0),
                    server_type: u32::from(choices.u8()),
                    comment: Vec::new(),
                };
                let lists = Fetched {
                    servers: vec![server; usize::from(choices.u8()) * 32],
                    workgroups: Vec::new(),
                };
                browser.handle_lists(now, from, Some(lists).filter(|_| choices.u8() & 3 != 0));
            }
            Some(BrowserEvent::FindDomainMaster) => {
                let name = NbName::new(choices.counted(), 0).ok();
                let found = name.map(|name| (name, choices.u8()));
                browser.handle_domain_master(now, found);
            }
            Some(_) => {}
        }
    }
    let remote = browser.list().remote_servers().count();
    assert!(remote <= 2000, "{remote} servers of other networks");
}
