//! Tables of timelines and the charges that they give.

mod recovery;

use super::*;
use crate::timeline::{
    AckSample, Blocked, Delays, LossSignals, MessagePosition, Missing, Novelty, SendLimit,
};

const MS: u64 = 1_000_000;

/// New data that the client sends at `at_ms`: nothing is lost or missing, and nothing was known to keep it.
/// The capture is at the client's end of a path of 10 ms; a segment takes 1 ms to carry.
fn data(at_ms: u64, start: u64, len: u64) -> Advance {
    Advance {
        at: Time(at_ms * MS),
        side: Side::Client,
        len,
        wire: len + 78,
        novelty: Some(Novelty::New),
        missing: Missing {
            unseen: false,
            leaves_hole: false,
            is_beyond_hole: false,
            lacks: false,
            has_all: false,
            was_claimed: false,
        },
        told: LossSignals {
            loss: None,
            enough: None,
            clock: (Time(0), Time(0)),
            first: None,
            second: None,
            peer: None,
        },
        acked: 0,
        end: start + len,
        highest: start,
        before: None,
        knew: None,
        heard: None,
        asked: None,
        near: Span(0),
        far: Span::from_millis(10),
        serial: Span::from_millis(1),
        serial_ack: Span(0),
        is_behind: false,
        again: None,
        is_next: false,
        busy: (Time(0), Time(0)),
        other_busy: (Time(0), Time(0)),
        late: Span(0),
        place: MessagePosition {
            asks_ahead: false,
            inside: false,
            is_middle: false,
            is_cut: false,
            is_full: true,
            is_event: false,
            purpose: Purpose::Data,
        },
        is_framed: false,
        is_by_timer: false,
        held_by: None,
        full: None,
        saturated: None,
        carrying: 0,
        queued_for: Span(0),
        order: None,
        is_late_alone: false,
        delays: Delays::Unknown,
        ack_delays: Delays::Unknown,
        hole_since: None,
        least_timer: None,
        is_shared: false,
        rivals: Span(0),
    }
}

/// The charges of a connection that starts at 0, in milliseconds.
fn charges(timeline: &[Advance]) -> Vec<(Cause, u64)> {
    let mut charger = Charger::starting(Time(0));
    timeline.iter().for_each(|advance| charger.advance(advance));
    let last = timeline.last().map_or(Time(0), |last| last.at);
    assert_eq!(
        charger.account().total(),
        last - Time(0),
        "all time must be charged"
    );
    charger
        .take_charges()
        .map(|charge| (charge.cause, charge.span.0 / MS))
        .collect()
}

fn is_charged(timeline: &[Advance], expected: &[(Cause, u64)]) {
    assert_eq!(charges(timeline), expected);
}

#[test]
fn behind_a_path_that_others_share_each_packet_shows_when_it_was_carried() {
    let shared = |is_behind| {
        let next = Advance {
            saturated: Some(300),
            before: Some(Time(20 * MS)),
            is_behind,
            ..data(30, 1000, 1000)
        };
        let timeline = [data(20, 0, 1000), next];
        [Cause::Bandwidth, Cause::Queueing].map(|cause| spent(&timeline, cause))
    };
    // before the path only the share is known
    assert_eq!(shared(false), [3, 7]);
    assert_eq!(shared(true), [1, 9]);
}

#[test]
fn a_client_that_sends_unasked_was_busy_itself() {
    is_charged(&[data(20, 0, 100)], &[(Cause::ClientThink, 20)]);
}

/// A server's answer, 30 ms after the connection's start, to a request that the path had carried at 6 ms.
fn answer() -> Advance {
    let asked = SentSegment {
        at: Time(5 * MS),
        carried: Time(6 * MS),
        end: 100,
        is_whole: true,
    };
    Advance {
        side: Side::Server,
        asked: Some(asked),
        near: Span::from_millis(10),
        far: Span(0),
        is_behind: true,
        before: Some(Time(0)),
        ..data(30, 0, 100)
    }
}

#[test]
fn a_server_that_answers_took_what_the_way_there_and_back_leaves() {
    let expected = [
        (Cause::ClientThink, 5),
        (Cause::ServerThink, 13),
        (Cause::Bandwidth, 1),
        (Cause::RoundTrips, 10),
        (Cause::Bandwidth, 1),
    ];
    is_charged(&[data(5, 0, 100), answer()], &expected);
}

