//! Decoding shared by the replies of all TRANS2 queries: names, labels, lists of streams.

use crate::{error::Result, io::Reader};

/// A name behind its length.
pub(super) fn take_name<'a>(r: &mut Reader<'a>) -> Result<&'a [u8]> {
    let len = r.u32("name length")? as usize;
    r.take(len, "name")
}

/// A stream of a file ([MS-FSCC] 2.4.43).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream<'a> {
    /// Name with its type, UTF-16LE: `::$DATA` is the file itself.
    pub name: &'a [u8],
    /// Length, bytes.
    pub size: u64,
    /// Space allocated, bytes.
    pub allocation: u64,
}

/// The streams in the data of [`super::file::Level::Stream`]. After a malformed entry, which is an error, the list
/// ends.
pub fn streams(data: &[u8]) -> impl Iterator<Item = Result<Stream<'_>>> {
    let mut rest = Some(data).filter(|data| !data.is_empty());
    core::iter::from_fn(move || {
        let here = rest.take()?;
        let mut r = Reader::new(here);
        let mut take = || -> Result<(usize, Stream<'_>)> {
            let next = r.u32("next stream")? as usize;
            let len = r.u32("name length")? as usize;
            let (size, allocation) = (r.u64("stream size")?, r.u64("allocation size")?);
            let name = r.take(len, "stream name")?;
            let stream = Stream {
                name,
                size,
                allocation,
            };
            Ok((next, stream))
        };
        let taken = take();
        if let Ok((next, _)) = taken
            && next >= MIN_STREAM
        {
            rest = here.get(next..).filter(|rest| !rest.is_empty());
        }
        Some(taken.map(|(_, stream)| stream))
    })
}

/// Bytes of a stream's entry without its name.
const MIN_STREAM: usize = 24;

