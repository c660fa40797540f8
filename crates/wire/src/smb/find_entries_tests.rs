#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::super::find_first2::{FindFirst2, FindNext2, Found};
use super::*;
use crate::smb::find_first2::EntryList;
use crate::{block::WireStr, header::Sid};
use alloc::vec::Vec;
use proptest::prelude::*;

const LEVELS: [Level; 9] = [
    Level::Standard,
    Level::QueryEaSize,
    Level::QueryEasFromList,
    Level::Directory,
    Level::FullDirectory,
    Level::Names,
    Level::BothDirectory,
    Level::IdFullDirectory,
    Level::IdBothDirectory,
];

const fn format(level: Level, unicode: bool) -> Format {
    Format {
        level,
        unicode,
        resume_keys: level.is_old(),
        zone: ZoneMinutesWest(-60),
    }
}

fn list(format: Format, entries: &[Entry<'_>]) -> Vec<u8> {
    let mut list = EntryList::new(format.level, format.unicode, 4096);
    (list.resume_keys, list.zone) = (format.resume_keys, format.zone);
    assert!(entries.iter().all(|entry| list.push(entry)));
    list.into_bytes()
}

/// An entry with exactly the fields of `level`.
fn entry<'a>(level: Level, name: &'a [u8]) -> Entry<'a> {
    const TIME: i64 = 1_576_421_662_000_000_000;
    let named = Entry {
        key: 7,
        name,
        ..Entry::default()
    };
    if level == Level::Names {
        return named;
    }
    let told = Entry {
        created: TIME,
        accessed: TIME + 2_000_000_000,
        modified: TIME + 4_000_000_000,
        changed: TIME + 4_000_000_000,
        size: 5,
        allocated: 4096,
        attributes: 0x20,
        ..named
    };
    let has_short = matches!(level, Level::BothDirectory | Level::IdBothDirectory);
    let has_id = matches!(level, Level::IdFullDirectory | Level::IdBothDirectory);
    Entry {
        ea_size: if level.has_ea_size() && level != Level::QueryEasFromList {
            9
        } else {
            0
        },
        eas: if level == Level::QueryEasFromList {
            b"\x04\0\0\0"
        } else {
            b""
        },
        short_name: if has_short { b"A\0~\x001\0" } else { b"" },
        file_id: if has_id { 0x1122 } else { 0 },
        ..told
    }
}

#[test]
fn entries_of_every_level_come_back_in_both_encodings() {
    for level in LEVELS {
        for (unicode, names) in [
            (false, [&b"A"[..], b"FOO.TXT", b"ODD"]),
            (true, [&b"A\0"[..], b"F\0O\0", b"\xe4\0b\0c\0"]),
        ] {
            let format = format(level, unicode);
            let entries = names.map(|name| entry(level, name));
            let data = list(format, &entries);
            let read: Result<Vec<_>> = Entries::new(format, &data, 3).collect();
            assert_eq!(read.as_deref(), Ok(&entries[..]), "{level:?} {unicode}");
            assert_eq!(Entries::new(format, &data, 2).count(), 2);
        }
    }
}

#[test]
fn truncated_or_corrupted_entries_only_end_the_iteration() {
    for level in LEVELS {
        let format = format(level, true);
        let data = list(format, &[entry(level, b"A\0"), entry(level, b"B\0C\0")]);
        for len in 0..data.len() {
            let read: Vec<_> = Entries::new(format, &data[..len], 2).collect();
            assert!(read.len() <= 2);
        }
        for at in 0..data.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bent = data.clone();
                bent[at] = value;
                assert!(Entries::new(format, &bent, u16::MAX).count() <= bent.len());
            }
        }
    }
}

#[test]
fn an_entry_that_leads_back_into_itself_is_the_last() {
    let format = format(Level::Names, true);
    let mut data = list(format, &[entry(Level::Names, b"A\0")]);
    data[0] = 4;
    let read: Vec<_> = Entries::new(format, &data, 9).collect();
    assert_eq!(read.len(), 1);
    assert!(read[0].is_err());
}

/// The beginning of a list that a Windows server sent without resume keys: two entries.
const WINDOWS: &[u8] = b"\x2f\x4d\x61\x1a\x2f\x4d\x61\x1a\x2f\x4d\x61\x1a\0\0\0\0\0\0\0\0\x16\0\x0c$Recycle.Bin\0\xad\x58\x9c\x5a\xad\x58\x9c\x5a\xad\x58\x9c\x5a\0\0\0\0\0\0\0\0\x16\0\x16Documents and Settings\0";

#[test]
fn a_windows_list_of_the_standard_level_is_read() {
    let format = Format {
        resume_keys: false,
        ..format(Level::Standard, false)
    };
    for data in [WINDOWS, &WINDOWS[..WINDOWS.len() - 1]] {
        let read: Vec<_> = Entries::new(format, data, 2).flatten().collect();
        assert_eq!(read[0].name, b"$Recycle.Bin");
        assert_eq!(read[1].name, b"Documents and Settings");
        assert_eq!((read[1].attributes, read[1].size), (0x16, 0));
    }
}

