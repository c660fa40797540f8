//! Writes captures of runs and their ground truth into a folder: `cargo run -p coax-lab --example captures DIR`.
#![allow(clippy::panic)]

use std::{fmt::Write, fs, path::Path};

use coax_lab::{
    Setup, Side, Tap, World, apps::bulk_in, link::LossParams, profile::built_in, tcp::StackParams,
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
    Ok(())
}
