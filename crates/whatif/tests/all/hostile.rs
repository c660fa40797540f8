//! Captures that say anything: no panic, and what a prediction costs stays bounded.

use std::fs;

use coax_explain::{
    advise, explain,
    report::{Capture, Connection, Copy, Direction, Requests, Side, Vantage},
};
use coax_lab::Tap;
use coax_whatif::{MAX_EVENTS, Model};
use coax_wire::time::Span;
use toml::Value;

use crate::common::{bytes, chance::Chance, file, labelled};

/// What the last run of a model may have beyond the bound.
const ONE_RUN: u64 = 250_000;

/// What somebody would write who means ill.
fn number(chance: &mut Chance) -> u64 {
    match chance.below(8) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => 1 << chance.below(64),
        4 => chance.below(100),
        5 => chance.below(100_000),
        6 => 1_000_000_000_000_000,
        _ => chance.next(),
    }
}

fn span(chance: &mut Chance) -> Span {
    Span(number(chance))
}

/// Asks for advice, calibrates and tries all of it; the lab's events that it took.
fn tried(capture: &Capture) -> u64 {
    tried_as(capture, capture)
}

/// The same with the advice about another report, whose numbers are in order.
fn tried_as(capture: &Capture, advised: &Capture) -> u64 {
    let mut most = 0;
    for (copy, orderly) in capture.copies.iter().zip(&advised.copies).take(2) {
        let known = capture
            .connections
            .get(copy.connection)
            .and_then(|connection| connection.parties[0].profile.as_deref());
        let advice = advise(advised, orderly);
        let unknown = known.is_some().then_some(None);
        for client in [known].into_iter().chain(unknown) {
            let Ok(model) = Model::calibrate(capture, copy, client) else {
                continue;
            };
            for one in &advice {
                if let Ok(range) = model.predict(&one.lab) {
                    assert!(
                        range.low <= range.mid && range.mid <= range.high,
                        "{range:?}"
                    );
                }
            }
            let changes: Vec<_> = advice.iter().map(|one| one.lab.clone()).collect();
            model.best_pair(&changes);
            most = most.max(model.events());
        }
    }
    assert!(most <= MAX_EVENTS + ONE_RUN, "{most}");
    most
}

/// A small copy made in the lab.
fn small(direction: &str) -> Vec<u8> {
    let text = |value: &str| Value::String(value.to_owned());
    let values = [
        ("direction", text(direction)),
        ("size", Value::Integer(60_000)),
        ("client.profile", text("windows-98")),
        ("client.stack", text("windows-98")),
        ("server.config", text("windows-2000")),
        ("server.stack", text("windows-2000")),
        ("link.delay", text("1 ms")),
    ];
    let values = values.map(|(path, value)| (path.to_owned(), value));
    bytes("small", &values, Tap::Client)
}

fn spoil_side(side: &mut Side, chance: &mut Chance) {
    match chance.below(10) {
        0 => side.segments = number(chance),
        1 => side.data_segments = number(chance),
        2 => side.bytes = number(chance),
        3 => side.retransmissions = number(chance),
        4 => side.spurious = number(chance),
        5 => side.mss = Some(number(chance) as u16),
        6 => side.window_scale = Some(number(chance) as u8),
        7 => side.max_window = number(chance) as u32,
        8 => side.largest_segment = number(chance) as u32,
        _ => {
            side.path_ps_per_byte = Some(number(chance));
            side.max_in_flight = number(chance);
        }
    }
}

fn spoil_requests(rows: &mut [Requests], chance: &mut Chance) {
    if rows.is_empty() {
        return;
    }
    let place = chance.below(rows.len() as u64) as usize;
    let row = &mut rows[place];
    match chance.below(6) {
        0 => row.count = number(chance),
        1 => row.bytes = number(chance),
        2 => row.usual_bytes = number(chance),
        3 => row.answered = number(chance),
        4 => row.response_total = span(chance),
        _ => row.response_median = Some(span(chance)),
    }
}

