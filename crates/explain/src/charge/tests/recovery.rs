//! Losses, and what repaired them.

use super::*;

/// Data that fills a hole at its receiver 4 ms after later data came, over 10 ms; duplicate ACKs have told of the hole.
fn filler(order: Option<std::cmp::Ordering>) -> Advance {
    let told = LossSignals {
        loss: Some(Time(21 * MS)),
        enough: Some(Time(22 * MS)),
        ..data(0, 0, 0).told
    };
    Advance {
        novelty: Some(Novelty::Fill),
        told,
        order,
        highest: 9000,
        near: Span::from_millis(10),
        far: Span(0),
        is_behind: true,
        hole_since: Some(Time(20 * MS)),
        before: Some(Time(22 * MS)),
        ..data(24, 3000, 1000)
    }
}

#[test]
fn what_fills_a_hole_before_a_timer_can_was_sent_again_fast_and_waited_in_a_queue() {
    let after = |at_ms, least_timer, cause| {
        let late = Advance {
            at: Time(at_ms * MS),
            least_timer,
            ..filler(None)
        };
        spent(&[data(20, 0, 100), late], cause)
    };
    let linux = Some(Span::from_millis(200));
    assert!(after(150, linux, Cause::FastRecovery) > 100);
    assert_eq!(after(150, linux, Cause::Timeout), 0);
    // nor is new data behind the hole that of a timer
    let new = |least_timer| {
        let behind = Advance {
            at: Time(90 * MS),
            novelty: Some(Novelty::New),
            least_timer,
            ..filler(None)
        };
        spent(&[data(20, 0, 100), behind], Cause::Timeout)
    };
    assert!(new(None) > 50, "{}", new(None));
    assert_eq!(new(linux), 0);
    // others may have shorter ones, and later its own fires too
    assert!(after(150, None, Cause::Timeout) > 100);
    assert!(after(260, linux, Cause::Timeout) > 200);
}

#[test]
fn the_reordering_timer_may_come_some_ticks_late() {
    let after_ms = |silent_ms: u64| {
        let again = Advance {
            novelty: Some(Novelty::Again),
            far: Span::from_millis(200),
            before: Some(Time(20 * MS)),
            told: LossSignals {
                loss: Some(Time(20 * MS)),
                ..data(0, 0, 0).told
            },
            ..data(20 + silent_ms, 0, 1000)
        };
        crate::timeline::is_timer(&again)
    };
    // a quarter of 200 ms, and three ticks of 4 ms
    assert!(!after_ms(58));
    assert!(after_ms(64));
}

#[test]
fn a_sender_s_recovery_begins_when_the_path_has_carried_what_was_sent() {
    let again = Advance {
        novelty: Some(Novelty::Again),
        told: LossSignals {
            loss: Some(Time(100 * MS)),
            ..data(0, 0, 0).told
        },
        before: Some(Time(20 * MS)),
        busy: (Time(20 * MS), Time(80 * MS)),
        ..data(101, 0, 1000)
    };
    let timeline = [data(20, 0, 60_000), again];
    // 60 ms but for the segment that was lost
    assert_eq!(spent(&timeline, Cause::Bandwidth), 59);
    assert_eq!(spent(&timeline, Cause::FastRecovery), 22);
}

#[test]
fn behind_the_path_packets_that_come_unevenly_were_carried_all_the_same() {
    let mut flow = crate::charge::flow::Flow::default();
    let serial = Span::from_millis(1);
    let gaps = [2, 0, 2, 0, 2, 0, 2, 0].map(Span::from_millis);
    let carried =
        |flow: &mut crate::charge::flow::Flow, gap: Span| flow.due(serial, gap).min(gap).0;
    let carried: u64 = gaps.map(|gap| carried(&mut flow, gap)).iter().sum();
    assert_eq!(carried / MS, 7);
    // a flight that came at once is not carried in the wait for the next one
    for _ in 0..100 {
        flow.due(serial, Span(0));
    }
    assert_eq!(flow.due(serial, Span::from_millis(90)).0 / MS, 5);
}

#[test]
fn nothing_is_fast_recovery_that_was_only_overtaken() {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let after = |filler: Advance| spent(&[data(20, 0, 100), filler], Cause::FastRecovery);
    // by its sender's clock, or because it came sooner than a duplicate ACK has anything sent again
    assert_eq!(after(filler(Some(Less))), 0);
    assert_eq!(after(filler(Some(Equal))), 0);
    assert_eq!(after(filler(None)), 0);
    assert!(after(filler(Some(Greater))) > 0);
    let later = |order| Advance {
        at: Time(32 * MS),
        ..filler(order)
    };
    assert!(after(later(None)) > 0);
    assert_eq!(after(later(Some(Less))), 0);
}

#[test]
fn an_answer_soon_after_a_repeated_request_is_its_own_and_a_late_one_was_under_way() {
    let repeated = |before_ms, at_ms| Advance {
        novelty: Some(Novelty::Again),
        highest: 100,
        before: Some(Time(before_ms * MS)),
        is_framed: true,
        far: Span(0),
        ..data(at_ms, 0, 100)
    };
    let answered = |after_ms: u64| {
        let at_ms = 610 + after_ms;
        let answer = Advance {
            side: Side::Server,
            is_framed: true,
            told: LossSignals {
                peer: Some((Time(at_ms * MS), 100)),
                ..data(0, 0, 0).told
            },
            ..data(at_ms, 0, 500)
        };
        spent(
            &[
                data(10, 0, 100),
                repeated(10, 210),
                repeated(210, 610),
                answer,
            ],
            Cause::Timeout,
        )
    };
    assert_eq!(answered(4), 600);
    assert_eq!(answered(32), 600);
    assert_eq!(answered(190), 0);
}

/// A path of 10 ms that takes 20 ms for a segment: four of them, and the timer sends the last one again before it is carried. Then so
/// much is acknowledged.
fn early_timer((acked, at_ms): (u64, u64)) -> Vec<Advance> {
    let sent = |place: u64| Advance {
        busy: (Time(10 * MS), Time((30 + 20 * place) * MS)),
        serial: Span::from_millis(20),
        ..data(10, place * 1000, 1000)
    };
    let again = Advance {
        novelty: Some(Novelty::Again),
        highest: 4000,
        before: Some(Time(10 * MS)),
        busy: (Time(10 * MS), Time(110 * MS)),
        ..data(60, 3000, 1000)
    };
    let next = Advance {
        heard: Some(AckSample {
            at: Time(at_ms * MS),
            carried: Time(at_ms * MS),
            acked,
            edge: 60_000,
            late: Span(0),
            is_late_alone: false,
            freed: None,
            fills: false,
            is_of_two: true,
            next: None,
            of: None,
        }),
        knew: Some(SendLimit {
            at: Time(0),
            acked: 0,
            edge: 60_000,
        }),
        before: Some(Time(60 * MS)),
        ..data(at_ms, 4000, 1000)
    };
    (0..4).map(sent).chain([again, next]).collect()
}

#[test]
fn nobody_waited_for_a_timer_that_what_was_sent_before_it_outlasts() {
    assert_eq!(spent(&early_timer((2000, 95)), Cause::Timeout), 0);
    // that of the segment itself, as soon as it had come
    assert!(spent(&early_timer((4000, 122)), Cause::Timeout) > 0);
}
