//! Writes captures of runs and their ground truth into a folder: `cargo run -p coax-lab --example captures DIR`.
#![allow(clippy::panic)]

use std::{fmt::Write, fs, path::Path};

use coax_lab::{
    Carrier, Setup, Side, Tap, World,
    apps::bulk_in,
    link::LossParams,
    profile::built_in,
    scenario::Scenario,
    smb::{CopySetup, copy},
    tcp::StackParams,
};
use coax_wire::time::Span;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    for name in ["linux", "bsd-4.4", "windows-98", "mtcp", "ms-tcpip-1.0a"] {
        let stack: StackParams = built_in(name)?.params;
        let mut setup = Setup {
            seed: 7,
            keep_truth: true,
            port: 2000,
            ..Setup::default()
        };
        setup.client.stack = stack;
        setup.server.stack = built_in("linux")?.params;
        setup.link.loss_to_server = LossParams::random(0.01);
        let mut world = World::new(&setup);
        let taps = [
            (Tap::Client, "client"),
            (Tap::Server, "server"),
            (Tap::Wire, "wire"),
        ];
        world.record(&taps.map(|(tap, _)| tap));
        bulk_in(&mut world, Side::Client, 300_000, Span::from_secs(1000));
        for (bytes, (_, tap)) in world.captures().iter().zip(taps) {
            fs::write(folder.join(format!("{name}-{tap}.pcapng")), bytes)?;
        }
        let mut truth = String::from("from_ns\tto_ns\tcause\n");
        for stretch in world.truth() {
            writeln!(
                truth,
                "{}\t{}\t{}",
                stretch.from.0,
                stretch.to.0,
                stretch.cause.name()
            )?;
        }
        fs::write(folder.join(format!("{name}.truth.tsv")), truth)?;
    }
    without_tcp(folder)
}

/// Copies over NetBEUI and IPX, both ways, with lost frames.
fn without_tcp(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    for carrier in [Carrier::Netbeui, Carrier::Nbipx, Carrier::Ipx] {
        for client in ["ms-net-3.11-full", "windows-98", "nt-4-copy"] {
            for direction in ["to-server", "to-client"] {
                let name = carrier.name();
                let mut scenario = Scenario::new(name);
                scenario.choose_client(client)?;
                for (key, value) in [("transport", name), ("direction", direction)] {
                    scenario.set(key, value.into())?;
                }
                scenario.set_text("size=300000")?;
                let mut setup = CopySetup::of(&scenario)?;
                setup.taps = vec![Tap::Wire];
                setup.world.link.loss_to_server = LossParams::random(0.01);
                setup.world.link.loss_to_client = LossParams::random(0.01);
                let mut result = copy(&setup);
                result.copied?;
                let capture = result.world.captures().pop().unwrap_or_default();
                fs::write(
                    folder.join(format!("{name}-{client}-{direction}.pcapng")),
                    capture,
                )?;
            }
        }
    }
    Ok(())
}
