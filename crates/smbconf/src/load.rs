//! Loads smb.conf into settings and records the effect of each line.

mod finish;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::diagnostic::{Diagnostic, Position, nearest};
use super::macros::has_macros;
use super::parse::{self, Item, is_global, normal_key, parse};
use super::settings::{Settings, ShareSettings};
use super::table::families::family;
use super::table::{Effect, Found, Parameter, Scope, Slot, all_names, find};

pub use finish::{listeners, local_addresses};

/// Maximum depth of includes.
const MAX_DEPTH: usize = 16;
/// Maximum number of files of a configuration.
const MAX_FILES: usize = 256;
/// Maximum size of a file, bytes.
const MAX_BYTES: u64 = 4 << 20;
/// The name of the command line's options in diagnostics.
const OPTIONS: &str = "--option";

/// A loaded configuration.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The settings. Do not use them if a diagnostic is an error.
    pub settings: Settings,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// Every `key = value`, in reading order.
    pub lines: Vec<Line>,
    /// The share defaults from `[global]`, used for shares of the command line.
    pub template: ShareSettings,
}

/// One `key = value` and its effect.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its position.
    pub at: Position,
    /// Its section, as written.
    pub section: String,
    /// The key as written.
    pub key: String,
    /// The parameter, if coax knows it.
    pub parameter: Option<&'static Parameter>,
    /// Its effect.
    pub outcome: Outcome,
}

/// The effect of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It set this value.
    Set(String),
    /// It set this value instead of the written one, for this reason.
    Adjusted(String, String),
    /// It changed how the file is read.
    Read,
    /// Its purpose is met in another way.
    Met(&'static str),
    /// It has no effect, for this reason.
    Ignored(String),
    /// It is invalid.
    Wrong(String),
}

impl std::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Parameter").field(&self.name).finish()
    }
}

/// Reads `path`, if given, and its includes. `options` are `key = value` lines of `[global]` from the command line.
/// They override the file's `[global]`, and set the default for shares that do not set the parameter themselves.
pub fn load(path: Option<&Path>, options: &[String]) -> Loaded {
    let mut loader = Loader::with_options(options.join("\n"));
    if let Some(path) = path {
        loader.file(path, None);
    }
    loader.finish()
}

/// Reads a configuration from a string. Relative includes are relative to the current folder.
pub fn load_text(name: &str, text: &str) -> Loaded {
    let mut loader = Loader::default();
    loader.text(name, text);
    loader.finish()
}

/// The section of the current line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Current {
    #[default]
    Global,
    Share(usize),
    /// A section that coax does not serve, and the reason.
    Skipped(&'static str),
}

/// A line of a share's section, kept for `copy`.
#[derive(Clone)]
struct ShareLine {
    found: Found,
    value: String,
}

/// A share that is being read.
struct Draft {
    share: ShareSettings,
    lines: Vec<ShareLine>,
    at: Option<Position>,
}

#[derive(Default)]
struct Loader {
    loaded: Loaded,
    /// The defaults of the following shares, set by `[global]`.
    template: ShareSettings,
    drafts: Vec<Draft>,
    current: Current,
    section: String,
    depth: usize,
    files: usize,
    /// Parameters without effect that were already reported.
    reported: HashSet<String>,
    /// `config file`: discard everything and read this file instead.
    replaced_by: Option<PathBuf>,
    named: bool,
    /// The command line's `key = value` lines.
    options: String,
    /// Parameters set by the command line; `[global]` cannot change them.
    optioned: HashSet<&'static str>,
}

impl Loader {
    fn with_options(options: String) -> Self {
        let mut loader = Self::default();
        loader.text(OPTIONS, &options);
        let set = loader.loaded.lines.iter().filter_map(|l| l.parameter);
        loader.optioned = set.map(|p| p.name).collect();
        loader.options = options;
        loader
    }

