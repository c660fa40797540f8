//! Copies from the server with the profile's read methods.

use super::{
    depth::Depth,
    part::{Blocks, DATA},
};
use crate::{
    calls::Request,
    error::{Changed, Error, Unfit},
    jobs::{job::Context, reply::Reply},
    profile::{Method, Reading},
    spec::CopySpec,
};
use alloc::{collections::BTreeMap, vec::Vec};
use coax_wire::{
    command,
    header::Fid,
    smb::{negotiate::cap, read, read_andx, read_raw},
    time::Time,
};
use core::ops::Range;

/// Files beyond this size need 64-bit offsets.
const FOUR_GIB: u64 = 1 << 32;

#[derive(Debug)]
struct Asked {
    offset: u64,
    len: u32,
    raw: bool,
    sent: Time,
}

#[derive(Debug)]
pub(super) struct Download {
    fid: Fid,
    from: u64,
    next: u64,
    /// The file's length from the server; a file of unknown length is read to its end.
    size: Option<u64>,
    /// A plain read returned no data: this is the end of the file.
    end_seen: bool,
    asked: BTreeMap<u32, Asked>,
    /// Ranges that short replies omitted, to be requested again.
    gaps: Vec<(u64, u32)>,
    /// Largest reply to a plain read, if the server returns less than requested.
    most: Option<u32>,
    depth: Depth,
    mark: u32,
    arrived: u64,
    /// A raw read was short. A plain read finds the reason ([MS-CIFS] 2.2.4.22.2).
    doubt: bool,
    /// A raw read was too slow once.
    raw_is_slow: bool,
    blocks: Blocks,
    end_check: EndCheck,
}

/// Whether the file ends where a 32-bit size says.
#[derive(Debug, PartialEq, Eq)]
enum EndCheck {
    /// The end is known, or not to be checked.
    Settled,
    /// A read at the end follows the data.
    Due,
    /// This read is outstanding.
    Asked,
}

impl Download {
    pub fn new(fid: Fid, spec: &CopySpec, size: Option<u64>, how: &Reading) -> Self {
        Self {
            fid,
            from: spec.from,
            next: spec.from,
            size,
            end_seen: false,
            asked: BTreeMap::new(),
            gaps: Vec::new(),
            most: None,
            depth: Depth::new(*how.in_flight),
            mark: DATA,
            arrived: 0,
            doubt: false,
            raw_is_slow: false,
            blocks: Blocks::new(spec),
            end_check: match spec.checks_end && size.is_some() {
                true => EndCheck::Due,
                false => EndCheck::Settled,
            },
        }
    }

    /// Bytes received.
    pub fn moved(&self) -> u64 {
        self.arrived
    }

    /// Sends requests up to the limit. Returns whether all data has arrived.
    pub fn advance(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        while !self.all_asked() && self.asked.len() < self.depth.allowed(cx) {
            let alone = self.doubt || self.asked.values().any(|asked| asked.raw);
            if alone && !self.asked.is_empty() {
                break;
            }
            self.ask(cx)?;
        }
        if !self.asked.is_empty() || !self.all_asked() {
            return Ok(false);
        }
        let found = self.from.saturating_add(self.arrived);
        match self.size.map(|size| size.max(self.from)) {
            Some(expected) if expected != found => Err(Changed { expected, found }.into()),
            _ if self.end_check == EndCheck::Settled => Ok(true),
            _ => self.check_end(cx, found).map(|()| false),
        }
    }

    /// Reads one byte where the file should end.
    fn check_end(&mut self, cx: &mut Context<'_>, end: u64) -> Result<(), Error> {
        self.end_check = EndCheck::Asked;
        let method = cx.suited(*cx.profile.read.otherwise);
        let request = self.request(cx, method, end, 1)?;
        let asked = Asked {
            offset: end,
            len: 1,
            raw: false,
            sent: cx.now,
        };
        self.asked.insert(self.mark, asked);
        cx.send(request).map(drop)
    }

