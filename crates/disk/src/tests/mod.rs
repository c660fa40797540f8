#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

mod agreement;
mod atomicity;
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

/// A separate file system, unmounted when dropped.
struct Mounted(TempDir);

impl Mounted {
    /// `None`, with a printed note, if this process may not mount.
    fn new(kind: &str, options: &str) -> Option<Self> {
        Self::mount(tempfile::tempdir().unwrap(), kind, options, kind.as_ref())
    }

    /// An ext4 file system of `bytes` bytes in a file.
    fn ext4(bytes: u64) -> Option<Self> {
        let images = tempfile::tempdir().unwrap();
        let image = images.path().join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(bytes)
            .unwrap();
        let made = Command::new("mkfs.ext4")
            .args(["-q", "-m", "0"])
            .arg(&image)
            .output();
        if !made.as_ref().is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: no mkfs.ext4: {made:?}");
            return None;
        }
        Self::mount(tempfile::tempdir().unwrap(), "ext4", "loop", &image)
    }

    fn mount(folder: TempDir, kind: &str, options: &str, source: &Path) -> Option<Self> {
        let mut command = Command::new("mount");
        command
            .args(["-t", kind, "-o", options])
            .arg(source)
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
            "{} is still mounted",
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
