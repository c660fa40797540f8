//! Folders of shares.

use super::*;

#[test]
fn rights_in_folders() {
    table(&[
        (
            |f| f.shares[0].way[2].1 = owned(0, 0o755),
            Severity::Error,
            &[
                "coax may not write in the folder",
                "[OLD] /srv/old",
                "setfacl -R -m u:coax:rwX",
            ],
        ),
        (
            |f| f.shares[0].way[1].1 = owned(0, 0o700),
            Severity::Error,
            &["coax may not pass /srv", "setfacl -m u:coax:x '/srv'"],
        ),
        (
            |f| f.shares[0].way[2].1 = owned(0, 0o733),
            Severity::Error,
            &["may not read the folder"],
        ),
        (
            |f| {
                f.shares[0].path = "/home/anna".into();
                f.shares[0].way[2].0 = "/home/anna".into();
            },
            Severity::Error,
            &[
                "sees no home folders",
                "coax.service",
                "ProtectHome=no and ReadWritePaths=/home/anna",
            ],
        ),
        (
            |f| {
                f.shares[0].path = "/data".into();
                f.shares[0].way[2].0 = "/data".into();
            },
            Severity::Error,
            &["the service may not write there", "ReadWritePaths=/data"],
        ),
        (
            |f| f.shares[0].folder = Err("No such file or directory".into()),
            Severity::Error,
            &["cannot be used: No such file", "mkdir"],
        ),
        (
            |f| {
                f.rights.user = 1000;
                f.shares[0].folder = Err("Permission denied".into());
                f.shares[0].way.pop();
            },
            Severity::Note,
            &["was not checked: Permission denied", "sudo"],
        ),
    ]);
}

#[test]
fn file_systems() {
    table(&[
        (
            |f| {
                f.shares[0].folder = Ok(Folder {
                    read_only: true,
                    ..GOOD_FOLDER
                })
            },
            Severity::Error,
            &["mounted read-only", "remount"],
        ),
        (
            |f| {
                f.shares[0].folder = Ok(Folder {
                    space: (0, 9),
                    ..GOOD_FOLDER
                })
            },
            Severity::Error,
            &["is full"],
        ),
        (
            |f| {
                f.shares[0].folder = Ok(Folder {
                    keeps_attributes: false,
                    ..GOOD_FOLDER
                })
            },
            Severity::Warning,
            &["extended attributes"],
        ),
        (
            |f| f.shares[0].mount.as_mut().unwrap().kind = "tmpfs".into(),
            Severity::Warning,
            &["in memory (tmpfs)"],
        ),
        (
            |f| {
                let mount = f.shares[0].mount.as_mut().unwrap();
                (mount.kind, mount.source) = ("nfs4".into(), "nas:/x".into());
            },
            Severity::Note,
            &["on another machine (nfs4 from nas:/x)"],
        ),
        (
            |f| f.shares[0].mount.as_mut().unwrap().kind = "vfat".into(),
            Severity::Note,
            &["cannot reserve space"],
        ),
        (
            |f| f.shares[0].mount.as_mut().unwrap().options = vec!["usrquota".into()],
            Severity::Note,
            &["quotas are on", "max disk size"],
        ),
    ]);
}
