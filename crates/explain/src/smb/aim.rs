//! What requests that move no file data are about: folders that are listed, bytes that are locked.

use coax_wire::{
    block::Block,
    command,
    io::Reader,
    smb::{
        find_first2::{FIND_FIRST2, FIND_NEXT2, FindFirst2, FindNext2},
        lock_byte_range, locking_andx, search,
        transaction::{self, Kind},
    },
};

use super::{kept::Kept, name::Name};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Begins to list a folder, by this pattern.
    List(Option<String>),
    /// Goes on with a listing; of its number what was kept.
    ListMore(Option<u16>),
    /// Locks bytes from this offset.
    Lock {
        /// The file.
        fid: u16,
        /// The first byte.
        offset: u64,
    },
    /// Unlocks bytes of a file.
    Unlock(u16),
}

impl Aim {
    /// What a request is about. `None` of those whose time is told otherwise.
    pub(super) fn of(
        name: Name,
        block: &Block<'_>,
        unicode: bool,
        kept: &Kept<'_>,
    ) -> Option<Self> {
        match name.command {
            command::TRANSACTION2 => Self::of_transaction(name, block, unicode, kept),
            command::SEARCH | command::FIND | command::FIND_UNIQUE => {
                let request = search::Request::parse(block, unicode).ok()?;
                Some(match request.resume_key {
                    None => Self::List(Some(kept.text(request.path))),
                    Some(_) => Self::ListMore(None),
                })
            }
            command::LOCKING_ANDX => {
                let request = locking_andx::Request::parse(block).ok()?;
                match (request.locks.first(), request.unlocks.is_empty()) {
                    (Some(range), _) => Some(Self::Lock {
                        fid: request.fid.0,
                        offset: range.offset,
                    }),
                    (None, false) => Some(Self::Unlock(request.fid.0)),
                    (None, true) => None,
                }
            }
            command::LOCK_BYTE_RANGE => {
                let request = lock_byte_range::Request::parse(block).ok()?;
                Some(Self::Lock {
                    fid: request.fid.0,
                    offset: request.offset.into(),
                })
            }
            command::UNLOCK_BYTE_RANGE => {
                let request = lock_byte_range::Request::parse(block).ok()?;
                Some(Self::Unlock(request.fid.0))
            }
            _ => None,
        }
    }

    fn of_transaction(
        name: Name,
        block: &Block<'_>,
        unicode: bool,
        kept: &Kept<'_>,
    ) -> Option<Self> {
        let function = name.function?;
        if !matches!(function, FIND_FIRST2 | FIND_NEXT2) {
            return None;
        }
        let request = transaction::Request::parse(Kind::Transaction2, block, unicode).ok()?;
        let parameters = request.parameters;
        if function == FIND_NEXT2 {
            let next = FindNext2::parse(Reader::new(parameters)).ok();
            let sid = parameters.get(..2).filter(|sid| kept.has(sid, 0));
            return Some(Self::ListMore(sid.and(next).map(|next| next.sid.0)));
        }
        let name = parameters
            .get(FindFirst2::NAME_OFFSET..)
            .unwrap_or_default();
        let pattern = kept.text(terminated(name, unicode));
        Some(Self::List(Some(pattern)))
    }
}

/// A name up to its terminator.
fn terminated(raw: &[u8], unicode: bool) -> coax_wire::block::WireStr<'_> {
    let unit = if unicode { 2 } else { 1 };
    let mut units = raw.chunks_exact(unit);
    let len = units.position(|unit| unit.iter().all(|byte| *byte == 0));
    let len = len.map_or(raw.len() - raw.len() % unit, |units| units * unit);
    coax_wire::block::WireStr {
        raw: raw.get(..len).unwrap_or_default(),
        unicode,
    }
}

/// What a listing's answer brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// The listing's number.
    pub(super) sid: Option<u16>,
    /// Names in it.
    pub(super) count: u16,
    /// Whether no more follow.
    pub(super) is_end: bool,
}

impl Names {
    /// Decodes the answer to a request for names.
    pub(super) fn of(name: Name, block: &Block<'_>) -> Option<Self> {
        match name.command {
            command::SEARCH | command::FIND | command::FIND_UNIQUE => {
                let count = search::Response::parse(block).ok()?.count;
                Some(Self {
                    sid: None,
                    count,
                    is_end: count == 0,
                })
            }
            command::TRANSACTION2 => Self::of_transaction(name.function?, block),
            _ => None,
        }
    }

    /// [MS-CIFS] 2.2.6.2.2, 2.2.6.3.2.
    fn of_transaction(function: u16, block: &Block<'_>) -> Option<Self> {
        let is_first = match function {
            FIND_FIRST2 => true,
            FIND_NEXT2 => false,
            _ => return None,
        };
        let response = transaction::Response::parse(Kind::Transaction2, block).ok()??;
        if response.parameter_displacement > 0 {
            return None;
        }
        let mut parameters = Reader::new(response.parameters);
        let sid = match is_first {
            true => Some(parameters.u16("SID").ok()?),
            false => None,
        };
        Some(Self {
            sid,
            count: parameters.u16("search count").ok()?,
            is_end: parameters.u16("end of search").ok()? != 0,
        })
    }
}
