//! Which requests a copy was made of.

use alloc::collections::BTreeMap;

/// Requests of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MixEntry {
    /// How many.
    pub requests: u64,
    /// Bytes of file data they moved.
    pub bytes: u64,
    /// The most that one moved, bytes.
    pub largest: u32,
}

/// Requests by command code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mix(BTreeMap<u8, MixEntry>);

impl Mix {
    /// Counts an exchange.
    pub fn add(&mut self, command: u8, bytes: u32) {
        let entry = self.0.entry(command).or_default();
        entry.requests = entry.requests.saturating_add(1);
        entry.bytes = entry.bytes.saturating_add(u64::from(bytes));
        entry.largest = entry.largest.max(bytes);
    }

    /// Each command's code, name and count.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &'static str, MixEntry)> + '_ {
        self.0.iter().map(|(code, entry)| {
            let name = coax_wire::command::name(*code).unwrap_or("?");
            (*code, name, *entry)
        })
    }
}
