//! Tests that need a real disk: pipes, stray bytes, permissions, file systems with missing features.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
};

use super::*;

#[test]
fn a_folder_that_cannot_be_shared_is_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let why = DiskFs::new(&missing, DiskOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("missing") && why.contains("No such file"),
        "{why}"
    );
    fs::write(folder.path().join("file"), "").unwrap();
    let why = DiskFs::new(&folder.path().join("file"), DiskOptions::default()).unwrap_err();
    assert!(why.to_string().contains("Not a directory"), "{why}");
}

#[test]
fn pipes_and_sockets_are_neither_listed_nor_opened() {
    let (folder, disk) = fresh();
    let fifo = Command::new("mkfifo")
        .arg(folder.path().join("fifo"))
        .status()
        .unwrap();
    assert!(fifo.success());
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    symlink("fifo", folder.path().join("to the fifo")).unwrap();
    for path in ["fifo", "socket", "to the fifo"] {
        assert_eq!(disk.stat(path).unwrap().kind, Kind::Special, "{path}");
        for how in [
            READ,
            CREATE,
            OpenHow {
                read: false,
                ..CREATE
            },
            OpenHow::default(),
        ] {
            assert_eq!(
                disk.open(path, how).err(),
                Some(VfsError::Denied),
                "{path} {how:?}"
            );
        }
        assert_eq!(
            disk.hard_link(path, "B").err(),
            Some(VfsError::Denied),
            "{path}"
        );
    }
    let root = disk.open_dir("").unwrap();
    assert_eq!(root.names().unwrap(), [""; 0]);
    assert_eq!(
        root.entry("fifo", Some("user.a")).unwrap().0.kind,
        Kind::Special
    );
}

#[test]
fn stray_bytes_in_names_survive_a_round_trip() {
    let (folder, disk) = fresh();
    let on_disk = [
        &b"gr\xf6\xdfe.txt"[..],
        b"\x80",
        b"\xee\xbf\xb6",
        b"\xff\xfe\xfd",
    ];
    for bytes in on_disk {
        fs::write(folder.path().join(OsStr::from_bytes(bytes)), bytes).unwrap();
    }
    let dir = disk.open_dir("").unwrap();
    let names = dir.names().unwrap();
    assert_eq!(names.len(), on_disk.len());
    assert!(
        names.contains(&"gr\u{EFF6}\u{EFDF}e.txt".to_owned()),
        "{names:?}"
    );
    for name in names {
        let mut buf = [0; 100];
        let read = disk
            .open(&name, READ)
            .unwrap()
            .0
            .read_at(0, &mut buf)
            .unwrap();
        let bytes = buf[..read].to_vec();
        assert_eq!(dir.entry(&name, None).unwrap().0.size, read as u64);
        disk.rename(&name, "moved", false).unwrap();
        disk.rename("moved", &name, false).unwrap();
        assert!(
            folder.path().join(OsStr::from_bytes(&bytes)).exists(),
            "{name:?}"
        );
        disk.remove_file(&name).unwrap();
    }
}

#[test]
fn new_files_and_folders_get_their_modes() {
    let folder = tempfile::tempdir().unwrap();
    let options = DiskOptions {
        file_mode: 0o600,
        dir_mode: 0o700,
        ..DiskOptions::default()
    };
    let disk = disk(folder.path(), options);
    disk.open("A", CREATE).unwrap();
    disk.make_dir("D").unwrap();
    assert_eq!(
        (disk.stat("A").unwrap().mode, disk.stat("D").unwrap().mode),
        (0o600, 0o700)
    );
}

#[test]
fn the_read_only_flag_changes_only_the_owner_s_write_bit() {
    let (folder, disk) = fresh();
    let path = folder.path().join("A");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o2775)).unwrap();
    let (file, _) = disk.open("A", READ).unwrap();
    file.set_writable(false).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o2575
    );
    file.set_writable(true).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o2775
    );
}

#[test]
fn a_disk_reports_when_a_file_was_created() {
    let (_folder, disk) = fresh();
    disk.open("A", CREATE).unwrap();
    let stat = disk.stat("A").unwrap();
    if let Some(created) = stat.created {
        assert!(
            created <= stat.changed && created.0 > 1_500_000_000_000_000_000,
            "{stat:?}"
        );
    }
}

#[test]
fn a_driver_can_access_the_descriptor() {
    let (_folder, disk) = fresh();
    let (file, _) = disk.open("A", CREATE).unwrap();
    file.write_at(0, b"kernel to kernel").unwrap();
    let file = file.as_any().downcast_ref::<DiskFile>().unwrap();
    let mut buf = [0; 6];
    rustix::io::pread(file.fd(), &mut buf, 0).unwrap();
    assert_eq!(&buf, b"kernel");
    let flags = rustix::io::fcntl_getfd(file.fd()).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn exactly_one_of_many_concurrent_creates_creates_the_file() {
    let (_folder, disk) = fresh();
    for round in 0..50 {
        let path = format!("A{round}");
        let created: usize = std::thread::scope(|scope| {
            let open = || usize::from(disk.open(&path, CREATE).unwrap().1);
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(created, 1);
    }
}

#[test]
fn listings_at_the_same_time_do_not_disturb_each_other() {
    let (_folder, disk) = fresh();
    for i in 0..2_000 {
        disk.open(&format!("{i:040}"), CREATE).unwrap();
    }
    let dir = disk.open_dir("").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| assert_eq!(dir.names().unwrap().len(), 2_000)));
        }
    });
}

