//! Connections written packet by packet: what one packet more or less makes of the account.

use coax_explain::{Cause, report::SentAgain};

use crate::common::flow::{Ends, Flow, SYN, Sent, share};

const MSS: i64 = 1000;
const ROUND_US: u64 = 40_000;

/// A connection seen next to the server, which may send `window` bytes before it hears of them.
fn beside_the_server(window: i64) -> Flow {
    Flow::begin(&Ends {
        port: 2000,
        near_us: ROUND_US,
        far_us: 50,
        mss: MSS as u16,
        window: window as u16,
    })
}

/// What the server sends of its data.
fn of_the_server(at_us: u64, seq: i64, len: i64) -> Sent<'static> {
    Sent {
        at_us,
        from: 1,
        seq,
        len: len as usize,
        ..Sent::default()
    }
}

/// A server that sends without end, seen next to it: the client acknowledges every second segment a round trip later, and
/// every acknowledgment lets go as many segments as `pieces` has, one after the other.
fn held(window: i64, pieces: &[i64]) -> Flow {
    let mut flow = beside_the_server(window);
    let (mut acks, mut sent) = (std::collections::VecDeque::new(), 0);
    let mut send =
        |flow: &mut Flow, acks: &mut std::collections::VecDeque<_>, at_us: u64, count: i64| {
            for place in 0..count {
                let at_us = at_us + place as u64 * 20;
                flow.send(of_the_server(at_us, sent, MSS));
                sent += MSS;
                if sent / MSS % 2 == 0 {
                    acks.push_back((at_us + ROUND_US, sent));
                }
            }
        };
    send(&mut flow, &mut acks, ROUND_US + 100, window / MSS);
    for piece in pieces.iter().cycle().take(400) {
        let (at_us, ack) = acks.pop_front().unwrap();
        flow.send(Sent {
            at_us,
            ack,
            window: window as u16,
            ..Sent::default()
        });
        send(&mut flow, &mut acks, at_us + 30, *piece);
    }
    flow
}

#[test]
fn a_sender_that_fills_the_window_to_the_last_byte_waits_for_the_window() {
    assert!(share(&held(20_000, &[2]), Cause::ReceiveWindow) >= 90);
}

#[test]
fn a_sender_that_leaves_room_for_a_segment_to_send_three_at_once_waits_for_the_window_too() {
    let flow = held(20_000, &[1, 3]);
    assert!(share(&flow, Cause::ReceiveWindow) >= 90);
    assert_eq!(share(&flow, Cause::SendWindow), 0);
}

/// A read or its answer, in its session packet: what of it is kept.
fn read_andx(mid: u16, is_answer: bool, words: &[u16], body: u32) -> Vec<u8> {
    let mut bytes = (body + 35 + words.len() as u32 * 2).to_be_bytes().to_vec();
    bytes.extend(b"\xffSMB\x2e");
    bytes.resize(36, 0);
    bytes[13] = if is_answer { 0x80 } else { 0 };
    bytes[34..].copy_from_slice(&mid.to_le_bytes());
    bytes.push(words.len() as u8);
    words
        .iter()
        .for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend((body as u16).to_le_bytes());
    bytes
}

/// A client that reads a file: the connection, and how far each side's data has come.
struct Reading {
    flow: Flow,
    asked: i64,
    told: i64,
}

impl Reading {
    fn begin(ends: &Ends) -> Self {
        let flow = Flow::begin(ends);
        Self {
            flow,
            asked: 0,
            told: 0,
        }
    }

    /// A read of `count` bytes at `offset`, sent at each of `times_us`.
    fn ask(&mut self, times_us: &[u64], mid: u16, offset: u16, count: u16) {
        let words = [0xff, 0, 7, offset, 0, count, count, 0, 0, 0];
        let data = read_andx(mid, false, &words, 0);
        for at_us in times_us {
            self.flow.send(Sent {
                at_us: *at_us,
                seq: self.asked,
                ack: self.told,
                data: &data,
                ..Sent::default()
            });
        }
        self.asked += data.len() as i64;
    }

    /// The next segment of an answer: `len` bytes, of which `data` was kept.
    fn answer(&mut self, at_us: u64, data: &[u8], len: usize) {
        self.flow.send(Sent {
            ack: self.asked,
            data,
            ..of_the_server(at_us, self.told, len as i64)
        });
        self.told += len as i64;
    }

    /// The client has all that it was told.
    fn acknowledge(&mut self, at_us: u64) {
        self.flow.send(Sent {
            at_us,
            seq: self.asked,
            ack: self.told,
            ..Sent::default()
        });
    }
}

