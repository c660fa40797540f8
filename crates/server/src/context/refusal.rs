//! Selects the refused requests to report, and builds the report.

use super::{Call, Context};
use crate::{
    budget::Resource,
    error::Error,
    event::{Event, RefusedRequest},
    reason::{Limit, Reason},
    share::Share,
    table::ConnId,
};
use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    sync::Arc,
};
use coax_wire::{
    block::Block,
    command,
    header::{Fid, Header},
    smb::summary::{self, Field, Value},
    status::Status,
};

/// Statuses that correct programs cause in normal use, and how. Without a [`Reason`] they are not reported.
const IN_PASSING: &[(Status, &str)] = &[
    (Status::OBJECT_NAME_NOT_FOUND, "looks whether a file exists"),
    (Status::OBJECT_PATH_NOT_FOUND, "looks along a search path"),
    (Status::NO_SUCH_FILE, "lists a pattern that nothing matches"),
    (Status::BAD_FILE, "the same, of core clients"),
    (Status::BAD_PATH, "the same, of core clients"),
    (Status::NOT_FOUND, "asks for what an object may have"),
    (
        Status::OBJECTID_NOT_FOUND,
        "asks for what an object may have",
    ),
    (
        Status::NONEXISTENT_EA_ENTRY,
        "asks for what an object may have",
    ),
    (Status::NO_EAS_ON_FILE, "asks for what an object may have"),
    (Status::OBJECT_NAME_COLLISION, "creates what may exist"),
    (Status::DOS_FILE_EXISTS, "creates what may exist"),
    (Status::DOS_RENAME_EXISTS, "renames to what may exist"),
    (Status::NO_MORE_FILES, "lists to the end"),
    (Status::END_OF_FILE, "reads to the end"),
    (Status::BUFFER_OVERFLOW, "asks again with a larger buffer"),
    (Status::BUFFER_TOO_SMALL, "asks again with a larger buffer"),
    (Status::MORE_PROCESSING_REQUIRED, "logs on in several steps"),
    (Status::FILE_IS_A_DIRECTORY, "tries what a name stands for"),
    (Status::NOT_A_DIRECTORY, "tries what a name stands for"),
    (Status::DIRECTORY_NOT_EMPTY, "removes a tree from the top"),
    (Status::CANCELLED, "cancels its own request"),
    (
        Status::RANGE_NOT_LOCKED,
        "unlocks what a close has unlocked",
    ),
    (Status::CANCEL_VIOLATION, "cancels a lock just granted"),
    (Status::USE_STANDARD, "tries raw or multiplexed mode first"),
    (Status::USE_MPX, "tries raw mode first"),
    (
        Status::INVALID_LEVEL,
        "tries newer information levels first",
    ),
    (
        Status::DOS_UNKNOWN_LEVEL,
        "tries newer information levels first",
    ),
    (
        Status::INVALID_INFO_CLASS,
        "tries newer information levels first",
    ),
    (Status::NOT_SUPPORTED, "tries what newer servers do"),
    (Status::NOT_IMPLEMENTED, "tries what newer servers do"),
    (Status::INVALID_FUNCTION, "tries what newer servers do"),
    (
        Status::INVALID_DEVICE_REQUEST,
        "tries what newer servers do",
    ),
    (Status::PATH_NOT_COVERED, "asks for a DFS referral"),
    (Status::MESSAGES_OFF, "announces itself to the user"),
    (Status::PIPE_EMPTY, "polls a pipe"),
    (Status::NOTIFY_ENUM_DIR, "watches a busy folder"),
    (Status::NOTIFY_CLEANUP, "closes a watched folder"),
];

/// Whether an error is reported.
fn is_reported(error: Error) -> bool {
    let status = error.status();
    error.reason().is_some() || !IN_PASSING.iter().any(|(passing, _)| *passing == status)
}

impl Call<'_> {
    /// Reports a refused request, for handlers that build the reply themselves.
    pub(crate) fn report_refusal(&mut self, error: Error) {
        let (header, block) = (self.header, self.block);
        self.conn.report_refusal(&header, Some(&block), error);
    }
}

