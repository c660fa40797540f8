//! Lists a folder with TRANS2 searches, or with SEARCH in older dialects.

use super::{
    job::{Context, Job, Step},
    reply::{Reply, same_status},
    transact::Transaction,
};
use crate::{
    calls::Request,
    entry::{Entry, FileStat},
    error::Error,
    event::Outcome,
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use coax_wire::{
    block::WireStr,
    command,
    header::Sid,
    smb::{
        find_close2,
        find_entries::{Entries, Format},
        find_first2::{self, FindFirst2, FindNext2, Found, Level, flags},
        search,
    },
    status::Status,
};

/// Include hidden and system files and folders ([MS-CIFS] 2.2.1.2.4).
const EVERYTHING: u16 = 0x16;
/// Maximum number of entries of a folder, in case a server never ends the list.
const MAX_ENTRIES: usize = 1 << 20;
/// Number of entries per request.
const AT_A_TIME: u16 = 1024;
/// Space for header and words of a TRANS2 reply in its buffer, with alignment, bytes.
const REPLY_HEAD: u32 = 128;

/// The position of a search.
#[derive(Debug)]
enum Place {
    Begin,
    /// TRANS2: after the entry with this key and name.
    After(Sid, u32, String),
    /// SEARCH: after the entry with this key.
    AfterKey(search::ResumeKey),
    End,
}

/// [`crate::Operation::List`].
#[derive(Debug)]
pub(super) struct List {
    pattern: String,
    place: Place,
    asked: bool,
    entries: Vec<Entry>,
}

impl List {
    pub fn new(pattern: String) -> Self {
        Self {
            pattern,
            place: Place::Begin,
            asked: false,
            entries: Vec::new(),
        }
    }

    fn ask(&self, cx: &mut Context<'_>) -> Result<(), Error> {
        match &self.place {
            Place::Begin if cx.link.trans2() => self.find_first(cx),
            Place::Begin => self.search(cx, &dos_pattern(&self.pattern), None),
            Place::After(sid, key, name) => find_next(cx, *sid, *key, name),
            Place::AfterKey(key) => self.search(cx, "", Some(*key)),
            Place::End => Ok(()),
        }
    }

    fn find_first(&self, cx: &mut Context<'_>) -> Result<(), Error> {
        let pattern = cx.link.path(&self.pattern)?;
        let find = FindFirst2 {
            search_attributes: EVERYTHING,
            search_count: AT_A_TIME,
            flags: flags::CLOSE_AT_EOS | flags::RETURN_RESUME_KEYS,
            level: level(cx),
        };
        Transaction {
            parameters: &find.to_bytes(&pattern.as_wire()),
            max_data: max_data(cx),
            ..Transaction::trans2(find_first2::FIND_FIRST2)
        }
        .send(cx, 0)
        .map(drop)
    }

    fn search(
        &self,
        cx: &mut Context<'_>,
        pattern: &str,
        key: Option<search::ResumeKey>,
    ) -> Result<(), Error> {
        let path = if key.is_some() {
            cx.link.text("")?
        } else {
            cx.link.path(pattern)?
        };
        let entry = search::ENTRY_LEN as u32;
        let room = cx
            .link
            .max_buffer
            .min(u32::from(*cx.profile.buffers.announced));
        let mut request = Request::new(command::SEARCH, 0);
        search::Request {
            max_count: (room.saturating_sub(REPLY_HEAD) / entry).clamp(1, 1000) as u16,
            search_attributes: EVERYTHING,
            path: path.as_wire(),
            resume_key: key,
        }
        .emit(&mut request.out);
        cx.send(request).map(drop)
    }

    fn found(&mut self, cx: &Context<'_>, reply: &Reply<'_>) -> Result<(), Error> {
        let first = matches!(self.place, Place::Begin);
        let found = Found::parse(&reply.gathered.parameters, first).map_err(reply.nonsense())?;
        // JFileServer 1.4 sets the Unicode flag without Unicode names, because Unicode was not negotiated.
        let unicode = reply.unicode && cx.link.unicode;
        let format = Format {
            level: Level::of(level(cx)).unwrap_or(Level::Standard),
            unicode,
            resume_keys: true,
            zone: cx.link.zone,
        }
        .as_found(&reply.gathered.data, found.count);
        let mut last = None;
        for entry in Entries::new(format, &reply.gathered.data, found.count) {
            let entry = entry.map_err(reply.nonsense())?;
            let key = entry.key;
            let entry = entry_of(cx, &entry, unicode);
            last = Some((key, entry.name.clone()));
            self.entries.push(entry);
        }
        let sid = match &self.place {
            Place::After(sid, ..) => *sid,
            _ => found.sid.unwrap_or(Sid(0)),
        };
        self.place = match last {
            Some((key, name)) if !found.end_of_search => Place::After(sid, key, name),
            _ => Place::End,
        };
        Ok(())
    }

    fn searched(&mut self, cx: &Context<'_>, reply: &Reply<'_>) -> Result<(), Error> {
        let response = search::Response::parse(&reply.ok()?).map_err(reply.nonsense())?;
        self.place = Place::End;
        for entry in response.entries() {
            self.place = Place::AfterKey(entry.key);
            let stat = FileStat {
                modified: entry.modified.unix_ns(cx.link.zone),
                size: u64::from(entry.size),
                attributes: u16::from(entry.attributes),
                ..FileStat::default()
            };
            self.entries.push(Entry {
                name: cx.link.decode(WireStr {
                    raw: entry.name,
                    unicode: false,
                }),
                short_name: String::new(),
                stat,
            });
        }
        Ok(())
    }
}

impl Job for List {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error> {
        if matches!(self.place, Place::End) {
            let mut entries = core::mem::take(&mut self.entries);
            entries.retain(|entry| entry.name != "." && entry.name != "..");
            return Ok(Step::Done(Outcome::Entries(entries)));
        }
        if !self.asked {
            self.asked = true;
            self.ask(cx)?;
        }
        Ok(Step::Waiting)
    }

    fn reply(&mut self, cx: &mut Context<'_>, _: u32, reply: &Reply<'_>) -> Result<(), Error> {
        self.asked = false;
        let end = [Status::NO_MORE_FILES, Status::NO_SUCH_FILE];
        if end.iter().any(|status| same_status(reply.status, *status)) && !reply.status.is_ok() {
            self.place = Place::End;
            return Ok(());
        }
        reply.ok()?;
        if reply.command == command::SEARCH {
            self.searched(cx, reply)?;
        } else {
            self.found(cx, reply)?;
        }
        if self.entries.len() > MAX_ENTRIES {
            return Err(Error::Protocol("a folder without end"));
        }
        Ok(())
    }

    fn give_up(&mut self, cx: &mut Context<'_>) {
        if let Place::After(sid, ..) = self.place {
            let mut request = Request::new(command::FIND_CLOSE2, 0);
            find_close2::Request { sid }.emit(&mut request.out);
            // The listing has failed already; an error here has no consequence.
            let _ = cx.send(request);
        }
    }
}

/// Converts an entry of a TRANS2 search.
fn entry_of(cx: &Context<'_>, entry: &find_first2::Entry<'_>, unicode: bool) -> Entry {
    let text = |raw| cx.link.decode(WireStr { raw, unicode });
    // The codec's value for a time that the server does not have.
    let stamp = |ns: i64| (ns != i64::MIN).then_some(ns);
    Entry {
        name: text(entry.name),
        short_name: text(entry.short_name),
        stat: FileStat {
            modified: stamp(entry.modified),
            created: stamp(entry.created),
            accessed: stamp(entry.accessed),
            size: entry.size,
            attributes: entry.attributes as u16,
        },
    }
}

fn find_next(cx: &mut Context<'_>, sid: Sid, resume_key: u32, name: &str) -> Result<(), Error> {
    let name = cx.link.text(name)?;
    let find = FindNext2 {
        sid,
        search_count: AT_A_TIME,
        level: level(cx),
        resume_key,
        flags: flags::CLOSE_AT_EOS | flags::RETURN_RESUME_KEYS | flags::CONTINUE_FROM_LAST,
    };
    Transaction {
        parameters: &find.to_bytes(&name.as_wire()),
        max_data: max_data(cx),
        ..Transaction::trans2(find_first2::FIND_NEXT2)
    }
    .send(cx, 0)
    .map(drop)
}

/// The level with both names and 64-bit times for NT servers, and DOS times for others.
fn level(cx: &Context<'_>) -> u16 {
    if cx.link.nt_smbs() { 0x104 } else { 1 }
}

fn max_data(cx: &Context<'_>) -> u32 {
    u32::from(*cx.profile.buffers.announced)
        .saturating_sub(REPLY_HEAD)
        .max(1)
}

/// In DOS, `*` matches only names without an extension.
fn dos_pattern(pattern: &str) -> String {
    match pattern.rsplit_once(['/', '\\']) {
        Some((folder, "*")) => [folder, "*.*"].join("/"),
        None if pattern == "*" => "*.*".to_string(),
        _ => pattern.to_string(),
    }
}
