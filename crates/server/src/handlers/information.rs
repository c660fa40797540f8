//! Attributes, times and disk sizes of the core and LAN Manager 1 dialects: QUERY_INFORMATION, SET_INFORMATION,
//! QUERY_INFORMATION2, SET_INFORMATION2, QUERY_INFORMATION_DISK, IOCTL. [MS-CIFS] 3.3.5.11, 3.3.5.12, 3.3.5.32,
//! 3.3.5.33, 3.3.5.34, 3.3.5.60.

use super::{
    open::{client_path, utime},
    volume,
};
use crate::{
    context::{Call, Flow, Outcome},
    names::{attributes::Attributes, path::Wildcards},
    ops::{
        attributes::Facts,
        metadata::{Changes, Subject},
        print,
    },
    vfs::FsTime,
};
use coax_wire::{
    smb::{
        ioctl,
        query_information::{self, DosTimes, Response, Response2},
        set_information::{Request, Request2},
    },
    status::Status,
    time::{DosDateTime, ZoneMinutesWest},
};

/// The server's time zone.
pub(super) fn zone(call: &Call<'_>) -> ZoneMinutesWest {
    ZoneMinutesWest(call.conn.server.config.time_zone_minutes)
}

/// Creation, last access and last write in DOS format.
pub(super) fn dos_times(call: &Call<'_>, facts: &Facts) -> DosTimes {
    let zone = zone(call);
    let dos = |time: FsTime| DosDateTime::from_unix_ns(time.0, zone);
    DosTimes {
        created: dos(facts.created),
        accessed: dos(facts.stat.accessed),
        modified: dos(facts.stat.modified),
    }
}

/// The metadata change for these times.
pub(super) fn dos_changes(call: &Call<'_>, times: &DosTimes) -> Changes {
    let zone = zone(call);
    Changes {
        created: times.created.change(zone),
        accessed: times.accessed.change(zone),
        modified: times.modified.change(zone),
        ..Changes::default()
    }
}

/// A size as a 32-bit field; larger sizes become the maximum.
fn clip(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// QUERY_INFORMATION.
pub fn query(call: &mut Call<'_>) -> Outcome {
    let raw = query_information::parse_path(&call.block, call.unicode())?;
    let path = client_path(call, raw, Wildcards::Refuse)?;
    let facts = Subject::at(call, &path)?.facts;
    let response = Response {
        attributes: facts.attributes.to_smb(),
        modified: utime(call, facts.stat.modified),
        size: clip(facts.size()),
    };
    response.emit(call.out());
    Ok(Flow::Done)
}

/// SET_INFORMATION. Attributes of 0 clear all; NORMAL, which DOS does not know, keeps them, as on NT servers. The
/// server ignores the directory bit, because DOS sends back the attributes that it read.
pub fn set(call: &mut Call<'_>) -> Outcome {
    let request = Request::parse(&call.block, call.unicode())?;
    let path = client_path(call, request.path, Wildcards::Refuse)?;
    let subject = Subject::at(call, &path)?;
    let sent = u32::from(request.attributes);
    let changes = Changes {
        attributes: (sent != Attributes::NORMAL.0).then_some(sent),
        modified: request.modified.change(zone(call)),
        ..Changes::default()
    };
    subject.change(call, &changes)?;
    call.done_empty()
}

/// QUERY_INFORMATION2.
pub fn query2(call: &mut Call<'_>) -> Outcome {
    let fid = query_information::parse_fid(&call.block)?;
    let facts = match print::facts(call, fid)? {
        Some(facts) => facts,
        None => Subject::of(call, fid)?.facts,
    };
    let response = Response2 {
        times: dos_times(call, &facts),
        size: clip(facts.size()),
        allocation: clip(facts.allocation()),
        attributes: facts.attributes.to_smb(),
    };
    response.emit(call.out());
    Ok(Flow::Done)
}

/// SET_INFORMATION2. DOS sets times through read-only opens too, so only the tree's access right counts. A print job keeps
/// its times.
pub fn set2(call: &mut Call<'_>) -> Outcome {
    let request = Request2::parse(&call.block)?;
    if print::is_job(call, request.fid) {
        return call.done_empty();
    }
    let changes = dos_changes(call, &request.times);
    Subject::of(call, request.fid)?.change(call, &changes)?;
    call.done_empty()
}

/// QUERY_INFORMATION_DISK.
pub fn query_disk(call: &mut Call<'_>) -> Outcome {
    let space = call.vfs()?.space()?;
    let response = volume::disk_units(call.generation(), space);
    response.emit(call.out());
    Ok(Flow::Done)
}

/// IOCTL: not supported; servers answer ERRSRV/ERRerror for every file.
pub fn ioctl(call: &mut Call<'_>) -> Outcome {
    ioctl::Request::parse(&call.block)?;
    Err(Status::INVALID_SMB.into())
}
