//! Complete transactions, and incomplete ones that still lack secondary messages. Counts from the client are not
//! trusted: the announced size is reserved within the connection's limit, and each byte may arrive only once.

use crate::{budget::Lease, error::Result};
use alloc::{boxed::Box, string::String, vec::Vec};
use coax_wire::{
    block::{Strings, WireStr},
    header::{Header, Mid, Pid, Tid, Uid},
    io::Reader,
    smb::transaction::{Kind, Request, Secondary},
    status::Status,
};

/// Most separate byte ranges that parameters or data may consist of before they are complete.
const MAX_STRETCHES: usize = 1_024;
/// Fixed cost of an incomplete transaction, bytes, so that the memory limit also bounds their number.
pub const OVERHEAD: usize = 512;

/// A complete transaction.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Which of the three commands.
    pub kind: Kind,
    /// TRANSACTION's name (`\PIPE\LANMAN`); empty in the others.
    pub name: String,
    /// TRANSACTION2's subcommand, NT_TRANSACT's function.
    pub function: u16,
    /// Setup words as bytes.
    pub setup: Vec<u8>,
    /// Parameters.
    pub parameters: Vec<u8>,
    /// Data.
    pub data: Vec<u8>,
    /// Most parameter bytes in the reply.
    pub max_parameters: usize,
    /// Most data bytes in the reply.
    pub max_data: usize,
    /// Flags ([`flags`]).
    pub flags: u16,
    /// Strings are UTF-16LE.
    pub unicode: bool,
}

impl Transaction {
    /// Reads the parameters' fields.
    pub fn parameters(&self) -> Reader<'_> {
        Reader::new(&self.parameters)
    }

    /// Setup word `index`.
    ///
    /// # Errors
    /// `INVALID_SMB` if there are fewer.
    pub fn setup_word(&self, index: usize) -> Result<u16> {
        let mut setup = Reader::at(&self.setup, index.saturating_mul(2), "setup")?;
        Ok(setup.u16("setup")?)
    }

    /// The zero-terminated string at `offset` bytes into the parameters, in the message's encoding. UTF-16LE alignment
    /// counts from the parameters' beginning.
    pub fn string(&self, offset: usize) -> WireStr<'_> {
        Strings::of(&self.parameters, offset, self.unicode).string()
    }

    /// Bytes of parameters and data.
    pub fn len(&self) -> usize {
        self.parameters.len().saturating_add(self.data.len())
    }
}

/// An incomplete transaction.
#[derive(Debug)]
pub struct Pending {
    key: Key,
    whole: Transaction,
    parameters: Received,
    data: Received,
    /// The reservation of its memory: none if it came in one message.
    _lease: Option<Lease>,
}

impl Pending {
    /// A transaction with the contents of its first message.
    ///
    /// # Errors
    /// `INVALID_SMB` if they exceed the announced size.
    pub fn begin(
        key: Key,
        lease: Option<Lease>,
        whole: Transaction,
        request: &Request<'_>,
    ) -> Result<Self> {
        let mut pending = Self {
            key,
            whole,
            parameters: Received::default(),
            data: Received::default(),
            _lease: lease,
        };
        pending
            .parameters
            .put(&mut pending.whole.parameters, 0, request.parameters)?;
        pending.data.put(&mut pending.whole.data, 0, request.data)?;
        Ok(pending)
    }

    /// Whether its key is this one.
    pub fn has_key(&self, key: Key) -> bool {
        self.key == key
    }

    /// The transaction if it is complete.
    ///
    /// # Errors
    /// Itself if bytes are missing.
    pub fn complete(self) -> core::result::Result<Transaction, Box<Self>> {
        if self.is_complete() {
            return Ok(self.whole);
        }
        Err(Box::new(self))
    }

    /// Whether it was sent on this tree.
    pub fn is_of(&self, tid: Tid) -> bool {
        self.key.tid == tid
    }

    /// Memory that it uses, bytes.
    pub fn cost(&self) -> usize {
        self.whole.len().saturating_add(OVERHEAD)
    }

    fn is_complete(&self) -> bool {
        self.parameters.is_all(self.whole.parameters.len())
            && self.data.is_all(self.whole.data.len())
    }

    /// Takes a secondary message.
    ///
    /// # Errors
    /// `INVALID_SMB` for inconsistent counts.
    pub fn take(&mut self, piece: &Secondary<'_>) -> Result<()> {
        shrink(
            &mut self.whole.parameters,
            piece.total_parameters,
            &self.parameters,
        )?;
        shrink(&mut self.whole.data, piece.total_data, &self.data)?;
        let at = piece.parameter_displacement;
        self.parameters
            .put(&mut self.whole.parameters, at, piece.parameters)?;
        self.data
            .put(&mut self.whole.data, piece.data_displacement, piece.data)
    }
}

/// Identifies a transaction of a connection ([MS-CIFS] 3.3.5.29).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    kind: Kind,
    pid: Pid,
    mid: Mid,
    tid: Tid,
    uid: Uid,
}

