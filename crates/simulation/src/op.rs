//! Operations of clients, independent of the command.

/// The rights to data or name for share modes.
pub mod right {
    /// Read data.
    pub const READ: u8 = 1;
    /// Write data.
    pub const WRITE: u8 = 2;
    /// Delete or rename.
    pub const DELETE: u8 = 4;
    /// Everything.
    pub const ALL: u8 = READ | WRITE | DELETE;
}

/// The command that carries an open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// OPEN.
    Open,
    /// CREATE.
    Create,
    /// CREATE_NEW.
    CreateNew,
    /// OPEN_ANDX, perhaps chained with READ_ANDX.
    OpenAndX,
    /// NT_CREATE_ANDX.
    NtCreate,
    /// TRANS2_OPEN2, perhaps in two pieces.
    Trans2Open,
}

/// What others may do while the open lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// NT: the rights of others.
    Nt(u8),
    /// DOS: deny all (1), write (2), read (3), none (4).
    Deny(u8),
    /// DOS: compatibility mode.
    Compatibility,
    /// Open by file control block.
    Fcb,
}

/// The action if the file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// Fail.
    Fail,
    /// Open it.
    Open,
    /// Truncate it.
    Overwrite,
}

/// A requested or held oplock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oplock {
    /// None.
    #[default]
    None,
    /// Level II: the client may cache what it reads.
    LevelII,
    /// Exclusive: the client may also cache writes.
    Exclusive,
    /// Batch: the client may also keep the file open.
    Batch,
}

impl Oplock {
    /// Whether this oplock must break before another client may open the file.
    #[must_use]
    pub fn excludes(self) -> bool {
        self >= Self::Exclusive
    }
}

/// An open.
#[derive(Clone, Debug)]
pub struct OpenArgs {
    /// Command.
    pub verb: Verb,
    /// The path as the client sends it, without leading backslash.
    pub path: String,
    /// Requested rights ([`right`]); none means an open for attributes only.
    pub rights: u8,
    /// What others may do.
    pub sharing: Sharing,
    /// The action if the file exists.
    pub if_exists: IfExists,
    /// Create the file if it does not exist.
    pub create: bool,
    /// NT: it must be a folder (`Some(true)`), a file (`Some(false)`), or either.
    pub folder: Option<bool>,
    /// The requested oplock.
    pub oplock: Oplock,
    /// NT: delete the file when this open is closed.
    pub delete_on_close: bool,
    /// DOS: the length of a created or overwritten file, bytes.
    pub length: u32,
    /// OPEN_ANDX: read this many bytes from the beginning in the same message.
    pub read: Option<u16>,
    /// TRANS2_OPEN2: send the request in two parts.
    pub split: bool,
}

/// The command that carries a read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// READ, WRITE.
    Core,
    /// READ_ANDX, WRITE_ANDX.
    AndX,
    /// READ_RAW, WRITE_RAW.
    Raw,
}

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub offset: u64,
    /// The number of bytes; 0 is the point before `offset`.
    pub length: u64,
}

impl Range {
    /// Whether two ranges have a byte in common, or one is a point strictly inside the other.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        let before_end =
            |a: Self, b: Self| u128::from(a.offset) < u128::from(b.offset) + u128::from(b.length);
        before_end(self, other) && before_end(other, self)
    }
}

/// The operation of a request.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "fields are named after those of the requests")]
pub enum Op {
    /// Open or create.
    Open(OpenArgs),
    /// CLOSE.
    Close { fid: u16 },
    /// FLUSH.
    Flush { fid: u16 },
    /// Read.
    Read {
        fid: u16,
        offset: u64,
        len: u16,
        by: Carrier,
    },
    /// Write. `through`: write-through to the disk, and a final answer to a raw write.
    Write {
        fid: u16,
        offset: u64,
        data: Vec<u8>,
        by: Carrier,
        through: bool,
    },
    /// Set the length: WRITE of no bytes, or TRANS2_SET_FILE_INFORMATION.
    SetLength { fid: u16, len: u32, by: Carrier },
    /// LOCKING_ANDX that locks, or LOCK_BYTE_RANGE (`core`). A wait of `u32::MAX` is unlimited.
    Lock {
        fid: u16,
        ranges: Vec<Range>,
        shared: bool,
        wait_ms: u32,
        core: bool,
    },
    /// LOCKING_ANDX that unlocks one range, or UNLOCK_BYTE_RANGE (`core`).
    Unlock { fid: u16, range: Range, core: bool },
    /// LOCKING_ANDX that cancels a waiting lock.
    CancelLock {
        fid: u16,
        range: Range,
        shared: bool,
    },
    /// RENAME or NT_RENAME; wildcards in RENAME only.
    Rename { old: String, new: String, nt: bool },
    /// TRANS2_SET_FILE_INFORMATION, FileRenameInformation: a new name in the same folder.
    RenameOpen {
        fid: u16,
        new: String,
        replace: bool,
    },
    /// DELETE; wildcards.
    Delete { path: String },
    /// CREATE_DIRECTORY.
    MakeFolder { path: String },
    /// DELETE_DIRECTORY.
    RemoveFolder { path: String },
    /// TRANS2_SET_FILE_INFORMATION, disposition.
    Disposition { fid: u16, delete: bool },
    /// NT_TRANSACT_NOTIFY_CHANGE.
    Notify {
        fid: u16,
        filter: u32,
        tree: bool,
        room: u32,
    },
    /// SESSION_SETUP_ANDX.
    LogOn { user: Option<&'static str> },
    /// LOGOFF_ANDX.
    LogOff,
    /// TREE_CONNECT_ANDX.
    Connect { share: usize },
    /// TREE_DISCONNECT.
    Disconnect,
    /// PROCESS_EXIT.
    Exit,
    /// ECHO.
    Echo,
}

impl Op {
    /// The FID of the operation.
    #[must_use]
    pub fn fid(&self) -> Option<u16> {
        match self {
            Self::Close { fid }
            | Self::Flush { fid }
            | Self::Read { fid, .. }
            | Self::Write { fid, .. }
            | Self::SetLength { fid, .. }
            | Self::Lock { fid, .. }
            | Self::Unlock { fid, .. }
            | Self::CancelLock { fid, .. }
            | Self::RenameOpen { fid, .. }
            | Self::Disposition { fid, .. }
            | Self::Notify { fid, .. } => Some(*fid),
            _ => None,
        }
    }
}

/// A request of a client.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which client.
    pub client: usize,
    /// The operation.
    pub op: Op,
    /// The UID.
    pub uid: u16,
    /// The TID.
    pub tid: u16,
    /// The PID.
    pub pid: u16,
    /// The MID.
    pub mid: u16,
    /// The time of arrival at the server, ns.
    pub arrived: u64,
    /// The server has received it.
    pub delivered: bool,
    /// The server did not answer it at once.
    pub waited: bool,
    /// The client has cancelled it.
    pub cancelled: bool,
    /// It gets no answer: the client never sends the rest of its transaction.
    pub abandoned: bool,
}
