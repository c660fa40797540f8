//! Users: from `NAME:PASSWORD`, and from smbpasswd files.

use crate::hash::{lm_hash, lm_hash_of_oem, nt_hash};
use crate::secret::Hash;
use crate::text::{OemCodePage, upper};
use alloc::collections::BTreeMap;
use alloc::string::String;
use thiserror::Error;
use zeroize::Zeroizing;

/// An account that may log on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, as configured.
    pub name: String,
    /// The LM hash; `None` if the password has none or it was not stored.
    pub lm_hash: Option<Hash>,
    /// The NT hash.
    pub nt_hash: Option<Hash>,
    /// The NT hash of the upper-cased password, where the configuration gave the password: clients that upper-case
    /// plaintext passwords are compared with it. The password itself is not kept.
    pub upper_nt_hash: Option<Hash>,
    /// The account is disabled.
    pub disabled: bool,
    /// The account needs no password, if the policy allows that.
    pub no_password: bool,
}

/// An error in a line that describes a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UserError {
    /// No colon between name and password.
    #[error("expected NAME:PASSWORD")]
    NoColon,
    /// Nothing before the first colon.
    #[error("the user name is empty")]
    NoName,
    /// Fewer than the four fields name, uid, LM hash, NT hash.
    #[error("expected name:uid:LM hash:NT hash:[flags]:LCT-time:")]
    TooFewFields,
    /// The second field is not a number.
    #[error("the uid is not a number")]
    BadUid,
    /// A hash that is neither 32 hexadecimal digits, nor 32 X, nor `NO PASSWORD` and X.
    #[error("the {0} hash is neither 32 hexadecimal digits nor 32 times X")]
    BadHash(&'static str),
    /// The flags are not enclosed in brackets.
    #[error("the account flags are not enclosed in [ ]")]
    BadFlags,
    /// An undefined flag.
    #[error("unknown account flag {0:?}")]
    UnknownFlag(char),
    /// The user is defined twice.
    #[error("this user was already named above")]
    Duplicate,
}

/// A [`UserError`] and where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {error}")]
pub struct FileError {
    /// The line, counted from 1.
    pub line: usize,
    /// The error.
    pub error: UserError,
}

impl User {
    /// A user with this password.
    pub fn with_password(name: &str, password: &str, page: &dyn OemCodePage) -> Self {
        Self {
            name: name.into(),
            lm_hash: lm_hash(password, page),
            nt_hash: Some(nt_hash(password)),
            upper_nt_hash: Some(nt_hash(&Zeroizing::new(upper(password)))),
            ..Self::default()
        }
        .without_empty_password()
    }

    /// A user from `NAME:PASSWORD`; the password may contain colons and may be empty.
    pub fn from_name_and_password(text: &str, page: &dyn OemCodePage) -> Result<Self, UserError> {
        let (name, password) = text.split_once(':').ok_or(UserError::NoColon)?;
        if name.is_empty() {
            return Err(UserError::NoName);
        }
        Ok(Self::with_password(name, password, page))
    }

    /// A user from one line of an smbpasswd file, `name:uid:LM hash:NT hash:[flags]:LCT-time:`. The uid and the time of
    /// the last change are not used. Without flags (files from before 1998) the user is an ordinary one.
    pub fn from_smbpasswd_line(line: &str) -> Result<Self, UserError> {
        let mut fields = line.trim_end().split(':');
        let name = fields
            .next()
            .filter(|name| !name.is_empty())
            .ok_or(UserError::NoName)?;
        let uid = fields.next().ok_or(UserError::TooFewFields)?;
        if uid.is_empty() || !uid.bytes().all(|b| b.is_ascii_digit()) {
            return Err(UserError::BadUid);
        }
        let lm = StoredHash::parse(fields.next().ok_or(UserError::TooFewFields)?, "LM")?;
        let nt = StoredHash::parse(fields.next().ok_or(UserError::TooFewFields)?, "NT")?;
        let no_password = lm == StoredHash::NoPassword || nt == StoredHash::NoPassword;
        let user = Self {
            name: name.into(),
            lm_hash: lm.known(),
            nt_hash: nt.known(),
            no_password,
            ..Self::default()
        }
        .without_empty_password();
        match fields.next() {
            Some(flags) if flags.starts_with('[') => user.with_flags(flags),
            Some(rest) if !rest.is_empty() && !rest.starts_with("LCT-") => Err(UserError::BadFlags),
            _ => Ok(user),
        }
    }

    /// An account with an empty password counts as one without a password, so that `null passwords` decides. An LM hash
    /// of the empty password beside an NT hash of another means that the password is too long for an LM hash.
    fn without_empty_password(mut self) -> Self {
        let empty_lm = lm_hash_of_oem(&[]);
        if self.lm_hash.is_some() && self.lm_hash == empty_lm {
            self.lm_hash = None;
            self.no_password |= self.nt_hash.is_none();
        }
        if self
            .nt_hash
            .as_ref()
            .is_some_and(|hash| *hash == nt_hash(""))
        {
            self.no_password = true;
        }
        self
    }

