//! Measures how many bytes of a copy by the real engines the lab simulates per second: `cargo run --release -p coax-lab
//! --example smb_speed [GIGABYTES]`.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::{path::Path, sync::Arc, time::Instant};

use coax_client::{Direction, profile::Profile};
use coax_lab::{
    Setup,
    machine::MachineParams,
    profile::built_in,
    smb::{CopySetup, ServerParams, copy},
    tcp::StackParams,
    units::Cost,
};
use coax_wire::time::Span;

fn main() {
    let gigabytes: f64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0.42);
    for name in [
        "ibm-dls-5.0-full",
        "ibm-dls-5.0-predir",
        "windows-2000",
        "modern",
    ] {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let setup = setup(name, direction, (gigabytes * 1e9) as u64);
            let (begin, busy) = (Instant::now(), processor_seconds());
            let result = copy(&setup);
            let wall = begin.elapsed().as_secs_f64();
            let used = processor_seconds() - busy;
            println!(
                "{name:20} {direction:?} {:.2} GB simulated a second, {:.2} a second of processor ({:.1} M events; {:.3} s virtual, {:?})",
                gigabytes / wall,
                gigabytes / used,
                result.world.events() as f64 / 1e6,
                result.took.0 as f64 / 1e9,
                result.copied,
            );
        }
    }
}

fn setup(name: &str, direction: Direction, size: u64) -> CopySetup {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/clients/{name}.toml"));
    let client: Profile = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut world = Setup::default();
    world.client.machine = built_in::<MachineParams>("virtual-dos").unwrap().params;
    world.client.stack = built_in::<StackParams>("nts-3.18").unwrap().params;
    world.server.machine = world.client.machine;
    world.server.machine.request = Cost::fixed(Span(100_000));
    world.server.stack = built_in::<StackParams>("linux").unwrap().params;
    world.server.stack.receive_window = 65_535;
    CopySetup {
        world,
        client: Arc::new(client),
        more: Vec::new(),
        protocol: Default::default(),
        server: ServerParams::default(),
        direction,
        size,
        files: 1,
        limit: Span::from_secs(100_000),
        whole: false,
        taps: Vec::new(),
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
