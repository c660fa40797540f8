#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
use alloc::vec;
use core::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::vfs::Kind;

const READ: OpenHow = OpenHow {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
};
const WRITE: OpenHow = OpenHow {
    read: true,
    write: true,
    create: true,
    exclusive: false,
    truncate: false,
};

fn small(capacity: u64) -> MemFs {
    MemFs::with_options(MemOptions {
        capacity,
        ..MemOptions::default()
    })
}

#[test]
fn an_added_file_can_be_found() {
    let fs = MemFs::new();
    fs.add_file("DOS/EDLIN.COM", b"\xe9\x00\x01").unwrap();
    assert_eq!(fs.contents("DOS/EDLIN.COM").unwrap(), b"\xe9\x00\x01");
    assert_eq!(fs.stat("DOS").unwrap().kind, Kind::Directory);
    fs.add_file("DOS/EDLIN.COM", b"other").unwrap();
    assert_eq!(fs.contents("DOS/EDLIN.COM").unwrap(), b"other");
    assert_eq!(fs.objects(), 3);
}

#[test]
fn a_pattern_reads_the_same_at_every_offset_and_costs_nothing() {
    let fs = MemFs::new();
    fs.add_pattern("BIG", 1 << 30, b"abcdefg").unwrap();
    let (file, _) = fs.open("BIG", READ).unwrap();
    for offset in [0_u64, 1, 65_535, 65_536, 999_999_937, (1 << 30) - 20] {
        let mut buf = [0xa5; 20];
        assert_eq!(file.read_at(offset, &mut buf), Ok(20));
        let wanted: Vec<u8> = (offset..offset + 20)
            .map(|at| b"abcdefg"[(at % 7) as usize])
            .collect();
        assert_eq!(buf, wanted[..], "at {offset}");
    }
    let mut buf = [0xa5; 20];
    assert_eq!(file.read_at((1 << 30) - 3, &mut buf), Ok(3));
}

#[test]
fn a_write_into_a_pattern_changes_only_its_bytes() {
    let fs = MemFs::new();
    fs.add_pattern("P", 200_000, b"xyz").unwrap();
    let (file, _) = fs.open("P", WRITE).unwrap();
    file.write_at(65_530, b"0123456789").unwrap();
    let mut wanted: Vec<u8> = b"xyz".iter().copied().cycle().take(200_000).collect();
    wanted[65_530..65_540].copy_from_slice(b"0123456789");
    assert!(fs.contents("P").unwrap() == wanted);
    file.set_len(65_535).unwrap();
    file.set_len(70_000).unwrap();
    wanted.truncate(65_535);
    wanted.resize(70_000, 0);
    assert!(fs.contents("P").unwrap() == wanted);
}

#[test]
fn writes_stop_at_the_capacity_and_removal_frees_space() {
    let fs = small(8192);
    let (file, created) = fs.open("A", WRITE).unwrap();
    assert!(created);
    assert_eq!(
        file.write_at(0, &[1; 10_000]),
        Err((8192, VfsError::NoSpace))
    );
    assert_eq!(file.stat().unwrap().size, 8192);
    assert_eq!(
        fs.space().unwrap(),
        Space {
            total: 8192,
            free: 0
        }
    );
    fs.remove_file("A").unwrap();
    assert_eq!(fs.space().unwrap().free, 0, "an open file must remain");
    drop(file);
    assert_eq!(fs.space().unwrap().free, 8192);
}

#[test]
fn a_hole_cannot_be_larger_than_the_free_space() {
    let fs = small(8192);
    let (file, _) = fs.open("A", WRITE).unwrap();
    assert_eq!(file.set_len(8193), Err(VfsError::NoSpace));
    assert_eq!(file.write_at(100_000, b"x"), Err((0, VfsError::NoSpace)));
    assert_eq!(file.stat().unwrap().size, 0);
    file.reserve(8192).unwrap();
    assert_eq!(fs.space().unwrap().free, 0);
    assert_eq!(file.stat().unwrap().size, 0);
    file.write_at(0, &[7; 8192]).unwrap();
}

