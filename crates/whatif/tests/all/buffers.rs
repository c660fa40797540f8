//! Clients that announce the server's largest message: the capture does not show how large their own may be.

use coax_lab::Tap;
use coax_whatif::Model;
use toml::Value;

use crate::common::{self, longest, made};

/// Reads over 10 ms by a client that has messages of `own` bytes, from a server that has those of `server` bytes.
fn reads(own: i64, server: i64) -> Vec<(String, Value)> {
    transfers("to-client", own, server)
}

fn transfers(direction: &str, own: i64, server: i64) -> Vec<(String, Value)> {
    let text = format!(
        r#"
        "direction" = "{direction}"
        "size" = 400000
        "client.profile" = "modern"
        "client.stack" = "linux"
        "server.stack" = "linux"
        "client.profile.read.block" = "buffer"
        "client.profile.read.headroom" = 70
        "client.profile.read.in-flight" = 1
        "client.profile.write.block" = "buffer"
        "client.profile.write.headroom" = 70
        "client.profile.write.in-flight" = 1
        "client.profile.buffers.announced" = {own}
        "client.profile.buffers.request" = {own}
        "server.config.max_buffer" = {server}
        "server.config.large_readwrite" = false
        "link.delay" = "5 ms"
        "#
    );
    common::sets(&toml::from_str(&text).unwrap())
}

#[test]
fn larger_requests_of_a_client_that_repeats_the_servers_limit_may_be_limited_by_its_own() {
    let server = 65_535;
    let change = vec![(
        "server.config.max_buffer".to_owned(),
        Value::Integer(server),
    )];
    for tap in [Tap::Client, Tap::Server] {
        let slow = made("repeats", &reads(1500, 1500), tap);
        let model = Model::calibrate(&slow, longest(&slow), None);
        let said = model.and_then(|model| model.predict(&change));
        let said = said.unwrap_or_else(|why| panic!("{why}"));
        let seconds = |own| {
            let changed = made("changed", &reads(own, server), tap);
            longest(&changed).wall.0 as f64 / 1e9
        };
        let [usual, large] = [16_644, 65_535].map(seconds);
        assert!(large < usual / 2.0, "{large} {usual}");
        assert!(
            said.low <= large && usual <= said.high,
            "{said:?}: {large} {usual}"
        );
        assert!((said.mid / usual - 1.0).abs() < 0.1, "{said:?}: {usual}");
    }
}

#[test]
fn writes_of_a_client_whose_limit_is_the_servers_default_may_stay_as_they_are() {
    // jcifs 1.3 has 16,644 bytes of its own (SmbConstants.java, DEFAULT_SND_BUF_SIZE), which is also smbd's default; jcifs-ng has 65,535
    const DEFAULT: i64 = 16_644;
    let larger = vec![(
        "server.config.max_buffer".to_owned(),
        Value::Integer(65_535),
    )];
    for tap in [Tap::Client, Tap::Server] {
        let slow = made("default", &transfers("to-server", DEFAULT, DEFAULT), tap);
        let model = Model::calibrate(&slow, longest(&slow), None);
        let said = model.and_then(|model| model.predict(&larger));
        let said = said.unwrap_or_else(|why| panic!("{why}"));
        let [kept, large] = [DEFAULT, 65_535].map(|own| {
            let changed = made("changed", &transfers("to-server", own, 65_535), tap);
            longest(&changed).wall.0 as f64 / 1e9
        });
        assert!(large < kept / 1.5, "{large} {kept}");
        assert!(
            said.low <= large && kept <= said.high,
            "{said:?}: {large} {kept}"
        );
    }
}
