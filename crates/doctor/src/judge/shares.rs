//! Folders and file systems of shares, and what the user who serves may do there.

use std::path::Path;

use coax_serve::probe::{problems, writable};
use coax_smbconf::settings::ShareSettings;

use crate::{
    access::{Account, EXECUTE, READ, WRITE, may},
    facts::{Facts, Share},
    finding::{Check, Finding, Severity},
    unit::{Effect, Unit},
};

/// File systems of other machines, by type and by its beginning.
const NETWORK: [&str; 12] = [
    "nfs",
    "cifs",
    "smb3",
    "9p",
    "ceph",
    "glusterfs",
    "afs",
    "ncpfs",
    "lustre",
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.s3fs",
];
/// File systems without permissions of Unix.
const FOREIGN: [&str; 6] = ["vfat", "msdos", "exfat", "ntfs3", "ntfs", "fuseblk"];
/// File systems that lie in memory.
const VOLATILE: [&str; 2] = ["tmpfs", "ramfs"];
/// File systems that cannot reserve space, so that 'strict allocate' cannot refuse a copy that will not fit (fallocate(2)).
const WITHOUT_ALLOCATION: [&str; 7] = ["nfs", "cifs", "smb3", "9p", "zfs", "vfat", "msdos"];
/// Mount options that switch quotas on (mount(8), xfs(5), ext4(5)).
const QUOTAS: [&str; 9] = [
    "usrquota",
    "grpquota",
    "prjquota",
    "quota",
    "uquota",
    "usrjquota",
    "gquota",
    "pquota",
    "jqfmt",
];

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    for share in &facts.shares {
        let settings = facts.config.settings.shares.iter();
        let Some(settings) = settings.clone().find(|s| s.name == share.name) else {
            continue;
        };
        let before = all.len();
        reachable(facts, share, settings, all);
        file_system(share, settings, all);
        let worst = all.iter().skip(before).map(|f| f.severity).min();
        if worst.is_none_or(|worst| worst > Severity::Warning) && share.folder.is_ok() {
            let kind = share.mount.as_ref().map_or("", |mount| mount.kind.as_str());
            let what = format!(
                "[{}] {} ({kind}) can be served",
                share.name,
                share.path.display()
            );
            all.push(Finding::new(Severity::Ok, Check::Shares, what));
        }
    }
}

fn found(share: &Share, severity: Severity, what: impl Into<String>) -> Finding {
    let place = format!("[{}] {}", share.name, share.path.display());
    Finding::new(severity, Check::Shares, what).at(place)
}

/// Whether the service sees the folder, and its user may use it.
fn reachable(facts: &Facts, share: &Share, settings: &ShareSettings, all: &mut Vec<Finding>) {
    let writes = writable(settings);
    if let Some(unit) = &facts.service.unit
        && let Some(finding) = sandboxed(unit, share, writes)
    {
        all.push(finding);
    }
    if let Err(why) = &share.folder {
        if facts.rights.is_root() || !share.is_hidden() {
            let what = format!("the folder cannot be used: {why}");
            all.push(
                found(share, Severity::Error, what)
                    .why("clients cannot connect to the share")
                    .fix(format!("sudo mkdir -p '{}'", share.path.display())),
            );
        } else {
            let what = format!("the folder was not checked: {why}");
            let found = found(share, Severity::Note, what);
            all.push(found.fix("run coax doctor with sudo"));
        }
        return;
    }
    if let Some(account) = &facts.service.account {
        all.extend(permitted(account, share, writes));
    }
}

fn sandboxed(unit: &Unit, share: &Share, writes: bool) -> Option<Finding> {
    let path = share.path.display();
    let (severity, what, lines) = match unit.effect_on(&share.path) {
        Effect::None => return None,
        Effect::ReadOnly | Effect::HomeReadOnly if !writes => return None,
        Effect::ReadOnly | Effect::HomeReadOnly => (
            Severity::Error,
            "the service may not write there",
            format!("ReadWritePaths={path}"),
        ),
        Effect::Home => (
            Severity::Error,
            "the service sees no home folders",
            format!("ProtectHome=no and ReadWritePaths={path}"),
        ),
        Effect::Temporary => (
            Severity::Error,
            "the service has a /tmp of its own",
            "PrivateTmp=no, or another folder".into(),
        ),
        Effect::Hidden => (
            Severity::Error,
            "the service's unit hides the folder",
            "InaccessiblePaths= without it".into(),
        ),
    };
    let file = unit.files.last()?.display();
    Some(
        found(share, severity, what)
            .why(format!("the sandbox of {file} restricts it"))
            .fix(format!(
                "sudo systemctl edit coax: [Service] {lines}; then sudo systemctl restart coax"
            )),
    )
}

