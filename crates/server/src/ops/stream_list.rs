//! The list of a file's named streams.

use super::metadata::Subject;
use super::streams::{SUFFIX, attribute_of, length, names};
use crate::{
    context::Call,
    error::Result,
    vfs::{Kind, VfsError},
};
use alloc::{format, vec::Vec};
use coax_wire::{
    codepage::utf16,
    info::streams::{self, StreamEntry},
    io::Writer,
};

/// FileStreamInformation of the file of `subject`: its data and its named streams.
///
/// # Errors
/// File system errors.
pub fn information(call: &Call<'_>, subject: &Subject) -> Result<Vec<u8>> {
    let file = subject.file(call)?;
    let mut list = Vec::new();
    let (kind, size) = match subject.stream {
        Some(_) => call
            .vfs()?
            .stat(&subject.path)
            .map(|base| (base.kind, base.size))?,
        None => (subject.facts.stat.kind, subject.facts.stat.size),
    };
    if kind == Kind::File {
        list.push((streams::UNNAMED.to_vec(), size));
    }
    for name in names(&*file)? {
        let size = match file.attribute(&attribute_of(&name)) {
            Ok(value) => length(&value),
            Err(VfsError::NoAttribute) => continue,
            Err(error) => return Err(error.into()),
        };
        list.push((utf16::encode(&format!(":{name}{SUFFIX}")), size));
    }
    let entries: Vec<_> = list
        .iter()
        .map(|(name, size)| StreamEntry {
            name,
            size: *size,
            allocation: size.next_multiple_of(super::attributes::CLUSTER),
        })
        .collect();
    let mut out = Writer::default();
    streams::emit(&entries, &mut out);
    Ok(out.into_vec())
}
