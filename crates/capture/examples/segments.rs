//! Prints the TCP segments of a capture: `cargo run -p coax-capture --example segments FILE`.

use coax_capture::{Content, Dissector, Reader};
use std::{env, error::Error, fs::File};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: segments FILE")?;
    let mut reader = Reader::new(File::open(path)?)?;
    let mut dissector = Dissector::default();
    while let Some(packet) = reader.next_packet()? {
        let (number, at) = (packet.number, packet.at);
        if let Content::Tcp(segment) = dissector.dissect(&packet) {
            let (from, to, len) = (segment.from, segment.to, segment.len);
            let (seq, ack) = (segment.seq, segment.ack);
            println!(
                "{number} {} ns {from} -> {to} seq {seq} ack {ack} {len} bytes",
                at.0
            );
        }
    }
    if let Some(damage) = reader.damage() {
        eprintln!(
            "the file is damaged at byte {}: {}",
            damage.at_byte, damage.what
        );
    }
    Ok(())
}
