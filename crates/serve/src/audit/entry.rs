//! The JSON object of one entry (docs/audit.md).

use coax_server::act::{Act, Deed, Moved};
use coax_smbconf::settings::AuditEvent;
use jiff::Timestamp;
use serde::Serialize;

/// Version of the entries: it grows when a field is removed, renamed or gets another meaning; not when one is added.
const SCHEMA: u32 = 1;

/// The client of an entry.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Client<'a> {
    client: u64,
    address: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    system: &'a str,
}

/// Who did something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Who<'a> {
    /// The client's number, as in the log.
    pub(crate) client: u64,
    /// Its address and port.
    pub(crate) address: &'a str,
    /// Its NetBIOS name.
    pub(crate) name: Option<&'a str>,
    /// The recognised system; empty if unknown.
    pub(crate) system: &'a str,
    /// The account of guests.
    pub(crate) guest: &'a str,
    /// The user who logged on, for entries that name none.
    pub(crate) user: Option<&'a str>,
}

/// A refused request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal<'a> {
    /// The command, or what the client wanted.
    pub(crate) what: &'a str,
    /// The user; `None`: the one who logged on.
    pub(crate) user: Option<&'a str>,
    /// The share.
    pub(crate) share: Option<&'a str>,
    /// The path as the client sent it.
    pub(crate) path: Option<&'a str>,
    /// The status of the reply.
    pub(crate) status: &'a str,
    /// The reason.
    pub(crate) why: &'a str,
}

/// What only some operations have.
#[derive(Clone, Debug, Default, Serialize)]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<&'static str>,
    #[serde(flatten)]
    moved: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_share: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

/// Bytes moved through an open.
#[derive(Clone, Copy, Debug, Serialize)]
struct Bytes {
    bytes_read: u64,
    bytes_written: u64,
}

impl From<Moved> for Bytes {
    fn from(moved: Moved) -> Self {
        Self {
            bytes_read: moved.read,
            bytes_written: moved.written,
        }
    }
}

/// An entry.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    event: AuditEvent,
    client: Client<'a>,
    user: &'a str,
    share: Option<&'a str>,
    path: Option<&'a str>,
    folder: bool,
    result: String,
    details: Details<'a>,
}

/// The line.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    schema: u32,
    operation: &'static str,
    result: &'a str,
    #[serde(flatten)]
    client: Client<'a>,
    user: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    folder: bool,
    #[serde(flatten)]
    details: &'a Details<'a>,
}

impl<'a> Entry<'a> {
    fn by(who: &Who<'a>, event: AuditEvent) -> Self {
        Self {
            event,
            client: Client {
                client: who.client,
                address: who.address,
                name: who.name,
                system: who.system,
            },
            user: who.user.unwrap_or(who.guest),
            share: None,
            path: None,
            folder: false,
            result: "ok".into(),
            details: Details::default(),
        }
    }

    /// An operation.
    pub(super) fn of(who: &Who<'a>, act: &'a Act) -> Self {
        let (event, details) = details(&act.deed);
        Self {
            user: act.user.as_deref().unwrap_or(who.guest),
            share: Some(&act.share),
            path: Some(&act.path),
            folder: act.is_directory,
            result: act
                .failed
                .map_or_else(|| "ok".into(), |status| status.to_string()),
            details,
            ..Self::by(who, event)
        }
    }

    /// A share was connected.
    pub(super) fn connected(who: &Who<'a>, share: &'a str) -> Self {
        Self {
            share: Some(share),
            ..Self::by(who, AuditEvent::Connect)
        }
    }

    /// A request was refused.
    pub(super) fn refused(who: &Who<'a>, refusal: &Refusal<'a>) -> Self {
        let mut entry = Self::by(who, AuditEvent::Refused);
        entry.user = refusal.user.unwrap_or(entry.user);
        (entry.share, entry.path) = (refusal.share, refusal.path);
        entry.result = refusal.status.into();
        entry.details.command = Some(refusal.what);
        entry.details.why = Some(refusal.why);
        entry
    }

    /// What it records.
    pub(super) fn event(&self) -> AuditEvent {
        self.event
    }

    /// One line of JSON with its line feed.
    pub(super) fn line(&self, at: Timestamp) -> Box<[u8]> {
        finished(&Line {
            time: time(at),
            schema: SCHEMA,
            operation: self.event.name(),
            result: &self.result,
            client: self.client,
            user: self.user,
            share: self.share,
            path: self.path,
            folder: self.folder,
            details: &self.details,
        })
    }
}

fn details(deed: &Deed) -> (AuditEvent, Details<'_>) {
    let none = Details::default();
    match deed {
        Deed::Open {
            open,
            created,
            truncated,
            reads,
            writes,
        } => {
            let action = match (created, truncated) {
                (true, _) => "created",
                (_, true) => "truncated",
                _ => "opened",
            };
            let access = match (reads, writes) {
                (true, true) => "read-write",
                (true, false) => "read",
                (false, true) => "write",
                (false, false) => "attributes",
            };
            let details = Details {
                open: *open,
                action: Some(action),
                access: Some(access),
                ..none
            };
            (AuditEvent::Open, details)
        }
        Deed::Close { open, moved } => {
            let details = Details {
                open: *open,
                moved: Some((*moved).into()),
                ..none
            };
            (AuditEvent::Close, details)
        }
        Deed::Rename { to, replaced } => {
            let details = Details {
                to: Some(to),
                replaced: replaced.then_some(true),
                ..none
            };
            (AuditEvent::Rename, details)
        }
        Deed::Link { to } => (
            AuditEvent::Link,
            Details {
                to: Some(to),
                ..none
            },
        ),
        Deed::Copy { to_share, to } => {
            let (to_share, to) = (Some(&**to_share), Some(&**to));
            let details = Details {
                to_share,
                to,
                ..none
            };
            (AuditEvent::Copy, details)
        }
        Deed::Delete => (AuditEvent::Delete, none),
        Deed::MakeDirectory => (AuditEvent::Mkdir, none),
        Deed::RemoveDirectory => (AuditEvent::Rmdir, none),
    }
}

/// The line that stands for entries that were dropped.
pub(super) fn dropped(count: u64, at: Timestamp) -> Box<[u8]> {
    #[derive(Serialize)]
    struct Dropped {
        time: String,
        schema: u32,
        operation: &'static str,
        entries: u64,
    }
    finished(&Dropped {
        time: time(at),
        schema: SCHEMA,
        operation: "dropped",
        entries: count,
    })
}

/// RFC 3339, UTC, microseconds.
fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn finished(line: &impl Serialize) -> Box<[u8]> {
    // these objects have no maps with other keys than text, so this does not fail
    let text = serde_json::to_string(line).unwrap_or_default();
    let mut text = coax_decode::harmless_json(text);
    text.push('\n');
    text.into_bytes().into_boxed_slice()
}
