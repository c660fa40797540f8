//! What the server tells of its clients: one JSON object a line, or a line of text.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use serde::Serialize;

use super::log_file::LogFile;
use crate::config::{
    macros::{MacroValues, expand_path},
    settings::Settings,
};

/// Lines that may wait for a slow terminal or a full pipe; what comes beyond them is dropped, and counted.
const WAITING_LINES: usize = 4096;

/// Lines written at once.
const BATCH: usize = 64;

/// An event of the server or of one client. `client` numbers clients from 1 in the order they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// The server accepts clients.
    Listening {
        /// Where the NetBIOS session service is, if it is.
        nbt: Option<String>,
        /// Where SMB directly over TCP is, if it is.
        direct: Option<String>,
    },
    /// Something to know about the server itself.
    Notice {
        /// What.
        text: String,
    },
    /// A client connected.
    Connected {
        /// Which.
        client: u64,
        /// Its address and port.
        address: String,
        /// `nbt` or `direct`.
        transport: &'static str,
    },
    /// A dialect was agreed.
    Negotiated {
        /// Which client.
        client: u64,
        /// What it offered, in order.
        offered: Vec<String>,
        /// What was chosen; nothing if the server serves none of them.
        dialect: Option<&'static str>,
    },
    /// Somebody logged on.
    LoggedOn {
        /// Which client.
        client: u64,
        /// The user; none for a guest.
        user: Option<String>,
        /// With what proof.
        how: &'static str,
        /// System and LAN manager, as the client names them.
        native: String,
    },
    /// A share was connected.
    Tree {
        /// Which client.
        client: u64,
        /// The share.
        share: String,
    },
    /// Something was refused.
    Refused {
        /// Which client; none if it was turned away at the door.
        client: Option<u64>,
        /// Its address.
        address: String,
        /// What it wanted.
        what: String,
        /// What it was told.
        status: Option<String>,
        /// Why.
        why: String,
        /// The smb.conf line or option that would allow it.
        setting: Option<String>,
    },
    /// Who a client is: told once, as soon as it uses a share, or at its end.
    Client(Box<ClientLine>),
    /// A client is gone.
    Disconnected {
        /// Which.
        client: u64,
        /// Why.
        why: String,
        /// SMB messages received.
        requests: u64,
        /// Bytes received, session headers included.
        bytes_in: u64,
        /// Bytes sent, session headers included.
        bytes_out: u64,
        /// How long it was connected, seconds.
        seconds: u64,
    },
}

/// Who a client is, and what it got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientLine {
    /// Which.
    pub client: u64,
    /// Its address and port.
    pub address: String,
    /// Its NetBIOS name, if it gave one.
    pub name: Option<String>,
    /// What it seems to be.
    pub guess: String,
    /// Why one would think so.
    pub why: String,
    /// The dialect agreed.
    pub dialect: Option<&'static str>,
    /// `nbt` or `direct`.
    pub transport: &'static str,
    /// The user, `guest`, or nothing if nobody logged on.
    pub log_on: Option<String>,
    /// The proof it gave.
    pub how: Option<&'static str>,
    /// What was refused so far, each with the setting that would allow it.
    pub refused: Vec<String>,
}

impl Line {
    /// The `log level` from which on a line of text is printed: 0 errors and what the server itself says, 1 clients, 2
    /// refusals and everything else.
    fn level(&self) -> u8 {
        match self {
            Self::Listening { .. } | Self::Notice { .. } => 0,
            Self::Client(_) | Self::Disconnected { .. } => 1,
            Self::Refused { setting, .. } if setting.is_some() => 1,
            Self::Connected { .. }
            | Self::Negotiated { .. }
            | Self::LoggedOn { .. }
            | Self::Tree { .. }
            | Self::Refused { .. } => 2,
        }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Listening { nbt, direct } => {
                let (nbt, direct) = (place(nbt), place(direct));
                write!(
                    f,
                    "listening: NetBIOS sessions at {nbt}, direct SMB at {direct}"
                )
            }
            Self::Notice { text } => f.write_str(text),
            Self::Connected {
                client,
                address,
                transport,
            } => {
                write!(f, "[{client}] {address} connected ({transport})")
            }
            Self::Negotiated {
                client,
                offered,
                dialect,
            } => {
                let (offered, chosen) = (offered.join(", "), dialect.unwrap_or("none of them"));
                write!(f, "[{client}] offers {offered}; chosen: {chosen}")
            }
            Self::LoggedOn {
                client,
                user,
                how,
                native,
            } => {
                let user = user.as_deref().unwrap_or("a guest");
                write!(f, "[{client}] {user} logged on ({how}; {native})")
            }
            Self::Tree { client, share } => write!(f, "[{client}] connected to {share}"),
            Self::Refused { .. } => self.refusal(f),
            Self::Client(line) => line.fmt(f),
            Self::Disconnected { .. } => self.end(f),
        }
    }
}

