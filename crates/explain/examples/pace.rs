//! How fast captures are read: packets and bytes per second of wall clock, best of three.
#![allow(clippy::print_stdout)]

use std::{fs::File, time::Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let mut best = f64::INFINITY;
        let mut packets = 0;
        for _ in 0..3 {
            let begin = Instant::now();
            packets = coax_explain::explain(File::open(&path)?)?.quality.packets;
            best = best.min(begin.elapsed().as_secs_f64());
        }
        let bytes = std::fs::metadata(&path)?.len();
        let (rate, volume) = (packets as f64 / best / 1e6, bytes as f64 / best / 1e6);
        println!(
            "{path}: {packets} packets in {best:.3} s: {rate:.2} M packets/s, {volume:.0} MB/s"
        );
    }
    Ok(())
}
