use super::super::*;
use super::lan::{Lan, mac, name, pattern};

const ACK: u8 = 0x14;
const CONTINUE: u8 = 0x1c;

fn count(lan: &Lan, command: u8) -> usize {
    lan.commands()
        .iter()
        .filter(|found| **found == command)
        .count()
}

#[test]
fn a_call_opens_a_session_with_both_names_at_both_ends() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    let opened = |session, peer, incoming| NbfEvent::SessionOpened {
        session,
        peer,
        called: name("SERVER<20>"),
        calling: name("CLIENT<00>"),
        incoming,
    };
    assert_eq!(lan.events[1], [opened(client, mac(1), false)]);
    assert_eq!(lan.events[0], [opened(server, mac(2), true)]);
}

#[test]
fn messages_of_every_length_arrive_whole_in_both_directions() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    let lengths = [0, 1, 1481, 1482, 1483, 2964, 2965, 65_536, 131_071];
    for (at, len) in lengths.into_iter().enumerate() {
        lan.stations[1]
            .send(lan.now, client, pattern(len, at))
            .unwrap();
        lan.stations[0]
            .send(lan.now, server, pattern(len, at + 7))
            .unwrap();
        lan.run(Span::from_secs(1));
    }
    let wanted = |by: usize| -> Vec<Vec<u8>> {
        lengths
            .iter()
            .enumerate()
            .map(|(at, len)| pattern(*len, at + by))
            .collect()
    };
    assert_eq!(lan.messages(0, server), wanted(0));
    assert_eq!(lan.messages(1, client), wanted(7));
    assert_eq!(lan.stations[0].buffered(), 0);
}

#[test]
fn only_the_first_message_of_several_pieces_waits_for_receive_continue() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    lan.log.clear();
    for _ in 0..3 {
        lan.stations[1]
            .send(lan.now, client, pattern(9000, 1))
            .unwrap();
        lan.run(Span::from_secs(1));
    }
    assert_eq!(lan.messages(0, server).len(), 3);
    assert_eq!(count(&lan, CONTINUE), 1);
}

/// As frames 75 to 87 of tests/captures/dos-win98-netbeui.pcap: acknowledgments travel with requests and responses, and
/// only the last goes alone.
#[test]
fn requests_and_responses_acknowledge_each_other() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    lan.log.clear();
    for _ in 0..10 {
        lan.stations[1]
            .send(lan.now, client, b"request".to_vec())
            .unwrap();
        lan.run(Span::from_millis(5));
        lan.stations[0]
            .send(lan.now, server, b"response".to_vec())
            .unwrap();
        lan.run(Span::from_millis(5));
    }
    assert_eq!(count(&lan, ACK), 0);
    lan.run(Span::from_millis(200));
    assert_eq!(count(&lan, ACK), 1);
    assert!(lan.stations[0].can_send(server));
}

/// A client with two requests has nothing to send until it has both replies, so the first is to be acknowledged at once.
#[test]
fn a_reply_does_not_wait_for_the_acknowledgment_of_the_one_before() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    for text in [b"one", b"two"] {
        lan.stations[1]
            .send(lan.now, client, text.to_vec())
            .unwrap();
    }
    lan.run(Span::from_millis(100));
    assert_eq!(lan.messages(0, server).len(), 2);
    for text in [b"1st", b"2nd"] {
        lan.stations[0]
            .send(lan.now, server, text.to_vec())
            .unwrap();
        lan.run(Span::from_millis(5));
    }
    assert_eq!(lan.messages(1, client), [b"1st", b"2nd"]);
}

#[test]
fn a_message_that_is_not_consumed_is_not_acknowledged() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    lan.consuming = false;
    for text in [b"one", b"two"] {
        lan.stations[1]
            .send(lan.now, client, text.to_vec())
            .unwrap();
    }
    let third = lan.stations[1].send(lan.now, client, b"three".to_vec());
    assert_eq!(third, Err(Refused::Busy));
    lan.run(Span::from_secs(5));
    assert_eq!(lan.messages(0, server), [b"one"]);
    lan.stations[0].consumed(lan.now, server);
    lan.run(Span::from_secs(5));
    assert_eq!(lan.messages(0, server), [b"one", b"two"]);
}

#[test]
fn a_crowded_station_stops_its_peers_and_lets_them_go_on() {
    let mut lan = Lan::pair_with(|config| config.max_buffered = 100);
    let sessions: Vec<_> = (0..3).map(|_| lan.call(1, 0, "SERVER<20>")).collect();
    lan.consuming = false;
    lan.log.clear();
    for (client, _) in &sessions {
        lan.stations[1]
            .send(lan.now, *client, pattern(5000, 3))
            .unwrap();
        lan.run(Span::from_secs(1));
    }
    assert_eq!(count(&lan, 0x1a), 2, "NO RECEIVE");
    assert_eq!(lan.messages(0, sessions[0].1).len(), 1);
    for (_, server) in &sessions {
        lan.stations[0].consumed(lan.now, *server);
        lan.run(Span::from_secs(1));
    }
    // Both go on at once, and one of them is stopped again.
    assert_eq!(
        (count(&lan, 0x1a), count(&lan, 0x1b)),
        (3, 3),
        "RECEIVE OUTSTANDING"
    );
    for (_, server) in &sessions {
        assert_eq!(lan.messages(0, *server), [pattern(5000, 3)]);
    }
}

#[test]
fn messages_without_acknowledgment_are_done_when_the_link_has_them() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    lan.log.clear();
    for at in 0..20 {
        lan.stations[1]
            .send_no_ack(lan.now, client, pattern(3000, at))
            .unwrap();
        lan.run(Span::from_millis(10));
    }
    lan.run(Span::from_secs(1));
    assert_eq!(lan.messages(0, server).len(), 20);
    assert_eq!(lan.messages(0, server)[19], pattern(3000, 19));
    assert_eq!((count(&lan, ACK), count(&lan, CONTINUE)), (0, 0));
}

