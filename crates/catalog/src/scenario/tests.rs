#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use super::*;

const TEXT: &str = r#"
title = "a test"
direction = "to-client"
size = "2MiB"
link = "ethernet-10"
[client]
profile = "ms-net-3.11-full"
stack = "ms-tcpip-1.0a"
machine = "virtual-dos"
[set]
"client.stack.receive_window" = 2900
"client.machine.request.per_byte" = "5 ns"
[set.client.profile]
read.block = 4096
"#;

fn message(change: &str) -> String {
    let mut scenario = Scenario::parse("test.toml", TEXT).unwrap();
    let set = scenario.set_text(change);
    match set.and_then(|()| scenario.resolve()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{change} must be refused"),
    }
}

#[test]
fn a_scenario_is_put_together_from_names_and_changes() {
    let setup = Scenario::parse("test.toml", TEXT)
        .unwrap()
        .resolve()
        .unwrap();
    assert_eq!(setup.size, 2 << 20);
    assert_eq!(setup.direction, Direction::ToClient);
    assert_eq!(setup.link.rate, 10_000_000);
    let client = &setup.client_host;
    assert_eq!(
        (client.stack.receive_window, client.stack.mss),
        (2900, 1450)
    );
    // a change deep within leaves the rest
    assert_eq!(client.machine.request.fixed, Span(50_000));
    assert_eq!(client.machine.request.per_byte_ps, 5000);
    assert_eq!(
        *setup.client.read.block,
        crate::profile::BlockSize::Bytes(4096)
    );
}

#[test]
fn a_parameter_is_as_it_was_changed_or_as_its_file_has_it() {
    let scenario = Scenario::parse("test.toml", TEXT).unwrap();
    for (path, value) in [
        ("client.stack", Some("ms-tcpip-1.0a")),
        ("client.stack.receive_window", Some("2900")),
        ("client.stack.mss", Some("1450")),
        ("client.machine.request.fixed", Some("50 us")),
        ("link.rate", Some("10 Mbit/s")),
        ("link.queue_bytes", None),
        ("weather", None),
    ] {
        assert_eq!(scenario.parameter(path).as_deref(), value, "{path}");
    }
}

#[test]
fn a_value_on_the_command_line_needs_no_quotes() {
    let mut scenario = Scenario::new("command line");
    for change in [
        "client.stack.delayed_ack=20 ms",
        "server.stack.nagle=\"off\"",
        "link.loss_to_server={ rule = { kind = \"periodic\", every = 1000 } }",
        "size=1MB",
    ] {
        scenario.set_text(change).unwrap();
    }
    let setup = scenario.resolve().unwrap();
    assert_eq!(setup.client_host.stack.delayed_ack, Span::from_millis(20));
    assert_eq!(setup.size, 1_000_000);
    assert_eq!(
        setup.link.loss_to_server.rule,
        crate::link::LossRule::Periodic { every: 1000 }
    );
}

#[test]
fn a_number_without_a_unit_and_one_of_309_digits_get_a_short_message() {
    for (change, said) in [
        (
            "link.rate=0",
            "`0` is not a quantity: write a number and its unit, such as \"45 Mbit/s\"",
        ),
        (
            "link.delay=1e308",
            "`1e308` is not a quantity: write a number and its unit, such as \"31 ms\"",
        ),
        (
            "limit=60",
            "60 is not a time: write a number and its unit, such as \"60 s\"",
        ),
        ("size=1e308", "1e308 is not possible; allowed is 1 byte to"),
        ("client.stack.mss=1e308", "`1e308`"),
        ("client.stack.mss=-1e308", "`-1e308`"),
    ] {
        let message = message(change);
        assert!(message.contains(said), "{change}: {message}");
    }
}

#[test]
fn a_key_in_the_wrong_section_of_a_profile_leads_to_the_right_one() {
    for (change, said) in [
        (
            "client.profile.max_mpx=2",
            "did you mean client.profile.buffers.max-mpx?",
        ),
        (
            "client.profile.raw.block=512",
            "did you mean client.profile.read.block or client.profile.write.block?",
        ),
        ("client.profile.colour=1", "there are buffers, copy, logon"),
    ] {
        let message = message(change);
        assert!(message.contains(said), "{change}: {message}");
    }
}

#[test]
fn what_is_wrong_is_said_with_file_key_and_what_is_allowed() {
    for (change, parts) in [
        (
            "client.stack.windo=1",
            ["test.toml", "client.stack.windo", "receive_window"],
        ),
        ("link.rate=0 Mbit/s", ["test.toml", "link.rate", "zero"]),
        (
            "client.stack.mss=20",
            ["test.toml", "client.stack.mss", "64 to 9000"],
        ),
        (
            "colour=red",
            ["test.toml", "colour", "direction, protocol, size"],
        ),
        ("direction=up", ["test.toml", "direction", "to-server"]),
        (
            "protocol=ftp",
            ["test.toml", "protocol", "\"smb\" and \"tcp\""],
        ),
        ("clients=0", ["test.toml", "clients", "1 to 250"]),
        (
            "also=windows-98",
            ["test.toml", "also", "a list of client profiles"],
        ),
        ("size=0", ["test.toml", "size", "1 byte to 1 TB"]),
        ("seed=-1", ["test.toml", "seed", "whole number"]),
        (
            "client.profile.read.blok=1",
            ["test.toml", "client.profile.read.blok", "raw-block"],
        ),
        (
            "client.profile.read.in-flight=0",
            ["test.toml", "in-flight", "1 or more"],
        ),
        (
            "client.profile.read.block=many",
            [
                "test.toml",
                "client.profile.read.block",
                "a list of [bytes, count]",
            ],
        ),
        (
            "client.profile.read.block=[]",
            [
                "test.toml",
                "client.profile.read.block",
                "at least one [bytes, count]",
            ],
        ),
        (
            "client.profile.read.block=[[512, 2], [4096, 0]]",
            ["test.toml", "client.profile.read.block", "1 or more"],
        ),
        (
            "client.profile.read.block=[[512, 2, 1]]",
            [
                "test.toml",
                "client.profile.read.block",
                "[[4096, 3], [512, 1]]",
            ],
        ),
        (
            "client.profile.read.block=[[512, -2]]",
            [
                "test.toml",
                "client.profile.read.block",
                "a list of [bytes, count]",
            ],
        ),
        (
            "client.profile.read.block=[[512, 2]]",
            ["test.toml", "client.profile.read.block", "raw-block"],
        ),
        ("client.stack=vax", ["stack", "vax", "ms-tcpip-1.0a"]),
        ("client.profile=vax", ["client", "vax", "modern"]),
        (
            "server.config.max_buffer=10",
            ["test.toml", "server.config.max_buffer", "1024"],
        ),
        ("nonsense", ["test.toml", "nonsense", "KEY=VALUE"]),
    ] {
        let message = message(change);
        for part in parts {
            assert!(message.contains(part), "{change}: {message}");
        }
    }
}

