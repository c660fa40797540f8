//! Who is waited for, where more than one may be: connections written packet by packet.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use coax_explain::Cause;
use common::flow::{Ends, Flow, Sent};

const MSS: i64 = 1000;
const ROUND_US: u64 = 40_000;

/// Of the connection's time, percent.
fn share(flow: &Flow, cause: Cause) -> u64 {
    let capture = flow.explained();
    let copy = &capture.copies[0];
    copy.account.get(cause).0 * 100 / copy.wall.0
}

/// A write of `body` bytes, or its answer; without the bytes.
fn write_andx(mid: u16, is_answer: bool, body: u16) -> Vec<u8> {
    let mut words = if is_answer {
        vec![0xff, 0, body, 0, 0, 0]
    } else {
        vec![0xff, 0, 7, 0, 0, 0, 0, 0, 0, 0, body, 64, 0, 0]
    };
    let after = if is_answer { 0 } else { body + 1 };
    let mut smb = vec![0xff, b'S', b'M', b'B', 0x2f, 0, 0, 0, 0];
    smb.extend([0x08 | u8::from(is_answer) << 7, 0x01, 0xc8]);
    smb.extend([0; 12]);
    smb.extend([1, 0, 7, 0, 1, 0]);
    smb.extend(mid.to_le_bytes());
    smb.push(words.len() as u8);
    smb.extend(words.drain(..).flat_map(u16::to_le_bytes));
    smb.extend(after.to_le_bytes());
    let mut bytes = (smb.len() as u32 + u32::from(after)).to_be_bytes().to_vec();
    bytes.extend(smb);
    bytes
}

/// A client that has two writes under way and fills the server's window of eight segments in each round trip, seen next to
/// the server. That answers a write so long after the next one came.
fn written(answers_after_us: u64) -> Flow {
    const BODY: u16 = 9_932;
    let mut flow = Flow::begin(&Ends {
        port: 445,
        near_us: ROUND_US,
        far_us: 20,
        mss: MSS as u16,
        window: 8 * MSS as u16,
    });
    let (mut place, mut told, mut mid) = (0, 0, 0);
    let len = write_andx(0, false, BODY).len() as i64 + i64::from(BODY) + 1;
    let mut at_us = ROUND_US;
    for _ in 1..200 {
        at_us += ROUND_US + 100;
        // of what is said now the other side hears when all of this is on its way
        let (known, acked) = (told, place);
        for _ in 0..8 {
            let begins = place % len == 0;
            let left = len - place % len;
            let data = if begins {
                write_andx(mid + 1, false, BODY)
            } else {
                Vec::new()
            };
            let sent = Sent {
                at_us,
                seq: place,
                ack: known,
                data: &data,
                len: left.min(MSS) as usize,
                ..Sent::default()
            };
            flow.send(sent);
            place += left.min(MSS);
            at_us += 80;
            if place % len == 0 {
                mid += 1;
            }
            if place % len == 0 && mid > 1 {
                let data = write_andx(mid - 1, true, BODY);
                let at_us = at_us - 80 + answers_after_us;
                flow.send(Sent {
                    at_us,
                    from: 1,
                    seq: told,
                    ack: acked,
                    window: 8 * MSS as u16,
                    data: &data,
                    ..Sent::default()
                });
                told += data.len() as i64;
            }
        }
        flow.send(Sent {
            at_us,
            from: 1,
            seq: told,
            ack: place,
            window: 8 * MSS as u16,
            ..Sent::default()
        });
    }
    flow
}

#[test]
fn a_server_whose_answer_the_next_request_wakes_waits_for_that_request_s_way() {
    let flow = written(300);
    assert!(
        share(&flow, Cause::ServerThink) <= 2,
        "{}",
        share(&flow, Cause::ServerThink)
    );
    assert!(
        share(&flow, Cause::ReceiveWindow) >= 75,
        "{}",
        share(&flow, Cause::ReceiveWindow)
    );
}

/// A server that sends ten segments whenever it may, seen next to the client, which looks at nothing for 44 ms. The server
/// has probed with the last of them by then; that this came twice is said, or not. What is then timeout's, percent.
fn probed(is_told: bool) -> u64 {
    const WINDOW: i64 = 10 * MSS;
    let mut flow = Flow::begin(&Ends {
        port: 2000,
        near_us: 50,
        far_us: 10_000,
        mss: MSS as u16,
        window: WINDOW as u16,
    });
    for round in 0..30 {
        let (begin_us, seq) = (ROUND_US + round * 54_100, round as i64 * WINDOW);
        let segment = |at_us: u64, place: i64| Sent {
            at_us: begin_us + at_us,
            from: 1,
            seq: seq + place * MSS,
            len: MSS as usize,
            ..Sent::default()
        };
        for place in 0..10 {
            flow.send(segment(place as u64 * 20, place));
        }
        flow.send(segment(21_000, 9));
        let twice = [(seq + 9 * MSS, seq + WINDOW)];
        flow.send(Sent {
            at_us: begin_us + 44_000,
            ack: seq + WINDOW,
            window: WINDOW as u16,
            sack: if is_told { &twice } else { &[] },
            ..Sent::default()
        });
    }
    share(&flow, Cause::Timeout)
}

#[test]
fn nobody_waits_for_the_probe_of_what_is_then_said_to_have_come_twice() {
    assert_eq!((probed(true), probed(false)), (0, 37));
}
