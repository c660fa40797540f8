//! Captures that began when the copy was under way already: nobody saw what its windows are to be multiplied by.

use coax_lab::Tap;
use coax_whatif::{Model, Range};
use toml::Value;

use crate::common::{self, bytes, late, longest, made};

type Sets = Vec<(String, Value)>;

const LEFT_OUT: f64 = 0.33;

fn sets(toml: &str) -> Sets {
    common::sets(&toml::from_str(toml).unwrap())
}

/// What a capture without its first third says of a change of this copy, and what it brings: seconds of as many bytes.
fn said(copy: &str, change: &str, tap: Tap) -> (Range, f64) {
    let (mut values, change) = (sets(copy), sets(change));
    let late = late(&bytes("late", &values, tap), LEFT_OUT);
    let slow = longest(&late);
    let connection = &late.connections[slow.connection];
    assert!(!connection.has_start && !slow.seen.0);
    let said = Model::of(&late, slow).and_then(|model| model.predict(&change));
    values.extend(change);
    let changed = made("late", &values, tap);
    let after = longest(&changed);
    let part = slow.bytes as f64 / after.bytes as f64;
    (
        said.unwrap_or_else(|why| panic!("{why}")),
        after.wall.0 as f64 * part / 1e9,
    )
}

/// Reads of 4 KB over 10 ms by TCPs that scale: none of these windows is ever filled.
fn small_reads(window: u64, scale: u64) -> String {
    format!(
        r#"
        "direction" = "to-client"
        "size" = 1000000
        "client.profile" = "modern"
        "client.stack" = "linux"
        "server.stack" = "linux"
        "client.profile.read.block" = 4096
        "client.profile.read.in-flight" = 1
        "client.stack.receive_window" = {window}
        "client.stack.window_scale" = {scale}
        "server.stack.window_scale" = 10
        "link.delay" = "5 ms"
        "#
    )
}

#[test]
fn a_window_of_unknown_scale_is_wide_or_narrow() {
    for (window, scale) in [(1 << 20, 10), (65_535, 0), (16_384, 0), (8760, 0)] {
        for tap in [Tap::Client, Tap::Server] {
            let change = "\"client.profile.read.block\" = 61440";
            let (said, truth) = said(&small_reads(window, scale), change, tap);
            let is_held = (said.low..=said.high).contains(&truth);
            assert!(is_held, "{window} at {tap:?}: {said:?}, {truth}");
        }
    }
}

#[test]
fn a_window_that_is_filled_is_as_narrow_as_it_says() {
    let copy = r#"
        "direction" = "to-client"
        "size" = 2000000
        "client.profile" = "windows-98"
        "client.stack" = "windows-98"
        "server.stack" = "windows-2000"
        "client.stack.receive_window" = 8760
        "link.delay" = "20 ms"
        "#;
    let change = "\"client.stack.receive_window\" = 35040";
    let (said, truth) = said(copy, change, Tap::Server);
    assert!((said.mid / truth - 1.0).abs() < 0.1, "{said:?}, {truth}");
    assert!(said.high < 2.0 * said.low, "{said:?}");
}

#[test]
fn a_header_sent_apart_is_seen_without_the_beginning_too() {
    let copy = r#"
        "direction" = "to-client"
        "size" = 400000
        "client.profile" = "modern"
        "client.stack" = "linux"
        "server.stack" = "linux"
        "client.profile.transport.cut" = "session-header"
        "client.profile.read.block" = 4096
        "client.profile.read.in-flight" = 1
        "client.stack.nagle" = "minshall"
        "#;
    let change = "\"client.stack.nagle\" = \"off\"";
    let (said, truth) = said(copy, change, Tap::Client);
    assert!((said.low..=said.high).contains(&truth), "{said:?}, {truth}");
    assert!(said.high < 2.0 * said.low, "{said:?}");
}
