//! A capture with everything the reports show about it.

use coax_explain::{
    Advice,
    report::{Capture, Copy},
};
use coax_whatif::{Range, Why};
use coax_wire::time::Span;

/// A piece of advice and its predicted effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The advice.
    pub advice: Advice,
    /// How long the copy would take; `None` if the lab did not try it.
    pub predicted: Option<Range>,
}

/// What the lab found out about one copy.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// How long the copy takes in the lab without a change, or why the lab cannot copy it.
    pub baseline: Result<Span, Why>,
    /// The ids of the two suggestions with the best effect together, and that effect.
    pub pair: Option<([String; 2], Range)>,
}

/// The advice about one copy and its gain.
#[derive(Clone, Debug, Default)]
pub struct CopyAdvice {
    /// What to change, the most promising first.
    pub suggestions: Vec<Suggestion>,
    /// What the lab found out; `None` if it did not try this copy.
    pub prediction: Option<Prediction>,
}

/// One capture, read.
#[derive(Debug)]
pub struct Explained {
    /// The file's name, or the names of all that were read as one.
    pub name: String,
    /// What is in it.
    pub capture: Capture,
    /// The advice about each copy, in the order of [`Capture::copies`].
    pub advice: Vec<CopyAdvice>,
    /// What else is amiss, of a connection by its place.
    pub remarks: Vec<(usize, Advice)>,
}

impl Explained {
    /// Each copy and the advice about it.
    pub fn copies(&self) -> impl Iterator<Item = (&Copy, &CopyAdvice)> {
        self.capture.copies.iter().zip(&self.advice)
    }

    /// The copy that took longest: the one to explain.
    pub fn longest(&self) -> Option<(&Copy, &CopyAdvice)> {
        self.copies().max_by_key(|(copy, _)| copy.wall)
    }
}
