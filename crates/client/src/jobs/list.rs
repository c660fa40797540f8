//! What a folder holds.

use super::{Context, Job, Step, reply::Reply};
use crate::{error::Error, event::Outcome, jobs::stat::FileStat};
use alloc::{string::String, vec::Vec};

/// One file or folder of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// 8.3 name, if the server tells one apart.
    pub short_name: String,
    /// Times, size, attributes.
    pub stat: FileStat,
}
#[derive(Debug)]
pub(super) struct List {
    pattern: String,
    entries: Vec<Entry>,
}
impl List {
    pub fn new(pattern: String) -> Self {
        Self {
            pattern,
            entries: Vec::new(),
        }
    }
}
impl Job for List {
    fn advance(&mut self, _cx: &mut Context<'_>) -> Result<Step, Error> {
        Ok(Step::Done(Outcome::Entries(core::mem::take(
            &mut self.entries,
        ))))
    }
    fn reply(&mut self, _: &mut Context<'_>, _: u32, _: &Reply<'_>) -> Result<(), Error> {
        Ok(())
    }
}
