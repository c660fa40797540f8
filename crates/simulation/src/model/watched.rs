//! A watched folder, and the changes that its client has not been told.

/// A watched folder.
#[derive(Clone, Debug)]
pub struct Watch {
    pub(super) filter: u32,
    pub(super) tree: bool,
    pub(super) room: u32,
    /// Changes not reported yet.
    pub(super) due: Vec<(u32, String)>,
    /// Nobody can say what is due: a change failed half-way, or there were too many.
    pub(super) unsure: bool,
}
