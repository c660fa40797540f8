//! Why a request is refused, where its status alone does not tell.

use crate::table::ConnId;

/// The rule that refuses a request. [`crate::Because::because`] attaches it; the log line names it and the setting that
/// would allow the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The share does not admit the request's user: another user of the connection has connected it.
    NotAdmitted,
    /// The tree gives read access only: by the share, by its lists, or to guests.
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
    /// A hidden or system file is overwritten only by a request that names these attributes.
    HiddenOrSystem,
    /// A device, socket or Unix pipe.
    SpecialFile,
    /// The security descriptor that the file or folder keeps.
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
    /// The share holds no files: `IPC$`.
    NoFiles,
    /// The share is not a printer.
    NotAPrinter,
    /// Another open forbids this one, by that connection if it is known.
    Sharing(Option<ConnId>),
    /// Another lock covers the range, held by that connection if it is known.
    Locked(Option<ConnId>),
    /// The message's signature is wrong.
    Signature,
    /// Too many log-ons from the client's address failed, and too many of the connection wait.
    LogOnsWaiting,
    /// A limit is reached.
    Limit(Limit),
}

/// A limit on what one connection, or all together, may hold.
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
    /// Requests that wait.
    Waits,
    /// Bytes of transactions.
    Transactions,
    /// Bytes of memory that lie waiting ([`crate::budget`]).
    Memory,
}