#[test]
fn hanging_up_delivers_what_waits_and_closes_the_link() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    lan.stations[1]
        .send(lan.now, client, pattern(50_000, 1))
        .unwrap();
    lan.stations[1].hang_up(lan.now, client);
    lan.run(Span::from_secs(1));
    assert_eq!(lan.messages(0, server), [pattern(50_000, 1)]);
    let closed = |session, why| NbfEvent::SessionClosed { session, why };
    assert!(lan.events[0].contains(&closed(server, SessionClose::Peer)));
    assert!(lan.events[1].contains(&closed(client, SessionClose::Local)));
    for station in &lan.stations {
        assert_eq!((station.session_count(), station.link_count()), (0, 0));
    }
    // The next call opens the link anew, also while the old one is being closed.
    let (client, _) = lan.call(1, 0, "SERVER<20>");
    lan.stations[1].abort(lan.now, client);
    lan.call(1, 0, "SERVER<20>");
    let aborted = |event: &NbfEvent| matches!(event, NbfEvent::SessionClosed { why, .. } if *why == SessionClose::PeerAborted);
    assert!(lan.events[0].iter().any(aborted));
}

#[test]
fn a_station_that_goes_away_ends_all_sessions_of_its_link() {
    let mut lan = Lan::pair();
    let sessions: Vec<_> = (0..5).map(|_| lan.call(1, 0, "SERVER<20>")).collect();
    lan.unplugged.push(1);
    // SESSION ALIVE after 30 s, then T1 nine times.
    lan.run(Span::from_secs(40));
    for (_, server) in sessions {
        assert!(lan.events[0].contains(&NbfEvent::SessionClosed {
            session: server,
            why: SessionClose::Link(LinkEnd::NoAnswer),
        }));
    }
    assert_eq!(
        (
            lan.stations[0].session_count(),
            lan.stations[0].link_count()
        ),
        (0, 0)
    );
}

#[test]
fn calls_fail_with_the_reason() {
    let mut lan = Lan::pair();
    let mut fails = |called: &str| {
        let id = lan.stations[1]
            .call(lan.now, name(called), name("CLIENT<00>"))
            .unwrap();
        lan.run(Span::from_secs(3));
        let event = lan.events[1].pop().unwrap();
        let NbfEvent::CallFailed { session, why } = event else {
            panic!("{event:?}");
        };
        assert_eq!(session, id);
        why
    };
    assert_eq!(fails("NOBODY<20>"), CallError::NoAnswer);
    assert_eq!(fails("LAB<00>"), CallError::NotListening);
    assert_eq!(lan.stations[1].session_count(), 0);
}

#[test]
fn two_stations_that_call_each_other_at_once_share_a_link() {
    let mut lan = Lan::pair_with(|config| config.names[0].listens = true);
    let now = lan.now;
    let one = lan.stations[0]
        .call(now, name("CLIENT<00>"), name("SERVER<20>"))
        .unwrap();
    let two = lan.stations[1]
        .call(now, name("SERVER<20>"), name("CLIENT<00>"))
        .unwrap();
    lan.run(Span::from_secs(3));
    assert!(
        lan.opened(0).contains(&one) && lan.opened(1).contains(&two),
        "{:?}",
        lan.events
    );
    assert_eq!((lan.opened(0).len(), lan.opened(1).len()), (2, 2));
    assert_eq!(
        (lan.stations[0].link_count(), lan.stations[1].link_count()),
        (1, 1)
    );
}

#[test]
fn no_byte_is_lost_or_doubled_on_a_session_whatever_the_network_does() {
    for seed in 0..12 {
        let mut lan = Lan::pair_with(|config| {
            config.link.retries = 50;
            config.link.window = [1, 2, 7, 40][(seed % 4) as usize];
        });
        let pairs: Vec<_> = (0..3).map(|_| lan.call(1, 0, "SERVER<20>")).collect();
        lan.seed(seed + 1);
        (lan.loss, lan.duplication) = (20 * (seed % 5), 30 * (seed % 3));
        let mut sent = [0usize; 3];
        let mut answered = [0usize; 3];
        let until = lan.now + Span::from_secs(40_000);
        loop {
            for (at, (client, server)) in pairs.iter().enumerate() {
                if sent[at] < 25 && lan.stations[1].can_send(*client) {
                    let message = pattern(sent[at] * 997 % 20_000, at + sent[at]);
                    lan.stations[1].send(lan.now, *client, message).unwrap();
                    sent[at] += 1;
                }
                if answered[at] < 25 && lan.stations[0].can_send(*server) {
                    let message = pattern(answered[at] * 1499 % 30_000, at + answered[at] + 5);
                    lan.stations[0].send(lan.now, *server, message).unwrap();
                    answered[at] += 1;
                }
            }
            let arrived: usize = pairs
                .iter()
                .map(|(client, server)| {
                    lan.messages(1, *client).len() + lan.messages(0, *server).len()
                })
                .sum();
            if arrived == 150 {
                break;
            }
            for _ in 0..20 {
                assert!(lan.step(until), "seed {seed}: {arrived} messages");
            }
        }
        for (at, (client, server)) in pairs.iter().enumerate() {
            let requests: Vec<_> = (0..25).map(|n| pattern(n * 997 % 20_000, at + n)).collect();
            let replies: Vec<_> = (0..25)
                .map(|n| pattern(n * 1499 % 30_000, at + n + 5))
                .collect();
            assert_eq!(lan.messages(0, *server), requests, "seed {seed}");
            assert_eq!(lan.messages(1, *client), replies, "seed {seed}");
        }
    }
}
