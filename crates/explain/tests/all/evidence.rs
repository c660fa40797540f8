//! What bears out the accounts: stretches that add up to them, stalls and ladders that are where they say.

use coax_explain::{
    Cause,
    report::{Capture, Copy, LabelKind},
};
use coax_wire::time::Span;

use crate::common::{self, explained, labelled};

const LABELLED: [&str; 7] = [
    "andx4k",
    "base",
    "nagle_lan",
    "nagle_lan_nd",
    "raw60k",
    "rwnd",
    "shallow",
];

fn bears_out(copy: &Copy) {
    let breakdown = &copy.breakdown;
    assert_eq!(copy.account.total(), copy.wall);
    for (cause, span) in copy.account.iter() {
        let told = breakdown.of(cause).map_or(Span(0), |row| row.total);
        assert_eq!(told, span, "{cause:?} of {:?}", copy.name);
    }
    for row in &breakdown.causes {
        assert!(row.count >= row.longest.len() as u64 && !row.longest.is_empty());
        assert!(row.median <= row.longest[0].span && row.total >= row.longest[0].span);
        for spot in &row.longest {
            assert!(spot.at >= copy.start && spot.at + spot.span <= copy.start + copy.wall);
            assert!((copy.frames.0..=copy.frames.1).contains(&spot.frame));
        }
    }
}

fn in_detail(copy: &Copy) {
    let detail = copy.breakdown.detail.as_ref().unwrap();
    let slices = &detail.waterfall.accounts;
    let mut sums = coax_explain::Account::default();
    for (cause, span) in slices.iter().flat_map(|account| account.iter()) {
        sums.add(cause, span);
    }
    assert_eq!(sums, copy.account);
    assert!(slices.len() <= 200);
    let points = &detail.graph.points;
    assert!(points.len() as u64 <= detail.graph.packets && points.len() <= 3001);
    assert!(points.windows(2).all(|pair| pair[0].at <= pair[1].at));
    let stalls = &copy.breakdown.stalls;
    assert!(
        stalls
            .windows(2)
            .all(|pair| pair[0].spot.span >= pair[1].spot.span)
    );
    // what carries data is no wait; of the others none was longer
    let others = copy.breakdown.causes.iter();
    let others = others.filter(|row| row.cause != Cause::Bandwidth);
    let longest = others.max_by_key(|row| row.longest[0].span).unwrap();
    let (first, most) = (stalls[0].spot.span.0, longest.longest[0].span.0);
    match longest.cause {
        // the ways there and back count as one round trip, and are two waits
        Cause::RoundTrips | Cause::Metadata => {
            let trips = [Cause::RoundTrips, Cause::Metadata, Cause::Bandwidth];
            let rows = copy.breakdown.causes.iter();
            let rows = rows.filter(|row| !trips.contains(&row.cause));
            let other = rows.map(|row| row.longest[0].span.0).max();
            let least = other.unwrap_or_default().max(most / 2);
            assert!((least..=most).contains(&first));
        }
        _ => assert_eq!(first, most),
    }
    for stall in stalls {
        assert_ne!(stall.cause, Cause::Bandwidth);
        let rungs = &stall.ladder.rungs;
        assert!(rungs.windows(2).all(|pair| pair[0].frame < pair[1].frame));
        assert!(
            rungs.iter().any(|rung| rung.frame == stall.spot.frame),
            "{stall:?}"
        );
    }
}

fn all(capture: &Capture) {
    assert!(!capture.copies.is_empty());
    for copy in &capture.copies {
        assert_eq!(copy.breakdown.lumped, Span(0), "{:?}", copy.name);
        bears_out(copy);
    }
    let longest = capture.copies.iter().max_by_key(|copy| copy.wall).unwrap();
    in_detail(longest);
}

#[test]
fn stretches_add_up_to_the_account_in_labelled_captures() {
    for name in LABELLED {
        labelled(name).iter().for_each(all);
    }
}

#[test]
fn stretches_add_up_to_the_account_in_wild_captures() {
    for name in [
        "tcp/tcptrace-discard-solaris.pcap.gz",
        "tcp/tcptrace-hardware-dups.pcap.gz",
        "tcp/mlab-C2DFE.pcap.gz",
        "arkime-smbclient.pcap",
    ] {
        all(&explained(name));
    }
}