#[test]
fn a_server_that_reports_an_event_was_not_busy_before() {
    let mut event = answer();
    event.place.is_event = true;
    let expected = [
        (Cause::ClientThink, 18),
        (Cause::Bandwidth, 1),
        (Cause::RoundTrips, 10),
        (Cause::Bandwidth, 1),
    ];
    is_charged(&[data(5, 0, 100), event], &expected);
}

#[test]
fn a_packet_that_acknowledges_missing_data_hides_what_it_waited_for() {
    let mut packet = data(20, 0, 100);
    packet.missing.unseen = true;
    is_charged(&[packet], &[(Cause::Capture, 20)]);
}

#[test]
fn a_full_window_and_a_busy_server_explain_any_packet() {
    let cases = [
        (Blocked::Window, Cause::ReceiveWindow),
        (Blocked::Fed, Cause::ServerThink),
    ];
    for (held_by, cause) in cases {
        let packet = Advance {
            held_by: Some(held_by),
            ..data(20, 0, 100)
        };
        is_charged(&[packet], &[(cause, 20)]);
    }
}

#[test]
fn a_retransmission_after_three_duplicate_acks_is_fast_recovery_and_after_a_silence_a_timeout() {
    let lost = |at_ms, told: LossSignals| {
        let again = Advance {
            novelty: Some(Novelty::Again),
            told,
            highest: 3000,
            before: Some(Time(5 * MS)),
            ..data(at_ms, 0, 1000)
        };
        // the acknowledgment of the retransmission decides that it was needed
        let heard = AckSample {
            at: Time((at_ms + 12) * MS),
            carried: Time((at_ms + 12) * MS),
            acked: 3000,
            edge: 9000,
            ..AckSample::default()
        };
        let next = Advance {
            acked: 3000,
            heard: Some(heard),
            knew: Some(SendLimit::default()),
            before: Some(again.at),
            ..data(at_ms + 12, 3000, 1000)
        };
        charges(&[data(5, 0, 3000), again, next])
    };
    let told = data(0, 0, 0).told;
    let fast = LossSignals {
        loss: Some(Time(15 * MS)),
        enough: Some(Time(15 * MS)),
        ..told
    };
    let has = |charges: &[(Cause, u64)], cause| charges.iter().any(|(found, _)| *found == cause);
    let (by_acks, by_timer) = (lost(16, fast), lost(305, told));
    assert!(has(&by_acks, Cause::FastRecovery), "{by_acks:?}");
    assert!(!has(&by_acks, Cause::Timeout), "{by_acks:?}");
    assert!(by_timer.contains(&(Cause::Timeout, 300)), "{by_timer:?}");
}

#[test]
fn what_waited_in_a_queue_at_its_receiver_was_not_sent_by_a_timer() {
    let mut again = data(85, 0, 1000);
    again.novelty = Some(Novelty::Again);
    again.is_behind = true;
    again.near = Span::from_millis(10);
    again.before = Some(Time(19 * MS));
    again.told.loss = Some(Time(20 * MS));
    assert!(crate::timeline::is_timer(&again));
    again.queued_for = Span::from_millis(50);
    assert!(!crate::timeline::is_timer(&again));
}

#[test]
fn an_acknowledgment_of_two_segments_was_not_delayed_by_its_receiver() {
    let waited = |is_of_two, next| {
        let of = SentSegment {
            at: Time(5 * MS),
            carried: Time(6 * MS),
            end: 3000,
            is_whole: false,
        };
        let heard = AckSample {
            at: Time(166 * MS),
            carried: Time(166 * MS),
            acked: 3000,
            edge: 90_000,
            is_of_two,
            next,
            of: Some(of),
            ..AckSample::default()
        };
        let mut next = Advance {
            acked: 3000,
            heard: Some(heard),
            knew: Some(SendLimit {
                edge: 90_000,
                ..SendLimit::default()
            }),
            before: Some(Time(5 * MS)),
            ..data(166, 3000, 1000)
        };
        (next.place.inside, next.place.is_middle) = (true, true);
        let found = charges(&[data(5, 0, 3000), next]);
        let delayed = |charge: &&(Cause, u64)| charge.0 == Cause::NagleDelayedAck;
        found
            .iter()
            .filter(delayed)
            .map(|charge| charge.1)
            .sum::<u64>()
    };
    assert!(waited(false, None) > 100, "{}", waited(false, None));
    assert_eq!(waited(true, None), 0);
    // nor one of a single segment, if the next one was behind it: the path let both wait
    assert_eq!(waited(false, Some(Time(30 * MS))), 0);
    assert!(waited(false, Some(Time(150 * MS))) > 100);
}

