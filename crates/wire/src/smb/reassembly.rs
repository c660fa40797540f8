//! The client's side of transactions: divides a request into messages, and reassembles a reply ([MS-CIFS] 3.2.4.1.5,
//! 3.2.5.1.4).

use super::transaction::{Kind, Request, Response, Secondary};
use crate::{
    error::{Error, Result},
    header::HEADER_LEN,
};
use alloc::vec::Vec;
use core::ops::Range;

/// Parameters and data begin at multiples of this, counted from the header.
const ALIGNMENT: usize = 4;
/// Holes a reply may have at a time. Real servers send in order and leave none.
const MAX_RUNS: usize = 64;

/// A request divided into messages within the server's maximum size: the first one, and the secondaries to send after
/// the server's interim reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The first message.
    pub primary: Request<'a>,
    /// The others, in order.
    pub secondaries: Vec<Secondary<'a>>,
}

impl<'a> Cut<'a> {
    /// Divides `whole`, which contains all parameters and data, into messages of at most `max_message` bytes, header
    /// included. Computes the total counts from its contents.
    ///
    /// # Errors
    /// [`Error::Outside`] if messages of this size have no space for data, or the counts of this kind are too small.
    pub fn new(whole: &Request<'a>, max_message: usize) -> Result<Self> {
        let kind = whole.kind;
        let limit = if kind == Kind::NtTransact {
            u32::MAX as usize
        } else {
            usize::from(u16::MAX)
        };
        if whole.parameters.len() > limit || whole.data.len() > limit {
            return Err(Error::Outside {
                what: "total count",
            });
        }
        let start = primary_start(whole);
        if start > max_message {
            return Err(TOO_SMALL);
        }
        let mut left = Left {
            kind,
            parameters: whole.parameters,
            data: whole.data,
        };
        let (parameters, data) = left.take(start, max_message);
        let primary = Request {
            total_parameters: whole.parameters.len() as u32,
            total_data: whole.data.len() as u32,
            parameters,
            data,
            ..*whole
        };
        let mut secondaries = Vec::new();
        while !left.is_empty() {
            secondaries.push(left.secondary(&primary, max_message)?);
        }
        Ok(Self {
            primary,
            secondaries,
        })
    }
}

const TOO_SMALL: Error = Error::Outside {
    what: "message size",
};

/// The data that was not sent yet.
struct Left<'a> {
    kind: Kind,
    parameters: &'a [u8],
    data: &'a [u8],
}

impl<'a> Left<'a> {
    fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.data.is_empty()
    }

    /// Takes what fits behind `start`: parameters first, then data.
    fn take(&mut self, start: usize, max_message: usize) -> (&'a [u8], &'a [u8]) {
        let room = max_message.saturating_sub(start);
        let parameters = head(&mut self.parameters, room);
        let data_at = (start + parameters.len()).next_multiple_of(ALIGNMENT);
        let data = head(&mut self.data, max_message.saturating_sub(data_at));
        (parameters, data)
    }

    fn secondary(&mut self, primary: &Request<'a>, max_message: usize) -> Result<Secondary<'a>> {
        let words = match self.kind {
            Kind::Transaction => 8,
            Kind::Transaction2 => 9,
            Kind::NtTransact => 18,
        };
        let start = (HEADER_LEN + 1 + 2 * words + 2).next_multiple_of(ALIGNMENT);
        let sent = |total: u32, left: &[u8]| total.saturating_sub(left.len() as u32);
        let parameter_displacement = sent(primary.total_parameters, self.parameters);
        let data_displacement = sent(primary.total_data, self.data);
        let (parameters, data) = self.take(start, max_message);
        if parameters.is_empty() && data.is_empty() {
            return Err(TOO_SMALL);
        }
        Ok(Secondary {
            kind: self.kind,
            total_parameters: primary.total_parameters,
            total_data: primary.total_data,
            parameters,
            parameter_displacement,
            data,
            data_displacement,
        })
    }
}

/// Splits at most `room` bytes off the front.
fn head<'a>(bytes: &mut &'a [u8], room: usize) -> &'a [u8] {
    let (taken, left) = bytes.split_at(room.min(bytes.len()));
    *bytes = left;
    taken
}

/// Offset of the first message's parameters.
fn primary_start(request: &Request<'_>) -> usize {
    let words = match request.kind {
        Kind::NtTransact => 19,
        _ => 14,
    };
    let bytes_at = HEADER_LEN + 1 + 2 * words + request.setup.len() + 2;
    let name = match request.kind {
        // One byte more to align it, two to end it.
        Kind::Transaction => request.name.raw.len() + 3,
        Kind::Transaction2 => 1,
        Kind::NtTransact => 0,
    };
    (bytes_at + name).next_multiple_of(ALIGNMENT)
}