#[test]
fn a_typical_exchange_is_a_request_and_its_answer() {
    let [client, _] = labelled("andx4k");
    let copy = client.copies.iter().max_by_key(|copy| copy.wall).unwrap();
    let typical = copy
        .breakdown
        .detail
        .as_ref()
        .unwrap()
        .typical
        .as_ref()
        .unwrap();
    assert_eq!(
        (typical.command.as_str(), typical.bytes),
        ("READ_ANDX", 4096)
    );
    let said: Vec<_> = typical
        .ladder
        .rungs
        .iter()
        .filter_map(|rung| rung.said)
        .collect();
    assert_eq!(said.first().unwrap().kind, LabelKind::Request);
    assert_eq!(said.last().unwrap().kind, LabelKind::Answer);
    let row = copy
        .requests
        .iter()
        .find(|row| row.command == "READ_ANDX")
        .unwrap();
    let median = row.response_median.unwrap();
    assert!(
        typical.response.0.abs_diff(median.0) * 5 < median.0,
        "{typical:?}"
    );
    let spots = &copy.breakdown.detail.as_ref().unwrap().requests;
    assert!(spots.len() as u64 >= row.count.min(900));
}

#[test]
fn a_ladder_says_how_many_packets_it_leaves_out() {
    for name in ["raw60k", "base", "shallow"] {
        for capture in labelled(name) {
            // what is no TCP has numbers too
            let others = capture.quality.packets - capture.quality.tcp_segments;
            let copy = capture.copies.iter().max_by_key(|copy| copy.wall).unwrap();
            let detail = copy.breakdown.detail.as_ref().unwrap();
            let ladder = &detail.typical.as_ref().unwrap().ladder;
            let (place, count) = ladder.gap.unwrap();
            let frames = ladder.rungs[place].frame - ladder.rungs[place - 1].frame;
            let wanted = count + 1..=count + 1 + others;
            assert!(others < 9 && wanted.contains(&frames), "{name}: {ladder:?}");
        }
    }
}

#[test]
fn round_trips_are_counted_one_by_one() {
    let [client, _] = labelled("andx4k");
    let copy = client.copies.iter().max_by_key(|copy| copy.wall).unwrap();
    let reads = copy
        .requests
        .iter()
        .find(|row| row.command == "READ_ANDX")
        .unwrap();
    let trips = copy.breakdown.of(Cause::RoundTrips).unwrap();
    assert!(
        trips.count.abs_diff(reads.count) * 10 < reads.count,
        "{trips:?} {reads:?}"
    );
}

fn tree(files: u32) -> Capture {
    common::of(&common::many::pcap(&common::many::Tree {
        files,
        size: 500,
        answer_ns: 300_000,
        request_ns: 100_000,
    }))
}

#[test]
fn each_of_many_small_copies_has_stretches_that_add_up() {
    let capture = tree(3000);
    assert_eq!(capture.copies.len(), 3000);
    for copy in &capture.copies {
        bears_out(copy);
        assert_eq!(copy.breakdown.lumped, Span(0), "{:?}", copy.name);
        let trips = copy.breakdown.of(Cause::ServerThink).unwrap();
        assert_eq!((copy.bytes, trips.count), (500, 3), "{:?}", copy.name);
    }
}

#[test]
fn of_more_copies_than_are_listed_the_others_are_counted() {
    let capture = tree(20_007);
    assert_eq!((capture.copies.len(), capture.copies_left_out), (20_000, 7));
}

#[test]
fn the_longest_of_many_copies_have_stalls_and_the_first_are_no_exception() {
    let capture = tree(3000);
    let with_stalls = |copy: &&Copy| !copy.breakdown.stalls.is_empty();
    assert_eq!(capture.copies.iter().filter(with_stalls).count(), 1000);
    let detailed = |copy: &&Copy| copy.breakdown.detail.is_some();
    assert_eq!(capture.copies.iter().filter(detailed).count(), 12);
    let first = &capture.copies[0];
    let ladder = &first.breakdown.stalls[0].ladder.rungs;
    let frames: Vec<u64> = ladder.iter().map(|rung| rung.frame).collect();
    assert_eq!(frames, (2..=11).collect::<Vec<_>>(), "{ladder:?}");
}
