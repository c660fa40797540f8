//! The benchmark's JSON against docs/bench.md.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use coax_catalog::clients;
use coax_transfer::{
    bench::{Plan, run},
    client::{Options, testkit::Served},
    speed::Stop,
};

use super::json;

const SIZE: u64 = 300_007;

#[test]
fn the_json_has_what_the_documentation_promises() {
    let served = Served::start("", None);
    let plan = Plan {
        place: served.location(""),
        profiles: vec![clients::by_name("modern").unwrap()],
        size: SIZE,
        runs: 1,
        options: Options {
            record: true,
            ..Options::default()
        },
        ceiling: None,
    };
    let report = run(&plan, &Stop::default(), &mut |_| {}).unwrap();
    let json = json::report(&report);
    assert_eq!(json["size"], SIZE);
    let row = &json["rows"][0];
    assert_eq!(
        (row["profile"].as_str(), row["verified"].as_bool()),
        (Some("modern"), Some(true))
    );
    assert!(
        row["to_client_s"].as_f64().unwrap() > 0.0 && row["to_server_s"].as_f64().unwrap() > 0.0
    );
    let reads = row["requests"]
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line["command"] == "READ_ANDX")
        .unwrap();
    assert_eq!(reads["bytes"], SIZE);
    assert!(reads["p50_us"].as_f64().unwrap() <= reads["p95_us"].as_f64().unwrap());
    let page = include_str!("../../../../docs/bench.md");
    for fields in [&json, row, &row["to_client"], reads] {
        for name in fields.as_object().unwrap().keys() {
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/bench.md does not explain {name}"
            );
        }
    }
}
