//! Which parts of a message the capture kept. A packet of 96 bytes contains an SMB header and a few words.

use coax_wire::{block::WireStr, codepage::CodePage, command as code, header::HEADER_LEN};

/// Where the words begin.
pub(super) const WORDS: usize = HEADER_LEN + 1;

/// What stands where a name was cut.
pub(crate) const CUT: char = '…';

/// A message, and how much of it the capture kept; the rest reads as zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<'a> {
    pub(crate) message: &'a [u8],
    kept: usize,
}

impl<'a> Kept<'a> {
    pub(crate) fn of(message: &'a [u8], kept: usize) -> Self {
        Self { message, kept }
    }

    /// Where a part of the message ends in it; `None` of what is no part of it.
    fn end(&self, part: &[u8]) -> Option<usize> {
        let from = part
            .as_ptr()
            .addr()
            .checked_sub(self.message.as_ptr().addr())?;
        let end = from.checked_add(part.len())?;
        (end <= self.message.len()).then_some(end)
    }

    /// Whether the capture kept all of `part` and of the `more` bytes behind it.
    pub(crate) fn has(&self, part: &[u8], more: usize) -> bool {
        let is_whole = self.kept >= self.message.len();
        is_whole || self.end(part).is_none_or(|end| end + more <= self.kept)
    }

    /// A name off the wire; of one that was cut what is known of it, and [`CUT`]. Old clients do not say which code page
    /// theirs are in; most were sold with 850 or 437.
    pub(crate) fn text(&self, name: WireStr<'_>) -> String {
        let unit = if name.unicode { 2 } else { 1 };
        if self.has(name.raw, unit) {
            return decoded(name.raw, name.unicode);
        }
        let lacking = self
            .end(name.raw)
            .map_or(0, |end| end.saturating_sub(self.kept));
        let known = name.raw.len().saturating_sub(lacking);
        let known = known - known % unit;
        let mut text = decoded(name.raw.get(..known).unwrap_or_default(), name.unicode);
        text.push(CUT);
        text
    }
}

fn decoded(raw: &[u8], unicode: bool) -> String {
    if !unicode {
        return CodePage::cp850().decode(raw).into_owned();
    }
    let units = raw.chunks_exact(2).map(|pair| match pair {
        [low, high] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    });
    char::decode_utf16(units)
        .map(|unit| unit.unwrap_or('\u{fffd}'))
        .collect()
}

/// Which words of a transfer were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) fid: bool,
    pub(crate) offset: bool,
    pub(crate) count: bool,
}

impl Known {
    pub(super) const ALL: Self = Self {
        fid: true,
        offset: true,
        count: true,
    };

    /// What the first `kept` bytes of a message of `len` bytes hold of this command's words.
    pub(super) fn of(command: u8, kept: usize, len: u64) -> Self {
        if kept as u64 >= len {
            return Self::ALL;
        }
        // where FID, offset and count end, in bytes from the first word ([MS-CIFS] 2.2.4.x, [MS-SMB] 2.2.4.2, 2.2.4.3)
        let (fid, offset, count) = match command {
            code::CLOSE | code::FLUSH => (2, 2, 2),
            code::READ | code::LOCK_AND_READ => (2, 8, 4),
            code::WRITE | code::WRITE_AND_UNLOCK | code::WRITE_AND_CLOSE => (2, 8, 4),
            code::READ_ANDX => (6, 24, 18),
            code::WRITE_ANDX => (6, 28, 22),
            code::READ_RAW | code::READ_MPX => (2, 20, 8),
            code::WRITE_RAW | code::WRITE_MPX => (2, 24, 4),
            _ => return Self::ALL,
        };
        let is_kept = |end: usize| kept >= WORDS.saturating_add(end);
        Self {
            fid: is_kept(fid),
            offset: is_kept(offset),
            count: is_kept(count),
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn of_a_name_that_was_cut_the_rest_is_marked() {
        let told = |message: &[u8], kept: usize, unicode: bool| {
            let mut message = message.to_vec();
            let len = message.len();
            message[kept.min(len)..].fill(0);
            let strings = coax_wire::block::Strings::of(&message, 0, unicode).string();
            Kept::of(&message, kept).text(strings)
        };
        assert_eq!(told(b"Unix\0Samba", 10, false), "Unix");
        assert_eq!(told(b"Unix\0Samba", 5, false), "Unix");
        assert_eq!(told(b"Unix\0Samba", 4, false), "Unix…");
        assert_eq!(told(b"Unix\0Samba", 3, false), "Uni…");
        assert_eq!(told(b"Unix\0Samba", 0, false), "…");
        assert_eq!(told(b"U\0n\0\0\0rest", 10, true), "Un");
        for (kept, text) in [
            (6, "Un"),
            (5, "Un…"),
            (4, "Un…"),
            (3, "U…"),
            (2, "U…"),
            (1, "…"),
        ] {
            assert_eq!(told(b"U\0n\0\0\0rest", kept, true), text, "{kept}");
        }
        // a name in Greek: half a character is no character
        assert_eq!(told(&[0xb1, 3, 0xb2, 3, 0, 0], 3, true), "α…");
    }

    #[test]
    fn what_was_kept_of_a_read_is_known_word_by_word() {
        let known = |kept| Known::of(code::READ_ANDX, kept, 59);
        let all = |known: Known| (known.fid, known.offset, known.count);
        assert_eq!(all(known(38)), (false, false, false));
        assert_eq!(all(known(40)), (true, false, false));
        assert_eq!(all(known(51)), (true, false, true));
        assert_eq!(all(known(59)), (true, true, true));
    }
}
