//! Creates with extended attributes: TRANS2_OPEN2, TRANS2_CREATE_DIRECTORY ([MS-CIFS] 3.3.5.57.2, 3.3.5.57.13).

use super::{
    namespace::in_dos,
    open::{client_path, open_action, open_andx_spec, utime},
    transaction::{TransFlow, TransReply, Transaction},
};
use crate::{
    context::Call,
    error::Result,
    names::path::Wildcards,
    ops::{
        close, eas, modify,
        open::{Action, OpenSpec, Opened, Opening, open},
        print,
    },
};
use alloc::vec::Vec;
use coax_wire::{
    info::ea::{self, Ea},
    smb::trans2_open2::{Request, Response},
    status::Status,
    time::Utime,
};

/// The extended attributes in the transaction's data; many clients send no list if they want none.
fn wanted_eas(whole: &Transaction) -> Result<Vec<Ea<'_>>> {
    if whole.data.len() < 4 {
        return Ok(Vec::new());
    }
    let list = ea::parse_list(&whole.data).map_err(|_| Status::EA_LIST_INCONSISTENT)?;
    eas::check(&list)?;
    Ok(list)
}

/// TRANS2_OPEN2. It sets attributes only on a created or overwritten file. The reply's access mode is the requested
/// one, as on NT servers.
///
/// # Errors
/// As OPEN_ANDX, but `OBJECT_NAME_COLLISION` for a mode that neither opens nor creates; `EA_LIST_INCONSISTENT` and
/// those of [`eas::set`].
pub fn open2(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = Request::parse(&whole.parameters)?;
    let list = wanted_eas(whole)?;
    if print::is_printer(call) {
        return print_job(call, whole, &request);
    }
    let path = client_path(call, whole.string(Request::PATH_AT), Wildcards::Refuse)?;
    if request.open_mode == 0 {
        return Err(Status::OBJECT_NAME_COLLISION.into());
    }
    let spec = OpenSpec {
        eas: list.iter().copied().map(eas::Owned::from).collect(),
        ..open_andx_spec(call, &request.as_open_andx(), path)?
    };
    let opened = match open(call, &spec)? {
        Opening::Park(park) => return Ok(TransFlow::Park(park)),
        Opening::Opened(opened) => opened,
    };
    let ea_size = ea_size(call, &opened, &list)?;
    let facts = &opened.facts;
    let response = Response {
        fid: opened.fid,
        attributes: facts.attributes.to_smb(),
        created: utime(call, facts.created),
        size: u32::try_from(facts.size()).unwrap_or(u32::MAX),
        access: request.access_mode.0,
        action: open_action(&opened),
        ea_size,
    };
    Ok(TransReply::new(response.to_vec(), Vec::new()).into())
}

/// Begins a print job.
fn print_job(call: &mut Call<'_>, whole: &Transaction, request: &Request) -> Result<TransFlow> {
    let name = call.text(whole.string(Request::PATH_AT));
    let response = Response {
        fid: print::begin(call, &name)?,
        attributes: 0,
        created: Utime(0),
        size: 0,
        access: request.access_mode.0,
        action: 2,
        ea_size: 0,
    };
    Ok(TransReply::new(response.to_vec(), Vec::new()).into())
}

/// The length of the list of the file's attributes. If it cannot be read, the open of an existing file fails; a created
/// or overwritten file has at least the attributes that were set.
fn ea_size(call: &mut Call<'_>, opened: &Opened, given: &[Ea<'_>]) -> Result<u32> {
    let size = match &call.file(opened.fid)?.file {
        Some(file) => eas::size(call, &**file),
        None => Ok(0),
    };
    match size {
        Err(_) if opened.action != Action::Opened && given.is_empty() => Ok(0),
        Err(_) if opened.action != Action::Opened => Ok(ea::list_len(given.iter().copied()) as u32),
        Err(error) => {
            call.chain_fid = None;
            let now = call.now;
            close::close(call.conn, opened.fid, None, now)?;
            Err(error)
        }
        size => size,
    }
}

/// Offset of the path in CREATE_DIRECTORY's parameters.
const DIRECTORY_PATH_AT: usize = 4;

/// TRANS2_CREATE_DIRECTORY.
///
/// # Errors
/// As CREATE_DIRECTORY; `EA_LIST_INCONSISTENT` and those of [`eas::set`].
pub fn create_directory(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let list = wanted_eas(whole)?;
    let path = client_path(call, whole.string(DIRECTORY_PATH_AT), Wildcards::Refuse)?;
    // An NT client without NT statuses gets ERRrename here, as from NT servers (base.samba3error).
    let taken = [(Status::OBJECT_NAME_COLLISION, Status::DOS_RENAME_EXISTS)];
    modify::make_dir(call, &path, &list).map_err(|error| in_dos(call, error, &taken))?;
    Ok(TransReply::new(alloc::vec![0, 0], Vec::new()).into())
}

/// TRANS2 functions that no server implements: FSCTL, IOCTL2, FIND_NOTIFY_FIRST, FIND_NOTIFY_NEXT, SESSION_SETUP,
/// REPORT_DFS_INCONSISTENCY ([MS-CIFS] 2.2.6.10 to 2.2.6.15).
///
/// # Errors
/// `NOT_IMPLEMENTED`.
pub fn not_implemented(_: &mut Call<'_>, _: &Transaction) -> Result<TransFlow> {
    Err(Status::NOT_IMPLEMENTED.into())
}

/// TRANS2_GET_DFS_REFERRAL: the server has no referrals ([MS-CIFS] 2.2.6.16).
///
/// # Errors
/// `NOT_FOUND`.
pub fn get_dfs_referral(_: &mut Call<'_>, _: &Transaction) -> Result<TransFlow> {
    Err(Status::NOT_FOUND.into())
}

#[cfg(test)]
#[path = "trans2_create_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
