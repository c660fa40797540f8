//! The sandbox of the serving process: it limits what foreign code can reach if a client ever makes the process run it.
//!
//! [`enter`] runs before any thread exists, because a Landlock domain holds for the calling thread and those it starts.
//! [`files`] limits the process to the folders of [`Policy`]; [`syscalls`] limits it to the system calls of a file
//! server; [`privileges`] gives up root once the ports are bound. The server reports protections that the system lacks
//! when it starts.

mod files;
mod policy;
pub(crate) mod privileges;
mod syscalls;

pub use policy::{Policy, Rights};

use std::fmt;

/// The protections of the process, active and missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The protections in force, in words.
    pub active: Vec<String>,
    /// The protections that are off, each with the reason.
    pub missing: Vec<String>,
}

impl Report {
    /// Whether the process can use only the policy's files.
    pub(super) fn limits_files(&self) -> bool {
        self.active.iter().any(|what| what.starts_with("files"))
    }

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
