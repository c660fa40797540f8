//! Jobs: each operation is a state machine that sends requests and handles replies.

mod copy;
mod job;
mod list;
mod names;
pub(crate) mod reply;
mod servers;
mod shares;
mod stat;
pub(crate) mod transact;

pub(crate) use job::{Context, Job, Step};

use alloc::boxed::Box;

use crate::event::Operation;

/// Creates the state machine for an operation.
pub(crate) fn begin(operation: Operation) -> Box<dyn Job> {
    match operation {
        Operation::Copy(spec) => Box::new(copy::Copy::new(spec)),
        Operation::List { pattern } => Box::new(list::List::new(pattern)),
        Operation::Servers { kinds, domain } => Box::new(servers::Servers::new(kinds, domain)),
        Operation::Shares => Box::new(shares::Shares::default()),
        Operation::Stat { path } => Box::new(stat::Stat::new(path)),
        Operation::DiskSpace => Box::new(stat::Disk::default()),
        Operation::SetStat {
            path,
            modified,
            attributes,
        } => Box::new(stat::SetStat::new(path, modified, attributes)),
        Operation::Delete { path } => Box::new(names::Simple::delete(path)),
        Operation::MakeDirectory { path } => Box::new(names::Simple::make_directory(path)),
        Operation::RemoveDirectory { path } => Box::new(names::Simple::remove_directory(path)),
        Operation::Rename { from, to } => Box::new(names::Simple::rename(from, to)),
    }
}
