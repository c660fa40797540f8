//! TRANS2_FIND_FIRST2, TRANS2_FIND_NEXT2, FIND_CLOSE2, FIND_NOTIFY_CLOSE: [MS-CIFS] 3.3.5.58.3, 3.3.5.58.4, 3.3.5.38,
//! 3.3.5.39.

use super::transaction::{TransFlow, TransReply, Transaction};
use crate::search::Place;
use crate::{
    context::{Call, Carriage, Outcome},
    error::Result,
    names::{
        attributes::{Attributes, SearchAttributes},
        mangle::is_legal_long,
        path::SearchPath,
    },
    ops::{
        eas,
        find::{self, Found, Walk, Walked},
        locate::Finder,
    },
    search::Search,
    share::Share,
    vfs::Vfs,
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_wire::{
    codepage::{CodePage, eq_ignore_case, utf16},
    dialect::Generation,
    header::{Flags2, Sid},
    info::ea::{self, Ea},
    io::Writer,
    smb::{
        find_close2,
        find_first2::{self as wire, Entry, EntryList, FindFirst2, FindNext2, Level, flags},
    },
    status::Status,
    time::ZoneMinutesWest,
};

/// The old levels have 8-bit name lengths, in bytes.
const MAX_OLD_NAME: usize = 255;
/// Header, words, counts, padding and parameters of a reply with entries, rounded up.
const OVERHEAD: usize = 80;

/// Whether this client sees 8.3 names only: its dialect is older than NT's and it does not claim long names ([MS-CIFS]
/// 2.2.3.1, SMB_FLAGS2_LONG_NAMES).
pub(super) fn knows_short_names_only(call: &Call<'_>) -> bool {
    call.generation() < Generation::Nt && !call.header.flags2.has(Flags2::LONG_NAMES)
}

/// Splits the path of a search and finds its folder.
///
/// # Errors
/// Path errors; `OBJECT_PATH_NOT_FOUND`.
pub(super) fn locate(call: &Call<'_>, text: &str) -> Result<(String, SearchPath)> {
    let path =
        SearchPath::parse(text, super::open::path_rules(call)).map_err(super::open::path_status)?;
    let ground = Ground::of(call)?;
    let folder = ground.finder(call).locate_folder(&path.folder);
    let folder = folder.map_err(|error| match error.status() {
        Status::NOT_A_DIRECTORY => Status::OBJECT_PATH_NOT_FOUND.into(),
        _ => error,
    })?;
    Ok((folder, path))
}

/// A tree's share and folder, held while the connection is borrowed.
pub(super) struct Ground {
    pub share: Arc<Share>,
    pub vfs: Arc<dyn Vfs>,
}

impl Ground {
    pub fn of(call: &Call<'_>) -> Result<Self> {
        Ok(Self {
            share: call.share()?,
            vfs: call.vfs()?,
        })
    }

    pub fn finder<'a>(&'a self, call: &'a Call<'_>) -> Finder<'a> {
        Finder {
            server: &call.conn.server,
            share: &self.share,
            vfs: &*self.vfs,
            now: call.now,
            exact: call.is_case_exact(&self.share),
        }
    }
}

/// TRANS2_FIND_FIRST2.
pub fn find_first2(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = FindFirst2::parse(whole.parameters())?;
    let level = Level::of(request.level).ok_or(Status::INVALID_LEVEL)?;
    let text = call.text(whole.string(FindFirst2::NAME_OFFSET));
    let (folder, path) = locate(call, &text)?;
    let attributes = SearchAttributes(request.search_attributes);
    let nt = call.generation() == Generation::Nt && call.unicode();
    let mask = find::mask(&path.pattern, nt);
    let mut search = Search::new(&call.header, folder, mask, attributes);
    search.short_names = knows_short_names_only(call);
    let listing = Listing {
        level,
        flags: request.flags,
        count: request.search_count,
    };
    let (walked, list) = if attributes.wants_only_volume() && call.generation() != Generation::Nt {
        search.finished = true;
        listing.label(call, whole)?
    } else {
        listing.fill(call, whole, &mut search)?
    };
    if walked.count == 0 {
        return Err(nothing_found(call).into());
    }
    let sid = if is_over(request.flags, walked) {
        Sid(0)
    } else {
        let limit = call.conn.server.config.limits.searches;
        search.reserve(&call.conn.account)?;
        call.conn.searches.open(limit, search)
    };
    Ok(answer(Some(sid), walked, list))
}

