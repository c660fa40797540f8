//! No path leads out of the share.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use super::*;

/// `share/` with some files, and `outside/secret` beside it.
fn beside_a_secret(options: DiskOptions) -> (TempDir, DiskFs) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("share/D/E")).unwrap();
    fs::create_dir(root.join("outside")).unwrap();
    fs::write(root.join("outside/secret"), "secret").unwrap();
    fs::write(root.join("share/A"), "a").unwrap();
    fs::write(root.join("share/D/B"), "b").unwrap();
    let disk = disk(&root.join("share"), options);
    (folder, disk)
}

fn listing(disk: &DiskFs, path: &str) -> Vec<String> {
    let mut names = disk.open_dir(path).unwrap().names().unwrap();
    names.sort();
    names
}

fn contents(disk: &DiskFs, path: &str) -> VfsResult<Vec<u8>> {
    let mut buf = vec![0; 100];
    let read = disk.open(path, READ)?.0.read_at(0, &mut buf)?;
    buf.truncate(read);
    Ok(buf)
}

#[test]
fn links_out_of_the_share_are_not_followed() {
    let (folder, disk) = beside_a_secret(DiskOptions::default());
    let share = folder.path().join("share");
    symlink(folder.path().join("outside"), share.join("absolute")).unwrap();
    symlink("../outside", share.join("relative")).unwrap();
    symlink("../../outside", share.join("D/nested")).unwrap();
    symlink("D/nested", share.join("chained")).unwrap();
    symlink("/", share.join("slash")).unwrap();
    symlink("../share/../outside", share.join("there and back")).unwrap();
    for link in [
        "absolute",
        "relative",
        "D/nested",
        "chained",
        "slash",
        "there and back",
    ] {
        let secret = format!("{link}/secret");
        let refused = Some(VfsError::Escapes);
        assert_eq!(disk.stat(link).err(), refused, "{link}");
        assert_eq!(disk.open(link, READ).err(), refused, "{link}");
        assert_eq!(disk.open_dir(link).err(), refused, "{link}");
        assert_eq!(disk.open(&secret, READ).err(), refused, "{link}");
        assert_eq!(disk.open(&secret, CREATE).err(), refused, "{link}");
        assert_eq!(disk.make_dir(&secret).err(), refused, "{link}");
        assert_eq!(disk.remove_file(&secret).err(), refused, "{link}");
        assert_eq!(disk.remove_dir(&secret).err(), refused, "{link}");
        assert_eq!(disk.rename(&secret, "S", true).err(), refused, "{link}");
        assert_eq!(disk.rename("A", &secret, true).err(), refused, "{link}");
        assert_eq!(disk.hard_link(&secret, "S").err(), refused, "{link}");
        assert_eq!(disk.hard_link("A", &secret).err(), refused, "{link}");
        assert_eq!(disk.attribute(&secret, "user.a").err(), refused, "{link}");
    }
    assert_eq!(listing(&disk, ""), ["A", "D"]);
    assert_eq!(listing(&disk, "D"), ["B", "E"]);
    assert_eq!(
        fs::read(folder.path().join("outside/secret")).unwrap(),
        b"secret"
    );
}

#[test]
fn a_create_through_a_link_to_the_outside_fails() {
    let (folder, disk) = beside_a_secret(DiskOptions::default());
    symlink("../outside/new", folder.path().join("share/new")).unwrap();
    assert_eq!(disk.open("new", CREATE).err(), Some(VfsError::Escapes));
    assert!(!folder.path().join("outside/new").exists());
    assert_eq!(listing(&disk, ""), ["A", "D"]);
}

#[test]
fn links_within_the_share_are_followed_and_listed() {
    let (folder, disk) = beside_a_secret(DiskOptions::default());
    let share = folder.path().join("share");
    symlink("../A", share.join("D/up")).unwrap();
    symlink("D", share.join("folder")).unwrap();
    symlink("nowhere", share.join("dangling")).unwrap();
    symlink("loop", share.join("loop")).unwrap();
    assert_eq!(listing(&disk, ""), ["A", "D", "folder"]);
    assert_eq!(listing(&disk, "folder"), ["B", "E", "up"]);
    assert_eq!(contents(&disk, "D/up").unwrap(), b"a");
    assert_eq!(disk.stat("folder").unwrap().id, disk.stat("D").unwrap().id);
    let entry = disk.open_dir("D").unwrap().entry("up", None).unwrap();
    assert_eq!(entry.0.id, disk.stat("A").unwrap().id);
    assert_eq!(disk.stat("dangling").err(), Some(VfsError::NotFound));
    assert_eq!(disk.stat("loop").err(), Some(VfsError::NotFound));
    assert!(disk.open("dangling", CREATE).unwrap().1);
    assert!(share.join("nowhere").exists());
}

