//! The steps of a profile's copy script.

use coax_wire::dialect::Generation;
use serde::Deserialize;

/// A request of a copy's script, or the transfer itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// QUERY_INFORMATION_DISK.
    DiskAttributes,
    /// CHECK_DIRECTORY on the file's folder.
    CheckDirectory,
    /// SEARCH for the file's name.
    Search,
    /// TRANS2_FIND_FIRST2 for the file's name, closed at its end.
    FindFirst2,
    /// QUERY_INFORMATION.
    GetAttributes,
    /// TRANS2_QUERY_PATH_INFORMATION: the level that the dialect has for times and size.
    QueryPath,
    /// OPEN, or CREATE for a copy to the server.
    Open,
    /// OPEN_ANDX.
    OpenAndx,
    /// NT_CREATE_ANDX.
    NtCreate,
    /// QUERY_INFORMATION2.
    GetAttributesFid,
    /// TRANS2_QUERY_FILE_INFORMATION: the level that the dialect has for times and size.
    QueryFile,
    /// SEEK to the end.
    SeekEnd,
    /// WRITE of no bytes, which cuts or extends the file to its final size.
    SetSize,
    /// TRANS2_SET_FILE_INFORMATION, end of file.
    SetEndOfFile,
    /// NT_TRANSACT_NOTIFY_CHANGE on the file's folder, left outstanding until the copy is over.
    Notify,
    /// The data.
    Transfer,
    /// FLUSH.
    Flush,
    /// SET_INFORMATION2: the file's times.
    SetTimesFid,
    /// TRANS2_SET_FILE_INFORMATION, basic: the file's times.
    SetFileTimes,
    /// CLOSE, with the time of last write for a copy to the server.
    Close,
    /// SET_INFORMATION after the close: attributes and time of last write.
    SetAttributes,
}

impl Step {
    /// The replacement for a command that the negotiated dialect lacks: the nearest older one, or none.
    pub fn suited(self, generation: Generation, nt_smbs: bool) -> Option<Self> {
        let lanman = generation >= Generation::Lanman1;
        let trans2 = generation >= Generation::Lanman2;
        match self {
            Self::NtCreate if !nt_smbs => Self::OpenAndx.suited(generation, nt_smbs),
            Self::OpenAndx if !lanman => Some(Self::Open),
            Self::QueryPath if !trans2 => Some(Self::GetAttributes),
            Self::FindFirst2 if !trans2 => Some(Self::Search),
            Self::QueryFile if !trans2 => Self::GetAttributesFid.suited(generation, nt_smbs),
            Self::SetFileTimes if !trans2 => Self::SetTimesFid.suited(generation, nt_smbs),
            Self::SetEndOfFile if !nt_smbs => Some(Self::SetSize),
            Self::GetAttributesFid | Self::SetTimesFid if !lanman => None,
            Self::Notify if !nt_smbs => None,
            step => Some(step),
        }
    }
}
