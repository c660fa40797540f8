//! How a verb about files ended.

use std::fmt;

use serde_json::{Value, json};

/// Why a verb stopped.
#[derive(Debug)]
pub enum Stop {
    /// The command line makes no sense.
    Usage(String),
    /// It makes sense and cannot be done.
    Failed(Box<Failure>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// What a verb did: the report, and what went wrong with single files on the way.
#[derive(Debug, Default)]
pub struct Done {
    /// For `--json`.
    pub report: serde_json::Map<String, Value>,
    /// For people.
    pub text: String,
    /// What failed.
    pub failures: Vec<Failure>,
}

/// What went wrong, with what, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// File or place.
    pub subject: String,
    /// What happened.
    pub why: String,
    /// The status that the server sent.
    pub status: Option<String>,
    /// What to try, or what there is instead.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure that says all itself.
    pub fn new(subject: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            why: why.into(),
            status: None,
            hints: Vec::new(),
        }
    }

    /// For scripts.
    pub fn json(&self) -> Value {
        json!({"subject": self.subject, "error": self.why, "status": self.status, "hints": self.hints})
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}: {}", self.subject, self.why)?;
        for hint in &self.hints {
            write!(f, "\n  = help: {hint}")?;
        }
        Ok(())
    }
}
