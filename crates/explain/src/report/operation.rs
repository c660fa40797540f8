//! Operations that took long apart from the data of copies: opens, listings, log-ons, print jobs, locks.

use std::{borrow::Cow, sync::Arc};

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

/// What a client did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OperationKind {
    /// It connected, negotiated, logged on and connected to a share.
    LogOn,
    /// It opened a file, once or until it was allowed to.
    Open,
    /// It listed a folder.
    Listing,
    /// It locked bytes of a file, once or until it was allowed to.
    Lock,
    /// It printed: from the opening of the job to its end.
    PrintJob,
    /// It was asked to give an oplock back.
    OplockBreak,
    /// It sent another request that moves no file data.
    Request,
}

impl OperationKind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LogOn => "log-on",
            Self::Open => "open",
            Self::Listing => "listing",
            Self::Lock => "lock",
            Self::PrintJob => "print-job",
            Self::OplockBreak => "oplock-break",
            Self::Request => "request",
        }
    }
}

/// What an operation waited for most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A client had an oplock on the file, and the server waited for it to give it back ([MS-CIFS] 3.3.4.2).
    OplockBreak,
    /// Another open of the file forbids this one.
    SharingViolation,
    /// Somebody else had locked the bytes.
    LockHeld,
    /// The cause with the most time.
    Cause(Cause),
}

impl Reason {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OplockBreak => "oplock-break",
            Self::SharingViolation => "sharing-violation",
            Self::LockHeld => "lock-held",
            Self::Cause(cause) => cause.name(),
        }
    }
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The connection, by its place in [`super::Capture::connections`].
    pub connection: usize,
    /// What it is.
    pub kind: OperationKind,
    /// The file, the folder with its pattern, or the command.
    pub name: Option<String>,
    /// The share.
    pub share: Option<Arc<str>>,
    /// When its first request began.
    pub start: Time,
    /// Its time, without what the client did in between.
    pub wall: Span,
    /// Numbers of the first and last packet.
    pub frames: (u64, u64),
    /// Requests.
    pub requests: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Names that a listing brought.
    pub names: u64,
    /// Bytes of a print job.
    pub bytes: u64,
    /// Whether it ended before the capture or the connection did.
    pub is_answered: bool,
    /// Of its requests the one whose answer took longest, then the longest of each other command that took at least 0.5 s.
    pub waits: Vec<LongestWait>,
    /// What its time was spent on. It adds up to [`Self::wall`].
    pub account: Account,
    /// What it waited for most.
    pub reason: Reason,
    /// Whom it waited for, where the capture shows it.
    pub holder: Option<Holder>,
}

/// A request of an operation whose answer took long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// The command, and a transaction's function.
    pub command: Cow<'static, str>,
    /// From the request to its answer.
    pub span: Span,
    /// The packet that ended it.
    pub frame: u64,
}

/// Who kept an operation waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its connection, by its place in [`super::Capture::connections`].
    pub connection: usize,
    /// The packet that asked it to give its oplock back, or with which it released its lock.
    pub frame: u64,
    /// How long it took to give its oplock back; `None` if it did not before the operation ended.
    pub answered_after: Option<Span>,
}
