//! Advice as changes of the user's own configuration files.

use coax_whatif::Range;

/// What became of a piece of advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// The diff has it.
    Changed,
    /// The files have these values already.
    Already,
    /// The changes of better advice contain it.
    Included,
    /// Better advice gives the same line another value.
    Superseded,
    /// No given file can hold it.
    NotHeld,
    /// No effect is expected of it.
    NoEffect,
}

impl FileState {
    /// Its name in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Already => "already",
            Self::Included => "included",
            Self::Superseded => "superseded",
            Self::NotHeld => "not-held",
            Self::NoEffect => "no-effect",
        }
    }

    /// The heading of its list.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Changed => "In the diff",
            Self::Already => {
                "The files have these values already. The capture shows others: the machine has not read these files since, or not these"
            }
            Self::Included => "Part of the changes above",
            Self::Superseded => "Left out, because better advice sets the same line",
            Self::NotHeld => "No given file can hold these",
            Self::NoEffect => "Left out, because no effect is expected",
        }
    }
}

/// A piece of advice.
#[derive(Clone, Debug, PartialEq)]
pub struct FileAdvice {
    /// Its name in `data/advice`.
    pub id: String,
    /// What to do, in a few words.
    pub title: String,
    /// Predicted time of the copy with this change alone.
    pub predicted: Option<Range>,
    /// What became of it.
    pub state: FileState,
    /// Lines of files, or reasons.
    pub details: Vec<String>,
    /// What else the values need.
    pub notes: Vec<String>,
}

/// The advice about the longest copy as lines of files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileChanges {
    /// The files.
    pub files: Vec<String>,
    /// The advice, the most useful first.
    pub advice: Vec<FileAdvice>,
    /// The changed lines as a unified diff.
    pub diff: String,
    /// Predicted time of the copy with all changes of the diff that the lab can simulate; `None` if it simulated none.
    pub predicted: Option<Range>,
    /// What hinders `patch`, and lines that cannot be.
    pub notes: Vec<String>,
}
