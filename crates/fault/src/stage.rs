//! When a fault acts.

use core::{fmt, str::FromStr};

use crate::error::FaultError;

/// When a fault acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Before the server executes the request.
    Request,
    /// At the reply that asks for the rest of a request: of WRITE_RAW or of a transaction.
    Interim,
    /// At the reply with the result. The server has executed the request.
    Reply,
}

const STAGES: [(&str, Stage); 3] = [
    ("request", Stage::Request),
    ("interim", Stage::Interim),
    ("reply", Stage::Reply),
];

impl FromStr for Stage {
    type Err = FaultError;

    fn from_str(word: &str) -> Result<Self, FaultError> {
        let mut stages = STAGES.iter();
        let found = stages.find(|(name, _)| name.eq_ignore_ascii_case(word));
        found
            .map(|(_, stage)| *stage)
            .ok_or_else(|| FaultError::Unknown {
                kind: "stage",
                word: word.into(),
                known: STAGES.iter().map(|(name, _)| *name).collect(),
            })
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = STAGES.iter().find(|(_, stage)| stage == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}
