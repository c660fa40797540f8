//! The way back: from the status field of a reply to a [`Status`], a name and words.
//!
//! Names of classes and codes are those of [MS-CIFS] 2.2.2.4 and of the specifications before it (*SMB Core Protocol* 5,
//! *SMB File Sharing Protocol Extensions* 10.2).

use super::{Class, DosStatus, Status};
use crate::header::{Flags2, Header};
use alloc::{format, string::String};
use core::fmt;

/// A reply's status field, in whichever of the two forms the server chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyStatus {
    /// The raw field.
    pub field: u32,
    /// The status is an NTSTATUS; otherwise class and code.
    pub nt: bool,
}

impl ReplyStatus {
    /// The status of a reply with this header.
    pub const fn of(header: &Header) -> Self {
        Self {
            field: header.status,
            nt: header.flags2.has(Flags2::NT_STATUS),
        }
    }

    /// The status: an NTSTATUS unchanged, or the NTSTATUS equivalent to a class and code, so that a client needs only
    /// one form. A class and code without an equivalent has the form of [`Status::is_dos`].
    pub fn status(self) -> Status {
        if self.nt {
            return Status(self.field);
        }
        match (self.row(), self.field & 0xff) {
            (_, 0) => Status::OK,
            (Some(row), _) => row.status,
            (None, _) => self.in_table(),
        }
    }

    /// The first NTSTATUS of the table that servers give this class and code.
    fn in_table(self) -> Status {
        let field = self.field & 0xffff_00ff;
        let found = super::TABLE.iter().find(|row| row.2.to_wire() == field);
        found.map_or(Status(field), |row| row.0)
    }

    /// Class and code, of a status in that form.
    pub const fn class_and_code(self) -> Option<(u8, u16)> {
        if self.nt {
            return None;
        }
        Some(((self.field & 0xff) as u8, (self.field >> 16) as u16))
    }

    /// The specification's name, as `STATUS_LOGON_FAILURE` or `ERRbadpw`; for what has none, the number.
    pub fn name(self) -> String {
        if let Some((class, code)) = self.class_and_code() {
            return match self.row() {
                Some(row) => row.name.into(),
                None if class == 0 => "SUCCESS".into(),
                None => format!("{}/{code}", class_name(class)),
            };
        }
        match Status(self.field).name() {
            Some(name) => format!("STATUS_{name}"),
            None => format!("{:#010x}", self.field),
        }
    }

    /// The meaning of the status as a sentence.
    pub fn words(self) -> &'static str {
        match self.row() {
            Some(row) => row.words,
            None => self.status().words(),
        }
    }

    fn row(self) -> Option<&'static Row> {
        let (class, code) = self.class_and_code()?;
        let matches = |row: &&Row| row.dos.class as u8 == class && row.dos.code == code;
        ROWS.iter().find(matches)
    }
}

impl fmt::Display for ReplyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self.class_and_code() {
            Some((class, code)) => {
                write!(f, "{} ({name}, {}/{code})", self.words(), class_name(class))
            }
            None => write!(f, "{} ({name}, {:#010x})", self.words(), self.field),
        }
    }
}

const fn class_name(class: u8) -> &'static str {
    match class {
        0 => "SUCCESS",
        1 => "ERRDOS",
        2 => "ERRSRV",
        3 => "ERRHRD",
        4 => "ERRXOS",
        0xff => "ERRCMD",
        _ => "unknown class",
    }
}

/// Every named class and code, as `ERRnoaccess`.
pub fn dos_names() -> impl Iterator<Item = (&'static str, DosStatus)> {
    ROWS.iter().map(|row| (row.name, row.dos))
}

/// One class and code: name, what it is as a [`Status`], words.
struct Row {
    dos: DosStatus,
    name: &'static str,
    status: Status,
    words: &'static str,
}

const fn row(
    class: Class,
    code: u16,
    name: &'static str,
    status: Status,
    words: &'static str,
) -> Row {
    Row {
        dos: DosStatus { class, code },
        name,
        status,
        words,
    }
}

macro_rules! rows {
    ($($class:ident $code:literal $name:literal $status:ident $words:literal;)*) => {
        /// Every named class and code.
        const ROWS: &[Row] = &[$(row(Class::$class, $code, $name, Status::$status, $words),)*];
    };
}