#[test]
fn a_file_that_is_no_toml_or_has_unknown_keys_is_refused() {
    let error = Scenario::parse("test.toml", "title = ").unwrap_err();
    assert!(error.to_string().starts_with("test.toml: "), "{error}");
    let error = Scenario::parse("test.toml", "[client]\nhat = \"red\"").unwrap_err();
    assert!(error.to_string().contains("client.hat"), "{error}");
}

#[test]
fn a_scenario_written_as_a_file_is_the_same_scenario() {
    for (name, text) in files::SCENARIOS {
        let scenario = Scenario::parse(name, text).unwrap();
        let file = scenario.as_file();
        let again = Scenario::parse(name, &file).unwrap();
        assert_eq!(again.parameters(), scenario.parameters(), "{file}");
        assert_eq!(again.title(), scenario.title());
        assert_eq!(
            again.resolve().is_ok(),
            scenario.resolve().is_ok(),
            "{file}"
        );
    }
}

#[test]
fn a_transport_refuses_what_has_no_effect_with_it_and_says_what_has() {
    let refused = |name: &str, set: &[&str]| {
        let mut scenario = Scenario::built_in(name).unwrap();
        for assignment in set {
            scenario.set_text(assignment).unwrap();
        }
        scenario.resolve().unwrap_err().to_string()
    };
    let tcp = refused("laptop-98", &["client.stack.mss=1450", "transport=netbeui"]);
    assert!(
        tcp.contains("client.stack.mss: has an effect with TCP only"),
        "{tcp}"
    );
    assert!(
        tcp.contains("transport = \"tcp\"") && tcp.contains("client.netbios"),
        "{tcp}"
    );
    let named = refused("laptop-98", &["transport=ipx", "server.stack=linux"]);
    assert!(
        named.contains("server.stack: has an effect with TCP only"),
        "{named}"
    );
    let pacing = refused("laptop-98", &["transport=ipx", "server.config.pacing=true"]);
    assert!(pacing.contains("server.config.pacing"), "{pacing}");
    let netbios = refused("laptop-98", &["client.netbios.window=4"]);
    assert!(
        netbios.contains("client.netbios.window") && netbios.contains("\"netbeui\""),
        "{netbios}"
    );
    let other = refused(
        "laptop-98",
        &["transport=ipx", "client.netbios.nbipx_window=4"],
    );
    assert!(other.contains("with transport = \"nbipx\" only"), "{other}");
    let router = refused("wan-2000-to-nt", &["transport=netbeui"]);
    assert!(
        router.contains("transport: the link `ds3-62ms` leads through a router"),
        "{router}"
    );
    let window = refused(
        "laptop-98",
        &["transport=netbeui", "client.netbios.window=128"],
    );
    assert!(
        window.contains("client.netbios.window") && window.contains("1 to 127"),
        "{window}"
    );
    let mut scenario = Scenario::built_in("laptop-98").unwrap();
    let unknown = scenario
        .set_text("transport=token-ring")
        .unwrap_err()
        .to_string();
    assert!(
        unknown.contains("\"netbeui\", \"nbipx\", \"ipx\""),
        "{unknown}"
    );
}

#[test]
fn what_a_scenario_says_of_tcp_does_not_keep_it_from_another_transport() {
    for (name, _) in files::SCENARIOS {
        let mut scenario = Scenario::built_in(name).unwrap();
        if scenario.resolve().unwrap().protocol == Protocol::Tcp {
            continue;
        }
        scenario.set_text("transport=nbipx").unwrap();
        let resolved = scenario.resolve().unwrap();
        assert_eq!(resolved.carrier, Carrier::Nbipx, "{name}");
        let evidence = scenario.evidence().unwrap();
        assert!(
            evidence.iter().all(|basis| !basis.path.contains(".stack.")),
            "{name}"
        );
        assert!(
            evidence
                .iter()
                .any(|basis| basis.path == "client.netbios.nbipx_window")
        );
        let again = Scenario::parse(name, &scenario.as_file()).unwrap();
        assert_eq!(again.carrier(), Carrier::Nbipx);
    }
}

#[test]
fn a_file_that_sets_values_of_tcp_for_another_transport_is_refused() {
    let text = "transport = \"netbeui\"\n[set]\n\"client.stack.mss\" = 1450\n";
    let scenario = Scenario::parse("mine.toml", text).unwrap();
    let refused = scenario.resolve().unwrap_err().to_string();
    assert!(
        refused.starts_with("mine.toml: client.stack.mss: has an effect with TCP only"),
        "{refused}"
    );
}
