//! A capture with everything the reports show about it.

use coax_explain::{Advice, report::Capture};
use coax_whatif::{Range, Why};
use coax_wire::time::Span;

/// A piece of advice, and what it will bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The advice.
    pub advice: Advice,
    /// The prediction; `None` if there is none.
    pub predicted: Option<Range>,
}

/// What was found out about one copy.
#[derive(Clone, Debug)]
pub struct Gain {
    /// The copy, by its place in the capture.
    pub copy: usize,
    /// How long it takes in the lab as it was, or why that is not known.
    pub model: Result<Span, Why>,
    /// Names of the two pieces of advice that bring most together, and what they bring.
    pub pair: Option<([String; 2], Range)>,
}

/// One capture, read.
#[derive(Debug)]
pub struct Explained {
    /// The file's name, or the names of all that were read as one.
    pub name: String,
    /// What is in it.
    pub capture: Capture,
    /// What to change, of each of its copies.
    pub advice: Vec<Vec<Told>>,
    /// What else is amiss, of a connection by its place.
    pub remarks: Vec<(usize, Advice)>,
    /// What the advice would bring, of the longest copies.
    pub gains: Vec<Gain>,
}
