//! Who is waited for, where more than one may be: connections written packet by packet.

use coax_explain::Cause;
use coax_wire::command::WRITE_ANDX;

use crate::common::{
    flow::{Ends, Flow, Sent, share},
    talk::Message,
};

const MSS: i64 = 1000;
const ROUND_US: u64 = 40_000;

/// A client that writes, and the server's answers; what each has sent.
struct Writing {
    flow: Flow,
    place: i64,
    told: i64,
    /// Writes that are there as a whole.
    whole: u16,
}

impl Writing {
    const WINDOW: i64 = 8 * MSS;
    const BODY: u16 = 9_932;

    fn write(mid: u16, body: u16) -> Vec<u8> {
        let words = [0xff, 0, 7, 0, 0, 0, 0, 0, 0, 0, body, 64, 0, 0];
        let data = vec![0; usize::from(body) + 1];
        let write = Message::new(WRITE_ANDX, mid).words(&words).data(&data);
        write.bytes()
    }

    fn written(mid: u16, body: u16) -> Vec<u8> {
        let words = [0xff, 0, body, 0, 0, 0];
        Message::new(WRITE_ANDX, mid).words(&words).answer()
    }

    /// The client's next segment; whether a write ends with it. It has heard what the server said up to `known`.
    fn segment(&mut self, at_us: u64, known: i64) -> bool {
        let write = Self::write(self.whole + 1, Self::BODY);
        let done = self.place as usize % write.len();
        let left = &write[done..];
        let data = &left[..left.len().min(MSS as usize)];
        self.flow.send(Sent {
            at_us,
            seq: self.place,
            ack: known,
            data,
            ..Sent::default()
        });
        self.place += data.len() as i64;
        let ends = data.len() == left.len();
        self.whole += u16::from(ends);
        ends
    }

    /// The server answers the write before the last that it has as a whole.
    fn answer(&mut self, at_us: u64, acked: i64) {
        let data = Self::written(self.whole - 1, Self::BODY);
        self.says(at_us, acked, &data);
        self.told += data.len() as i64;
    }

    fn says(&mut self, at_us: u64, acked: i64, data: &[u8]) {
        self.flow.send(Sent {
            at_us,
            from: 1,
            seq: self.told,
            ack: acked,
            window: Self::WINDOW as u16,
            data,
            ..Sent::default()
        });
    }
}

/// A client that has two writes under way and fills the server's window of eight segments in each round trip, seen next to
/// the server. That answers a write so long after the next one came.
fn written(answers_after_us: u64) -> Flow {
    let mut writing = Writing {
        flow: Flow::begin(&Ends {
            port: 445,
            near_us: ROUND_US,
            far_us: 20,
            mss: MSS as u16,
            window: Writing::WINDOW as u16,
        }),
        place: 0,
        told: 0,
        whole: 0,
    };
    let mut at_us = ROUND_US;
    for _ in 1..200 {
        at_us += ROUND_US + 100;
        // of what is said now the other side hears when all of this is on its way
        let (known, acked) = (writing.told, writing.place);
        for _ in 0..8 {
            if writing.segment(at_us, known) && writing.whole > 1 {
                writing.answer(at_us + answers_after_us, acked);
            }
            at_us += 80;
        }
        writing.says(at_us, writing.place, &[]);
    }
    writing.flow
}

#[test]
fn a_server_whose_answer_the_next_request_wakes_waits_for_that_request_s_way() {
    let flow = written(300);
    let (server, window) = (
        share(&flow, Cause::ServerThink),
        share(&flow, Cause::ReceiveWindow),
    );
    assert!(server <= 2 && window >= 75, "{server} {window}");
}

/// A server that sends ten segments whenever it may, seen next to the client, which looks at nothing for 44 ms. The server
/// has probed with the last of them by then; that this came twice is said, or not. What
/// is then timeout's, percent.
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

/// Next to a server, with room for all.
const SMALL: Ends = Ends {
    port: 445,
    near_us: 2_000,
    far_us: 50,
    mss: 1460,
    window: 60_000,
};

/// Writes seen next to the server. Every fifth is lost, as its client's timer finds out so long after the answer to the one
/// before: a little after the server's timer has sent that again, and before or after the client can have heard of that.
fn lost_at_times(found_us: u64) -> Flow {
    let mut flow = Flow::begin(&SMALL);
    let (mut asked, mut told, mut at_us) = (0, 0, ROUND_US);
    for mid in 1..100 {
        let (asks, answers) = (Writing::write(mid, 100), Writing::written(mid, 100));
        let says = |after_us: u64, from: usize, places: [i64; 2], data| Sent {
            at_us: at_us + after_us,
            from,
            seq: places[0],
            ack: places[1],
            data,
            ..Sent::default()
        };
        flow.send(says(0, 0, [asked, told], &asks));
        asked += asks.len() as i64;
        flow.send(says(100, 1, [told, asked], &answers));
        let from = told;
        told += answers.len() as i64;
        if mid % 5 == 0 {
            flow.lose(0).send(says(208_100, 1, [from, asked], &answers));
            // the client hears of that before it has asked again, and says how far it has come
            let next = asked + asks.len() as i64;
            let sack = &[(from, told)];
            let heard = Sent {
                sack,
                ..says(210_150, 0, [next, told], &[])
            };
            if heard.at_us < at_us + found_us {
                flow.send(heard);
            }
        }
        at_us += if mid % 5 == 0 { found_us } else { 2_200 };
    }
    flow
}

#[test]
fn who_is_heard_although_an_answer_was_lost_waited_for_that() {
    for found_us in [209_200, 211_200] {
        let timeout = share(&lost_at_times(found_us), Cause::Timeout);
        assert!(timeout >= 90, "{found_us}: {timeout}");
    }
}
