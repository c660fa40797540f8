//! One line of a password file: `name:uid:LM hash:NT hash:[flags]:LCT-time:`.

use std::fmt::Write;

use coax_logon::{
    hash::{lm_hash, nt_hash},
    secret::Hash,
    text::{OemCodePage, upper},
};
use zeroize::Zeroizing;

/// The longest user name, characters; Windows NT's own limit is 20 (LM20_UNLEN), later systems' 256.
const NAME_MAX: usize = 256;
/// Characters between the brackets of the flags.
const FLAGS_WIDTH: usize = 11;
/// The uid for a user that this machine does not know: that of `nobody`.
const NO_UNIX_USER: &str = "65534";

/// Checks that the name is valid for a user.
///
/// # Errors
/// The reason the name is invalid.
pub fn check_name(name: &str) -> Result<(), String> {
    let bad = |c: char| c == ':' || c.is_control();
    if name.is_empty() || name.trim() != name || name.chars().count() > NAME_MAX {
        return Err(format!(
            "a user name has 1 to {NAME_MAX} characters and no blank at its ends"
        ));
    }
    if name.starts_with('#') || name.contains(bad) {
        return Err(format!(
            "'{}' cannot be a user name: write one without # at its start, colons and control characters",
            name.escape_debug()
        ));
    }
    Ok(())
}

/// The stored credentials of a user.
#[derive(Clone, Debug)]
pub enum Passwords {
    /// The hashes of a password.
    Hashes {
        /// The LM hash, for DOS and Windows 9x; `None` if the password is too long or has characters that the code page
        /// lacks.
        lm: Option<Hash>,
        /// The NT hash, for all other clients.
        nt: Hash,
    },
    /// The account has no password; `null passwords` must allow that.
    None,
}

impl Passwords {
    /// The hashes of `password`, without the LM hash if it is not wanted.
    pub fn of(password: &str, page: &dyn OemCodePage, with_lm: bool) -> Self {
        Self::Hashes {
            lm: lm_hash(password, page).filter(|_| with_lm),
            nt: nt_hash(password),
        }
    }
}

/// The needed fields of a user's line; the rest is kept unchanged.
#[derive(Clone, Debug)]
pub struct Entry {
    name: String,
    uid: String,
    passwords: Passwords,
    flags: String,
}

impl Entry {
    /// A new user.
    pub fn new(name: &str, passwords: Passwords) -> Self {
        let mut entry = Self {
            name: name.into(),
            uid: unix_uid(name).unwrap_or_else(|| NO_UNIX_USER.into()),
            passwords: Passwords::None,
            flags: "U".into(),
        };
        entry.set_passwords(passwords);
        entry
    }

    /// The user of `line` with other passwords; name, uid and other flags stay.
    pub fn with_passwords(line: &str, passwords: Passwords) -> Self {
        let mut fields = line.trim_end().split(':');
        let mut entry = Self::new(fields.next().unwrap_or_default(), passwords.clone());
        let number = fields.next().unwrap_or_default();
        if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
            entry.uid = number.into();
        }
        if let Some(flags) = fields.nth(2).and_then(flags_of) {
            entry.flags = flags;
        }
        entry.set_passwords(passwords);
        entry
    }

    fn set_passwords(&mut self, passwords: Passwords) {
        self.flags.retain(|flag| flag != 'N');
        if matches!(passwords, Passwords::None) {
            self.flags.insert(0, 'N');
        }
        self.passwords = passwords;
    }

    /// Formats the line; `now` is the time of the change, seconds since 1970.
    pub fn line(&self, now: u64) -> Zeroizing<String> {
        let mut line = Zeroizing::new(String::with_capacity(self.name.len().saturating_add(256)));
        let (lm, nt) = match &self.passwords {
            Passwords::None => {
                let none = Zeroizing::new(format!("NO PASSWORD{}", "X".repeat(21)));
                (none.clone(), none)
            }
            Passwords::Hashes { lm, nt } => (hex(lm.as_ref()), hex(Some(nt))),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            line,
            "{}:{}:{}:{}:[{:FLAGS_WIDTH$}]:LCT-{now:08X}:",
            self.name, self.uid, *lm, *nt, self.flags
        );
        line
    }
}

