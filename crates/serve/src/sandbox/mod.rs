//! The sandbox around a serving process: what the process can reach if a client ever makes it run foreign code.
//!
//! [`enter`] runs before any thread exists, because a Landlock domain holds for the calling thread and those it starts.
//! [`files`] limits the process to the folders of [`Policy`]; [`syscalls`] limits it to the system calls of a file server;
//! [`privileges`] gives up root once the ports are bound. What the system cannot do is reported at start, never ignored.

mod files;
mod policy;
pub(crate) mod privileges;
mod syscalls;

pub use policy::{Policy, Rights};

use std::fmt;

/// What protects the process, and what is missing on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The protections in force, in words.
    pub active: Vec<String>,
    /// The protections that are off, each with the reason.
    pub missing: Vec<String>,
}

impl Report {
    /// Nothing is in force, for this reason.
    pub(super) fn off(why: &str) -> Self {
        Self {
            active: Vec::new(),
            missing: vec![format!("everything ({why})")],
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |list: &[String]| match list {
            [] => "none".into(),
            list => list.join("; "),
        };
        write!(f, "sandbox: {}", listed(&self.active))?;
        if !self.missing.is_empty() {
            write!(f, "; not active: {}", listed(&self.missing))?;
        }
        Ok(())
    }
}

/// Confines this process for good. Call it while the process has one thread.
pub fn enter(policy: &Policy) -> Report {
    let mut report = Report::default();
    for outcome in [files::restrict(policy), syscalls::restrict()] {
        match outcome {
            Ok(active) => report.active.push(active),
            Err(missing) => report.missing.push(missing),
        }
    }
    report
}
