//! Measures how many bytes the lab simulates per second: `cargo run --release -p coax-lab --example speed [GIGABYTES]`.
#![allow(clippy::panic)]

use std::time::Instant;

use coax_lab::{Setup, Side, apps, link::LinkParams, profile::built_in, tcp::StackParams};
use coax_wire::time::Span;

fn main() {
    let gigabytes: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(2);
    let stacks = ["bsd-4.4", "windows-2000", "linux", "linux-6", "mtcp"];
    for name in stacks {
        let stack =
            built_in::<StackParams>(name).map_or_else(|e| panic!("{e}"), |profile| profile.params);
        let mut setup = Setup {
            link: LinkParams::default(),
            ..Setup::default()
        };
        setup.client.stack = stack.clone();
        setup.server.stack = stack;
        let bytes = gigabytes * 1_000_000_000;
        let (begin, busy) = (Instant::now(), processor_seconds());
        let result = apps::bulk(&setup, Side::Client, bytes, Span::from_secs(1_000_000));
        let wall = begin.elapsed().as_secs_f64();
        println!(
            "{name:14} {:.2} GB simulated a second, {:.2} a second of processor ({:.1} M events; {:.2} s virtual, mostly {})",
            bytes as f64 / 1e9 / wall,
            bytes as f64 / 1e9 / (processor_seconds() - busy),
            result.world.events() as f64 / 1e6,
            result.took.0 as f64 / 1e9,
            result.account.dominant().name()
        );
    }
}

/// CPU time of this thread in Linux, independent of other load; NaN on other systems.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text
        .split(' ')
        .next()
        .and_then(|number| number.parse::<f64>().ok());
    first.map_or(f64::NAN, |nanoseconds| nanoseconds / 1e9)
}
