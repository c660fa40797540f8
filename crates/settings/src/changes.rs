//! Advised changes as lines of the user's own files.

use crate::{
    draft::{Done, Draft},
    import::{Import, Role},
    table::{Setting, settings},
};

/// A line that advice asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedLine {
    /// The kind of file, as the table of settings names it.
    pub file: String,
    /// The key, in lower case.
    pub key: String,
    /// The value; `None`: the line or option is to go.
    pub value: Option<String>,
}

/// A change of advice: all of its lines, in files of one machine. One without lines is no matter of these files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedChange {
    /// Whose files; `None` for changes of the network.
    pub role: Option<Role>,
    /// The lines.
    pub lines: Vec<WantedLine>,
    /// Where it is made and what it is, for messages.
    pub words: String,
}

/// What became of a piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Lines of the diff: `FILE: KEY = VALUE`.
    Changed {
        /// The lines.
        lines: Vec<String>,
        /// What else the values need, where it is known.
        notes: Vec<&'static str>,
    },
    /// The files have these values already: `FILE:LINE: KEY = VALUE`.
    Already(Vec<String>),
    /// The changes of better advice contain it.
    Included,
    /// Better advice gives the same line another value.
    Superseded(String),
    /// No given file can hold it: the reason for each of its changes.
    NotHeld(Vec<String>),
}

/// Lines of files that change.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    drafts: Vec<(Draft<'a>, Role)>,
    share: Option<String>,
    /// Lines that were changed: the file's place, the setting, and the value.
    made: Vec<(usize, &'static Setting, Option<String>)>,
}

/// Whether a change of this kind of file and key is one that files can hold.
#[must_use]
pub fn is_known_line(file: &str, key: &str) -> bool {
    setting(file, key).is_some()
}

impl<'a> Changes<'a> {
    /// None yet. `share` is the share that settings of shares are for.
    #[must_use]
    pub fn of(import: &'a Import, share: Option<&str>) -> Self {
        let files = import.files().iter();
        Self {
            drafts: files.map(|(file, role)| (Draft::of(file), *role)).collect(),
            share: share.map(str::to_owned),
            made: Vec::new(),
        }
    }

    /// Makes the first of these changes that the files can hold; each of them is enough.
    pub fn add(&mut self, alternatives: &[WantedChange]) -> Outcome {
        let (mut already, mut reasons) = (Vec::new(), Vec::new());
        for change in alternatives {
            let mut trial = self.clone();
            match trial.make(change) {
                Ok((lines, notes)) if !lines.is_empty() => {
                    *self = trial;
                    return Outcome::Changed { lines, notes };
                }
                Ok(_) if self.has_made(change) => return Outcome::Included,
                Ok(_) => already.extend(self.as_they_are(change)),
                Err(outcome @ Outcome::Superseded(_)) => return outcome,
                Err(Outcome::NotHeld(why)) => reasons.extend(why),
                Err(_) => {}
            }
        }
        match already.is_empty() {
            true => Outcome::NotHeld(reasons),
            false => Outcome::Already(already),
        }
    }

