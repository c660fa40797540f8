//! The unit of the packages, and the account that serves.

use std::{
    fs,
    path::{Path, PathBuf},
};

use nix::unistd::{Gid, Uid, User, geteuid, getgrouplist};

use super::{
    bounded::{PACKAGED_CONFIG, text},
    process,
};
use crate::{
    access::Account,
    facts::{Config, Service, Status},
    unit::Unit,
};

/// Where units are, the first wins; and their drop-ins (systemd.unit(5)).
const FOLDERS: [&str; 4] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];
const UNIT: &str = "coax.service";
/// The largest unit file, bytes.
const UNIT_MAX: u64 = 1 << 20;

pub(super) fn service(config: &Config) -> Service {
    let path = config.path.as_deref().unwrap_or(Path::new(PACKAGED_CONFIG));
    let unit = unit(None).filter(|unit| unit.serves(path));
    let process = process::coax().into_iter().next();
    let account = match (&process, &config.settings.global.run_as) {
        (Some(process), _) => of_process(process.number),
        (None, Some(user)) => account(user),
        (None, None) => match unit.as_ref().and_then(|unit| unit.user.as_deref()) {
            Some(user) => account(user),
            None => own(),
        },
    };
    Service {
        unit,
        process: process.map(|process| (process.number, process.name)),
        account,
        status: Status::Silent,
    }
}

/// The unit with its drop-ins except `without`, if it is installed.
pub fn unit(without: Option<&Path>) -> Option<Unit> {
    let folders = FOLDERS.iter().map(Path::new);
    let file = folders.clone().map(|folder| folder.join(UNIT));
    let file = file.into_iter().find(|file| file.is_file())?;
    let mut files = vec![(file.clone(), text(&file, UNIT_MAX))];
    let mut drop_ins: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder.join(format!("{UNIT}.d")));
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            let same = |known: &PathBuf| known.file_name() == path.file_name();
            let is_one = path.extension().is_some_and(|end| end == "conf");
            if is_one && !drop_ins.iter().any(same) && without != Some(&path) {
                drop_ins.push(path);
            }
        }
    }
    drop_ins.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    let drop_ins = drop_ins.into_iter();
    files.extend(drop_ins.map(|path| (path.clone(), text(&path, UNIT_MAX))));
    let files = files
        .iter()
        .map(|(path, text)| (path.clone(), text.as_str()));
    Some(Unit::parse(files))
}

/// An account of this machine, with its groups.
pub fn account(name: &str) -> Option<Account> {
    let user = User::from_name(name).ok()??;
    let text = std::ffi::CString::new(name).ok()?;
    let groups = getgrouplist(&text, user.gid).unwrap_or_else(|_| vec![user.gid]);
    Some(Account {
        name: user.name,
        user: user.uid.as_raw(),
        groups: groups.into_iter().map(Gid::as_raw).collect(),
    })
}

fn own() -> Option<Account> {
    of_process(std::process::id()).or_else(|| {
        let user = User::from_uid(geteuid()).ok()??;
        account(&user.name)
    })
}

/// The account of a process.
fn of_process(number: u32) -> Option<Account> {
    let status = text(format!("/proc/{number}/status"), 64 << 10);
    let numbers = |key: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        let words = line.unwrap_or_default().split_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let user = *numbers("Uid:").get(1)?;
    let mut groups = numbers("Groups:");
    groups.extend(numbers("Gid:").get(1));
    let known = User::from_uid(Uid::from_raw(user)).ok().flatten();
    Some(Account {
        name: known.map_or_else(|| user.to_string(), |known| known.name),
        user,
        groups,
    })
}
