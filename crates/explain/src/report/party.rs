//! Who the machines of a connection are.

/// A machine of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Party {
    /// The redirector of `data/clients` that it is or is most like; of a server its kind in `data/servers-guess.toml`.
    pub profile: Option<String>,
    /// What to call it.
    pub name: String,
    /// How sure that is.
    pub sure: Sureness,
    /// What speaks for it.
    pub evidence: Vec<Evidence>,
    /// Other redirectors that fit as well.
    pub also: Vec<String>,
    /// The configuration of `data/servers` that a lab's server is most like it with.
    pub config: Option<String>,
}

/// How sure it is who a machine is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sureness {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Not one of the known; most like this one, or several known ones fit as well.
    Like,
    /// All that was seen fits this one and no other, though it did not say so.
    Likely,
    /// It said so, and all that was seen fits.
    Sure,
}

impl Sureness {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Like => "like",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

/// Something seen, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What.
    pub what: String,
    /// The packet's number.
    pub frame: Option<u64>,
}

/// The TCP of one end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stack {
    /// What fits: entries of `data/stacks-guess.toml`, alike as far as can be told. Empty if none does.
    pub who: Vec<String>,
    /// How sure that is; never more than [`Sureness::Likely`].
    pub sure: Sureness,
    /// What was seen.
    pub evidence: Vec<Evidence>,
}