fn spoil_connection(connection: &mut Connection, chance: &mut Chance) {
    match chance.below(7) {
        0 => connection.client_rtt = Some(span(chance)),
        1 => connection.server_rtt = Some(span(chance)),
        2 => spoil_requests(&mut connection.requests, chance),
        3 => connection.vantage = [None, Some(Vantage::Server)][chance.below(2) as usize],
        4 => {
            let habits = &mut connection.habits[chance.below(2) as usize];
            habits.hold = Some(span(chance));
            habits.burst_losses = (number(chance), number(chance));
            habits.burst_place = Some(number(chance));
        }
        5 => {
            if let Some(smb) = &mut connection.smb {
                smb.server_max_buffer = Some(number(chance) as u32);
                smb.client_max_buffer = Some(number(chance) as u32);
                smb.max_mpx = Some(number(chance) as u16);
                smb.most_outstanding = number(chance);
            }
        }
        _ => spoil_side(&mut connection.sides[chance.below(2) as usize], chance),
    }
}

fn spoil_copy(copy: &mut Copy, chance: &mut Chance) {
    match chance.below(6) {
        0 => copy.bytes = number(chance),
        1 => copy.wall = span(chance),
        2 => copy.direction = Direction::ToServer,
        3 => {
            let place = chance.below(coax_cause::Cause::COUNT as u64) as usize;
            copy.account
                .add(coax_cause::Cause::ALL[place], span(chance));
        }
        4 => copy.breakdown.causes.iter_mut().for_each(|row| {
            row.count = number(chance);
            row.median = span(chance);
            row.total = span(chance);
        }),
        _ => spoil_requests(&mut copy.requests, chance),
    }
}

#[test]
fn no_capture_from_the_wild_costs_more_than_the_bound() {
    let mut read = 0;
    for folder in ["tests/captures", "tests/captures/tcp"] {
        for entry in fs::read_dir(file(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file()
                && let Ok(capture) = explain(fs::File::open(&path).unwrap())
            {
                tried(&capture);
                read += 1;
            }
        }
    }
    tried(&labelled("nagle_lan_nd", "client"));
    assert!(read > 15, "{read}");
}

#[test]
fn no_report_costs_more_than_the_bound_whatever_its_numbers_are() {
    spoiled_reports(12);
}

#[test]
#[ignore = "exhaustive: the step of this name in scripts/test"]
fn none_of_200_reports_costs_more_than_the_bound() {
    spoiled_reports(200);
}

fn spoiled_reports(cases: usize) {
    let whole = ["to-client", "to-server"].map(|way| explain(small(way).as_slice()).unwrap());
    assert!(whole.iter().all(|capture| tried(capture) > 0));
    let mut chance = Chance(0x5eed);
    for case in 0..cases {
        let orderly = &whole[case % 2];
        let mut capture = orderly.clone();
        for _ in 0..=chance.below(3) {
            if chance.below(2) == 0 {
                capture
                    .connections
                    .iter_mut()
                    .for_each(|one| spoil_connection(one, &mut chance));
            } else {
                capture
                    .copies
                    .iter_mut()
                    .for_each(|one| spoil_copy(one, &mut chance));
            }
        }
        tried_as(&capture, orderly);
    }
}

#[test]
fn no_spoiled_capture_costs_more_than_the_bound() {
    spoiled_captures(6);
}

#[test]
#[ignore = "exhaustive: the step of this name in scripts/test"]
fn none_of_100_spoiled_captures_costs_more_than_the_bound() {
    spoiled_captures(100);
}

fn spoiled_captures(cases: usize) {
    let whole = small("to-client");
    let mut chance = Chance(0xbad);
    for _ in 0..cases {
        let mut spoiled = whole.clone();
        for _ in 0..=chance.below(40) {
            let place = chance.below(spoiled.len() as u64) as usize;
            spoiled[place] = chance.next() as u8;
        }
        spoiled.truncate(spoiled.len() - chance.below(200) as usize);
        if let Ok(capture) = explain(spoiled.as_slice()) {
            tried(&capture);
        }
    }
}
