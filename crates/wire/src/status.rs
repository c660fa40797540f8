//! Statuses: one table from NTSTATUS to DOS class and code, for clients that understand only one of the two.
//!
//! Values and pairs are those of [MS-CIFS] 2.2.2.4; pairs it does not list follow what NT servers send.

pub mod reply;

use core::fmt;

/// Error class of a DOS-style status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// No error.
    Success = 0,
    /// From the operating system's core set.
    Dos = 1,
    /// From the server.
    Server = 2,
    /// From hardware.
    Hardware = 3,
    /// The command was not an SMB.
    Command = 0xff,
}

/// A DOS-style status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DosStatus {
    /// Class.
    pub class: Class,
    /// Code within the class.
    pub code: u16,
}

impl DosStatus {
    /// The four bytes of the header's status field, as a little-endian number.
    pub const fn to_wire(self) -> u32 {
        self.class as u32 | (self.code as u32) << 16
    }

    /// The nearest DOS error code. The core protocol's tables (*SMB Core Protocol* 5, error class ERRDOS) contain the
    /// errors of DOS 3 only: a non-empty folder and an existing name are ERRnoaccess, any invalid path is a bad path,
    /// and any unlock error is ERRlock (section 5.15).
    pub const fn for_dos(self) -> Self {
        let code = match (self.class, self.code) {
            (Class::Dos, 123 | 161 | 267) => 3,
            (Class::Dos, 145 | 183 | 303) => 5,
            (Class::Dos, 158) => 33,
            (_, code) => code,
        };
        Self { code, ..self }
    }
}

/// The result of a request: an NTSTATUS, which the table also maps to a DOS class and code.
///
/// Statuses without an NT number (ERRSRV codes) have the form of [MS-CIFS] 2.2.2.4: `code << 16 | class`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(pub u32);

