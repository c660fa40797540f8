//! Where entries go: a file, or a Unix datagram socket of journald or syslog.

use std::{
    collections::VecDeque,
    fmt,
    fs::{File, OpenOptions},
    io::{self, ErrorKind, IoSlice, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::{fs::OpenOptionsExt as _, net::UnixDatagram},
    path::{Path, PathBuf},
};

use coax_smbconf::settings::{AuditTarget, Settings};
use jiff::Zoned;

/// systemd's native protocol (sd_journal_sendv(3), <https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>).
const JOURNAL: &str = "/run/systemd/journal/socket";
/// The socket of syslog daemons (syslog(3)).
const SYSLOG: &str = "/dev/log";
/// Severity "notice" (RFC 3164 section 4.1.1).
const NOTICE: u8 = 5;
/// Facility "log audit" (RFC 3164 section 4.1.1).
const LOG_AUDIT: u8 = 13;
/// The program's name in journal and syslog.
const IDENTIFIER: &str = "coax-audit";

/// A place for entries.
#[derive(Debug)]
pub(crate) enum Sink {
    /// A file.
    File(FileSink),
    /// A socket.
    Socket(SocketSink),
}

/// A file, to which lines are appended.
#[derive(Debug)]
pub(crate) struct FileSink {
    path: PathBuf,
    file: File,
    is_new: bool,
    /// The first bytes of the first line that are in the file already.
    at: usize,
}

/// A datagram socket.
#[derive(Debug)]
pub(crate) struct SocketSink {
    socket: UnixDatagram,
    path: PathBuf,
    form: Form,
}

/// The form of a datagram.
#[derive(Clone, Copy, Debug)]
enum Form {
    Journal,
    /// With this facility.
    Syslog(u8),
}

/// How far a write came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The sink took this number of lines.
    Lines(usize),
    /// The first line can never be passed on.
    TooLong,
}

impl Sink {
    /// Opens what the settings name.
    ///
    /// # Errors
    /// The file cannot be written. A daemon that does not listen is no error: it may start later.
    pub(crate) fn open(settings: &Settings) -> Result<Option<Self>, String> {
        let Some(target) = &settings.global.audit else {
            return Ok(None);
        };
        let opened = match target {
            AuditTarget::File(path) => FileSink::open(path).map(Self::File),
            AuditTarget::Journal => SocketSink::open(JOURNAL, Form::Journal).map(Self::Socket),
            AuditTarget::Syslog(facility) => {
                SocketSink::open(SYSLOG, Form::Syslog(*facility)).map(Self::Socket)
            }
        };
        opened
            .map(Some)
            .map_err(|error| format!("cannot write the audit log {target}: {error}"))
    }

    /// Deletes the file if this created it and nothing was written.
    pub(crate) fn discard(self) {
        if let Self::File(sink) = self
            && sink.is_new
            && sink.file.metadata().is_ok_and(|found| found.len() == 0)
        {
            let _ = std::fs::remove_file(&sink.path);
        }
    }

    /// A socket at another path, for tests.
    #[cfg(test)]
    pub(super) fn syslog_at(path: &Path) -> io::Result<Self> {
        let path = path.display().to_string();
        SocketSink::open(&path, Form::Syslog(1)).map(Self::Socket)
    }

    /// The same for the journal.
    #[cfg(test)]
    pub(super) fn journal_at(path: &Path) -> io::Result<Self> {
        let path = path.display().to_string();
        SocketSink::open(&path, Form::Journal).map(Self::Socket)
    }

    /// A file, for tests.
    #[cfg(test)]
    pub(super) fn file_at(path: &Path) -> io::Result<Self> {
        FileSink::open(path).map(Self::File)
    }

    /// Passes on the first of these lines, as many as it can at once.
    pub(super) fn write(&mut self, lines: &VecDeque<Box<[u8]>>) -> io::Result<Progress> {
        match self {
            Self::File(sink) => sink.write(lines).map(Progress::Lines),
            Self::Socket(sink) => match lines.front() {
                Some(line) => sink.send(line),
                None => Ok(Progress::Lines(0)),
            },
        }
    }

