//! Volume information and free space: TRANS2_QUERY_FS_INFORMATION, TRANS2_SET_FS_INFORMATION ([MS-CIFS] 3.3.5.57.5,
//! 2.2.6.5).

use super::transaction::{TransFlow, TransReply, Transaction};
use crate::{
    context::Call,
    error::Result,
    ops::attributes::CLUSTER,
    share::{Access, Share},
    vfs::Space,
};
use alloc::{string::String, vec::Vec};
use coax_wire::{
    codepage::utf16,
    dialect::Generation,
    info::volume::{Level, VolumeInfo, attribute},
    io::Writer,
    smb::query_information_disk::Response,
    status::Status,
    time::FileTime,
};

/// Reported bytes per sector, whatever the disk uses: DOS knows only this size.
const SECTOR: u16 = 512;
/// Sectors per cluster for DOS clients: 16-bit counts then reach 2 GB. Larger sizes overflow DOS's arithmetic, so the
/// server reports at most 2 GB (Q127852).
const DOS_SECTORS: u16 = 64;
/// NT 4 fails its first query with error 234 if the file system's name has eight characters or more (Q239447).
const MAX_FS_NAME: usize = 7;
/// Longest FAT volume label, characters: the limit of DOS and OS/2.
const MAX_DOS_LABEL: usize = 11;
/// Longest file name, characters.
const MAX_NAME: u32 = 255;

/// A volume's size in units that fit the client's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Units {
    total: u64,
    free: u64,
    sectors: u16,
}

impl Units {
    fn of(space: Space, sectors: u16) -> Self {
        let bytes = u64::from(sectors.max(1)).saturating_mul(u64::from(SECTOR));
        let total = space.total / bytes;
        Self {
            total,
            free: (space.free / bytes).min(total),
            sectors,
        }
    }

    /// Units for DOS clients.
    fn dos(space: Space) -> Self {
        let units = Self::of(space, DOS_SECTORS);
        let most = u64::from(u16::MAX);
        Self {
            total: units.total.min(most),
            free: units.free.min(most),
            ..units
        }
    }
}

/// QUERY_INFORMATION_DISK's reply. For NT clients the unit grows with the disk, and the sizes are right up to 1 TB.
pub(super) fn disk_units(generation: Generation, space: Space) -> Response {
    let mut units = Units::dos(space);
    if generation == Generation::Nt {
        let mut sectors = 1u16;
        units = Units::of(space, sectors);
        while units.total > u64::from(u16::MAX) && sectors < 1 << 15 {
            sectors = sectors.saturating_mul(2);
            units = Units::of(space, sectors);
        }
    }
    let clip = |count: u64| u16::try_from(count).unwrap_or(u16::MAX);
    Response {
        total_units: clip(units.total),
        blocks_per_unit: units.sectors,
        block_size: SECTOR,
        free_units: clip(units.free),
    }
}

/// TRANS2_QUERY_FS_INFORMATION.
///
/// # Errors
/// `INVALID_LEVEL`; `ACCESS_DENIED` on `IPC$`; file system errors.
pub fn query(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let code = whole.parameters().u16("information level")?;
    let level = Level::of(code).ok_or(Status::INVALID_LEVEL)?;
    let data = volume_data(call, level)?;
    Ok(TransReply::new(Vec::new(), data).into())
}

fn volume_data(call: &Call<'_>, level: Level) -> Result<Vec<u8>> {
    let (share, vfs) = (call.share()?, call.vfs()?);
    let units = match call.generation() {
        Generation::Nt => Units::of(vfs.space()?, (CLUSTER / u64::from(SECTOR)) as u16),
        _ => Units::dos(vfs.space()?),
    };
    let root = vfs.stat("")?;
    let oldest = root.created.unwrap_or(root.modified.min(root.changed));
    let file_system: String = share.file_system.chars().take(MAX_FS_NAME).collect();
    let info = VolumeInfo {
        created: FileTime::from_unix_ns(oldest.0),
        serial: serial(&call.conn.server.config.name, &share.name),
        object_id: object_id(&call.conn.server.config.name, &share.name),
        label: &dos_label(call, &share),
        label_unicode: &utf16::encode(&share.volume),
        file_system: &utf16::encode(&file_system),
        attributes: attributes(&share),
        max_name: MAX_NAME,
        total_units: units.total,
        free_units: units.free,
        sectors_per_unit: u32::from(units.sectors),
        bytes_per_sector: SECTOR,
        read_only: call.tree()?.access < Access::Write,
    };
    let mut out = Writer::default();
    info.emit(level, &mut out);
    Ok(out.into_vec())
}

/// The label in SMB_INFO_VOLUME. OS/2 and Windows 9x expect a length that includes the terminating zero.
fn dos_label(call: &Call<'_>, share: &Share) -> Vec<u8> {
    if call.unicode() {
        return call.encode(&share.volume);
    }
    let cut: String = match call.generation() {
        Generation::Nt => share.volume.clone(),
        _ => share.volume.chars().take(MAX_DOS_LABEL).collect(),
    };
    let mut label = call.encode(&cut);
    label.push(0);
    label
}

fn attributes(share: &Share) -> u32 {
    let mut keeps = attribute::CASE_PRESERVED_NAMES | attribute::UNICODE_ON_DISK;
    if share.options.case_sensitive {
        keeps |= attribute::CASE_SENSITIVE_SEARCH;
    }
    if share.options.streams {
        keeps |= attribute::NAMED_STREAMS;
    }
    keeps
}

/// The serial number: stable for a server and share, different for each share. Clients detect changed floppies by it.
fn serial(server: &str, share: &str) -> u32 {
    hash(0, server, share)
}

/// The object identifier: stable for a server and share, a name-based GUID (RFC 9562 section 5.8: version 8).
fn object_id(server: &str, share: &str) -> [u8; 16] {
    let mut id = [0; 16];
    for (seed, part) in (1..).zip(id.chunks_mut(4)) {
        part.copy_from_slice(&hash(seed, server, share).to_le_bytes());
    }
    id[7] = id[7] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

/// FNV-1a of both names, case-insensitive.
fn hash(seed: u32, server: &str, share: &str) -> u32 {
    let bytes = server.bytes().chain([0]).chain(share.bytes());
    bytes.fold(0x811c_9dc5 ^ seed, |hash: u32, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}

/// TRANS2_SET_FS_INFORMATION: no property of a volume can be set.
///
/// # Errors
/// `NOT_SUPPORTED`.
pub fn set(_: &mut Call<'_>, _: &Transaction) -> Result<TransFlow> {
    Err(Status::NOT_SUPPORTED.into())
}

#[cfg(test)]
#[path = "volume_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