/// The answer to a read of `count` bytes: what comes before them, and how long all of it is.
fn answer_to(mid: u16, count: u16) -> (Vec<u8>, usize) {
    let words = [0xff, 0, 0, 0, 0, count, 60, 0, 0, 0, 0, 0];
    let body = u32::from(count) + 1;
    let head = read_andx(mid, true, &words, body);
    let len = head.len() + body as usize;
    (head, len)
}

#[test]
fn the_file_s_short_end_may_overtake_the_block_before_it_though_no_header_was_kept() {
    const ASKED: [(u16, u16); 3] = [(1, 8000), (2, 8000), (3, 3000)];
    let mut reading = Reading::begin(&Ends {
        port: 445,
        near_us: 50,
        far_us: ROUND_US,
        mss: 60_000,
        window: 60_000,
    });
    for (mid, count) in ASKED {
        reading.ask(&[50_000], mid, (mid - 1) * 8000, count);
    }
    for (mid, count) in [ASKED[0], ASKED[2], ASKED[1]] {
        let (head, len) = answer_to(mid, count);
        // of the first all words are there, of the others not even the SMB header
        let kept = if mid == 1 { head.len() } else { 8 };
        reading.answer(90_000, &head[..kept], len);
    }
    let copy = &reading.flow.explained().copies[0];
    assert_eq!((copy.bytes, copy.holes), (19_000, (0, 0)));
    assert_eq!(
        (copy.requests[0].count, copy.requests[0].bytes),
        (3, 19_000)
    );
}

/// A server's data and what it hears of it, next to it: segments of 1,000 bytes by their place, `+` and milliseconds before
/// each, `<` before an acknowledgment up to a place, with the places that a SACK block goes from and to.
fn written(story: &str) -> Flow {
    let (mut flow, mut at_us) = (beside_the_server(60_000), 100_000);
    for word in story.split_whitespace() {
        let number = |text: &str| text.parse::<i64>().unwrap();
        if let Some(wait_ms) = word.strip_prefix('+') {
            at_us += number(wait_ms) as u64 * 1000;
        } else if let Some(ack) = word.strip_prefix('<') {
            let places: Vec<i64> = ack
                .split([',', '-'])
                .map(|place| number(place) * MSS)
                .collect();
            let sack = places.get(1..3).map(|block| (block[0], block[1]));
            let sack: Vec<_> = sack.into_iter().collect();
            flow.send(Sent {
                at_us,
                ack: places[0],
                sack: &sack,
                ..Sent::default()
            });
        } else {
            flow.send(of_the_server(at_us, number(word) * MSS, MSS));
        }
        at_us += 20;
    }
    flow
}

/// What was sent again in such a story.
fn repaired(story: &str) -> SentAgain {
    written(story).explained().connections[0].sides[1].again
}

#[test]
fn an_acknowledgment_that_tells_of_a_hole_makes_its_repair_a_fast_one_though_it_is_no_duplicate() {
    let again = repaired("0 1 2 3 +40 <1,2-4 +15 1 +40 <4 4 5 +40 <6");
    assert_eq!(
        again,
        SentAgain {
            fast: 1,
            ..SentAgain::default()
        }
    );
}

#[test]
fn what_follows_the_first_of_a_repair_is_of_its_kind_until_all_is_acknowledged() {
    let again = repaired("0 1 2 3 4 5 +40 <0,2-3 <0,2-4 <0,2-5 0 +40 <1,2-5 1 +40 <5 +40 <6");
    assert_eq!(
        again,
        SentAgain {
            fast: 2,
            ..SentAgain::default()
        }
    );
    let again = repaired("0 1 2 +300 0 +40 <1 1 +40 <2 2 +40 <3");
    assert_eq!(
        again,
        SentAgain {
            timer: 1,
            after_timer: 2,
            ..SentAgain::default()
        }
    );
}

#[test]
fn the_last_of_several_sent_again_unasked_is_a_probe_and_a_duplicate_sack_tells_it_was_needless() {
    let again = repaired("0 1 2 +90 2 +10 <3 +30 <3,2-3 3 4 +40 <5");
    assert_eq!(
        again,
        SentAgain {
            probe: 1,
            needless: 1,
            ..SentAgain::default()
        }
    );
}

