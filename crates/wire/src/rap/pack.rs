//! Records of replies: the fixed parts first, then the strings that they point to.

use super::{code, descriptor::Item};
use crate::io::Writer;
use alloc::vec::Vec;

/// The value of one item of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// 16 bits (`W`), a count (`N`), or a byte (`B`).
    Word(u16),
    /// 32 bits (`D`).
    Dword(u32),
    /// A string, encoded, without zero: in place (`Bn`, cut to leave a zero) or behind a pointer (`z`).
    Text(Vec<u8>),
    /// A null pointer (`z`, `b`, `l`).
    Null,
}

/// Records laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The transaction's data. Pointers count from its first byte: the converter is 0.
    pub data: Vec<u8>,
    /// Records in it.
    pub entries: u16,
    /// Bytes that all records need.
    pub needed: usize,
    /// [`code::SUCCESS`], [`code::MORE_DATA`], or [`code::INVALID_PARAMETER`] if descriptor and records disagree.
    pub code: u16,
}

/// Formats as many records as fit into `room` bytes, in the form of `items`. A descriptor may have more items than the
/// records: clients request more than a level has, and get zeros.
pub fn pack(items: &[Item], records: &[Vec<Field>], room: usize) -> Packed {
    let fixed: usize = items.iter().map(|item| item.fixed_bytes()).sum();
    if records.iter().any(|record| !agrees(items, record)) {
        return Packed {
            code: code::INVALID_PARAMETER,
            ..Packed::default()
        };
    }
    let sizes = records
        .iter()
        .map(|record| fixed + heap_bytes(items, record));
    let (mut needed, mut entries, mut room_left) = (0usize, 0usize, room.min(0xffff));
    let mut full = false;
    for size in sizes {
        needed = needed.saturating_add(size);
        full |= size > room_left;
        if !full {
            room_left -= size;
            entries += 1;
        }
    }
    let taken = records.get(..entries).unwrap_or(records);
    Packed {
        data: lay_out(items, taken, fixed * entries),
        entries: entries as u16,
        needed,
        code: if full { code::MORE_DATA } else { code::SUCCESS },
    }
}

fn agrees(items: &[Item], record: &[Field]) -> bool {
    items.iter().zip(record).all(|(item, field)| {
        matches!(
            (item, field),
            (Item::Word | Item::Count | Item::Bytes(1), Field::Word(_))
                | (Item::Dword, Field::Dword(_))
                | (Item::Text | Item::Bytes(_), Field::Text(_))
                | (Item::Text | Item::Null | Item::BytesPointer(_), Field::Null)
        )
    })
}

fn heap_bytes(items: &[Item], record: &[Field]) -> usize {
    let texts = items.iter().zip(record).map(|pair| match pair {
        (Item::Text, Field::Text(text)) => text.len() + 1,
        _ => 0,
    });
    texts.sum()
}

fn lay_out(items: &[Item], records: &[Vec<Field>], fixed: usize) -> Vec<u8> {
    let mut out = Writer::with_capacity(fixed);
    let mut heap = Writer::default();
    for record in records {
        let mut fields = record.iter();
        for item in items {
            put(*item, fields.next(), fixed, &mut out, &mut heap);
        }
    }
    out.bytes(heap.as_slice());
    out.into_vec()
}

fn put(item: Item, field: Option<&Field>, fixed: usize, out: &mut Writer, heap: &mut Writer) {
    match (item, field) {
        (Item::Bytes(1), Some(Field::Word(byte))) => {
            out.u8(*byte as u8);
        }
        (Item::Word | Item::Count, Some(Field::Word(word))) => {
            out.u16(*word);
        }
        (Item::Dword, Some(Field::Dword(dword))) => {
            out.u32(*dword);
        }
        (Item::Text, Some(Field::Text(text))) => {
            out.u32((fixed + heap.len()) as u32);
            heap.bytes(text).u8(0);
        }
        (Item::Bytes(n), Some(Field::Text(text))) => {
            let n = usize::from(n);
            let kept = text.get(..n.saturating_sub(1)).unwrap_or(text);
            out.bytes(kept).zeros(n - kept.len());
        }
        _ => {
            out.zeros(item.fixed_bytes());
        }
    }
}