impl Context {
    /// Reports a refused request, unless correct programs cause such errors in normal use.
    pub(super) fn report_refusal(
        &mut self,
        header: &Header,
        block: Option<&Block<'_>>,
        error: Error,
    ) {
        if !is_reported(error) {
            return;
        }
        let fields = block
            .and_then(|block| summary::request(header.command, block, header.unicode()).ok())
            .unwrap_or_default();
        let page = self.server.config.code_page;
        let share = self.trees.share_of(header.tid).cloned();
        let session = self.sessions.find(header.uid);
        let user = session.and_then(|session| session.user.clone());
        let (why, setting) = match error.reason() {
            Some(reason) => self.explain(reason, share.as_ref(), user.as_deref()),
            None => (error.to_string(), None),
        };
        let rest = fields.iter().filter(|field| !is_path(field));
        let refused = RefusedRequest {
            command: command::name(header.command).unwrap_or("unknown command"),
            path: self.path_of(&fields),
            fields: summary::words(rest, page),
            share: share.map(|share| share.name.clone()),
            user,
            status: error.status(),
            why,
            setting,
        };
        let event = Event::RequestRefused(Box::new(refused));
        self.events.push_back(event);
    }

    /// The path in a request, or that of its FID's file.
    fn path_of(&self, fields: &[Field<'_>]) -> Option<String> {
        let page = self.server.config.code_page;
        fields.iter().find_map(|(name, value)| match value {
            Value::Text(text) if is_path(&(name, *value)) => Some(summary::decoded(*text, page)),
            Value::Fid(fid) => {
                let file = self.files.find(Fid(*fid))?;
                Some(format!("\\{}", file.path.replace('/', "\\")))
            }
            _ => None,
        })
    }

    /// The reason, and the setting that would allow the request.
    fn explain(
        &self,
        reason: Reason,
        share: Option<&Arc<Share>>,
        user: Option<&str>,
    ) -> (String, Option<String>) {
        match reason {
            Reason::ReadOnlyTree => match share {
                Some(share) => read_only(share, user),
                None => ("the share is read-only".into(), None),
            },
            Reason::Sharing(holder) => {
                let who = self.holder(holder);
                (
                    format!("{who} has the file open and does not share it"),
                    None,
                )
            }
            Reason::Locked(holder) => {
                let who = self.holder(holder);
                (format!("{who} has locked the range"), None)
            }
            Reason::Limit(limit) => self.limit(limit),
            other => {
                let (why, setting) = plain(other);
                let name = share.map(|share| share.name.as_str()).unwrap_or_default();
                (why.into(), setting.map(|line| format!("[{name}] {line}")))
            }
        }
    }

    fn holder(&self, holder: Option<ConnId>) -> String {
        match holder {
            None => "another open".into(),
            Some(id) if id == self.id => "this client itself".into(),
            Some(id) => {
                let label = |tables: &mut crate::table::Tables| {
                    tables.label_of(id).map(ToString::to_string)
                };
                let label = self.server.locked(label);
                label
                    .filter(|label| !label.is_empty())
                    .unwrap_or_else(|| "another client".into())
            }
        }
    }

    fn limit(&self, limit: Limit) -> (String, Option<String>) {
        let limits = &self.server.config.limits;
        let (count, what, setting) = match limit {
            Limit::Opens if self.account.held(Resource::Opens) < limits.opens => {
                let why = "all clients, or those of this address, have as many files open as the process has \
                           descriptors for";
                return (why.into(), Some("ulimit -n (more)".into()));
            }
            Limit::Memory => {
                let why = "this client, its address or all clients hold as much memory as they may";
                return (why.into(), None);
            }
            Limit::Opens => (limits.opens, "files open", Some("max open files")),
            Limit::Trees => (limits.trees, "connected trees", None),
            Limit::Sessions => (limits.sessions, "sessions", None),
            Limit::Waits => (limits.parked, "waiting requests", None),
            Limit::Transactions => (limits.transaction_bytes, "bytes of transactions", None),
            Limit::Locks => {
                let why = "the client holds as many locks as one client may";
                return (why.into(), None);
            }
        };
        let why = format!("the limit of {count} {what} for one client is reached");
        (
            why,
            setting.map(|name| format!("{name} = (more than {count})")),
        )
    }
}

fn is_path((name, value): &Field<'_>) -> bool {
    matches!(value, Value::Text(_)) && matches!(*name, "path" | "share" | "name" | "job")
}

/// The reason why a user may only read on a share.
fn read_only(share: &Share, user: Option<&str>) -> (String, Option<String>) {
    let (admission, name) = (&share.admission, &share.name);
    let on = |list: &[String]| {
        user.is_some_and(|user| list.iter().any(|name| name.eq_ignore_ascii_case(user)))
    };
    let (why, setting) = match user {
        Some(user) if on(&admission.read_list) => (
            format!("{user} is on the share's read list"),
            format!("[{name}] read list = (without {user})"),
        ),
        Some(user) if admission.read_only => (
            "the share is read-only".into(),
            format!("[{name}] read only = no, or write list = {user}"),
        ),
        None if admission.read_only => (
            "the share is read-only".into(),
            format!("[{name}] read only = no"),
        ),
        _ => (
            "guests may only read on this share".into(),
            format!(
                "[{name}] read only = no and guest ok = yes (--guest rw), or a log-on as a user"
            ),
        ),
    };
    (why, Some(setting))
}

/// The reason, and the line of the share's section that would allow the request.
fn plain(reason: Reason) -> (&'static str, Option<&'static str>) {
    match reason {
        Reason::ReadOnlyTree => ("the share is read-only", Some("read only = no")),
        Reason::ReadOnlyFile => ("the file has the read-only attribute", None),
        Reason::ReadOnlyKept => (
            "the file has the read-only attribute",
            Some("delete readonly = yes"),
        ),
        Reason::FilePermission => (
            "the server's user lacks the permission on this file or folder; grant it with chmod, chown or setfacl",
            None,
        ),
        Reason::ReadOnlyFileSystem => (
            "the file system is mounted read-only; remount it read-write",
            None,
        ),
        Reason::LeavesShare => (
            "a symbolic link leads out of the share",
            Some("wide links = yes"),
        ),
        Reason::HiddenOrSystem => (
            "the file is hidden or a system file and the request to overwrite it does not say so",
            None,
        ),
        Reason::SpecialFile => ("it is a device, a socket or a Unix pipe", None),
        Reason::Descriptor => (
            "the file's or folder's access control list forbids it",
            None,
        ),
        Reason::OpenedWithout => (
            "the client did not open the file with the access right for this",
            None,
        ),
        Reason::UndefinedRights => ("the client asks for access rights that do not exist", None),
        Reason::NotAdmitted => (
            "the share does not admit this user; another user of the connection connected it",
            Some("valid users and guest ok, so that they admit this user"),
        ),
        Reason::LogOnsWaiting => (
            "log-ons from this address wait because others failed, and too many wait already",
            None,
        ),
        Reason::Veto => (
            "the name matches 'veto files'",
            Some("veto files = (without this name)"),
        ),
        Reason::VolumeLabel => ("volume labels cannot be created", None),
        Reason::ShareRoot => ("it is the share's own folder", None),
        Reason::OpenInside => ("files in the folder are open", None),
        Reason::NotReplaceable => ("the target is open, read-only or not a file", None),
        Reason::IntoItself => ("the target lies inside the source", None),
        Reason::NotAFile => ("it is not a file", None),
        Reason::NameTaken => (
            "another file has the name of the file to delete; nothing was deleted",
            None,
        ),
        Reason::NoFiles => ("the share holds no files", None),
        Reason::PrintJob => ("files of a printer's share can only be printed", None),
        Reason::NotAPrinter => ("the share is not a printer", Some("printable = yes")),
        Reason::Signature => (
            "the message's signature is wrong; it may have been altered on the way",
            None,
        ),
        Reason::Sharing(_) => ("another open forbids it", None),
        Reason::Locked(_) => ("another lock forbids it", None),
        Reason::Limit(_) => ("a limit is reached", None),
    }
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