macro_rules! statuses {
    ($($name:ident = $nt:literal, $class:ident $code:literal, $words:literal;)*) => {
        impl Status {
            $(#[doc = $words] pub const $name: Self = Self($nt);)*
        }
        /// Every status of the table: value, name, DOS equivalent, words.
        pub const TABLE: &[(Status, &str, DosStatus, &str)] = &[
            $((Status($nt), stringify!($name), DosStatus { class: Class::$class, code: $code }, $words),)*
        ];
    };
}

statuses! {
    OK = 0x0000_0000, Success 0, "The operation succeeded.";
    NOTIFY_CLEANUP = 0x0000_010b, Success 0, "The watched folder's handle was closed.";
    NOTIFY_ENUM_DIR = 0x0000_010c, Dos 1022, "Too many changes to list: enumerate the folder again.";
    BUFFER_OVERFLOW = 0x8000_0005, Dos 234, "More data is available than fits.";
    NO_MORE_FILES = 0x8000_0006, Dos 18, "No more files.";
    DEVICE_PAPER_EMPTY = 0x8000_000e, Dos 28, "The printer is out of paper.";
    STOPPED_ON_SYMLINK = 0x8000_002d, Dos 3, "A symbolic link leads elsewhere.";
    INVALID_EA_NAME = 0x8000_0013, Dos 254, "The name of an extended attribute is not legal.";
    EA_LIST_INCONSISTENT = 0x8000_0014, Dos 255, "The list of extended attributes is malformed.";
    UNSUCCESSFUL = 0xc000_0001, Dos 31, "The operation failed.";
    NOT_IMPLEMENTED = 0xc000_0002, Dos 1, "The server does not do this.";
    INVALID_INFO_CLASS = 0xc000_0003, Dos 124, "No such information class.";
    INFO_LENGTH_MISMATCH = 0xc000_0004, Dos 24, "The information has the wrong length.";
    INVALID_HANDLE = 0xc000_0008, Dos 6, "No such open file.";
    INVALID_PARAMETER = 0xc000_000d, Dos 87, "A parameter is not legal.";
    NO_SUCH_DEVICE = 0xc000_000e, Dos 2, "No such device.";
    NO_SUCH_FILE = 0xc000_000f, Dos 2, "No file matches.";
    INVALID_DEVICE_REQUEST = 0xc000_0010, Dos 1, "The device cannot do this.";
    END_OF_FILE = 0xc000_0011, Dos 38, "End of file.";
    MORE_PROCESSING_REQUIRED = 0xc000_0016, Dos 234, "The exchange goes on.";
    NO_MEMORY = 0xc000_0017, Dos 8, "Out of memory.";
    ACCESS_DENIED = 0xc000_0022, Dos 5, "Access denied.";
    BUFFER_TOO_SMALL = 0xc000_0023, Dos 122, "The buffer is too small.";
    OBJECT_TYPE_MISMATCH = 0xc000_0024, Dos 6, "This kind of object cannot do that.";
    OBJECT_NAME_INVALID = 0xc000_0033, Dos 123, "The name is not legal.";
    OBJECT_NAME_NOT_FOUND = 0xc000_0034, Dos 2, "File not found.";
    OBJECT_NAME_COLLISION = 0xc000_0035, Dos 80, "A file of that name exists.";
    PORT_DISCONNECTED = 0xc000_0037, Dos 6, "The port is disconnected.";
    OBJECT_PATH_INVALID = 0xc000_0039, Dos 3, "The path is not legal.";
    OBJECT_PATH_NOT_FOUND = 0xc000_003a, Dos 3, "Path not found.";
    OBJECT_PATH_SYNTAX_BAD = 0xc000_003b, Dos 161, "The path is malformed.";
    SHARING_VIOLATION = 0xc000_0043, Dos 32, "Another open forbids this one.";
    EA_TOO_LARGE = 0xc000_0050, Dos 255, "The extended attributes are too large.";
    NONEXISTENT_EA_ENTRY = 0xc000_0051, Dos 255, "No such extended attribute.";
    NO_EAS_ON_FILE = 0xc000_0052, Dos 1, "The file has no extended attributes.";
    EAS_NOT_SUPPORTED = 0xc000_004f, Dos 282, "The file system keeps no extended attributes.";
    FILE_LOCK_CONFLICT = 0xc000_0054, Dos 33, "The range is locked by another.";
    LOCK_NOT_GRANTED = 0xc000_0055, Dos 33, "The lock was not granted.";
    DELETE_PENDING = 0xc000_0056, Dos 303, "The file is about to be deleted.";
    PRIVILEGE_NOT_HELD = 0xc000_0061, Dos 1314, "A privilege is missing.";
    WRONG_PASSWORD = 0xc000_006a, Dos 86, "Wrong password.";
    LOGON_FAILURE = 0xc000_006d, Server 2, "Wrong user name or password.";
    ACCOUNT_RESTRICTION = 0xc000_006e, Dos 1327, "The account may not log on in this way.";
    ACCOUNT_DISABLED = 0xc000_0072, Server 2239, "The account is disabled.";
    PASSWORD_EXPIRED = 0xc000_0071, Server 2242, "The password has expired.";
    RANGE_NOT_LOCKED = 0xc000_007e, Dos 158, "The range was not locked.";
    DISK_FULL = 0xc000_007f, Dos 112, "The disk is full.";
    INSUFFICIENT_RESOURCES = 0xc000_009a, Dos 8, "The server is out of resources.";
    MEDIA_WRITE_PROTECTED = 0xc000_00a2, Dos 19, "The disk is write-protected.";
    DEVICE_NOT_READY = 0xc000_00a3, Dos 21, "The drive is not ready.";
    PIPE_NOT_AVAILABLE = 0xc000_00ac, Dos 231, "All instances of the pipe are busy.";
    INVALID_PIPE_STATE = 0xc000_00ad, Dos 230, "The pipe is in the wrong state.";
    PIPE_BUSY = 0xc000_00ae, Dos 231, "The pipe is busy.";
    PIPE_DISCONNECTED = 0xc000_00b0, Dos 109, "The pipe is disconnected.";
    IO_TIMEOUT = 0xc000_00b5, Dos 121, "The operation timed out.";
    FILE_IS_A_DIRECTORY = 0xc000_00ba, Dos 5, "That is a folder.";
    NOT_SUPPORTED = 0xc000_00bb, Dos 50, "Not supported.";
    NETWORK_ACCESS_DENIED = 0xc000_00ca, Dos 65, "Network access is denied.";
    BAD_DEVICE_TYPE = 0xc000_00cb, Server 7, "The share is of another type.";
    BAD_NETWORK_NAME = 0xc000_00cc, Server 6, "No such share.";
    REQUEST_NOT_ACCEPTED = 0xc000_00d0, Dos 71, "The server accepts no more of these.";
    NO_SUCH_USER = 0xc000_0064, Server 2, "No such user.";
    INTERNAL_ERROR = 0xc000_00e5, Dos 31, "The server made an error.";
    UNEXPECTED_IO_ERROR = 0xc000_00e9, Dos 31, "The disk reported an error.";
    DIRECTORY_NOT_EMPTY = 0xc000_0101, Dos 145, "The folder is not empty.";
    NOT_A_DIRECTORY = 0xc000_0103, Dos 267, "That is not a folder.";
    CANCELLED = 0xc000_0120, Dos 995, "The request was cancelled.";
    CANNOT_DELETE = 0xc000_0121, Dos 5, "The file cannot be deleted.";
    FILE_DELETED = 0xc000_0123, Dos 5, "The file was deleted.";
    FILE_CLOSED = 0xc000_0128, Dos 6, "The file was closed.";
    TOO_MANY_OPENED_FILES = 0xc000_011f, Dos 4, "Too many open files.";
    INVALID_SECURITY_DESCR = 0xc000_0079, Dos 1338, "The security descriptor is malformed.";
    INVALID_LEVEL = 0xc000_0148, Dos 124, "No such information level.";
    PIPE_EMPTY = 0xc000_00d9, Dos 232, "The pipe holds nothing to read.";
    PIPE_BROKEN = 0xc000_014b, Dos 109, "The pipe is broken.";
    USER_SESSION_DELETED = 0xc000_0203, Dos 92, "The session is gone.";
    INSUFF_SERVER_RESOURCES = 0xc000_0205, Dos 1130, "The server is out of resources.";
    OBJECTID_NOT_FOUND = 0xc000_02f0, Dos 2, "No object identifier.";
    NOT_FOUND = 0xc000_0225, Dos 1168, "Not found.";
    NO_SUCH_DOMAIN = 0xc000_00df, Dos 1355, "No such domain.";
    PATH_NOT_COVERED = 0xc000_0257, Server 3, "The path is on another server.";
    INVALID_LOCK_RANGE = 0xc000_01a1, Dos 307, "The range is not legal.";
    INVALID_SMB = 0x0001_0002, Server 1, "The request is malformed.";
    BAD_TID = 0x0005_0002, Server 5, "No such tree connection.";
    BAD_COMMAND = 0x0016_0002, Server 22, "The server does not know this command.";
    BAD_UID = 0x005b_0002, Server 91, "No such user session.";
    TOO_MANY_UIDS = 0x005a_0002, Server 90, "Too many user sessions.";
    QUEUE_FULL = 0x0031_0002, Server 49, "The print queue is full.";
    SERVER_PAUSED = 0x0051_0002, Server 81, "The server is paused.";
    MESSAGES_OFF = 0x0052_0002, Server 82, "Messages between users are not received.";
    USE_MPX = 0x00fa_0002, Server 250, "Use multiplexed mode, raw mode is not available now.";
    USE_STANDARD = 0x00fb_0002, Server 251, "Use standard reads and writes, raw and multiplexed modes are not available.";
    SERVER_ACCESS = 0x0004_0002, Server 4, "The share password does not allow this.";
    INVALID_PRINT_FILE = 0x0035_0002, Server 53, "No such print job.";
    BAD_ACCESS = 0x000c_0001, Dos 12, "No such access mode.";
    INVALID_FUNCTION = 0x0001_0001, Dos 1, "No such function.";
    BAD_FILE = 0x0002_0001, Dos 2, "File not found.";
    BAD_PATH = 0x0003_0001, Dos 3, "Path not found.";
    NO_MORE_FIDS = 0x0004_0001, Dos 4, "Too many open files.";
    DOS_NO_ACCESS = 0x0005_0001, Dos 5, "Access denied.";
    DOS_BAD_FID = 0x0006_0001, Dos 6, "No such open file.";
    DOS_FILE_EXISTS = 0x0050_0001, Dos 80, "A file of that name exists.";
    DOS_RENAME_EXISTS = 0x00b7_0001, Dos 183, "The new name exists already.";
    DOS_CANNOT_DELETE_CURRENT = 0x0010_0001, Dos 16, "The folder is in use.";
    DOS_NOT_SAME_DEVICE = 0x0011_0001, Dos 17, "Not the same device.";
    DOS_LOCK = 0x0021_0001, Dos 33, "The range is locked by another.";
    DOS_UNKNOWN_LEVEL = 0x007c_0001, Dos 124, "No such information level.";
    CANCEL_VIOLATION = 0x00ad_0001, Dos 173, "No lock request that waits is like the one to be cancelled.";
    ATOMIC_LOCKS_NOT_SUPPORTED = 0x00ae_0001, Dos 174, "Locks cannot be changed in kind.";
    DOS_INVALID_SEEK = 0x0083_0001, Dos 131, "The file position would be negative.";
    DOS_BAD_SHARE = 0x0020_0001, Dos 32, "Another open forbids this one.";
    DOS_UNSUPPORTED = 0x0032_0001, Dos 50, "Not supported.";
    NOT_SAME_DEVICE = 0xc000_00d4, Dos 17, "Not the same device.";
    DATA_ERROR = 0xc000_003e, Dos 23, "The disk holds damaged data.";
    CRC_ERROR = 0xc000_003f, Dos 23, "The disk's check sum is wrong.";
    NO_LOGON_SERVERS = 0xc000_005e, Dos 1311, "No server that could check the log-on was found.";
    INVALID_LOGON_HOURS = 0xc000_006f, Server 2241, "The account may not log on at this time.";
    INVALID_WORKSTATION = 0xc000_0070, Server 2240, "The account may not log on from this machine.";
    BAD_NETWORK_PATH = 0xc000_00be, Dos 53, "The server's name was not found.";
    NETWORK_NAME_DELETED = 0xc000_00c9, Dos 64, "The share was taken back, or the tree connection is gone.";
    TOO_MANY_SESSIONS = 0xc000_00ce, Dos 69, "The server has as many sessions as it takes.";
    VIRTUAL_CIRCUIT_CLOSED = 0xc000_00d6, Dos 240, "The session was closed.";
    LOGON_TYPE_NOT_GRANTED = 0xc000_015b, Dos 1385, "The account may not log on over the network.";
    IO_DEVICE_ERROR = 0xc000_0185, Dos 1117, "The device reported an error.";
    ACCOUNT_EXPIRED = 0xc000_0193, Server 2239, "The account has expired.";
    PASSWORD_MUST_CHANGE = 0xc000_0224, Server 2242, "The password must be changed first.";
    ACCOUNT_LOCKED_OUT = 0xc000_0234, Server 2239, "The account is locked after too many wrong passwords.";
}

impl Status {
    /// Whether this is success (NT severity 0; DOS class 0).
    pub const fn is_ok(self) -> bool {
        self.0 == 0 || self.0 == Self::NOTIFY_CLEANUP.0 || self.0 == Self::NOTIFY_ENUM_DIR.0
    }

    /// Whether this is a class and code without an NTSTATUS.
    pub const fn is_dos(self) -> bool {
        let class = self.0 & 0xff;
        self.0 >> 24 == 0 && self.0 & 0xff00 == 0 && (class == 1 || class == 2 || class == 3)
    }

    fn row(self) -> Option<&'static (Self, &'static str, DosStatus, &'static str)> {
        TABLE.iter().find(|row| row.0 == self)
    }

    /// Class and code for a client without NT statuses. An unknown NTSTATUS is the general failure ERRHRD/31.
    pub fn dos(self) -> DosStatus {
        if let Some(row) = self.row() {
            return row.2;
        }
        if self.is_dos() {
            let class = match self.0 & 0xff {
                1 => Class::Dos,
                2 => Class::Server,
                _ => Class::Hardware,
            };
            return DosStatus {
                class,
                code: (self.0 >> 16) as u16,
            };
        }
        DosStatus {
            class: Class::Hardware,
            code: 31,
        }
    }

    /// The name in the specification's vocabulary, if the table has it.
    pub fn name(self) -> Option<&'static str> {
        self.row().map(|row| row.1)
    }

    /// The meaning of the status in words.
    pub fn words(self) -> &'static str {
        self.row().map_or("Unknown status.", |row| row.3)
    }

    /// The header's status field: NTSTATUS if the client requested it, otherwise class and code.
    pub fn to_wire(self, nt_status: bool) -> u32 {
        if nt_status {
            self.0
        } else {
            self.dos().to_wire()
        }
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Status({:#010x})", self.0),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dos = self.dos();
        write!(
            f,
            "{} ({self:?} {:#010x}, {:?}/{})",
            self.words(),
            self.0,
            dos.class,
            dos.code
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn every_status_stands_once_and_its_dos_form_survives_the_wire() {
        for (i, row) in TABLE.iter().enumerate() {
            assert!(
                TABLE[..i].iter().all(|other| other.0 != row.0),
                "{} has two entries",
                row.1
            );
            let wire = row.0.to_wire(false).to_le_bytes();
            assert_eq!(wire[0], row.2.class as u8, "{}", row.1);
            assert_eq!(
                u16::from_le_bytes([wire[2], wire[3]]),
                row.2.code,
                "{}",
                row.1
            );
            assert_eq!(row.2.class == Class::Success, row.2.code == 0, "{}", row.1);
        }
    }

    #[test]
    fn statuses_unknown_to_dos_become_a_bad_path_or_no_access() {
        let dos = |status: Status| status.dos().for_dos().code;
        assert_eq!(dos(Status::DIRECTORY_NOT_EMPTY), 5);
        assert_eq!(dos(Status::DELETE_PENDING), 5);
        assert_eq!(dos(Status::DOS_RENAME_EXISTS), 5);
        for status in [
            Status::OBJECT_NAME_INVALID,
            Status::OBJECT_PATH_SYNTAX_BAD,
            Status::NOT_A_DIRECTORY,
        ] {
            assert_eq!(dos(status), 3);
        }
        assert_eq!(dos(Status::SHARING_VIOLATION), 32);
        assert_eq!(dos(Status::RANGE_NOT_LOCKED), 33);
    }

    #[test]
    fn a_class_and_code_outside_the_table_reaches_dos_clients_unchanged() {
        assert_eq!(
            Status(0x0070_0001).dos(),
            DosStatus {
                class: Class::Dos,
                code: 0x70
            }
        );
        assert_eq!(
            Status(0xc0ff_ffff).dos(),
            DosStatus {
                class: Class::Hardware,
                code: 31
            }
        );
    }
}
