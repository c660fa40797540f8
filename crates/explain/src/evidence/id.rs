//! The identity of a recorder.

/// What a copy's recorder is asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecorderId(pub(super) u64);
