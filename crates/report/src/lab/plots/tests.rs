#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use coax_lab::watch::Happened;

use super::*;
use crate::lab::{
    data,
    run::{Observed, run_observed},
    tables,
};
use sequence::{Part, sequence};

/// Checks that the XML is well formed: nested elements are closed and attributes are quoted.
fn check_xml(svg: &str) {
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("<desc>"));
    assert!(
        !svg.contains("NaN") && !svg.contains("inf"),
        "a coordinate is not a number"
    );
}

fn observed(name: &str, changes: &[&str]) -> Observed {
    let mut scenario = data::scenario(name).unwrap();
    for change in changes {
        scenario.set_text(change).unwrap();
    }
    run_observed(&scenario, None, true).unwrap()
}

fn swept(scenario: &str, grid: &[&str]) -> Sweep {
    let owned = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let set = owned(&["size=200kB", "limit=10 s"]);
    Sweep::new(data::scenario(scenario).unwrap(), &set, &owned(grid)).unwrap()
}

#[test]
fn a_picture_of_30_000_segments_has_no_more_strokes_than_pixels() {
    let run = observed("dos-dls-5.0-full", &[]);
    assert!(run.frames.len() > 60_000, "{}", run.frames.len());
    let svg = sequence(&run, None).unwrap();
    check_xml(&svg);
    assert!(svg.len() < 200_000, "{}", svg.len());
}

#[test]
fn what_was_sent_again_and_what_was_lost_is_drawn_and_named() {
    let loss = "link.loss_to_server={ rule = { kind = \"packets\", numbers = [40] } }";
    let lossy = sequence(&observed("dos-dls-5.0-full", &["size=500kB", loss]), None).unwrap();
    check_xml(&lossy);
    for drawn in [
        "path class=\"mark sent-again\" d=\"M",
        "path class=\"lost\" d=\"M",
        ">did not arrive<",
    ] {
        assert!(lossy.contains(drawn), "{drawn}");
    }
    let clean = sequence(&observed("dos-dls-5.0-full", &["size=500kB"]), None).unwrap();
    assert!(!clean.contains(">did not arrive<") && !clean.contains(">retransmitted<"));
}

#[test]
fn the_cross_of_a_lost_segment_stands_at_its_place() {
    let loss = "link.loss_to_server={ rule = { kind = \"packets\", numbers = [200] } }";
    let run = observed("dos-dls-5.0-full", &["size=500kB", loss]);
    let lost = run
        .frames
        .iter()
        .find(|seen| seen.happened == Happened::SentInVain);
    let lost = lost.unwrap();
    let share = (lost.at - run.copy.0).0 as f64 / (run.copy.1 - run.copy.0).0 as f64;
    let svg = sequence(&run, None).unwrap();
    let path = svg.split("path class=\"lost\" d=\"M").nth(1).unwrap();
    let x: f64 = path.split(' ').next().unwrap().parse().unwrap();
    // the plot begins at 80 and is 900 wide; a cross begins 3 pixels before its place, which is rounded to 5
    let expected = 80.0 + 900.0 * share - 3.0;
    assert!((x - expected).abs() < 3.0, "{x} {expected}");
}

#[test]
fn a_part_of_a_run_is_drawn_and_one_behind_its_end_is_refused() {
    let run = observed("dos-dls-5.0-full", &["size=1MB", "direction=to-client"]);
    let part = sequence(&run, Some(Part::parse("0.01..0.02").unwrap())).unwrap();
    check_xml(&part);
    assert!(
        part.contains(">kB of the server&apos;s stream<")
            || part.contains(">kB of the server's stream<")
    );
    assert!(part.contains("ms from the copy"));
    let late = sequence(&run, Some(Part::parse("50..60").unwrap()))
        .unwrap_err()
        .to_string();
    assert!(late.contains("begins at 50 s"), "{late}");
    for wrong in ["5", "2..1", "a..b", "-1..2", "0..inf"] {
        let message = Part::parse(wrong).unwrap_err().to_string();
        assert!(message.contains("A..B"), "{wrong}: {message}");
    }
}

#[test]
fn a_run_that_never_began_to_copy_is_drawn_all_the_same() {
    let run = observed("dos-ms-net-full", &["limit=1 s"]);
    assert!(run.summary.failed.is_some());
    check_xml(&sequence(&run, None).unwrap());
}

#[test]
fn sweeps_of_one_two_and_three_keys_are_drawn_with_a_cell_for_each_run() {
    for (grid, cells) in [
        (&["link.delay=0..20 ms:5"][..], 5),
        (&["client=wfw-3.11,windows-98"], 2),
        (&["link.delay=0..20 ms:2", "client.stack.mss=536,1460"], 4),
        (
            &[
                "direction=to-server,to-client",
                "link=ethernet-10,ethernet-100",
                "client.stack.mss=536,1460",
            ],
            8,
        ),
    ] {
        let sweep = swept("dos-dls-5.0-full", grid);
        check(&sweep).unwrap();
        let svg = super::sweep(&sweep.run(2, |_| ()));
        check_xml(&svg);
        // one tooltip for each cell and the title of the picture
        assert_eq!(svg.matches("<title>").count(), cells + 1, "{grid:?}");
    }
}

#[test]
fn a_failed_run_is_drawn_as_one() {
    let sweep = swept(
        "dos-ms-net-full",
        &[
            "client.card.tx_ring=9,60",
            "server.stack.receive_window=8760,65535",
        ],
    );
    let svg = super::sweep(&sweep.run(2, |_| ()));
    assert_eq!(svg.matches("<rect class=\"missing\"").count(), 1);
    assert!(svg.contains("longer than the 10 s"));
}

