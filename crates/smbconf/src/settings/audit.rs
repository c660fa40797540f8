//! The audit log.

use std::path::PathBuf;

/// Where the audit log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditTarget {
    /// Lines of a file.
    File(PathBuf),
    /// systemd's journal.
    Journal,
    /// The system log, with this facility (RFC 3164 section 4.1.1).
    Syslog(u8),
}

/// Names of syslog facilities, by their number.
const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "security", "console", "clock", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];
/// The facility `user`, which Samba's full_audit has as its default.
const USER: u8 = 1;

impl AuditTarget {
    /// Reads `journal`, `syslog`, `syslog:FACILITY`, or a path.
    ///
    /// # Errors
    /// Which values are valid.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let lower = text.trim().to_ascii_lowercase();
        match lower.as_str() {
            "" | "no" | "false" | "off" | "0" | "none" => return Ok(None),
            "yes" | "true" | "on" | "1" => {
                return Err(format!(
                    "'{text}' does not say where: write a path, journal, or syslog"
                ));
            }
            "journal" | "journald" => return Ok(Some(Self::Journal)),
            "syslog" => return Ok(Some(Self::Syslog(USER))),
            _ => {}
        }
        let Some(facility) = lower.strip_prefix("syslog:") else {
            return Ok(Some(Self::File(PathBuf::from(text.trim()))));
        };
        let found = FACILITIES.iter().position(|name| *name == facility);
        let number = found.and_then(|number| u8::try_from(number).ok());
        let number = number.ok_or_else(|| {
            let all = FACILITIES.join(", ");
            format!("'{facility}' is not a syslog facility; these are: {all}")
        })?;
        Ok(Some(Self::Syslog(number)))
    }
}

impl std::fmt::Display for AuditTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Journal => f.write_str("journal"),
            Self::Syslog(USER) => f.write_str("syslog"),
            Self::Syslog(number) => {
                let name = FACILITIES.get(usize::from(*number)).unwrap_or(&"user");
                write!(f, "syslog:{name}")
            }
        }
    }
}

/// What the audit log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditEvent {
    /// A share was connected.
    Connect,
    /// A file or folder was opened.
    Open,
    /// It was closed, with the bytes moved.
    Close,
    /// A rename.
    Rename,
    /// A hard link.
    Link,
    /// A copy on the server.
    Copy,
    /// A file was deleted.
    Delete,
    /// A folder was created.
    Mkdir,
    /// A folder was deleted.
    Rmdir,
    /// A request was refused.
    Refused,
}

impl AuditEvent {
    /// All events, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Connect,
        Self::Open,
        Self::Close,
        Self::Rename,
        Self::Link,
        Self::Copy,
        Self::Delete,
        Self::Mkdir,
        Self::Rmdir,
        Self::Refused,
    ];

    /// Its name in smb.conf and in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Open => "open",
            Self::Close => "close",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Copy => "copy",
            Self::Delete => "delete",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::Refused => "refused",
        }
    }
}

/// A set of [`AuditEvent`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditEvents(u16);

impl AuditEvents {
    /// All of them.
    pub const ALL: Self = Self(0x3ff);

    /// Reads a list of names, `all` and `none`; `!NAME` removes one, as in Samba's full_audit.
    ///
    /// # Errors
    /// Which values are valid.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let mut set = match words.first() {
            Some(word) if word.starts_with('!') => Self::ALL,
            _ => Self(0),
        };
        for word in words {
            let lower = word.to_ascii_lowercase();
            let (name, adds) = match lower.strip_prefix('!') {
                Some(name) => (name, false),
                None => (lower.as_str(), true),
            };
            let bits = match name {
                "all" => Self::ALL.0,
                "none" => 0,
                _ => Self::bit(Self::named(word, name)?),
            };
            set.0 = if adds { set.0 | bits } else { set.0 & !bits };
        }
        Ok(set)
    }

    fn named(word: &str, name: &str) -> Result<AuditEvent, String> {
        let found = AuditEvent::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| {
            let names = AuditEvent::ALL.map(AuditEvent::name).join(", ");
            format!("'{word}' is none of {names}, all and none")
        })
    }

    fn bit(event: AuditEvent) -> u16 {
        1 << event as u16
    }

    /// Whether it is one of them.
    pub fn has(self, event: AuditEvent) -> bool {
        self.0 & Self::bit(event) != 0
    }
}

impl std::fmt::Display for AuditEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::ALL => f.write_str("all"),
            Self(0) => f.write_str("none"),
            set => {
                let kept = AuditEvent::ALL.into_iter().filter(|one| set.has(*one));
                let names: Vec<&str> = kept.map(AuditEvent::name).collect();
                f.write_str(&names.join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_target_reads_as_it_is_written() {
        for text in [
            "/var/log/a.jsonl",
            "relative",
            "journal",
            "syslog",
            "syslog:local5",
        ] {
            let target = AuditTarget::parse(text).unwrap().unwrap();
            assert_eq!(target.to_string(), text);
        }
        assert_eq!(
            AuditTarget::parse("SYSLOG:Authpriv"),
            Ok(Some(AuditTarget::Syslog(10)))
        );
        assert_eq!(AuditTarget::parse("no"), Ok(None));
        for wrong in ["yes", "syslog:local8", "syslog:"] {
            assert!(AuditTarget::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_list_of_events_takes_away_what_follows_an_exclamation_mark() {
        let read = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(String::from).collect();
            AuditEvents::parse(&words).map(|set| set.to_string())
        };
        assert_eq!(read("all").as_deref(), Ok("all"));
        assert_eq!(
            read("Open close !open delete").as_deref(),
            Ok("close delete")
        );
        assert_eq!(
            read("!open !close !connect !copy !link").as_deref(),
            Ok("rename delete mkdir rmdir refused")
        );
        assert_eq!(read("none").as_deref(), Ok("none"));
        assert!(read("open pread").unwrap_err().contains("'pread'"));
    }
}