/// What is charged up to a request that begins when its client heard of `acked` bytes of the 60,000 before it, long after an answer.
fn until_next_request(acked: u64, asks_ahead: bool) -> [u64; 2] {
    let sent = |at_ms, end| SentSegment {
        at: Time(at_ms * MS),
        carried: Time(at_ms * MS),
        end,
        is_whole: true,
    };
    let mut next = Advance {
        heard: Some(AckSample {
            at: Time(70 * MS),
            carried: Time(70 * MS),
            acked,
            edge: 900_000,
            is_of_two: true,
            next: None,
            of: Some(sent(5, acked)),
            ..AckSample::default()
        }),
        knew: Some(SendLimit {
            edge: 900_000,
            ..SendLimit::default()
        }),
        before: Some(Time(5 * MS)),
        asked: Some(sent(10, 50)),
        ..data(71, 60_000, 1000)
    };
    next.place.asks_ahead = asks_ahead;
    let timeline = [data(5, 0, 60_000), next];
    [Cause::SendWindow, Cause::ClientThink].map(|cause| spent(&timeline, cause))
}

#[test]
fn a_client_that_asks_ahead_waits_for_its_send_buffer_and_another_thinks() {
    // the first 5 ms of both are the client's
    let [buffer, think] = until_next_request(45_000, true);
    assert!(buffer >= 60 && think <= 6, "{buffer} {think}");
    let [buffer, think] = until_next_request(45_000, false);
    assert!(buffer == 0 && think >= 60, "{buffer} {think}");
    let [buffer, think] = until_next_request(10_000, true);
    assert!(buffer == 0 && think >= 60, "{buffer} {think}");
}

fn spent(timeline: &[Advance], cause: Cause) -> u64 {
    let charged = charges(timeline);
    let of_cause = charged.iter().filter(|charge| charge.0 == cause);
    of_cause.map(|charge| charge.1).sum()
}

#[test]
fn an_answer_that_its_sender_s_clock_shows_to_be_late_was_on_its_way() {
    let late = Advance {
        queued_for: Span::from_millis(8),
        ..answer()
    };
    assert_eq!(spent(&[late], Cause::ServerThink), 13 - 8);
    // the way there is taken to be as late as answers were that left alone
    let alone = Advance {
        is_late_alone: true,
        queued_for: Span::from_millis(5),
        ..answer()
    };
    assert_eq!(spent(&[alone], Cause::ServerThink), 13 - 5 - 5);
    for (delays, cause) in [
        (Delays::Queue, Cause::Queueing),
        (Delays::Varies, Cause::RoundTrips),
        (Delays::Unknown, Cause::RoundTrips),
    ] {
        let on_time = spent(&[answer()], cause);
        assert_eq!(spent(&[Advance { delays, ..late }], cause) - on_time, 8);
    }
    // a path that stands still does so for longer than a busy machine
    let long = Advance {
        at: Time(130 * MS),
        queued_for: Span::from_millis(100),
        delays: Delays::Standstill,
        ..answer()
    };
    let on_time = Advance {
        queued_for: Span(0),
        ..long
    };
    let stood = spent(&[long], Cause::Bandwidth) - spent(&[on_time], Cause::Bandwidth);
    assert_eq!(stood, 100);
}

#[test]
fn an_acknowledgment_that_was_late_on_its_way_was_not_delayed_by_its_receiver() {
    let waited = |late: Span| {
        let of = SentSegment {
            at: Time(5 * MS),
            carried: Time(6 * MS),
            end: 1000,
            is_whole: false,
        };
        let heard = AckSample {
            at: Time(66 * MS),
            carried: Time(66 * MS),
            acked: 1000,
            edge: 90_000,
            late,
            of: Some(of),
            ..AckSample::default()
        };
        let mut next = Advance {
            acked: 1000,
            heard: Some(heard),
            knew: Some(SendLimit {
                edge: 90_000,
                ..SendLimit::default()
            }),
            before: Some(Time(5 * MS)),
            ..data(66, 1000, 1000)
        };
        (next.place.inside, next.place.is_middle) = (true, true);
        spent(&[data(5, 0, 1000), next], Cause::NagleDelayedAck)
    };
    assert!(waited(Span(0)) > 40);
    assert_eq!(waited(Span::from_millis(40)), 0);
}