    /// Data after the end means that the size is only the lower 32 bits of the real one.
    fn end_checked(&mut self, cx: &Context<'_>, reply: &Reply<'_>) -> Result<(), Error> {
        self.end_check = EndCheck::Settled;
        // Some servers refuse a read at the end.
        if reply.status.is_ok() && !read_range(reply)?.is_empty() {
            return Err(Unfit::TooLarge(cx.link.dialect.name).into());
        }
        Ok(())
    }

    /// Whether all data has been requested.
    fn all_asked(&self) -> bool {
        self.end_seen || (self.gaps.is_empty() && self.size.is_some_and(|size| self.next >= size))
    }

    pub fn reply(
        &mut self,
        cx: &mut Context<'_>,
        part: u32,
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        let Some(asked) = self.asked.remove(&part) else {
            return Ok(());
        };
        if self.end_check == EndCheck::Asked {
            return self.end_checked(cx, reply);
        }
        self.depth.answered(asked.sent, cx.now);
        let range = match reply.command {
            command::READ_RAW if asked.raw && reply.is_bare() => 0..reply.message.len(),
            _ => read_range(reply)?,
        };
        let data = reply.message.get(range).unwrap_or_default();
        if data.len() > asked.len as usize {
            return Err(Error::Protocol("more data than was asked for"));
        }
        if !data.is_empty() {
            cx.files.write(cx.job, asked.offset, data)?;
        }
        self.took(cx, &asked, data.len() as u64);
        Ok(())
    }

    /// Updates the state after a reply.
    fn took(&mut self, cx: &Context<'_>, asked: &Asked, len: u64) {
        self.arrived = self.arrived.saturating_add(len);
        let limit = u64::from(*cx.profile.raw.time_limit_ms);
        let took = cx.now.0.saturating_sub(asked.sent.0) / 1_000_000;
        if asked.raw && limit != 0 && took > limit {
            self.raw_is_slow = true;
        }
        let short = u64::from(asked.len).saturating_sub(len);
        if asked.raw {
            // End of file, an error, or a busy server: a plain read will show which.
            self.doubt = short > 0;
            self.next = asked.offset.saturating_add(len);
        } else if len == 0 {
            self.end_seen = true;
            self.gaps.clear();
        } else {
            self.doubt = false;
            if short > 0 {
                self.most = Some(len as u32);
                self.gaps
                    .push((asked.offset.saturating_add(len), short as u32));
            }
        }
    }

    fn ask(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let (offset, rest) = match self.gaps.pop() {
            Some((offset, len)) => (offset, u64::from(len)),
            None => (
                self.next,
                self.size
                    .map_or(u64::MAX, |size| size.saturating_sub(self.next)),
            ),
        };
        let raw = !self.doubt && self.may_use_raw(cx, rest);
        let method = match *cx.profile.read.method {
            Method::Raw if !raw => cx.suited(*cx.profile.read.otherwise),
            method => cx.suited(method),
        };
        let len = self.len(cx, method, offset, rest);
        let request = self.request(cx, method, offset, len)?;
        let asked = Asked {
            offset,
            len,
            raw: method == Method::Raw,
            sent: cx.now,
        };
        self.asked.insert(self.mark, asked);
        self.mark = self.mark.wrapping_add(1).max(DATA);
        if offset == self.next {
            self.next = offset.saturating_add(u64::from(len));
        } else if u64::from(len) < rest {
            self.gaps.push((
                offset.saturating_add(u64::from(len)),
                (rest as u32).saturating_sub(len),
            ));
        }
        cx.send(request).map(drop)
    }

