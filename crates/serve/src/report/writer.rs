//! Writes lines from every thread without blocking.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use jiff::Timestamp;
use serde::Serialize;

use super::{Line, repeated::Notices};
use crate::log_file::{LogFile, stamp};
use coax_smbconf::{
    log_level::LogLevels,
    macros::{MacroValues, expand_path},
    settings::Settings,
};

/// Version of the JSON events: it grows when a field or an event is removed, renamed or gets another meaning; not when one
/// is added.
pub const SCHEMA: u32 = 1;

/// Lines queued for a slow terminal or a full pipe; the reporter drops and counts further lines.
const WAITING_LINES: usize = 4096;

/// Bytes of dumped messages queued at most.
const WAITING_BYTES: usize = 16 << 20;

/// Lines per write.
const BATCH: usize = 64;

/// An item that a [`Reporter`] passes to its writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A line, and when its event happened.
    Line(Line, Timestamp),
    /// The queue is empty: the writer should flush the lines it holds.
    Pause,
    /// Log files must be reopened.
    Reopen,
    /// Lines are printed up to these levels from now on.
    LogLevel(LogLevels),
}

/// Text to write at the next pause, by destination.
struct Pages {
    json: bool,
    log_level: LogLevels,
    /// For standard output or standard error.
    out: Vec<u8>,
    /// For the log file.
    text: Vec<u8>,
    file: Option<LogFile>,
}

impl Pages {
    fn new(settings: &Settings, file: Option<LogFile>) -> Self {
        Self {
            json: settings.json,
            log_level: settings.global.log_level,
            out: Vec::new(),
            text: Vec::new(),
            file,
        }
    }

    /// Reopens the log file and reports that, in the new file too.
    fn reopen(&mut self) {
        self.put();
        let done = match &mut self.file {
            None => "there is no log file to reopen".into(),
            Some(file) => {
                let path = file.path().display().to_string();
                match file.reopen() {
                    Ok(()) => format!("the log file {path} is open anew"),
                    Err(error) => format!(
                        "cannot open the log file {path} anew: {error}; the old one stays open"
                    ),
                }
            }
        };
        let text = format!("signal to open logs: {done}");
        self.line(&Line::Notice { text }, Timestamp::now());
        self.put();
    }

    fn line(&mut self, line: &Line, at: Timestamp) {
        let is_wanted = line.level() <= self.log_level.of(line.class());
        if self.json || is_wanted {
            self.print(line, at);
        }
        if is_wanted && self.file.is_some() {
            let _ = writeln!(self.text, "{} {}", stamp(at), one_line(line));
        }
    }

    /// Adds a line to standard output or standard error only.
    fn print(&mut self, line: &Line, at: Timestamp) {
        // Writing to memory does not fail.
        if self.json {
            let _ = serde_json::to_writer(&mut self.out, &Stamped::new(line, at));
            self.out.push(b'\n');
        } else {
            let _ = writeln!(self.out, "{}", one_line(line));
        }
    }

    fn put(&mut self) {
        // The log is written first, so that every line printed is already in it.
        self.pass_on_log();
        // A reader that is gone does not stop the server.
        let _ = if self.json {
            put(std::io::stdout().lock(), &self.out)
        } else {
            put(std::io::stderr().lock(), &self.out)
        };
        self.out.clear();
    }

    /// Writes the log file. A full disk does not stop the server, and is reported to the terminal.
    fn pass_on_log(&mut self) {
        let file = self.file.as_mut();
        let news = file.map(|file| file.write(&self.text)).unwrap_or_default();
        self.text.clear();
        for text in news {
            self.print(&Line::Notice { text }, Timestamp::now());
        }
    }
}

impl Told {
    /// The line as one JSON object (docs/events.md); `None` if there is none.
    pub fn json(&self) -> Option<String> {
        match self {
            Self::Line(line, at) => serde_json::to_string(&Stamped::new(line, *at)).ok(),
            _ => None,
        }
    }
}

