//! Opening, reading, writing, lengths.

use alloc::vec;

use super::*;
use crate::vfs::{Kind, VfsError};

pub fn create_says_whether_it_created(fs: &dyn Vfs) {
    assert!(fs.open("A", CREATE).unwrap().1);
    assert!(!fs.open("A", CREATE).unwrap().1);
    assert!(!fs.open("A", OVERWRITE).unwrap().1);
    assert!(!fs.open("A", READ).unwrap().1);
    assert!(fs.open("B", CREATE_NEW).unwrap().1);
}

pub fn exclusive_create_refuses_what_is_there(fs: &dyn Vfs) {
    put(fs, "A", b"kept");
    fs.make_dir("D").unwrap();
    assert_eq!(fs.open("A", CREATE_NEW).err(), Some(VfsError::Exists));
    assert_eq!(
        fs.open(
            "A",
            OpenHow {
                truncate: true,
                ..CREATE_NEW
            }
        )
        .err(),
        Some(VfsError::Exists)
    );
    assert_eq!(fs.open("D", CREATE_NEW).err(), Some(VfsError::Exists));
    assert_eq!(contents(fs, "A"), b"kept");
}

pub fn truncate_empties_and_plain_open_does_not(fs: &dyn Vfs) {
    put(fs, "A", b"contents");
    drop(open(fs, "A", CREATE));
    assert_eq!(contents(fs, "A"), b"contents");
    drop(open(
        fs,
        "A",
        OpenHow {
            truncate: true,
            ..WRITE
        },
    ));
    assert_eq!(contents(fs, "A"), b"");
}

pub fn a_missing_file_or_folder_on_the_way_is_not_found(fs: &dyn Vfs) {
    for path in ["A", "D/A", "D/E/A"] {
        assert_eq!(fs.open(path, READ).err(), Some(VfsError::NotFound));
        assert_eq!(fs.open_dir(path).err(), Some(VfsError::NotFound));
        assert_eq!(fs.stat(path).err(), Some(VfsError::NotFound));
        assert_eq!(fs.remove_file(path), Err(VfsError::NotFound));
        assert_eq!(fs.remove_dir(path), Err(VfsError::NotFound));
        assert_eq!(fs.rename(path, "B", true), Err(VfsError::NotFound));
        assert_eq!(fs.hard_link(path, "B"), Err(VfsError::NotFound));
        assert_eq!(fs.attribute(path, "user.a"), Err(VfsError::NotFound));
    }
    assert_eq!(fs.open("D/A", CREATE).err(), Some(VfsError::NotFound));
    assert_eq!(fs.make_dir("D/E"), Err(VfsError::NotFound));
}

pub fn a_file_on_the_way_is_not_a_directory(fs: &dyn Vfs) {
    put(fs, "A", b"");
    assert_eq!(fs.open("A/B", READ).err(), Some(VfsError::NotADirectory));
    assert_eq!(fs.open("A/B", CREATE).err(), Some(VfsError::NotADirectory));
    assert_eq!(fs.stat("A/B").err(), Some(VfsError::NotADirectory));
    assert_eq!(fs.make_dir("A/B"), Err(VfsError::NotADirectory));
    assert_eq!(fs.remove_file("A/B"), Err(VfsError::NotADirectory));
    assert_eq!(fs.open_dir("A").err(), Some(VfsError::NotADirectory));
}

pub fn a_folder_opens_to_be_looked_at_and_never_to_be_written(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    for path in ["", "D"] {
        assert_eq!(open(fs, path, READ).stat().unwrap().kind, Kind::Directory);
        assert_eq!(
            open(fs, path, OpenHow::default()).stat().unwrap().kind,
            Kind::Directory
        );
        assert_eq!(fs.open(path, WRITE).err(), Some(VfsError::IsADirectory));
    }
    assert_eq!(fs.open("D", CREATE).err(), Some(VfsError::IsADirectory));
    assert_eq!(
        fs.open(
            "D",
            OpenHow {
                create: true,
                ..READ
            }
        )
        .err(),
        Some(VfsError::IsADirectory)
    );
    assert_eq!(
        open(fs, "D", READ).read_at(0, &mut [0; 4]),
        Err(VfsError::IsADirectory)
    );
}

pub fn reads_are_short_only_at_the_end(fs: &dyn Vfs) {
    put(fs, "A", b"0123456789");
    let file = open(fs, "A", READ);
    let mut buf = [0xa5; 4];
    assert_eq!((file.read_at(3, &mut buf), &buf), (Ok(4), b"3456"));
    assert_eq!((file.read_at(8, &mut buf), &buf[..2]), (Ok(2), &b"89"[..]));
    assert_eq!(file.read_at(10, &mut buf), Ok(0));
    for offset in [(1 << 63) - 2, (1 << 63) - 1, 1 << 63, u64::MAX] {
        assert_eq!(file.read_at(offset, &mut buf), Ok(0), "{offset}");
    }
    assert_eq!(file.read_at(0, &mut []), Ok(0));
}

pub fn a_gap_reads_as_zeros(fs: &dyn Vfs) {
    let file = open(fs, "A", CREATE);
    file.write_at(100_000, b"end").unwrap();
    let mut wanted = vec![0; 100_000];
    wanted.extend_from_slice(b"end");
    assert!(all_of(&*file) == wanted);
    file.write_at(200_000, b"").unwrap();
    assert_eq!(
        file.stat().unwrap().size,
        100_003,
        "a write of zero bytes must not extend the file"
    );
}

