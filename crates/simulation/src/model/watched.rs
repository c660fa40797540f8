//! A watched folder, with the changes that the server has not yet reported to its client.

/// A watched folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    pub(super) filter: u32,
    pub(super) tree: bool,
    pub(super) room: u32,
    /// Unreported changes.
    pub(super) due: Vec<(u32, String)>,
    /// The due changes are unknown: a change failed half-way, or there were too many.
    pub(super) unsure: bool,
}
