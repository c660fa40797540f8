//! The socket.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{
        fs::{FileTypeExt as _, PermissionsExt as _},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use coax_server::{
    Server,
    budget::Resource,
    table::{OpenId, OpenRow, Oplock},
};
use coax_smbconf::settings::Settings;

use super::history::HistoryStatus;
use super::shape::{Answer, Ask, FILES_MAX, FileStatus, LimitStatus, SCHEMA, Status};
use crate::{history::this_minute, host::Host};

/// The longest question, bytes.
const ASK_MAX: u64 = 4096;
/// How long a question may take until its answer has left. The next one waits for that.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a file may take to be closed before the answer says so.
const CLOSING: Duration = Duration::from_secs(2);

/// Where the server answers: `coax:status socket`, or `status` in the first folder of systemd's `RuntimeDirectory=`.
pub fn socket_path(settings: &Settings) -> Option<PathBuf> {
    settings.global.status_socket.clone().or_else(|| {
        let folders = std::env::var("RUNTIME_DIRECTORY").ok()?;
        let first = folders
            .split(':')
            .next()
            .filter(|first| !first.is_empty())?;
        Some(Path::new(first).join("status"))
    })
}

/// Listens at `path`, with access for the owner only. What a dead process left there is replaced; with `replace`, so is the
/// socket of a server that runs.
///
/// # Errors
/// Another server listens there, or the system refuses.
pub(crate) fn bind(path: &Path, replace: bool) -> Result<UnixListener, String> {
    let at = path.display();
    if !replace && UnixStream::connect(path).is_ok() {
        return Err(format!(
            "another server answers at {at} ('coax:status socket')"
        ));
    }
    let is_socket = |found: std::fs::Metadata| found.file_type().is_socket();
    if std::fs::symlink_metadata(path).is_ok_and(is_socket) {
        // if this fails, so does bind, with a better error
        let _ = std::fs::remove_file(path);
    }
    let wrong = |error: io::Error| {
        format!(
            "cannot listen at {at} ('coax:status socket'): {error}; name a file in a folder that this user may write to"
        )
    };
    let listener = UnixListener::bind(path).map_err(wrong)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(wrong)?;
    Ok(listener)
}

/// Answers until the process ends, one question at a time.
pub(crate) fn serve(host: &Arc<Host>, listener: UnixListener) {
    let host = Arc::downgrade(host);
    let answer_all = move || {
        for stream in listener.incoming() {
            let Some(host) = host.upgrade() else { return };
            match stream {
                // a questioner that is gone or too slow gets no answer
                Ok(stream) => drop(answer(&host, &stream)),
                Err(_) => std::thread::sleep(PATIENCE / 50),
            }
        }
    };
    let _ = std::thread::Builder::new()
        .name("coax-status".into())
        .spawn(answer_all);
}

fn answer(host: &Host, stream: &UnixStream) -> io::Result<()> {
    let mut stream = Timed {
        stream,
        until: Instant::now() + PATIENCE,
    };
    let line = question(&mut stream)?;
    let answer = match serde_json::from_str::<Ask>(&line) {
        Ok(Ask::Status) => Answer::Status(Box::new(look(host))),
        Ok(Ask::History) => history(host),
        Ok(Ask::Close { open }) => close(host, OpenId(open)),
        Ok(Ask::Unlock { open }) => unlock(host, OpenId(open)),
        Ok(Ask::Kick { client }) => kick(host, client),
        Err(error) => Answer::Refused {
            why: format!("the question is not understood: {error}"),
        },
    };
    let mut text = serde_json::to_string(&answer)?;
    text.push('\n');
    stream.write_all(text.as_bytes())
}

fn question(stream: &mut Timed<'_>) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(stream.take(ASK_MAX)).read_line(&mut line)?;
    Ok(line)
}

/// A stream on which everything together has to end in time, however slowly each byte comes or goes.
struct Timed<'a> {
    stream: &'a UnixStream,
    until: Instant,
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(Some(left)),
        }
    }
}

impl io::Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl io::Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last day.
///
/// # Errors
/// Why there is none.
pub(crate) fn day(host: &Host) -> Result<HistoryStatus, String> {
    let minutes = host.history.read()?;
    Ok(HistoryStatus::of(SCHEMA, this_minute(), minutes))
}

fn history(host: &Host) -> Answer {
    match day(host) {
        Ok(day) => Answer::History(Box::new(day)),
        Err(why) => Answer::Refused { why },
    }
}

