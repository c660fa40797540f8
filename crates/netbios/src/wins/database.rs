//! The file of a WINS server's records, in the format of Samba's wins.dat, so that a server can change over with its
//! records: `"NAME#20" 1700000000 10.0.0.1 64R`. The second word is when the record expires, in seconds since 1970; 0
//! makes a static record.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::name::NbName;
use coax_wire::nbt::ns::NameFlags;
use coax_wire::time::{Span, Time};

use super::record::{RecordKind, WinsRecord};
use super::request::{MAX_MEMBERS, SUFFIX_CONTROLLERS};

/// The first line.
pub(super) const VERSION: &str = "VERSION 1 0";

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub reason: String,
}

/// Reads a database file. Lines that cannot be read are returned beside the records and lose nothing else.
pub fn parse_database(text: &str) -> (Vec<(NbName, WinsRecord)>, Vec<BadLine>) {
    let (mut records, mut bad) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line_text = line.trim();
        if line_text.is_empty() || line_text.starts_with('#') || line_text.starts_with("VERSION") {
            continue;
        }
        match record(line_text) {
            Ok(record) => records.push(record),
            Err(reason) => bad.push(BadLine {
                line: number.saturating_add(1),
                reason,
            }),
        }
    }
    (records, bad)
}

fn record(line: &str) -> Result<(NbName, WinsRecord), String> {
    let (name, rest) = crate::quoted::take_name(line)?;
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    let flags = words
        .pop()
        .and_then(|word| u8::from_str_radix(word.trim_end_matches(['R', 'S', 'L']), 16).ok())
        .ok_or("the last word has to be flags such as 64R")?;
    let mut words = words.into_iter();
    let expires: u64 = words
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or("the second word has to be a time in seconds since 1970, or 0")?;
    let flags = NameFlags(u16::from_be_bytes([flags, 0]));
    let kind = match (flags.is_group(), name.suffix()) {
        (true, SUFFIX_CONTROLLERS) => RecordKind::InternetGroup,
        (true, _) => RecordKind::Group,
        (false, _) => RecordKind::Unique,
    };
    let expires = (expires != 0).then(|| Time(0) + Span::from_secs(expires));
    let mut record = WinsRecord::new(kind, flags, Time(0));
    let mut owners = 0usize;
    for word in words.take(MAX_MEMBERS) {
        let address: Ipv4Addr = word
            .parse()
            .map_err(|_| format!("'{word}' is no IPv4 address"))?;
        record.put(address, expires, Time(0));
        owners = owners.saturating_add(1);
    }
    if owners == 0 {
        return Err("an address is missing".to_string());
    }
    Ok((name, record))
}

pub(super) fn seconds(time: Time) -> u64 {
    time.0 / 1_000_000_000
}
