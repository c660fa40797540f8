//! The WINS server: its engine, the file of its records, and `wins hook`.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
};

use coax_netbios::{
    BadLine, Lmhosts, RecordKind, WinsChange, WinsConfig, WinsEvent, WinsRecord, WinsServer,
    parse_database,
};
use coax_wire::{
    nbt::{
        name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION},
        ns::NameFlags,
    },
    time::{Span, Time},
};

use super::super::{commands::Order, host::Host, random, report::Reporter, status::WinsStatus};
use coax_smbconf::{diagnostic::Diagnostic, macros::one_word, settings::NetbiosSettings};

/// How long a changed record waits to be written together with others.
const SAVE_DELAY: Span = Span::from_secs(2);
/// The largest database file that is read, bytes.
const FILE_MAX: u64 = 16 << 20;
/// Damaged lines that are named.
const BAD_LINES_MAX: usize = 10;

/// The records of the file and the static ones.
#[derive(Debug)]
pub(super) struct Stored {
    records: Vec<(NbName, WinsRecord)>,
}

impl Stored {
    /// Reads the database and the LMHOSTS file. What cannot be read becomes a warning.
    pub(super) fn load(netbios: &NetbiosSettings, warnings: &mut Vec<Diagnostic>) -> Self {
        let file = &netbios.wins_database;
        let mut records = Vec::new();
        let text = match read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let folder = file.parent().unwrap_or(Path::new("."));
                if let Err(error) = std::fs::create_dir_all(folder) {
                    warnings.push(not_kept(file, &error));
                }
                String::new()
            }
            Err(error) => {
                warnings.push(not_kept(file, &error));
                String::new()
            }
        };
        let (known, bad) = parse_database(&text);
        records.extend(known);
        warnings.extend(bad.iter().take(BAD_LINES_MAX).map(|bad| damaged(file, bad)));
        if let Some(lmhosts) = &netbios.lmhosts {
            records.extend(static_records(lmhosts, warnings));
        }
        Self { records }
    }
}

fn read(file: &Path) -> std::io::Result<String> {
    let size = std::fs::metadata(file)?.len();
    if size > FILE_MAX {
        return Err(std::io::Error::other(format!(
            "it is larger than {FILE_MAX} bytes"
        )));
    }
    Ok(String::from_utf8_lossy(&std::fs::read(file)?).into_owned())
}

fn not_kept(file: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!(
        "the WINS records in {} cannot be used: {error}",
        file.display()
    );
    Diagnostic::warning(message).help("name another file with 'coax:wins database'")
}

fn damaged(file: &Path, bad: &BadLine) -> Diagnostic {
    let message = format!("{}, line {}: {}", file.display(), bad.line, bad.reason);
    Diagnostic::warning(message).help("the line is left out; the next change writes the file anew")
}

/// The entries of an LMHOSTS file; a name without suffix stands for the computer and its file service.
fn static_records(lmhosts: &Path, warnings: &mut Vec<Diagnostic>) -> Vec<(NbName, WinsRecord)> {
    let mut open = |file: &str| read(Path::new(file)).map_err(|error| error.to_string());
    let lmhosts = Lmhosts::load(&lmhosts.to_string_lossy(), &mut open);
    let problems = lmhosts.problems().iter();
    warnings.extend(problems.map(|problem| {
        let message = format!(
            "{}, line {}: {}",
            problem.file, problem.line, problem.reason
        );
        Diagnostic::warning(message).help(problem.remedy)
    }));
    let mut records: Vec<(NbName, WinsRecord)> = Vec::new();
    let mut put = |name: NbName, kind, entry: &coax_netbios::LmhostsEntry| {
        let known = records.iter_mut().find(|(known, _)| *known == name);
        match known {
            Some((_, record)) if entry.several => record.put(entry.address, None, Time(0)),
            Some(_) => {}
            None => {
                let mut record = WinsRecord::new(kind, NameFlags(NameFlags::MIXED), Time(0));
                record.put(entry.address, None, Time(0));
                records.push((name, record.marked_lmhosts()));
            }
        }
    };
    for entry in lmhosts.entries() {
        if entry.suffix {
            put(entry.name, RecordKind::Unique, entry);
        } else {
            for suffix in [SUFFIX_WORKSTATION, SUFFIX_SERVER] {
                put(entry.name.with_suffix(suffix), RecordKind::Unique, entry);
            }
        }
        if let Some(domain) = entry.domain {
            put(domain, RecordKind::InternetGroup, entry);
        }
    }
    records
}