/// TRANS2_FIND_NEXT2. At the end it succeeds without entries, as real servers do.
pub fn find_next2(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = FindNext2::parse(whole.parameters())?;
    let level = Level::of(request.level).ok_or(Status::INVALID_LEVEL)?;
    let tid = call.header.tid;
    let taken = call.conn.searches.take(request.sid, tid);
    let mut search = taken.ok_or(Status::INVALID_HANDLE)?;
    let listing = Listing {
        level,
        flags: request.flags,
        count: request.search_count,
    };
    let filled = go_on(call, whole, &request, &mut search)
        .and_then(|()| listing.fill(call, whole, &mut search));
    let over = match &filled {
        Ok((walked, _)) => is_over(request.flags, *walked),
        Err(_) => false,
    };
    if !over {
        call.conn.searches.put(search);
    }
    let (walked, list) = filled?;
    Ok(answer(None, walked, list))
}

/// The status of a first search that finds nothing: DOS clients accept the end of a search, NT clients do not.
fn nothing_found(call: &Call<'_>) -> Status {
    if call.generation() == Generation::Nt {
        Status::NO_SUCH_FILE
    } else {
        Status::NO_MORE_FILES
    }
}

fn is_over(asked: u16, walked: Walked) -> bool {
    asked & flags::CLOSE_AFTER_REQUEST != 0 || (walked.end && asked & flags::CLOSE_AT_EOS != 0)
}

fn answer(sid: Option<Sid>, walked: Walked, list: EntryList) -> TransFlow {
    let found = wire::Found {
        sid,
        count: walked.count as u16,
        end_of_search: walked.end,
        last_name_offset: list.last_offset() as u16,
    };
    TransReply::new(found.to_bytes(), list.into_bytes()).into()
}

/// Moves the search to the client's resume point: after the last entry, after the entry with the given name, or, if
/// that name is gone or missing, after the entry with the given resume key.
fn go_on(
    call: &Call<'_>,
    whole: &Transaction,
    request: &FindNext2,
    search: &mut Search,
) -> Result<()> {
    if request.flags & flags::CONTINUE_FROM_LAST != 0 {
        return Ok(());
    }
    let name = call.text(whole.string(FindNext2::NAME_OFFSET));
    if !name.is_empty() && eq_ignore_case(&name, &search.last) {
        return Ok(());
    }
    let ground = Ground::of(call)?;
    let by_name = match name.as_str() {
        "" => None,
        name => find::place_of(&ground.finder(call), &search.folder, name)?,
    };
    let by_key = (request.resume_key != 0).then_some(Place(request.resume_key));
    if let Some(place) = by_name.or(by_key) {
        search.rewind(place);
    }
    Ok(())
}

/// The client's parameters: fields of each entry, and number of entries.
struct Listing {
    level: Level,
    flags: u16,
    count: u16,
}

impl Listing {
    fn fill(
        &self,
        call: &Call<'_>,
        whole: &Transaction,
        search: &mut Search,
    ) -> Result<(Walked, EntryList)> {
        let ground = Ground::of(call)?;
        let walk = Walk::begin(ground.finder(call), search, call)?;
        let wanted = match self.level {
            Level::QueryEasFromList => ea::parse_names(&whole.data)?,
            _ => Vec::new(),
        };
        let folder = search.folder.clone();
        let mut shown = Shown {
            call,
            walk: &walk,
            folder: &folder,
            wanted: &wanted,
            list: self.list(call, whole.max_data),
            page: call.conn.server.config.code_page,
            short_names: search.short_names,
            mangled_names: ground.share.options.mangled_names,
        };
        let max = usize::from(self.count.max(1));
        let walked = walk.run(search, max, &mut |found| shown.push(found))?;
        if walked.count == 0 && !walked.end {
            return Err(Status::BUFFER_TOO_SMALL.into());
        }
        Ok((walked, shown.list))
    }

    /// Returns the volume label as the only entry. DOS and OS/2 ask for it as in the core protocol ([MS-CIFS]
    /// 2.2.1.2.4, SMB_FILE_ATTRIBUTE_VOLUME); NT clients do not.
    fn label(&self, call: &Call<'_>, whole: &Transaction) -> Result<(Walked, EntryList)> {
        let share = call.share()?;
        let times = call.vfs()?.stat("")?;
        let mut list = self.list(call, whole.max_data);
        let name = call.encode(&share.volume);
        let mut eas = Writer::default();
        ea::emit_list(core::iter::empty(), &mut eas);
        let entry = Entry {
            created: times.created.unwrap_or(times.modified).0,
            accessed: times.accessed.0,
            modified: times.modified.0,
            changed: times.changed.0,
            attributes: Attributes::VOLUME.0,
            name: &name,
            eas: eas.as_slice(),
            ..Entry::default()
        };
        let count = usize::from(!name.is_empty() && list.push(&entry));
        Ok((Walked { count, end: true }, list))
    }

