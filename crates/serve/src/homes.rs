//! `[homes]`: a share for each user, named after the user.
//!
//! Samba makes such a share when a client asks for it. coax makes all of them when it reads the configuration, because every
//! share has a folder that the sandbox and the probe know.

use std::path::{Component, Path};

use coax_smbconf::{
    diagnostic::Diagnostic,
    list::Names,
    settings::{Settings, ShareSettings},
};
use nix::unistd::User;

use super::accounts::accounts;

/// The macros that mean the user in `[homes]`.
const USER: [&str; 3] = ["%S", "%u", "%U"];

/// Adds the shares of `[homes]`. A user without a folder gets none, and a section with the user's name is preferred.
pub fn add(settings: &mut Settings) -> Vec<Diagnostic> {
    let Some(template) = settings.homes.clone().filter(|homes| homes.available) else {
        return Vec::new();
    };
    // What is wrong with the password file is reported where the accounts are needed.
    let Ok(accounts) = accounts(settings, &mut Vec::new()) else {
        return Vec::new();
    };
    let mut said = Vec::new();
    for user in accounts.iter() {
        if settings
            .shares
            .iter()
            .any(|share| share.name.eq_ignore_ascii_case(&user.name))
        {
            continue;
        }
        match home(&template, &user.name) {
            Ok(share) => settings.shares.push(share),
            Err(why) => said.push(why),
        }
    }
    said
}

/// The folder above all home folders, if the path of `[homes]` names the user.
pub(super) fn root(homes: &ShareSettings) -> Option<&Path> {
    let place = USER
        .iter()
        .filter_map(|letter| homes.path.find(letter))
        .min()?;
    let (before, _) = homes.path.split_at_checked(place)?;
    match before.rsplit_once('/')?.0 {
        "" => None,
        root => Some(Path::new(root)),
    }
}

fn home(template: &ShareSettings, user: &str) -> Result<ShareSettings, Diagnostic> {
    let none = |why: String, help: &str| {
        Err(
            Diagnostic::warning(format!("[homes]: user {user} has no home folder: {why}"))
                .help(help),
        )
    };
    let path = match template.path.as_str() {
        "" => unix_home(user),
        path if is_one_component(user) => Some(with_user(path, user)),
        _ => {
            return none(
                "the name is not that of a folder".into(),
                "define a share for this user",
            );
        }
    };
    let Some(path) = path else {
        return none(
            "this machine has no such account".into(),
            "set a folder for all users, such as 'path = /srv/homes/%S'",
        );
    };
    if !Path::new(&path.replace("%%", "%")).is_dir() {
        let help =
            "create the folder and let coax write there; after a reload the user has the share";
        return none(format!("{path} is not a folder"), help);
    }
    let names = |list: &Names| Names::new(list.iter().map(|name| with_user(name, user)).collect());
    let only = Names::new(vec![user.into()]);
    Ok(ShareSettings {
        name: user.into(),
        comment: match template.comment.as_str() {
            "" => format!("Home folder of {}", user.replace('%', "%%")),
            comment => with_user(comment, user),
        },
        path,
        valid_users: match template.valid_users.is_empty() {
            true => only,
            false => names(&template.valid_users),
        },
        read_list: names(&template.read_list),
        write_list: names(&template.write_list),
        home_of: Some(user.into()),
        ..template.clone()
    })
}

/// The home folder of the Unix account with this name.
fn unix_home(user: &str) -> Option<String> {
    let found = User::from_name(user).ok().flatten()?;
    let folder = found.dir.to_str()?.replace('%', "%%");
    (folder != "/").then_some(folder)
}

/// Whether the name is a folder's name. A user name may contain `/` and be `..`.
fn is_one_component(user: &str) -> bool {
    let mut parts = Path::new(user).components();
    matches!(parts.next(), Some(Component::Normal(_)))
        && parts.next().is_none()
        && !user.contains('/')
}

/// Replaces the macros that mean the user. Others stay, and so does `%%`.
fn with_user(text: &str, user: &str) -> String {
    let user = user.replace('%', "%%");
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('%') {
        let (before, at) = rest.split_at(place);
        let (found, after) = at.split_at_checked(2).unwrap_or((at, ""));
        out.push_str(before);
        out.push_str(if USER.contains(&found) { &user } else { found });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use coax_smbconf::load::load_text;

    fn settings(homes: &str, users: &[&str]) -> Settings {
        let mut settings =
            load_text("t", &format!("[homes]\n{homes}\n[shared]\npath = /\n")).settings;
        settings.users = users
            .iter()
            .map(|name| {
                coax_logon::accounts::User::with_password(name, "x", &coax_logon::text::Ascii)
            })
            .collect();
        settings
    }

    #[test]
    fn each_user_with_a_folder_has_a_share_for_himself() {
        let root = tempfile::tempdir().unwrap();
        for name in ["anna", "shared"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let homes = format!(
            "path = {}/%S\nread only = no\nwrite list = %U",
            root.path().display()
        );
        let mut settings = settings(&homes, &["anna", "ben", "shared", "../anna", ".."]);
        let said = add(&mut settings);
        let names: Vec<_> = settings
            .shares
            .iter()
            .map(|share| share.name.as_str())
            .collect();
        assert_eq!(names, ["shared", "anna"]);
        assert_eq!(settings.shares[0].path, "/");
        let anna = &settings.shares[1];
        assert_eq!(anna.path, format!("{}/anna", root.path().display()));
        assert!(anna.access(Some("ANNA")).is_some() && anna.access(Some("ben")).is_none());
        assert!(anna.access(None).is_none() && anna.write_list.contains("anna"));
        assert_eq!(anna.home_of.as_deref(), Some("anna"));
        let said: Vec<_> = said.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said.iter()
                .any(|one| one.contains("user ben") && one.contains("is not a folder"))
        );
        assert_eq!(
            said.iter()
                .filter(|one| one.contains("is not that of a folder"))
                .count(),
            2
        );
    }

    #[test]
    fn without_a_path_the_unix_account_has_the_folder() {
        let mut settings = settings("", &["root", "no such account"]);
        let said = add(&mut settings);
        assert_eq!(settings.shares.len(), 2);
        assert_eq!(settings.shares[1].path, unix_home("root").unwrap());
        assert!(said[0].message.contains("no such account"));
    }

    #[test]
    fn a_section_that_is_not_available_adds_nothing() {
        let mut settings = settings("available = no", &["root"]);
        assert!(add(&mut settings).is_empty());
        assert_eq!(settings.shares.len(), 1);
    }

    #[test]
    fn only_the_user_s_macros_are_filled_in() {
        assert_eq!(with_user("/h/%S/%h/%%S %", "a%"), "/h/a%%/%h/%%S %");
        let of = |path: &str| {
            root(&ShareSettings {
                path: path.into(),
                ..ShareSettings::default()
            })
            .map(Path::to_owned)
        };
        assert_eq!(of("/srv/homes/%U/files").unwrap(), Path::new("/srv/homes"));
        assert_eq!(of("/srv/home-%S").unwrap(), Path::new("/srv"));
        assert!(of("/%S").is_none() && of("/srv").is_none() && of("").is_none());
    }
}
