//! Data of TRANS2_QUERY_FS_INFORMATION: [MS-CIFS] 2.2.8.2, [MS-FSCC] 2.5.

use super::{PASS_THROUGH, reply::label};
use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
    time::FileTime,
};

/// A level, whichever of its numbers it was asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// SMB_INFO_ALLOCATION (1).
    InfoAllocation,
    /// SMB_INFO_VOLUME (2).
    InfoVolume,
    /// SMB_QUERY_FS_VOLUME_INFO (0x102), FileFsVolumeInformation.
    Volume,
    /// SMB_QUERY_FS_SIZE_INFO (0x103), FileFsSizeInformation.
    Size,
    /// SMB_QUERY_FS_DEVICE_INFO (0x104), FileFsDeviceInformation.
    Device,
    /// SMB_QUERY_FS_ATTRIBUTE_INFO (0x105), FileFsAttributeInformation.
    Attribute,
    /// FileFsControlInformation: quotas.
    Control,
    /// FileFsFullSizeInformation.
    FullSize,
    /// FileFsObjectIdInformation.
    ObjectId,
}

/// Every number a level has.
const CODES: &[(u16, Level)] = &[
    (0x0001, Level::InfoAllocation),
    (0x0002, Level::InfoVolume),
    (0x0102, Level::Volume),
    (0x0103, Level::Size),
    (0x0104, Level::Device),
    (0x0105, Level::Attribute),
    (PASS_THROUGH + 1, Level::Volume),
    (PASS_THROUGH + 3, Level::Size),
    (PASS_THROUGH + 4, Level::Device),
    (PASS_THROUGH + 5, Level::Attribute),
    (PASS_THROUGH + 6, Level::Control),
    (PASS_THROUGH + 7, Level::FullSize),
    (PASS_THROUGH + 8, Level::ObjectId),
];

/// Bits of the file system's attributes ([MS-CIFS] 2.2.8.2.6).
pub mod attribute {
    /// Names differ by case.
    pub const CASE_SENSITIVE_SEARCH: u32 = 0x01;
    /// Names keep the case they were given.
    pub const CASE_PRESERVED_NAMES: u32 = 0x02;
    /// Names are Unicode.
    pub const UNICODE_ON_DISK: u32 = 0x04;
    /// Files have named streams ([MS-FSCC] 2.5.1).
    pub const NAMED_STREAMS: u32 = 0x0004_0000;
}

impl Level {
    /// The level of a number on the wire.
    pub fn of(code: u16) -> Option<Self> {
        CODES.iter().find(|row| row.0 == code).map(|row| row.1)
    }

    /// The smallest number of this level.
    pub fn code(self) -> u16 {
        CODES
            .iter()
            .find(|row| row.1 == self)
            .map_or(0, |row| row.0)
    }
}

/// The volume information of all levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeInfo<'a> {
    /// When it was made.
    pub created: FileTime,
    /// Serial number.
    pub serial: u32,
    /// The volume's object identifier, 16 bytes.
    pub object_id: [u8; 16],
    /// Label in the message's encoding.
    pub label: &'a [u8],
    /// Label, UTF-16LE.
    pub label_unicode: &'a [u8],
    /// Name of the file system, UTF-16LE.
    pub file_system: &'a [u8],
    /// Attributes ([`attribute`]).
    pub attributes: u32,
    /// Longest name of a file, characters.
    pub max_name: u32,
    /// Size, allocation units.
    pub total_units: u64,
    /// Free, allocation units.
    pub free_units: u64,
    /// Sectors in an allocation unit.
    pub sectors_per_unit: u32,
    /// Bytes in a sector.
    pub bytes_per_sector: u16,
    /// It cannot be written to.
    pub read_only: bool,
}

