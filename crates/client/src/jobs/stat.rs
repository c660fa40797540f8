//! Queries and sets metadata of files, and queries the disk.

use super::{
    job::{Context, Job, Step},
    reply::Reply,
    transact::Transaction,
};
use crate::{
    calls::Request,
    entry::{DiskSpace, FileStat},
    error::Error,
    event::Outcome,
};
use alloc::{string::String, vec::Vec};
use coax_wire::{
    block::put_empty,
    command,
    header::Fid,
    io::{Reader, Writer},
    smb::{
        query_information, query_information_disk, set_information,
        trans2::{self, function},
    },
    time::{FileTime, Utime},
};

/// Information levels ([MS-CIFS] 2.2.2.3.3, 2.2.2.3.4).
const INFO_STANDARD: u16 = 1;
const QUERY_FILE_ALL_INFO: u16 = 0x107;
const SET_FILE_BASIC_INFO: u16 = 0x101;
const SET_FILE_END_OF_FILE_INFO: u16 = 0x104;

/// Requests all metadata of a path.
pub(crate) fn query_path(cx: &mut Context<'_>, part: u32, path: &str) -> Result<(), Error> {
    let path = cx.link.path(path)?;
    Transaction {
        parameters: &trans2::of_path(level(cx), &path.as_wire()),
        max_data: 4096,
        ..Transaction::trans2(function::QUERY_PATH_INFORMATION)
    }
    .send(cx, part)
    .map(drop)
}

/// Requests all metadata of an open file.
pub(crate) fn query_file(cx: &mut Context<'_>, part: u32, fid: Fid) -> Result<(), Error> {
    Transaction {
        parameters: &trans2::query_file(fid, level(cx)),
        max_data: 4096,
        ..Transaction::trans2(function::QUERY_FILE_INFORMATION)
    }
    .send(cx, part)
    .map(drop)
}

/// Sets an open file's time of last write.
pub(crate) fn set_file_times(
    cx: &mut Context<'_>,
    part: u32,
    fid: Fid,
    modified: i64,
) -> Result<(), Error> {
    if cx.link.nt_smbs() {
        return set_file(
            cx,
            part,
            fid,
            SET_FILE_BASIC_INFO,
            &basic(Some(modified), None),
        );
    }
    let times = [0, 0, 0, 0, 0, 0, 0, 0];
    let stamp = coax_wire::time::DosDateTime::from_unix_ns(modified, cx.link.zone);
    let mut data = Writer::default();
    data.bytes(&times).u16(stamp.date).u16(stamp.time).zeros(10);
    set_file(cx, part, fid, INFO_STANDARD, data.as_slice())
}

/// Truncates or extends an open file.
pub(crate) fn set_end_of_file(
    cx: &mut Context<'_>,
    part: u32,
    fid: Fid,
    size: u64,
) -> Result<(), Error> {
    set_file(
        cx,
        part,
        fid,
        SET_FILE_END_OF_FILE_INFO,
        &size.to_le_bytes(),
    )
}

fn set_file(
    cx: &mut Context<'_>,
    part: u32,
    fid: Fid,
    level: u16,
    data: &[u8],
) -> Result<(), Error> {
    Transaction {
        parameters: &trans2::set_file(fid, level),
        data,
        ..Transaction::trans2(function::SET_FILE_INFORMATION)
    }
    .send(cx, part)
    .map(drop)
}

/// The basic information to set; zero leaves a value unchanged.
fn basic(modified: Option<i64>, attributes: Option<u16>) -> Vec<u8> {
    let mut data = Writer::default();
    let stamp = modified.map_or(FileTime::NONE, FileTime::from_unix_ns);
    // Attributes of 0 change nothing; NORMAL clears all attributes.
    let attributes = match attributes {
        None => 0,
        Some(0) => NORMAL,
        Some(bits) => u32::from(bits),
    };
    data.u64(0)
        .u64(0)
        .u64(stamp.0)
        .u64(0)
        .u32(attributes)
        .u32(0);
    data.into_vec()
}

/// `ATTR_NORMAL` ([MS-CIFS] 2.2.1.2.3).
const NORMAL: u32 = 0x80;

fn level(cx: &Context<'_>) -> u16 {
    if cx.link.nt_smbs() {
        QUERY_FILE_ALL_INFO
    } else {
        INFO_STANDARD
    }
}

/// Decodes the reply to [`query_path`] or [`query_file`].
pub(crate) fn parse(cx: &Context<'_>, data: &[u8]) -> coax_wire::Result<FileStat> {
    let mut r = Reader::new(data);
    if !cx.link.nt_smbs() {
        let times = query_information::DosTimes::parse(&mut r)?;
        let size = u64::from(r.u32("size")?);
        r.u32("allocation")?;
        return Ok(FileStat {
            created: times.created.unix_ns(cx.link.zone),
            accessed: times.accessed.unix_ns(cx.link.zone),
            modified: times.modified.unix_ns(cx.link.zone),
            size,
            attributes: r.u16("attributes")?,
        });
    }
    let mut stamp = |what| {
        r.u64(what)
            .map(|ticks| (ticks != 0).then(|| FileTime(ticks).unix_ns()))
    };
    let (created, accessed, modified) = (stamp("created")?, stamp("accessed")?, stamp("modified")?);
    stamp("changed")?;
    let attributes = r.u32("attributes")? as u16;
    r.u32("reserved")?;
    r.u64("allocation")?;
    Ok(FileStat {
        created,
        accessed,
        modified,
        size: r.u64("size")?,
        attributes,
    })
}

