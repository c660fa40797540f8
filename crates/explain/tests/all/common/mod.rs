//! Captures for the tests.

pub mod flow;
pub mod link;
pub mod many;
pub mod packets;
pub mod talk;

use coax_explain::{explain, report::Capture};

/// The bytes of a capture under tests/captures.
pub fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/captures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The same, unpacked.
pub fn unpacked(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let packed = bytes(name);
    std::io::Read::read_to_end(
        &mut flate2::read::GzDecoder::new(packed.as_slice()),
        &mut out,
    )
    .unwrap();
    out
}

/// What is in a capture under tests/captures.
pub fn explained(name: &str) -> Capture {
    explain(bytes(name).as_slice()).unwrap()
}

/// What is in these bytes.
pub fn of(bytes: &[u8]) -> Capture {
    explain(bytes).unwrap()
}

/// Both captures of a labelled copy: at the client, and at the server.
pub fn labelled(name: &str) -> [Capture; 2] {
    ["client", "server"].map(|vantage| explained(&format!("labelled/{name}-{vantage}.pcapng.gz")))
}
