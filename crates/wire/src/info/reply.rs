//! The client's side of what TRANS2 queries answer: files ([MS-CIFS] 2.2.8.3, [MS-FSCC] 2.4) and volumes (2.2.8.2).
//!
//! Fields that a level does not tell keep their default. Trailing pads may lack: old servers leave them out.

use super::{
    file::{self, FileInfo},
    volume::{self, VolumeInfo},
};
use crate::{
    error::{Error, Result},
    io::Reader,
    smb::query_information::DosTimes,
    time::FileTime,
};

impl<'a> FileInfo<'a> {
    /// Decodes the data of `level`. Of levels that hold no fixed form (lists of extended attributes, streams) nothing is
    /// told: [`super::ea`] and [`streams`] read those.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(level: file::Level, data: &'a [u8]) -> Result<Self> {
        use file::Level;
        let mut r = Reader::new(data);
        let mut info = Self::default();
        match level {
            Level::InfoStandard => info.take_info_standard(&mut r)?,
            Level::InfoQueryEaSize => {
                info.take_info_standard(&mut r)?;
                info.ea_size = r.u32("EA size")?;
            }
            Level::Basic => info.take_basic(&mut r)?,
            Level::Standard => info.take_standard(&mut r)?,
            Level::Internal => info.index = r.u64("index number")?,
            Level::Ea => info.ea_size = r.u32("EA size")?,
            Level::Access => info.access = r.u32("access")?,
            Level::Name => info.name = take_name(&mut r)?,
            Level::Position => info.position = r.u64("position")?,
            Level::Mode => info.mode = r.u32("mode")?,
            Level::All => info.take_all(&mut r)?,
            Level::AltName => info.alt_name = take_name(&mut r)?,
            Level::Compression => info.size = r.u64("compressed size")?,
            Level::NetworkOpen => info.take_network_open(&mut r)?,
            Level::AttributeTag => info.attributes = r.u32("attributes")?,
            Level::Alignment
            | Level::Stream
            | Level::InfoQueryEasFromList
            | Level::InfoQueryAllEas
            | Level::InfoIsNameValid => {}
        }
        Ok(info)
    }

    fn take_info_standard(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.dos_times = DosTimes::parse(r)?;
        self.size = u64::from(r.u32("file size")?);
        self.allocation = u64::from(r.u32("allocation size")?);
        self.dos_attributes = r.u16("attributes")?;
        Ok(())
    }

    fn take_times(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.created = FileTime(r.u64("creation time")?);
        self.accessed = FileTime(r.u64("last access time")?);
        self.modified = FileTime(r.u64("last write time")?);
        self.changed = FileTime(r.u64("change time")?);
        Ok(())
    }

    fn take_basic(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.take_times(r)?;
        self.attributes = r.u32("attributes")?;
        r.take_up_to(4);
        Ok(())
    }

    fn take_standard(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.allocation = r.u64("allocation size")?;
        self.size = r.u64("end of file")?;
        self.links = r.u32("number of links")?;
        self.delete_pending = r.u8("delete pending")? != 0;
        self.directory = r.u8("directory")? != 0;
        r.take_up_to(2);
        Ok(())
    }

    /// The name at the end may lack.
    fn take_all(&mut self, r: &mut Reader<'a>) -> Result<()> {
        self.take_basic(r)?;
        self.take_standard(r)?;
        self.ea_size = r.u32("EA size").unwrap_or(0);
        self.name = take_name(r).unwrap_or(&[]);
        Ok(())
    }

    fn take_network_open(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.take_times(r)?;
        self.allocation = r.u64("allocation size")?;
        self.size = r.u64("end of file")?;
        self.attributes = r.u32("attributes")?;
        Ok(())
    }
}

fn take_name<'a>(r: &mut Reader<'a>) -> Result<&'a [u8]> {
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
    /// Space taken, bytes.
    pub allocation: u64,
}

/// The streams that [`file::Level::Stream`] tells. A malformed one is the last, as an error.
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

impl<'a> VolumeInfo<'a> {
    /// Decodes the data of `level`; `unicode` is the header's flag. The label of SMB_INFO_VOLUME is in the message's
    /// encoding and goes to [`Self::label`]; the others' names are UTF-16LE.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(level: volume::Level, data: &'a [u8], unicode: bool) -> Result<Self> {
        use volume::Level;
        let mut r = Reader::new(data);
        let mut info = Self::default();
        match level {
            Level::InfoAllocation => info.take_allocation(&mut r)?,
            Level::InfoVolume => {
                info.serial = r.u32("serial number")?;
                let len = usize::from(r.u8("label length")?);
                info.label = label(len, r.rest(), unicode);
            }
            Level::Volume => info.take_volume(&mut r)?,
            Level::Size => {
                info.take_units(&mut r)?;
                info.take_unit_size(&mut r)?;
            }
            Level::FullSize => {
                info.take_units(&mut r)?;
                r.u64("free units")?;
                info.take_unit_size(&mut r)?;
            }
            Level::ObjectId => info.object_id = r.array("object ID")?,
            Level::Device => {
                const READ_ONLY: u32 = 0x02;
                r.u32("device type")?;
                info.read_only = r.u32("characteristics")? & READ_ONLY != 0;
            }
            Level::Attribute => info.take_attribute(&mut r)?,
            Level::Control => {}
        }
        Ok(info)
    }

    fn take_volume(&mut self, r: &mut Reader<'a>) -> Result<()> {
        self.created = FileTime(r.u64("creation time")?);
        self.serial = r.u32("serial number")?;
        let len = r.u32("label length")? as usize;
        r.take(2, "reserved")?;
        self.label_unicode = r.take_up_to(len);
        Ok(())
    }

    fn take_attribute(&mut self, r: &mut Reader<'a>) -> Result<()> {
        self.attributes = r.u32("attributes")?;
        self.max_name = r.u32("max name length")?;
        let len = r.u32("name length")? as usize;
        self.file_system = r.take_up_to(len);
        Ok(())
    }

    fn take_allocation(&mut self, r: &mut Reader<'_>) -> Result<()> {
        r.u32("file system ID")?;
        self.sectors_per_unit = r.u32("sectors per unit")?;
        self.total_units = u64::from(r.u32("total units")?);
        self.free_units = u64::from(r.u32("free units")?);
        self.bytes_per_sector = r.u16("bytes per sector")?;
        Ok(())
    }

    fn take_units(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.total_units = r.u64("total units")?;
        self.free_units = r.u64("free units")?;
        Ok(())
    }

    fn take_unit_size(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.sectors_per_unit = r.u32("sectors per unit")?;
        let bytes = r.u32("bytes per sector")?;
        self.bytes_per_sector = u16::try_from(bytes).map_err(|_| Error::Value {
            what: "bytes per sector",
        })?;
        Ok(())
    }

    /// Size of an allocation unit, bytes.
    pub const fn unit_bytes(&self) -> u64 {
        (self.sectors_per_unit as u64).saturating_mul(self.bytes_per_sector as u64)
    }
}

/// The label at the beginning of `rest`: its length counts characters on some servers and bytes on others, and may count
/// a terminator.
fn label(len: usize, rest: &[u8], unicode: bool) -> &[u8] {
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
    use super::*;
    use crate::{io::Writer, time::DosDateTime};
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
    fn what_a_level_tells_of_a_file_is_emitted_again_as_it_was() {
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
    fn what_a_level_tells_of_a_volume_is_emitted_again_as_it_was() {
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