/// A reply under reassembly; its messages may arrive in any order.
///
/// Bounded: keeps no more than the client requested, regardless of what the server declares.
#[derive(Clone, Debug)]
pub struct Reassembly {
    setup: Vec<u8>,
    parameters: Half,
    data: Half,
}

/// A whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Setup words as bytes.
    pub setup: Vec<u8>,
    /// Parameters.
    pub parameters: Vec<u8>,
    /// Data.
    pub data: Vec<u8>,
}

impl Reassembly {
    /// An empty reply, limited to the sizes that the request allowed.
    pub const fn new(max_parameters: usize, max_data: usize) -> Self {
        Self {
            setup: Vec::new(),
            parameters: Half::new(max_parameters),
            data: Half::new(max_data),
        }
    }

    /// Takes one message of the reply; `Some` when it was the last that lacked. Totals may shrink from one message to the
    /// next ([MS-CIFS] 2.2.4.33.2); the smallest counts.
    ///
    /// # Errors
    /// [`Error::Outside`] for a piece beyond the totals, or totals beyond the requested size; [`Error::Value`] for an
    /// order of pieces that no server uses.
    pub fn push(&mut self, message: &Response<'_>) -> Result<Option<Whole>> {
        if !message.setup.is_empty() {
            self.setup = message.setup.to_vec();
        }
        let at = message.parameter_displacement as usize;
        self.parameters
            .put(message.total_parameters, at, message.parameters)?;
        let at = message.data_displacement as usize;
        self.data.put(message.total_data, at, message.data)?;
        if !(self.parameters.is_whole() && self.data.is_whole()) {
            return Ok(None);
        }
        Ok(Some(Whole {
            setup: core::mem::take(&mut self.setup),
            parameters: core::mem::take(&mut self.parameters.bytes),
            data: core::mem::take(&mut self.data.bytes),
        }))
    }
}

/// Parameters or data: what arrived, and where.
#[derive(Clone, Debug)]
struct Half {
    limit: usize,
    total: Option<usize>,
    bytes: Vec<u8>,
    /// The received ranges, sorted and not adjacent.
    runs: Vec<Range<usize>>,
}

