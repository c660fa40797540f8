//! Counts of a copy's requests.

use alloc::collections::BTreeMap;

/// Requests of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MixEntry {
    /// Number of requests.
    pub requests: u64,
    /// Bytes of file data they moved.
    pub bytes: u64,
    /// Maximum number of bytes in one request.
    pub largest: u32,
}

/// Requests by command code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mix(BTreeMap<u8, MixEntry>);

impl Mix {
    /// Adds an exchange.
    pub fn add(&mut self, command: u8, bytes: u32) {
        let entry = self.0.entry(command).or_default();
        entry.requests = entry.requests.saturating_add(1);
        entry.bytes = entry.bytes.saturating_add(u64::from(bytes));
        entry.largest = entry.largest.max(bytes);
    }

    /// Code, name and counts of each command.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &'static str, MixEntry)> + '_ {
        self.0.iter().map(|(code, entry)| {
            let name = coax_wire::command::name(*code).unwrap_or("?");
            (*code, name, *entry)
        })
    }
}
