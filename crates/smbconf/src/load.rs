//! From smb.conf to settings: files, sections, and what became of each line.

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

/// How deep files may include files.
const MAX_DEPTH: usize = 16;
/// How many files one configuration may be made of.
const MAX_FILES: usize = 256;
/// The largest file read, bytes; what is beyond is an error.
const MAX_BYTES: u64 = 4 << 20;
/// What diagnostics call the command line's options.
const OPTIONS: &str = "--option";

/// A configuration read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// What the server is to do. Not to be used if a diagnostic is an error.
    pub settings: Settings,
    /// What to say about it.
    pub diagnostics: Vec<Diagnostic>,
    /// Every `key = value`, in the order read.
    pub lines: Vec<Line>,
    /// What `[global]` says of shares: the start of those that the command line adds.
    pub template: ShareSettings,
}

/// What became of one `key = value`.
#[derive(Clone, Debug)]
pub struct Line {
    /// Where it stands.
    pub at: Position,
    /// The section it stands in, as written.
    pub section: String,
    /// The key as written.
    pub key: String,
    /// The parameter it names, if coax knows it.
    pub parameter: Option<&'static Parameter>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It set this value.
    Set(String),
    /// It set this value, which is not the one written, for this reason.
    Adjusted(String, String),
    /// It changed how the file is read.
    Read,
    /// What it is for is met in another way.
    Met(&'static str),
    /// It has no effect, for this reason.
    Ignored(String),
    /// It is wrong.
    Wrong(String),
}

impl std::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Parameter").field(&self.name).finish()
    }
}

/// Reads `path`, if there is one, and all it includes. `options` are `key = value` of `[global]`, from the command line:
/// they win over the file's `[global]`, and what they say of shares is the default of shares that do not say it
/// themselves.
pub fn load(path: Option<&Path>, options: &[String]) -> Loaded {
    let mut loader = Loader::with_options(options.join("\n"));
    if let Some(path) = path {
        loader.file(path, None);
    }
    loader.finish()
}

/// Reads a configuration that stands in no file. Relative includes are looked for in the current folder.
pub fn load_text(name: &str, text: &str) -> Loaded {
    let mut loader = Loader::default();
    loader.text(name, text);
    loader.finish()
}

/// Which section lines belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Current {
    #[default]
    Global,
    Share(usize),
    /// A section that coax does not serve, with the reason.
    Skipped(&'static str),
}

/// One line that a share's section says, for `copy`.
#[derive(Clone)]
struct Said {
    found: Found,
    value: String,
}

/// A share while it is read.
struct Draft {
    share: ShareSettings,
    said: Vec<Said>,
    at: Option<Position>,
}

#[derive(Default)]
struct Loader {
    loaded: Loaded,
    /// The defaults of shares that follow: `[global]` sets them.
    template: ShareSettings,
    drafts: Vec<Draft>,
    current: Current,
    section: String,
    depth: usize,
    files: usize,
    /// Parameters without effect that were said already.
    said_once: HashSet<String>,
    /// `config file`: forget all and read this.
    replaced_by: Option<PathBuf>,
    named: bool,
    /// The command line's `key = value` lines.
    options: String,
    /// What they set; `[global]` cannot set it again.
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

    /// Reads a file; `from` is the line that asked for it.
    fn file(&mut self, path: &Path, from: Option<&Position>) {
        self.files += 1;
        if self.depth >= MAX_DEPTH || self.files > MAX_FILES {
            return self.say(
                Diagnostic::error(format!(
                    "'{}' is not read: files include files without end",
                    path.display()
                )),
                from,
            );
        }
        match read_file(path) {
            Ok(bytes) => self.bytes(path, &bytes, from),
            Err(error) => {
                let message = format!("cannot read '{}': {error}", path.display());
                match from {
                    Some(_) => self.say(Diagnostic::warning(message), from),
                    None => self.say(Diagnostic::error(message), from),
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
                "'{}' is not UTF-8: some letters in it are lost",
                path.display()
            );
            let help = "save it as UTF-8, for instance with 'iconv -f CP850 -t UTF-8'";
            self.say(Diagnostic::warning(message).help(help), from);
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
            "homes" => {
                Current::Skipped("coax gives users no home folders: define a share for each")
            }
            "printers" => Current::Skipped("define each printer as a share with 'printable = yes'"),
            "ipc$" => Current::Skipped("IPC$ is there by itself"),
            lower => Current::Share(
                self.draft(lower)
                    .unwrap_or_else(|| self.new_draft(&name, at)),
            ),
        };
        if let Current::Skipped(why) = self.current {
            self.say(
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
            said: Vec::new(),
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
                self.say(Diagnostic::error(format!("'{key}': {why}")), Some(at));
            }
            Outcome::Adjusted(_, why) => {
                self.say(Diagnostic::warning(format!("'{key}': {why}")), Some(at));
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
            self.say(
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
                draft.said.push(Said {
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
                let said = Diagnostic::warning(format!("coax does not honour '{key}'"));
                (said.help(family.why), family.why.to_string())
            }
            (meant, _) => {
                let said = Diagnostic::warning(format!(
                    "coax knows no parameter '{key}'; it has no effect"
                ));
                let guess = match meant {
                    Some(name) => format!("did you mean '{name}'?"),
                    None if key.contains(':') => "it is for a module of Samba's".to_string(),
                    None => String::new(),
                };
                let why = "coax knows no such parameter".to_string();
                if guess.is_empty() {
                    (said, why)
                } else {
                    (said.help(guess.clone()), format!("{why} ({guess})"))
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
                self.say(
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
            self.say(
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

    /// Takes over what an earlier section says, except what this one has said already.
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
        let said = self
            .drafts
            .get(source)
            .map(|d| d.said.clone())
            .unwrap_or_default();
        let Some(draft) = self.drafts.get_mut(here) else {
            return Outcome::Read;
        };
        let own: HashSet<&str> = draft.said.iter().map(|s| s.found.parameter.name).collect();
        let new: Vec<Said> = said
            .into_iter()
            .filter(|s| !own.contains(s.found.parameter.name))
            .collect();
        for Said { found, value } in &new {
            if let Effect::Share(slot) = found.parameter.effect {
                // Wrong values were said where they stand.
                let _ = (slot.set)(&mut draft.share, value);
            }
        }
        draft.said.extend(new);
        Outcome::Read
    }

    /// Says it at the first line that gives reason to.
    fn once(&mut self, name: &str, diagnostic: Diagnostic, at: &Position) {
        if self.said_once.insert(name.to_string()) {
            self.say(diagnostic, Some(at));
        }
    }

    fn say(&mut self, diagnostic: Diagnostic, at: Option<&Position>) {
        self.loaded.diagnostics.push(match at {
            Some(at) => diagnostic.at(at),
            None => diagnostic,
        });
    }
}

/// Where a line stands, without its text if that may hold a password: diagnostics show it.
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

/// The value that the parameter itself would have, if the name used means the opposite.
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

/// A relative path is relative to the file that names it.
fn beside(path: &str, at: &Position) -> PathBuf {
    let folder = Path::new(&*at.file).parent().unwrap_or(Path::new(""));
    folder.join(path)
}

#[cfg(test)]
mod tests;