rows! {
    Dos 1 "ERRbadfunc" INVALID_FUNCTION "The server does not know this function.";
    Dos 2 "ERRbadfile" OBJECT_NAME_NOT_FOUND "File not found.";
    Dos 3 "ERRbadpath" OBJECT_PATH_NOT_FOUND "Path not found.";
    Dos 4 "ERRnofids" TOO_MANY_OPENED_FILES "Too many open files.";
    Dos 5 "ERRnoaccess" ACCESS_DENIED "Access denied.";
    Dos 6 "ERRbadfid" INVALID_HANDLE "No such open file.";
    Dos 7 "ERRbadmcb" INSUFFICIENT_RESOURCES "The server's memory is in disorder.";
    Dos 8 "ERRnomem" NO_MEMORY "The server is out of memory.";
    Dos 9 "ERRbadmem" INSUFFICIENT_RESOURCES "The server's memory block is not legal.";
    Dos 10 "ERRbadenv" INVALID_PARAMETER "The environment is not legal.";
    Dos 11 "ERRbadformat" INVALID_PARAMETER "The format is not legal.";
    Dos 12 "ERRbadaccess" BAD_ACCESS "No such access mode.";
    Dos 13 "ERRbaddata" DATA_ERROR "The data is not legal.";
    Dos 15 "ERRbaddrive" OBJECT_PATH_NOT_FOUND "No such drive.";
    Dos 16 "ERRremcd" DOS_CANNOT_DELETE_CURRENT "The folder is in use.";
    Dos 17 "ERRdiffdevice" NOT_SAME_DEVICE "Not the same device.";
    Dos 18 "ERRnofiles" NO_MORE_FILES "No more files.";
    Dos 19 "ERRnowrite" MEDIA_WRITE_PROTECTED "The disk is write-protected.";
    Dos 31 "ERRgeneral" UNSUCCESSFUL "The operation failed.";
    Dos 32 "ERRbadshare" SHARING_VIOLATION "Another open forbids this one.";
    Dos 33 "ERRlock" FILE_LOCK_CONFLICT "The range is locked by another.";
    Dos 38 "ERReof" END_OF_FILE "End of file.";
    Dos 50 "ERRunsup" NOT_SUPPORTED "Not supported.";
    Dos 53 "ERRbadnetpath" BAD_NETWORK_PATH "The server's name was not found.";
    Dos 64 "ERRnetnamedel" NETWORK_NAME_DELETED "The share was taken back, or the tree connection is gone.";
    Dos 65 "ERRnetaccessdenied" NETWORK_ACCESS_DENIED "Network access is denied.";
    Dos 67 "ERRbadnetname" BAD_NETWORK_NAME "No such share.";
    Dos 71 "ERRreqnotaccep" REQUEST_NOT_ACCEPTED "The server accepts no more connections.";
    Dos 80 "ERRfilexists" OBJECT_NAME_COLLISION "A file of that name exists.";
    Dos 86 "ERRinvpassword" WRONG_PASSWORD "Wrong password.";
    Dos 87 "ERRinvalidparam" INVALID_PARAMETER "A parameter is not legal.";
    Dos 109 "ERRbrokenpipe" PIPE_BROKEN "The pipe is broken.";
    Dos 112 "ERRdiskfull" DISK_FULL "The disk is full.";
    Dos 113 "ERRnomoresearchhandles" INSUFFICIENT_RESOURCES "The server has no room for another search.";
    Dos 121 "ERRsemtimeout" IO_TIMEOUT "The operation timed out.";
    Dos 122 "ERRinsufficientbuffer" BUFFER_TOO_SMALL "The buffer is too small.";
    Dos 123 "ERRinvalidname" OBJECT_NAME_INVALID "The name is not legal.";
    Dos 124 "ERRunknownlevel" INVALID_LEVEL "The server does not know this information level.";
    Dos 131 "ERRinvalidseek" DOS_INVALID_SEEK "The file position would be negative.";
    Dos 145 "ERRdirnotempty" DIRECTORY_NOT_EMPTY "The folder is not empty.";
    Dos 158 "ERRnotlocked" RANGE_NOT_LOCKED "The range was not locked.";
    Dos 161 "ERRbadpathname" OBJECT_PATH_SYNTAX_BAD "The path is malformed.";
    Dos 173 "ERRcancelviolation" CANCEL_VIOLATION "No lock request that waits is like the one to be cancelled.";
    Dos 174 "ERRnoatomiclocks" ATOMIC_LOCKS_NOT_SUPPORTED "Locks cannot be changed in kind.";
    Dos 183 "ERRalreadyexists" DOS_RENAME_EXISTS "The name exists already.";
    Dos 230 "ERRbadpipe" INVALID_PIPE_STATE "The pipe is in the wrong state.";
    Dos 231 "ERRpipebusy" PIPE_NOT_AVAILABLE "All instances of the pipe are busy.";
    Dos 232 "ERRpipeclosing" PIPE_EMPTY "The pipe is being closed, or holds nothing to read.";
    Dos 233 "ERRnotconnected" PIPE_DISCONNECTED "Nothing is at the other end of the pipe.";
    Dos 234 "ERRmoredata" BUFFER_OVERFLOW "More data is available than fits.";
    Dos 240 "ERRvccclosed" VIRTUAL_CIRCUIT_CLOSED "The session was closed.";
    Dos 255 "ERRbadealist" EA_TOO_LARGE "The extended attributes are malformed or too large.";
    Dos 267 "ERRbaddirectory" NOT_A_DIRECTORY "That is not a folder.";
    Dos 275 "ERReasdidntfit" BUFFER_TOO_SMALL "The extended attributes do not fit the buffer.";
    Dos 282 "ERReasnsup" EAS_NOT_SUPPORTED "The file system keeps no extended attributes.";
    Dos 1022 "ERRnotifyenumdir" NOTIFY_ENUM_DIR "Too many changes to list: enumerate the folder again.";
    Server 1 "ERRerror" INVALID_SMB "The server refuses the request without a reason, or finds it malformed.";
    Server 2 "ERRbadpw" LOGON_FAILURE "Wrong user name or password.";
    Server 3 "ERRbadtype" PATH_NOT_COVERED "The path is on another server.";
    Server 4 "ERRaccess" SERVER_ACCESS "The share's password or the user's rights do not allow this.";
    Server 5 "ERRinvtid" BAD_TID "No such tree connection.";
    Server 6 "ERRinvnetname" BAD_NETWORK_NAME "No such share.";
    Server 7 "ERRinvdevice" BAD_DEVICE_TYPE "The share is of another type than the one asked for.";
    Server 22 "ERRunknownsmb" BAD_COMMAND "The server does not know this command.";
    Server 49 "ERRqfull" QUEUE_FULL "The print queue is full.";
    Server 50 "ERRqtoobig" QUEUE_FULL "The print queue has no room for so long a job.";
    Server 51 "ERRqeof" NO_MORE_FILES "The print queue ends here.";
    Server 52 "ERRinvpfid" INVALID_PRINT_FILE "No such print job.";
    Server 53 "ERRinvprint" INVALID_PRINT_FILE "No such print job.";
    Server 64 "ERRsmbcmd" BAD_COMMAND "The server does not know this command.";
    Server 65 "ERRsrverror" INTERNAL_ERROR "The server made an error.";
    Server 67 "ERRfilespecs" OBJECT_NAME_INVALID "Open file and path contradict each other.";
    Server 69 "ERRbadpermits" BAD_ACCESS "The access asked for is not legal.";
    Server 71 "ERRsetattrmode" INVALID_PARAMETER "These attributes cannot be set.";
    Server 81 "ERRpaused" SERVER_PAUSED "The server is paused.";
    Server 82 "ERRmsgoff" MESSAGES_OFF "Messages between users are not received.";
    Server 83 "ERRnoroom" INSUFFICIENT_RESOURCES "There is no room for the message.";
    Server 87 "ERRrmuns" TOO_MANY_SESSIONS "Too many names are forwarded.";
    Server 88 "ERRtimeout" IO_TIMEOUT "The operation timed out.";
    Server 89 "ERRnoresource" INSUFF_SERVER_RESOURCES "The server is out of resources.";
    Server 90 "ERRtoomanyuids" TOO_MANY_UIDS "Too many user sessions.";
    Server 91 "ERRbaduid" BAD_UID "No such user session.";
    Server 233 "ERRnotconnected" PIPE_DISCONNECTED "Nothing is at the other end of the pipe.";
    Server 250 "ERRusempx" USE_MPX "Use multiplexed mode, raw mode is not available now.";
    Server 251 "ERRusestd" USE_STANDARD "Use standard reads and writes, raw and multiplexed modes are not available.";
    Server 2239 "ERRaccountexpired" ACCOUNT_EXPIRED "The account has expired or is disabled.";
    Server 2240 "ERRbadclient" INVALID_WORKSTATION "The account may not log on from this machine.";
    Server 2241 "ERRbadlogontime" INVALID_LOGON_HOURS "The account may not log on at this time.";
    Server 2242 "ERRpasswordexpired" PASSWORD_EXPIRED "The password has expired.";
    Server 65535 "ERRnosupport" NOT_SUPPORTED "Not supported.";
    Hardware 19 "ERRnowrite" MEDIA_WRITE_PROTECTED "The disk is write-protected.";
    Hardware 20 "ERRbadunit" NO_SUCH_DEVICE "No such drive.";
    Hardware 21 "ERRnotready" IO_DEVICE_ERROR "The drive is not ready.";
    Hardware 22 "ERRbadcmd" INVALID_DEVICE_REQUEST "The drive does not know this command.";
    Hardware 23 "ERRdata" CRC_ERROR "The disk's check sum is wrong.";
    Hardware 24 "ERRbadreq" INFO_LENGTH_MISMATCH "The request to the drive has the wrong length.";
    Hardware 25 "ERRseek" IO_DEVICE_ERROR "The drive could not seek.";
    Hardware 26 "ERRbadmedia" DATA_ERROR "The medium is of an unknown kind.";
    Hardware 27 "ERRbadsector" IO_DEVICE_ERROR "A sector was not found.";
    Hardware 28 "ERRnopaper" DEVICE_PAPER_EMPTY "The printer is out of paper.";
    Hardware 29 "ERRwrite" IO_DEVICE_ERROR "Writing failed.";
    Hardware 30 "ERRread" IO_DEVICE_ERROR "Reading failed.";
    Hardware 31 "ERRgeneral" UNSUCCESSFUL "The operation failed.";
    Hardware 32 "ERRbadshare" SHARING_VIOLATION "Another open forbids this one.";
    Hardware 33 "ERRlock" FILE_LOCK_CONFLICT "The range is locked by another.";
    Hardware 34 "ERRwrongdisk" IO_DEVICE_ERROR "The wrong disk is in the drive.";
    Hardware 35 "ERRFCBunavail" TOO_MANY_OPENED_FILES "No file control block is free.";
    Hardware 36 "ERRsharebufexc" INSUFFICIENT_RESOURCES "The sharing buffer is full.";
    Hardware 39 "ERRdiskfull" DISK_FULL "The disk is full.";
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::*;
    use alloc::string::ToString;

    fn dos(class: Class, code: u16) -> ReplyStatus {
        ReplyStatus {
            field: DosStatus { class, code }.to_wire(),
            nt: false,
        }
    }

    #[test]
    fn both_forms_of_a_wrong_password_are_one_status_with_a_name_each() {
        let nt = ReplyStatus {
            field: 0xc000_006d,
            nt: true,
        };
        let old = dos(Class::Server, 2);
        assert_eq!(
            (nt.status(), old.status()),
            (Status::LOGON_FAILURE, Status::LOGON_FAILURE)
        );
        assert_eq!(
            (nt.name(), old.name()),
            ("STATUS_LOGON_FAILURE".into(), "ERRbadpw".into())
        );
        assert_eq!(
            old.to_string(),
            "Wrong user name or password. (ERRbadpw, ERRSRV/2)"
        );
        assert_eq!(
            nt.to_string(),
            "Wrong user name or password. (STATUS_LOGON_FAILURE, 0xc000006d)"
        );
    }

    #[test]
    fn a_header_flag_selects_the_form_of_the_status() {
        let header = Header {
            status: 0x0012_0001,
            ..Header::default()
        };
        assert_eq!(ReplyStatus::of(&header).status(), Status::NO_MORE_FILES);
        let header = Header {
            status: 0x8000_0006,
            flags2: Flags2(Flags2::NT_STATUS),
            ..header
        };
        assert_eq!(ReplyStatus::of(&header).status(), Status::NO_MORE_FILES);
    }

    #[test]
    fn every_class_and_code_of_this_server_decodes_to_the_same_status() {
        for (status, name, want, _) in super::super::TABLE {
            let reply = ReplyStatus {
                field: status.to_wire(false),
                nt: false,
            };
            assert_eq!(reply.status().dos(), *want, "{name}");
            assert_eq!(
                reply.status().is_ok(),
                status.dos().code == 0 || want.code == 1022
            );
        }
    }

    #[test]
    fn every_class_and_code_is_unique_and_has_a_description() {
        for (i, row) in ROWS.iter().enumerate() {
            assert!(
                ROWS[..i].iter().all(|other| other.dos != row.dos),
                "{}",
                row.name
            );
            assert!(row.name.starts_with("ERR") && row.words.ends_with('.'));
            assert!(!row.status.is_ok() || row.dos.code == 1022, "{}", row.name);
        }
    }

    #[test]
    fn an_unknown_status_is_shown_by_its_number() {
        let strange = dos(Class::Dos, 4711);
        assert_eq!(strange.name(), "ERRDOS/4711");
        assert_eq!(strange.status(), Status(4711 << 16 | 1));
        assert_eq!(strange.words(), "Unknown status.");
        let strange = ReplyStatus {
            field: 0xc0de_0001,
            nt: true,
        };
        assert_eq!(
            (strange.name(), strange.status()),
            ("0xc0de0001".into(), Status(0xc0de_0001))
        );
        let success = ReplyStatus {
            field: 0,
            nt: false,
        };
        assert_eq!(
            (success.name(), success.status()),
            ("SUCCESS".into(), Status::OK)
        );
    }
}
