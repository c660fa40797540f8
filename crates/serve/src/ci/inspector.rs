//! Explains the requests of one client that are invalid or fail: why, and what the client should send.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use coax_decode::{Context, Decoded, Identifier, Value};
use coax_server::Transmit;
use coax_wire::{
    codepage::CodePage,
    command as code,
    header::{Flags, Header},
    status::{Status, reply::ReplyStatus},
};

use super::{
    Counts,
    remedies::{Facts, explain},
};
use crate::{
    host::Host,
    report::{ExplainedLine, Line, Reporter},
    trace,
};

/// Requests that wait for a reply; the oldest is forgotten.
const MAX_WAITING: usize = 128;
/// Identifiers of each kind that are remembered.
const MAX_IDENTIFIERS: usize = 1024;
/// Faults of one request that are listed.
const MAX_INVALID: usize = 8;

/// The explanations for one client.
#[derive(Debug)]
pub(crate) struct Inspector {
    client: u64,
    host_counts: Arc<Counts>,
    reporter: Reporter,
    shares: Vec<String>,
    page: CodePage,
    context: Context,
    waiting: VecDeque<Asked>,
    known: Known,
    /// The next message is the data of a raw write.
    raw_data_is_next: bool,
    ready: Vec<ExplainedLine>,
}

/// A request without a reply so far.
#[derive(Debug)]
struct Asked {
    header: Header,
    request: String,
    section: String,
    fid: Option<u16>,
    invalid: Vec<String>,
}

/// Identifiers that the server has given the client.
#[derive(Debug, Default)]
struct Known {
    uids: BTreeSet<u16>,
    tids: BTreeSet<u16>,
    fids: BTreeSet<u16>,
}

impl Inspector {
    /// An inspector, if the server is for continuous integration.
    pub(crate) fn begin(host: &Host, client: u64) -> Option<Box<Self>> {
        let counts = host.ci.clone()?;
        Counts::add(&counts.clients);
        let settings = host.settings();
        Some(Box::new(Self {
            client,
            host_counts: counts,
            reporter: host.reporter.clone(),
            shares: settings.shares.iter().map(|s| s.name.clone()).collect(),
            page: host.server().config.code_page,
            context: Context::default(),
            waiting: VecDeque::new(),
            known: Known::default(),
            raw_data_is_next: false,
            ready: Vec::new(),
        }))
    }

