//! One record of a capture file.

use crate::LinkType;

/// One record of a file: where in the buffer the packet lies.
#[derive(Debug)]
pub(super) struct Record {
    /// Nanoseconds since 1970; `None` if the record has no time.
    pub(super) at: Option<u64>,
    pub(super) link: LinkType,
    /// Where the packet's bytes begin in the record.
    pub(super) start: usize,
    /// How many bytes were captured.
    pub(super) len: usize,
    pub(super) wire_len: u32,
    pub(super) record_len: usize,
}

/// The outcome of a search for the next record.
#[derive(Debug)]
pub(super) enum Next {
    Record(Record),
    End,
    /// The rest of the file cannot be read.
    Damaged(&'static str),
}
