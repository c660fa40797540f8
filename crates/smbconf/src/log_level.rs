//! `log level`: a general level and levels of single classes, in Samba's notation (`1 auth:3 vfs:10`).

use super::nearest::{self, Nearest};
use super::value::Codec;

/// Maximum level.
const MAX: u8 = 10;

/// A part of the server with its own level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Negotiation, trees, and everything without its own class.
    Smb,
    /// Log-ons.
    Auth,
    /// Byte-range locks and oplocks.
    Locking,
    /// Files and folders.
    Vfs,
    /// Remote procedure calls through named pipes.
    Rpc,
    /// The remote administration protocol (`\PIPE\LANMAN`).
    Lanman,
    /// Print jobs.
    Print,
    /// Change notification.
    Notify,
}

/// Samba's names of the classes, and coax's own `notify`, `rpc` and `print`.
const CLASSES: &[(&str, Class)] = &[
    ("smb", Class::Smb),
    ("auth", Class::Auth),
    ("auth_audit", Class::Auth),
    ("passdb", Class::Auth),
    ("sam", Class::Auth),
    ("locking", Class::Locking),
    ("vfs", Class::Vfs),
    ("acls", Class::Vfs),
    ("rpc_srv", Class::Rpc),
    ("rpc_parse", Class::Rpc),
    ("rpc", Class::Rpc),
    ("lanman", Class::Lanman),
    ("printdrivers", Class::Print),
    ("print", Class::Print),
    ("notify", Class::Notify),
];

const COUNT: usize = 8;

/// The log levels of all classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLevels {
    all: u8,
    classes: [Option<u8>; COUNT],
}

impl LogLevels {
    /// The same level for every class.
    pub const fn all(level: u8) -> Self {
        Self {
            all: level,
            classes: [None; COUNT],
        }
    }

    /// The level of a class.
    pub fn of(&self, class: Class) -> u8 {
        let own = self.classes.get(class as usize).copied().flatten();
        own.unwrap_or(self.all)
    }

    /// The highest level of any class.
    pub fn highest(&self) -> u8 {
        let own = self.classes.iter().flatten().copied();
        own.fold(self.all, u8::max)
    }

    fn set(&mut self, class: Class, level: u8) {
        if let Some(place) = self.classes.get_mut(class as usize) {
            *place = Some(level);
        }
    }
}

/// Levels from 0 to 10.
pub const LOG_LEVEL: Codec<LogLevels> = Codec {
    kind: "0 to 10, and CLASS:LEVEL",
    read: strict,
    nearest: lenient,
    show,
};

fn strict(text: &str) -> Result<LogLevels, String> {
    let (levels, warnings) = read(text)?;
    match warnings.is_empty() {
        true => Ok(levels),
        false => Err(warnings.join("; ")),
    }
}

fn lenient(text: &str) -> Nearest<LogLevels> {
    let (levels, warnings) = read(text).ok()?;
    Some((levels, warnings.join("; ")))
}

/// Parses the levels. Also returns messages about changed or ignored entries.
fn read(text: &str) -> Result<(LogLevels, Vec<String>), String> {
    let mut levels = LogLevels::all(1);
    let mut warnings = Vec::new();
    let mut has_all = false;
    let mut is_empty = true;
    for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        is_empty = false;
        let (class, value) = word.split_once(':').unwrap_or(("all", word));
        let level = level(value, &mut warnings)?;
        let known = CLASSES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(class));
        match known {
            _ if class.eq_ignore_ascii_case("all") => {
                levels.all = level;
                has_all = true;
            }
            Some((_, class)) => levels.set(*class, level),
            None => warnings.push(format!(
                "coax has no log class '{class}'; it has {}",
                names()
            )),
        }
    }
    if is_empty {
        return Err("write a level from 0 to 10, as in '1' or '1 auth:3'".into());
    }
    if !has_all {
        warnings.push(format!("'{text}' has no level for everything; 1 is used"));
    }
    Ok((levels, warnings))
}

fn level(text: &str, warnings: &mut Vec<String>) -> Result<u8, String> {
    let number = match text.split_once('@') {
        Some((number, _)) => {
            warnings.push("a log file of a class's own is not supported".into());
            number
        }
        None => text,
    };
    if let Some(level) = number.parse().ok().filter(|level| *level <= MAX) {
        return Ok(level);
    }
    match nearest::number(number, 0, u64::from(MAX)) {
        Some((level, warning)) => {
            warnings.push(warning);
            Ok(level)
        }
        None => Err(format!("'{text}' is not a level from 0 to {MAX}")),
    }
}

fn names() -> String {
    let names: Vec<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

fn show(levels: &LogLevels) -> String {
    let mut text = levels.all.to_string();
    let mut shown = [false; COUNT];
    for (name, class) in CLASSES {
        let own = levels.classes.get(*class as usize).copied().flatten();
        let first = shown
            .get_mut(*class as usize)
            .is_some_and(|shown| !std::mem::replace(shown, true));
        if let (Some(level), true) = (own, first) {
            text.push_str(&format!(" {name}:{level}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn classes_have_levels_of_their_own_and_the_others_that_of_all() {
        let levels = strict("1 auth:3 vfs:10").unwrap();
        assert_eq!(
            [Class::Auth, Class::Vfs, Class::Smb].map(|class| levels.of(class)),
            [3, 10, 1]
        );
        assert_eq!(
            (levels.highest(), show(&levels).as_str()),
            (10, "1 auth:3 vfs:10")
        );
        assert_eq!(strict("all:2 rpc_parse:5").unwrap().of(Class::Rpc), 5);
        assert_eq!(show(&strict("3").unwrap()), "3");
    }

    #[test]
    fn unknown_classes_and_levels_beyond_ten_are_left_out_with_a_warning() {
        for (text, warning) in [
            ("1 winbind:3", "no log class 'winbind'"),
            ("auth:3", "no level for everything"),
            ("1 auth:3@/var/log/auth", "log file of a class"),
        ] {
            assert!(strict(text).is_err(), "{text}");
            let (levels, warned) = lenient(text).unwrap();
            assert_eq!(levels.of(Class::Smb), 1);
            assert!(warned.contains(warning), "{warned}");
        }
        assert_eq!(lenient("100").unwrap().0, LogLevels::all(10));
        for wrong in ["", "much", "1 auth:x"] {
            assert!(
                strict(wrong).is_err() && lenient(wrong).is_none(),
                "{wrong}"
            );
        }
    }
}