    /// Takes a message from the client.
    pub(crate) fn request(&mut self, message: &[u8]) {
        if std::mem::take(&mut self.raw_data_is_next) {
            return;
        }
        Counts::add(&self.host_counts.requests);
        let decoded = coax_decode::smb_message(message, &mut self.context);
        let invalid = problems(&decoded);
        if !invalid.is_empty() {
            Counts::add(&self.host_counts.invalid);
        }
        let Ok(header) = Header::parse(message) else {
            return self.not_smb(invalid);
        };
        let asked = Asked {
            request: trace::request_text(&header, message, self.page),
            section: section(&decoded),
            fid: id(&decoded, Identifier::Fid, "FID"),
            header,
            invalid,
        };
        if header.command == code::NT_CANCEL {
            return self.explain_if_invalid(asked, "no reply".into());
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(asked);
    }

    /// Takes a message to the client.
    pub(crate) fn reply(&mut self, transmit: &Transmit) {
        let header = Header::parse(&transmit.head).ok();
        if header.is_some_and(|header| !header.flags.has(Flags::REPLY)) {
            return;
        }
        let is_its = |asked: &Asked| match &header {
            Some(header) => (asked.header.pid, asked.header.mid) == (header.pid, header.mid),
            None => asked.header.command == code::READ_RAW,
        };
        let Some(asked) = self.waiting.iter().position(is_its) else {
            return;
        };
        let Some(asked) = self.waiting.remove(asked) else {
            return;
        };
        let Some(header) = header else {
            return self.raw_read(asked, transmit.len());
        };
        let status = ReplyStatus::of(&header).status();
        if status.is_ok() {
            self.raw_data_is_next |= header.command == code::WRITE_RAW;
            self.learn(&asked, &header, &transmit.head);
        }
        if is_refusal(status) {
            self.refused(asked, status, ReplyStatus::of(&header).to_string());
        } else {
            self.explain_if_invalid(asked, ReplyStatus::of(&header).name());
        }
    }

    /// The reason that the engine gives for the refusal before.
    pub(crate) fn reason(&mut self, why: &str, setting: Option<&str>) {
        if let Some(line) = self.ready.last_mut() {
            why.clone_into(&mut line.why);
            line.setting = setting.map(Into::into);
        }
    }

    /// Reports what is explained. Called once the engine's reasons are known.
    pub(crate) fn report(&mut self) {
        for line in self.ready.drain(..) {
            self.reporter.tell(Line::Explained(Box::new(line)));
        }
    }

    /// Reports invalid requests without a reply at the end of the connection.
    pub(crate) fn end(&mut self) {
        for asked in std::mem::take(&mut self.waiting) {
            self.explain_if_invalid(asked, "no reply".into());
        }
        self.report();
    }

    fn not_smb(&mut self, invalid: Vec<String>) {
        self.ready.push(ExplainedLine {
            client: self.client,
            request: "a message that is no SMB".into(),
            mid: None,
            result: "the server closes the connection".into(),
            why: "the message does not begin with \\xffSMB".into(),
            instead: Some("a header of 32 bytes, [MS-CIFS] 2.2.3.1, then words and bytes".into()),
            setting: None,
            invalid,
        });
    }

    /// A raw read without data is a refusal, or the end of the file.
    fn raw_read(&mut self, asked: Asked, len: usize) {
        match len {
            0 => self.push(
                asked,
                "0 bytes of raw data".into(),
                "READ_RAW gives no status: the read failed, or the file ends at the offset".into(),
                Some("the same read as READ or READ_ANDX, whose reply has the status".into()),
            ),
            len => self.explain_if_invalid(asked, format!("{len} bytes of raw data")),
        }
    }

    fn refused(&mut self, asked: Asked, status: Status, result: String) {
        Counts::add(&self.host_counts.refused);
        let facts = Facts {
            uid: asked.header.uid.0,
            tid: asked.header.tid.0,
            fid: asked.fid,
            uids: &self.known.uids,
            tids: &self.known.tids,
            fids: &self.known.fids,
            shares: &self.shares,
            section: &asked.section,
        };
        let (why, instead) = explain(status, &facts);
        self.push(asked, result, why, instead);
    }

    fn explain_if_invalid(&mut self, asked: Asked, result: String) {
        if asked.invalid.is_empty() {
            return;
        }
        let instead = format!("what {} says", asked.section);
        let why = "the request is invalid; the server did what it could read".into();
        self.push(asked, result, why, Some(instead));
    }

    fn push(&mut self, asked: Asked, result: String, why: String, instead: Option<String>) {
        self.ready.push(ExplainedLine {
            client: self.client,
            request: asked.request,
            mid: Some(asked.header.mid.0),
            result,
            why,
            instead,
            setting: None,
            invalid: asked.invalid,
        });
    }

    /// Remembers the identifiers that a reply gives or ends.
    fn learn(&mut self, asked: &Asked, header: &Header, head: &[u8]) {
        let decoded = coax_decode::smb_message(head, &mut self.context);
        let known = &mut self.known;
        match asked.header.command {
            code::SESSION_SETUP_ANDX => insert(&mut known.uids, header.uid.0),
            code::TREE_CONNECT_ANDX => insert(&mut known.tids, header.tid.0),
            code::LOGOFF_ANDX => drop(known.uids.remove(&asked.header.uid.0)),
            code::TREE_DISCONNECT => drop(known.tids.remove(&asked.header.tid.0)),
            code::CLOSE | code::WRITE_AND_CLOSE | code::CLOSE_PRINT_FILE => {
                known.fids.retain(|fid| asked.fid != Some(*fid));
            }
            _ => {}
        }
        // A share can be connected in the same chain as the log-on.
        if asked.request.contains("TREE_CONNECT_ANDX") {
            insert(&mut known.tids, header.tid.0);
        }
        if let Some(tid) = id(&decoded, Identifier::Tid, "TID")
            .filter(|_| asked.header.command == code::TREE_CONNECT)
        {
            insert(&mut known.tids, last_tid(&decoded).unwrap_or(tid));
        }
        if asked.fid.is_none()
            && let Some(fid) = id(&decoded, Identifier::Fid, "FID")
        {
            insert(&mut known.fids, fid);
        }
    }
}

/// The TID of TREE_CONNECT's words, which come after the header.
fn last_tid(decoded: &Decoded) -> Option<u16> {
    let ids = decoded.fields.iter().rev().map(|field| &field.value);
    ids.into_iter().find_map(|value| match value {
        Value::Id(Identifier::Tid, id) => Some(*id),
        _ => None,
    })
}

fn insert(known: &mut BTreeSet<u16>, id: u16) {
    if known.len() < MAX_IDENTIFIERS {
        known.insert(id);
    }
}

fn id(decoded: &Decoded, kind: Identifier, name: &str) -> Option<u16> {
    let field = decoded.fields.iter().find(|field| {
        field.name == name && matches!(&field.value, Value::Id(other, _) if *other == kind)
    })?;
    match field.value {
        Value::Id(_, id) => Some(id),
        _ => None,
    }
}

fn problems(decoded: &Decoded) -> Vec<String> {
    let said = decoded.problems().map(|field| {
        let (name, at) = (field.name, field.at);
        let problem = field.problem.as_deref().unwrap_or_default();
        let value = field.value.to_string();
        match value.is_empty() {
            true => format!("{name} at offset {at}: {problem}"),
            false => format!("{name} at offset {at} is {value}: {problem}"),
        }
    });
    said.take(MAX_INVALID).collect()
}

/// Where the layout of the request's first command is specified.
fn section(decoded: &Decoded) -> String {
    let groups = decoded.fields.iter().filter(|field| field.depth == 0);
    let of = groups
        .map(|field| field.meaning.as_str())
        .find(|meaning| !meaning.is_empty());
    of.unwrap_or("[MS-CIFS] 2.2.4").into()
}

/// Whether a status refuses the request. The others say that there is more.
fn is_refusal(status: Status) -> bool {
    let goes_on = [Status::MORE_PROCESSING_REQUIRED, Status::BUFFER_OVERFLOW];
    !status.is_ok() && !goes_on.contains(&status)
}
