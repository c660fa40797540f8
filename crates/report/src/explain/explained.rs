//! A capture with the data that the reports show.

use coax_explain::{
    Advice,
    report::{Capture, Copy},
};
use coax_whatif::{Range, Why};
use coax_wire::time::Span;

use super::file_advice::FileChanges;

/// A piece of advice and its predicted effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The advice.
    pub advice: Advice,
    /// Predicted time of the copy; `None` if the lab did not simulate it.
    pub predicted: Option<Range>,
}

/// The lab's prediction for one copy.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Simulated time of the copy without a change, or why it cannot be simulated.
    pub baseline: Result<Span, Why>,
    /// The ids of the two suggestions with the best combined effect, and that effect.
    pub pair: Option<([String; 2], Range)>,
}

/// The advice about one copy and its gain.
#[derive(Clone, Debug, Default)]
pub struct CopyAdvice {
    /// Suggested changes, best first.
    pub suggestions: Vec<Suggestion>,
    /// The prediction; `None` if the copy was not simulated.
    pub prediction: Option<Prediction>,
}

/// An analysed capture.
#[derive(Debug)]
pub struct Explained {
    /// The file's name, or the names of all files that were joined.
    pub name: String,
    /// The analysis.
    pub capture: Capture,
    /// The advice about each copy, in the order of [`Capture::copies`].
    pub advice: Vec<CopyAdvice>,
    /// Other problems, each with the index of its connection.
    pub remarks: Vec<(usize, Advice)>,
    /// The advice as changes of the user's files; `None` without such files.
    pub file_changes: Option<FileChanges>,
}

impl Explained {
    /// Each copy and the advice about it.
    pub fn copies(&self) -> impl Iterator<Item = (&Copy, &CopyAdvice)> {
        self.capture.copies.iter().zip(&self.advice)
    }

    /// The longest copy.
    pub fn longest(&self) -> Option<(&Copy, &CopyAdvice)> {
        self.copies().max_by_key(|(copy, _)| copy.wall)
    }
}