    /// D disabled, L locked, N no password. Trust accounts (W, S, I) belong to machines; users cannot log on with them.
    fn with_flags(mut self, field: &str) -> Result<Self, UserError> {
        let flags = field
            .strip_prefix('[')
            .and_then(|f| f.strip_suffix(']'))
            .ok_or(UserError::BadFlags)?;
        for flag in flags.chars() {
            match flag {
                'D' | 'L' | 'W' | 'S' | 'I' => self.disabled = true,
                'N' => self.no_password = true,
                'U' | 'X' | 'H' | 'T' | 'M' | ' ' => {}
                other => return Err(UserError::UnknownFlag(other)),
            }
        }
        Ok(self)
    }
}

/// A hash field of an smbpasswd line.
#[derive(PartialEq, Eq)]
enum StoredHash {
    Known(Hash),
    Unknown,
    NoPassword,
}

impl StoredHash {
    fn parse(field: &str, which: &'static str) -> Result<Self, UserError> {
        let bytes = field.as_bytes();
        if bytes.len() != 32 {
            return Err(UserError::BadHash(which));
        }
        if field.starts_with("NO PASSWORD") {
            return Ok(Self::NoPassword);
        }
        if bytes.iter().all(|b| matches!(b, b'X' | b'*')) {
            return Ok(Self::Unknown);
        }
        let mut hash = [0u8; 16];
        for (to, [high, low]) in hash.iter_mut().zip(bytes.as_chunks::<2>().0) {
            let digits = digit(*high)
                .zip(digit(*low))
                .ok_or(UserError::BadHash(which))?;
            *to = (digits.0 << 4) | digits.1;
        }
        Ok(Self::Known(Hash::new(hash)))
    }

    fn known(self) -> Option<Hash> {
        match self {
            Self::Known(hash) => Some(hash),
            Self::Unknown | Self::NoPassword => None,
        }
    }
}

