//! Reasons of refused requests, where the status alone is ambiguous.

use crate::table::ConnId;

/// The rule behind a refusal. [`crate::Because::because`] attaches it. The log line names it and the setting that would
/// allow the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The share does not admit the user of the request: another user of the connection has connected it.
    NotAdmitted,
    /// The tree is read-only: because of the share, its lists, or the guest access.
    ReadOnlyTree,
    /// The file has the read-only attribute.
    ReadOnlyFile,
    /// The file has the read-only attribute and `delete readonly = no`.
    ReadOnlyKept,
    /// The server's Unix user lacks the permission on the file or folder.
    FilePermission,
    /// The file system is mounted read-only.
    ReadOnlyFileSystem,
    /// A symbolic link leads out of the share.
    LeavesShare,
    /// Only a request that names these attributes may overwrite a hidden or system file.
    HiddenOrSystem,
    /// A device, socket or Unix pipe.
    SpecialFile,
    /// The security descriptor of the file or folder.
    Descriptor,
    /// The client opened the file without the right that the request needs.
    OpenedWithout,
    /// The access mask asks for bits that do not exist.
    UndefinedRights,
    /// `veto files`.
    Veto,
    /// A new volume label cannot be created.
    VolumeLabel,
    /// The share's own folder cannot be renamed or removed.
    ShareRoot,
    /// Files in the folder are open.
    OpenInside,
    /// The target of a rename is open, read-only or not a file.
    NotReplaceable,
    /// A folder cannot be moved or copied into itself.
    IntoItself,
    /// The object is not a file: DELETE removes files only.
    NotAFile,
    /// The file to delete was renamed outside the share, and another file has its name. No file is deleted.
    NameTaken,
    /// The share holds no files: `IPC$`.
    NoFiles,
    /// The share is not a printer.
    NotAPrinter,
    /// The file is a print job, or a file beside those: nobody reads it from the printer's share.
    PrintJob,
    /// A sharing violation with another open, of that connection if known.
    Sharing(Option<ConnId>),
    /// Another lock covers the range, of that connection if known.
    Locked(Option<ConnId>),
    /// The message's signature is wrong.
    Signature,
    /// Too many failed log-ons from the client's address, and too many waiting log-ons of the connection.
    LogOnsWaiting,
    /// A limit is reached.
    Limit(Limit),
}

/// A limit of one connection, or of all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Open files.
    Opens,
    /// Connected trees.
    Trees,
    /// Logged-on sessions.
    Sessions,
    /// Byte-range locks or requests waiting for them.
    Locks,
    /// Waiting requests.
    Waits,
    /// Bytes of transactions.
    Transactions,
    /// Bytes of buffered data ([`crate::budget`]).
    Memory,
}
