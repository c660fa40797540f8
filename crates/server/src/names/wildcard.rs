//! Wildcards: which names a pattern matches, and which new name a rename pattern gives.
//!
//! There are two families. [`Pattern`] matches NT's five characters ([MS-FSA] 2.1.4.4). Dialects before NT LM 0.12 send
//! only `*` and `?`; a translation to NT's characters keeps the DOS meaning, as NT itself does it. The SEARCH command
//! of the core protocol uses the file control blocks of DOS, where name and extension are padded fields. [`FcbPattern`]
//! matches those.

use alloc::{string::String, vec::Vec};
use coax_wire::codepage::upper_char;

/// Whether a name contains a wildcard character ([MS-CIFS] 2.2.1.1.3).
pub fn has_wildcards(name: &str) -> bool {
    name.contains(['*', '?', '<', '>', '"'])
}

/// One step of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// This character, upper-cased.
    Literal(char),
    /// `*`: any characters, or none.
    Star,
    /// `?`: one character.
    Question,
    /// `<`, DOS_STAR: any characters or none, up to and including the name's last period, or after it up to the end.
    DosStar,
    /// `>`, DOS_QM: one character other than a period; nothing before a period and at the end.
    DosQuestion,
    /// `"`, DOS_DOT: a period; at the end nothing.
    DosDot,
}

/// Words of the state set: one state before each step and one after the last.
const WORDS: usize = 5;
/// The maximum number of steps. A name is at most 255 characters; longer patterns match nothing.
const MAX_STEPS: usize = WORDS * 64 - 1;

/// A compiled pattern. Matching ignores case and takes at most (name length × pattern length) steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    steps: Vec<Step>,
}

impl Pattern {
    /// Parses a pattern of the NT dialect: all five characters have the meaning of [MS-FSA] 2.1.4.4.
    pub fn nt(text: &str) -> Self {
        let mut steps: Vec<Step> = Vec::with_capacity(text.len());
        for c in text.chars() {
            let step = match c {
                '*' => Step::Star,
                '?' => Step::Question,
                '<' => Step::DosStar,
                '>' => Step::DosQuestion,
                '"' => Step::DosDot,
                c => Step::Literal(upper_char(c)),
            };
            if step != Step::Star || steps.last() != Some(&Step::Star) {
                steps.push(step);
            }
        }
        if text == "*.*" {
            steps.truncate(1);
        }
        Self { steps }
    }

    /// Parses a pattern of dialects before NT LM 0.12: `?` may also match nothing at the end of a part, and a period is
    /// optional. So `*.*` matches all names and `*.` matches names without extension.
    pub fn dos(text: &str) -> Self {
        Self::nt(&translate_dos(text))
    }

    /// Whether the pattern matches this name.
    pub fn matches(&self, name: &str) -> bool {
        match self.steps.as_slice() {
            [] => return name.is_empty(),
            _ if name.is_empty() || self.steps.len() > MAX_STEPS => return false,
            [Step::Star] => return true,
            _ => {}
        }
        let last_dot = name.rfind('.');
        let mut states = States::default();
        states.set(0);
        for (at, c) in name.char_indices() {
            let place = Place {
                c: Some(upper_char(c)),
                is_last_dot: Some(at) == last_dot,
            };
            states = self.advance(states, place);
            if states.is_empty() {
                return false;
            }
        }
        // The end consumes nothing; only steps that may match nothing are skipped.
        self.advance(
            states,
            Place {
                c: None,
                is_last_dot: false,
            },
        )
        .has(self.steps.len())
    }

    /// Whether the pattern, one of `veto files`, hides this name. Blanks and dots at the end of a name do not count, because
    /// its 8.3 name has none.
    pub fn vetoes(&self, name: &str) -> bool {
        self.matches(name) || self.matches(name.trim_end_matches([' ', '.']))
    }

    /// Whether the pattern matches every name.
    pub fn matches_all(&self) -> bool {
        self.steps == [Step::Star]
    }

    /// The states after one character. At the end of the name, the states reachable without a character.
    fn advance(&self, mut now: States, place: Place) -> States {
        let mut next = States::default();
        for (i, step) in self.steps.iter().enumerate() {
            if !now.has(i) {
                continue;
            }
            let (stands_for_nothing, consumes) = step.on(place);
            if stands_for_nothing {
                now.set(i + 1);
            }
            match consumes {
                Consumes::Nothing => {}
                Consumes::AndStays => next.set(i),
                Consumes::AndMoves => next.set(i + 1),
            }
        }
        if place.c.is_none() { now } else { next }
    }
}

/// The position of the matcher in a name.
#[derive(Clone, Copy)]
struct Place {
    /// The character there, upper-cased; `None` at the end.
    c: Option<char>,
    is_last_dot: bool,
}

/// The effect of a character on a step.
enum Consumes {
    Nothing,
    AndStays,
    AndMoves,
}