/// The JSON form of a line, with time and schema version.
#[derive(Serialize)]
pub(super) struct Stamped<'a> {
    /// RFC 3339, UTC, microseconds.
    time: String,
    schema: u32,
    #[serde(flatten)]
    line: &'a Line,
}

impl<'a> Stamped<'a> {
    pub(super) fn new(line: &'a Line, at: Timestamp) -> Self {
        Self {
            time: at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string(),
            schema: SCHEMA,
            line,
        }
    }
}

/// Memory of a line beyond its fixed size, bytes.
fn weight(line: &Line) -> usize {
    match line {
        Line::Message(message) => message.dump.len(),
        _ => 0,
    }
}

/// The text of a line without control characters: a name from a client must not forge a log line.
pub(super) fn one_line(line: &Line) -> String {
    let text = line.to_string();
    // A message's bytes stand in lines of their own, and hold no control characters.
    if matches!(line, Line::Message(_)) || !text.contains(char::is_control) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// The path of the log file, if one is configured.
pub(crate) fn log_path(settings: &Settings) -> Option<String> {
    settings.global.log_file.as_deref().map(one_for_all)
}

/// The log file that the settings ask for.
///
/// # Errors
/// The file and the reason it cannot be written.
pub(crate) fn log_file(settings: &Settings) -> Result<Option<LogFile>, String> {
    let Some(path) = log_path(settings) else {
        return Ok(None);
    };
    LogFile::open(path.as_ref(), settings.global.max_log_kib)
        .map(Some)
        .map_err(|error| format!("cannot write the log file {path}: {error}"))
}

/// Expands macros like `%m`, with which Samba writes one log per client, for the single log file of this server.
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

/// Accepts lines from every thread without blocking.
#[derive(Clone, Debug)]
pub struct Reporter {
    lines: SyncSender<Message>,
    shared: Arc<Shared>,
}

/// What the reporters and the writing thread share.
#[derive(Debug, Default)]
struct Shared {
    lost: AtomicU64,
    /// Queued bytes of dumped messages.
    waiting_bytes: AtomicUsize,
    notices: Notices,
}

/// A message to the writing thread.
enum Message {
    Line(Line, Timestamp),
    /// Answer when everything before this is written.
    Flush(SyncSender<()>),
    /// Open log files anew.
    Reopen,
    LogLevel(LogLevels),
}

impl Shared {
    /// Passes every line to `write`, until there are no reporters.
    fn pass_on(&self, taken: &Receiver<Message>, write: &mut impl FnMut(Told)) {
        loop {
            let received = match self.notices.wait() {
                None => taken.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => taken.recv_timeout(wait),
            };
            let has_ended = matches!(received, Err(RecvTimeoutError::Disconnected));
            let waiting = match received {
                Ok(first) => self.write_batch(first, taken, write),
                Err(_) => Vec::new(),
            };
            for text in self.notices.due(has_ended) {
                write(Told::Line(Line::Notice { text }, Timestamp::now()));
            }
            write(Told::Pause);
            // Dropping the senders wakes the waiting threads.
            drop(waiting);
            if has_ended {
                return;
            }
        }
    }

    /// Passes on `first` and what follows it; returns the senders of threads that wait until it is written.
    fn write_batch(
        &self,
        first: Message,
        taken: &Receiver<Message>,
        write: &mut impl FnMut(Told),
    ) -> Vec<SyncSender<()>> {
        let mut waiting = Vec::new();
        for message in std::iter::once(first).chain(taken.try_iter().take(BATCH)) {
            match message {
                Message::Line(line, at) => {
                    self.waiting_bytes
                        .fetch_sub(weight(&line), Ordering::Relaxed);
                    write(Told::Line(line, at));
                }
                Message::Flush(done) => waiting.push(done),
                Message::Reopen => write(Told::Reopen),
                Message::LogLevel(levels) => write(Told::LogLevel(levels)),
            }
        }
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let text = format!("{lost} log lines were lost: the reader of the log is too slow");
            write(Told::Line(Line::Notice { text }, Timestamp::now()));
        }
        waiting
    }
}

