//! Security descriptors of files: stored in `user.coax.sd` as clients set them; the server makes one up for files
//! without one.
//!
//! All clients act as one user of the operating system, so every user owns the files that have no descriptor. A
//! descriptor controls who may open its file and change it by path. A new file inherits from its folder's descriptor.
//! Removing and renaming depend on the share: they require write access to the tree.

mod check;
pub mod right;

pub use check::expand_generic;

use super::{
    attributes::{mark_described, parent_of},
    journal::atomically,
};
use crate::{
    context::Call,
    error::{Because, Result},
    reason::Reason,
    session::Session,
    share::{Access, Share},
    vfs::{Vfs, VfsError, VfsFile},
};
use alloc::{vec, vec::Vec};
use coax_wire::{
    header::Fid,
    security::{Ace, Acl, Descriptor, Sid, ace_type, control, info},
    status::Status,
};

/// Extended attribute that contains the descriptor.
pub const NAME: &str = "user.coax.sd";
/// Largest accepted descriptor, bytes: the limit of an extended attribute.
const MAX_BYTES: usize = 60_000;

/// Returns the parts of an open file's descriptor that `wanted` ([`info`]) selects.
///
/// # Errors
/// `INVALID_HANDLE`, `ACCESS_DENIED`; file system errors.
pub fn query(call: &Call<'_>, fid: Fid, wanted: u32) -> Result<Descriptor> {
    let opened = call.file(fid)?;
    let readable = info::OWNER | info::GROUP | info::DACL;
    let needed = if wanted & readable != 0 {
        right::READ_CONTROL
    } else {
        0
    } | if wanted & info::SACL != 0 {
        right::SYSTEM_SECURITY
    } else {
        0
    };
    if opened.access & needed != needed {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    let file = opened.file.as_ref().ok_or(Status::INVALID_HANDLE)?;
    let kept = kept(&**file)?;
    let whole = match kept {
        Some(kept) => kept,
        None => default(call)?,
    };
    Ok(whole.only(wanted))
}

/// Sets the parts of an open file's descriptor that `which` selects.
///
/// # Errors
/// As [`query`]; `INVALID_SECURITY_DESCR` for one that does not decode.
pub fn set(call: &Call<'_>, fid: Fid, which: u32, bytes: &[u8]) -> Result<()> {
    let given = parse(bytes)?;
    let opened = call.file(fid)?;
    let needs = [
        (info::OWNER | info::GROUP, right::WRITE_OWNER),
        (info::DACL, right::WRITE_DAC),
        (info::SACL, right::SYSTEM_SECURITY),
    ];
    let needed = needs
        .iter()
        .filter(|(part, _)| which & part != 0)
        .fold(0, |needed, (_, right)| needed | right);
    if opened.access & needed != needed {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    let file = opened.file.as_ref().ok_or(Status::INVALID_HANDLE)?;
    let whole = match kept(&**file)? {
        Some(kept) => kept,
        None => default(call)?,
    };
    let merged = merged(whole, &given, which);
    atomically(file, |file| keep(&*call.share()?, &**file, &merged))
}

/// Sets the creator's descriptor on a new file.
///
/// # Errors
/// As [`set`].
pub fn set_new(call: &Call<'_>, file: &dyn VfsFile, bytes: &[u8]) -> Result<()> {
    let given = parse(bytes)?;
    let parts = info::OWNER | info::GROUP | info::DACL | info::SACL;
    let parts = parts
        & !if given.owner.is_none() {
            info::OWNER
        } else {
            0
        };
    let parts = parts
        & !if given.group.is_none() {
            info::GROUP
        } else {
            0
        };
    let parts = parts & !if given.dacl.is_none() { info::DACL } else { 0 };
    let inherited = kept(file)?;
    let whole = match inherited {
        Some(inherited) => inherited,
        None => default(call)?,
    };
    keep(&*call.share()?, file, &merged(whole, &given, parts))
}

/// Checks a descriptor before any change.
///
/// # Errors
/// `INVALID_SECURITY_DESCR`.
pub fn parse(bytes: &[u8]) -> Result<Descriptor> {
    if bytes.len() > MAX_BYTES {
        return Err(Status::INVALID_SECURITY_DESCR.into());
    }
    Descriptor::parse(bytes).map_err(|_| Status::INVALID_SECURITY_DESCR.into())
}

fn merged(mut whole: Descriptor, given: &Descriptor, which: u32) -> Descriptor {
    if which & info::OWNER != 0 {
        whole.owner.clone_from(&given.owner);
    }
    if which & info::GROUP != 0 {
        whole.group.clone_from(&given.group);
    }
    if which & info::SACL != 0 {
        whole.sacl.clone_from(&given.sacl);
    }
    if which & info::DACL != 0 {
        whole.dacl = Some(given.dacl.clone().unwrap_or(None).map(check::specific));
        let bits = control::DACL_PROTECTED | control::DACL_AUTO_INHERITED;
        whole.control = (whole.control & !bits) | (given.control & control::DACL_PROTECTED);
        // [MS-DTYP] 2.5.3.4.2: a request for inheritance sets the inheritance flag.
        let asks = control::DACL_AUTO_INHERIT_REQ | control::DACL_AUTO_INHERITED;
        if given.control & asks == asks {
            whole.control |= control::DACL_AUTO_INHERITED;
        }
    }
    whole
}

/// A file's stored descriptor. One that does not decode counts as missing.
fn kept(file: &dyn VfsFile) -> Result<Option<Descriptor>> {
    decoded(file.attribute(NAME))
}

fn decoded(read: core::result::Result<Vec<u8>, VfsError>) -> Result<Option<Descriptor>> {
    match read {
        Ok(bytes) => Ok(Descriptor::parse(&bytes).ok()),
        Err(VfsError::NoAttribute | VfsError::Unsupported) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Sets the descriptor of a file of `share`.
fn keep(share: &Share, file: &dyn VfsFile, descriptor: &Descriptor) -> Result<()> {
    let bytes = descriptor.to_bytes();
    if bytes.len() > MAX_BYTES {
        return Err(Status::INVALID_SECURITY_DESCR.into());
    }
    file.set_attribute(NAME, &bytes)?;
    mark_described(file, share)
}

/// The descriptor of the file at `path` itself.
///
/// # Errors
/// File system errors.
fn descriptor_at(vfs: &dyn Vfs, path: &str) -> Result<Option<Descriptor>> {
    decoded(vfs.attribute(path, NAME))
}

/// The rights that the descriptor of the file at `path` grants the request's user. The folder also allows deleting the
/// file and reading its attributes. `None` if it has no descriptor.
///
/// # Errors
/// File system errors.
pub fn granted(call: &Call<'_>, vfs: &dyn Vfs, path: &str) -> Result<Option<u32>> {
    let Some(own) = descriptor_at(vfs, path)? else {
        return Ok(None);
    };
    let own = granted_by(call, &own)?;
    let folder = match path.is_empty() {
        true => None,
        false => descriptor_at(vfs, parent_of(path))?,
    };
    let by_folder = match folder {
        Some(folder) => granted_by(call, &folder)?,
        None => right::ALL,
    };
    let lets = [
        (right::DELETE_CHILD, right::DELETE),
        (right::READ_DATA, right::READ_ATTRIBUTES),
    ];
    let lets = lets.iter().filter(|(has, _)| by_folder & has != 0);
    Ok(Some(lets.fold(own, |own, (_, lets)| own | lets)))
}

/// Refuses the request's user if the file at `path` has a descriptor that does not grant all of `wanted`.
///
/// # Errors
/// `ACCESS_DENIED`; file system errors.
pub fn require(call: &Call<'_>, vfs: &dyn Vfs, path: &str, wanted: u32) -> Result<()> {
    match granted(call, vfs, path)? {
        Some(granted) if granted & wanted != wanted => {
            Err(Status::ACCESS_DENIED.because(Reason::Descriptor))
        }
        _ => Ok(()),
    }
}

/// The rights that `descriptor` grants the request's user.
///
/// # Errors
/// `BAD_UID`.
fn granted_by(call: &Call<'_>, descriptor: &Descriptor) -> Result<u32> {
    let session = call.session()?;
    let user = user_sid(&call.conn.server.config.name, session);
    let groups = match session.user {
        Some(_) => vec![Sid::everyone(), Sid::users(), Sid::authenticated_users()],
        None => vec![Sid::everyone()],
    };
    Ok(check::granted(descriptor, &user, &groups))
}

/// The descriptor of a folder in which a file is about to be created.
///
/// # Errors
/// `ACCESS_DENIED` if the folder does not let the request's user add a file or folder; file system errors.
pub fn of_folder_to_grow(
    call: &Call<'_>,
    vfs: &dyn Vfs,
    folder: &str,
    by_directory: bool,
) -> Result<Option<Descriptor>> {
    let needed = if by_directory {
        right::ADD_SUBDIRECTORY
    } else {
        right::ADD_FILE
    };
    let Some(folder) = descriptor_at(vfs, folder)? else {
        return Ok(None);
    };
    if granted_by(call, &folder)? & needed == 0 {
        return Err(Status::ACCESS_DENIED.because(Reason::Descriptor));
    }
    Ok(Some(folder))
}

/// Sets the descriptor that a new file or folder of `share` inherits from its folder. The target of a copy may be in
/// another share than the request's.
///
/// # Errors
/// File system errors.
pub fn inherit(
    call: &Call<'_>,
    share: &Share,
    file: &dyn VfsFile,
    folder: &Descriptor,
    is_directory: bool,
) -> Result<()> {
    let own = default(call)?;
    match check::inherited(folder, own, is_directory) {
        Some(inherited) => keep(share, file, &inherited),
        None => Ok(()),
    }
}

/// The descriptor of a file without a stored one: the request's user owns it, and everybody has that user's rights on
/// the tree.
fn default(call: &Call<'_>) -> Result<Descriptor> {
    let session = call.session()?;
    let owner = user_sid(&call.conn.server.config.name, session);
    let granted = match call.tree()?.access {
        Access::Write => right::ALL,
        _ => right::READ,
    };
    let ace = |sid: Sid, mask: u32| Ace {
        kind: ace_type::ALLOWED,
        flags: 0,
        mask,
        sid,
    };
    Ok(Descriptor {
        control: 0,
        owner: Some(owner.clone()),
        group: Some(Sid::users()),
        sacl: None,
        dacl: Some(Some(Acl {
            aces: vec![
                ace(owner, granted),
                ace(Sid::system(), right::ALL),
                ace(Sid::everyone(), granted),
            ],
        })),
    })
}

/// The SID of a session's user: a machine domain derived from the server's name and a number derived from the user's. A
/// guest is 501.
pub fn user_sid(server: &str, session: &Session) -> Sid {
    const GUEST: u32 = 501;
    const FIRST_USER: u32 = 1000;
    let machine = [0, 1, 2].map(|seed| hash(seed, server));
    let user = match &session.user {
        None => GUEST,
        Some(name) => FIRST_USER + hash(3, name) % 0x3fff_ffff,
    };
    Sid::new(5, &[21, machine[0], machine[1], machine[2], user])
}

/// FNV-1a of a name without case: the number of a name never changes.
fn hash(seed: u32, name: &str) -> u32 {
    const PRIME: u32 = 0x0100_0193;
    let start = 0x811c_9dc5 ^ seed;
    name.bytes()
        .map(|byte| byte.to_ascii_lowercase())
        .fold(start, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(PRIME)
        })
}

#[cfg(test)]
#[path = "security/tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