/// `line` with the account disabled or enabled; `None` if it has no flags field.
pub fn with_disabled(line: &str, disabled: bool) -> Option<Zeroizing<String>> {
    let (before, rest) = line.split_once('[')?;
    let (flags, after) = rest.split_once(']')?;
    let mut flags: String = flags.chars().filter(|c| !matches!(c, 'D' | ' ')).collect();
    if disabled {
        flags.insert(0, 'D');
    }
    Some(Zeroizing::new(format!(
        "{before}[{flags:FLAGS_WIDTH$}]{after}"
    )))
}

/// Whether `line` describes the user with that name, ignoring case.
pub fn is_about(line: &[u8], name: &str) -> bool {
    let own = line.split(|b| *b == b':').next().unwrap_or_default();
    line.contains(&b':')
        && !own.starts_with(b"#")
        && upper(&String::from_utf8_lossy(own)) == upper(name)
}

fn flags_of(field: &str) -> Option<String> {
    let flags = field.strip_prefix('[')?.strip_suffix(']')?;
    Some(flags.chars().filter(|c| *c != ' ').collect())
}

fn hex(hash: Option<&Hash>) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(32));
    match hash {
        None => text.push_str(&"X".repeat(32)),
        Some(hash) => {
            for byte in hash.as_bytes() {
                // Writing to a string does not fail.
                let _ = write!(text, "{byte:02X}");
            }
        }
    }
    text
}

/// The uid of the local user with that name, so that Samba can use the file too.
fn unix_uid(name: &str) -> Option<String> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then(|| fields.nth(1).map(String::from))?
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use coax_logon::{accounts::User, text::Ascii};

    #[test]
    fn a_line_reads_back_as_the_user_with_that_password() {
        let passwords = Passwords::of("Secret", &Ascii, true);
        let line = Entry::new("no such user here", passwords).line(0x65a0_b1c2);
        assert!(line.starts_with("no such user here:65534:"), "{}", *line);
        assert!(
            line.ends_with(":[U          ]:LCT-65A0B1C2:\n"),
            "{}",
            *line
        );
        let read = User::from_smbpasswd_line(&line).unwrap();
        let made = User::with_password("no such user here", "Secret", &Ascii);
        assert_eq!((read.lm_hash, read.nt_hash), (made.lm_hash, made.nt_hash));
    }

    #[test]
    fn a_long_password_and_an_unwanted_lm_hash_leave_the_field_empty() {
        for (password, with_lm) in [("fifteen letters", true), ("short", false)] {
            let line = Entry::new("bob", Passwords::of(password, &Ascii, with_lm)).line(0);
            let read = User::from_smbpasswd_line(&line).unwrap();
            assert!(read.lm_hash.is_none() && read.nt_hash.is_some());
        }
        let read = Entry::new("bob", Passwords::None).line(0);
        assert!(User::from_smbpasswd_line(&read).unwrap().no_password);
    }

    #[test]
    fn another_password_keeps_number_and_flags_and_takes_n_away() {
        let old = format!("Bob:77:{0}:{0}:[NDU        ]:LCT-00000000:", "X".repeat(32));
        let line = Entry::with_passwords(&old, Passwords::of("x", &Ascii, true)).line(1);
        assert!(
            line.starts_with("Bob:77:") && line.contains(":[DU         ]:"),
            "{}",
            *line
        );
    }

    #[test]
    fn an_account_is_disabled_and_enabled_by_its_flag_alone() {
        let old = "bob:1:X:Y:[U          ]:LCT-0:further\n";
        let off = with_disabled(old, true).unwrap();
        assert_eq!(*off, "bob:1:X:Y:[DU         ]:LCT-0:further\n");
        assert_eq!(*with_disabled(&off, false).unwrap(), old);
        assert!(with_disabled("bob:1:X:Y:LCT-0:", true).is_none());
    }

    #[test]
    fn names_that_would_break_the_file_are_refused() {
        for name in ["", " bob", "a:b", "a\nb", "#bob", &"x".repeat(257)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        check_name("Jörg B. 'x'").unwrap();
        assert!(is_about(b"BOB:1:", "bob") && !is_about(b"#bob:1:", "#bob"));
        assert!(!is_about(b"bob", "bob"));
    }
}
