//! What a client should send instead of a request that is refused.

use std::collections::BTreeSet;

use coax_wire::status::Status;

/// What is known of the request and the connection.
pub(super) struct Facts<'a> {
    pub(super) uid: u16,
    pub(super) tid: u16,
    pub(super) fid: Option<u16>,
    pub(super) uids: &'a BTreeSet<u16>,
    pub(super) tids: &'a BTreeSet<u16>,
    pub(super) fids: &'a BTreeSet<u16>,
    pub(super) shares: &'a [String],
    /// Where the request is specified.
    pub(super) section: &'a str,
}

/// Identifiers of a list that are shown.
const MAX_SHOWN: usize = 8;

/// Why a request was refused with this status, and what the client should send.
pub(super) fn explain(status: Status, facts: &Facts<'_>) -> (String, Option<String>) {
    if let Some(found) = of_identifiers(status, facts) {
        return (found.0, Some(found.1));
    }
    let row = REMEDIES
        .iter()
        .find(|(statuses, ..)| statuses.contains(&status));
    match row {
        Some((_, why, instead)) => {
            let instead = instead.replace("{section}", facts.section);
            ((*why).into(), Some(instead).filter(|text| !text.is_empty()))
        }
        None => (
            status.words().into(),
            Some(format!(
                "what {} says; compare the request with 'coax decode'",
                facts.section
            )),
        ),
    }
}

fn of_identifiers(status: Status, facts: &Facts<'_>) -> Option<(String, String)> {
    let Facts { uid, tid, .. } = facts;
    Some(match status {
        Status::BAD_UID | Status::USER_SESSION_DELETED => (
            format!("no session of this connection has the UID {uid:#06x}"),
            format!(
                "in the header the UID of a SESSION_SETUP_ANDX response; valid now: {}",
                list(facts.uids)
            ),
        ),
        Status::BAD_TID | Status::NETWORK_NAME_DELETED => (
            format!("no share of this connection has the TID {tid:#06x}"),
            format!(
                "in the header the TID of a TREE_CONNECT or TREE_CONNECT_ANDX response; valid now: {}",
                list(facts.tids)
            ),
        ),
        Status::INVALID_HANDLE | Status::DOS_BAD_FID | Status::FILE_CLOSED => (
            match facts.fid {
                Some(fid) => format!("no open file of this session has the FID {fid:#06x}"),
                None => "the file is not open".into(),
            },
            format!(
                "the FID of a file that is open, with the UID and TID of its open; open now: {}",
                list(facts.fids)
            ),
        ),
        Status::BAD_NETWORK_NAME => (
            "the server has no share of this name".into(),
            format!(
                "\\\\SERVER\\SHARE with one of the shares {}",
                facts.shares.join(", ")
            ),
        ),
        _ => return None,
    })
}

