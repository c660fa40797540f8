//! Entries of the password file.

use std::path::Path;

use coax_serve::users::{FileError, Page, PasswordFile, Passwords};
use coax_wire::codepage::CodePage;
use zeroize::Zeroizing;

/// A user and the password.
pub struct NewUser {
    /// The name.
    pub name: String,
    /// The password.
    pub password: Zeroizing<String>,
}

/// Users of the file who can log on already; with `lm`, by LM responses too.
///
/// # Errors
/// The file cannot be read.
pub fn known(path: &Path, lm: bool) -> Result<Vec<String>, FileError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = PasswordFile::bytes(path)?;
    let users = PasswordFile::users(&bytes).into_iter();
    let users = users.filter_map(|(_, user)| user.ok());
    let usable = users.filter(|user| {
        let any = user.nt_hash.is_some() || user.lm_hash.is_some();
        !user.disabled && any && (user.lm_hash.is_some() || !lm)
    });
    Ok(usable.map(|user| user.name).collect())
}

/// Whether a client that sends LM responses can log on with the password: it has at most 14 characters, all of the clients' code page.
pub fn has_lm_hash(password: &str) -> bool {
    let passwords = Passwords::of(password, &Page(CodePage::cp850()), true);
    matches!(passwords, Passwords::Hashes { lm: Some(_), .. })
}

/// Enters users into a copy of the password file.
///
/// # Errors
/// The copy cannot be changed.
pub fn enter(copy: &Path, users: &[NewUser], lm: bool) -> Result<(), FileError> {
    let mut file = PasswordFile::open(copy, false)?;
    let page = Page(CodePage::cp850());
    for user in users {
        file.set(&user.name, Passwords::of(&user.password, &page, lm));
    }
    file.save()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn user(name: &str) -> NewUser {
        NewUser {
            name: name.into(),
            password: Zeroizing::new("secret".into()),
        }
    }

    #[test]
    fn a_user_without_an_lm_hash_is_not_known_to_a_server_of_dos_machines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("users");
        std::fs::write(&file, "").unwrap();
        enter(&file, &[user("anna")], false).unwrap();
        enter(&file, &[user("bob")], true).unwrap();
        assert_eq!(known(&file, false).unwrap(), ["anna", "bob"]);
        assert_eq!(known(&file, true).unwrap(), ["bob"]);
    }

    #[test]
    fn passwords_of_more_than_14_characters_have_no_lm_hash() {
        assert!(has_lm_hash("fourteen chars"));
        assert!(!has_lm_hash("fifteen chars..") && !has_lm_hash("ключ"));
    }
}
