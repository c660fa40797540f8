#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

mod confinement;
mod on_disk;
mod speed;

use std::process::Command;

use tempfile::TempDir;

use super::*;

const READ: OpenHow = OpenHow {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
};
const CREATE: OpenHow = OpenHow {
    write: true,
    create: true,
    ..READ
};

fn disk(root: &Path, options: DiskOptions) -> DiskFs {
    DiskFs::new(root, options).unwrap()
}

fn fresh() -> (TempDir, DiskFs) {
    let folder = tempfile::tempdir().unwrap();
    let fs = disk(folder.path(), DiskOptions::default());
    (folder, fs)
}

/// A file system of its own, unmounted when dropped.
struct Mounted(TempDir);

impl Mounted {
    /// `None`, said aloud, where this process may not mount.
    fn new(kind: &str, options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("mount");
        command
            .args(["-t", kind, "-o", options, kind])
            .arg(folder.path());
        match command.output() {
            Ok(output) if output.status.success() => Some(Self(folder)),
            why => {
                eprintln!("SKIPPED: cannot mount {kind}, which needs root: {why:?}");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let status = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(
            status.is_ok_and(|s| s.success()),
            "{} stays mounted",
            self.0.path().display()
        );
    }
}

fn one_mib() -> Option<(Mounted, DiskFs)> {
    let mounted = Mounted::new("tmpfs", "size=1m")?;
    let fs = disk(mounted.0.path(), DiskOptions::default());
    Some((mounted, fs))
}

coax_server::conformance_tests!(fresh);
coax_server::full_disk_tests!(one_mib);
