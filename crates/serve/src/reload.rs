//! Reads the configuration again while clients are connected.
//!
//! A reload either takes effect as a whole or not at all. What it cannot change in a running process keeps its old value
//! and is reported as waiting for a restart.

use std::{path::Path, sync::Arc, time::Duration};

use coax_logon::accounts::Accounts;
use coax_smbconf::{
    compare::{Comparison, compare, keep_until_restart},
    diagnostic::Diagnostic,
    settings::Settings,
};

use super::{
    build::{self, Built},
    folders,
    host::Host,
    local, printing,
    report::Line,
    sandbox::Policy,
    service::Service,
    share_path,
};

/// Reads the settings from where they came from: the file of `--config` under the options of the command line.
///
/// # Errors
/// What is wrong with them, as `--check` reports it.
pub type Read = Box<dyn Fn() -> Result<(Settings, Vec<Diagnostic>), Vec<Diagnostic>> + Send + Sync>;

/// Carries out reloads, one after the other.
pub(super) struct Reloader {
    read: Read,
    /// The folders within reach, if the sandbox limits files.
    reach: Option<Policy>,
    /// Interval between checks of the shares' folders.
    folder_period: Duration,
}

/// What a reload changes, in words.
#[derive(Debug, Default)]
struct Effects {
    changes: Vec<String>,
    restart: Vec<String>,
}

impl Reloader {
    /// Reads settings with `read`. `reach` limits the folders of new shares.
    pub(super) fn new(read: Read, reach: Option<Policy>, folder_period: Duration) -> Self {
        Self {
            read,
            reach,
            folder_period,
        }
    }

    /// Reads the configuration and puts it in force, or reports why the old one stays. Call within the runtime, on a
    /// thread that may block.
    pub(super) fn reload(&self, host: &Arc<Host>) {
        let line = match self.try_reload(host) {
            Ok((effects, warnings)) => {
                for warning in warnings {
                    host.reporter.notice(warning.in_one_line());
                }
                Line::Reloaded {
                    changes: effects.changes,
                    restart: effects.restart,
                    errors: Vec::new(),
                }
            }
            Err(reasons) => Line::Reloaded {
                changes: Vec::new(),
                restart: Vec::new(),
                errors: reasons.iter().map(Diagnostic::in_one_line).collect(),
            },
        };
        host.reporter.tell(line);
    }

    fn try_reload(&self, host: &Arc<Host>) -> Result<(Effects, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (mut settings, mut warnings) = (self.read)()?;
        let before = host.service();
        denied(&settings)?;
        let mut effects = Effects::default();
        effects.note_restarts(&compare(&before.settings, &settings));
        keep_until_restart(&before.settings, &mut settings);
        if let Some(reach) = &self.reach {
            effects.keep_within(reach, &before.settings, &mut settings);
        }
        if printing::is_needed(&settings) && !host.printing.runs() {
            let what = "print commands: the process that runs them exists only if a command is set at the start";
            effects.restart.push(what.into());
        }
        let built = build::again(&settings, &before, &mut warnings);
        let built = built.map_err(|rejected| rejected.0)?;
        effects.note_changes(&compare(&before.settings, &settings));
        let old_accounts = &before.server.accounts;
        effects.note_users(old_accounts, &built.server.accounts);
        self.put_in_force(host, &before, settings, built);
        Ok((effects, warnings))
    }

    fn put_in_force(&self, host: &Arc<Host>, before: &Service, settings: Settings, built: Built) {
        let Built {
            server,
            folders,
            numbers,
        } = built;
        host.reporter.set_log_level(settings.global.log_level);
        let generation = before.generation.saturating_add(1);
        let watched = folders.clone();
        host.put_in_force(Service::new(server, settings, folders, numbers, generation));
        folders::watch_but(host, &before.folders, watched, self.folder_period);
        local::start(host);
    }
}

/// An include that cannot be read is only a warning at the start. Now it would take away what it defined before.
fn denied(settings: &Settings) -> Result<(), Vec<Diagnostic>> {
    let help = "the sandbox admits the folders of the files that were read at the start: keep includes there, or restart coax";
    let files = settings.sources.denied.iter();
    let reasons: Vec<Diagnostic> = files
        .map(|file| Diagnostic::error(format!("cannot read '{}'", file.display())).help(help))
        .collect();
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(reasons),
    }
}

impl Effects {
    fn note_restarts(&mut self, found: &Comparison) {
        let waiting = found.changes.iter().filter(|change| change.at_start);
        self.restart.extend(waiting.map(ToString::to_string));
    }

    fn note_changes(&mut self, found: &Comparison) {
        let now = found.changes.iter().filter(|change| !change.at_start);
        self.changes.extend(now.map(ToString::to_string));
        let added = found.added.iter();
        self.changes
            .extend(added.map(|share| format!("share {share} added")));
        let removed = found.removed.iter();
        let removed = removed
            .map(|share| format!("share {share} removed; its clients are disconnected from it"));
        self.changes.extend(removed);
    }

    fn note_users(&mut self, old: &Accounts, new: &Accounts) {
        for user in new.iter() {
            match old.find(&user.name) {
                None => self.changes.push(format!("user {} added", user.name)),
                Some(before) if before != user => {
                    self.changes.push(format!("user {} changed", user.name));
                }
                Some(_) => {}
            }
        }
        let gone = old.iter().filter(|user| new.find(&user.name).is_none());
        self.changes.extend(
            gone.map(|user| format!("user {} removed; the user's sessions end", user.name)),
        );
    }

    /// Leaves out what the sandbox keeps out of reach: folders that were not shared at the start.
    fn keep_within(&mut self, reach: &Policy, old: &Settings, new: &mut Settings) {
        // A path that is wrong in itself is an error later on.
        let admits = |settings: &Settings, share: &_| {
            share_path::path(settings, share).map_or(true, |path| reach.admits(Path::new(&path)))
        };
        let shares = std::mem::take(&mut new.shares);
        for share in shares {
            if admits(new, &share) {
                new.shares.push(share);
                continue;
            }
            let why = format!(
                "share {}: the sandbox admits only folders that were shared at the start, and {} was not",
                share.name, share.path
            );
            self.restart.push(why);
            let mut known = old.shares.iter();
            let known = known.find(|known| known.name.to_lowercase() == share.name.to_lowercase());
            new.shares.extend(known.cloned());
        }
    }
}
