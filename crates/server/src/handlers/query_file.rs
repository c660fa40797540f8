//! File metadata queries: TRANS2_QUERY_PATH_INFORMATION, TRANS2_QUERY_FILE_INFORMATION ([MS-CIFS] 3.3.5.57.7,
//! 3.3.5.57.9).

use super::{
    information::dos_times,
    open::client_path,
    transaction::{TransFlow, TransReply, Transaction},
};
use crate::{
    context::Call,
    error::{Because, Result},
    files::{OpenFile, OpenKind},
    names::{attributes::Attributes, path::Wildcards},
    ops::{
        attributes::Facts,
        eas::{self, Owned},
        metadata::{READ_EA, Subject, Through},
        print,
    },
    print_job::Job,
    reason::Reason,
    vfs::FsTime,
};
use alloc::{vec, vec::Vec};
use coax_wire::{
    codepage::utf16,
    header::Fid,
    info::{
        ea,
        file::{FileInfo, Level},
    },
    io::Writer,
    status::Status,
    time::FileTime,
};

/// Offset of the path in the parameters.
const PATH_AT: usize = 6;

/// TRANS2_QUERY_PATH_INFORMATION.
///
/// # Errors
/// Path errors; `INVALID_LEVEL`; `INVALID_DEVICE_REQUEST` on `IPC$`; `BUFFER_TOO_SMALL`.
pub fn by_path(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let code = whole.parameters().u16("information level")?;
    if call.tree()?.share.vfs().is_none() {
        return Err(Status::INVALID_DEVICE_REQUEST.into());
    }
    let level = Level::of(code).ok_or(Status::INVALID_LEVEL)?;
    let path = client_path(call, whole.string(PATH_AT), Wildcards::Refuse)?;
    if level == Level::InfoIsNameValid {
        return reply(whole, level, Vec::new());
    }
    let subject = Subject::at(call, &path)?;
    let data = file_data(call, whole, level, &subject)?;
    reply(whole, level, data)
}

/// TRANS2_QUERY_FILE_INFORMATION.
///
/// # Errors
/// `INVALID_HANDLE`; as [`by_path`].
pub fn by_fid(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let mut parameters = whole.parameters();
    let fid = Fid(parameters.u16("FID")?);
    let code = parameters.u16("information level")?;
    let opened = call.file(fid)?;
    let level = Level::of(code)
        .filter(|level| *level != Level::InfoIsNameValid)
        .ok_or(Status::INVALID_LEVEL)?;
    let data = match &opened.kind {
        OpenKind::Pipe(_) => pipe_data(call, fid, level)?,
        OpenKind::PrintJob(job) => job_data(call, opened, job, level)?,
        _ => file_data(call, whole, level, &Subject::of(call, fid)?)?,
    };
    reply(whole, level, data)
}

/// Levels of fixed size fit or fail; names and lists are truncated with `BUFFER_OVERFLOW` ([MS-FSA] 2.1.5.12). Clients
/// of the LAN Manager dialects send a limit for levels of variable size.
fn reply(whole: &Transaction, level: Level, data: Vec<u8>) -> Result<TransFlow> {
    let has_names = matches!(
        level,
        Level::Name | Level::All | Level::AltName | Level::Stream
    );
    if !has_names && data.len() > whole.max_data {
        return Err(Status::BUFFER_TOO_SMALL.into());
    }
    Ok(TransReply::new(vec![0, 0], data).into())
}

fn file_data(
    call: &Call<'_>,
    whole: &Transaction,
    level: Level,
    subject: &Subject,
) -> Result<Vec<u8>> {
    match level {
        Level::InfoQueryAllEas | Level::InfoQueryEasFromList => {
            ea_data(call, whole, level, subject)
        }
        Level::Stream if subject.share.options.streams => {
            crate::ops::stream_list::information(call, subject)
        }
        _ => fixed_data(call, level, subject),
    }
}

