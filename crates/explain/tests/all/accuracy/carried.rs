//! When the link carried a copy's data, for a truth in which that comes before every other cause, as in docs/referee.md.

use coax_explain::{
    Cause,
    capture::{Content, Dissector, Reader},
};
use coax_lab::{Stretch, capture::EPOCH_S, link::LinkParams};
use coax_wire::time::{Span, Time};

/// Bytes that Ethernet adds to a frame on the wire: preamble, check sequence and gap; and the smallest frame with them.
const FRAMING: u64 = 24;
const SMALLEST: u64 = 84;
/// Servers' ports are below.
const FIRST_CLIENT_PORT: u16 = 1024;

/// The times in which the link carried new data, in order and without overlaps. `captures` are those of both ends.
pub fn intervals(captures: [&[u8]; 2], link: &LinkParams) -> Vec<(Time, Time)> {
    let ends = captures.into_iter().zip([Side::Client, Side::Server]);
    merged(
        ends.flat_map(|(capture, end)| received(capture, end, link))
            .collect(),
    )
}

/// The two ends of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// When the link carried what the end `at` received first.
fn received(capture: &[u8], at: Side, link: &LinkParams) -> Vec<(Time, Time)> {
    let (mut reader, mut dissector) = (Reader::new(capture).unwrap(), Dissector::default());
    let (mut found, mut highest) = (Vec::new(), None::<u32>);
    while let Some(packet) = reader.next_packet().unwrap() {
        let (arrived, wire) = (packet.at, u64::from(packet.wire_len) + FRAMING);
        let Content::Tcp(segment) = dissector.dissect(&packet) else {
            continue;
        };
        let from = if segment.from.port < FIRST_CLIENT_PORT {
            Side::Server
        } else {
            Side::Client
        };
        let end = segment.seq.wrapping_add(segment.len);
        let is_new = highest.is_none_or(|highest| end.wrapping_sub(highest) as i32 > 0);
        if from == at || segment.len == 0 || !is_new {
            continue;
        }
        highest = Some(end);
        let until = arrived
            .0
            .saturating_sub(EPOCH_S * 1_000_000_000 + link.delay.0);
        let carried = link.serialisation(wire.max(SMALLEST));
        found.push((Time(until.saturating_sub(carried.0)), Time(until)));
    }
    found
}

fn merged(mut intervals: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    intervals.sort_unstable();
    let mut out: Vec<(Time, Time)> = Vec::new();
    for (from, until) in intervals {
        match out.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(until),
            _ => out.push((from, until)),
        }
    }
    out
}

/// The stretches with `bandwidth` wherever the link carried data.
pub fn before_all(stretches: &[Stretch], carried: &[(Time, Time)]) -> Vec<Stretch> {
    let mut out = Vec::new();
    for stretch in stretches {
        let first = carried.partition_point(|(_, until)| *until <= stretch.from);
        let mut at = stretch.from;
        for (from, until) in carried[first..]
            .iter()
            .take_while(|(from, _)| *from < stretch.to)
        {
            let (from, until) = ((*from).max(stretch.from), (*until).min(stretch.to));
            out.push(Stretch {
                from: at,
                to: from,
                ..*stretch
            });
            out.push(Stretch {
                from,
                to: until,
                cause: Cause::Bandwidth,
            });
            at = until;
        }
        out.push(Stretch {
            from: at,
            ..*stretch
        });
    }
    out.retain(|stretch| stretch.to - stretch.from > Span(0));
    out
}

#[test]
fn what_the_link_carried_comes_before_what_else_was_waited_for() {
    let at = |from, to, cause| Stretch {
        from: Time(from),
        to: Time(to),
        cause,
    };
    let chain = [
        at(0, 100, Cause::ReceiveWindow),
        at(100, 150, Cause::RoundTrips),
    ];
    let carried = [(Time(10), Time(30)), (Time(90), Time(120))];
    let found = before_all(&chain, &carried);
    let expected = [
        at(0, 10, Cause::ReceiveWindow),
        at(10, 30, Cause::Bandwidth),
        at(30, 90, Cause::ReceiveWindow),
        at(90, 100, Cause::Bandwidth),
        at(100, 120, Cause::Bandwidth),
        at(120, 150, Cause::RoundTrips),
    ];
    assert_eq!(found, expected);
}
