//! Scenarios of transfers in virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use std::vec::Vec;

use coax_wire::time::{Span, Time};
use proptest::prelude::*;

use super::*;
use crate::MEGABYTE;

const START: Time = Time(5_000_000_000);

fn config(role: Role, bytes: Option<u64>) -> Config {
    Config {
        role,
        bytes,
        time: None,
        idle: Span::from_secs(30),
    }
}

fn at(ms: u64) -> Time {
    START + Span::from_millis(ms)
}

/// Runs due timers up to `until`, as a driver does.
fn advance(transfer: &mut Transfer, until: Time) -> Vec<Sample> {
    let mut samples = Vec::new();
    while let Some(due) = transfer.poll_timeout().filter(|due| *due <= until) {
        transfer.handle_timeout(due);
        samples.extend(transfer.poll_sample());
    }
    samples
}

#[test]
fn a_pcjr_sends_8_mb_at_115_kb_a_second_and_every_second_is_told() {
    // a row of mTCP's table, card WD8003WT: 115.3 KB/s
    let mut transfer = Transfer::new(config(Role::Receive, None), START);
    let (mut left, mut ms, mut output) = (8 * MEGABYTE, 0, Vec::new());
    while left > 0 {
        ms += 100;
        output.extend(advance(&mut transfer, at(ms)));
        let bytes = left.min(11_807);
        transfer.received(at(ms), bytes);
        left -= bytes;
    }
    transfer.peer_closed(at(ms));
    let report = transfer.report(at(ms + 5_000));
    assert_eq!((report.end, report.bytes), (Some(End::Done), 8 * MEGABYTE));
    assert_eq!(report.elapsed, Span::from_millis(ms));
    assert!((report.rate().kb_per_s() - 115.3).abs() < 0.1);
    assert_eq!(output.len() as u64, ms / 1000);
    assert!(
        output[1..]
            .iter()
            .all(|s| s.bytes == 118_070 && s.span == Span::from_secs(1))
    );
    assert_eq!(
        report.samples.iter().map(|s| s.bytes).sum::<u64>(),
        report.bytes
    );
}

#[test]
fn time_starts_with_the_connection_and_the_first_byte_wait_is_separate() {
    let mut transfer = Transfer::new(config(Role::Receive, None), START);
    transfer.received(at(3_000), 1024);
    transfer.received(at(4_000), 1024);
    transfer.peer_closed(at(4_000));
    let report = transfer.report(at(4_000));
    assert_eq!(report.elapsed, Span::from_secs(4));
    assert_eq!(report.first_byte, Some(Span::from_secs(3)));
    assert!((report.rate().kb_per_s() - 0.5).abs() < 1e-9);
    assert!((report.rate_since_first_byte().kb_per_s() - 2.0).abs() < 1e-9);
}

#[test]
fn a_sender_writes_no_byte_more_than_asked_shuts_once_and_is_done_when_all_is_acknowledged() {
    let mut transfer = Transfer::new(config(Role::Send, Some(100)), START);
    assert_eq!(transfer.poll_transmit(at(0)), Transmit::Data(100));
    transfer.written(at(1), 60);
    assert_eq!(transfer.poll_transmit(at(1)), Transmit::Data(40));
    transfer.written(at(2), 40);
    assert_eq!(transfer.poll_transmit(at(2)), Transmit::Shut);
    assert_eq!(transfer.poll_transmit(at(2)), Transmit::Nothing);
    transfer.acknowledged(at(3), 80);
    assert_eq!(transfer.end(), None);
    transfer.flushed(at(4));
    assert_eq!(transfer.poll_timeout(), None);
    let report = transfer.report(at(9));
    assert_eq!((report.bytes, report.end), (100, Some(End::Done)));
    assert_eq!(report.elapsed, Span::from_millis(4));
}

#[test]
fn a_sender_counts_what_the_peer_has_and_not_what_lies_in_its_own_buffer() {
    let mut transfer = Transfer::new(config(Role::Send, Some(4 * MEGABYTE)), START);
    transfer.acknowledged(at(0), 0);
    transfer.written(at(0), 2_500_000);
    for second in 1..=10u64 {
        transfer.acknowledged(at(second * 1000 - 1), second * 23_347);
        let sample = advance(&mut transfer, at(second * 1000)).pop().unwrap();
        assert_eq!(sample.bytes, 23_347);
    }
    transfer.failed(End::Reset);
    let report = transfer.report(at(60_000));
    assert_eq!((report.bytes, report.end), (233_470, Some(End::Reset)));
    assert_eq!(
        report.elapsed,
        Span::from_millis(9_999),
        "the time must end with the last byte"
    );
    assert_eq!(report.samples.iter().map(|s| s.bytes).sum::<u64>(), 233_470);
}

#[test]
fn the_acknowledged_syn_and_fin_are_no_bytes() {
    let mut transfer = Transfer::new(config(Role::Send, Some(10)), START);
    transfer.written(at(0), 10);
    transfer.acknowledged(at(1), 12);
    assert_eq!(transfer.report(at(1)).bytes, 10);
}

#[test]
fn without_ack_information_written_bytes_count() {
    let mut transfer = Transfer::new(config(Role::Send, Some(100)), START);
    transfer.written(at(5), 30);
    assert_eq!(transfer.report(at(5)).bytes, 30);
}