#[test]
fn a_file_system_without_reservation_still_extends_files() {
    let Some(mounted) = Mounted::new("ramfs", "mode=755") else {
        return;
    };
    let disk = disk(mounted.0.path(), DiskOptions::default());
    let (file, _) = disk.open("A", CREATE).unwrap();
    file.write_at(0, b"kept").unwrap();
    file.reserve(100_000).unwrap();
    assert_eq!(file.stat().unwrap().size, 4);
    file.set_len(200_001).unwrap();
    let mut buf = vec![0xa5; 200_002];
    assert_eq!(file.read_at(0, &mut buf).unwrap(), 200_001);
    assert!(buf.starts_with(b"kept\0\0") && buf[4..200_001].iter().all(|b| *b == 0));
    file.set_len(1 << 30).unwrap();
    assert_eq!(file.stat().unwrap().size, 1 << 30);
    assert_eq!(
        file.set_attribute("user.a", b""),
        Err(VfsError::Unsupported)
    );
}

#[test]
fn a_range_beyond_the_end_is_reserved_whole_or_not_at_all_and_the_length_stays() {
    let Some((_mounted, disk)) = one_mib() else {
        return;
    };
    let (file, _) = disk.open("A", CREATE).unwrap();
    file.write_at(0, b"kept").unwrap();
    let before = disk.space().unwrap();
    assert_eq!(file.reserve_range(4, 2 << 20), Err(VfsError::NoSpace));
    assert_eq!(file.reserve_range(4, 1 << 30), Err(VfsError::NoSpace));
    assert_eq!(disk.space().unwrap(), before);
    file.reserve_range(4, 100_000).unwrap();
    assert_eq!(file.stat().unwrap().size, 4);
    assert!(disk.space().unwrap().free <= before.free - 90_000);
}

#[test]
fn a_sparse_length_takes_no_space() {
    let Some((_mounted, disk)) = one_mib() else {
        return;
    };
    let (file, _) = disk.open("A", CREATE).unwrap();
    let before = disk.space().unwrap();
    file.set_len_sparse(1 << 30).unwrap();
    assert_eq!(file.stat().unwrap().size, 1 << 30);
    assert_eq!(disk.space().unwrap(), before);
    let (read, _) = disk.open("A", READ).unwrap();
    assert_eq!(read.set_len_sparse(0), Err(VfsError::Denied));
    assert_eq!(read.reserve_range(0, 1), Err(VfsError::Denied));
}

#[test]
fn zeros_that_do_not_fit_leave_the_length_as_it_was() {
    let Some((_mounted, disk)) = one_mib() else {
        return;
    };
    let (file, _) = disk.open("A", CREATE).unwrap();
    file.write_at(0, b"kept").unwrap();
    let before = disk.space().unwrap();
    let on_disk = file.as_any().downcast_ref::<DiskFile>().unwrap();
    assert_eq!(on_disk.extend_unreserved(2 << 20), Err(VfsError::NoSpace));
    assert_eq!(on_disk.extend_unreserved(1 << 30), Err(VfsError::NoSpace));
    assert_eq!(file.stat().unwrap().size, 4);
    assert_eq!(disk.space().unwrap(), before);
}

#[test]
fn zeros_neither_overwrite_nor_cut_what_another_client_wrote_meanwhile() {
    let Some((_mounted, disk)) = one_mib() else {
        return;
    };
    let (file, _) = disk.open("A", CREATE).unwrap();
    let (other, _) = disk.open("A", CREATE).unwrap();
    file.write_at(0, b"kept").unwrap();
    let on_disk = file.as_any().downcast_ref::<DiskFile>().unwrap();
    let stale = file.stat().unwrap();
    other.write_at(4, b"theirs").unwrap();
    assert_eq!(stale.size, 4);
    assert_eq!(on_disk.extend_unreserved(2 << 20), Err(VfsError::NoSpace));
    assert_eq!(file.stat().unwrap().size, 10);
    on_disk.extend_unreserved(100_000).unwrap();
    assert_eq!(file.stat().unwrap().size, 100_000);
    let mut start = [1; 12];
    assert_eq!(file.read_at(0, &mut start), Ok(12));
    assert_eq!(&start, b"kepttheirs\0\0");
}

