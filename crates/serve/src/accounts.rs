//! The accounts that may log on: users from the command line and from the password file.

use std::{fs::File, io::Read, os::unix::fs::MetadataExt, path::Path};

use anyhow::{Context, Result};
use coax_logon::accounts::Accounts;
use zeroize::Zeroizing;

use coax_smbconf::{diagnostic::Diagnostic, settings::Settings};

/// The largest password file read, bytes: some 100,000 users.
const MAX_PASSWORD_FILE: u64 = 16 << 20;

/// Collects all accounts that may log on.
///
/// # Errors
/// A user is defined twice, or the password file cannot be read; the error gives the place.
pub(super) fn accounts(settings: &Settings, warnings: &mut Vec<Diagnostic>) -> Result<Accounts> {
    let mut accounts = Accounts::default();
    for user in &settings.users {
        let added = accounts.add(user.clone());
        added.with_context(|| format!("user {}", user.name))?;
    }
    if let Some(path) = settings.global.password_file() {
        let (text, mode) = password_file(path)
            .with_context(|| format!("cannot read the password file {}", path.display()))?;
        warnings.extend(readable_by_others(path, mode));
        accounts
            .add_smbpasswd(&text)
            .with_context(|| path.display().to_string())?;
    }
    Ok(accounts)
}

/// Reads a password file and its permission bits. The text is overwritten in memory when it is dropped.
fn password_file(path: &Path) -> std::io::Result<(Zeroizing<String>, u32)> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    let room = usize::try_from(found.len()).unwrap_or(0);
    if found.len() > MAX_PASSWORD_FILE {
        return Err(std::io::Error::other(format!(
            "it is longer than {MAX_PASSWORD_FILE} bytes"
        )));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(room.saturating_add(1)));
    file.take(MAX_PASSWORD_FILE).read_to_end(&mut bytes)?;
    let text = Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned());
    Ok((text, found.mode()))
}

/// Warns if other users can read the file: a hash is enough to log on, as a password is.
fn readable_by_others(path: &Path, mode: u32) -> Option<Diagnostic> {
    let who = match (mode & 0o004 != 0, mode & 0o040 != 0) {
        (true, _) => "every user of this machine",
        (false, true) => "its group",
        (false, false) => return None,
    };
    let path = path.display();
    let message = format!("{who} can read the password hashes in {path}");
    Some(Diagnostic::warning(message).help(format!("run: chmod 600 '{path}'")))
}

/// User names in the shares' lists that have no account.
pub(super) fn unknown_users(settings: &Settings, accounts: &Accounts) -> Vec<Diagnostic> {
    let guest = settings.global.guest_account.as_str();
    let is_unknown = |name: &&str| {
        !name.contains('%') && !name.eq_ignore_ascii_case(guest) && accounts.find(name).is_none()
    };
    let mut said = Vec::new();
    for share in settings.shares.iter().filter(|share| share.available) {
        for (parameter, list) in [
            ("valid users", &share.valid_users),
            ("read list", &share.read_list),
            ("write list", &share.write_list),
        ] {
            let unknown: Vec<&str> = list.iter().filter(is_unknown).collect();
            if !unknown.is_empty() {
                let message = format!(
                    "[{}]: '{parameter}' names {}, which is not a user",
                    share.name,
                    unknown.join(", ")
                );
                let help = "'coax user add' adds users to the password file";
                said.push(Diagnostic::warning(message).help(help));
            }
        }
    }
    said
}
