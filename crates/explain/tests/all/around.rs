//! What surrounds copies: every request belongs to a copy or to that, and all time does.

use coax_explain::report::{Capture, Connection, Requests};
use coax_wire::time::Span;

use crate::common;

fn count<'a>(rows: impl IntoIterator<Item = &'a Requests>) -> u64 {
    rows.into_iter().map(|row| row.count).sum()
}

/// Checks that each request is either a copy's or around them, and returns the connection with most copies.
fn divided(capture: &Capture) -> &Connection {
    for (place, connection) in capture.connections.iter().enumerate() {
        let copies = capture.copies.iter().filter(|it| it.connection == place);
        let of_copies = count(copies.flat_map(|copy| &copy.requests));
        let around = &connection.around;
        assert_eq!(count(&around.requests), around.asked.0);
        assert_eq!(of_copies + around.asked.0, connection.asked.0);
        assert!(around.time <= connection.span.1 - connection.span.0);
    }
    let copies = |place: usize| {
        capture
            .copies
            .iter()
            .filter(|it| it.connection == place)
            .count()
    };
    let most = (0..capture.connections.len()).max_by_key(|place| copies(*place));
    &capture.connections[most.unwrap()]
}

#[test]
fn searches_and_checks_of_paths_surround_the_copies_of_windows_xp() {
    let capture = common::explained("suricata-xp-filecontainer.pcap");
    let connection = divided(&capture);
    let rows = &connection.around.requests;
    let of = |name: &str| {
        rows.iter()
            .find(|row| row.command == name)
            .map(|row| row.count)
    };
    assert!(
        of("TRANSACTION2 QUERY_PATH_INFORMATION").unwrap() > 0,
        "{rows:?}"
    );
    assert!(of("NEGOTIATE") == Some(1) && of("TREE_CONNECT_ANDX").is_some());
}

#[test]
fn of_many_small_files_only_what_asks_for_attributes_is_around() {
    let tree = common::many::Tree {
        files: 500,
        size: 100,
        answer_ns: 300_000,
        request_ns: 100_000,
    };
    let capture = common::of(&common::many::pcap(&tree));
    let around = &divided(&capture).around;
    assert_eq!(around.requests.len(), 1);
    assert_eq!(around.requests[0].command, "QUERY_INFORMATION");
    assert_eq!(around.asked, (500, Span(500 * 300_000)));
    // attributes, and the pauses before them and before the open
    assert_eq!(around.time, Span(500 * 500_000));
    assert_eq!(around.metadata, Span(3 * 500 * 300_000));
}

#[test]
fn a_copy_that_takes_all_of_a_connection_leaves_its_setup_around() {
    for capture in common::labelled("andx4k") {
        let connection = divided(&capture);
        assert!(
            connection
                .around
                .requests
                .iter()
                .any(|row| row.command == "NEGOTIATE")
        );
        assert!(connection.around.time < Span((connection.span.1 - connection.span.0).0 / 2));
    }
}