/// Decodes the label at the start of `rest`. Its length counts characters on some servers and bytes on others, and may
/// include a terminator.
pub(super) fn label(len: usize, rest: &[u8], unicode: bool) -> &[u8] {
    let width = if unicode { 2 } else { 1 };
    let longest = rest.get(..len.saturating_mul(width));
    let label = longest.or(rest.get(..len)).unwrap_or(rest);
    let end = label
        .chunks_exact(width)
        .position(|character| character.iter().all(|&byte| byte == 0));
    let end = end.map_or(label.len(), |characters| characters * width);
    label.get(..end).unwrap_or(label)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::{
        super::{
            file::{self, FileInfo},
            volume::{self, VolumeInfo},
        },
        *,
    };
    use crate::{
        io::Writer,
        smb::query_information::DosTimes,
        time::{DosDateTime, FileTime},
    };
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const FILE_LEVELS: [file::Level; 14] = [
        file::Level::InfoStandard,
        file::Level::InfoQueryEaSize,
        file::Level::Basic,
        file::Level::Standard,
        file::Level::Internal,
        file::Level::Ea,
        file::Level::Access,
        file::Level::Name,
        file::Level::Position,
        file::Level::Mode,
        file::Level::All,
        file::Level::AltName,
        file::Level::NetworkOpen,
        file::Level::AttributeTag,
    ];

    const VOLUME_LEVELS: [volume::Level; 8] = [
        volume::Level::InfoAllocation,
        volume::Level::InfoVolume,
        volume::Level::Volume,
        volume::Level::Size,
        volume::Level::Device,
        volume::Level::Attribute,
        volume::Level::FullSize,
        volume::Level::ObjectId,
    ];

    fn file_info() -> FileInfo<'static> {
        let stamp = DosDateTime {
            date: 0x4f8f,
            time: 0x64c9,
        };
        FileInfo {
            dos_times: DosTimes {
                created: stamp,
                accessed: stamp,
                modified: stamp,
            },
            created: FileTime(1),
            accessed: FileTime(2),
            modified: FileTime(3),
            changed: FileTime(4),
            dos_attributes: 0x21,
            attributes: 0x2021,
            allocation: 8192,
            size: 5000,
            links: 1,
            delete_pending: true,
            directory: true,
            index: 77,
            ea_size: 9,
            access: 0x0012_0089,
            position: 3,
            mode: 2,
            name: b"\\\0A\0",
            alt_name: b"A\0",
        }
    }

    fn volume_info() -> VolumeInfo<'static> {
        VolumeInfo {
            created: FileTime(9),
            serial: 0x1234_5678,
            object_id: *b"sixteen bytes it",
            label: b"DISK",
            label_unicode: b"D\0I\0",
            file_system: b"F\0A\0T\0",
            attributes: 7,
            max_name: 255,
            total_units: 1000,
            free_units: 400,
            sectors_per_unit: 8,
            bytes_per_sector: 512,
            read_only: true,
        }
    }

    #[test]
    fn file_information_of_every_level_survives_a_round_trip() {
        for level in FILE_LEVELS {
            let mut out = Writer::default();
            file_info().emit(level, &mut out);
            let data = out.into_vec();
            let parsed = FileInfo::parse(level, &data).unwrap();
            assert_ne!(parsed, FileInfo::default(), "{level:?}");
            let mut again = Writer::default();
            parsed.emit(level, &mut again);
            assert_eq!(again.into_vec(), data, "{level:?}");
        }
    }

    #[test]
    fn volume_information_of_every_level_survives_a_round_trip() {
        for level in VOLUME_LEVELS {
            let mut out = Writer::default();
            volume_info().emit(level, &mut out);
            let data = out.into_vec();
            let parsed = VolumeInfo::parse(level, &data, false).unwrap();
            assert_ne!(parsed, VolumeInfo::default(), "{level:?}");
            let mut again = Writer::default();
            parsed.emit(level, &mut again);
            assert_eq!(again.into_vec(), data, "{level:?}");
        }
        assert_eq!(volume_info().unit_bytes(), 4096);
    }

    #[test]
    fn pads_and_the_name_of_all_information_may_lack() {
        let mut out = Writer::default();
        file_info().emit(file::Level::Basic, &mut out);
        let basic = FileInfo::parse(file::Level::Basic, &out.as_slice()[..36]).unwrap();
        assert_eq!((basic.changed, basic.attributes), (FileTime(4), 0x2021));
        assert!(FileInfo::parse(file::Level::Basic, &out.as_slice()[..35]).is_err());
        let mut out = Writer::default();
        file_info().emit(file::Level::All, &mut out);
        let all = FileInfo::parse(file::Level::All, &out.as_slice()[..62]).unwrap();
        assert_eq!((all.size, all.directory, all.name), (5000, true, &b""[..]));
    }

    #[test]
    fn a_label_is_found_whether_its_length_counts_characters_or_bytes() {
        let label = |data, unicode| {
            let info = VolumeInfo::parse(volume::Level::InfoVolume, data, unicode).unwrap();
            (info.serial, info.label)
        };
        let oem = (1, &b"DISK"[..]);
        assert_eq!(label(b"\x01\0\0\0\x04DISK", false), oem);
        assert_eq!(label(b"\x01\0\0\0\x0bDISK\0      ", false), oem);
        assert_eq!(label(b"\x01\0\0\0\x09DISK", false), oem);
        let wide = (1, &b"D\0I\0S\0K\0"[..]);
        assert_eq!(label(b"\x01\0\0\0\x04D\0I\0S\0K\0", true), wide);
        assert_eq!(label(b"\x01\0\0\0\x08D\0I\0S\0K\0", true), wide);
        assert_eq!(label(b"\x01\0\0\0\x0aD\0I\0S\0K\0\0\0", true), wide);
        assert_eq!(label(b"\x01\0\0\0\0", true), (1, &b""[..]));
    }

    #[test]
    fn streams_are_walked_and_a_loop_ends() {
        let mut out = Writer::default();
        FileInfo {
            directory: false,
            ..file_info()
        }
        .emit(file::Level::Stream, &mut out);
        let one = out.into_vec();
        let mut two = one.clone();
        two.resize(40, 0);
        two[0] = 40;
        two.extend_from_slice(&one);
        let read: Vec<_> = streams(&two).collect::<Result<_>>().unwrap();
        assert_eq!((read.len(), read[1].size), (2, 5000));
        assert_eq!(read[0].name, b":\0:\0$\0D\0A\0T\0A\0");
        two[0] = 1;
        assert_eq!(streams(&two).count(), 1);
        assert_eq!(streams(&[]).count(), 0);
    }

    proptest! {
        #[test]
        fn arbitrary_data_is_refused_or_decodes(data in proptest::collection::vec(any::<u8>(), 0..120)) {
            for level in FILE_LEVELS {
                if let Ok(info) = FileInfo::parse(level, &data) {
                    prop_assert!(info.name.len() <= data.len());
                }
            }
            for level in VOLUME_LEVELS {
                if let Ok(info) = VolumeInfo::parse(level, &data, false) {
                    prop_assert!(info.label.len() <= data.len());
                }
            }
            prop_assert!(streams(&data).count() <= data.len() + 1);
        }
    }
}