/// The requested attributes. If the list of all attributes exceeds the client's buffer, the reply is an empty list, as
/// from NT: OS/2 then asks again with a larger buffer.
fn ea_data(
    call: &Call<'_>,
    whole: &Transaction,
    level: Level,
    subject: &Subject,
) -> Result<Vec<u8>> {
    if subject.stream.is_some() {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let may_read = |through: &Through| through.access & READ_EA != 0;
    if !subject.open.as_ref().is_none_or(may_read) {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    let file = subject.file(call)?;
    let mut list = if level == Level::InfoQueryAllEas {
        eas::list(call, &*file)?
    } else {
        eas::get(call, &*file, &ea::parse_names(&whole.data)?)?
    };
    if level == Level::InfoQueryAllEas
        && ea::list_len(list.iter().map(Owned::as_ea)) > whole.max_data
    {
        list.clear();
    }
    let mut out = Writer::default();
    ea::emit_list(list.iter().map(Owned::as_ea), &mut out);
    Ok(out.into_vec())
}

fn fixed_data(call: &Call<'_>, level: Level, subject: &Subject) -> Result<Vec<u8>> {
    let facts = &subject.facts;
    let through = subject.open.as_ref();
    let alt_name = match level {
        Level::AltName => utf16::encode(&subject.short_name(call)?),
        _ => Vec::new(),
    };
    let info = FileInfo {
        links: links(subject),
        delete_pending: subject.delete_pending,
        directory: facts.is_directory(),
        ea_size: ea_size(call, level, subject)?,
        access: through.map_or(0, |through| through.access),
        position: through.map_or(0, |through| through.position),
        mode: through.map_or(0, |through| through.mode),
        name: &utf16::encode(&subject.client_path()),
        alt_name: &alt_name,
        ..of_facts(call, facts)
    };
    let mut out = Writer::default();
    info.emit(level, &mut out);
    Ok(out.into_vec())
}

/// The file's link count, without a name that is pending deletion. Unix also counts the subfolders of a folder.
fn links(subject: &Subject) -> u32 {
    let names = if subject.facts.is_directory() {
        1
    } else {
        subject.facts.stat.links.max(1)
    };
    names.saturating_sub(u32::from(subject.delete_pending))
}

fn ea_size(call: &Call<'_>, level: Level, subject: &Subject) -> Result<u32> {
    if !level.asks_for_eas() || !subject.share.options.ea_support {
        return Ok(0);
    }
    match subject.file(call) {
        Ok(file) => eas::size(call, &*file),
        // A client may query a file that it may not read.
        Err(error) if error.status() == Status::ACCESS_DENIED => Ok(0),
        Err(error) => Err(error),
    }
}

/// File information of a print job: the times and the size so far, as smbd has them, and the client's name for it. It has
/// no extended attributes and no name in 8.3 form.
fn job_data(call: &Call<'_>, opened: &OpenFile, job: &Job, level: Level) -> Result<Vec<u8>> {
    let facts = print::facts(call, opened.fid)?.ok_or(Status::INVALID_HANDLE)?;
    let mut out = Writer::default();
    match level {
        Level::AltName => return Err(Status::OBJECT_NAME_NOT_FOUND.into()),
        Level::InfoQueryAllEas | Level::InfoQueryEasFromList => {
            ea::emit_list(core::iter::empty(), &mut out);
            return Ok(out.into_vec());
        }
        _ => {}
    }
    let info = FileInfo {
        links: u32::from(!job.is_cancelled()),
        delete_pending: job.is_cancelled(),
        access: opened.access,
        name: &utf16::encode(&alloc::format!("\\{}", job.name())),
        ..of_facts(call, &facts)
    };
    info.emit(level, &mut out);
    Ok(out.into_vec())
}

/// Times, attributes, sizes and number of a file.
fn of_facts(call: &Call<'_>, facts: &Facts) -> FileInfo<'static> {
    let time = |time: FsTime| FileTime::from_unix_ns(time.0);
    FileInfo {
        dos_times: dos_times(call, facts),
        created: time(facts.created),
        accessed: time(facts.stat.accessed),
        modified: time(facts.stat.modified),
        changed: time(facts.stat.changed),
        dos_attributes: facts.attributes.to_smb(),
        attributes: facts.attributes.to_ext(),
        allocation: facts.allocation(),
        size: facts.size(),
        index: facts.stat.id.inode,
        ..FileInfo::default()
    }
}

/// File information of named pipes, as NT reports it.
fn pipe_data(call: &Call<'_>, fid: Fid, level: Level) -> Result<Vec<u8>> {
    const PIPE_BUFFER: u64 = 4096;
    let refused = match level {
        Level::InfoQueryAllEas | Level::InfoQueryEasFromList => Status::ACCESS_DENIED,
        Level::AltName
        | Level::Stream
        | Level::Compression
        | Level::NetworkOpen
        | Level::AttributeTag => Status::INVALID_PARAMETER,
        _ => Status::OK,
    };
    if refused != Status::OK {
        return Err(refused.into());
    }
    let opened = call.file(fid)?;
    let mut name = alloc::string::String::from("\\");
    name.push_str(opened.path.trim_start_matches(['\\', '/']));
    let info = FileInfo {
        attributes: Attributes::NORMAL.0,
        dos_attributes: Attributes::NONE.to_smb(),
        allocation: PIPE_BUFFER,
        links: 1,
        delete_pending: true,
        access: opened.access,
        mode: opened.mode,
        name: &utf16::encode(&name),
        ..FileInfo::default()
    };
    let mut out = Writer::default();
    info.emit(level, &mut out);
    Ok(out.into_vec())
}

#[cfg(test)]
#[path = "query_file_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
