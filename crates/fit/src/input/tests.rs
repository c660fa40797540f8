//! Files of measurements.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::{Input, add};
use crate::{Kind, unknown::Unit};

fn read(text: &str) -> Input {
    let mut input = Input::default();
    add(&mut input, "file", text).unwrap();
    input
}

#[test]
fn a_toml_file_has_copies_rates_unknown_values_and_predictions() {
    let input = read(
        r#"
scenario = "wfw-486"
[set]
link.delay = "1 ms"
[unknown]
client.request = true
"link.rate" = "1..100 Mbit/s:log"
[[copy]]
name = "a"
size = "8MB"
seconds = [16.0, 17.0, 18.0]
"client.profile.read.block" = 4096
[[copy]]
size = 1000000
mbit_per_s = 4
client = "windows-98"
set = { link.delay = "2 ms" }
[[speed]]
direction = "to-client"
kib_per_s = 512
[[predict]]
direction = "to-server"
"#,
    );
    assert_eq!(input.scenario.as_deref(), Some("wfw-486"));
    let units: Vec<Unit> = input.unknowns.iter().map(|one| one.unit).collect();
    assert_eq!(units, [Unit::Seconds, Unit::BitsPerSecond]);
    let [a, b, c] = input.measured.as_slice() else {
        panic!("{:?}", input.measured)
    };
    assert_eq!((a.seconds, a.setting.name.as_str()), (17.0, "a"));
    assert!((a.spread.unwrap() - 1.0 / 17.0 / 3_f64.sqrt()).abs() < 1e-9);
    assert_eq!(b.seconds, 2.0);
    assert_eq!(b.setting.client.as_deref(), Some("windows-98"));
    assert_eq!((c.seconds, c.setting.kind), (8.0, Kind::Stream));
    assert_eq!(input.wanted.len(), 1);
    let base = coax_lab::scenario::Scenario::new("test");
    let scenario = a.setting.scenario(&base).unwrap();
    assert!(
        scenario
            .parameters()
            .contains(&("client.profile.read.block".into(), "4096".into()))
    );
    let scenario = b.setting.scenario(&base).unwrap();
    assert_eq!(scenario.parameter("link.delay").as_deref(), Some("2 ms"));
}

#[test]
fn a_csv_file_has_a_line_for_each_copy_and_one_without_time_is_predicted() {
    let input = read(
        "name,direction,size,\"client.profile.read.block\",seconds,spread\r\n\
         \"small, far\",to-client,1MB,1024,9.5,0.1\r\n\
         large,to-client,1MB,8192,2.5,\r\n\n\
         next,to-client,1MB,4096,,\r\n",
    );
    assert_eq!((input.measured.len(), input.wanted.len()), (2, 1));
    assert_eq!(input.measured[0].setting.name, "small, far");
    assert_eq!(input.measured[0].spread, Some(0.1));
    assert_eq!(input.measured[1].spread, None);
}

#[test]
fn the_json_of_bench_explain_and_speed_is_read() {
    let bench = r#"{"size": 4000000, "runs": 4, "ceiling": {"to_client_bytes_per_s": 1e6, "to_server_bytes_per_s": 2e6,
        "to_client": {"bytes": 3000000}, "to_server": {"bytes": 4000000}},
        "rows": [{"profile": "windows-98", "to_client": {"median_s": 4.0, "min_s": 3.8, "max_s": 4.2}, "to_server": null},
                 {"profile": "modern", "to_client": null, "to_server": {"median_s": 2.0, "min_s": 2.0, "max_s": 2.0}}]}"#;
    let input = read(bench);
    let told: Vec<_> = input
        .measured
        .iter()
        .map(|one| (one.setting.name.as_str(), one.seconds))
        .collect();
    assert_eq!(
        told,
        [
            ("bench windows-98 to-client", 4.0),
            ("bench modern to-server", 2.0),
            ("raw TCP to-client", 3.0),
            ("raw TCP to-server", 2.0)
        ]
    );
    assert!((input.measured[0].spread.unwrap() - 0.025).abs() < 1e-9);

    let explain = r#"{"captures": [{"connections": [{"client_is": {"profile": "wfw-3.11"}, "start_seen": true,
        "from_client": {"mss": 1460, "max_window_bytes": 8192}, "from_server": {"mss": 1460, "max_window_bytes": 32120}}],
        "copies": [{"name": "A", "bytes": 1000000, "wall_s": 3.5, "direction": "to-client", "connection": 0, "open_seen": true,
                    "file_bytes": 1000000},
                   {"name": "B", "bytes": 100, "wall_s": 3.5, "direction": "to-client", "connection": 0}]}]}"#;
    let input = read(explain);
    assert_eq!((input.measured.len(), input.left_out.len()), (1, 1));
    let setting = &input.measured[0].setting;
    let base = coax_lab::scenario::Scenario::new("test");
    let scenario = setting.scenario(&base).unwrap();
    let of = |key: &str| scenario.parameter(key).unwrap();
    assert_eq!(of("client.profile"), "wfw-3.11");
    assert_eq!(of("client.stack.receive_window"), "8192");
    assert_eq!(of("server.stack.receive_window"), "32120");

    let speed = r#"{"role": "receive", "bytes": 4194304, "seconds": 4.0}"#;
    assert_eq!(read(speed).measured[0].seconds, 4.0);
}

#[test]
fn what_is_wrong_in_a_file_is_named_with_its_place() {
    for (text, words) in [
        ("[[copy]]\nsize = 1\n", "there is no time"),
        ("[[copy]]\nseconds = -1\n", "not a time of a copy"),
        (
            "[[copy]]\nseconds = 1e-308\n",
            "[[copy]] 1: 1e-308 s is not",
        ),
        ("[[copy]]\nseconds = 1e308\n", "from 1e-6 to 1e5"),
        ("[[copy]]\nkb_per_s = 5\n", "needs the size"),
        ("[[copy]]\nseconds = 1\nspread = 5\n", "part of the time"),
        ("[[predict]]\nseconds = 1\n", "write it as [[copy]]"),
        ("[[copies]]\nseconds = 1\n", "[[copy]]"),
        ("[unknown]\nlink.colour = true\n", "needs a range"),
        ("[unknown]\nlink.delay = 5\n", "write a range"),
        ("not toml", "allowed are scenario"),
        ("seconds,size\n1\n", "has 1 fields"),
        ("seconds,size\nx,1\n", "line 2: seconds: 'x'"),
        ("seconds,name\n1,\"a\n", "not closed"),
        ("{\"a\": 1}", "coax bench (rows)"),
        ("{", "EOF"),
        ("{\"rows\": [], \"size\": 0}", "no size"),
        ("{\"role\": \"sit\"}", "neither send"),
    ] {
        let mut input = Input::default();
        let error = format!("{:#}", add(&mut input, "mine", text).unwrap_err());
        assert!(error.matches("[[copy]] 1").count() <= 1, "{error}");
        assert!(error.starts_with("mine: "), "{error}");
        assert!(error.contains(words), "{text}: {error}");
    }
}

proptest::proptest! {
    /// Nothing in a file makes the reader panic.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}", first in 0_usize..5) {
        let start = ["", "{\"rows\":", "seconds,size\n", "[[copy]]\n", "{\"captures\":[{\"copies\":["][first];
        let mut input = Input::default();
        let _ = add(&mut input, "any", &format!("{start}{text}"));
    }
}
