//! A file with changed lines, and the change as a unified diff without context.

use std::{fmt::Write as _, iter::Peekable, slice::Iter};

use crate::{
    file::{Encoding, Entry, File, Kind},
    option_words,
    table::Setting,
    value,
};

/// A line, and its number in the file as it was; new lines have none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DraftLine {
    origin: Option<usize>,
    text: String,
}

/// A file that is being changed.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'a> {
    original: &'a File,
    /// As it is now.
    file: File,
    lines: Vec<DraftLine>,
}

/// What became of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Lines changed.
    Changed,
    /// The file has this value already: the number of the line, if there is one.
    Already(Option<usize>),
    /// No line of the file can have it, and why.
    NoPlace(String),
}

impl<'a> Draft<'a> {
    pub(crate) fn of(original: &'a File) -> Self {
        let lines = original.lines.iter().enumerate();
        let line = |(place, text): (usize, &String)| DraftLine {
            origin: Some(place.saturating_add(1)),
            text: text.clone(),
        };
        Self {
            original,
            file: original.clone(),
            lines: lines.map(line).collect(),
        }
    }

    pub(crate) const fn original(&self) -> &'a File {
        self.original
    }

    /// Gives a setting a value. `share` is the share that a setting of shares is for.
    pub(crate) fn set(&mut self, setting: &Setting, value: &str, share: Option<&str>) -> Done {
        let wanted = match setting.is_per_share() {
            true => match self.section_of(share) {
                Ok(section) => Some(section),
                Err(why) => return Done::NoPlace(why),
            },
            false => None,
        };
        let entries = self.last_of_each_section(setting, wanted.as_deref());
        if entries.is_empty() {
            if setting.is_right_without_line(value) {
                return Done::Already(None);
            }
            return self.insert(setting, value, wanted.as_deref());
        }
        let differs = |entry: &&Entry| !has_value(setting, &entry.value, value);
        let differing: Vec<Entry> = entries.iter().filter(differs).cloned().collect();
        if differing.is_empty() {
            let line = entries.last().and_then(|entry| self.origin(entry.line));
            return Done::Already(line);
        }
        let mut done = Done::NoPlace("its line cannot be changed".into());
        for entry in differing {
            if self.change(&entry, setting, value) {
                done = Done::Changed;
            }
        }
        done
    }

    /// Removes a setting.
    pub(crate) fn remove(&mut self, setting: &Setting) -> Done {
        let mut done = Done::Already(None);
        while let Some(entry) = self.last_of_each_section(setting, None).pop() {
            let is_gone = match setting.option() {
                Some(option) => self.change_option(entry.line, option, None),
                None => self.replace(entry.line, None),
            };
            if !is_gone {
                return Done::NoPlace("its line cannot be removed".into());
            }
            done = Done::Changed;
        }
        done
    }

    /// The section of a share, in lower case.
    fn section_of(&self, share: Option<&str>) -> Result<String, String> {
        let Some(share) = share else {
            return Err("it is unknown which share the copy was from".into());
        };
        let mut sections = self.file.headings().map(|(_, section)| section);
        let found = sections.find(|section| section.eq_ignore_ascii_case(share));
        found.ok_or_else(|| format!("the file has no section [{share}]"))
    }

    /// The entries that count, in the order of the file.
    fn last_of_each_section(&self, setting: &Setting, section: Option<&str>) -> Vec<Entry> {
        let fits = |entry: &&Entry| {
            setting.fits(self.file.kind.name(), &entry.section, &entry.key)
                && section.is_none_or(|section| section == entry.section)
        };
        let mut last: Vec<Entry> = Vec::new();
        for entry in self.file.entries.iter().filter(fits) {
            last.retain(|known| known.section != entry.section);
            last.push(entry.clone());
        }
        last
    }

    fn change(&mut self, entry: &Entry, setting: &Setting, value: &str) -> bool {
        if let Some(option) = setting.option() {
            return self.change_option(entry.line, option, Some(value));
        }
        let place = entry.line.saturating_sub(1);
        let Some(old) = self.file.lines.get(place) else {
            return false;
        };
        let new = changed(old, entry, setting, value, self.file.kind);
        new.is_some_and(|new| self.replace(entry.line, Some(new)))
    }

    /// Changes or removes an option of `socket options`, which may be continued on further lines.
    fn change_option(&mut self, first: usize, option: &str, value: Option<&str>) -> bool {
        let mut line = first;
        while let Some(text) = self.file.lines.get(line.saturating_sub(1)) {
            let goes_on = text.trim_end_matches('\r').ends_with('\\');
            let is_alone = line == first && !goes_on;
            match option_words::changed(text, option, value) {
                Some(new) if is_alone && option_words::is_empty(&new) => {
                    return self.replace(line, None);
                }
                Some(new) => return self.replace(line, Some(new)),
                None if goes_on => line = line.saturating_add(1),
                None => return false,
            }
        }
        false
    }

    fn insert(&mut self, setting: &Setting, value: &str, section: Option<&str>) -> Done {
        let written = written(setting, value, self.file.kind, None);
        if let Some(option) = setting.option() {
            let word = format!("{}={value}", option.to_uppercase());
            // a second line would replace the first
            let mut entries = self.file.entries.iter();
            if let Some(entry) = entries.rfind(|entry| entry.key.starts_with("socket options")) {
                let line = entry.line;
                let old = self.file.lines.get(line.saturating_sub(1));
                let new = old.map(|old| option_words::appended(old, &word));
                let is_done = new.is_some_and(|new| self.replace(line, Some(new)));
                return self.outcome(is_done);
            }
            return self.below_heading(setting, section, format!("socket options = {word}"));
        }
        let text = match self.file.kind {
            Kind::Registry => format!("\"{}\"={written}", setting.key()),
            Kind::SmbConf | Kind::Sysctl => format!("{} = {written}", setting.key()),
            _ => format!("{}={written}", setting.key()),
        };
        self.below_heading(setting, section, text)
    }

    fn below_heading(&mut self, setting: &Setting, section: Option<&str>, text: String) -> Done {
        if self.file.kind == Kind::Sysctl {
            let is_done = self.add(self.end(), vec![text]);
            return self.outcome(is_done);
        }
        let heading = self.file.headings().find(|(_, known)| match section {
            Some(section) => known == section,
            None => setting.belongs_in(known),
        });
        let (place, lines) = match (heading, setting.own_section()) {
            (Some((line, section)), _) => (line, vec![self.indent(&section) + &text]),
            (None, Some(own)) => {
                let gap = (self.file.kind == Kind::Registry).then(String::new);
                let text = self.indent(own) + &text;
                let lines = gap.into_iter().chain([format!("[{own}]"), text]);
                (self.end(), lines.collect())
            }
            (None, None) => {
                return Done::NoPlace("the file has no section that it belongs in".into());
            }
        };
        let is_done = self.add(place, lines);
        self.outcome(is_done)
    }

    /// The blanks before a new line of a section: those of the section's first line, else of the file's first one.
    fn indent(&self, section: &str) -> String {
        let mut entries = self.file.entries.iter();
        let neighbour = entries
            .clone()
            .find(|entry| entry.section.eq_ignore_ascii_case(section))
            .or_else(|| entries.next());
        let line = neighbour.and_then(|entry| self.file.lines.get(entry.line.saturating_sub(1)));
        match (line, self.file.kind) {
            (Some(line), kind) if kind != Kind::Registry => {
                line.chars().take_while(|it| " \t".contains(*it)).collect()
            }
            _ => String::new(),
        }
    }

    fn outcome(&self, is_done: bool) -> Done {
        match is_done {
            true => Done::Changed,
            false => Done::NoPlace(format!("the lines of {} cannot be changed", self.file.name)),
        }
    }

    /// The number of the last line before the character that ends a file of DOS.
    fn end(&self) -> usize {
        let mut count = self.lines.len();
        if self
            .lines
            .last()
            .is_some_and(|line| line.text.starts_with('\u{1a}'))
        {
            count = count.saturating_sub(1);
        }
        count
    }

    /// Replaces a line, from 1, or removes it.
    fn replace(&mut self, line: usize, new: Option<String>) -> bool {
        let place = line.saturating_sub(1);
        let Some(old) = self.lines.get_mut(place) else {
            return false;
        };
        match new {
            Some(new) if new == old.text => return false,
            Some(new) => old.text = new,
            None => drop(self.lines.remove(place)),
        }
        self.reread()
    }

    /// Adds lines after a line, from 1.
    fn add(&mut self, after: usize, texts: Vec<String>) -> bool {
        let end = if self.original.has_carriage_returns {
            "\r"
        } else {
            ""
        };
        let lines = texts.into_iter().map(|text| DraftLine {
            origin: None,
            text: text + end,
        });
        let after = after.min(self.lines.len());
        self.lines.splice(after..after, lines);
        self.reread()
    }

    fn reread(&mut self) -> bool {
        let texts = self.lines.iter().map(|line| line.text.clone()).collect();
        self.file = self.original.with_lines(texts);
        true
    }

    fn origin(&self, line: usize) -> Option<usize> {
        self.lines.get(line.saturating_sub(1))?.origin
    }

    /// The file's text as it is now, for tests.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        let mut text: String = self
            .lines
            .iter()
            .map(|line| line.text.clone() + "\n")
            .collect();
        let is_last_old = self
            .lines
            .last()
            .is_some_and(|line| line.origin == Some(self.original.lines.len()));
        if self.original.ends_open && is_last_old {
            text.pop();
        }
        text
    }

    /// Why `patch` cannot apply the diff to the file, if that is so.
    pub(crate) fn note(&self) -> Option<String> {
        let changed = self.lines.iter().filter(|line| self.is_new(line));
        let is_plain = changed.map(|line| &line.text).all(|text| text.is_ascii());
        let name = &self.original.name;
        match self.original.encoding {
            Encoding::Utf16 => Some(format!(
                "{name} is UTF-16: change the lines by hand, because patch cannot"
            )),
            Encoding::Latin1 if !is_plain => Some(format!(
                "a changed line of {name} has characters beyond ASCII: change it by hand"
            )),
            _ => None,
        }
    }

    fn is_new(&self, line: &DraftLine) -> bool {
        let old = line
            .origin
            .and_then(|at| self.original.lines.get(at.saturating_sub(1)));
        old != Some(&line.text)
    }

    /// The lines that changed; empty if none did.
    pub(crate) fn diff(&self) -> String {
        let mut hunks = String::new();
        let (mut old_line, mut new_line) = (1, 1);
        let mut rest = self.lines.iter().peekable();
        loop {
            let hunk = self.hunk(&mut rest, old_line, new_line);
            hunk.write(&mut hunks, &self.original.lines, self.original.ends_open);
            if rest.next().is_none() {
                break;
            }
            // the line after a hunk is in both files
            let after = |line: usize, count: usize| line.saturating_add(count).saturating_add(1);
            old_line = after(old_line, hunk.removed.len());
            new_line = after(new_line, hunk.added.len());
        }
        let name = &self.original.name;
        match hunks.is_empty() {
            true => hunks,
            false => format!("--- {name}\n+++ {name}\n{hunks}"),
        }
    }

    /// The lines that changed from here to the next one that did not.
    fn hunk<'b>(
        &'b self,
        rest: &mut Peekable<Iter<'b, DraftLine>>,
        old: usize,
        new: usize,
    ) -> Hunk<'b> {
        let mut hunk = Hunk::at(old, new);
        loop {
            let old_line = old.saturating_add(hunk.removed.len());
            // lines before the next known one are gone
            let next = match rest.peek() {
                Some(line) => line.origin.unwrap_or(old_line),
                None => self.original.lines.len().saturating_add(1),
            };
            if next > old_line {
                hunk.removed.push(old_line);
                continue;
            }
            let Some(line) = rest.next_if(|line| self.is_new(line) || self.is_unended(line)) else {
                return hunk;
            };
            hunk.removed.extend(line.origin.map(|_| old_line));
            hunk.added.push(line);
        }
    }

    /// The last line of the file as it was, which has no end, when others follow it.
    fn is_unended(&self, line: &DraftLine) -> bool {
        let is_last = line.origin == Some(self.original.lines.len());
        let followed = self.lines.last().is_some_and(|last| last.origin.is_none());
        self.original.ends_open && is_last && followed
    }
}

