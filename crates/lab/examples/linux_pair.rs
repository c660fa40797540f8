//! One transfer between two hosts with the stack `linux-6`, for `scripts/test --only lab-real`. Arguments are
//! `KEY=VALUE`; the result is JSON.
//!
//! `app` is `bulk` (client to server), `read` or `write` (blocks); the other keys are the fields of [`Config`].
#![allow(clippy::panic)]

use std::{collections::BTreeMap, str::FromStr};

use coax_lab::{
    Setup, Side, World, apps,
    link::{LinkParams, LossParams, LossRule},
    profile::built_in_with,
    tcp::StackParams,
};
use coax_wire::time::Span;

/// The card's rate, high enough that only the link limits.
const ACCESS_RATE: u64 = 10_000_000_000;
const LIMIT: Span = Span::from_secs(3600);

/// The arguments as given.
struct Config(BTreeMap<String, String>);

impl Config {
    fn from_arguments() -> Self {
        let pairs = std::env::args().skip(1).map(|argument| {
            let (key, value) = argument
                .split_once('=')
                .unwrap_or_else(|| panic!("`{argument}` is not KEY=VALUE"));
            (key.to_string(), value.to_string())
        });
        Self(pairs.collect())
    }

    fn number<T: FromStr>(&self, key: &str) -> Option<T> {
        let value = self.0.get(key)?;
        let number = value.parse().ok();
        Some(number.unwrap_or_else(|| panic!("{key}: `{value}` is not a valid number")))
    }

    fn bytes(&self, key: &str) -> u64 {
        self.number(key).unwrap_or_default()
    }

    fn numbers(&self, key: &str) -> Vec<u64> {
        let list = self.0.get(key).map(String::as_str).unwrap_or_default();
        let numbers = list.split(',').filter(|number| !number.is_empty());
        numbers
            .map(|number| {
                number
                    .parse()
                    .unwrap_or_else(|_| panic!("{key}: `{number}`"))
            })
            .collect()
    }

    fn loss(&self) -> LossParams {
        let every = self.bytes("loss_every");
        let rule = if every > 0 {
            LossRule::Periodic { every }
        } else {
            LossRule::Packets {
                numbers: self.numbers("loss_packets"),
            }
        };
        LossParams {
            rule,
            data_only: true,
        }
    }

    fn link(&self) -> LinkParams {
        LinkParams {
            rate: self.bytes("rate"),
            access_rate: Some(ACCESS_RATE),
            delay: Span(self.bytes("delay_us").saturating_mul(1000)),
            queue_bytes: self.bytes("queue"),
            loss_to_server: self.loss(),
            ..LinkParams::default()
        }
    }

    fn stack(&self) -> StackParams {
        let mut changes = Vec::new();
        for (argument, key) in [("window", "receive_window"), ("scale", "window_scale")] {
            if let Some(value) = self.number(argument) {
                changes.push((key, toml::Value::Integer(value)));
            }
        }
        if self.bytes("nodelay") > 0 {
            changes.push(("nagle", toml::Value::String("off".to_string())));
        }
        if let Some(congestion) = self.0.get("congestion") {
            changes.push(("congestion", toml::Value::String(congestion.clone())));
            // in Linux, HyStart is part of CUBIC
            changes.push(("hystart", toml::Value::Boolean(congestion == "cubic")));
        }
        let stack = self.0.get("stack").map_or("linux-6", String::as_str);
        built_in_with(stack, &changes)
            .unwrap_or_else(|e| panic!("{e}"))
            .params
    }

    fn plan(&self, app: &str) -> apps::BlockPlan {
        let key = |key| self.bytes(key);
        let (file, block) = (key("bytes"), key("block"));
        let mut plan = match app {
            "read" => apps::BlockPlan::read(file, block, key("small"), key("header")),
            "write" => apps::BlockPlan::write(file, block, key("header"), key("small")),
            other => panic!("app: `{other}`; allowed is bulk, read, write"),
        };
        plan.split_header = key("split") > 0;
        plan
    }
}

fn main() {
    let config = Config::from_arguments();
    let mut setup = Setup {
        link: config.link(),
        ..Setup::default()
    };
    setup.client.stack = config.stack();
    setup.server.stack = config.stack();
    let app = config.0.get("app").map_or("bulk", String::as_str);
    if app == "bulk" {
        let result = apps::bulk(&setup, Side::Client, config.bytes("bytes"), LIMIT);
        report(result.took, result.bytes, &result.world);
    } else {
        let plan = config.plan(app);
        let result = apps::blocks(&setup, &plan, LIMIT);
        let bytes = if result.done { plan.file } else { 0 };
        report(result.took, bytes, &result.world);
    }
}

fn report(took: Span, bytes: u64, world: &World) {
    let (path, tcp) = (world.path(Side::Client), world.tcp(Side::Client).stats());
    let again = tcp.timeout_retransmissions + tcp.fast_retransmissions;
    println!(
        "{{\"took_ns\": {}, \"bytes\": {bytes}, \"frames\": {}, \"lost\": {}, \"queue_drops\": {}, \"retransmitted\": {}, \"timeouts\": {}}}",
        took.0, path.frames, path.lost, path.queue_drops, again, tcp.timeouts
    );
}
