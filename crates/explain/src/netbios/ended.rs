//! What is left of sessions that have ended.

use super::session::Session;
use crate::report::Netbios;

/// Sessions remembered, as many as connections are listed.
const MOST: usize = 20_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// By the number of the first frame.
    pub(super) reports: Vec<(u64, Netbios)>,
    /// Frames that could not be read.
    pub(super) damaged: u64,
    ids: u32,
}

impl Ended {
    pub(super) fn add(&mut self, session: Session) {
        if self.reports.len() < MOST {
            self.reports.extend(session.into_report());
        }
    }

    /// The identifier of the next session; it is never 0.
    pub(super) fn next_id(&mut self) -> u32 {
        self.ids = self.ids.wrapping_add(1).max(1);
        self.ids
    }
}