impl VolumeInfo<'_> {
    /// Appends the data of `level`.
    pub fn emit(&self, level: Level, out: &mut Writer) {
        match level {
            Level::InfoAllocation => self.put_allocation(out),
            Level::InfoVolume => {
                let label = self.label.get(..self.label.len().min(0xff)).unwrap_or(&[]);
                out.u32(self.serial).u8(label.len() as u8).bytes(label);
            }
            Level::Volume => {
                out.u64(self.created.0)
                    .u32(self.serial)
                    .u32(self.label_unicode.len() as u32);
                out.u16(0).bytes(self.label_unicode);
            }
            Level::Size => {
                out.u64(self.total_units).u64(self.free_units);
                self.put_unit(out);
            }
            Level::ObjectId => {
                const EXTENDED: usize = 48;
                out.bytes(&self.object_id).zeros(EXTENDED);
            }
            Level::FullSize => {
                out.u64(self.total_units)
                    .u64(self.free_units)
                    .u64(self.free_units);
                self.put_unit(out);
            }
            // No thresholds of a content index, no quotas and no limits: 2.5.2 of [MS-FSCC].
            Level::Control => {
                out.zeros(24).u64(u64::MAX).u64(u64::MAX).zeros(8);
            }
            Level::Device => self.put_device(out),
            Level::Attribute => {
                out.u32(self.attributes)
                    .u32(self.max_name)
                    .u32(self.file_system.len() as u32);
                out.bytes(self.file_system);
            }
        }
    }

    fn put_unit(&self, out: &mut Writer) {
        out.u32(self.sectors_per_unit)
            .u32(u32::from(self.bytes_per_sector));
    }

    /// [MS-CIFS] 2.2.8.2.1. Unit counts above 32 bits are encoded as the largest 32-bit number.
    fn put_allocation(&self, out: &mut Writer) {
        let clip = |units: u64| u32::try_from(units).unwrap_or(u32::MAX);
        out.u32(0).u32(self.sectors_per_unit);
        out.u32(clip(self.total_units))
            .u32(clip(self.free_units))
            .u16(self.bytes_per_sector);
    }

    /// A mounted disk ([MS-CIFS] 2.2.8.2.5).
    fn put_device(&self, out: &mut Writer) {
        const DISK: u32 = 0x07;
        const READ_ONLY: u32 = 0x02;
        const MOUNTED: u32 = 0x20;
        let read_only = if self.read_only { READ_ONLY } else { 0 };
        out.u32(DISK).u32(MOUNTED | read_only);
    }
}

impl<'a> VolumeInfo<'a> {
    /// Decodes the data of `level`; `unicode` is the header's flag. The label of SMB_INFO_VOLUME has the message's
    /// encoding and is stored in [`Self::label`]; the names of other levels are UTF-16LE.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(level: Level, data: &'a [u8], unicode: bool) -> Result<Self> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::*;
    use alloc::vec::Vec;

    const SAMPLE: VolumeInfo<'static> = VolumeInfo {
        created: FileTime(9),
        serial: 0x1234_5678,
        object_id: *b"sixteen bytes it",
        label: b"DISK",
        label_unicode: b"D\0I\0S\0K\0",
        file_system: b"N\0T\0F\0S\0",
        attributes: 0x7,
        max_name: 255,
        total_units: 1000,
        free_units: 400,
        sectors_per_unit: 8,
        bytes_per_sector: 512,
        read_only: false,
    };

    fn bytes(info: &VolumeInfo<'_>, level: Level) -> Vec<u8> {
        let mut out = Writer::default();
        info.emit(level, &mut out);
        out.into_vec()
    }

    #[test]
    fn each_level_has_these_bytes() {
        assert_eq!(
            bytes(&SAMPLE, Level::InfoAllocation),
            b"\0\0\0\0\x08\0\0\0\xe8\x03\0\0\x90\x01\0\0\0\x02"
        );
        assert_eq!(
            bytes(&SAMPLE, Level::InfoVolume),
            b"\x78\x56\x34\x12\x04DISK"
        );
        assert_eq!(
            bytes(&SAMPLE, Level::Volume),
            b"\x09\0\0\0\0\0\0\0\x78\x56\x34\x12\x08\0\0\0\0\0D\0I\0S\0K\0"
        );
        assert_eq!(
            bytes(&SAMPLE, Level::Size),
            b"\xe8\x03\0\0\0\0\0\0\x90\x01\0\0\0\0\0\0\x08\0\0\0\0\x02\0\0"
        );
        assert_eq!(bytes(&SAMPLE, Level::Device), b"\x07\0\0\0\x20\0\0\0");
        assert_eq!(
            bytes(&SAMPLE, Level::Attribute),
            b"\x07\0\0\0\xff\0\0\0\x08\0\0\0N\0T\0F\0S\0"
        );
        assert_eq!(bytes(&SAMPLE, Level::FullSize).len(), 32);
        assert_eq!(bytes(&SAMPLE, Level::Control).len(), 48);
        let id = bytes(&SAMPLE, Level::ObjectId);
        assert_eq!((id.len(), &id[..16]), (64, &b"sixteen bytes it"[..]));
    }

    #[test]
    fn a_volume_too_large_for_its_fields_fills_them() {
        let info = VolumeInfo {
            total_units: 1 << 40,
            ..SAMPLE
        };
        assert_eq!(bytes(&info, Level::InfoAllocation)[8..12], [0xff; 4]);
    }

    #[test]
    fn every_number_leads_to_its_level() {
        for row in CODES {
            assert_eq!(Level::of(row.0), Some(row.1));
        }
        assert_eq!(Level::of(0x200), None);
        assert_eq!(Level::FullSize.code(), 1007);
    }
}