    fn list(&self, call: &Call<'_>, limit: usize) -> EntryList {
        let limit = match call.conn.peer.carriage {
            // The client asks for the next entries; the rest of these would need a packet that it must ask for, too.
            Carriage::Packets(_) => limit.min(call.client_buffer().saturating_sub(OVERHEAD)),
            _ => limit,
        };
        let mut list = EntryList::new(self.level, call.unicode(), limit);
        list.resume_keys = self.flags & flags::RETURN_RESUME_KEYS != 0;
        list.zone = ZoneMinutesWest(call.conn.server.config.time_zone_minutes);
        list
    }
}

/// Encodes found files as entries of the list.
struct Shown<'a> {
    call: &'a Call<'a>,
    walk: &'a Walk<'a>,
    folder: &'a str,
    wanted: &'a [&'a [u8]],
    list: EntryList,
    page: CodePage,
    short_names: bool,
    mangled_names: bool,
}

impl Shown<'_> {
    fn push(&mut self, found: &Found<'_>) -> bool {
        let short = find::short_text(self.page, found);
        let name = self.name(found, &short);
        let (ea_size, eas) = self.eas(found);
        let facts = &found.facts;
        let has_own_short = found.place > Place::PARENT
            && self.mangled_names
            && !eq_ignore_case(&short, found.name);
        let short = if has_own_short {
            utf16::encode(&short)
        } else {
            Vec::new()
        };
        self.list.push(&Entry {
            key: found.place.0,
            created: facts.created.0,
            accessed: facts.stat.accessed.0,
            modified: facts.stat.modified.0,
            changed: facts.stat.changed.0,
            size: facts.size(),
            allocated: facts.allocation(),
            attributes: facts.attributes.to_ext(),
            ea_size,
            file_id: facts.stat.id.inode,
            short_name: &short,
            name: &name,
            eas: &eas,
        })
    }

    /// The encoded name for this client: the long name if the client knows long names, can encode this one, and will
    /// not take it for a pattern (KB Q140558).
    fn name(&self, found: &Found<'_>, short: &str) -> Vec<u8> {
        if found.place > Place::PARENT {
            if self.short_names || !is_legal_long(found.name) {
                return self.encode_short(short);
            }
            let long = if self.list.unicode {
                Some(utf16::encode(found.name))
            } else {
                self.page.encode(found.name).ok()
            };
            let fits = |name: &Vec<u8>| !self.list.level.is_old() || name.len() <= MAX_OLD_NAME;
            return long
                .filter(fits)
                .unwrap_or_else(|| self.encode_short(short));
        }
        self.encode_short(short)
    }

    /// The size of the file's extended attributes, or the list of the requested ones. A file that cannot be opened has
    /// none.
    fn eas(&self, found: &Found<'_>) -> (u32, Vec<u8>) {
        if !self.list.level.has_ea_size() {
            return (0, Vec::new());
        }
        let file = self.walk.open_for_attributes(self.folder, found);
        if self.list.level != Level::QueryEasFromList {
            let size = file.map(|file| eas::size(self.call, &*file));
            return (size.and_then(Result::ok).unwrap_or(0), Vec::new());
        }
        let kept = file.and_then(|file| eas::get(self.call, &*file, self.wanted).ok());
        let mut list = Writer::default();
        match kept {
            Some(kept) => ea::emit_list(kept.iter().map(eas::Owned::as_ea), &mut list),
            None => ea::emit_list(
                self.wanted.iter().map(|name| without_value(name)),
                &mut list,
            ),
        }
        (0, list.into_vec())
    }

    fn encode_short(&self, short: &str) -> Vec<u8> {
        if self.list.unicode {
            utf16::encode(short)
        } else {
            self.page.encode_lossy(short)
        }
    }
}

/// A list entry for an attribute that a file lacks.
fn without_value(name: &[u8]) -> Ea<'_> {
    Ea {
        flags: 0,
        name,
        value: &[],
    }
}

/// FIND_CLOSE2.
pub fn find_close2(call: &mut Call<'_>) -> Outcome {
    let request = find_close2::Request::parse(&call.block)?;
    if !call.conn.searches.close(request.sid, call.header.tid) {
        return Err(Status::INVALID_HANDLE.into());
    }
    call.done_empty()
}

/// FIND_NOTIFY_CLOSE: does nothing, because the searches it closes are obsolete ([MS-CIFS] 2.2.4.49).
pub fn find_notify_close(call: &mut Call<'_>) -> Outcome {
    find_close2::Request::parse(&call.block)?;
    call.done_empty()
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
