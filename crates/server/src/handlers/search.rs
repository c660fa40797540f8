//! SEARCH, FIND, FIND_UNIQUE, FIND_CLOSE: [MS-CIFS] 3.3.5.47, 3.3.5.48, 3.3.5.49.
//!
//! The resume key of each entry contains the search and the entry's position, so a client may resume after any entry,
//! repeatedly.

use super::find::{Ground, locate};
use crate::search::Place;
use crate::{
    context::{Call, Flow, Outcome},
    error::Result,
    names::{
        attributes::{Attributes, SearchAttributes},
        mangle::Mangler,
        wildcard::FcbPattern,
    },
    ops::find::{self, Found, Walk},
    search::{Mask, Search},
};
use alloc::vec::Vec;
use coax_wire::{
    codepage::CodePage,
    command,
    dialect::Dialect,
    header::{Flags2, HEADER_LEN, Sid},
    io::Writer,
    smb::search::{
        ENTRY_LEN, Entry, RESPONSE_OVERHEAD, Request, ResumeKey, emit_close_response, emit_response,
    },
    status::Status,
    time::{DosDateTime, ZoneMinutesWest},
};

/// SEARCH: the search stays open until the table needs its slot.
pub fn search(call: &mut Call<'_>) -> Outcome {
    serve(call, true)
}

/// FIND: as SEARCH, but FIND_CLOSE may end it.
pub fn find(call: &mut Call<'_>) -> Outcome {
    serve(call, true)
}

/// FIND_UNIQUE: the search ends with its one reply.
pub fn find_unique(call: &mut Call<'_>) -> Outcome {
    serve(call, false)
}

/// FIND_CLOSE. Closing a search that no longer exists succeeds.
pub fn find_close(call: &mut Call<'_>) -> Outcome {
    let request = Request::parse(&call.block, call.unicode())?;
    let key = request.resume_key.ok_or(Status::INVALID_SMB)?;
    call.conn.searches.close(sid_of(&key), call.header.tid);
    emit_close_response(call.out());
    Ok(Flow::Done)
}

fn serve(call: &mut Call<'_>, keep: bool) -> Outcome {
    let request = Request::parse(&call.block, call.unicode())?;
    let (count, entries) = match request.resume_key {
        Some(key) => go_on(call, &request, key)?,
        None => begin(call, &request, keep)?,
    };
    // Names here are never Unicode and never long ([MS-CIFS] 2.2.4.58).
    call.header.flags2.0 &= !(Flags2::UNICODE | Flags2::IS_LONG_NAME);
    emit_response(count, &entries, call.out());
    Ok(Flow::Done)
}

/// Starts a search. A search without results is not kept.
fn begin(call: &mut Call<'_>, request: &Request<'_>, keep: bool) -> Result<(u16, Vec<u8>)> {
    let text = call.text(request.path);
    let attributes = SearchAttributes(request.search_attributes);
    if attributes.wants_only_volume() {
        return volume(call);
    }
    if text.is_empty() {
        // MS-DOS clients resume a search without results as if it had a key; the resumed search must find nothing
        // again.
        return Err(Status::NO_MORE_FILES.into());
    }
    let (folder, path) = locate(call, &text)?;
    let page = call.conn.server.config.code_page;
    let mask = fcb_mask(page, &path.pattern);
    let mut search = Search::new(&call.header, folder, mask, attributes);
    search.short_names = true;
    search.pattern = fcb_text(page, &path.pattern);
    search.sid = NO_SEARCH;
    // The search needs its number before it has entries, because their keys contain it.
    if keep {
        let limit = call.conn.server.config.limits.searches;
        search.reserve(&call.conn.account)?;
        search.sid = call.conn.searches.open(limit, search.clone());
    }
    let filled = fill(call, request, &mut search, ResumeKey::default());
    match &filled {
        Ok((1.., _)) if keep => call.conn.searches.put(search),
        _ if keep => drop(call.conn.searches.close(search.sid, call.header.tid)),
        _ => {}
    }
    match filled? {
        (0, _) => Err(Status::NO_MORE_FILES.into()),
        found => Ok(found),
    }
}

/// Resumes after the entry with the given key. A search that no longer exists has no more entries.
///
/// Before NT LM 0.12, an end without entries is an error, as in Samba 2 and Windows 98 (capture
/// dos-win98-netbeui.pcap): those clients may repeat the request until they get one. A search for one name ends in an
/// error in every dialect, as in Samba 4.17. For an NT client, SEARCH for a pattern ends once in success without entries
/// (smbtorture raw.search) and then in the error; FIND ends in the error at once, both as in Samba 4.17.
fn go_on(call: &mut Call<'_>, request: &Request<'_>, key: ResumeKey) -> Result<(u16, Vec<u8>)> {
    let taken = call.conn.searches.take(sid_of(&key), call.header.tid);
    let mut search = taken.ok_or(Status::NO_MORE_FILES)?;
    search.rewind(place_of(&key));
    let filled = fill(call, request, &mut search, key);
    let is_nt = call.conn.client.dialect.is_some_and(Dialect::is_nt);
    let is_search = call.header.command == command::SEARCH;
    let ends_in_error = !is_nt || !is_search || search.is_of_one() || search.end_told;
    let ends = matches!(filled, Ok((0, _)));
    search.end_told |= ends;
    call.conn.searches.put(search);
    if ends && ends_in_error {
        return Err(Status::NO_MORE_FILES.into());
    }
    filled
}