fn permitted(account: &Account, share: &Share, writes: bool) -> Option<Finding> {
    let Account { name, .. } = account;
    let closed = share
        .way
        .iter()
        .find(|(folder, owned)| *folder != share.path && !may(account, owned, EXECUTE));
    if let Some((folder, _)) = closed {
        let folder = folder.display();
        return Some(
            found(
                share,
                Severity::Error,
                format!("the user {name} may not pass {folder}"),
            )
            .why("every folder above the share needs the right to search it (x)")
            .fix(format!(
                "sudo setfacl -m u:{name}:x '{folder}', or share a folder elsewhere"
            )),
        );
    }
    let path = share.path.display();
    let (_, owned) = share.way.last()?;
    if !may(account, owned, READ | EXECUTE) {
        return Some(
            found(
                share,
                Severity::Error,
                format!("the user {name} may not read the folder"),
            )
            .why("clients see an empty share, or none")
            .fix(format!(
                "sudo setfacl -R -m u:{name}:rX -m d:u:{name}:rX '{path}'"
            )),
        );
    }
    (writes && !may(account, owned, WRITE)).then(|| {
        found(
            share,
            Severity::Error,
            format!("the user {name} may not write in the folder"),
        )
        .why("clients get 'access denied' although smb.conf permits writing")
        .fix(format!(
            "sudo setfacl -R -m u:{name}:rwX -m d:u:{name}:rwX '{path}', or [{}] read only = yes",
            share.name
        ))
    })
}

fn file_system(share: &Share, settings: &ShareSettings, all: &mut Vec<Finding>) {
    if let Ok(folder) = share.folder {
        for problem in problems(settings, &share.path, folder) {
            // permissions are judged for the user who serves, not for the one who runs this
            if problem.text.contains("may not write in") {
                continue;
            }
            let severity =
                match problem.text.contains("read-only") || problem.text.ends_with("is full") {
                    true => Severity::Error,
                    false => Severity::Warning,
                };
            all.push(found(share, severity, problem.text).fix(problem.remedy));
        }
    }
    let Some(mount) = &share.mount else { return };
    let is = |kinds: &[&str]| kinds.iter().any(|kind| mount.kind.starts_with(kind));
    let kind = &mount.kind;
    if is(&NETWORK) {
        all.push(
            found(share, Severity::Note, format!("the folder is on another machine ({kind} from {})", mount.source))
                .why("a mount that hangs stops the share, and locks of coax do not reach the other machine")
                .fix("see docs/recipes/in-front-of-a-mount.md"),
        );
    }
    if is(&VOLATILE) {
        let what = format!("the folder is in memory ({kind})");
        let found = found(share, Severity::Warning, what);
        all.push(
            found
                .why("a restart of the machine deletes all files")
                .fix("share a folder on a disk"),
        );
    }
    if is(&FOREIGN) {
        all.push(
            found(
                share,
                Severity::Note,
                format!("the file system {kind} has no Unix permissions"),
            )
            .why("owner and mode come from mount options for all files at once")
            .fix("mount it with uid= and gid= of the server's user, or use ext4"),
        );
    }
    all.extend(reservation(share, settings, Path::new(kind)));
    if writable(settings) && mount.options.iter().any(|option| is_quota(option)) {
        all.push(
            found(share, Severity::Note, "quotas are on")
                .why("a copy fails at the quota of the server's user although the disk has space; clients see the whole disk")
                .fix(format!("[{}] max disk size = (the quota), so that clients see it", share.name)),
        );
    }
}

fn is_quota(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    QUOTAS.contains(&name)
}

fn reservation(share: &Share, settings: &ShareSettings, kind: &Path) -> Option<Finding> {
    let kind = kind.to_string_lossy();
    let lacks = WITHOUT_ALLOCATION.iter().any(|name| kind.starts_with(name));
    (lacks && writable(settings) && settings.strict_allocate).then(|| {
        found(
            share,
            Severity::Note,
            format!("the file system {kind} cannot reserve space"),
        )
        .why("a copy that does not fit fails in its middle, not at its start")
        .fix("keep free space, or share a folder on ext4, xfs or btrfs")
    })
}
