//! Extended attributes of OS/2 and NT, stored by Samba's convention: the attribute `NAME` is `user.NAME`.

use crate::{
    context::Call,
    error::Result,
    ops::streams,
    vfs::{VfsError, VfsFile},
};
use alloc::{format, string::String, vec::Vec};
use coax_wire::{
    codepage::CodePage,
    info::ea::{self, Ea},
    status::Status,
};

/// Prefix of stored attributes.
const PREFIX: &str = "user.";
/// Stored names that are not the client's: DOS attributes, and Samba's own attributes.
const PRIVATE: &[&str] = &["DOSATTRIB", "SAMBA_PAI", "coax.sd"];
/// Most bytes for all attributes of a file ([MS-FSCC] 2.4.16: the OS/2 limit).
const MAX_LIST: usize = 0xffff;

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// Name, OEM.
    pub name: Vec<u8>,
    /// Value.
    pub value: Vec<u8>,
}

impl From<Ea<'_>> for Owned {
    fn from(ea: Ea<'_>) -> Self {
        Self {
            name: ea.name.into(),
            value: ea.value.into(),
        }
    }
}

impl Owned {
    /// The form in lists on the wire.
    pub fn as_ea(&self) -> Ea<'_> {
        Ea {
            flags: 0,
            name: &self.name,
            value: &self.value,
        }
    }
}

/// All extended attributes of a file, sorted by name. Empty if the share stores none.
///
/// # Errors
/// File system errors.
pub fn list(call: &Call<'_>, file: &dyn VfsFile) -> Result<Vec<Owned>> {
    if !call.share()?.options.ea_support {
        return Ok(Vec::new());
    }
    let page = call.conn.server.config.code_page;
    let mut eas = Vec::new();
    let names = match names(file) {
        // A file without read access shows no attributes.
        Err(crate::Error::Vfs(VfsError::Denied)) => Vec::new(),
        names => names?,
    };
    for name in names {
        match file.attribute(&format!("{PREFIX}{name}")) {
            Ok(value) => eas.push(Owned {
                name: page.encode_lossy(&name),
                value,
            }),
            // The attribute was removed in the meantime.
            Err(VfsError::NoAttribute) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(eas)
}

/// The attributes that `wanted` names, in its order. NT lists a missing attribute with an empty value.
///
/// # Errors
/// As [`list`]; `INVALID_EA_NAME`.
pub fn get(call: &Call<'_>, file: &dyn VfsFile, wanted: &[&[u8]]) -> Result<Vec<Owned>> {
    if wanted.iter().any(|name| !ea::is_legal_name(name)) {
        return Err(Status::INVALID_EA_NAME.into());
    }
    let all = list(call, file)?;
    let page = call.conn.server.config.code_page;
    let same = |a: &[u8], b: &[u8]| is_same(&page.decode(a), &page.decode(b));
    Ok(wanted
        .iter()
        .map(|name| {
            let found = all.iter().find(|ea| same(&ea.name, name));
            found.cloned().unwrap_or_else(|| Owned {
                name: name.to_vec(),
                value: Vec::new(),
            })
        })
        .collect())
}

/// Length of the list of all attributes of a file, bytes; 0 if it has none.
///
/// # Errors
/// As [`list`].
pub fn size(call: &Call<'_>, file: &dyn VfsFile) -> Result<u32> {
    let eas = list(call, file)?;
    if eas.is_empty() {
        return Ok(0);
    }
    Ok(ea::list_len(eas.iter().map(Owned::as_ea)) as u32)
}

/// Checks all names before any change.
///
/// # Errors
/// `INVALID_EA_NAME`.
pub fn check(changes: &[Ea<'_>]) -> Result<()> {
    if changes.iter().all(|ea| ea::is_legal_name(ea.name)) {
        Ok(())
    } else {
        Err(Status::INVALID_EA_NAME.into())
    }
}

/// Sets attributes; an attribute without a value is removed.
///
/// # Errors
/// `INVALID_EA_NAME`, `EAS_NOT_SUPPORTED`, `EA_TOO_LARGE`; file system errors. After the first three nothing has
/// changed, unless the file system itself reports that they are too large.
pub fn set(call: &Call<'_>, file: &dyn VfsFile, changes: &[Ea<'_>]) -> Result<()> {
    check(changes)?;
    if changes.is_empty() {
        return Ok(());
    }
    if !call.share()?.options.ea_support {
        return Err(Status::EAS_NOT_SUPPORTED.into());
    }
    let page = call.conn.server.config.code_page;
    check_size(&list(call, file)?, changes, page)?;
    let mut existing = names(file)?;
    for change in changes {
        let name = page.decode(change.name);
        let known = existing.iter().find(|known| is_same(known, &name)).cloned();
        let kept = format!("{PREFIX}{}", known.as_deref().unwrap_or(&name));
        let done = match (change.value.is_empty(), known) {
            (true, None) => Ok(()),
            (true, Some(known)) => {
                existing.retain(|name| *name != known);
                file.remove_attribute(&kept)
            }
            (false, known) => {
                if known.is_none() {
                    existing.push(name.into_owned());
                }
                file.set_attribute(&kept, change.value)
            }
        };
        done.map_err(ea_error)?;
    }
    Ok(())
}

fn ea_error(error: VfsError) -> crate::Error {
    match error {
        VfsError::Unsupported => Status::EAS_NOT_SUPPORTED.into(),
        VfsError::NoSpace | VfsError::TooLarge => Status::EA_TOO_LARGE.into(),
        other => other.into(),
    }
}

fn check_size(now: &[Owned], changes: &[Ea<'_>], page: CodePage) -> Result<()> {
    let stays = |ea: &&Owned| {
        let name = page.decode(&ea.name);
        !changes
            .iter()
            .any(|change| is_same(&page.decode(change.name), &name))
    };
    let kept = now.iter().filter(stays).map(Owned::as_ea);
    let added = changes.iter().filter(|ea| !ea.value.is_empty()).copied();
    if ea::list_len(kept.chain(added)) > MAX_LIST {
        return Err(Status::EA_TOO_LARGE.into());
    }
    Ok(())
}

/// Names of the client's attributes without prefix, sorted.
fn names(file: &dyn VfsFile) -> Result<Vec<String>> {
    let all = match file.attribute_names() {
        Ok(all) => all,
        Err(VfsError::Unsupported) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut names: Vec<String> = all
        .iter()
        .filter(|name| !name.starts_with(streams::PREFIX))
        .filter_map(|name| name.strip_prefix(PREFIX))
        .filter(|name| !PRIVATE.contains(name))
        .map(String::from)
        .collect();
    names.sort();
    Ok(names)
}

/// Compares names without case.
fn is_same(a: &str, b: &str) -> bool {
    a.chars()
        .flat_map(char::to_uppercase)
        .eq(b.chars().flat_map(char::to_uppercase))
}
