//! Names of what transactions are for ([MS-CIFS] 2.2.2.2, 2.2.5 to 2.2.7; [MS-SMB] 2.2.2.2).

use super::{
    named_pipe::function as pipe, nt_transact::function as nt, trans2::function as trans2,
    transaction::Kind,
};

/// TRANS_MAILSLOT_WRITE. It has the same number as TRANS_SET_NMPIPE_STATE on the wire; the transaction's name
/// distinguishes them.
pub const MAILSLOT_WRITE: u16 = 0x8001;

/// The name of a function, without what all of its kind begin with.
pub fn name(kind: Kind, function: u16) -> Option<&'static str> {
    match kind {
        Kind::Transaction => of_transaction(function),
        Kind::Transaction2 => of_transaction2(function),
        Kind::NtTransact => of_nt_transact(function),
    }
}

/// Whether the reply waits for an event: a change in a folder, or a free pipe.
pub fn waits(kind: Kind, function: u16) -> bool {
    match kind {
        Kind::Transaction => function == pipe::WAIT,
        // FIND_NOTIFY_FIRST and FIND_NOTIFY_NEXT
        Kind::Transaction2 => matches!(function, 0x000b | 0x000c),
        Kind::NtTransact => function == nt::NOTIFY_CHANGE,
    }
}

fn of_transaction(function: u16) -> Option<&'static str> {
    Some(match function {
        MAILSLOT_WRITE => "MAILSLOT_WRITE",
        pipe::SET_STATE => "SET_NMPIPE_STATE",
        0x0011 => "RAW_READ_NMPIPE",
        pipe::QUERY_STATE => "QUERY_NMPIPE_STATE",
        pipe::QUERY_INFO => "QUERY_NMPIPE_INFO",
        pipe::PEEK => "PEEK_NMPIPE",
        pipe::TRANSACT => "TRANSACT_NMPIPE",
        0x0031 => "RAW_WRITE_NMPIPE",
        0x0036 => "READ_NMPIPE",
        0x0037 => "WRITE_NMPIPE",
        pipe::WAIT => "WAIT_NMPIPE",
        pipe::CALL => "CALL_NMPIPE",
        _ => return None,
    })
}

fn of_transaction2(function: u16) -> Option<&'static str> {
    Some(match function {
        trans2::OPEN2 => "OPEN2",
        trans2::FIND_FIRST2 => "FIND_FIRST2",
        trans2::FIND_NEXT2 => "FIND_NEXT2",
        trans2::QUERY_FS_INFORMATION => "QUERY_FS_INFORMATION",
        trans2::SET_FS_INFORMATION => "SET_FS_INFORMATION",
        trans2::QUERY_PATH_INFORMATION => "QUERY_PATH_INFORMATION",
        trans2::SET_PATH_INFORMATION => "SET_PATH_INFORMATION",
        trans2::QUERY_FILE_INFORMATION => "QUERY_FILE_INFORMATION",
        trans2::SET_FILE_INFORMATION => "SET_FILE_INFORMATION",
        0x0009 => "FSCTL",
        0x000a => "IOCTL2",
        0x000b => "FIND_NOTIFY_FIRST",
        0x000c => "FIND_NOTIFY_NEXT",
        trans2::CREATE_DIRECTORY => "CREATE_DIRECTORY",
        0x000e => "SESSION_SETUP",
        trans2::GET_DFS_REFERRAL => "GET_DFS_REFERRAL",
        0x0011 => "REPORT_DFS_INCONSISTENCY",
        _ => return None,
    })
}

fn of_nt_transact(function: u16) -> Option<&'static str> {
    Some(match function {
        nt::CREATE => "CREATE",
        nt::IOCTL => "IOCTL",
        nt::SET_SECURITY_DESC => "SET_SECURITY_DESC",
        nt::NOTIFY_CHANGE => "NOTIFY_CHANGE",
        nt::RENAME => "RENAME",
        nt::QUERY_SECURITY_DESC => "QUERY_SECURITY_DESC",
        nt::GET_USER_QUOTA => "QUERY_QUOTA",
        nt::SET_USER_QUOTA => "SET_QUOTA",
        0x0009 => "CREATE2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_function_of_the_specification_has_a_name_of_its_own() {
        for (kind, count) in [
            (Kind::Transaction, 12),
            (Kind::Transaction2, 17),
            (Kind::NtTransact, 9),
        ] {
            let mut names: Vec<_> = (0..=u16::MAX).filter_map(|it| name(kind, it)).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{names:?}");
        }
    }

    #[test]
    fn a_number_has_a_different_meaning_in_each_kind_of_transaction() {
        assert_eq!(name(Kind::NtTransact, 4), Some("NOTIFY_CHANGE"));
        assert_eq!(name(Kind::Transaction2, 4), Some("SET_FS_INFORMATION"));
        assert_eq!(name(Kind::Transaction, 4), None);
        assert!(waits(Kind::NtTransact, 4) && !waits(Kind::Transaction2, 4));
    }
}
