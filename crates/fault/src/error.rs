//! Why a line is no fault.

use alloc::{string::String, vec::Vec};

/// Why a line is no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// It has no `=`, or nothing on one side of it.
    #[error("a fault is COMMAND[#WHICH][:STAGE]=ACTION, such as READ_ANDX#3=disconnect")]
    Form,
    /// A name that does not exist.
    #[error("there is no {kind} '{word}'")]
    Unknown {
        /// What the name should name.
        kind: &'static str,
        /// The name.
        word: String,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// A value that cannot be read.
    #[error("'{word}' is not a {kind}: write {example}")]
    Value {
        /// What the value should be.
        kind: &'static str,
        /// The value.
        word: String,
        /// How to write it.
        example: &'static str,
    },
    /// Words behind an action that takes none, or none behind one that needs some.
    #[error("'{action}' is written {usage}")]
    Usage {
        /// The action's name.
        action: &'static str,
        /// How it is written.
        usage: &'static str,
    },
    /// Parts that do not fit together.
    #[error("{why}")]
    Unfit {
        /// Why not.
        why: String,
    },
}

impl FaultError {
    /// The name that does not exist, and the names that do.
    pub fn unknown(&self) -> Option<(&str, &[&'static str])> {
        match self {
            Self::Unknown { word, known, .. } => Some((word, known)),
            _ => None,
        }
    }
}

pub(crate) fn value(kind: &'static str, word: &str, example: &'static str) -> FaultError {
    FaultError::Value {
        kind,
        word: word.into(),
        example,
    }
}

pub(crate) fn unfit(why: String) -> FaultError {
    FaultError::Unfit { why }
}