fn place(address: &Option<String>) -> &str {
    address.as_deref().unwrap_or("nowhere")
}

impl Line {
    fn refusal(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Refused {
            client,
            address,
            what,
            status,
            why,
            setting,
        } = self
        else {
            return Ok(());
        };
        match client {
            Some(client) => write!(f, "[{client}] refused {what}: {why}")?,
            None => write!(f, "{address}: refused {what}: {why}")?,
        }
        status
            .iter()
            .try_for_each(|status| write!(f, " ({status})"))?;
        setting
            .iter()
            .try_for_each(|setting| write!(f, "; '{setting}' would allow it"))
    }

    fn end(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Disconnected {
            client,
            why,
            requests,
            bytes_in,
            bytes_out,
            seconds,
        } = self
        else {
            return Ok(());
        };
        write!(
            f,
            "[{client}] gone after {seconds} s: {why}; {requests} requests, {bytes_in} bytes in, {bytes_out} out"
        )
    }
}

impl std::fmt::Display for ClientLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {}", self.client, self.address)?;
        self.name
            .iter()
            .try_for_each(|name| write!(f, " \"{name}\""))?;
        write!(
            f,
            " is {} ({}), by {}",
            self.guess, self.why, self.transport
        )?;
        write!(f, ", dialect {}", self.dialect.unwrap_or("none"))?;
        match (&self.log_on, self.how) {
            (Some(user), Some(how)) => write!(f, ", {user} by {how}")?,
            (Some(user), None) => write!(f, ", {user}")?,
            (None, _) => f.write_str(", nobody logged on")?,
        }
        self.refused
            .iter()
            .try_for_each(|refused| write!(f, "; refused {refused}"))
    }
}

/// What a [`Reporter`] hands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A line.
    Line(Line),
    /// No more for the moment: what was told so far should be written.
    Pause,
}

/// What is to be written where, at the next pause.
struct Pages {
    json: bool,
    log_level: u8,
    /// For standard output or standard error.
    out: Vec<u8>,
    /// For the log file.
    text: Vec<u8>,
    file: Option<LogFile>,
}

impl Pages {
    /// And what is wrong with the log file, if anything is: it is wanted beside standard error, not instead.
    fn open(settings: &Settings) -> (Self, Option<String>) {
        let global = &settings.global;
        let mut pages = Self {
            json: settings.json,
            log_level: global.log_level,
            out: Vec::new(),
            text: Vec::new(),
            file: None,
        };
        let Some(path) = &global.log_file else {
            return (pages, None);
        };
        let path = one_for_all(path);
        match LogFile::open(path.as_ref(), global.max_log_kib) {
            Ok(file) => {
                pages.file = Some(file);
                (pages, None)
            }
            Err(error) => (
                pages,
                Some(format!("cannot write the log file {path}: {error}")),
            ),
        }
    }

    fn line(&mut self, line: &Line) {
        // Writing to memory does not fail.
        if self.json {
            let _ = serde_json::to_writer(&mut self.out, line);
            self.out.push(b'\n');
        }
        if line.level() > self.log_level {
            return;
        }
        if !self.json {
            let _ = writeln!(self.out, "{line}");
        }
        if self.file.is_some() {
            let now = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S");
            let _ = writeln!(self.text, "{now} {line}");
        }
    }

    fn put(&mut self) {
        // Nobody may be reading, or the log's disk may be full; that is no reason to stop serving.
        let _ = if self.json {
            put(std::io::stdout().lock(), &self.out)
        } else {
            put(std::io::stderr().lock(), &self.out)
        };
        let _ = self.file.as_mut().map(|file| file.write(&self.text));
        self.out.clear();
        self.text.clear();
    }
}

/// Samba keeps a log for each client by macros like `%m`; here is one for all, and they stand for its own name.
fn one_for_all(path: &str) -> String {
    let own = MacroValues {
        client_name: "coax",
        called_name: "coax",
        user: "coax",
        client_kind: "coax",
        ..MacroValues::default()
    };
    expand_path(path, &own)
}

fn put(mut out: impl Write, text: &[u8]) -> std::io::Result<()> {
    out.write_all(text)?;
    out.flush()
}

/// Takes lines from every thread and never makes one wait.
#[derive(Clone, Debug)]
pub struct Reporter {
    lines: SyncSender<Message>,
    lost: Arc<AtomicU64>,
}

/// What goes to the writing thread.
enum Message {
    Line(Line),
    /// Answer when everything before this is written.
    Flush(SyncSender<()>),
}