#[test]
fn a_fault_fails_only_the_selected_call() {
    let fs = MemFs::new();
    fs.inject(Fault {
        call: Some(Call::WriteAt),
        skip: 1,
        times: 1,
        error: VfsError::Io(5),
        written: 3,
    });
    let (file, _) = fs.open("A", WRITE).unwrap();
    file.write_at(0, b"first").unwrap();
    assert_eq!(file.write_at(5, b"second"), Err((3, VfsError::Io(5))));
    assert_eq!(fs.contents("A").unwrap(), b"firstsec");
    file.write_at(5, b"second").unwrap();
    assert_eq!(fs.contents("A").unwrap(), b"firstsecond");
    assert_eq!(fs.calls(Call::WriteAt), 3);
    assert_eq!(fs.calls(Call::Open), 1);
}

#[test]
fn a_fault_without_a_kind_fails_any_call() {
    let fs = MemFs::new();
    fs.inject(Fault {
        call: None,
        skip: 2,
        times: 2,
        error: VfsError::TooManyOpen,
        written: 0,
    });
    let outcomes: Vec<bool> = (0..5).map(|_| fs.stat("").is_ok()).collect();
    assert_eq!(outcomes, [true, true, false, false, true]);
    fs.inject(Fault::next(Call::Space, VfsError::Denied));
    fs.clear_faults();
    assert!(fs.space().is_ok());
}

#[test]
fn time_follows_the_external_clock_and_changed_always_advances() {
    let fs = MemFs::new();
    fs.set_time(FsTime(1_000));
    fs.add_dir("D").unwrap();
    fs.add_file("D/A", b"").unwrap();
    let before = fs.stat("D").unwrap();
    fs.add_file("D/B", b"").unwrap();
    let after = fs.stat("D").unwrap();
    assert_eq!(after.modified, FsTime(1_000));
    assert!(after.changed > before.changed);

    static NOW: AtomicI64 = AtomicI64::new(5_000);
    fs.set_clock(|| FsTime(NOW.load(Ordering::Relaxed)));
    NOW.store(6_000, Ordering::Relaxed);
    fs.add_file("D/C", b"").unwrap();
    assert_eq!(fs.stat("D/C").unwrap().created, Some(FsTime(6_000)));
}

#[test]
fn discarded_contents_still_have_a_length() {
    let fs = MemFs::with_options(MemOptions {
        keep_contents: false,
        ..MemOptions::default()
    });
    let (file, _) = fs.open("A", WRITE).unwrap();
    file.write_at(0, &vec![9; 100_000]).unwrap();
    assert_eq!(file.stat().unwrap().size, 100_000);
    let mut buf = [0xa5; 4];
    assert_eq!(file.read_at(99_998, &mut buf), Ok(2));
    assert_eq!(buf, [0, 0, 0xa5, 0xa5]);
}

#[test]
fn a_read_only_file_system_refuses_every_change() {
    let fs = MemFs::new();
    fs.add_file("A", b"a").unwrap();
    let (file, _) = fs.open("A", WRITE).unwrap();
    fs.set_options(MemOptions {
        read_only: true,
        ..MemOptions::default()
    });
    assert_eq!(file.write_at(0, b"b"), Err((0, VfsError::ReadOnly)));
    assert_eq!(file.set_len(0), Err(VfsError::ReadOnly));
    assert_eq!(fs.remove_file("A"), Err(VfsError::ReadOnly));
    assert_eq!(fs.open("A", WRITE).err(), Some(VfsError::ReadOnly));
    assert_eq!(fs.open("NEW", WRITE).err(), Some(VfsError::ReadOnly));
    assert_eq!(fs.contents("A").unwrap(), b"a");
}

#[test]
fn a_file_without_its_write_bit_does_not_open_for_writing() {
    let fs = MemFs::new();
    fs.add_file("A", b"a").unwrap();
    fs.open("A", READ).unwrap().0.set_writable(false).unwrap();
    assert_eq!(fs.stat("A").unwrap().mode, 0o444);
    assert_eq!(fs.open("A", WRITE).err(), Some(VfsError::Denied));
    fs.open("A", READ).unwrap().0.set_writable(true).unwrap();
    assert!(fs.open("A", WRITE).is_ok());
}

#[test]
fn names_too_long_for_a_disk_are_too_long_here() {
    let fs = MemFs::new();
    assert_eq!(fs.make_dir(&"n".repeat(256)), Err(VfsError::NameTooLong));
    assert_eq!(fs.make_dir(&"n".repeat(255)), Ok(()));
}

mod conformance {
    use super::*;

    fn fresh() -> ((), MemFs) {
        ((), MemFs::new())
    }

    fn one_mib() -> Option<((), MemFs)> {
        Some(((), small(1 << 20)))
    }

    crate::conformance_tests!(fresh);
    crate::full_disk_tests!(one_mib);
}