fn list(ids: &BTreeSet<u16>) -> String {
    if ids.is_empty() {
        return "none".into();
    }
    let shown: Vec<String> = ids
        .iter()
        .take(MAX_SHOWN)
        .map(|id| format!("{id:#06x}"))
        .collect();
    let more = ids.len().saturating_sub(MAX_SHOWN);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Statuses, why the server sends them, and what to send instead.
const REMEDIES: &[(&[Status], &str, &str)] = &[
    (
        &[
            Status::INVALID_SMB,
            Status::INVALID_PARAMETER,
            Status::INFO_LENGTH_MISMATCH,
            Status::DATA_ERROR,
        ],
        "the server cannot read the request, or a value in it is not allowed",
        "what {section} says; compare the request with 'coax decode'",
    ),
    (
        &[
            Status::BAD_COMMAND,
            Status::NOT_IMPLEMENTED,
            Status::INVALID_FUNCTION,
            Status::NOT_SUPPORTED,
            Status::DOS_UNSUPPORTED,
            Status::INVALID_DEVICE_REQUEST,
        ],
        "the server does not know this command or function, or not in the negotiated dialect",
        "a command of the dialect (docs/support.md lists them)",
    ),
    (
        &[
            Status::INVALID_LEVEL,
            Status::INVALID_INFO_CLASS,
            Status::DOS_UNKNOWN_LEVEL,
        ],
        "the server does not know this information level",
        "a level of {section}",
    ),
    (
        &[
            Status::OBJECT_NAME_NOT_FOUND,
            Status::NO_SUCH_FILE,
            Status::BAD_FILE,
            Status::NO_SUCH_DEVICE,
        ],
        "no file of this name exists",
        "the path of a file that exists, from the share's root, with \\ between folders and without a drive or the share's name; \
         or an open that creates the file",
    ),
    (
        &[
            Status::OBJECT_PATH_NOT_FOUND,
            Status::BAD_PATH,
            Status::OBJECT_PATH_INVALID,
        ],
        "a folder of the path does not exist",
        "the path from the share's root, with \\ between folders; create the folders first",
    ),
    (
        &[Status::OBJECT_NAME_INVALID, Status::OBJECT_PATH_SYNTAX_BAD],
        "the name has a character or a form that is not allowed",
        "a path without the characters \" * / : < > ? | (wildcards only in a search), in the encoding that Flags2 states",
    ),
    (
        &[
            Status::OBJECT_NAME_COLLISION,
            Status::DOS_FILE_EXISTS,
            Status::DOS_RENAME_EXISTS,
        ],
        "a file or folder of this name exists",
        "another name, or an open that opens or replaces an existing file",
    ),
    (
        &[Status::SHARING_VIOLATION, Status::DOS_BAD_SHARE],
        "another open of the file forbids this access, or this share mode forbids the access of another open",
        "an access and a share mode that fit the other open, or the same request after its close",
    ),
    (
        &[
            Status::FILE_LOCK_CONFLICT,
            Status::LOCK_NOT_GRANTED,
            Status::DOS_LOCK,
        ],
        "another FID or process has locked a part of the range",
        "the same request after the unlock, or LOCKING_ANDX with a timeout",
    ),
    (
        &[Status::RANGE_NOT_LOCKED],
        "no lock has exactly this offset, length and PID",
        "offset, length and PID of the lock",
    ),
    (
        &[Status::NO_MORE_FILES],
        "the listing has ended, or nothing matches",
        "nothing: this is how a listing ends",
    ),
    (
        &[Status::END_OF_FILE],
        "the file ends at the offset",
        "nothing: this is how reading ends",
    ),
    (
        &[
            Status::ACCESS_DENIED,
            Status::DOS_NO_ACCESS,
            Status::NETWORK_ACCESS_DENIED,
            Status::SERVER_ACCESS,
            Status::PRIVILEGE_NOT_HELD,
        ],
        "the user may not do this, or not with this open",
        "the request as another user, or on a FID that was opened with the access it needs",
    ),
    (
        &[
            Status::LOGON_FAILURE,
            Status::WRONG_PASSWORD,
            Status::NO_SUCH_USER,
        ],
        "user name or password is wrong, or the server does not accept this kind of response",
        "the user's name and a response to the challenge of the NEGOTIATE response",
    ),
    (
        &[Status::BAD_DEVICE_TYPE],
        "the service of the tree connect does not fit the share",
        "A: for a disk, LPT1: for a printer, IPC for IPC$, or ????? for any",
    ),
    (
        &[Status::USE_STANDARD, Status::USE_MPX],
        "the server does not take raw data here",
        "WRITE_ANDX or WRITE for the rest; Capabilities or RawMode of the NEGOTIATE response say whether raw mode is on",
    ),
    (
        &[Status::BUFFER_TOO_SMALL],
        "the answer does not fit the size that the request allows",
        "a larger MaxDataCount or MaxCount",
    ),
    (
        &[Status::FILE_IS_A_DIRECTORY],
        "the name is that of a folder",
        "a request for folders, or an open with FILE_DIRECTORY_FILE",
    ),
    (
        &[Status::NOT_A_DIRECTORY],
        "the name is that of a file",
        "a request for files, or an open without FILE_DIRECTORY_FILE",
    ),
    (
        &[Status::DIRECTORY_NOT_EMPTY],
        "the folder is not empty",
        "the same request once its files are deleted",
    ),
    (
        &[
            Status::CANNOT_DELETE,
            Status::DELETE_PENDING,
            Status::MEDIA_WRITE_PROTECTED,
        ],
        "the file is read-only, open, or about to be deleted",
        "the same request, once the file is closed or no longer read-only",
    ),
    (
        &[
            Status::TOO_MANY_OPENED_FILES,
            Status::NO_MORE_FIDS,
            Status::INSUFFICIENT_RESOURCES,
            Status::INSUFF_SERVER_RESOURCES,
        ],
        "the client has as many files, searches or requests open as the server allows",
        "CLOSE or FIND_CLOSE2 for those it no longer needs",
    ),
    (
        &[Status::DISK_FULL],
        "the disk is full",
        "nothing else: report it to the user",
    ),
    (
        &[Status::CANCELLED, Status::IO_TIMEOUT],
        "the client cancelled the request, or its time ran out",
        "nothing: the request is done",
    ),
    (
        &[
            Status::INVALID_PIPE_STATE,
            Status::PIPE_DISCONNECTED,
            Status::PIPE_EMPTY,
            Status::PIPE_BROKEN,
            Status::PIPE_NOT_AVAILABLE,
            Status::PIPE_BUSY,
        ],
        "the pipe has no data or no partner for this",
        "a request to the pipe before its answer is read",
    ),
    (
        &[
            Status::NO_EAS_ON_FILE,
            Status::EAS_NOT_SUPPORTED,
            Status::NONEXISTENT_EA_ENTRY,
        ],
        "the file has no extended attributes, or the share keeps none",
        "the request without extended attributes",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<'a>(ids: &'a BTreeSet<u16>, shares: &'a [String]) -> Facts<'a> {
        Facts {
            uid: 7,
            tid: 8,
            fid: Some(9),
            uids: ids,
            tids: ids,
            fids: ids,
            shares,
            section: "[MS-CIFS] 2.2.4.42.1",
        }
    }

    #[test]
    fn wrong_identifiers_are_explained_with_the_valid_ones() {
        let (ids, shares) = (BTreeSet::from([1, 2]), ["CI".to_owned()]);
        let facts = facts(&ids, &shares);
        let (why, instead) = explain(Status::BAD_UID, &facts);
        assert_eq!(why, "no session of this connection has the UID 0x0007");
        assert!(
            instead
                .unwrap_or_default()
                .ends_with("valid now: 0x0001, 0x0002")
        );
        let (why, _) = explain(Status::INVALID_HANDLE, &facts);
        assert!(why.ends_with("the FID 0x0009"), "{why}");
        let (_, instead) = explain(Status::BAD_NETWORK_NAME, &facts);
        assert!(instead.unwrap_or_default().ends_with("shares CI"));
    }

    #[test]
    fn every_status_has_a_reason_and_no_status_has_two() {
        let (ids, shares) = (BTreeSet::new(), []);
        for (status, ..) in coax_wire::status::TABLE {
            let (why, _) = explain(*status, &facts(&ids, &shares));
            assert!(!why.is_empty(), "{status}");
            let rows = REMEDIES.iter().filter(|row| row.0.contains(status));
            assert!(rows.count() <= 1, "{status}");
        }
        let (_, instead) = explain(Status::INVALID_LEVEL, &facts(&ids, &shares));
        assert_eq!(instead.as_deref(), Some("a level of [MS-CIFS] 2.2.4.42.1"));
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(&BTreeSet::new()), "none");
        assert!(list(&(0..20).collect()).ends_with("0x0007 and 12 more"));
    }
}
