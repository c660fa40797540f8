//! Tests on a full file system with a capacity of one MiB.

use alloc::vec;

use super::*;
use crate::vfs::VfsError;

const CHUNK: usize = 40_000;

/// Writes until the file system is full; returns the length.
fn fill(fs: &dyn Vfs, path: &str) -> u64 {
    let file = open(fs, path, CREATE);
    let mut at = 0;
    for _ in 0..1_000 {
        match file.write_at(at, &[0x55; CHUNK]) {
            Ok(()) => at += CHUNK as u64,
            Err((written, why)) => {
                assert_eq!(why, VfsError::NoSpace);
                return at + written as u64;
            }
        }
    }
    panic!("one MiB took {at} bytes");
}

pub fn a_failed_write_says_what_is_in_the_file(fs: &dyn Vfs) {
    let data = noise(4 << 20);
    let file = open(fs, "A", CREATE);
    let (written, why) = file.write_at(0, &data).unwrap_err();
    assert_eq!(why, VfsError::NoSpace);
    assert!(written > 0 && written <= 1 << 20, "{written}");
    assert_eq!(file.stat().unwrap().size, written as u64);
    assert!(all_of(&*file) == data[..written]);
    assert_eq!(
        file.write_at(written as u64, &data),
        Err((0, VfsError::NoSpace))
    );
    assert!(
        all_of(&*file) == data[..written],
        "a second attempt must not lose data"
    );
}

pub fn an_extension_without_room_changes_nothing(fs: &dyn Vfs) {
    put(fs, "A", b"kept");
    let file = open(fs, "A", WRITE);
    let before = fs.space().unwrap();
    for len in [2 << 20, 1 << 40] {
        assert_eq!(file.set_len(len), Err(VfsError::NoSpace));
        assert_eq!(all_of(&*file), b"kept");
        assert_eq!(fs.space().unwrap(), before, "the space must be free again");
    }
    file.set_len(500_000).unwrap();
}

pub fn a_reservation_without_room_changes_nothing(fs: &dyn Vfs) {
    put(fs, "A", b"kept");
    let file = open(fs, "A", WRITE);
    let before = fs.space().unwrap();
    for len in [2 << 20, 1 << 40] {
        assert_eq!(file.reserve(len), Err(VfsError::NoSpace));
        assert_eq!(all_of(&*file), b"kept");
        assert_eq!(fs.space().unwrap(), before, "the space must be free again");
    }
}

pub fn what_was_reserved_can_be_written_on_a_full_disk(fs: &dyn Vfs) {
    let file = open(fs, "A", CREATE);
    file.reserve(500_000).unwrap();
    fill(fs, "B");
    let data = noise(500_000);
    file.write_at(0, &data).unwrap();
    assert!(all_of(&*file) == data);
}

pub fn what_was_extended_can_be_written_on_a_full_disk(fs: &dyn Vfs) {
    let file = open(fs, "A", CREATE);
    file.set_len(500_000).unwrap();
    fill(fs, "B");
    let data = noise(500_000);
    file.write_at(0, &data).unwrap();
    assert!(all_of(&*file) == data);
}

pub fn room_comes_back_when_the_last_user_of_a_file_goes(fs: &dyn Vfs) {
    let before = fs.space().unwrap().free;
    let filled = fill(fs, "A");
    assert!(filled >= 900_000, "{filled}");
    let file = open(fs, "A", READ);
    fs.remove_file("A").unwrap();
    assert!(fs.space().unwrap().free < 100_000, "the file must be open");
    drop(file);
    assert_eq!(fs.space().unwrap().free, before);
    assert_eq!(fill(fs, "B"), filled);
}

pub fn overwriting_needs_no_room(fs: &dyn Vfs) {
    let filled = fill(fs, "A");
    let file = open(fs, "A", WRITE);
    let data = vec![0xAA; usize::try_from(filled).unwrap()];
    file.write_at(0, &data).unwrap();
    assert!(all_of(&*file) == data);
}

/// Makes a test of every case in this module. `$small` is a function that returns `Some` of the argument of
/// [`conformance_tests!`](crate::conformance_tests), with a capacity of one MiB, or `None` to skip.
#[macro_export]
macro_rules! full_disk_tests {
    ($small:path) => {
        $crate::full_disk_tests!(@ $small:
            a_failed_write_says_what_is_in_the_file,
            an_extension_without_room_changes_nothing,
            a_reservation_without_room_changes_nothing,
            what_was_reserved_can_be_written_on_a_full_disk,
            what_was_extended_can_be_written_on_a_full_disk,
            room_comes_back_when_the_last_user_of_a_file_goes,
            overwriting_needs_no_room,
        );
    };
    (@ $small:path: $($case:ident),* $(,)?) => {
        $(
            #[test]
            fn $case() {
                if let Some((_alive, fs)) = $small() {
                    $crate::vfs::conformance::full_disk::$case(&fs);
                }
            }
        )*
    };
}