    /// The changed lines as a unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        self.drafts.iter().map(|(draft, _)| draft.diff()).collect()
    }

    /// What hinders `patch`.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let changed = self
            .drafts
            .iter()
            .filter(|(draft, _)| !draft.diff().is_empty());
        changed.filter_map(|(draft, _)| draft.note()).collect()
    }

    /// The lines that it changed, none if all are so already, and what they need.
    fn make(&mut self, change: &WantedChange) -> Result<(Vec<String>, Vec<&'static str>), Outcome> {
        let not_held = |why: String| Outcome::NotHeld(vec![format!("{}: {why}", change.words)]);
        if change.lines.is_empty() {
            return Err(not_held("no line of a file that coax edits".into()));
        }
        let (mut lines, mut notes) = (Vec::new(), Vec::new());
        for line in &change.lines {
            let known = setting(&line.file, &line.key);
            let known = known.ok_or_else(|| not_held("coax does not know this line".into()))?;
            let places = self.places(&line.file, change.role);
            if places.is_empty() {
                let whose = change.role.map_or("", Role::name);
                return Err(not_held(format!(
                    "no {} of the {whose} is given",
                    shown(&line.file)
                )));
            }
            self.check_earlier(known, line.value.as_ref(), &places)?;
            let results: Vec<_> = places
                .iter()
                .map(|place| self.set(*place, known, line.value.as_deref()))
                .collect();
            let mut is_possible = false;
            for done in &results {
                is_possible |= done.is_ok();
                lines.extend(done.iter().flatten().cloned());
            }
            if !is_possible {
                let why = results.into_iter().find_map(Result::err);
                return Err(not_held(why.unwrap_or_default()));
            }
            if results.iter().any(|done| matches!(done, Ok(Some(_)))) {
                // the line has it already
                let is_news = |note: &&str| line.value.as_deref() != Some(*note);
                notes.extend(known.advice.as_deref().filter(is_news));
            }
        }
        Ok((lines, notes))
    }

    /// Whether a line of this change was changed for earlier advice.
    fn has_made(&self, change: &WantedChange) -> bool {
        let mut lines = change
            .lines
            .iter()
            .filter_map(|line| setting(&line.file, &line.key));
        lines.any(|known| {
            self.made
                .iter()
                .any(|(_, made, _)| std::ptr::eq(*made, known))
        })
    }

    /// The drafts of files of this kind.
    fn places(&self, file: &str, role: Option<Role>) -> Vec<usize> {
        let drafts = self.drafts.iter().enumerate();
        let fitting = drafts.filter(|(_, (draft, whose))| {
            draft.original().kind.name() == file && role.is_none_or(|role| role == *whose)
        });
        fitting.map(|(place, _)| place).collect()
    }

    /// Better advice comes first: its values stay.
    fn check_earlier(
        &self,
        setting: &'static Setting,
        value: Option<&String>,
        places: &[usize],
    ) -> Result<(), Outcome> {
        let mut made = self.made.iter();
        let earlier = made.find(|(place, known, other)| {
            std::ptr::eq(*known, setting) && places.contains(place) && other.as_ref() != value
        });
        let Some((place, _, other)) = earlier else {
            return Ok(());
        };
        let file = self
            .drafts
            .get(*place)
            .map_or("", |(draft, _)| draft.original().name.as_str());
        Err(Outcome::Superseded(written(
            file,
            setting,
            other.as_deref(),
        )))
    }

    /// The line that it changed in a file; none if it is so already.
    fn set(
        &mut self,
        place: usize,
        setting: &'static Setting,
        value: Option<&str>,
    ) -> Result<Option<String>, String> {
        let Some((draft, _)) = self.drafts.get_mut(place) else {
            return Err(String::new());
        };
        let done = match value {
            Some(value) => draft.set(setting, value, self.share.as_deref()),
            None => draft.remove(setting),
        };
        let name = &draft.original().name;
        match done {
            Done::Changed => {
                let line = written(name, setting, value);
                self.made.push((place, setting, value.map(str::to_owned)));
                Ok(Some(line))
            }
            Done::Already(_) => Ok(None),
            Done::NoPlace(why) => Err(format!("{name}: {why}")),
        }
    }

    /// The lines that have the wanted values.
    fn as_they_are(&self, change: &WantedChange) -> Vec<String> {
        let mut found = Vec::new();
        for line in &change.lines {
            let Some(known) = setting(&line.file, &line.key) else {
                continue;
            };
            for place in self.places(&line.file, change.role) {
                let Some((draft, _)) = self.drafts.get(place) else {
                    continue;
                };
                let name = &draft.original().name;
                let at = match (&line.value, draft.clone()) {
                    (Some(value), mut draft) => draft.set(known, value, self.share.as_deref()),
                    (None, mut draft) => draft.remove(known),
                };
                let text = match (at, &line.value) {
                    (Done::Already(Some(number)), value) => {
                        written(&format!("{name}:{number}"), known, value.as_deref())
                    }
                    (_, Some(value)) => format!("{name}: {} is {value} by default", known.key()),
                    (_, None) => written(name, known, None),
                };
                found.push(text);
            }
        }
        found
    }
}

fn written(place: &str, setting: &Setting, value: Option<&str>) -> String {
    let key = setting.key();
    match (setting.option(), value) {
        (Some(option), Some(value)) => {
            let option = option.to_uppercase();
            format!("{place}: socket options with {option}={value}")
        }
        (Some(option), None) => {
            format!("{place}: socket options without {}", option.to_uppercase())
        }
        (None, Some(value)) => format!("{place}: {key} = {value}"),
        (None, None) => format!("{place}: no line {key}"),
    }
}

/// The name of a kind of file in messages.
fn shown(file: &str) -> String {
    match file {
        "registry" => "registry export (.reg)".into(),
        "smb.conf" => file.into(),
        "sysctl" => "sysctl.conf".into(),
        _ => file.to_uppercase(),
    }
}

fn setting(file: &str, key: &str) -> Option<&'static Setting> {
    let mut all = settings().iter();
    all.find(|setting| setting.file == file && setting.key() == key)
}