    /// Reads a file; `from` is the line that includes it.
    fn file(&mut self, path: &Path, from: Option<&Position>) {
        self.files += 1;
        if self.depth >= MAX_DEPTH || self.files > MAX_FILES {
            return self.report(
                Diagnostic::error(format!(
                    "'{}' is not read: files include files without end",
                    path.display()
                )),
                from,
            );
        }
        match read_file(path) {
            Ok(bytes) => {
                self.loaded.settings.sources.read.push(path.into());
                self.bytes(path, &bytes, from);
            }
            Err(error) => {
                if error.kind() != std::io::ErrorKind::NotFound {
                    self.loaded.settings.sources.denied.push(path.into());
                }
                let message = format!("cannot read '{}': {error}", path.display());
                match from {
                    Some(_) => self.report(Diagnostic::warning(message), from),
                    None => {
                        let help = "name a file that exists and that coax may read";
                        self.report(Diagnostic::error(message).help(help), from);
                    }
                }
            }
        }
        if let Some(next) = self.replaced_by.take_if(|_| self.depth == 0) {
            let files = self.files;
            *self = Self::with_options(std::mem::take(&mut self.options));
            self.files = files;
            self.file(&next, None);
        }
    }

    fn bytes(&mut self, path: &Path, bytes: &[u8], from: Option<&Position>) {
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, Cow::Owned(_)) {
            let message = format!(
                "'{}' is not UTF-8: some characters are lost",
                path.display()
            );
            let help = "save it as UTF-8, for instance with 'iconv -f CP850 -t UTF-8'";
            self.report(Diagnostic::warning(message).help(help), from);
        }
        self.depth += 1;
        self.text(&path.display().to_string(), &text);
        self.depth -= 1;
    }

    fn text(&mut self, name: &str, text: &str) {
        for item in parse(name, text, &mut self.loaded.diagnostics) {
            if self.replaced_by.is_some() {
                return;
            }
            match item {
                Item::Section { name, at } => self.open_section(name, &at),
                Item::Parameter { key, value, at } => {
                    let at = shown(at, &key);
                    self.parameter(key, &value, &at);
                }
            }
        }
    }

    fn open_section(&mut self, name: String, at: &Position) {
        self.section.clone_from(&name);
        self.current = match name.to_lowercase().as_str() {
            _ if is_global(&name) => Current::Global,
            "printers" => Current::Skipped("define each printer as a share with 'printable = yes'"),
            "ipc$" => Current::Skipped("IPC$ is there by itself"),
            lower => Current::Share(
                self.draft(lower)
                    .unwrap_or_else(|| self.new_draft(&name, at)),
            ),
        };
        if let Current::Skipped(why) = self.current {
            self.report(
                Diagnostic::warning(format!("the section [{name}] has no effect")).help(why),
                Some(at),
            );
        }
    }

    fn draft(&self, lower: &str) -> Option<usize> {
        self.drafts
            .iter()
            .position(|d| d.share.name.to_lowercase() == lower)
    }

    fn new_draft(&mut self, name: &str, at: &Position) -> usize {
        let share = ShareSettings {
            name: name.to_string(),
            ..self.template.clone()
        };
        self.drafts.push(Draft {
            share,
            lines: Vec::new(),
            at: Some(at.clone()),
        });
        self.drafts.len() - 1
    }

    fn parameter(&mut self, key: String, value: &str, at: &Position) {
        let found = find(&key);
        let outcome = match found {
            _ if matches!(self.current, Current::Skipped(_)) => {
                Outcome::Ignored(format!("[{}] has no effect", self.section))
            }
            Some(found) => self.known(found, &key, value, at),
            None => self.unknown(&key, at),
        };
        match &outcome {
            Outcome::Wrong(why) => {
                self.report(Diagnostic::error(format!("'{key}': {why}")), Some(at));
            }
            Outcome::Adjusted(_, why) => {
                self.report(Diagnostic::warning(format!("'{key}': {why}")), Some(at));
            }
            _ => {}
        }
        let section = self.section.clone();
        self.loaded.lines.push(Line {
            at: at.clone(),
            section,
            key,
            parameter: found.map(|f| f.parameter),
            outcome,
        });
    }

    fn known(&mut self, found: Found, key: &str, value: &str, at: &Position) -> Outcome {
        let in_share = matches!(self.current, Current::Share(_));
        if in_share && found.parameter.scope == Scope::Global {
            let why = format!(
                "it concerns the whole server and belongs in [global], not in [{}]",
                self.section
            );
            self.report(
                Diagnostic::warning(format!("'{key}' has no effect here")).help(why.clone()),
                Some(at),
            );
            return Outcome::Ignored(why);
        }
        if !in_share && self.optioned.contains(found.parameter.name) {
            return Outcome::Ignored(format!("the command line's {OPTIONS} sets it"));
        }
        match found.parameter.effect {
            Effect::Global(slot) => self.set_global(slot, found, value),
            Effect::Share(slot) => self.set_share(slot, found, value),
            Effect::Reading => self.read_on(found.parameter.name, value, at),
            Effect::MetOtherwise(how) => {
                let note = Diagnostic::note(format!("'{key}' is not needed")).help(how);
                self.once(found.parameter.name, note, at);
                Outcome::Met(how)
            }
            Effect::NotHonoured(why) => {
                let warning =
                    Diagnostic::warning(format!("coax does not honour '{key}'")).help(why);
                self.once(found.parameter.name, warning, at);
                Outcome::Ignored(why.into())
            }
        }
    }

    fn set_global(
        &mut self,
        slot: Slot<super::settings::GlobalSettings>,
        found: Found,
        value: &str,
    ) -> Outcome {
        let global = &mut self.loaded.settings.global;
        self.named |= found.parameter.name == "netbios name";
        outcome((slot.set)(global, &meant(found, value)), || {
            (slot.show)(global)
        })
    }

    fn set_share(&mut self, slot: Slot<ShareSettings>, found: Found, value: &str) -> Outcome {
        let value = meant(found, value);
        let share = match self.current {
            Current::Share(index) => self.drafts.get_mut(index).map(|draft| {
                draft.lines.push(ShareLine {
                    found: Found {
                        opposite: false,
                        ..found
                    },
                    value: value.clone(),
                });
                &mut draft.share
            }),
            _ => None,
        };
        let share = share.unwrap_or(&mut self.template);
        outcome((slot.set)(share, &value), || (slot.show)(share))
    }

    fn unknown(&mut self, key: &str, at: &Position) -> Outcome {
        let normal = normal_key(key);
        let lower = key.to_lowercase();
        let exact = family(&normal).is_some_and(|f| f.begin.contains(&normal.as_str()));
        let meant = nearest(&lower, all_names()).filter(|_| !exact);
        let (warning, why) = match (meant, family(&normal)) {
            (None, Some(family)) => {
                let diagnostic = Diagnostic::warning(format!("coax does not honour '{key}'"));
                (diagnostic.help(family.why), family.why.to_string())
            }
            (meant, _) => {
                let diagnostic = Diagnostic::warning(format!(
                    "coax knows no parameter '{key}'; it has no effect"
                ));
                let guess = match meant {
                    Some(name) => format!("did you mean '{name}'?"),
                    None if key.contains(':') => "it is for a module of Samba's".to_string(),
                    None => String::new(),
                };
                let why = "coax knows no such parameter".to_string();
                if guess.is_empty() {
                    (diagnostic, why)
                } else {
                    (diagnostic.help(guess.clone()), format!("{why} ({guess})"))
                }
            }
        };
        self.once(&normal, warning, at);
        Outcome::Ignored(why)
    }

    /// `include`, `copy` and `config file`.
    fn read_on(&mut self, name: &str, value: &str, at: &Position) -> Outcome {
        let value = super::value::unquoted(value);
        match name {
            "copy" => self.copy(value),
            _ if value.is_empty() => Outcome::Read,
            _ if has_macros(value) => {
                let why =
                    "no client is known yet when the file is read; the macro cannot be filled in";
                self.report(
                    Diagnostic::warning(format!("'{name} = {value}' has no effect")).help(why),
                    Some(at),
                );
                Outcome::Ignored(why.into())
            }
            "include" => self.include(&beside(value, at), at),
            _ => self.replace(beside(value, at), at),
        }
    }

    fn include(&mut self, path: &Path, at: &Position) -> Outcome {
        let before = self.section.clone();
        self.file(path, Some(at));
        if self.section != before {
            let note = format!(
                "after this include, lines belong to [{}], as with Samba",
                self.section
            );
            self.report(
                Diagnostic::note(note).help(format!("repeat [{before}] if they should not")),
                Some(at),
            );
        }
        Outcome::Read
    }

    fn replace(&mut self, path: PathBuf, at: &Position) -> Outcome {
        if path.exists() && path != Path::new(&*at.file) {
            self.replaced_by = Some(path);
        }
        Outcome::Read
    }

    /// Copies the lines of an earlier section, except parameters that this section has already set.
    fn copy(&mut self, from: &str) -> Outcome {
        let Current::Share(here) = self.current else {
            return Outcome::Wrong("it copies one share to another and belongs in a share".into());
        };
        let Some(source) = self
            .draft(&from.to_lowercase())
            .filter(|source| *source != here)
        else {
            return Outcome::Wrong(format!("there is no section [{from}] before this one"));
        };
        let lines = self
            .drafts
            .get(source)
            .map(|d| d.lines.clone())
            .unwrap_or_default();
        let Some(draft) = self.drafts.get_mut(here) else {
            return Outcome::Read;
        };
        let own: HashSet<&str> = draft.lines.iter().map(|s| s.found.parameter.name).collect();
        let new: Vec<ShareLine> = lines
            .into_iter()
            .filter(|s| !own.contains(s.found.parameter.name))
            .collect();
        for ShareLine { found, value } in &new {
            if let Effect::Share(slot) = found.parameter.effect {
                // Invalid values were reported at their own lines.
                let _ = (slot.set)(&mut draft.share, value);
            }
        }
        draft.lines.extend(new);
        Outcome::Read
    }

    /// Adds a diagnostic for a parameter at its first use only.
    fn once(&mut self, name: &str, diagnostic: Diagnostic, at: &Position) {
        if self.reported.insert(name.to_string()) {
            self.report(diagnostic, Some(at));
        }
    }

    fn report(&mut self, diagnostic: Diagnostic, at: Option<&Position>) {
        self.loaded.diagnostics.push(match at {
            Some(at) => diagnostic.at(at),
            None => diagnostic,
        });
    }
}