impl Step {
    /// Whether the step may match nothing here, and the effect of the character.
    fn on(self, place: Place) -> (bool, Consumes) {
        let at_end = place.c.is_none();
        let takes = |yes: bool| {
            if yes {
                Consumes::AndMoves
            } else {
                Consumes::Nothing
            }
        };
        match self {
            Self::Literal(l) => (false, takes(place.c == Some(l))),
            Self::Question => (false, takes(!at_end)),
            Self::Star => (true, Consumes::AndStays),
            Self::DosStar => (
                true,
                if place.is_last_dot {
                    Consumes::AndMoves
                } else {
                    Consumes::AndStays
                },
            ),
            Self::DosQuestion if at_end || place.c == Some('.') => (true, Consumes::Nothing),
            Self::DosQuestion => (false, Consumes::AndMoves),
            Self::DosDot => (at_end, takes(place.c == Some('.'))),
        }
    }
}

/// A set of positions in a pattern.
#[derive(Clone, Copy, Default)]
struct States([u64; WORDS]);

impl States {
    fn set(&mut self, i: usize) {
        if let Some(word) = self.0.get_mut(i / 64) {
            *word |= 1 << (i % 64);
        }
    }

    fn has(&self, i: usize) -> bool {
        self.0
            .get(i / 64)
            .is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }
}

/// Rewrites a pattern of `*` and `?` so that NT's matcher gives it the DOS meaning: `?` becomes `>`; a period before
/// `?` or `*` or at the end becomes `"`; `*` before a period becomes `<`.
pub fn translate_dos(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(match (c, chars.peek()) {
            ('?', _) => '>',
            ('.', None | Some('?' | '*')) => '"',
            ('*', Some('.')) => '<',
            _ => c,
        });
    }
    out
}

/// A pattern in the form of DOS file control blocks: eight characters and three, padded with spaces, `?` for any
/// character or padding. The SEARCH command of the core protocol matches this way ([MS-CIFS] 2.2.4.58), against 8.3
/// names only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FcbPattern([char; 11]);

impl FcbPattern {
    /// Parses the text of a pattern; `*` fills its field with `?`. A pattern that ends in `*` without a period (`*`,
    /// `AB*`) matches every extension, as on NT.
    pub fn new(text: &str) -> Self {
        let mut fields = [' '; 11];
        let (base, extension) = match text.split_once('.') {
            Some((base, extension)) => (base, extension),
            None if text.ends_with('*') => (text, "*"),
            None => (text, ""),
        };
        let (left, right) = fields.split_at_mut(8);
        fill_field(left, base);
        fill_field(right, extension);
        Self(fields)
    }

    /// Whether the pattern matches this 8.3 name. It never matches longer names. The entries `.` and `..` count as
    /// names without extension.
    pub fn matches(&self, short_name: &str) -> bool {
        let (base, extension) = match short_name {
            "." | ".." => (short_name, ""),
            _ => short_name.rsplit_once('.').unwrap_or((short_name, "")),
        };
        let (left, right) = self.0.split_at(8);
        field_matches(left, base) && field_matches(right, extension)
    }
}

fn fill_field(field: &mut [char], text: &str) {
    let mut chars = text.trim_end_matches(' ').chars();
    let mut starred = false;
    for slot in field {
        let next = if starred { None } else { chars.next() };
        starred |= matches!(next, Some('*' | '<'));
        *slot = match next {
            Some('>') => '?',
            Some(c) if !starred => upper_char(c),
            _ if starred => '?',
            _ => ' ',
        };
    }
}

fn field_matches(field: &[char], text: &str) -> bool {
    let mut chars = text.chars();
    let found = field.iter().all(|want| match (want, chars.next()) {
        ('?', _) => true,
        (want, Some(c)) => *want == upper_char(c),
        (want, None) => *want == ' ',
    });
    found && chars.next().is_none()
}

/// The new name that the destination pattern of a rename or copy gives for a source name (`REN *.A *.B`). Name and
/// extension are separate: `?` copies the source character at that position, `*` copies the rest of the source part,
/// and other characters are literal. A pattern that ends in `*` without a period keeps the source's extension.
pub fn expand_destination(pattern: &str, source: &str) -> String {
    let (source_base, source_extension) = source.rsplit_once('.').unwrap_or((source, ""));
    let (base, extension) = match pattern.rfind(['.', '"']) {
        Some(dot) => (
            pattern.get(..dot).unwrap_or_default(),
            pattern.get(dot + 1..).unwrap_or_default(),
        ),
        None if pattern.ends_with(['*', '<']) => (pattern, "*"),
        None => (pattern, ""),
    };
    let mut out = expand_part(base, source_base);
    let extension = expand_part(extension, source_extension);
    if !extension.is_empty() {
        out.push('.');
        out.push_str(&extension);
    }
    out
}

fn expand_part(pattern: &str, source: &str) -> String {
    let mut out = String::new();
    let mut source = source.chars();
    for c in pattern.chars() {
        match c {
            '*' | '<' => {
                out.extend(source);
                return out;
            }
            '?' | '>' => out.extend(source.next()),
            c => {
                out.push(c);
                source.next();
            }
        }
    }
    out
}

#[cfg(test)]
#[path = "wildcard_tests.rs"]
mod tests;