/// The running WINS server.
#[derive(Debug)]
pub(super) struct WinsHost {
    pub(super) engine: WinsServer,
    /// Texts to write to the file.
    saver: SyncSender<String>,
    /// When the records are written.
    save: Option<Time>,
    hook: String,
}

impl WinsHost {
    /// Starts the server with the records of the file.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(host: &Host, stored: Stored) -> Result<Self, String> {
        let netbios = &host.settings().global.netbios;
        let config = WinsConfig {
            scope: super::kind::scope(netbios)?,
            min_ttl_s: netbios.min_wins_ttl_s,
            max_ttl_s: netbios.max_wins_ttl_s.max(netbios.min_wins_ttl_s),
            first_id: random::random().map(u16::from_le_bytes).unwrap_or_default(),
            ..WinsConfig::default()
        };
        let (saver, texts) = sync_channel(1);
        let (file, reporter) = (netbios.wins_database.clone(), host.reporter.clone());
        std::thread::Builder::new()
            .name("coax-wins".into())
            .spawn(move || save_all(&texts, &file, &reporter))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            engine: WinsServer::new(host.clock.now(), config, stored.records),
            saver,
            save: None,
            hook: netbios.wins_hook.clone(),
        })
    }

    pub(super) fn status(&self) -> WinsStatus {
        WinsStatus {
            challenges: self.engine.challenges() as u64,
            refused_challenges: self.engine.refused_challenges(),
        }
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.engine
            .poll_timeout()
            .into_iter()
            .chain(self.save)
            .min()
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.engine.handle_timeout(now);
        if self.save.is_some_and(|save| save <= now) {
            self.save = match self.saver.try_send(self.engine.database()) {
                // The disk is slow; the next text has all changes.
                Err(TrySendError::Full(_)) => Some(now + SAVE_DELAY),
                Ok(()) | Err(TrySendError::Disconnected(_)) => None,
            };
        }
    }

    /// Plans the next save, and runs the hook for each change.
    pub(super) fn report(&mut self, host: &Host) {
        if self.engine.take_changed() && self.save.is_none() {
            self.save = Some(host.clock.now() + SAVE_DELAY);
        }
        while let Some(event) = self.engine.poll_event() {
            if let Some(text) = refusal(&event) {
                host.reporter.notice_repeated(text);
            } else if !self.hook.is_empty() {
                let order = |event: &WinsEvent| {
                    Some(Order {
                        line: command(&self.hook, event)?,
                        folder: "/".into(),
                        file: None,
                    })
                };
                if let Err(why) = host.printing.queue_hook(event, order) {
                    let text = format!("the WINS hook did not run: {why}");
                    host.reporter.notice_repeated(text);
                }
            }
        }
    }

    /// Writes the last changes. The thread ends when they are on disk.
    pub(super) fn stop(self) {
        if self.save.is_some() {
            let _ = self.saver.send(self.engine.database());
        }
    }
}

/// The notice of a refusal. That of a busy server is without the name: a flood of names is one notice with a number.
fn refusal(event: &WinsEvent) -> Option<String> {
    match event.change {
        WinsChange::Refused => Some(format!(
            "WINS: a second machine wanted the name {} and was refused",
            event.name
        )),
        WinsChange::Busy => {
            let from = event.addresses.first()?;
            Some(format!(
                "WINS: {from} was refused a name that another machine has: too many such names are wanted at a time"
            ))
        }
        WinsChange::Add | WinsChange::Refresh | WinsChange::Delete => None,
    }
}