#[test]
fn a_probe_is_followed_by_a_timer_and_a_lone_segment_is_probed_by_who_was_seen_to_probe() {
    let again = repaired("0 1 2 +90 2 +300 0 +40 <3");
    assert_eq!((again.probe, again.timer), (1, 1));
    let lone = "0 +250 0 +40 <1 ";
    assert_eq!(repaired(lone).timer, 1);
    assert_eq!(repaired(&format!("{lone} 1 2 +90 2 +40 <3")).probe, 2);
}

#[test]
fn a_silence_before_what_leaves_a_hole_in_a_message_was_a_timer_s_not_the_sender_s_own() {
    let ends = Ends {
        port: 2000,
        near_us: 2_000,
        far_us: 50,
        mss: MSS as u16,
        window: 60_000,
    };
    let (mut flow, mut at_us) = (Flow::begin(&ends), 10_000);
    // of two segments the second is lost; a probe sends the third, and then the second comes again
    for place in (0..300).step_by(3) {
        for (wait_us, place, ack) in [
            (3_000, place, 1),
            (14_000, place + 2, 1),
            (3_000, place + 1, 3),
        ] {
            at_us += wait_us;
            let (seq, len) = (place * MSS, MSS as usize);
            flow.send(Sent {
                at_us,
                seq,
                len,
                ..Sent::default()
            });
            let ack = (place - place % 3 + ack) * MSS;
            let hole = [(seq, seq + MSS)];
            let sack = if wait_us > 10_000 { &hole[..] } else { &[] };
            flow.send(Sent {
                at_us: at_us + 30,
                from: 1,
                ack,
                sack,
                ..Sent::default()
            });
        }
    }
    assert!(share(&flow, Cause::Timeout) >= 50);
    assert!(share(&flow, Cause::ClientThink) <= 10);
}

#[test]
fn who_sends_a_segment_when_the_one_before_it_is_acknowledged_waits_for_that_though_the_path_is_slow()
 {
    let mut flow = Flow::begin(&Ends {
        port: 2000,
        near_us: 3_500,
        far_us: 50,
        mss: MSS as u16,
        window: 60_000,
    });
    for place in 0..200 {
        let at_us = 20_000 + place as u64 * 14_550;
        flow.send(Sent {
            at_us,
            seq: place * MSS,
            len: MSS as usize,
            ..Sent::default()
        });
        flow.send(Sent {
            at_us: at_us + 20,
            from: 1,
            ack: (place + 1) * MSS,
            ..Sent::default()
        });
    }
    assert!((10..=18).contains(&share(&flow, Cause::SendWindow)));
    assert!(share(&flow, Cause::Bandwidth) >= 80);
}

#[test]
fn what_is_sent_again_and_again_to_a_machine_that_is_busy_waits_for_that_machine() {
    let mut reading = Reading::begin(&Ends {
        port: 445,
        near_us: 50,
        far_us: ROUND_US,
        mss: 1460,
        window: 60_000,
    });
    for mid in 1..20_u16 {
        let at_us = |after_ms| (u64::from(mid) * 4000 + after_ms) * 1000;
        reading.ask(&[0, 300, 900, 2100].map(at_us), mid, 0, 1000);
        let (head, len) = answer_to(mid, 1000);
        reading.answer(at_us(3000), &head, len);
    }
    assert_eq!(share(&reading.flow, Cause::Timeout), 0);
    assert!(share(&reading.flow, Cause::ServerThink) >= 70);
}

#[test]
fn a_block_that_leaves_at_once_waits_for_the_path_from_its_first_segment_on() {
    let mut reading = Reading::begin(&Ends {
        port: 445,
        near_us: 2,
        far_us: 200,
        mss: 1460,
        window: 60_000,
    });
    for mid in 1..20_u16 {
        let mut at_us = u64::from(mid) * 1000;
        reading.ask(&[at_us], mid, 0, 14_000);
        let (head, len) = answer_to(mid, 14_000);
        at_us += 200;
        // ten segments, 13 µs each: all of them leave before word can come that one arrived
        for done in (0..len).step_by(1460) {
            at_us += 13;
            let data = if done == 0 { &head[..] } else { &[] };
            reading.answer(at_us, data, (len - done).min(1460));
            reading.acknowledge(at_us + 1);
        }
    }
    assert_eq!(share(&reading.flow, Cause::SendWindow), 0);
    assert_eq!(share(&reading.flow, Cause::SlowStart), 0);
    assert!((11..=14).contains(&share(&reading.flow, Cause::Bandwidth)));
}