fn digit(ascii: u8) -> Option<u8> {
    char::from(ascii)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// All users of a server, found by name without regard to case.
#[derive(Clone, Debug, Default)]
pub struct Accounts(BTreeMap<String, User>);

impl Accounts {
    /// The users of an smbpasswd file. Empty lines and lines that begin with `#` are skipped.
    pub fn from_smbpasswd(text: &str) -> Result<Self, FileError> {
        let mut accounts = Self::default();
        accounts.add_smbpasswd(text)?;
        Ok(accounts)
    }

    /// Adds the users of an smbpasswd file; on an error, the users before it stay added.
    pub fn add_smbpasswd(&mut self, text: &str) -> Result<(), FileError> {
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            User::from_smbpasswd_line(line)
                .and_then(|user| self.add(user))
                .map_err(|error| FileError {
                    line: index.saturating_add(1),
                    error,
                })?;
        }
        Ok(())
    }

    /// Adds a user whose name must not exist yet.
    pub fn add(&mut self, user: User) -> Result<(), UserError> {
        let key = upper(&user.name);
        if self.0.contains_key(&key) {
            return Err(UserError::Duplicate);
        }
        self.0.insert(key, user);
        Ok(())
    }

    /// The user with that name, ignoring case.
    pub fn find(&self, name: &str) -> Option<&User> {
        self.0.get(&upper(name))
    }

    /// All users, by upper-cased name.
    pub fn iter(&self) -> impl Iterator<Item = &User> {
        self.0.values()
    }

    /// Whether there are no users.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testing::hex_array;
    use crate::text::Ascii;
    use alloc::format;
    use alloc::string::ToString;

    const LINE: &str = "bob:1001:E52CAC67419A9A224A3B108F3FA6CB6D:a4f49c406510bdcab6824ee7c30fd852:[U          ]:LCT-65A0B1C2:";

    #[test]
    fn name_and_password_give_both_hashes() {
        let user = User::from_name_and_password("bob:Password", &Ascii).unwrap();
        assert_eq!(user.name, "bob");
        assert_eq!(
            user.lm_hash,
            Some(hex_array("e52cac67419a9a224a3b108f3fa6cb6d").into())
        );
        assert_eq!(
            user.nt_hash,
            Some(hex_array("a4f49c406510bdcab6824ee7c30fd852").into())
        );
    }

    #[test]
    fn a_password_may_contain_colons_and_be_too_long_for_an_lm_hash() {
        let user = User::from_name_and_password("bob:a:much:longer:password", &Ascii).unwrap();
        assert_eq!(user.nt_hash, Some(nt_hash("a:much:longer:password")));
        assert_eq!(user.upper_nt_hash, Some(nt_hash("A:MUCH:LONGER:PASSWORD")));
        assert_eq!(user.lm_hash, None);
    }

    #[test]
    fn a_name_without_password_or_name_is_refused() {
        assert_eq!(
            User::from_name_and_password("bob", &Ascii),
            Err(UserError::NoColon)
        );
        assert_eq!(
            User::from_name_and_password(":x", &Ascii),
            Err(UserError::NoName)
        );
    }

    #[test]
    fn an_smbpasswd_line_gives_the_same_hashes_as_the_password() {
        let read = User::from_smbpasswd_line(LINE).unwrap();
        let made = User::with_password("bob", "Password", &Ascii);
        assert_eq!(
            (&read.lm_hash, &read.nt_hash),
            (&made.lm_hash, &made.nt_hash)
        );
        assert!(!read.disabled && !read.no_password && read.upper_nt_hash.is_none());
    }

    #[test]
    fn an_empty_password_is_no_password_wherever_it_comes_from() {
        const NO_NT: &str = "31d6cfe0d16ae931b73c59d7e0c089c0";
        const NO_LM: &str = "AAD3B435B51404EEAAD3B435B51404EE";
        const NT: &str = "a4f49c406510bdcab6824ee7c30fd852";
        let x = "X".repeat(32);
        let read = |lm: &str, nt: &str| {
            User::from_smbpasswd_line(&format!("a:1:{lm}:{nt}:[U          ]:LCT-0:")).unwrap()
        };
        assert!(
            User::from_name_and_password("eve:", &Ascii)
                .unwrap()
                .no_password
        );
        assert!(
            !User::from_name_and_password("eve:x", &Ascii)
                .unwrap()
                .no_password
        );
        assert!(read(NO_LM, NO_NT).no_password && read(&x, NO_NT).no_password);
        assert!(read(NO_LM, &x).no_password);
        let long = read(NO_LM, NT);
        assert!(!long.no_password && long.lm_hash.is_none() && long.nt_hash.is_some());
    }

    #[test]
    fn flags_disable_an_account_or_remove_its_password() {
        let x = "X".repeat(32);
        let read =
            |flags| User::from_smbpasswd_line(&format!("a:1:{x}:{x}:{flags}:LCT-0:")).unwrap();
        assert!(read("[DU         ]").disabled);
        assert!(read("[W          ]").disabled);
        assert!(read("[NU         ]").no_password);
        assert!(read("[U          ]").nt_hash.is_none());
        let none =
            User::from_smbpasswd_line(&format!("a:1:NO PASSWORD{}:{x}", "X".repeat(21))).unwrap();
        assert!(none.no_password);
    }

    #[test]
    fn errors_name_the_line_and_what_is_wrong_with_it() {
        let say = |line: &str| {
            Accounts::from_smbpasswd(&format!("# users\n\n{LINE}\n{line}\n"))
                .unwrap_err()
                .to_string()
        };
        let x = "X".repeat(32);
        assert_eq!(
            say("eve:12"),
            "line 4: expected name:uid:LM hash:NT hash:[flags]:LCT-time:"
        );
        assert_eq!(
            say(&format!("eve:me:{x}:{x}")),
            "line 4: the uid is not a number"
        );
        assert_eq!(
            say(&format!("eve:1:{x}:12G4")),
            "line 4: the NT hash is neither 32 hexadecimal digits nor 32 times X"
        );
        assert_eq!(
            say(&format!("eve:1:{x}:{x}:[U?]:")),
            "line 4: unknown account flag '?'"
        );
        assert_eq!(
            say(&format!("eve:1:{x}:{x}:[U :")),
            "line 4: the account flags are not enclosed in [ ]"
        );
        assert_eq!(
            say(&format!("BOB:1:{x}:{x}:[U]:")),
            "line 4: this user was already named above"
        );
    }

    #[test]
    fn users_are_found_in_any_case() {
        let accounts = Accounts::from_smbpasswd(LINE).unwrap();
        assert_eq!(accounts.find("BoB").unwrap().name, "bob");
        assert_eq!(accounts.find("alice"), None);
    }

    #[test]
    fn debug_output_holds_neither_password_nor_hash() {
        let printed = format!("{:?}", User::with_password("bob", "Password", &Ascii));
        assert!(printed.contains("bob"));
        for secret in [
            "Password",
            "229",
            "0xe5",
            "E52C",
            "e52c",
            "164",
            "a4f4",
            "80, 97, 115",
        ] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_of_smbpasswd_files_panic(text: alloc::string::String, hash in "[0-9a-gX:]{28,36}") {
            let _ = Accounts::from_smbpasswd(&text);
            let _ = User::from_smbpasswd_line(&format!("a:1:{hash}:{hash}:{text}"));
            let _ = User::from_name_and_password(&text, &Ascii);
        }
    }
}
