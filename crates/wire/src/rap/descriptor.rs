//! Descriptor strings of RAP ([MS-RAP] 2.5.2): one letter an item, some with a count.

use crate::error::{Error, Result};
use alloc::vec::Vec;

/// Longest descriptor looked at: real ones have at most 60 letters.
const MAX_ITEMS: usize = 96;

/// One item of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// `W`: 16 bits.
    Word,
    /// `D`: 32 bits.
    Dword,
    /// `B`, `Bn`: bytes in place.
    Bytes(u16),
    /// `b`, `bn`: in parameters bytes in place, in records a pointer to them.
    BytesPointer(u16),
    /// `z`: in parameters a string in place, in records a pointer to one.
    Text,
    /// `O`, `l`: a null pointer; in records a pointer to data that is never sent.
    Null,
    /// `L`: length of the receive buffer.
    ReceiveLength,
    /// `T`: length of the send buffer.
    SendLength,
    /// `P`: number of the one field that is set.
    ParameterNumber,
    /// `r`, `s`, `e`, `h`, `i`, `g`, `K`, `F`: nothing in the request.
    Returned,
    /// `N`: how many auxiliary records follow.
    Count,
}

impl Item {
    /// Bytes it takes in a record's fixed part.
    pub const fn fixed_bytes(self) -> usize {
        match self {
            Self::Word | Self::Count => 2,
            Self::Dword | Self::Text | Self::BytesPointer(_) | Self::Null => 4,
            Self::Bytes(n) => n as usize,
            _ => 0,
        }
    }
}

/// Decodes a descriptor.
///
/// # Errors
/// [`Error::Value`] for a letter that does not exist, a count above 9,999, or too many items.
pub fn parse(descriptor: &[u8]) -> Result<Vec<Item>> {
    const WRONG: Error = Error::Value {
        what: "RAP descriptor",
    };
    let mut items = Vec::new();
    let mut rest = descriptor;
    while let Some((&letter, after)) = rest.split_first() {
        let digits = after
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (count, next) = after.split_at_checked(digits).ok_or(WRONG)?;
        if items.len() >= MAX_ITEMS || digits > 4 {
            return Err(WRONG);
        }
        let count = count.iter().fold(0u16, |n, digit| {
            n.saturating_mul(10).saturating_add(u16::from(digit - b'0'))
        });
        let count = if digits == 0 { 1 } else { count };
        items.push(item(letter, count).ok_or(WRONG)?);
        rest = next;
    }
    Ok(items)
}

fn item(letter: u8, count: u16) -> Option<Item> {
    Some(match letter {
        b'W' => Item::Word,
        b'D' => Item::Dword,
        b'B' => Item::Bytes(count),
        b'b' => Item::BytesPointer(count),
        b'z' => Item::Text,
        b'O' | b'l' => Item::Null,
        b'L' => Item::ReceiveLength,
        b'T' => Item::SendLength,
        b'P' => Item::ParameterNumber,
        b'N' => Item::Count,
        b'r' | b's' | b'e' | b'h' | b'i' | b'g' | b'K' | b'F' => Item::Returned,
        _ => return None,
    })
}