/// A server that sends ten segments whenever it may, seen next to it: the client's program reads a second after they came.
/// What is then left of the window is `rest`; the server probes it with `probes` bytes.
fn read_late(rest: i64, probes: u64) -> Flow {
    const WINDOW: i64 = 10 * MSS;
    let mut flow = beside_the_server(WINDOW + rest);
    for round in 0..30 {
        let (begin_us, seq) = (ROUND_US + 200 + round * 1_100_000, round as i64 * WINDOW);
        for place in 0..10 {
            let at_us = begin_us + place * 20;
            flow.send(of_the_server(at_us, seq + place as i64 * MSS, MSS));
        }
        let ack = |at_us, window: i64| Sent {
            at_us: begin_us + at_us,
            ack: seq + WINDOW,
            window: window as u16,
            ..Sent::default()
        };
        flow.send(ack(ROUND_US + 200, rest));
        for probe in 0..probes {
            let at_us = 200_000 * (probe + 1);
            flow.send(of_the_server(begin_us + at_us, seq + WINDOW, 1));
            flow.send(ack(at_us + ROUND_US, rest));
        }
        flow.send(ack(1_099_900, WINDOW + rest));
    }
    flow
}

#[test]
fn who_has_no_room_for_a_segment_waits_for_the_other_program_to_read_probes_or_none() {
    for (rest, probes) in [(0, 0), (0, 1), (0, 4), (MSS / 2, 0)] {
        let flow = read_late(rest, probes);
        let zero = share(&flow, Cause::ClientThink);
        assert!((94..=97).contains(&zero), "{rest} {probes}: {zero}");
        let window = share(&flow, Cause::ReceiveWindow);
        assert!((2..=4).contains(&window), "{rest} {probes}: {window}");
        let connection = &flow.explained().connections[0];
        assert_eq!(connection.sides[1].retransmissions, 0, "{probes}");
    }
}

#[test]
fn who_heeds_no_word_of_a_loss_waits_for_its_timer_whatever_it_sends_meanwhile_to_the_nanosecond() {
    // told three times of a loss, and it repairs that by its timer all the same
    let deaf = "0 1 2 3 4 +40 <0,1-2 <0,1-3 <0,1-4 +300 0 +40 <5";
    // the same again; before its timer is up it sends something new
    let again = "5 6 7 8 9 +40 <5,6-7 <5,6-8 <5,6-9 +70 10 +200 5 +40 <11";
    let capture = written(&format!("{deaf} {again} 11 +40 <12")).explained();
    let copy = &capture.copies[0];
    assert_eq!(copy.account.total(), copy.wall);
    // each silence and the way there and back: 340 and 40 ms, 110 until the new data, 200 after it, and 40
    let waited_ms = copy.account.get(Cause::Timeout).0 / 1_000_000;
    assert!((725..735).contains(&waited_ms), "{waited_ms}");
}

#[test]
fn what_a_capture_of_one_direction_lacks_is_the_capture_s_though_nobody_is_seen_to_acknowledge_it()
{
    let mut flow = beside_the_server(60_000);
    for place in (0..5000).filter(|place| *place != 50) {
        flow.send(of_the_server(
            100_000 + place as u64 * 1000,
            place * MSS,
            MSS,
        ));
    }
    let capture = flow.explained();
    let (quality, copy) = (&capture.quality, &capture.copies[0]);
    assert_eq!((quality.holes, quality.missing_bytes), (1, MSS as u64));
    assert_eq!((copy.bytes, copy.account.total()), (4_999_000, copy.wall));
    assert!(copy.account.get(Cause::Capture) > coax_wire::time::Span(0));
}

#[test]
fn a_syn_that_comes_again_begins_no_other_connection_and_one_with_another_number_does() {
    for (seq, connections) in [(-1, 1), (70_000, 2)] {
        let mut flow = beside_the_server(60_000);
        flow.send(Sent {
            at_us: 90_000,
            seq,
            flags: SYN,
            ..Sent::default()
        });
        flow.send(of_the_server(100_000, 0, MSS));
        let capture = flow.explained();
        assert_eq!(capture.connections.len(), connections);
        assert_eq!(capture.copies[0].bytes, MSS as u64);
    }
}