impl Key {
    /// The key of a message's transaction.
    pub fn of(kind: Kind, header: &Header) -> Self {
        Self {
            kind,
            pid: header.pid,
            mid: header.mid,
            tid: header.tid,
            uid: header.uid,
        }
    }
}

/// A later message may announce less than the first, but not less than has arrived ([MS-CIFS] 2.2.4.34.1).
fn shrink(half: &mut Vec<u8>, total: u32, received: &Received) -> Result<()> {
    let total = size(total);
    if total > half.len() || received.end() > total {
        return Err(Status::INVALID_SMB.into());
    }
    half.truncate(total);
    Ok(())
}

/// Converts a count from the wire.
pub fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The received byte ranges of parameters or data: sorted, not adjacent.
#[derive(Debug, Default)]
struct Received {
    stretches: Vec<(usize, usize)>,
}

impl Received {
    /// Puts `piece` at `displacement` of `half`.
    fn put(&mut self, half: &mut [u8], displacement: u32, piece: &[u8]) -> Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        let from = size(displacement);
        let to = from.saturating_add(piece.len());
        let place = half.get_mut(from..to).ok_or(Status::INVALID_SMB)?;
        self.add(from, to)?;
        place.copy_from_slice(piece);
        Ok(())
    }

    fn add(&mut self, mut from: usize, mut to: usize) -> Result<()> {
        let mut index = self.stretches.partition_point(|s| s.1 <= from);
        if self.stretches.get(index).is_some_and(|next| next.0 < to) {
            return Err(Status::INVALID_SMB.into());
        }
        if self.stretches.get(index).is_some_and(|next| next.0 == to) {
            to = self.stretches.remove(index).1;
        }
        let before = index.checked_sub(1);
        if let Some(before) = before.filter(|i| self.stretches.get(*i).is_some_and(|s| s.1 == from))
        {
            from = self.stretches.remove(before).0;
            index = before;
        }
        if self.stretches.len() >= MAX_STRETCHES {
            return Err(Status::INSUFF_SERVER_RESOURCES.into());
        }
        self.stretches.insert(index, (from, to));
        Ok(())
    }

    fn is_all(&self, len: usize) -> bool {
        len == 0 || self.stretches == [(0, len)]
    }

    fn end(&self) -> usize {
        self.stretches.last().map_or(0, |last| last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    proptest! {
        /// Parameters or data are complete when each byte has arrived, in any order; no byte may arrive twice.
        #[test]
        fn secondaries_in_any_order_complete_the_transaction_and_none_is_accepted_twice(
            cuts in prop::collection::btree_set(1usize..200, 0..20),
            order in any::<u64>(),
        ) {
            let source: Vec<u8> = (0..200u32).map(|i| (i % 251) as u8).collect();
            let edges: Vec<usize> = [0].into_iter().chain(cuts).chain([200]).collect();
            let mut pieces: Vec<(usize, usize)> =
                edges.windows(2).filter_map(|w| Some((*w.first()?, *w.last()?))).collect();
            pieces.sort_by_key(|piece| (piece.0 as u64 + 1).wrapping_mul(order | 1).rotate_left(17));
            let (mut half, mut received) = (vec![0; 200], Received::default());
            for (i, (from, to)) in pieces.iter().enumerate() {
                prop_assert!(!received.is_all(200), "complete after {i} of {}", pieces.len());
                let piece = source.get(*from..*to).unwrap_or(&[]);
                prop_assert!(received.put(&mut half, *from as u32, piece).is_ok());
                prop_assert!(received.put(&mut half, *from as u32, piece).is_err());
            }
            prop_assert!(received.is_all(200));
            prop_assert_eq!(half, source);
        }

        /// Compares with a bitmap: a message is accepted if and only if all its bytes are new and in range.
        #[test]
        fn arbitrary_secondaries_are_accepted_as_by_a_bitmap(
            pieces in prop::collection::vec((0u32..70, 1usize..20), 0..40),
        ) {
            let (mut half, mut received) = (vec![0; 64], Received::default());
            let mut bitmap = [false; 64];
            for (at, len) in pieces {
                let bytes = vec![1; len];
                let span = bitmap.get_mut(at as usize..at as usize + len);
                let fits = span.as_ref().is_some_and(|span| span.iter().all(|taken| !taken));
                prop_assert_eq!(received.put(&mut half, at, &bytes).is_ok(), fits);
                if let (true, Some(span)) = (fits, span) {
                    span.fill(true);
                }
                prop_assert_eq!(received.is_all(64), bitmap.iter().all(|taken| *taken));
            }
        }
    }

    #[test]
    fn a_transaction_of_too_many_separate_ranges_is_refused() {
        let (mut half, mut received) = (vec![0; 4_096], Received::default());
        let taken = (0..2_048).take_while(|i| received.put(&mut half, i * 2, &[1]).is_ok());
        assert_eq!(taken.count(), MAX_STRETCHES);
    }
}