impl Reporter {
    /// Writes JSON to standard output, or text up to `log level` to standard error; and text to the `log file`. What is
    /// wrong with that file comes back, to be told once the server is up.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(settings: &Settings) -> std::io::Result<(Self, Option<String>)> {
        let (mut pages, trouble) = Pages::open(settings);
        let reporter = Self::to(move |told| match told {
            Told::Line(line) => pages.line(&line),
            Told::Pause => pages.put(),
        })?;
        Ok((reporter, trouble))
    }

    /// Hands every line to `write`, on a thread of its own.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn to(mut write: impl FnMut(Told) + Send + 'static) -> std::io::Result<Self> {
        let (lines, taken) = sync_channel(WAITING_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let missing = lost.clone();
        std::thread::Builder::new()
            .name("report".into())
            .spawn(move || {
                while let Ok(first) = taken.recv() {
                    let mut waiting = Vec::new();
                    for message in std::iter::once(first).chain(taken.try_iter().take(BATCH)) {
                        match message {
                            Message::Line(line) => write(Told::Line(line)),
                            Message::Flush(done) => waiting.push(done),
                        }
                    }
                    match missing.swap(0, Ordering::Relaxed) {
                        0 => {}
                        lost => write(Told::Line(Line::Notice {
                            text: format!("{lost} lines were lost: nobody read them in time"),
                        })),
                    }
                    write(Told::Pause);
                    // Dropping them is the answer to whoever waits.
                    drop(waiting);
                }
            })?;
        Ok(Self { lines, lost })
    }

    /// Tells `line`.
    pub fn tell(&self, line: Line) {
        match self.lines.try_send(Message::Line(line)) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Waits until everything told so far is written, though not for long if nobody reads it.
    pub fn flush(&self) {
        let (done, written) = sync_channel(0);
        if self.lines.try_send(Message::Flush(done)).is_ok() {
            // The writer answers by dropping its end.
            let _ = written.recv_timeout(Duration::from_secs(1));
        }
    }

    /// Tells something about the server itself.
    pub fn notice(&self, text: impl Into<String>) {
        self.tell(Line::Notice { text: text.into() });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_line_has_the_shape_that_scripts_wait_for() {
        let line = Line::Listening {
            nbt: Some("127.0.0.1:1139".into()),
            direct: None,
        };
        assert_eq!(
            serde_json::to_string(&line).unwrap(),
            r#"{"event":"listening","nbt":"127.0.0.1:1139","direct":null}"#
        );
    }

    #[test]
    fn the_log_file_gets_text_up_to_the_log_level_whatever_else_is_printed() {
        let folder = tempfile::tempdir().unwrap();
        let path = format!("{}/log.%m", folder.path().display());
        let mut settings = Settings {
            json: true,
            ..Settings::default()
        };
        (settings.global.log_file, settings.global.log_level) = (Some(path), 1);
        let (mut pages, trouble) = Pages::open(&settings);
        assert_eq!(trouble, None);
        pages.line(&Line::Notice {
            text: "the roof leaks".into(),
        });
        pages.line(&Line::Tree {
            client: 1,
            share: "DATA".into(),
        });
        pages.put();
        let text = std::fs::read_to_string(folder.path().join("log.coax")).unwrap();
        assert!(
            text.ends_with(" the roof leaks\n") && text.lines().count() == 1,
            "{text}"
        );
    }

    #[test]
    fn a_log_file_that_cannot_be_written_is_told_and_nothing_else() {
        let mut settings = Settings::default();
        settings.global.log_file = Some("/no/such/folder/log".into());
        let (_, trouble) = Pages::open(&settings);
        assert!(trouble.unwrap().contains("/no/such/folder/log"));
    }

    #[test]
    fn a_client_line_is_one_flat_object() {
        let line = Line::Client(Box::new(ClientLine {
            client: 3,
            guess: "curl".into(),
            ..ClientLine::default()
        }));
        let text = serde_json::to_string(&line).unwrap();
        assert!(
            text.starts_with(r#"{"event":"client","client":3,"#),
            "{text}"
        );
    }

    #[test]
    fn lines_that_nobody_takes_are_counted_and_do_not_block() {
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let reporter = Reporter::to(move |told| {
            let _ = held.recv();
            if let Told::Line(line) = told {
                tell.send(line).unwrap();
            }
        })
        .unwrap();
        for n in 0..WAITING_LINES + 10 {
            reporter.notice(n.to_string());
        }
        drop(hold);
        let lost = told
            .iter()
            .take(WAITING_LINES + 3)
            .find(|l| l.to_string().contains("lines were lost"));
        assert!(lost.is_some());
    }
}
