//! Who may log on: the users of the command line and those of the password file.

use std::{fs::File, io::Read, os::unix::fs::MetadataExt, path::Path};

use anyhow::{Context, Result};
use coax_logon::accounts::Accounts;
use zeroize::Zeroizing;

use coax_smbconf::{diagnostic::Diagnostic, settings::Settings};

/// The largest password file read, bytes: some 100,000 users.
const MAX_PASSWORD_FILE: u64 = 16 << 20;

/// All who may log on.
///
/// # Errors
/// A user named twice; a password file that cannot be read, and where.
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

/// The text of a password file, overwritten when it is no longer needed, and the file's permission bits.
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

/// Hashes are as good as passwords for logging on: nobody else should read them.
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

/// Names of users in the shares' lists that nobody can log on with.
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
                    "[{}]: '{parameter}' names {}, which is no user",
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
