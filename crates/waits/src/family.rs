//! The kinds of requests that move file data.

/// The requests that move data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// READ, WRITE and their kin.
    Core,
    /// READ_ANDX, WRITE_ANDX.
    Andx,
    /// READ_RAW, WRITE_RAW.
    Raw,
    /// READ_MPX, WRITE_MPX.
    Mpx,
}

impl Family {
    /// All.
    pub const ALL: [Self; 4] = [Self::Core, Self::Andx, Self::Raw, Self::Mpx];

    /// Its name in facts of advice.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Andx => "andx",
            Self::Raw => "raw",
            Self::Mpx => "mpx",
        }
    }
}
