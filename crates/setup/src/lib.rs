//! Writes the configuration of a server from four answers: folder, who writes, which machines, which network.
//!
//! [`answers`] reads and judges each answer, [`plan`] decides what to write, [`transaction`] writes all of it or nothing.

pub mod answers;
pub mod plan;
pub mod site;
pub mod transaction;
pub mod users;

/// An answer that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong, and why.
    pub what: String,
    /// What to answer or do instead.
    pub fix: String,
}

impl Wrong {
    /// A wrong answer.
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            fix: fix.into(),
        }
    }
}