/// Two clients' reads on connections of the same hosts, seen next to the client. The answers take turns on a path of 1 Mbit/s.
fn in_turns() -> [Flow; 2] {
    const SEGMENT_US: u64 = 8_320;
    const COUNT: u16 = 30_000;
    let mut readings = [445, 4450].map(|port| {
        Reading::begin(&Ends {
            port,
            near_us: 50,
            far_us: 2000,
            mss: MSS as u16,
            window: 60_000,
        })
    });
    for reading in &mut readings {
        reading.ask(&[10_000], 1, 0, COUNT);
    }
    let mut at_us = 12_000;
    for turn in 0..24 {
        let (reading, mid) = (&mut readings[turn % 2], 1 + turn as u16 / 2);
        let (head, len) = answer_to(mid, COUNT);
        for start in (0..len).step_by(MSS as usize) {
            at_us += SEGMENT_US;
            let data = if start == 0 { head.as_slice() } else { &[] };
            reading.answer(at_us, data, (len - start).min(MSS as usize));
            reading.acknowledge(at_us + 20);
        }
        reading.ask(&[at_us + 100], mid + 1, mid, COUNT);
    }
    readings.map(|reading| reading.flow)
}

#[test]
fn an_answer_behind_the_answers_to_another_connection_waited_in_their_queue() {
    let capture = Flow::explained_together(in_turns());
    assert_eq!(capture.copies.len(), 2);
    for copy in &capture.copies {
        let part = |cause| copy.account.get(cause).0 * 100 / copy.wall.0;
        assert!(part(Cause::Queueing) >= 35, "{:?}", copy.account);
        assert!(part(Cause::ServerThink) <= 15, "{:?}", copy.account);
    }
}

/// Reads of two clients, seen next to their server. Their answers pass a path of 1 Mbit/s that both share, or one each; a client asks for
/// more when it has an answer and `think_us` have passed. The second client begins at `second_us`.
fn beside_one_server(is_shared: bool, think_us: u64, second_us: u64) -> [Flow; 2] {
    const SEGMENT_US: u64 = 8_320;
    const BACK_US: u64 = 2000;
    const COUNT: u16 = 30_000;
    let mut readings = [0; 2].map(|_| {
        Reading::begin(&Ends {
            port: 445,
            near_us: BACK_US,
            far_us: 50,
            mss: MSS as u16,
            window: 60_000,
        })
    });
    let (mut asks_us, mut free_us) = ([10_000, second_us], [0; 2]);
    for turn in 0..40 {
        let (place, mid) = (turn % 2, 1 + turn as u16 / 2);
        let (reading, asked_us) = (&mut readings[place], asks_us[place]);
        reading.ask(&[asked_us], mid, mid, COUNT);
        let (head, len) = answer_to(mid, COUNT);
        let begin = reading.told;
        for start in (0..len).step_by(MSS as usize) {
            let data = if start == 0 { head.as_slice() } else { &[] };
            reading.answer(asked_us + 200, data, (len - start).min(MSS as usize));
        }
        let path_us = &mut free_us[if is_shared { 0 } else { place }];
        *path_us = (*path_us).max(asked_us + 200);
        for end in (0..len).step_by(MSS as usize).skip(1).chain([len]) {
            *path_us += SEGMENT_US;
            reading.flow.send(Sent {
                at_us: *path_us + BACK_US,
                seq: reading.asked,
                ack: begin + end as i64,
                ..Sent::default()
            });
        }
        asks_us[place] = *path_us + BACK_US + 100 + think_us;
    }
    let [one, other] = readings.map(|reading| reading.flow);
    [one, other.of_client(3)]
}

/// The parts of the copies' time that these causes took, percent.
fn parts(flows: [Flow; 2], cause: Cause) -> Vec<u64> {
    let capture = Flow::explained_together(flows);
    let copies = capture.copies.iter();
    copies
        .map(|copy| copy.account.get(cause).0 * 100 / copy.wall.0)
        .collect()
}

#[test]
fn a_request_behind_an_answer_to_another_client_waited_in_the_queue_of_their_path() {
    let queueing = parts(beside_one_server(true, 0, 50_000), Cause::Queueing);
    assert!(queueing.iter().all(|part| *part >= 40), "{queueing:?}");
    let think = parts(beside_one_server(true, 0, 50_000), Cause::ClientThink);
    assert!(think.iter().all(|part| *part <= 10), "{think:?}");
}

#[test]
fn a_client_that_has_a_path_of_its_own_waits_for_no_other() {
    // as long as an answer takes: both begin at the same time, or in turns as on one path
    for second_us in [20_000, 195_000] {
        let flows = || beside_one_server(false, 175_000, second_us);
        let queueing = parts(flows(), Cause::Queueing);
        assert!(queueing.iter().all(|part| *part <= 5), "{queueing:?}");
        let think = parts(flows(), Cause::ClientThink);
        assert!(think.iter().all(|part| *part >= 40), "{think:?}");
    }
}