impl Half {
    const fn new(limit: usize) -> Self {
        Self {
            limit,
            total: None,
            bytes: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn put(&mut self, total: u32, at: usize, piece: &[u8]) -> Result<()> {
        const OUTSIDE: Error = Error::Outside {
            what: "displacement",
        };
        let total = (total as usize).min(self.total.unwrap_or(usize::MAX));
        if total > self.limit {
            return Err(Error::Outside {
                what: "total count",
            });
        }
        self.total = Some(total);
        if piece.is_empty() {
            return Ok(());
        }
        let end = at.checked_add(piece.len()).ok_or(OUTSIDE)?;
        if end > total {
            return Err(OUTSIDE);
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let place = self.bytes.get_mut(at..end).ok_or(OUTSIDE)?;
        place.copy_from_slice(piece);
        self.note(at..end)
    }

    fn note(&mut self, mut new: Range<usize>) -> Result<()> {
        self.runs.retain(|run| {
            let apart = run.end < new.start || new.end < run.start;
            if !apart {
                new = new.start.min(run.start)..new.end.max(run.end);
            }
            apart
        });
        let place = self.runs.partition_point(|run| run.start < new.start);
        self.runs.insert(place, new);
        if self.runs.len() > MAX_RUNS {
            return Err(Error::Value {
                what: "displacement",
            });
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        match (self.total, self.runs.as_slice()) {
            (Some(0), _) => true,
            (Some(total), [run]) => run.start == 0 && run.end >= total,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::{
        block::{Block, WireStr},
        smb::testkit::{first, message},
    };
    use proptest::prelude::*;

    const KINDS: [Kind; 3] = [Kind::Transaction, Kind::Transaction2, Kind::NtTransact];

    fn request<'a>(kind: Kind, parameters: &'a [u8], data: &'a [u8]) -> Request<'a> {
        Request {
            kind,
            total_parameters: 0,
            total_data: 0,
            max_parameters: 10,
            max_data: 1000,
            max_setup: 0,
            flags: 0,
            timeout_ms: 0,
            function: if kind == Kind::Transaction { 0 } else { 5 },
            setup: b"\x05\0",
            name: WireStr {
                raw: if kind == Kind::Transaction {
                    b"\\\0P\0"
                } else {
                    b""
                },
                unicode: true,
            },
            parameters,
            data,
        }
    }

    fn piece<'a>(total: u32, at: u32, data: &'a [u8]) -> Response<'a> {
        Response {
            kind: Kind::Transaction2,
            total_parameters: 0,
            total_data: total,
            setup: &[],
            parameters: &[],
            parameter_displacement: 0,
            data,
            data_displacement: at,
        }
    }

    #[test]
    fn pieces_in_any_order_make_one_reply() {
        let mut reply = Reassembly::new(10, 10);
        assert_eq!(reply.push(&piece(9, 6, b"ghi")), Ok(None));
        assert_eq!(reply.push(&piece(9, 0, b"abc")), Ok(None));
        let whole = reply.push(&piece(9, 3, b"def")).unwrap().unwrap();
        assert_eq!(whole.data, b"abcdefghi");
    }

    #[test]
    fn a_piece_sent_twice_does_not_stand_for_one_that_lacks() {
        let mut reply = Reassembly::new(10, 10);
        for _ in 0..3 {
            assert_eq!(reply.push(&piece(9, 0, b"abc")), Ok(None));
        }
        assert_eq!(reply.push(&piece(9, 2, b"cdefg")), Ok(None));
        assert!(reply.push(&piece(9, 7, b"hi")).unwrap().is_some());
    }

    #[test]
    fn totals_may_shrink_and_never_exceed_what_was_asked_for() {
        let mut reply = Reassembly::new(10, 10);
        assert_eq!(reply.push(&piece(10, 0, b"abc")), Ok(None));
        assert_eq!(
            reply.push(&piece(4, 3, b"d")).unwrap().unwrap().data,
            b"abcd"
        );
        let outside = |what| Err(Error::Outside { what });
        let mut reply = Reassembly::new(10, 10);
        assert_eq!(reply.push(&piece(11, 0, b"abc")), outside("total count"));
        assert_eq!(reply.push(&piece(5, 3, b"abc")), outside("displacement"));
        assert_eq!(
            reply.push(&piece(5, u32::MAX, b"a")),
            outside("displacement")
        );
    }

    #[test]
    fn a_reply_full_of_holes_is_refused() {
        let mut reply = Reassembly::new(10, 10_000);
        let outcome = (0..1000).try_for_each(|n| reply.push(&piece(9_999, 2 * n, b"x")).map(drop));
        assert!(outcome.is_err());
    }

    #[test]
    fn an_empty_reply_is_whole_at_once() {
        let mut reply = Reassembly::new(0, 0);
        assert_eq!(reply.push(&piece(0, 0, b"")), Ok(Some(Whole::default())));
    }

    #[test]
    fn a_message_too_small_for_anything_is_refused() {
        let whole = request(Kind::Transaction2, b"abc", b"def");
        assert!(Cut::new(&whole, 67).is_err());
        assert!(Cut::new(&whole, 68).is_ok());
    }

    proptest! {
        #[test]
        fn a_cut_request_arrives_whole_in_messages_of_the_size_asked_for(
            kind in 0usize..3,
            parameters in proptest::collection::vec(any::<u8>(), 0..300),
            data in proptest::collection::vec(any::<u8>(), 0..700),
            max_message in 120usize..400,
        ) {
            let kind = KINDS[kind];
            let cut = Cut::new(&request(kind, &parameters, &data), max_message).unwrap();
            let sent = message(|out| cut.primary.emit(out));
            prop_assert!(sent.len() <= max_message);
            let read = Request::parse(kind, &first(&sent), true).unwrap();
            prop_assert_eq!(read.name, cut.primary.name);
            let (mut got_parameters, mut got_data) = (read.parameters.to_vec(), read.data.to_vec());
            for secondary in &cut.secondaries {
                let sent = message(|out| secondary.emit(out));
                prop_assert!(sent.len() <= max_message);
                let read = Secondary::parse(kind, &first(&sent)).unwrap();
                prop_assert_eq!(read.parameter_displacement as usize, got_parameters.len());
                prop_assert_eq!(read.data_displacement as usize, got_data.len());
                got_parameters.extend_from_slice(read.parameters);
                got_data.extend_from_slice(read.data);
            }
            prop_assert_eq!((got_parameters, got_data), (parameters, data));
        }

        #[test]
        fn arbitrary_messages_never_make_more_than_was_asked_for(
            blocks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 20..60), 1..8),
        ) {
            let mut reply = Reassembly::new(20, 30);
            for bytes in &blocks {
                let sent = message(|out| { out.u8(10).bytes(bytes); });
                if let Ok(block) = Block::first(&sent)
                    && let Ok(Some(response)) = Response::parse(Kind::Transaction2, &block)
                    && let Ok(Some(whole)) = reply.push(&response)
                {
                    prop_assert!(whole.parameters.len() <= 20 && whole.data.len() <= 30);
                }
            }
        }
    }
}
