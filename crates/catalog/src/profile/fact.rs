//! A value and how it is known.

use alloc::{string::String, vec::Vec};
use core::ops::Deref;
use serde::Deserialize;

use crate::tuned::Tuned;

/// The evidence of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Published or seen, here.
    Source(String),
    /// Not known; the reason for this choice.
    Assumed(String),
}

/// A value with its provenance: `{ value = 1024, source = "…" }` or `{ value = 1024, assumed = "…" }`, and the cells of the
/// lab's tables because of which it was set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written<T>")]
pub struct Fact<T> {
    value: T,
    provenance: Provenance,
    tuned: Tuned,
}

impl<T> Fact<T> {
    /// A value chosen by a user: an option of the command line, or a change of a scenario.
    pub fn chosen(value: T, why: impl Into<String>) -> Self {
        Self {
            value,
            provenance: Provenance::Assumed(why.into()),
            tuned: Tuned::default(),
        }
    }

    /// The evidence.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The cells because of which it was set.
    pub const fn tuned(&self) -> &Tuned {
        &self.tuned
    }
}

impl<T> Deref for Fact<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<T> {
    value: T,
    source: Option<String>,
    assumed: Option<String>,
    #[serde(default)]
    fitted: Vec<String>,
    #[serde(default)]
    chosen: Vec<String>,
}

impl<T> TryFrom<Written<T>> for Fact<T> {
    type Error = &'static str;

    fn try_from(written: Written<T>) -> Result<Self, &'static str> {
        let provenance = match (written.source, written.assumed) {
            (Some(source), None) => Provenance::Source(source),
            (None, Some(why)) => Provenance::Assumed(why),
            _ => return Err("a value needs either \"source\" or \"assumed\""),
        };
        Ok(Self {
            value: written.value,
            provenance,
            tuned: Tuned {
                fitted: written.fitted,
                chosen: written.chosen,
            },
        })
    }
}
