//! Captures from the wild: their SMB messages, in order, and name service datagrams. See tests/captures/README.md.
//!
//! TCP streams are reassembled; everything else (NetBEUI, IPX, datagrams of UDP port 138) is searched for the four bytes
//! that begin an SMB message.

mod frames;
mod tcp;

use coax_capture::Dissector;
use frames::{Datagram, Frame};
use std::{path::PathBuf, sync::OnceLock};
use tcp::Streams;

/// The captures' folder.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures"))
}

/// Names of all captures, sorted.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder of captures");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| name.contains(".pcap")).collect();
    names.sort();
    names
}

/// The SMB messages of a capture, in the order in which they were complete.
pub fn messages(name: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut streams = Streams::default();
    let mut dissector = Dissector::default();
    for frame in frames_of(name) {
        match frame.datagram(&mut dissector) {
            Datagram::Tcp(segment) => found.extend(streams.add(&segment)),
            Datagram::Udp { payload, .. } | Datagram::Other(payload) => {
                found.extend(first_smb(payload))
            }
        }
    }
    found
}

/// All that begins with an SMB message's four bytes, in any frame, to the frame's end.
pub fn candidates(name: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for frame in frames_of(name) {
        let bytes = frame.bytes();
        let marks = bytes.windows(4).enumerate();
        let places = marks.filter(|(_, window)| *window == b"\xffSMB");
        found.extend(places.map(|(at, _)| bytes[at..].to_vec()));
    }
    found
}

/// The messages of all captures; read once.
pub fn all_messages() -> Vec<Vec<u8>> {
    static ALL: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let all = ALL.get_or_init(|| names().iter().flat_map(|name| messages(name)).collect());
    all.clone()
}

/// Payloads of UDP port 137 in all captures.
pub fn name_service_datagrams() -> Vec<Vec<u8>> {
    let mut dissector = Dissector::default();
    let frames = names().into_iter().flat_map(|name| frames_of(&name));
    let datagrams = frames.filter_map(|frame| match frame.datagram(&mut dissector) {
        Datagram::Udp { port: 137, payload } => Some(payload.to_vec()),
        _ => None,
    });
    datagrams.collect()
}

fn frames_of(name: &str) -> Vec<Frame> {
    let path = folder().join(name);
    let file =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    frames::read(file)
}

fn first_smb(payload: &[u8]) -> Option<Vec<u8>> {
    let at = payload.windows(4).position(|window| window == b"\xffSMB")?;
    Some(payload[at..].to_vec())
}