/// Lines that changed together.
struct Hunk<'a> {
    old: usize,
    new: usize,
    removed: Vec<usize>,
    added: Vec<&'a DraftLine>,
}

impl<'a> Hunk<'a> {
    const fn at(old: usize, new: usize) -> Self {
        Self {
            old,
            new,
            removed: Vec::new(),
            added: Vec::new(),
        }
    }

    fn write(&self, out: &mut String, lines: &[String], ends_open: bool) {
        if self.removed.is_empty() && self.added.is_empty() {
            return;
        }
        let old = range(self.old, self.removed.len());
        let new = range(self.new, self.added.len());
        // Writing into a string cannot fail.
        let _ = writeln!(out, "@@ -{old} +{new} @@");
        for number in &self.removed {
            let text = lines.get(number.saturating_sub(1));
            let _ = writeln!(out, "-{}", text.map_or("", String::as_str));
            if ends_open && *number == lines.len() {
                out.push_str("\\ No newline at end of file\n");
            }
        }
        for (place, line) in self.added.iter().enumerate() {
            let _ = writeln!(out, "+{}", line.text);
            let is_last = place.saturating_add(1) == self.added.len();
            if ends_open && is_last && line.origin == Some(lines.len()) {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
}

/// `7`, `7,2`, or `6,0` for none: then the number of the line before.
fn range(first: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", first.saturating_sub(1)),
        1 => format!("{first}"),
        count => format!("{first},{count}"),
    }
}

/// Whether a line's value is the wanted one.
fn has_value(setting: &Setting, text: &str, wanted: &str) -> bool {
    let plain = |text: &str| text.trim().to_lowercase();
    let number = |text: &str| plain(text).parse::<i64>().ok();
    if setting.is_right_without_line(text.trim()) && setting.is_right_without_line(wanted) {
        return true;
    }
    match (value::of(setting, text), value::of(setting, wanted)) {
        (Ok(Some(one)), Ok(Some(other))) => one == other,
        _ if number(wanted).is_some() => number(text) == number(wanted),
        _ => plain(text) == plain(wanted),
    }
}

/// The line with another value; what follows it, such as a comment, stays.
fn changed(
    line: &str,
    entry: &Entry,
    setting: &Setting,
    value: &str,
    kind: Kind,
) -> Option<String> {
    let (line, end) = match line.strip_suffix('\r') {
        Some(line) => (line, "\r"),
        None => (line, ""),
    };
    let (key, rest) = line.split_once('=')?;
    let written = written(setting, value, kind, Some(rest.trim()));
    let blank = if rest.starts_with(' ') { " " } else { "" };
    let comment = match kind {
        Kind::SmbConf | Kind::Sysctl | Kind::Registry => "",
        _ => rest
            .find(';')
            .and_then(|at| rest.get(at..))
            .unwrap_or_default(),
    };
    let gap = if comment.is_empty() { "" } else { " " };
    (!entry.value.is_empty()).then(|| format!("{key}={blank}{written}{gap}{comment}{end}"))
}

/// The value as the file has it. In the registry the type stays what it is.
fn written(setting: &Setting, value: &str, kind: Kind, old: Option<&str>) -> String {
    if kind != Kind::Registry {
        return value.to_owned();
    }
    let is_text = old.map_or_else(|| setting.is_registry_text(), |old| old.starts_with('"'));
    match value.parse::<u32>() {
        Ok(number) if !is_text => format!("dword:{number:08x}"),
        _ => format!("\"{value}\""),
    }
}
