//! Connections written packet by packet: what one packet more or less makes of the account.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use coax_explain::Cause;
use common::flow::{Ends, Flow, Sent};

const MSS: i64 = 1000;
const ROUND_US: u64 = 40_000;

/// A server that sends without end, seen next to it: the client acknowledges every second segment a round trip later, and
/// every acknowledgment lets go as many segments as `pieces` has, one after the other.
fn held(window: i64, pieces: &[i64]) -> Flow {
    let mut flow = Flow::begin(&Ends {
        port: 2000,
        near_us: ROUND_US,
        far_us: 50,
        mss: MSS as u16,
        window: window as u16,
    });
    let (mut acks, mut sent) = (std::collections::VecDeque::new(), 0);
    let mut send =
        |flow: &mut Flow, acks: &mut std::collections::VecDeque<_>, at_us: u64, count: i64| {
            for place in 0..count {
                let at_us = at_us + place as u64 * 20;
                flow.send(Sent {
                    at_us,
                    from: 1,
                    seq: sent,
                    len: MSS as usize,
                    ..Sent::default()
                });
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

/// Of the connection's time, percent.
fn share(flow: &Flow, cause: Cause) -> u64 {
    let capture = flow.explained();
    let copy = &capture.copies[0];
    copy.account.get(cause).0 * 100 / copy.wall.0
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