/// The position of a line, without its text if it may contain a password.
fn shown(at: Position, key: &str) -> Position {
    let is_password = |found: Found| found.parameter.kind() == super::value::PASSWORD.kind;
    let is_secret = match find(key) {
        Some(found) => is_password(found),
        None => {
            let meant = nearest(&key.to_lowercase(), all_names()).and_then(find);
            parse::may_be_secret(key) || meant.is_some_and(is_password)
        }
    };
    match is_secret {
        true => Position {
            text: format!("{key} = (hidden)").into(),
            ..at
        },
        false => at,
    }
}

/// The value of the parameter itself if the line uses a name with the opposite meaning.
fn meant(found: Found, value: &str) -> String {
    match (found.opposite, (super::value::BOOL.read)(value)) {
        (true, Ok(yes)) => (super::value::BOOL.show)(&!yes),
        _ => value.to_string(),
    }
}

fn outcome(set: Result<Option<String>, String>, show: impl FnOnce() -> String) -> Outcome {
    match set {
        Ok(None) => Outcome::Set(show()),
        Ok(Some(warning)) => Outcome::Adjusted(show(), warning),
        Err(why) => Outcome::Wrong(why),
    }
}

fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(std::io::Error::other(format!(
            "it is longer than {MAX_BYTES} bytes"
        )));
    }
    Ok(bytes)
}

/// Resolves a path relative to the file that contains it.
fn beside(path: &str, at: &Position) -> PathBuf {
    let folder = Path::new(&*at.file).parent().unwrap_or(Path::new(""));
    folder.join(path)
}

#[cfg(test)]
mod tests;
