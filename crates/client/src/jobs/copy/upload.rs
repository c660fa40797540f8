//! Copies to the server with the profile's write methods.

use super::{
    depth::Depth,
    part::{Blocks, DATA},
};
use crate::{
    calls::{Request, Tail},
    error::{Changed, Error, Unfit},
    jobs::{
        job::Context,
        reply::{Reply, same_status},
    },
    profile::{Method, Writing},
    spec::CopySpec,
};
use alloc::{collections::BTreeMap, vec::Vec};
use coax_wire::{
    command,
    header::{Fid, HEADER_LEN},
    smb::{negotiate::cap, write, write_andx, write_raw},
    status::Status,
    time::Time,
};

/// Files beyond this size need 64-bit offsets.
const FOUR_GIB: u64 = 1 << 32;

/// Whether writes can reach offsets beyond 4 GiB.
fn has_wide_offsets(cx: &Context<'_>, method: Method) -> bool {
    cx.link.has(cap::LARGE_FILES) && method != Method::Core
}

fn beyond(cx: &Context<'_>) -> Error {
    Unfit::Beyond("an offset of 4 GiB and more", cx.link.dialect.name).into()
}

/// Checks before the file is created that this server and profile can write a file of this size.
pub(super) fn check_size(cx: &Context<'_>, spec: &CopySpec) -> Result<(), Error> {
    let writing = &cx.profile.write;
    let plain = match *writing.method {
        Method::Raw => cx.suited(*writing.otherwise),
        method => cx.suited(method),
    };
    if spec.size.is_some_and(|size| size > FOUR_GIB) && !has_wide_offsets(cx, plain) {
        return Err(beyond(cx));
    }
    Ok(())
}

/// Maximum size of a raw write's request without data: header, word count, words, byte count, padding.
const RAW_HEAD: u32 = HEADER_LEN as u32 + 1 + 28 + 2 + 1;

#[derive(Debug)]
struct Sent {
    offset: u64,
    len: u32,
    /// The data to send after the interim response to a raw write.
    raw: Option<Tail>,
    at: Time,
}

#[derive(Debug)]
pub(super) struct Upload {
    fid: Fid,
    from: u64,
    next: u64,
    size: Option<u64>,
    seekable: bool,
    sent: BTreeMap<u32, Sent>,
    depth: Depth,
    mark: u32,
    written: u64,
    raw_is_slow: bool,
    /// The server refused a raw write: use plain writes from now on.
    raw_refused: bool,
    /// A block of a refused raw write, to be sent again.
    again: Option<(u64, Vec<u8>)>,
    blocks: Blocks,
}

impl Upload {
    pub fn new(fid: Fid, spec: &CopySpec, how: &Writing) -> Self {
        Self {
            fid,
            from: spec.from,
            next: spec.from,
            size: spec.size,
            seekable: spec.seekable,
            sent: BTreeMap::new(),
            depth: Depth::new(*how.in_flight),
            mark: DATA,
            written: 0,
            raw_is_slow: false,
            raw_refused: false,
            again: None,
            blocks: Blocks::new(spec),
        }
    }

    /// Bytes that the server accepted.
    pub fn moved(&self) -> u64 {
        self.written
    }

    /// Sends requests up to the limit. Returns whether all data is acknowledged.
    pub fn advance(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        while !self.all_sent() && self.sent.len() < self.depth.allowed(cx) {
            if self.sent.values().any(|sent| sent.raw.is_some()) {
                break;
            }
            self.send(cx)?;
        }
        if !self.sent.is_empty() || !self.all_sent() {
            return Ok(false);
        }
        let found = self.from.saturating_add(self.written);
        match self.size.map(|size| size.max(self.from)) {
            Some(expected) if expected != found => Err(Changed { expected, found }.into()),
            _ => Ok(true),
        }
    }

    fn all_sent(&self) -> bool {
        self.again.is_none() && self.size.is_some_and(|size| self.next >= size)
    }

    pub fn reply(
        &mut self,
        cx: &mut Context<'_>,
        part: u32,
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        let Some(sent) = self.sent.remove(&part) else {
            return Ok(());
        };
        self.depth.answered(sent.at, cx.now);
        match reply.command {
            command::WRITE_RAW | command::WRITE_COMPLETE => self.raw_reply(cx, part, sent, reply),
            command::WRITE_ANDX => {
                let response =
                    write_andx::Response::parse(&reply.ok()?).map_err(reply.nonsense())?;
                let count = if sent.len > 0xffff {
                    response.count
                } else {
                    u32::from(response.count_low())
                };
                self.took(&sent, count)
            }
            _ => {
                let count = write::parse_response(&reply.ok()?).map_err(reply.nonsense())?;
                self.took(&sent, u32::from(count))
            }
        }
    }