/// [`crate::Operation::Stat`].
#[derive(Debug)]
pub(super) struct Stat {
    path: String,
    asked: bool,
    found: Option<FileStat>,
}

impl Stat {
    pub fn new(path: String) -> Self {
        Self {
            path,
            asked: false,
            found: None,
        }
    }
}

impl Job for Stat {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error> {
        if let Some(found) = self.found {
            return Ok(Step::Done(Outcome::Stat(found)));
        }
        if self.asked {
            return Ok(Step::Waiting);
        }
        self.asked = true;
        if cx.link.trans2() {
            query_path(cx, 0, &self.path)?;
        } else {
            let path = cx.link.path(&self.path)?;
            let mut request = Request::new(command::QUERY_INFORMATION, 0);
            query_information::Request {
                path: path.as_wire(),
            }
            .emit(&mut request.out);
            cx.send(request)?;
        }
        Ok(Step::Waiting)
    }

    fn reply(&mut self, cx: &mut Context<'_>, _: u32, reply: &Reply<'_>) -> Result<(), Error> {
        let block = reply.ok()?;
        self.found = Some(if reply.command == command::QUERY_INFORMATION {
            let info = query_information::Response::parse(&block).map_err(reply.nonsense())?;
            FileStat {
                modified: (info.modified.0 != 0).then(|| info.modified.unix_ns(cx.link.zone)),
                created: None,
                accessed: None,
                size: u64::from(info.size),
                attributes: info.attributes,
            }
        } else {
            parse(cx, &reply.gathered.data).map_err(reply.nonsense())?
        });
        Ok(())
    }
}

/// [`crate::Operation::SetStat`].
#[derive(Debug)]
pub(super) struct SetStat {
    path: String,
    modified: Option<i64>,
    attributes: Option<u16>,
    asked: bool,
    done: bool,
}

impl SetStat {
    pub fn new(path: String, modified: Option<i64>, attributes: Option<u16>) -> Self {
        Self {
            path,
            modified,
            attributes,
            asked: false,
            done: false,
        }
    }

    /// NT servers change only the given values.
    fn set_path(&self, cx: &mut Context<'_>) -> Result<(), Error> {
        let path = cx.link.path(&self.path)?;
        Transaction {
            parameters: &trans2::of_path(SET_FILE_BASIC_INFO, &path.as_wire()),
            data: &basic(self.modified, self.attributes),
            ..Transaction::trans2(function::SET_PATH_INFORMATION)
        }
        .send(cx, 0)
        .map(drop)
    }

    /// Older servers always set the attributes; a time of 0 changes nothing.
    fn set_information(&self, cx: &mut Context<'_>) -> Result<(), Error> {
        let path = cx.link.path(&self.path)?;
        let mut request = Request::new(command::SET_INFORMATION, 0);
        set_information::Request {
            attributes: self.attributes.unwrap_or(0),
            modified: self
                .modified
                .map_or(Utime(0), |ns| Utime::from_unix_ns(ns, cx.link.zone)),
            path: path.as_wire(),
        }
        .emit(&mut request.out);
        cx.send(request).map(drop)
    }
}

impl Job for SetStat {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error> {
        if self.done {
            return Ok(Step::Done(Outcome::Done));
        }
        if !self.asked {
            self.asked = true;
            if cx.link.nt_smbs() {
                self.set_path(cx)?;
            } else {
                self.set_information(cx)?;
            }
        }
        Ok(Step::Waiting)
    }

    fn reply(&mut self, _: &mut Context<'_>, _: u32, reply: &Reply<'_>) -> Result<(), Error> {
        self.done = true;
        reply.ok().map(drop)
    }
}

/// [`crate::Operation::DiskSpace`].
#[derive(Debug, Default)]
pub(super) struct Disk {
    asked: bool,
    found: Option<DiskSpace>,
}

impl Job for Disk {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error> {
        if let Some(found) = self.found {
            return Ok(Step::Done(Outcome::DiskSpace(found)));
        }
        if !self.asked {
            self.asked = true;
            let mut request = Request::new(command::QUERY_INFORMATION_DISK, 0);
            put_empty(&mut request.out);
            cx.send(request)?;
        }
        Ok(Step::Waiting)
    }

    fn reply(&mut self, _: &mut Context<'_>, _: u32, reply: &Reply<'_>) -> Result<(), Error> {
        let info =
            query_information_disk::Response::parse(&reply.ok()?).map_err(reply.nonsense())?;
        let unit = u64::from(info.blocks_per_unit).saturating_mul(u64::from(info.block_size));
        self.found = Some(DiskSpace {
            total: unit.saturating_mul(u64::from(info.total_units)),
            free: unit.saturating_mul(u64::from(info.free_units)),
        });
        Ok(())
    }
}