fn kick(host: &Host, client: u64) -> Answer {
    match host.clients.disconnect(client) {
        true => {
            host.reporter
                .notice(format!("[{client}] disconnected by 'coax status kick'"));
            Answer::Done
        }
        false => Answer::Refused {
            why: format!("no client {client} is connected"),
        },
    }
}

/// The client's own thread closes it, so that a disk that hangs does not keep other questions waiting.
fn close(host: &Host, open: OpenId) -> Answer {
    let server = host.server();
    let path = server.locked(|tables| tables.get(open).map(|open| open.request.path.clone()));
    let Some(path) = path else {
        return no_open(open);
    };
    host.clients.close(open);
    host.reporter
        .notice(format!("'coax status close': {path} (open {})", open.0));
    let until = Instant::now() + CLOSING;
    while Instant::now() < until {
        if server.locked(|tables| tables.get(open).is_none()) {
            return Answer::Done;
        }
        std::thread::sleep(CLOSING / 100);
    }
    Answer::Refused {
        why: format!(
            "{path} will be closed once the request that its client waits for ends, for example on a disk that hangs"
        ),
    }
}

fn unlock(host: &Host, open: OpenId) -> Answer {
    let server = host.server();
    match server.locked(|tables| tables.unlock_all(open)) {
        None => no_open(open),
        Some(0) => Answer::Refused {
            why: format!("open {} holds no locks", open.0),
        },
        Some(count) => {
            host.reporter.notice(format!(
                "'coax status unlock': {count} locks of open {} removed",
                open.0
            ));
            Answer::Done
        }
    }
}

fn no_open(open: OpenId) -> Answer {
    Answer::Refused {
        why: format!("there is no open file {}", open.0),
    }
}

/// What the server does now.
pub(crate) fn look(host: &Host) -> Status {
    let server = host.server();
    let (rows, files_total) = server.locked(|tables| tables.overview(FILES_MAX));
    let share = |row: &OpenRow| {
        let found = server.shares.iter().find(|share| share.id == row.share);
        found.map(|share| share.name.clone()).unwrap_or_default()
    };
    let state = match (host.is_stopping(), host.is_draining()) {
        (true, _) => "stopping",
        (false, true) => "draining",
        (false, false) => "serving",
    };
    Status {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        process: std::process::id(),
        seconds: host.began.elapsed().as_secs(),
        state: state.into(),
        clients: host.clients.show(),
        files: rows.iter().map(|row| file(row, share(row))).collect(),
        files_total,
        networks: host.networks(),
        wins: host.wins(),
        print_jobs: host.printing.waiting(),
        limits: limits(host, &server),
        audit: host.audit.as_ref().map(|audit| audit.status()),
    }
}

fn limits(host: &Host, server: &Server) -> Vec<LimitStatus> {
    let mut limits = host.admission.usage();
    let budgets = &server.config.budgets;
    let used = server.locked(|tables| {
        [Resource::Opens, Resource::Locks, Resource::Memory].map(|what| tables.total().get(what))
    });
    let [opens, locks, memory] = used;
    for (what, used, caps) in [
        ("open files", opens, budgets.opens),
        ("byte-range locks", locks, budgets.locks),
        ("bytes of pending data", memory, budgets.memory),
    ] {
        limits.push(LimitStatus {
            what: what.into(),
            used: used as u64,
            most: caps.total as u64,
        });
    }
    limits
}

fn file(row: &OpenRow, share: String) -> FileStatus {
    let oplock = match row.oplock {
        Oplock::None => "none",
        Oplock::LevelII => "level2",
        Oplock::Exclusive => "exclusive",
        Oplock::Batch => "batch",
    };
    FileStatus {
        id: row.open.0,
        client: row.client.clone(),
        share,
        path: row.path.clone(),
        folder: row.is_directory,
        reads: row.reads,
        writes: row.writes,
        oplock: oplock.into(),
        breaking: row.is_breaking,
        locked: row.is_locked,
        deleted_at_close: row.is_doomed,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_questioner_that_sends_a_byte_now_and_then_is_given_up() {
        let (slow, served) = UnixStream::pair().unwrap();
        let drip = std::thread::spawn(move || {
            for _ in 0..60 {
                std::thread::sleep(Duration::from_millis(10));
                if (&slow).write_all(b" ").is_err() {
                    return;
                }
            }
            let _ = (&slow).write_all(b"\n");
        });
        let mut stream = Timed {
            stream: &served,
            until: Instant::now() + Duration::from_millis(100),
        };
        assert!(question(&mut stream).is_err());
        assert!(
            stream.write_all(b"x").is_err(),
            "the answer has no time of its own"
        );
        drop(served);
        drip.join().unwrap();
    }
}