#[test]
fn too_many_panels_are_refused_before_anything_runs() {
    let sweep = swept(
        "dos-dls-5.0-full",
        &[
            "seed=1..25:25",
            "link.delay=0 ms,1 ms",
            "client.stack.mss=536,1460",
        ],
    );
    let message = check(&sweep).unwrap_err().to_string();
    assert!(
        message.contains("25 values or combinations of seed") && message.contains("--csv"),
        "{message}"
    );
}

#[test]
fn a_table_has_two_bars_for_each_published_figure() {
    let table = tables::fill(&["wan-copy"]).unwrap().pop().unwrap();
    let svg = bars(&table);
    check_xml(&svg);
    // and one in the legend
    assert_eq!(
        svg.matches("<rect class=\"published\"").count(),
        table.cells.len() + 1
    );
}

#[test]
fn a_sample_is_drawn_against_each_key_and_indices_as_bars() {
    let drawn = |sample: &str| {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let plan = crate::lab::sweep::plan::Plan {
            set: owned(&["size=50kB"]),
            ranges: owned(&[
                "link.delay=0..9 ms",
                "link.rate=1..100 Mbit/s:log",
                "client=wfw-3.11,windows-98",
            ]),
            sample: sample.parse().ok(),
            replicates: 2,
            ..Default::default()
        };
        let sweep = Sweep::planned(data::scenario("dos-dls-5.0-full").unwrap(), plan).unwrap();
        check(&sweep).unwrap();
        super::sweep(&sweep.run(2, |_| ()))
    };
    let dots = drawn("latin:6");
    check_xml(&dots);
    assert_eq!(dots.matches("class=\"predicted\"").count(), 3 * 6, "{dots}");
    for text in ["link.delay, s", "link.rate, bit_per_s", ">windows-98<"] {
        assert!(dots.contains(text), "{text}: {dots}");
    }
    let bars = drawn("saltelli:4");
    check_xml(&bars);
    assert_eq!(bars.matches("class=\"published\"").count(), 3 + 1, "{bars}");
    assert!(
        bars.contains("Sobol") && bars.contains(">link.rate<"),
        "{bars}"
    );
}

#[test]
fn a_ladder_has_an_arrow_for_each_frame_and_says_which_part_has_room() {
    let run = observed("dos-ms-net-full", &["size=200kB"]);
    let part = |from, to| Part { from, to };
    let svg = ladder(&run, part(0.0, 0.02)).unwrap();
    check_xml(&svg);
    let begin = run.copy.0.0;
    let sent = run.frames.iter().filter(|seen| {
        let is_sent = matches!(seen.happened, Happened::Sent | Happened::SentInVain);
        is_sent && (begin..=begin + 20_000_000).contains(&seen.at.0)
    });
    let lines = svg.matches(r#"<path class="s0" d="M"#).count()
        + svg.matches(r#"<path class="ack" d="M"#).count()
        + svg.matches(r#"<path class="sent-again" d="M"#).count();
    // the legend has a line for each kind
    let kinds = 2 + usize::from(svg.contains(">retransmitted<"));
    assert_eq!(lines, sent.count() + kinds);
    assert!(svg.contains("did not arrive"), "the card drops a burst");
    // numbers count from the beginning of the copy: the burst is its first block
    assert!(svg.contains(">1,450 bytes from 1"), "{svg}");
    let error = ladder(&run, part(0.0, 4.0)).unwrap_err().to_string();
    assert!(error.contains("--span 0.."), "{error}");
    let error = ladder(&run, part(1e6, 2e6)).unwrap_err().to_string();
    assert!(error.contains("the copy ends"), "{error}");
}

#[test]
fn a_heat_map_has_a_border_around_what_is_good_enough() {
    let map = swept(
        "dos-dls-5.0-full",
        &[
            "link.delay=0 ms,20 ms,60 ms",
            "client=ms-net-3.11-full,wfw-3.11",
        ],
    );
    let svg = super::sweep(&map.run(2, |_| ()));
    check_xml(&svg);
    let border = svg.split(r#"<path class="contour" d=""#).nth(1).unwrap();
    let border = border.split('"').next().unwrap();
    // the copies without delay lie on one side, in both rows or columns
    assert_eq!(border.matches('M').count(), 2, "{border}");
    assert!(svg.contains("25 % more than the fastest"));
}

#[test]
fn measured_and_predicted_copies_are_drawn_with_their_ranges() {
    let scenario = data::scenario("wfw-486").unwrap();
    let mut found = coax_fit::Estimate {
        parameters: Vec::new(),
        together: Vec::new(),
        fitted: vec![coax_fit::Fitted {
            name: "read <1>".to_owned(),
            seconds: 16.1,
            model: 16.0,
        }],
        predictions: vec![coax_fit::Prediction {
            name: "write".to_owned(),
            seconds: Some(9.0),
            low: 8.0,
            high: 10.0,
            fails: 0.0,
        }],
        scenario,
        deviation: 0.03,
        runs: 1,
    };
    let svg = ranges(&found);
    check_xml(&svg);
    assert!(
        svg.contains("9 s (8 to 10)") && svg.contains("16.1 s, fitted 16 s"),
        "{svg}"
    );
    found.predictions[0].seconds = None;
    let svg = ranges(&found);
    check_xml(&svg);
    assert!(svg.contains("the copy fails"));
}
