//! When the link carried a copy's data, for a truth in which that comes before every other cause, as in docs/referee.md.

use coax_explain::Cause;
use coax_lab::{Stretch, capture::EPOCH_S, link::LinkParams};
use coax_wire::time::{Span, Time};

use crate::common::packets::packets;

/// Bytes that Ethernet adds to a frame on the wire: preamble, check sequence and gap; and the smallest frame with them.
const FRAMING: u64 = 24;
const SMALLEST: u64 = 84;
const ETHERNET: usize = 14;

/// The times in which the link carried new data, in order and without overlaps. `captures` are those of both ends.
pub fn intervals(captures: [&[u8]; 2], link: &LinkParams) -> Vec<(Time, Time)> {
    let server_port =
        |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]) < 1024;
    let mut found = Vec::new();
    for (place, capture) in captures.into_iter().enumerate() {
        let mut highest: Option<u32> = None;
        for packet in packets(capture).1 {
            let Some(data) = Data::of(&packet.bytes) else {
                continue;
            };
            // what this end receives has come over the link
            let from_server = server_port(&packet.bytes, data.tcp);
            if from_server != (place == 0) || data.len == 0 {
                continue;
            }
            let end = data.seq.wrapping_add(data.len);
            let is_new = highest.is_none_or(|highest| end.wrapping_sub(highest) as i32 > 0);
            if is_new {
                highest = Some(end);
                let wire = (u64::from(packet.wire_len) + FRAMING).max(SMALLEST);
                let at = packet.at.0.saturating_sub(EPOCH_S * 1_000_000_000);
                let until = at.saturating_sub(link.delay.0);
                let from = until.saturating_sub(link.serialisation(wire).0);
                found.push((Time(from), Time(until)));
            }
        }
    }
    found.sort_unstable();
    merged(found)
}

/// Where a TCP segment's header is, and what it carries.
struct Data {
    tcp: usize,
    seq: u32,
    len: u32,
}

impl Data {
    fn of(frame: &[u8]) -> Option<Self> {
        let is_ip = frame.get(12..14)? == [8, 0] && *frame.get(ETHERNET + 9)? == 6;
        let ip = usize::from(frame[ETHERNET] & 15) * 4;
        let tcp = ETHERNET + ip;
        let total = u16::from_be_bytes(frame.get(ETHERNET + 2..ETHERNET + 4)?.try_into().ok()?);
        let header = usize::from(*frame.get(tcp + 12)? >> 4) * 4;
        is_ip.then_some(Self {
            tcp,
            seq: u32::from_be_bytes(frame.get(tcp + 4..tcp + 8)?.try_into().ok()?),
            len: u32::try_from(usize::from(total).saturating_sub(ip + header)).ok()?,
        })
    }
}

fn merged(intervals: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
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
