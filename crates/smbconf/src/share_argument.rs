//! Shares of the command line, converted to the equivalent section of smb.conf.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::diagnostic::Diagnostic;
use crate::settings::{GuestAccess, ShareSettings};
use crate::table::{Effect, find};

/// Maximum length of a share name that DOS and Windows 9x list (KB Q160843); they list no name with a space (KB
/// Q145949).
const NAME_MAX: usize = 12;

/// `NAME=DIR`, `NAME=DIR:ro` or `NAME=DIR:rw`, as in `--share`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareArg {
    /// The share's name.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
    /// The share is read-only.
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
                "old clients see no share named '{name}': name it '{}'",
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

/// Derives a share name from a folder name: upper case, at most 12 characters, letters, digits and other characters
/// that DOS allows.
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

impl ShareArg {
    /// A share named after its folder.
    ///
    /// # Errors
    /// The folder does not exist.
    pub fn of_folder(dir: &Path) -> Result<Self, Diagnostic> {
        let dir = folder(dir)?;
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: share_name(&name),
            read_only: false,
            dir,
        })
    }

    /// The share's settings; `template` supplies the rest.
    ///
    /// # Errors
    /// The folder does not exist, or its name is not UTF-8.
    pub fn settings(
        &self,
        guest: GuestAccess,
        template: &ShareSettings,
    ) -> Result<ShareSettings, Diagnostic> {
        let folder = folder(&self.dir)?;
        let path = folder
            .to_str()
            .ok_or_else(|| refused(&self.dir, "its name is not UTF-8"))?;
        let yes_no = |on| if on { "yes" } else { "no" };
        let mut share = ShareSettings {
            name: self.name.clone(),
            ..template.clone()
        };
        for (parameter, value) in [
            ("path", path.replace('%', "%%").as_str()),
            ("read only", yes_no(self.read_only)),
            ("guest ok", yes_no(guest != GuestAccess::None)),
            ("coax:guest read only", yes_no(guest != GuestAccess::Rw)),
        ] {
            set(&mut share, parameter, value).map_err(|why| refused(&self.dir, &why))?;
        }
        Ok(share)
    }
}

/// Sets a parameter as its line in smb.conf would.
fn set(share: &mut ShareSettings, parameter: &str, value: &str) -> Result<(), String> {
    match find(parameter).map(|found| found.parameter.effect) {
        Some(Effect::Share(slot)) => (slot.set)(share, value).map(drop),
        _ => Err(format!("shares have no parameter '{parameter}'")),
    }
}

/// The absolute path of a folder.
fn folder(dir: &Path) -> Result<PathBuf, Diagnostic> {
    let path = dir
        .canonicalize()
        .map_err(|error| refused(dir, &error.to_string()))?;
    if path.is_dir() {
        Ok(path)
    } else {
        Err(refused(dir, "it is not a folder"))
    }
}

fn refused(dir: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(format!("cannot share '{}': {why}", dir.display()))
        .help("name a folder that exists and that coax may read")
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

    #[test]
    fn a_share_argument_means_the_same_as_its_section_in_smb_conf() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let argument: ShareArg = format!("GAMES={}:ro", path.display()).parse().unwrap();
        let conf = format!(
            "[GAMES]\npath = {}\nread only = yes\nguest ok = yes\ncoax:guest read only = yes\n",
            path.display()
        );
        let section = crate::load::load_text("t", &conf).settings.shares.remove(0);
        let share = argument
            .settings(GuestAccess::Ro, &ShareSettings::default())
            .unwrap();
        assert_eq!(format!("{share:?}"), format!("{section:?}"));
    }
}