#[test]
fn removing_a_link_leaves_its_target() {
    let (folder, disk) = beside_a_secret(DiskOptions::default());
    let share = folder.path().join("share");
    symlink("../outside/secret", share.join("out")).unwrap();
    symlink("A", share.join("in")).unwrap();
    disk.remove_file("out").unwrap();
    disk.rename("in", "moved", false).unwrap();
    disk.remove_file("moved").unwrap();
    assert!(folder.path().join("outside/secret").exists());
    assert_eq!(listing(&disk, ""), ["A", "D"]);
}

#[test]
fn wide_links_may_leave_the_share_but_dot_dot_may_not() {
    let options = DiskOptions {
        wide_links: true,
        ..DiskOptions::default()
    };
    let (folder, disk) = beside_a_secret(options);
    symlink(
        folder.path().join("outside"),
        folder.path().join("share/out"),
    )
    .unwrap();
    assert_eq!(contents(&disk, "out/secret").unwrap(), b"secret");
    assert_eq!(listing(&disk, ""), ["A", "D", "out"]);
    assert_eq!(disk.stat("../outside").err(), Some(VfsError::Escapes));
}

#[test]
fn no_link_is_followed_if_follow_symlinks_is_off() {
    let options = DiskOptions {
        follow_symlinks: false,
        ..DiskOptions::default()
    };
    let (folder, disk) = beside_a_secret(options);
    symlink("A", folder.path().join("share/link")).unwrap();
    symlink("D", folder.path().join("share/folder")).unwrap();
    assert_eq!(disk.stat("link").err(), Some(VfsError::Denied));
    assert_eq!(disk.open("folder/B", READ).err(), Some(VfsError::Denied));
    assert_eq!(listing(&disk, ""), ["A", "D"]);
    disk.remove_file("link").unwrap();
}

#[test]
fn removing_a_link_to_a_folder_keeps_the_folder() {
    let (folder, disk) = beside_a_secret(DiskOptions::default());
    symlink("D", folder.path().join("share/folder")).unwrap();
    assert!(disk.is_link("folder") && !disk.is_link("D") && !disk.is_link("gone"));
    disk.remove_dir("folder").unwrap();
    assert_eq!(listing(&disk, ""), ["A", "D"]);
    assert_eq!(contents(&disk, "D/B").unwrap(), b"b");
    disk.remove_dir("A").unwrap_err();
}

#[test]
fn magic_links_of_proc_are_not_followed() {
    let options = DiskOptions {
        wide_links: true,
        ..DiskOptions::default()
    };
    let disk = disk(Path::new("/proc/self"), options);
    assert!(disk.stat("root").is_err() && disk.open_dir("cwd").is_err());
    assert!(disk.stat("fd/0").is_err());
}

#[test]
fn a_concurrent_rename_of_the_parent_does_not_lead_out_of_the_share() {
    let (folder, disk) = beside_a_secret(DiskOptions::default());
    let share = folder.path().join("share");
    fs::write(share.join("D/secret"), "public").unwrap();
    symlink("../outside", share.join("link")).unwrap();
    let stop = AtomicBool::new(false);
    let (mut public, mut refused) = (0_u32, 0_u32);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let swap = rustix::fs::RenameFlags::EXCHANGE;
                let (a, b) = (share.join("D"), share.join("link"));
                rustix::fs::renameat_with(CWD, &a, CWD, &b, swap).unwrap();
            }
        });
        let until = Instant::now() + Duration::from_secs(5);
        while (public < 2_000 || refused < 2_000) && Instant::now() < until {
            match contents(&disk, "D/secret") {
                Ok(read) => {
                    assert_eq!(read, b"public");
                    public += 1;
                }
                Err(VfsError::Escapes | VfsError::NotFound | VfsError::Busy) => refused += 1,
                Err(other) => panic!("{other}"),
            }
            let _ = disk.open("D/planted", CREATE);
            let _ = disk.make_dir("D/planted too");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(
        public > 0 && refused > 0,
        "{public} names are public, {refused} are refused"
    );
    let outside: Vec<_> = fs::read_dir(folder.path().join("outside"))
        .unwrap()
        .collect();
    assert_eq!(outside.len(), 1, "{outside:?}");
}