    /// Checks the count of a reply. A server that writes less than it received has a full disk ([MS-CIFS] 2.2.4.12.2).
    fn took(&mut self, sent: &Sent, count: u32) -> Result<(), Error> {
        if count < sent.len {
            return Err(Error::NoRoomLeft {
                sent: sent.len,
                taken: count,
            });
        }
        self.written = self.written.saturating_add(u64::from(sent.len));
        Ok(())
    }

    fn raw_reply(
        &mut self,
        cx: &mut Context<'_>,
        part: u32,
        mut sent: Sent,
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        let through = *cx.profile.write.through;
        match sent.raw.take() {
            Some(data) if reply.is_interim() => {
                cx.send_bare(data)?;
                if through {
                    self.sent.insert(part, sent);
                } else {
                    self.written = self.written.saturating_add(u64::from(sent.len));
                }
                Ok(())
            }
            Some(data) if !reply.status.is_ok() => self.raw_refusal(cx, &sent, data, reply),
            // if the request contained all data, the first reply is the final one ([MS-CIFS] 3.2.5.18)
            Some(_) | None => {
                self.time_raw(cx, &sent);
                self.raw_end(&sent, reply)
            }
        }
    }

    /// Handles the final reply of a raw write, which contains the number of bytes written ([MS-CIFS] 2.2.4.25.3).
    fn raw_end(&mut self, sent: &Sent, reply: &Reply<'_>) -> Result<(), Error> {
        let response =
            write_raw::Response::parse(reply.command, &reply.ok()?).map_err(reply.nonsense())?;
        // Samba's final reply has the command of the request (seen with 4.17).
        let (write_raw::Response::Complete { count }
        | write_raw::Response::Interim { available: count }) = response;
        self.took(sent, u32::from(count))
    }

    fn time_raw(&mut self, cx: &Context<'_>, sent: &Sent) {
        let limit = u64::from(*cx.profile.raw.time_limit_ms);
        let took = cx.now.0.saturating_sub(sent.at.0) / 1_000_000;
        self.raw_is_slow |= limit != 0 && took > limit;
    }

    /// The server refused a raw write: sends the block again as a plain write ([MS-CIFS] 2.2.4.25.3). A full disk is an
    /// error.
    fn raw_refusal(
        &mut self,
        cx: &mut Context<'_>,
        sent: &Sent,
        data: Tail,
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        let fallback = [
            Status::USE_STANDARD,
            Status::USE_MPX,
            Status::INSUFFICIENT_RESOURCES,
            Status::NOT_SUPPORTED,
        ];
        if !fallback
            .iter()
            .any(|status| same_status(reply.status, *status))
        {
            return Err(reply.refusal());
        }
        self.raw_refused = true;
        let rest = self.bytes_of(cx, data)?;
        let head = (sent.len as usize).saturating_sub(rest.len());
        let mut block = alloc::vec![0; head];
        if head > 0 && self.seekable {
            cx.files.read(cx.job, sent.offset, &mut block)?;
        }
        block.extend_from_slice(&rest);
        self.again = Some((sent.offset, block));
        Ok(())
    }

    fn bytes_of(&self, cx: &mut Context<'_>, data: Tail) -> Result<Vec<u8>, Error> {
        match data {
            Tail::None => Ok(Vec::new()),
            Tail::Bytes(bytes) => Ok(bytes),
            Tail::Local { offset, len, .. } => {
                let mut bytes = alloc::vec![0; len];
                let got = cx.files.read(cx.job, offset, &mut bytes)?;
                bytes.truncate(got);
                Ok(bytes)
            }
        }
    }

    fn send(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let rest = match &self.again {
            Some((_, block)) => block.len() as u64,
            None => self
                .size
                .map_or(u64::MAX, |size| size.saturating_sub(self.next)),
        };
        let method = match *cx.profile.write.method {
            Method::Raw if !self.may_use_raw(cx, rest) => cx.suited(*cx.profile.write.otherwise),
            method => cx.suited(method),
        };
        let offset = self.again.as_ref().map_or(self.next, |(offset, _)| *offset);
        let len = self.len(cx, method, offset, rest);
        let data = self.take(cx, offset, len, method)?;
        let len = data.len() as u32;
        if len == 0 {
            self.size = Some(self.next);
            return Ok(());
        }
        let request = match method {
            Method::Raw => self.raw_request(cx, offset, data)?,
            _ => self.plain_request(cx, method, offset, data)?,
        };
        if offset == self.next {
            self.next = offset.saturating_add(u64::from(len));
        }
        self.mark = self.mark.wrapping_add(1).max(DATA);
        cx.send(request).map(drop)
    }

