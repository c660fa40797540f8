//! The shares of the command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{ServeArgs, ServeError};
use coax_smbconf::diagnostic::Diagnostic;
use coax_smbconf::settings::{GuestAccess, ShareSettings};

/// The longest share name that DOS and Windows 9x list (KB Q160843); they list none with a space (KB Q145949).
const NAME_MAX: usize = 12;

/// `NAME=DIR`, `NAME=DIR:ro` or `NAME=DIR:rw`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareArg {
    /// The share's name.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
    /// Nobody may write.
    pub read_only: bool,
}

impl FromStr for ShareArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, dir) = text
            .split_once('=')
            .ok_or("write NAME=DIR, as GAMES=/srv/games")?;
        if share_name(name) != name.to_uppercase() {
            return Err(format!(
                "old clients see no share named '{name}'; '{}' would do",
                share_name(name)
            ));
        }
        let (dir, read_only) = match (dir.strip_suffix(":ro"), dir.strip_suffix(":rw")) {
            (Some(dir), _) => (dir, true),
            (_, Some(dir)) => (dir, false),
            _ => (dir, false),
        };
        if dir.is_empty() {
            return Err("write NAME=DIR, as GAMES=/srv/games".into());
        }
        Ok(Self {
            name: name.to_uppercase(),
            dir: dir.into(),
            read_only,
        })
    }
}

/// A share name made from a folder's: upper case, at most 12 characters, letters, digits and what else DOS allows.
pub fn share_name(folder: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'()-@^_`{}~".contains(c);
    let name: String = folder
        .trim()
        .chars()
        .take(NAME_MAX)
        .map(|c| {
            if allowed(c) {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    let device = |n: &str| {
        matches!(n, "CON" | "PRN" | "AUX" | "NUL")
            || (n.len() == 4 && (n.starts_with("LPT") || n.starts_with("COM")))
    };
    match name.as_str() {
        "" => "SHARE".into(),
        "IPC$" | "ADMIN$" | "PRINT$" => name.replace('$', "_"),
        n if device(n) => format!("{n}_"),
        _ => name,
    }
}

/// `DIR` and every `--share`, beginning as `template`.
pub(super) fn from_arguments(
    args: &ServeArgs,
    template: &ShareSettings,
) -> Result<Vec<ShareSettings>, ServeError> {
    let mut arguments = Vec::new();
    if let Some(dir) = &args.dir {
        let folder = folder(dir)?;
        let name = folder
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        arguments.push(ShareArg {
            name: share_name(&name),
            dir: folder,
            read_only: false,
        });
    }
    arguments.extend(args.shares.iter().cloned());
    arguments
        .into_iter()
        .map(|share| settings(&share, args.guest_access(), template))
        .collect()
}

fn settings(
    share: &ShareArg,
    guest: GuestAccess,
    template: &ShareSettings,
) -> Result<ShareSettings, ServeError> {
    let folder = folder(&share.dir)?;
    let path = folder
        .to_str()
        .ok_or_else(|| failed(&share.dir, "its name is not UTF-8"))?;
    Ok(ShareSettings {
        name: share.name.clone(),
        path: path.replace('%', "%%"),
        read_only: share.read_only,
        guest_ok: guest != GuestAccess::None,
        guest_read_only: guest != GuestAccess::Rw,
        ..template.clone()
    })
}

/// The folder's full path, if it is one.
fn folder(dir: &Path) -> Result<PathBuf, ServeError> {
    let path = dir
        .canonicalize()
        .map_err(|error| failed(dir, &error.to_string()))?;
    if path.is_dir() {
        Ok(path)
    } else {
        Err(failed(dir, "it is not a folder"))
    }
}

fn failed(dir: &Path, why: &str) -> ServeError {
    ServeError::Failed(vec![Diagnostic::error(format!(
        "cannot share '{}': {why}",
        dir.display()
    ))])
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;

    #[test]
    fn a_folder_gives_a_share_name_that_every_client_lists() {
        for (folder, name) in [
            ("share", "SHARE"),
            ("My Documents 2024", "MY_DOCUMENTS"),
            ("Spiele-ä", "SPIELE-_"),
            ("", "SHARE"),
            ("con", "CON_"),
            ("lpt1", "LPT1_"),
            ("ipc$", "IPC_"),
        ] {
            assert_eq!(share_name(folder), name);
        }
    }

    #[test]
    fn a_share_argument_has_a_name_a_folder_and_perhaps_a_right() {
        let share = |text: &str| text.parse::<ShareArg>();
        assert_eq!(
            share("games=/srv/g:ro"),
            Ok(ShareArg {
                name: "GAMES".into(),
                dir: "/srv/g".into(),
                read_only: true
            })
        );
        assert_eq!(
            share("G=/srv/a:b=c"),
            Ok(ShareArg {
                name: "G".into(),
                dir: "/srv/a:b=c".into(),
                read_only: false
            })
        );
        for wrong in ["games", "=dir", "games=", "g=:ro"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
        assert!(share("my games=/x").unwrap_err().contains("MY_GAMES"));
    }
}