/// `HOOK add NAME 20 TTL ADDRESS…`, as Samba calls it. The name is the client's. As in Samba, there is no call for a name
/// that is more than one harmless word: the hook would get another name.
fn command(hook: &str, event: &WinsEvent) -> Option<String> {
    let operation = match event.change {
        WinsChange::Add => "add",
        WinsChange::Refresh => "refresh",
        WinsChange::Delete => "delete",
        WinsChange::Refused | WinsChange::Busy => return None,
    };
    let name = String::from_utf8_lossy(event.name.characters());
    if one_word(&name) != name {
        return None;
    }
    let suffix = event.name.suffix();
    let mut line = format!("{hook} {operation} {name} {suffix:02x} {}", event.ttl_s);
    for address in &event.addresses {
        line.push_str(&format!(" {address}"));
    }
    Some(line)
}

/// Writes each text to a new file that replaces the old one, so that a crash leaves one of the two.
fn save_all(texts: &Receiver<String>, file: &Path, reporter: &Reporter) {
    let mut failed = false;
    while let Ok(text) = texts.recv() {
        let error = replace(file, &text).err();
        if let Some(error) = error.as_ref().filter(|_| !failed) {
            reporter.notice(format!(
                "the WINS records cannot be written to {}: {error}; they are lost when coax stops",
                file.display()
            ));
        }
        failed = error.is_some();
    }
}

/// The text is on the disk before its file gets the name: after a power failure, that name is not an empty file's.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let fresh = file.with_extension("new");
    let mut new = File::create(&fresh)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()?;
    std::fs::rename(&fresh, file)?;
    // Some file systems cannot sync a folder; the text is safe nevertheless, under one of the two names.
    let _ = file.parent().map(|folder| File::open(folder)?.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_hook_gets_names_that_are_one_harmless_word_and_no_others() {
        let event = |name: &[u8; 16]| WinsEvent {
            change: WinsChange::Add,
            name: NbName(*name),
            ttl_s: 60,
            addresses: vec![[10, 0, 0, 1].into()],
        };
        assert_eq!(
            command("/bin/hook", &event(b"HYPHEN-DOT.0   \x20")).as_deref(),
            Some("/bin/hook add HYPHEN-DOT.0 20 60 10.0.0.1")
        );
        for name in [
            b"$(rm -rf x)    \x20",
            b"A B            \x20",
            b"-R             \x20",
        ] {
            assert_eq!(command("/bin/hook", &event(name)), None);
        }
    }

    #[test]
    fn the_database_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wins.dat");
        for text in ["a longer text\n", "short\n"] {
            replace(&file, text).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(replace(&folder.path().join("none/wins.dat"), "x").is_err());
    }

    #[test]
    fn damaged_records_and_lmhosts_lines_are_named_and_the_others_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(
            path("wins.dat"),
            "VERSION 1 0\nrubbish\n\"A#20\" 0 10.0.0.1 44R\n",
        )
        .unwrap();
        std::fs::write(
            path("lmhosts"),
            "10.0.0.2 b\n10.0.0 c\n10.0.0.3 d #DOM:LAB\n",
        )
        .unwrap();
        let netbios = NetbiosSettings {
            wins_database: path("wins.dat"),
            lmhosts: Some(path("lmhosts")),
            ..NetbiosSettings::default()
        };
        let mut warnings = Vec::new();
        let stored = Stored::load(&netbios, &mut warnings);
        let names: Vec<String> = stored.records.iter().map(|(n, _)| n.to_string()).collect();
        assert_eq!(
            names,
            ["A<20>", "B<00>", "B<20>", "D<00>", "D<20>", "LAB<1c>"]
        );
        let is_right = |(name, record): &(NbName, WinsRecord)| {
            record.is_static() && record.is_in_lmhosts() == (name.to_string() != "A<20>")
        };
        assert!(stored.records.iter().all(is_right));
        let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2);
        assert!(
            said.iter().any(|s| s.contains("wins.dat, line 2")),
            "{said:?}"
        );
        assert!(
            said.iter().any(|s| s.contains("lmhosts, line 2")),
            "{said:?}"
        );
    }
}