    /// Opens the file again by its name; `None` if this is no file.
    pub(super) fn reopen(&mut self) -> Option<io::Result<()>> {
        match self {
            Self::File(sink) => Some(sink.reopen()),
            Self::Socket(_) => None,
        }
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(sink) => sink.path.display().fmt(f),
            Self::Socket(sink) => match sink.form {
                Form::Journal => f.write_str("journal"),
                Form::Syslog(_) => f.write_str("syslog"),
            },
        }
    }
}

impl FileSink {
    fn open(path: &Path) -> io::Result<Self> {
        let is_new = !path.exists();
        Ok(Self {
            path: path.to_owned(),
            file: opened(path)?,
            is_new,
            at: 0,
        })
    }

    fn write(&mut self, lines: &VecDeque<Box<[u8]>>) -> io::Result<usize> {
        let mut slices: Vec<IoSlice<'_>> = lines.iter().map(|line| IoSlice::new(line)).collect();
        let mut parts = &mut slices[..];
        IoSlice::advance_slices(&mut parts, self.at);
        let mut count = self.file.write_vectored(parts)?;
        if count == 0 && !lines.is_empty() {
            return Err(ErrorKind::WriteZero.into());
        }
        // what is left of a line follows with the next write
        count = count.saturating_add(std::mem::take(&mut self.at));
        let mut whole = 0_usize;
        for line in lines {
            if count < line.len() {
                break;
            }
            count = count.saturating_sub(line.len());
            whole = whole.saturating_add(1);
        }
        self.at = count;
        Ok(whole)
    }

    /// A line that is in the old file in part is written to the new one as a whole.
    fn reopen(&mut self) -> io::Result<()> {
        self.file = opened(&self.path)?;
        self.at = 0;
        Ok(())
    }
}

/// Opens the file for appending, readable for its owner only. A last line without its end, from a process that was killed or
/// a disk that was full, is ended.
fn opened(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true).mode(0o600);
    let mut file = options.open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 && file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        // On a full disk, the first entry is appended to it.
        let _ = file.write_all(b"\n");
    }
    Ok(file)
}

impl SocketSink {
    fn open(path: &str, form: Form) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        // A daemon that does not read must not hold the thread.
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            path: path.into(),
            form,
        })
    }

    /// Sends by path, so that a daemon that was restarted gets the next entry.
    fn send(&self, line: &[u8]) -> io::Result<Progress> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let datagram = match self.form {
            Form::Journal => journal(line),
            Form::Syslog(facility) => syslog(line, facility, &Zoned::now()),
        };
        match self.socket.send_to(&datagram, &self.path) {
            Ok(_) => Ok(Progress::Lines(1)),
            Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => Ok(Progress::TooLong),
            Err(error) => Err(error),
        }
    }
}

/// Fields of a journal entry. The line has no line feed, so no field needs the binary form.
fn journal(line: &[u8]) -> Vec<u8> {
    let mut out = format!(
        "PRIORITY={NOTICE}\nSYSLOG_FACILITY={LOG_AUDIT}\nSYSLOG_IDENTIFIER={IDENTIFIER}\nMESSAGE="
    )
    .into_bytes();
    out.extend_from_slice(line);
    out.push(b'\n');
    out
}

/// The form of syslog(3): priority, time without a year, program (RFC 3164 section 4.1).
fn syslog(line: &[u8], facility: u8, now: &Zoned) -> Vec<u8> {
    let priority = facility.saturating_mul(8).saturating_add(NOTICE);
    let (time, process) = (now.strftime("%b %e %H:%M:%S"), std::process::id());
    let mut out = format!("<{priority}>{time} {IDENTIFIER}[{process}]: ").into_bytes();
    out.extend_from_slice(line);
    out
}