#[test]
fn a_length_that_includes_the_terminator_gives_the_same_name() {
    let format = Format {
        resume_keys: false,
        ..format(Level::Standard, false)
    };
    let mut data = WINDOWS.to_vec();
    data[22] += 1;
    let read: Vec<_> = Entries::new(format, &data, 2).flatten().collect();
    assert_eq!(
        (read[0].name, read[1].name.len()),
        (&b"$Recycle.Bin"[..], 22)
    );
}

#[test]
fn times_that_are_none_are_the_smallest_number() {
    let format = format(Level::Standard, false);
    let data = [&[0; 26][..], b"\x01A\0"].concat();
    let read = Entries::new(format, &data, 1).next().unwrap().unwrap();
    assert_eq!((read.name, read.created), (&b"A"[..], i64::MIN));
}

#[test]
fn requests_come_back_with_their_names() {
    let pattern = WireStr {
        raw: b"\\\0*\0",
        unicode: true,
    };
    let first = FindFirst2 {
        search_attributes: 0x16,
        search_count: 100,
        flags: 6,
        level: 0x104,
    };
    let bytes = first.to_bytes(&pattern);
    assert_eq!(FindFirst2::parse(Reader::new(&bytes)), Ok(first));
    assert_eq!(&bytes[FindFirst2::NAME_OFFSET..], b"\\\0*\0\0\0");
    let next = FindNext2 {
        sid: Sid(0x801),
        search_count: 100,
        level: 0x104,
        resume_key: 5,
        flags: 0xe,
    };
    let bytes = next.to_bytes(&pattern);
    assert_eq!(FindNext2::parse(Reader::new(&bytes)), Ok(next));
    assert_eq!(&bytes[FindNext2::NAME_OFFSET..], b"\\\0*\0\0\0");
}

#[test]
fn search_replies_survive_a_round_trip_and_may_lack_their_last_words() {
    for sid in [Some(Sid(0x0801)), None] {
        let found = Found {
            sid,
            count: 15,
            end_of_search: true,
            last_name_offset: 501,
        };
        let bytes = found.to_bytes();
        assert_eq!(Found::parse(&bytes, sid.is_some()), Ok(found));
        for len in 0..bytes.len() {
            let _ = Found::parse(&bytes[..len], sid.is_some());
        }
        let short = Found::parse(&bytes[..bytes.len() - 4], sid.is_some()).unwrap();
        assert_eq!((short.count, short.last_name_offset), (15, 0));
    }
}

proptest! {
    #[test]
    fn arbitrary_data_never_yields_more_entries_than_bytes(
        level in 0usize..9,
        unicode in any::<bool>(),
        resume_keys in any::<bool>(),
        data in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let format = Format { resume_keys, ..format(LEVELS[level], unicode) };
        for entry in Entries::new(format, &data, u16::MAX).flatten() {
            prop_assert!(entry.name.len() <= data.len());
        }
        prop_assert!(Entries::new(format, &data, u16::MAX).count() <= data.len());
    }
}

/// Three entries as a Windows Me server sent them (rapid7/ruby_smb, pull request 294).
const WINDOWS_ME: &[u8] =
    b"\x98\x5c\x38\x70\x98\x5c\0\0\x98\x5c\x39\x70\0\0\0\0\0\0\0\0\x10\0\x01.\0\
\x98\x5c\x38\x70\x98\x5c\0\0\x98\x5c\x39\x70\0\0\0\0\0\0\0\0\x10\0\x02..\0\
\x98\x5c\x40\x70\x98\x5c\0\0\x98\x5c\x4c\x70\x16\0\0\0\x16\0\0\0\x20\0\x09HELLO.TXT\0";

#[test]
fn resume_keys_that_a_server_leaves_out_are_not_read() {
    let asked = Format {
        level: Level::Standard,
        unicode: false,
        resume_keys: true,
        zone: ZoneMinutesWest(0),
    };
    let found = asked.as_found(WINDOWS_ME, 3);
    assert!(!found.resume_keys);
    let entries = Entries::new(found, WINDOWS_ME, 3);
    let names: Vec<_> = entries.map(|entry| entry.unwrap().name).collect();
    assert_eq!(names, [&b"."[..], b"..", b"HELLO.TXT"]);
    let keyed: Vec<u8> = [&[7, 0, 0, 0], WINDOWS_ME.get(..25).unwrap()].concat();
    assert!(asked.as_found(&keyed, 1).resume_keys);
    assert!(asked.as_found(b"", 0).resume_keys);
    assert!(
        asked.as_found(&[0; 40], 3).resume_keys,
        "both fields are invalid"
    );
}
