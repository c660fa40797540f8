//! Share modes: which opens of one file are compatible.
//!
//! NT opens state what others may do ([`share`] bits). DOS opens state a [`DenyMode`], which [`DenyMode::share`]
//! converts to the same bits. [MS-CIFS] 2.2.4.3.1, 3.3.5.5; [MS-FSA] 2.1.5.1.2.2; *SMB File Sharing Protocol
//! Extensions* (SMB-LM1X), deny modes of Open and X.

/// Access mask bits that matter to the tables ([MS-CIFS] 2.2.1.4.1; for folders the same bits have other names).
pub mod access {
    /// FILE_READ_DATA, FILE_LIST_DIRECTORY.
    pub const READ_DATA: u32 = 0x1;
    /// FILE_WRITE_DATA, FILE_ADD_FILE.
    pub const WRITE_DATA: u32 = 0x2;
    /// FILE_APPEND_DATA, FILE_ADD_SUBDIRECTORY.
    pub const APPEND_DATA: u32 = 0x4;
    /// FILE_EXECUTE, FILE_TRAVERSE.
    pub const EXECUTE: u32 = 0x20;
    /// FILE_READ_ATTRIBUTES.
    pub const READ_ATTRIBUTES: u32 = 0x80;
    /// FILE_WRITE_ATTRIBUTES.
    pub const WRITE_ATTRIBUTES: u32 = 0x100;
    /// DELETE.
    pub const DELETE: u32 = 0x1_0000;
    /// SYNCHRONIZE.
    pub const SYNCHRONIZE: u32 = 0x10_0000;

    pub(crate) const READING: u32 = READ_DATA | EXECUTE;
    pub(crate) const WRITING: u32 = WRITE_DATA | APPEND_DATA;
    /// An open with only these bits is free of share mode checks and breaks no oplock.
    pub(crate) const ATTRIBUTES_ONLY: u32 = READ_ATTRIBUTES | WRITE_ATTRIBUTES | SYNCHRONIZE;
}

/// Share access bits of NT_CREATE_ANDX ([MS-CIFS] 2.2.4.64.1): what others may do while the open lasts.
pub mod share {
    /// Nothing.
    pub const NONE: u32 = 0;
    /// FILE_SHARE_READ.
    pub const READ: u32 = 1;
    /// FILE_SHARE_WRITE.
    pub const WRITE: u32 = 2;
    /// FILE_SHARE_DELETE.
    pub const DELETE: u32 = 4;
    /// Everything.
    pub const ALL: u32 = READ | WRITE | DELETE;
}

/// Sharing mode of a DOS open, bits 4–6 of the access mode ([MS-CIFS] 2.2.4.3.1, 2.2.4.41.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenyMode {
    /// 0, compatibility mode (DENY_DOS): compatibility depends on the name, the access and the process.
    Compatibility,
    /// 1, deny read, write and execute.
    All,
    /// 2, deny write.
    Write,
    /// 3, deny read and execute.
    Read,
    /// 4, deny none.
    None,
    /// Access mode 0xFF: an open by file control block, for reading and writing, as DOS 1 programs make it.
    Fcb,
}

impl DenyMode {
    /// Converts this deny mode to share access, for an open with access mask `wanted`. `executable`: the file has the
    /// name of a program ([`is_executable`]).
    pub fn share(self, wanted: u32, executable: bool) -> u32 {
        match self {
            Self::All | Self::Fcb => share::NONE,
            Self::Write => share::READ,
            Self::Read => share::WRITE,
            Self::None => share::READ | share::WRITE,
            Self::Compatibility if executable => share::READ | share::WRITE,
            Self::Compatibility if wanted & access::WRITING != 0 => share::NONE,
            Self::Compatibility => share::READ,
        }
    }

    /// Whether opens of this mode by one process join an earlier one instead of conflicting with it.
    pub(super) fn joins(self) -> bool {
        matches!(self, Self::Compatibility | Self::Fcb)
    }
}

/// Whether a path has the name of a program: `.exe`, `.com`, `.dll`, `.sym`. Compatibility mode shares programs freely.
pub fn is_executable(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    ["exe", "com", "dll", "sym"]
        .iter()
        .any(|program| extension.eq_ignore_ascii_case(program))
}

/// Whether two opens conflict, each given by access mask and share access ([MS-FSA] 2.1.5.1.2.2). An open that neither
/// reads, writes, executes nor deletes conflicts with none.
pub fn share_conflict((access1, share1): (u32, u32), (access2, share2): (u32, u32)) -> bool {
    const SHARED: [(u32, u32); 3] = [
        (access::WRITING, share::WRITE),
        (access::READING, share::READ),
        (access::DELETE, share::DELETE),
    ];
    let touches = |access: u32| SHARED.iter().any(|(bits, _)| access & bits != 0);
    let denied = |access: u32, shared: u32| {
        SHARED
            .iter()
            .any(|(bits, may)| access & bits != 0 && shared & may == 0)
    };
    touches(access1) && touches(access2) && (denied(access1, share2) || denied(access2, share1))
}