fn fill(
    call: &Call<'_>,
    request: &Request<'_>,
    search: &mut Search,
    key: ResumeKey,
) -> Result<(u16, Vec<u8>)> {
    let ground = Ground::of(call)?;
    let walk = Walk::begin(ground.finder(call), search, call)?;
    let room = call
        .client_buffer()
        .saturating_sub(HEADER_LEN + RESPONSE_OVERHEAD);
    let max = usize::from(request.max_count.max(1)).min((room / ENTRY_LEN).max(1));
    let config = &call.conn.server.config;
    let (sid, pattern) = (search.sid, search.pattern);
    let shown = Shown {
        page: config.code_page,
        zone: ZoneMinutesWest(config.time_zone_minutes),
        upper: !call.header.flags2.has(Flags2::LONG_NAMES),
        key: ResumeKey {
            reserved: (key.reserved & !SERVER_BITS) | (search.attributes.0 as u8 & SERVER_BITS),
            pattern,
            ..key
        },
        sid,
    };
    let mut entries = Writer::with_capacity(max.min(64) * ENTRY_LEN);
    let walked = walk.run(search, max, &mut |found| {
        shown.entry(found, &mut entries);
        true
    })?;
    Ok((walked.count as u16, entries.into_vec()))
}

/// The volume label as a DOS entry: a dot splits the name after eight characters.
fn volume(call: &Call<'_>) -> Result<(u16, Vec<u8>)> {
    let share = call.share()?;
    let label = call
        .conn
        .server
        .config
        .code_page
        .encode_lossy(&share.volume);
    if label.is_empty() {
        return Err(Status::NO_MORE_FILES.into());
    }
    let (base, extension) = label.split_at_checked(8).unwrap_or((&label, &[]));
    let dot: &[u8] = if extension.is_empty() { b"" } else { b"." };
    let entry = Entry {
        key: ResumeKey {
            pattern: [b'?'; 11],
            reserved: Attributes::VOLUME.0 as u8,
            server: server_part(NO_SEARCH, Place::START),
            ..ResumeKey::default()
        },
        attributes: Attributes::VOLUME.0 as u8,
        modified: DosDateTime::NONE,
        size: 0,
        name: &[base, dot, extension].concat(),
    };
    let mut entries = Writer::default();
    entry.emit(&mut entries);
    Ok((1, entries.into_vec()))
}

/// The server's bits of a key's first byte.
const SERVER_BITS: u8 = 0x1f;

/// The number in keys without a search. No search has it, so resuming it finds nothing.
const NO_SEARCH: Sid = Sid(0xffff);

/// The server's part of a key.
fn server_part(sid: Sid, place: Place) -> [u8; 5] {
    let [low, high] = sid.0.to_le_bytes();
    let [a, b, c, _] = place.0.to_le_bytes();
    [low, high, a, b, c]
}

/// The number of the search in a key.
fn sid_of(key: &ResumeKey) -> Sid {
    let [low, high, ..] = key.server;
    Sid(u16::from_le_bytes([low, high]))
}

/// The entry position in a key.
fn place_of(key: &ResumeKey) -> Place {
    let [_, _, a, b, c] = key.server;
    Place(u32::from_le_bytes([a, b, c, 0]))
}

/// The form of entries for this client.
struct Shown {
    page: CodePage,
    zone: ZoneMinutesWest,
    upper: bool,
    key: ResumeKey,
    sid: Sid,
}

impl Shown {
    fn entry(&self, found: &Found<'_>, out: &mut Writer) {
        let facts = &found.facts;
        let entry = Entry {
            key: ResumeKey {
                server: server_part(self.sid, found.place),
                ..self.key
            },
            attributes: facts.attributes.to_smb() as u8,
            modified: DosDateTime::from_unix_ns(facts.stat.modified.0, self.zone),
            size: u32::try_from(facts.size()).unwrap_or(u32::MAX),
            name: &self.name(found),
        };
        entry.emit(out);
    }

    /// The 8.3 name; in its own case if the file's name is an 8.3 name and the client knows case.
    fn name(&self, found: &Found<'_>) -> Vec<u8> {
        if found.place <= Place::PARENT {
            return found.name.as_bytes().into();
        }
        if !self.upper && Mangler::new(self.page).legal(found.name) == Some(found.short) {
            return self.page.encode_lossy(found.name);
        }
        found.short.as_bytes().into()
    }
}

/// Decodes a pattern of the core protocol. A pattern that no 8.3 name can match is a long name's: clients of later
/// dialects send these here.
fn fcb_mask(page: CodePage, pattern: &str) -> Mask {
    let (base, extension) = pattern.split_once('.').unwrap_or((pattern, ""));
    let fits = page.encode_lossy(base).len() <= 8 && page.encode_lossy(extension).len() <= 3;
    match find::mask(pattern, false) {
        Mask::Pattern(_) if fits => Mask::Fcb(FcbPattern::new(pattern)),
        other => other,
    }
}

/// The pattern as the eleven characters of a file control block.
fn fcb_text(page: CodePage, pattern: &str) -> [u8; 11] {
    let mut fields = [b' '; 11];
    let (base, extension) = pattern.split_once('.').unwrap_or((pattern, ""));
    let (left, right) = fields.split_at_mut(8);
    for (field, part) in [(left, base), (right, extension)] {
        for (slot, byte) in field.iter_mut().zip(page.encode_lossy(&page.upper(part))) {
            *slot = byte;
        }
    }
    fields
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