#[test]
fn a_write_of_another_open_waits_while_the_file_is_extended_with_zeros() {
    let (_folder, disk) = fresh();
    let (file, _) = disk.open("A", CREATE).unwrap();
    let (other, _) = disk.open("A", CREATE).unwrap();
    file.write_at(0, b"kept").unwrap();
    let on_disk = file.as_any().downcast_ref::<DiskFile>().unwrap();
    let alone = on_disk.length().write().unwrap();
    std::thread::scope(|threads| {
        let (started, starts) = std::sync::mpsc::channel();
        let other = &other;
        let writer = threads.spawn(move || {
            started.send(()).unwrap();
            other.write_at(4, b"more")
        });
        starts.recv().unwrap();
        assert_eq!(file.stat().unwrap().size, 4);
        drop(alone);
        assert_eq!(writer.join().unwrap(), Ok(()));
    });
    assert_eq!(file.stat().unwrap().size, 8);
}

#[test]
fn a_rename_with_a_check_does_not_replace_an_existing_file() {
    let (_folder, disk) = fresh();
    for path in ["A", "B"] {
        disk.open(path, CREATE)
            .unwrap()
            .0
            .write_at(0, path.as_bytes())
            .unwrap();
    }
    disk.make_dir("D").unwrap();
    let folder = disk.folder();
    let rename = |from, to| {
        crate::root::rename_with_a_check(
            &folder.root.place(from).unwrap(),
            &folder.root.place(to).unwrap(),
        )
    };
    assert_eq!(rename("A", "B"), Err(VfsError::Exists));
    assert_eq!(rename("D", "B"), Err(VfsError::Exists));
    assert_eq!(rename("A", "D"), Err(VfsError::Exists));
    rename("A", "D/C").unwrap();
    rename("D", "E").unwrap();
    assert_eq!(disk.stat("E/C").unwrap().size, 1);
    assert_eq!(disk.stat("A").err(), Some(VfsError::NotFound));
}

#[test]
fn a_read_only_mount_is_read_only() {
    let Some(mounted) = Mounted::new("tmpfs", "ro,size=1m") else {
        return;
    };
    let disk = disk(mounted.0.path(), DiskOptions::default());
    assert_eq!(disk.open("A", CREATE).err(), Some(VfsError::ReadOnly));
    assert_eq!(disk.make_dir("D").err(), Some(VfsError::ReadOnly));
    assert_eq!(disk.stat("").unwrap().kind, Kind::Directory);
}

#[test]
fn a_cached_attribute_is_dropped_when_it_changes() {
    let (folder, disk) = fresh();
    let (file, _) = disk.open("A", CREATE).unwrap();
    file.set_attribute("user.a", b"old").unwrap();
    let dir = disk.open_dir("").unwrap();
    let listed = || dir.entry("A", Some("user.a")).unwrap().1;
    assert_eq!(listed().as_deref(), Some(&b"old"[..]));
    std::thread::sleep(std::time::Duration::from_millis(2_700));
    assert_eq!(listed().as_deref(), Some(&b"old"[..]));
    let stat = disk.stat("A").unwrap();
    let remembered = disk
        .folder()
        .root
        .attributes
        .value(&stat, "user.a", || panic!("the value must be cached"));
    assert_eq!(remembered.as_deref(), Some(&b"old"[..]));
    let path = folder.path().join("A");
    rustix::fs::setxattr(&path, "user.a", b"new", rustix::fs::XattrFlags::empty()).unwrap();
    assert_eq!(listed().as_deref(), Some(&b"new"[..]));
    file.remove_attribute("user.a").unwrap();
    assert_eq!(listed(), None);
}

#[test]
fn setting_the_length_frees_the_blocks_of_a_failed_reservation() {
    const MIB: u64 = 1 << 20;
    /// The extent tree of a fragmented file keeps one or two blocks.
    const TREE: u64 = 8192;
    let Some(mounted) = Mounted::ext4(24 * MIB) else {
        return;
    };
    let disk = disk(mounted.0.path(), DiskOptions::default());
    let (file, _) = disk.open("A", CREATE).unwrap();
    file.write_at(0, b"kept").unwrap();
    file.sync().unwrap();
    let (before, held) = (disk.space().unwrap(), file.stat().unwrap().allocated);
    for len in [40 * MIB, 1 << 40] {
        assert_eq!(file.set_len(len), Err(VfsError::NoSpace));
        assert_eq!(file.reserve(len), Err(VfsError::NoSpace));
        assert_eq!(file.stat().unwrap().size, 4);
        file.set_len(4).unwrap();
        let now = file.stat().unwrap();
        assert_eq!(now.size, 4);
        assert!(now.allocated <= held + TREE, "{now:?}");
        // The file system releases freed blocks when it commits the transaction.
        file.sync().unwrap();
        assert!(disk.space().unwrap().free + TREE >= before.free);
    }
    file.set_len(8 * MIB).unwrap();
    let data = vec![0x55; usize::try_from(40 * MIB).unwrap()];
    let (rest, _) = disk.open("B", CREATE).unwrap();
    let (written, why) = rest.write_at(0, &data).unwrap_err();
    assert_eq!(why, VfsError::NoSpace);
    assert_eq!(rest.stat().unwrap().size, written as u64);
    rest.sync().unwrap();
    file.write_at(0, &data[..8 << 20]).unwrap();
    file.sync().unwrap();
}
