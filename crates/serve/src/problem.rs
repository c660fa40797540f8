//! What is wrong with a share's folder.

/// A problem of a share's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem.
    pub text: String,
    /// The remedy.
    pub remedy: String,
}