impl Reporter {
    /// Writes JSON to standard output, or text up to `log level` to standard error; and text to the log file.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(crate) fn start(settings: &Settings, log: Option<LogFile>) -> std::io::Result<Self> {
        let mut pages = Pages::new(settings, log);
        Self::to(move |told| match told {
            Told::Line(line, at) => pages.line(&line, at),
            Told::Pause => pages.put(),
            Told::Reopen => pages.reopen(),
            Told::LogLevel(levels) => pages.log_level = levels,
        })
    }

    /// Passes every line to `write`, on a separate thread.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn to(mut write: impl FnMut(Told) + Send + 'static) -> std::io::Result<Self> {
        let (lines, taken) = sync_channel(WAITING_LINES);
        let shared = Arc::new(Shared::default());
        let writer = shared.clone();
        std::thread::Builder::new()
            .name("report".into())
            .spawn(move || writer.pass_on(&taken, &mut write))?;
        Ok(Self { lines, shared })
    }

    /// Reports `line`.
    pub fn tell(&self, line: Line) {
        let weight = weight(&line);
        let before = self
            .shared
            .waiting_bytes
            .fetch_add(weight, Ordering::Relaxed);
        let fits = weight == 0 || before.saturating_add(weight) <= WAITING_BYTES;
        let sent = match fits {
            true => self
                .lines
                .try_send(Message::Line(line, Timestamp::now()))
                .is_ok(),
            false => false,
        };
        if !sent {
            let shared = &self.shared;
            shared.waiting_bytes.fetch_sub(weight, Ordering::Relaxed);
            shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits, for a limited time, until every line reported so far is written.
    pub fn flush(&self) {
        let (done, written) = sync_channel(0);
        if self.lines.try_send(Message::Flush(done)).is_ok() {
            // The writer answers by dropping its end.
            let _ = written.recv_timeout(Duration::from_secs(1));
        }
    }

    /// Reopens log files, after another program has rotated them.
    pub fn reopen(&self) {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(Message::Reopen) {
            self.notice("too busy to open log files anew; send the signal again");
        }
    }

    /// Prints lines up to these levels from now on.
    pub fn set_log_level(&self, levels: LogLevels) {
        // Waits for room: the setting must not be lost.
        let _ = self.lines.send(Message::LogLevel(levels));
    }

    /// Reports a notice about the server itself.
    pub fn notice(&self, text: impl Into<String>) {
        self.tell(Line::Notice { text: text.into() });
    }

    /// Reports a notice that others can cause at will: repetitions are reported as a number once a minute.
    pub fn notice_repeated(&self, text: impl Into<String>) {
        if let Some(text) = self.shared.notices.take(text.into()) {
            self.notice(text);
        }
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
        let at = Timestamp::new(1_795_219_200, 1_234_567).unwrap();
        assert_eq!(
            serde_json::to_string(&Stamped::new(&line, at)).unwrap(),
            r#"{"time":"2026-11-21T00:00:00.001234Z","schema":1,"event":"listening","nbt":"127.0.0.1:1139","direct":null}"#
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
        (settings.global.log_file, settings.global.log_level) = (Some(path), LogLevels::all(1));
        let mut pages = Pages::new(&settings, log_file(&settings).unwrap());
        let notice = Line::Notice {
            text: "the roof leaks".into(),
        };
        pages.line(&notice, Timestamp::UNIX_EPOCH);
        let tree = Line::Tree {
            client: 1,
            share: "DATA".into(),
        };
        pages.line(&tree, Timestamp::UNIX_EPOCH);
        pages.put();
        let text = std::fs::read_to_string(folder.path().join("log.coax")).unwrap();
        assert!(
            text.ends_with(" the roof leaks\n") && text.lines().count() == 1,
            "{text}"
        );
    }

    #[test]
    fn a_log_file_that_cannot_be_written_causes_only_a_notice() {
        let mut settings = Settings::default();
        settings.global.log_file = Some("/no/such/folder/log".into());
        let trouble = log_file(&settings).unwrap_err();
        assert!(trouble.contains("/no/such/folder/log"));
    }

    #[test]
    fn a_full_disk_is_reported_once_on_the_terminal_and_the_lost_lines_are_counted_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut settings = Settings::default();
        settings.global.log_file = Some(path.display().to_string());
        let mut pages = Pages::new(&settings, log_file(&settings).unwrap());
        let put = |pages: &mut Pages, text: &str| {
            let line = Line::Notice { text: text.into() };
            pages.line(&line, Timestamp::UNIX_EPOCH);
            pages.pass_on_log();
            String::from_utf8(std::mem::take(&mut pages.out)).unwrap()
        };
        assert!(put(&mut pages, "one").contains("lines are lost"));
        assert_eq!(put(&mut pages, "two"), "two\n");
        std::fs::remove_file(&path).unwrap();
        pages.file.as_mut().unwrap().reopen().unwrap();
        assert!(put(&mut pages, "three").contains("is written again; 2 lines were lost"));
        let text = std::fs::read_to_string(&path).unwrap();
        let lost = text.lines().next().unwrap();
        assert!(lost.contains(" 2 lines were lost: "), "{text}");
        assert!(text.ends_with(" three\n"), "{text}");
    }

    #[test]
    fn a_rotated_log_file_is_recreated_under_its_name_when_it_is_reopened() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("log"), folder.path().join("log.1"));
        let mut settings = Settings::default();
        settings.global.log_file = Some(path.display().to_string());
        let mut pages = Pages::new(&settings, log_file(&settings).unwrap());
        let notice = |pages: &mut Pages, text: &str| {
            let line = Line::Notice { text: text.into() };
            pages.line(&line, Timestamp::UNIX_EPOCH);
        };
        notice(&mut pages, "before");
        pages.put();
        std::fs::rename(&path, &aside).unwrap();
        notice(&mut pages, "between");
        pages.reopen();
        notice(&mut pages, "after");
        pages.put();
        let old = std::fs::read_to_string(aside).unwrap();
        let new = std::fs::read_to_string(&path).unwrap();
        assert!(old.contains("before") && old.contains("between") && !old.contains("after"));
        assert!(
            new.contains("signal to open logs") && new.contains("is open anew"),
            "{new}"
        );
        assert!(
            new.ends_with(" after\n") && !new.contains("between"),
            "{new}"
        );
    }

    #[test]
    fn a_client_line_is_one_flat_object() {
        let line = Line::Client(Box::new(super::super::ClientLine {
            client: 3,
            guess: "curl".into(),
            ..super::super::ClientLine::default()
        }));
        let text = serde_json::to_string(&line).unwrap();
        assert!(
            text.starts_with(r#"{"event":"client","client":3,"#),
            "{text}"
        );
    }

    #[test]
    fn a_name_with_a_line_feed_does_not_forge_a_line() {
        let line = Line::Tree {
            client: 1,
            share: "A\n[2] root logged on\u{1b}[31m".into(),
        };
        assert_eq!(
            one_line(&line),
            "[1] connected to A\\n[2] root logged on\\u{1b}[31m"
        );
    }

    #[test]
    fn a_notice_that_repeats_is_one_line_and_a_number_at_the_end() {
        let (tell, told) = std::sync::mpsc::channel();
        let reporter = Reporter::to(move |told| {
            if let Told::Line(line, _) = told {
                tell.send(line.to_string()).unwrap();
            }
        })
        .unwrap();
        for _ in 0..3000 {
            reporter.notice_repeated("10.0.0.9 claimed our name");
        }
        drop(reporter);
        let lines: Vec<String> = told.iter().collect();
        let counted = "10.0.0.9 claimed our name (2999 more times)";
        assert_eq!(lines, ["10.0.0.9 claimed our name", counted]);
    }

    #[test]
    fn unread_lines_are_counted_and_do_not_block() {
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let reporter = Reporter::to(move |told| {
            let _ = held.recv();
            if let Told::Line(line, _) = told {
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
