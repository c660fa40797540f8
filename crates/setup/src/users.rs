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

/// Users of the file who can log on already.
///
/// # Errors
/// The file cannot be read.
pub fn known(path: &Path) -> Result<Vec<String>, FileError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = PasswordFile::bytes(path)?;
    let users = PasswordFile::users(&bytes).into_iter();
    let users = users.filter_map(|(_, user)| user.ok());
    let usable =
        users.filter(|user| !user.disabled && (user.nt_hash.is_some() || user.lm_hash.is_some()));
    Ok(usable.map(|user| user.name).collect())
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
