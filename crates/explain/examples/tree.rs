//! Writes a capture of many small files: `cargo run -p coax-explain --example tree 25000 >tree.pcap`.

#[allow(clippy::indexing_slicing)]
#[path = "../tests/all/common/many.rs"]
mod many;

use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = std::env::args()
        .nth(1)
        .map_or(Ok(25_000), |it| it.parse())?;
    let tree = many::Tree {
        files,
        size: 500,
        answer_ns: 300_000,
        request_ns: 100_000,
    };
    std::io::stdout().write_all(&many::pcap(&tree))?;
    Ok(())
}
