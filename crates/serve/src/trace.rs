//! `log level` 3 and above: every request with its fields, result and duration; at 10, fields and bytes of every message.
//!
//! A connection has a [`Trace`] only if its requests are logged. Without tracing the cost is one test of an `Option`
//! per request.

mod dump;

use std::{
    collections::VecDeque,
    net::SocketAddr,
    time::{Duration, Instant},
};

use coax_server::Transmit;
use coax_wire::{
    block::{Block, each_in_chain},
    codepage::CodePage,
    command as code,
    header::{Flags, Header},
    smb::{summary, transaction},
    status::Status,
};

use super::report::{Line, MessageLine, Reporter, RequestLine};
use coax_smbconf::{
    log_level::{Class, LogLevels},
    settings::{ClientChoice, Settings},
};

/// The minimum level at which requests are logged.
const REQUESTS: u8 = 3;
/// The minimum level at which bytes are logged.
const BYTES: u8 = 10;
/// Requests that may wait for their reply; beyond this limit the oldest is logged without one.
const WAITING: usize = 128;

/// Whether a client is one of those that `--trace` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// The client is selected.
    Yes,
    /// The client is not selected.
    No,
    /// Unknown: the client's name is not known yet.
    Undecided,
}

impl Selection {
    /// Whether the client with this number and address (with port) is selected; without a selection all are. `name` is
    /// `None` until the name is known.
    pub(super) fn of(
        choice: Option<&ClientChoice>,
        number: u64,
        address: &str,
        name: Option<&str>,
    ) -> Self {
        let address = || Some(address.parse::<SocketAddr>().ok()?.ip().to_canonical());
        let meant = match choice {
            None => true,
            Some(ClientChoice::Number(wanted)) => *wanted == number,
            Some(ClientChoice::Address(wanted)) => address() == Some(wanted.to_canonical()),
            Some(ClientChoice::Name(wanted)) => match name {
                Some(name) => name.trim().eq_ignore_ascii_case(wanted),
                None => return Self::Undecided,
            },
        };
        if meant { Self::Yes } else { Self::No }
    }
}

/// The request log of one client.
#[derive(Debug)]
pub(super) struct Trace {
    levels: LogLevels,
    page: CodePage,
    client: u64,
    reporter: Reporter,
    waiting: VecDeque<Waiting>,
}

/// A request without an answer so far.
#[derive(Debug)]
struct Waiting {
    header: Header,
    class: Class,
    began: Instant,
    text: String,
}

impl Trace {
    /// A trace, if the settings want this client's requests logged.
    pub(super) fn new(
        settings: &Settings,
        selected: bool,
        (client, reporter, page): (u64, &Reporter, CodePage),
    ) -> Option<Self> {
        let levels = match selected && settings.trace.is_some() {
            true => LogLevels::all(BYTES),
            false => settings.global.log_level,
        };
        (levels.highest() >= REQUESTS).then(|| Self {
            levels,
            page,
            client,
            reporter: reporter.clone(),
            waiting: VecDeque::new(),
        })
    }

    /// Records a message from the client.
    pub(super) fn request(&mut self, message: &[u8]) {
        let Ok(header) = Header::parse(message) else {
            // Data of a raw write, or not an SMB message.
            self.raw("in", message.len());
            return;
        };
        let class = class_of(&header, message);
        let text = request_text(&header, message, self.page);
        if self.levels.of(class) >= BYTES {
            self.message("in", &header, message, 0);
        }
        if self.levels.of(class) < REQUESTS {
            return;
        }
        if self.waiting.len() >= WAITING
            && let Some(oldest) = self.waiting.pop_front()
        {
            self.finish(&oldest, "no reply".into());
        }
        let request = Waiting {
            header,
            class,
            began: Instant::now(),
            text,
        };
        match header.command {
            // NT_CANCEL has no reply.
            code::NT_CANCEL => self.finish(&request, "no reply".into()),
            _ => self.waiting.push_back(request),
        }
    }

    /// Records a message to the client.
    pub(super) fn reply(&mut self, transmit: &Transmit) {
        let Ok(header) = Header::parse(&transmit.head) else {
            return self.raw_reply(transmit.len());
        };
        if header.flags.0 & Flags::REPLY == 0 {
            return self.own_request(&header, &transmit.head);
        }
        let is_its = |request: &Waiting| {
            (request.header.mid, request.header.pid) == (header.mid, header.pid)
        };
        let class = match self.waiting.iter().position(is_its) {
            Some(index) => {
                let request = self.waiting.remove(index);
                request.inspect(|request| self.finish(request, status(header.status)))
            }
            None => None,
        }
        .map_or_else(
            || class_of(&header, &transmit.head),
            |request| request.class,
        );
        if self.levels.of(class) >= BYTES {
            self.message("out", &header, &transmit.head, transmit.tail.len());
        }
    }

    /// Logs the requests without a reply when the connection ends.
    pub(super) fn end(&mut self) {
        for request in std::mem::take(&mut self.waiting) {
            self.finish(&request, "no reply".into());
        }
    }

