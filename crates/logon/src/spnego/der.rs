//! The subset of DER (X.690) that SPNEGO needs: definite lengths, one-byte tags.

use alloc::vec::Vec;

/// Reads one element after the other; each nested level is a new reader over the element's content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next element's tag; `None` at the end.
    pub(super) fn tag(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The content of the next element if it has this tag.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.take_whole(tag).map(|(content, _)| content)
    }

    /// As [`Self::take`], with the whole element, header included, beside its content.
    pub(super) fn take_whole(&mut self, tag: u8) -> Option<(&'a [u8], &'a [u8])> {
        let rest = self.0.strip_prefix(&[tag])?;
        let (length, rest) = length(rest)?;
        let (content, rest) = rest.split_at_checked(length)?;
        let whole = self.0.get(..self.0.len().checked_sub(rest.len())?)?;
        self.0 = rest;
        Some((content, whole))
    }

    /// Skips an element, whatever its tag; false if there is none.
    pub(super) fn skip(&mut self) -> bool {
        self.tag().and_then(|tag| self.take(tag)).is_some()
    }
}

/// A length of up to three bytes (some clients do not use the shortest form), and what follows it.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let count = match first {
        0..=0x7f => return Some((usize::from(first), rest)),
        0x81..=0x83 => usize::from(first & 0x7f),
        _ => return None,
    };
    let (digits, rest) = rest.split_at_checked(count)?;
    Some((
        digits
            .iter()
            .fold(0, |length, &byte| (length << 8) | usize::from(byte)),
        rest,
    ))
}

/// Writes an element whose content is the parts, one after the other. Nothing written here reaches 2^24 bytes: NTLMSSP
/// fields have 16-bit lengths.
pub(super) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let [.., high, middle, low] = length.to_be_bytes();
    let mut out = Vec::with_capacity(length.saturating_add(5));
    out.push(tag);
    match length {
        0..=0x7f => out.push(low),
        0x80..=0xff => out.extend_from_slice(&[0x81, low]),
        0x100..=0xffff => out.extend_from_slice(&[0x82, middle, low]),
        _ => out.extend_from_slice(&[0x83, high, middle, low]),
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn lengths_of_every_size_are_read_as_written() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000] {
            let content = vec![7; length];
            let written = element(0x04, &[&content]);
            let mut reader = Reader::new(&written);
            assert_eq!(
                reader.take_whole(0x04),
                Some((content.as_slice(), written.as_slice()))
            );
            assert_eq!(reader.tag(), None);
        }
    }

    #[test]
    fn an_element_that_is_too_long_or_of_indefinite_length_is_rejected() {
        for bytes in [
            [0x04, 3, 1, 2],
            [0x04, 0x80, 0, 0],
            [0x04, 0x84, 0, 0],
            [0x04, 0x82, 0, 1],
        ] {
            assert_eq!(Reader::new(&bytes).take(0x04), None);
        }
        assert_eq!(Reader::new(&[0x04]).take(0x04), None);
    }
}