#[test]
fn a_sender_takes_no_notice_of_a_peer_that_closes_its_own_direction() {
    let mut transfer = Transfer::new(config(Role::Send, Some(100)), START);
    transfer.written(at(1), 50);
    transfer.peer_closed(at(1));
    assert_eq!(transfer.end(), None);
    assert_eq!(transfer.poll_transmit(at(1)), Transmit::Data(50));
}

#[test]
fn a_sender_by_time_stops_writing_then_and_waits_for_the_acknowledgement() {
    let by_time = Config {
        bytes: None,
        time: Some(Span::from_secs(10)),
        ..config(Role::Send, None)
    };
    let mut transfer = Transfer::new(by_time, START);
    for ms in [0, 4_000, 9_999] {
        advance(&mut transfer, at(ms));
        assert_eq!(transfer.poll_transmit(at(ms)), Transmit::Data(u64::MAX));
        transfer.written(at(ms), 1_000);
    }
    assert_eq!(transfer.poll_transmit(at(10_000)), Transmit::Shut);
    assert_eq!(transfer.end(), None);
    transfer.flushed(at(11_000));
    let report = transfer.report(at(11_000));
    assert_eq!((report.bytes, report.elapsed), (3_000, Span::from_secs(11)));
}

#[test]
fn a_receiver_by_time_stops_then_whether_bytes_come_or_not() {
    let by_time = Config {
        time: Some(Span::from_secs(2)),
        ..config(Role::Receive, None)
    };
    let mut flowing = Transfer::new(by_time, START);
    flowing.received(at(1_999), 7);
    assert_eq!(flowing.end(), None);
    flowing.received(at(2_001), 7);
    assert_eq!(flowing.end(), Some(End::Done));
    let mut still = Transfer::new(by_time, START);
    still.received(at(1), 7);
    advance(&mut still, at(2_000));
    assert_eq!(still.end(), Some(End::Done));
    assert_eq!(still.report(at(2_000)).elapsed, Span::from_secs(2));
}

#[test]
fn a_receiver_that_knows_the_size_is_done_with_the_last_byte_and_short_without_it() {
    let mut whole = Transfer::new(config(Role::Receive, Some(100)), START);
    whole.received(at(1), 99);
    assert_eq!(whole.receivable(), 1);
    whole.received(at(2), 1);
    assert_eq!(whole.end(), Some(End::Done));
    let mut short = Transfer::new(config(Role::Receive, Some(100)), START);
    short.received(at(1), 99);
    short.peer_closed(at(2));
    assert_eq!(short.end(), Some(End::Short));
    let mut empty = Transfer::new(config(Role::Receive, None), START);
    empty.peer_closed(at(2));
    assert_eq!(empty.end(), Some(End::Empty));
}

#[test]
fn silence_ends_it_and_what_was_measured_is_counted_to_the_last_byte() {
    let mut transfer = Transfer::new(config(Role::Receive, None), START);
    transfer.received(at(2_000), 4096);
    advance(&mut transfer, at(31_999));
    assert_eq!(transfer.end(), None);
    advance(&mut transfer, at(32_000));
    let report = transfer.report(at(40_000));
    assert_eq!((report.end, report.bytes), (Some(End::Silent), 4096));
    assert_eq!(report.elapsed, Span::from_secs(2));
}

#[test]
fn nothing_changes_after_the_end() {
    let mut transfer = Transfer::new(config(Role::Receive, None), START);
    transfer.received(at(1), 10);
    transfer.peer_closed(at(2));
    let before = transfer.report(at(2));
    transfer.received(at(3), 10);
    transfer.failed(End::Reset);
    transfer.handle_timeout(at(100_000));
    assert_eq!(transfer.report(at(100_000)), before);
}

proptest! {
    #[test]
    fn whatever_happens_the_samples_add_up_and_the_timers_end(
        send in any::<bool>(),
        wanted in proptest::option::of(0u64..100_000),
        steps in proptest::collection::vec((0u8..6, 0u64..3_000, any::<u32>()), 0..60),
    ) {
        let role = if send { Role::Send } else { Role::Receive };
        let mut transfer = Transfer::new(config(role, wanted), START);
        let mut now = 0;
        for (what, ms, number) in steps {
            now += ms;
            let (time, number) = (at(now), u64::from(number));
            match what {
                0 => transfer.received(time, number % 5_000),
                1 => transfer.acknowledged(time, number),
                2 => if let Transmit::Data(most) = transfer.poll_transmit(time) {
                    transfer.written(time, most.min(number));
                },
                3 => { advance(&mut transfer, time); }
                4 if number % 8 == 0 => transfer.peer_closed(time),
                5 if number % 8 == 0 => transfer.flushed(time),
                _ => {}
            }
        }
        let mut timers = 0;
        while let Some(due) = transfer.poll_timeout() {
            transfer.handle_timeout(due);
            timers += 1;
            prop_assert!(timers < 1_000, "the idle timeout must end the transfer");
        }
        let report = transfer.report(at(now));
        prop_assert_eq!(report.samples.iter().map(|s| s.bytes).sum::<u64>(), report.bytes);
    }
}