    /// Records a request by the server: an oplock break.
    fn own_request(&mut self, header: &Header, message: &[u8]) {
        let text = format!(
            "oplock break to the client: {}",
            request_text(header, message, self.page)
        );
        if self.levels.of(Class::Locking) >= REQUESTS {
            let request = Waiting {
                header: *header,
                class: Class::Locking,
                began: Instant::now(),
                text,
            };
            self.finish(&request, "sent".into());
        }
        if self.levels.of(Class::Locking) >= BYTES {
            self.message("out", header, message, 0);
        }
    }

    fn raw_reply(&mut self, len: usize) {
        let raw = |request: &Waiting| request.header.command == code::READ_RAW;
        if let Some(index) = self.waiting.iter().position(raw)
            && let Some(request) = self.waiting.remove(index)
        {
            self.finish(&request, format!("{len} bytes of raw data"));
        }
        self.raw("out", len);
    }

    fn raw(&self, direction: &'static str, len: usize) {
        if self.levels.of(Class::Vfs) >= BYTES {
            self.reporter.tell(Line::Message(Box::new(MessageLine {
                client: self.client,
                direction,
                header: format!("{len} bytes without an SMB header (raw data)"),
                dump: String::new(),
            })));
        }
    }

    fn finish(&self, request: &Waiting, result: String) {
        self.reporter.tell(Line::Request(Box::new(RequestLine {
            client: self.client,
            request: request.text.clone(),
            tid: request.header.tid.0,
            uid: request.header.uid.0,
            pid: request.header.pid.0,
            mid: request.header.mid.0,
            result,
            microseconds: micros(request.began.elapsed()),
        })));
    }

    fn message(&self, direction: &'static str, header: &Header, message: &[u8], tail: usize) {
        self.reporter.tell(Line::Message(Box::new(MessageLine {
            client: self.client,
            direction,
            header: dump::header(header),
            dump: dump::message(header.command, message, tail),
        })));
    }
}

/// Every command of the chain with its fields.
pub(super) fn request_text(header: &Header, message: &[u8], page: CodePage) -> String {
    let mut parts = Vec::new();
    each_in_chain(header.command, message, |command, block| {
        let name = code::name(command).unwrap_or("unknown command");
        parts.push(match summary::request(command, block, header.unicode()) {
            Ok(fields) if fields.is_empty() => name.to_string(),
            Ok(fields) => format!("{name} {}", summary::words(&fields, page)),
            Err(error) => format!("{name} (malformed: {error})"),
        });
    });
    if parts.is_empty() {
        let name = code::name(header.command).unwrap_or("unknown command");
        parts.push(format!("{name} (malformed)"));
    }
    parts.join("; ")
}

fn class_of(header: &Header, message: &[u8]) -> Class {
    match header.command {
        code::SESSION_SETUP_ANDX | code::LOGOFF_ANDX => Class::Auth,
        code::LOCKING_ANDX
        | code::LOCK_BYTE_RANGE
        | code::UNLOCK_BYTE_RANGE
        | code::LOCK_AND_READ
        | code::WRITE_AND_UNLOCK => Class::Locking,
        code::OPEN_PRINT_FILE
        | code::WRITE_PRINT_FILE
        | code::CLOSE_PRINT_FILE
        | code::GET_PRINT_QUEUE => Class::Print,
        code::TRANSACTION => class_of_pipe(header, message),
        code::NT_TRANSACT if is_notify(message) => Class::Notify,
        code::NEGOTIATE
        | code::TREE_CONNECT
        | code::TREE_CONNECT_ANDX
        | code::TREE_DISCONNECT
        | code::ECHO
        | code::PROCESS_EXIT
        | code::NT_CANCEL => Class::Smb,
        _ => Class::Vfs,
    }
}

/// A transaction on `\PIPE\LANMAN` has no setup words; those on pipes have.
fn class_of_pipe(header: &Header, message: &[u8]) -> Class {
    let block = Block::first(message).ok();
    let request = block.as_ref().and_then(|block| {
        transaction::Request::parse(transaction::Kind::Transaction, block, header.unicode()).ok()
    });
    match request {
        Some(request) if request.setup.is_empty() => Class::Lanman,
        _ => Class::Rpc,
    }
}

fn is_notify(message: &[u8]) -> bool {
    use coax_wire::smb::nt_transact::function::NOTIFY_CHANGE;
    let block = Block::first(message).ok();
    let request = block.as_ref().and_then(|block| {
        transaction::Request::parse(transaction::Kind::NtTransact, block, false).ok()
    });
    request.is_some_and(|request| request.function == NOTIFY_CHANGE)
}

/// The status of a header: an NTSTATUS, or class and code in the form of the status table.
fn status(wire: u32) -> String {
    match Status(wire) {
        Status::OK => "OK".into(),
        other => other.to_string(),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "tests/trace.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests;