    /// The block's data: a reference to the local file if the driver supports it, or the bytes.
    fn take(
        &mut self,
        cx: &mut Context<'_>,
        offset: u64,
        len: u32,
        method: Method,
    ) -> Result<Tail, Error> {
        if let Some((at, mut block)) = self.again.take() {
            let rest = block.split_off((len as usize).min(block.len()));
            if !rest.is_empty() {
                self.again = Some((at.saturating_add(u64::from(len)), rest));
            }
            return Ok(Tail::Bytes(block));
        }
        let whole = method != Method::Raw || !*cx.profile.write.data_with_raw_request;
        if self.seekable && self.size.is_some() && !cx.calls.signed() && whole {
            let (job, len) = (cx.job, len as usize);
            return Ok(Tail::Local { job, offset, len });
        }
        let mut bytes = alloc::vec![0; len as usize];
        let got = cx.files.read(cx.job, offset, &mut bytes)?;
        bytes.truncate(got);
        if let Some(expected) = self.size.filter(|_| got < len as usize) {
            let found = offset.saturating_add(got as u64);
            return Err(Changed { expected, found }.into());
        }
        Ok(Tail::Bytes(bytes))
    }

    fn may_use_raw(&self, cx: &Context<'_>, rest: u64) -> bool {
        let rules = &cx.profile.raw;
        let block = rest.min(u64::from(*cx.profile.write.raw_block));
        let least = u64::from(cx.room()).saturating_mul(u64::from(*rules.write_at_least)) / 100;
        cx.link.raw_write
            && !self.raw_is_slow
            && !self.raw_refused
            && block >= least
            && self.sent.is_empty()
            && (!*rules.alone || cx.calls.outstanding() == 0)
    }

    fn len(&mut self, cx: &Context<'_>, method: Method, offset: u64, rest: u64) -> u32 {
        let writing = &cx.profile.write;
        let room = cx.room().saturating_sub(*writing.headroom).max(1);
        let block = self.blocks.bytes(&writing.block, room, offset);
        let block = match method {
            Method::Raw => (*writing.raw_block).min(cx.link.max_raw).min(65_535),
            Method::Andx if cx.link.has(cap::LARGE_WRITEX) => block,
            Method::Andx | Method::Core => block.min(room).min(65_535),
        };
        let chunk = match u64::from(*cx.profile.copy.application_block) {
            0 => u64::MAX,
            size => size.saturating_sub(offset.checked_rem(size).unwrap_or(0)),
        };
        u64::from(block).min(rest).min(chunk) as u32
    }

    fn plain_request(
        &mut self,
        cx: &Context<'_>,
        method: Method,
        offset: u64,
        data: Tail,
    ) -> Result<Request, Error> {
        let wide = cx.link.has(cap::LARGE_FILES);
        let len = data.len() as u32;
        let end = offset.saturating_add(u64::from(len));
        if end > FOUR_GIB && !has_wide_offsets(cx, method) {
            return Err(beyond(cx));
        }
        let mut request = match method {
            Method::Core => self.core_request(offset as u32, len as u16),
            _ => self.andx_request(cx, offset, len, wide),
        };
        request.tail = data;
        request.payload = len;
        self.note(cx, offset, len, None);
        Ok(request)
    }

    fn core_request(&self, offset: u32, count: u16) -> Request {
        let mut request = Request::new(command::WRITE, self.mark);
        write::Request {
            fid: self.fid,
            offset,
            count,
            remaining: 0,
            data: &[],
        }
        .emit_head(&mut request.out);
        request
    }

    fn andx_request(&self, cx: &Context<'_>, offset: u64, len: u32, wide: bool) -> Request {
        let mut request = Request::new(command::WRITE_ANDX, self.mark);
        write_andx::Head {
            fid: self.fid,
            offset,
            mode: u16::from(*cx.profile.write.through),
            remaining: 0,
            len,
        }
        .emit(wide, &mut request.out);
        request
    }

    fn raw_request(&mut self, cx: &Context<'_>, offset: u64, data: Tail) -> Result<Request, Error> {
        let through = *cx.profile.write.through;
        let len = data.len() as u32;
        let mut request = Request::new(command::WRITE_RAW, self.mark);
        let (first, rest) = match data {
            Tail::Bytes(mut bytes) if *cx.profile.write.data_with_raw_request => {
                let room = cx.room().saturating_sub(RAW_HEAD) as usize;
                let rest = bytes.split_off(room.min(bytes.len()));
                (bytes, Tail::Bytes(rest))
            }
            data => (Vec::new(), data),
        };
        write_raw::Request {
            fid: self.fid,
            count: len as u16,
            offset,
            timeout_ms: 0,
            mode: if through {
                write_raw::mode::WRITE_THROUGH
            } else {
                0
            },
            data: &first,
        }
        .emit(&mut request.out);
        request.payload = len;
        request.answered_twice = through;
        self.note(cx, offset, len, Some(rest));
        Ok(request)
    }

    fn note(&mut self, cx: &Context<'_>, offset: u64, len: u32, raw: Option<Tail>) {
        let sent = Sent {
            offset,
            len,
            raw,
            at: cx.now,
        };
        self.sent.insert(self.mark, sent);
    }
}