pub fn blocks_written_at_odd_offsets_read_back(fs: &dyn Vfs) {
    let data = noise(300_001);
    let file = open(fs, "A", CREATE);
    for (index, chunk) in data
        .chunks(4_999)
        .enumerate()
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        file.write_at(index as u64 * 4_999, chunk).unwrap();
    }
    assert!(all_of(&*file) == data);
    assert!(contents(fs, "A") == data);
    let mut part = vec![0xa5; 100_000];
    assert_eq!(file.read_at(65_535, &mut part), Ok(100_000));
    assert!(part == data[65_535..165_535]);
}

pub fn what_was_not_asked_for_at_open_is_denied(fs: &dyn Vfs) {
    put(fs, "A", b"kept");
    let reader = open(fs, "A", READ);
    assert_eq!(reader.write_at(0, b"x"), Err((0, VfsError::Denied)));
    assert_eq!(reader.set_len(0), Err(VfsError::Denied));
    assert_eq!(reader.set_len(100), Err(VfsError::Denied));
    assert_eq!(reader.reserve(100), Err(VfsError::Denied));
    let writer = open(
        fs,
        "A",
        OpenHow {
            read: false,
            ..WRITE
        },
    );
    assert_eq!(writer.read_at(0, &mut [0; 4]), Err(VfsError::Denied));
    let neither = open(fs, "A", OpenHow::default());
    assert_eq!(neither.read_at(0, &mut [0; 4]), Err(VfsError::Denied));
    assert_eq!(contents(fs, "A"), b"kept");
}

pub fn set_len_cuts_and_extends_with_zeros(fs: &dyn Vfs) {
    put(fs, "A", b"0123456789");
    let file = open(fs, "A", WRITE);
    file.set_len(4).unwrap();
    assert_eq!(all_of(&*file), b"0123");
    file.set_len(8).unwrap();
    assert_eq!(all_of(&*file), b"0123\0\0\0\0");
    file.set_len(8).unwrap();
    file.set_len(200_000).unwrap();
    assert_eq!(file.stat().unwrap().size, 200_000);
    assert!(
        file.stat().unwrap().allocated >= 200_000,
        "the space must be allocated"
    );
    assert!(all_of(&*file)[8..].iter().all(|b| *b == 0));
    file.set_len(0).unwrap();
    assert_eq!(file.stat().unwrap().size, 0);
}

pub fn reserve_leaves_the_length_alone(fs: &dyn Vfs) {
    put(fs, "A", b"0123");
    let file = open(fs, "A", WRITE);
    file.reserve(100_000).unwrap();
    file.reserve(0).unwrap();
    file.reserve(2).unwrap();
    assert_eq!(all_of(&*file), b"0123");
    assert!(
        file.stat().unwrap().allocated >= 100_000,
        "the space must be allocated"
    );
}

pub fn offsets_beyond_the_largest_file_are_refused(fs: &dyn Vfs) {
    let file = open(fs, "A", CREATE);
    for offset in [u64::MAX, 1 << 63, (1 << 63) - 1] {
        assert_eq!(
            file.write_at(offset, b"x"),
            Err((0, VfsError::TooLarge)),
            "{offset}"
        );
    }
    assert_eq!(file.set_len(1 << 63), Err(VfsError::TooLarge));
    assert_eq!(file.reserve(u64::MAX), Err(VfsError::TooLarge));
    assert_eq!(file.stat().unwrap().size, 0);
}

pub fn an_open_file_outlives_its_name(fs: &dyn Vfs) {
    put(fs, "A", b"alive");
    let file = open(fs, "A", WRITE);
    fs.remove_file("A").unwrap();
    assert_eq!(fs.stat("A").err(), Some(VfsError::NotFound));
    assert_eq!(all_of(&*file), b"alive");
    file.write_at(5, b" and well").unwrap();
    assert_eq!(all_of(&*file), b"alive and well");
    assert_eq!(file.stat().unwrap().links, 0);
    put(fs, "A", b"another");
    assert_ne!(fs.stat("A").unwrap().id, file.stat().unwrap().id);
}

pub fn an_open_file_follows_its_rename(fs: &dyn Vfs) {
    put(fs, "A", b"one");
    fs.make_dir("D").unwrap();
    let file = open(fs, "A", WRITE);
    fs.rename("A", "D/B", false).unwrap();
    file.write_at(3, b"two").unwrap();
    assert_eq!(contents(fs, "D/B"), b"onetwo");
    assert_eq!(fs.stat("D/B").unwrap().id, file.stat().unwrap().id);
    fs.rename("D", "E", false).unwrap();
    file.write_at(6, b"three").unwrap();
    assert_eq!(contents(fs, "E/B"), b"onetwothree");
}

pub fn a_replaced_file_lives_on_where_it_is_open(fs: &dyn Vfs) {
    put(fs, "OLD", b"old");
    put(fs, "NEW", b"new");
    let old = open(fs, "OLD", READ);
    fs.rename("NEW", "OLD", true).unwrap();
    assert_eq!(all_of(&*old), b"old");
    assert_eq!(contents(fs, "OLD"), b"new");
    assert_eq!(fs.stat("NEW").err(), Some(VfsError::NotFound));
}

pub fn sync_works_on_files_and_folders(fs: &dyn Vfs) {
    put(fs, "A", b"data");
    fs.make_dir("D").unwrap();
    open(fs, "A", WRITE).sync().unwrap();
    open(fs, "A", READ).sync().unwrap();
    open(fs, "D", READ).sync().unwrap();
    open(fs, "", READ).sync().unwrap();
}