#[test]
fn a_side_that_sends_small_segments_one_after_the_other_does_not_follow_nagle_s_rule() {
    let small = |start| {
        let mut next = data(20, start, 100);
        next.place.is_full = false;
        next.heard = Some(AckSample {
            acked: 0,
            ..AckSample::default()
        });
        next
    };
    let mut segments = flow::SmallSegments::default();
    segments.note(&small(0));
    segments.note(&small(100));
    assert!(!segments.are_unkept(), "one may be a probe");
    segments.note(&small(200));
    assert!(segments.are_unkept());
    // two probes among many that were kept
    (0..100).for_each(|_| segments.note_kept());
    assert!(!segments.are_unkept());
    let mut kept = flow::SmallSegments::default();
    for start in [0, 100, 200] {
        let mut next = small(start);
        next.heard = next.heard.map(|heard| AckSample {
            acked: start,
            ..heard
        });
        kept.note(&next);
    }
    assert!(!kept.are_unkept());
}

#[test]
fn a_small_segment_after_a_loss_is_nagle_s_only_if_that_was_seen_before() {
    let small = |at_ms: u64, start: u64| {
        let heard = AckSample {
            at: Time(at_ms * MS),
            carried: Time(at_ms * MS),
            acked: start,
            edge: 90_000,
            ..AckSample::default()
        };
        let knew = SendLimit {
            acked: start - 100,
            edge: 90_000,
            ..SendLimit::default()
        };
        let mut next = Advance {
            acked: start,
            heard: Some(heard),
            knew: Some(knew),
            before: Some(Time((at_ms - 20) * MS)),
            ..data(at_ms, start, 100)
        };
        next.place.is_full = false;
        next
    };
    let kept = |lost: bool| {
        let mut charger = Charger::starting(Time(0));
        charger.advance(&data(5, 0, 100));
        charger.flows[0].after = lost.then_some(Cause::FastRecovery);
        (1..5).for_each(|at| charger.advance(&small(5 + 20 * at, 100 * at)));
        charger.account().get(Cause::NagleDelayedAck).0 > 0
    };
    assert!(kept(false));
    assert!(!kept(true));
}

#[test]
fn a_needless_timeout_does_not_hide_the_wait_for_a_delayed_ack() {
    let kept = |acked_ms: u64| {
        let mut charger = Charger::starting(Time(0));
        charger.advance(&data(5, 0, 100));
        charger.advance(&Advance {
            novelty: Some(Novelty::Again),
            highest: 100,
            before: Some(Time(5 * MS)),
            ..data(205, 0, 100)
        });
        let mut next = Advance {
            acked: 100,
            heard: Some(AckSample {
                at: Time(acked_ms * MS),
                carried: Time(acked_ms * MS),
                acked: 100,
                edge: 90_000,
                ..AckSample::default()
            }),
            knew: Some(SendLimit {
                acked: 0,
                edge: 90_000,
                ..SendLimit::default()
            }),
            before: Some(Time(205 * MS)),
            ..data(acked_ms, 100, 100)
        };
        next.place.is_full = false;
        charger.advance(&next);
        [Cause::NagleDelayedAck, Cause::Timeout].map(|cause| charger.account().get(cause).0 > 0)
    };
    // the acknowledgment comes too early to answer the retransmission, or it answers it
    assert_eq!(kept(206), [true, false]);
    assert!(kept(216)[1]);
}

#[test]
fn a_request_behind_another_connection_s_data_waited_in_the_queue() {
    let behind = |rivals_ms| {
        let answer = Advance {
            rivals: Span::from_millis(rivals_ms),
            ..answer()
        };
        [Cause::Queueing, Cause::ServerThink].map(|cause| spent(&[answer], cause))
    };
    let [_, think] = behind(0);
    assert_eq!(behind(5), [5, think - 5]);
    // no more than the wait
    assert_eq!(behind(500), [think, 0]);
}