    fn may_use_raw(&self, cx: &Context<'_>, rest: u64) -> bool {
        let rules = &cx.profile.raw;
        let block = rest.min(u64::from(*cx.profile.read.raw_block));
        let least = u64::from(cx.room()).saturating_mul(u64::from(*rules.read_at_least)) / 100;
        *cx.profile.read.method == Method::Raw
            && cx.link.raw_read
            && !self.raw_is_slow
            && block >= least
            && self.asked.is_empty()
            && (!*rules.alone || cx.calls.outstanding() == 0)
    }

    /// Length of the next request. It does not cross the boundary of the application's read size.
    fn len(&mut self, cx: &Context<'_>, method: Method, offset: u64, rest: u64) -> u32 {
        let reading = &cx.profile.read;
        let room = cx.room().saturating_sub(*reading.headroom);
        let block = self.blocks.bytes(&reading.block, room, offset);
        let block = match method {
            Method::Raw => (*reading.raw_block).min(cx.link.max_raw).min(65_535),
            Method::Andx if cx.link.has(cap::LARGE_READX) => block,
            Method::Andx | Method::Core => block.min(core_room(cx)),
        };
        let chunk = match u64::from(*cx.profile.copy.application_block) {
            0 => u64::MAX,
            size => size.saturating_sub(offset.checked_rem(size).unwrap_or(0)),
        };
        let most = self
            .most
            .filter(|_| method != Method::Raw)
            .unwrap_or(u32::MAX);
        u64::from(block.min(most)).min(rest).min(chunk) as u32
    }

    fn request(
        &self,
        cx: &Context<'_>,
        method: Method,
        offset: u64,
        len: u32,
    ) -> Result<Request, Error> {
        let wide = cx.link.has(cap::LARGE_FILES);
        if offset.saturating_add(u64::from(len)) > FOUR_GIB && (!wide || method == Method::Core) {
            return Err(Unfit::Beyond("an offset of 4 GiB and more", cx.link.dialect.name).into());
        }
        Ok(match method {
            Method::Core => self.core_request(offset as u32, len as u16),
            Method::Andx => self.andx_request(offset, len, wide),
            Method::Raw => self.raw_request(offset, len as u16),
        })
    }

    fn core_request(&self, offset: u32, count: u16) -> Request {
        let mut request = Request::new(command::READ, self.mark);
        read::Request {
            fid: self.fid,
            offset,
            count,
            remaining: 0,
        }
        .emit(&mut request.out);
        request
    }

    fn andx_request(&self, offset: u64, max_count: u32, wide: bool) -> Request {
        let mut request = Request::new(command::READ_ANDX, self.mark);
        read_andx::Request {
            fid: self.fid,
            offset,
            max_count,
            min_count: 0,
            timeout_ms: 0,
        }
        .emit_wide(wide, &mut request.out);
        request
    }

    fn raw_request(&self, offset: u64, max_count: u16) -> Request {
        let mut request = Request::new(command::READ_RAW, self.mark);
        read_raw::Request {
            fid: self.fid,
            offset,
            max_count,
            min_count: 0,
            timeout_ms: 0,
        }
        .emit(&mut request.out);
        request
    }
}

/// Where the data is in the reply to a plain read.
fn read_range(reply: &Reply<'_>) -> Result<Range<usize>, Error> {
    let block = reply.ok()?;
    match reply.command {
        command::READ_ANDX => {
            let read = read_andx::Response::parse(&block).map_err(reply.nonsense())?;
            Ok(read.data)
        }
        command::READ => {
            let read = read::Response::parse(&block).map_err(reply.nonsense())?;
            Ok(read.data)
        }
        _ => Err(Error::Protocol(
            "an answer of another command than was asked",
        )),
    }
}

/// Maximum number of data bytes in a reply: both sides' buffers without header, words and counts.
fn core_room(cx: &Context<'_>) -> u32 {
    let announced = u32::from(*cx.profile.buffers.announced);
    cx.link
        .max_buffer
        .min(announced)
        .saturating_sub(*cx.profile.read.headroom)
        .clamp(1, 65_535)
}
