//! Resolves an access mask for a tree and a file ([MS-CIFS] 2.2.1.4.1, [MS-FSA] 2.1.5.1.2.1).

use super::{Opener, WRITING};
use crate::{
    error::{Because, Result},
    names::attributes::Attributes,
    ops::{
        attributes::Facts,
        security::{self, expand_generic, right},
    },
    reason::Reason,
    share::Access,
    table::access,
};
use coax_wire::status::Status;

/// MAXIMUM_ALLOWED: requests all available rights.
const MAXIMUM_ALLOWED: u32 = 0x0200_0000;
/// Defined bits of an access mask.
const DEFINED: u32 = 0xf31f_01ff;
/// Rights that change a file: WRITE_DATA, APPEND, WRITE_EA, DELETE_CHILD, WRITE_ATTRIBUTES, DELETE, WRITE_DAC,
/// WRITE_OWNER.
const CHANGING: u32 = 0x000d_0156;

impl Opener<'_, '_> {
    /// The granted rights of an open of the file at `path`.
    ///
    /// # Errors
    /// `ACCESS_DENIED`; `PRIVILEGE_NOT_HELD` for the SACL of a file with a descriptor of its own.
    pub(super) fn access_to(&self, path: &str, facts: &Facts) -> Result<u32> {
        let on_tree = self.allowed_on_tree()?;
        let mut allowed = on_tree;
        if facts.attributes.contains(Attributes::READONLY) && !facts.is_directory() {
            allowed &= !WRITING;
        }
        let asked = self.asked()?;
        let granted = match facts.described {
            true => security::granted(self.call, self.vfs, path)?,
            false => None,
        };
        let Some(granted) = granted else {
            return resolve(asked, allowed, self.why_not(on_tree));
        };
        if asked & right::SYSTEM_SECURITY != 0 {
            return Err(Status::PRIVILEGE_NOT_HELD.into());
        }
        let overwriting = if self.spec.overwrites() {
            access::WRITE_DATA
        } else {
            0
        };
        if (asked & right::ALL | overwriting) & !granted != 0 {
            return Err(Status::ACCESS_DENIED.because(Reason::Descriptor));
        }
        resolve(asked, allowed & granted, self.why_not(on_tree))
    }

    /// The granted rights of an open that creates: the creator gets everything that the tree allows.
    ///
    /// # Errors
    /// `ACCESS_DENIED`.
    pub(super) fn access_to_new(&self) -> Result<u32> {
        let on_tree = self.allowed_on_tree()?;
        resolve(self.asked()?, on_tree, self.why_not(on_tree))
    }

    fn asked(&self) -> Result<u32> {
        match self.spec.access & !DEFINED {
            0 => Ok(expand_generic(self.spec.access)),
            _ => Err(Status::ACCESS_DENIED.because(Reason::UndefinedRights)),
        }
    }

    /// The reason why an open may not change a file: the tree, or else the file's attribute.
    fn why_not(&self, on_tree: u32) -> Reason {
        if on_tree & CHANGING == CHANGING {
            Reason::ReadOnlyFile
        } else {
            Reason::ReadOnlyTree
        }
    }

    fn allowed_on_tree(&self) -> Result<u32> {
        Ok(match self.call.tree()?.access {
            Access::Write => right::ALL,
            _ => right::READ,
        })
    }
}

/// Every open may read attributes, as on NT servers.
fn resolve(asked: u32, allowed: u32, otherwise: Reason) -> Result<u32> {
    let asked = if asked & MAXIMUM_ALLOWED != 0 {
        (asked & !MAXIMUM_ALLOWED) | allowed
    } else {
        asked
    };
    if asked & CHANGING & !allowed != 0 {
        return Err(Status::ACCESS_DENIED.because(otherwise));
    }
    Ok(asked | right::READ_ATTRIBUTES)
}
