//! Messages between users: SEND_SINGLE_BLOCK (0xD0), SEND_START_MULTI_BLOCK (0xD5), SEND_END_MULTI_BLOCK (0xD6) and
//! SEND_TEXT_MULTI_BLOCK (0xD7): core protocol (SMB-CORE), sections 6.1 and 6.3 to 6.5.
//!
//! They travel on a session of their own to the recipient's NetBIOS name with the suffix 03, without a negotiation.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::{Error, Result},
    io::Writer,
};

/// The most bytes of text in one request.
pub const MAX_BLOCK_LEN: usize = 128;
/// The most bytes of text in a message of several blocks.
pub const MAX_TEXT_LEN: usize = 1600;

/// SEND_START_MULTI_BLOCK's request, and the beginning of a SEND_SINGLE_BLOCK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start<'a> {
    /// The sender's name.
    pub originator: WireStr<'a>,
    /// The recipient's name.
    pub destination: WireStr<'a>,
}

impl<'a> Start<'a> {
    /// Decodes a SEND_START_MULTI_BLOCK.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`] for a wrong buffer format.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let mut strings = block.strings(false);
        strings.format(4)?;
        let originator = strings.string();
        strings.format(4)?;
        Ok(Self {
            originator,
            destination: strings.string(),
        })
    }

    /// Appends a SEND_START_MULTI_BLOCK.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        self.originator.emit_formatted(block.bytes());
        self.destination.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// SEND_SINGLE_BLOCK's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Single<'a> {
    /// From whom, to whom.
    pub start: Start<'a>,
    /// The text.
    pub text: &'a [u8],
}

impl<'a> Single<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`] for a wrong buffer format, [`Error::Outside`] if the text is shorter than its
    /// length.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let mut strings = block.strings(false);
        strings.format(4)?;
        let originator = strings.string();
        strings.format(4)?;
        let destination = strings.string();
        strings.format(1)?;
        let len = usize::from(strings.u16("length")?);
        let text = strings.bytes(len, "text");
        Ok(Self {
            start: Start {
                originator,
                destination,
            },
            text: text.map_err(|_| Error::Outside { what: "length" })?,
        })
    }

    /// Appends the request. The reply is an empty block.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        self.start.originator.emit_formatted(block.bytes());
        self.start.destination.emit_formatted(block.bytes());
        put_text(self.text, block.bytes());
        block.finish(0);
    }
}

/// SEND_TEXT_MULTI_BLOCK's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// The message, as the reply to its start says.
    pub group: u16,
    /// A piece of its text.
    pub text: &'a [u8],
}

impl<'a> Text<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`] for a wrong buffer format, [`Error::Outside`] if the text is shorter than its
    /// length.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let group = block.word(0)?;
        let mut strings = block.strings(false);
        strings.format(1)?;
        let len = usize::from(strings.u16("length")?);
        let text = strings.bytes(len, "text");
        Ok(Self {
            group,
            text: text.map_err(|_| Error::Outside { what: "length" })?,
        })
    }

    /// Appends the request. The reply is an empty block.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.group);
        put_text(self.text, block.bytes());
        block.finish(0);
    }
}

/// Appends a message's identifier: the reply to a start, and the request of an end.
pub fn emit_group(group: u16, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(group);
    block.finish(0);
}

/// Decodes a message's identifier.
///
/// # Errors
/// [`Error::Short`].
pub fn parse_group(block: &Block<'_>) -> Result<u16> {
    block.word(0)
}

fn put_text(text: &[u8], out: &mut Writer) {
    let len = u16::try_from(text.len()).unwrap_or(u16::MAX);
    out.u8(1).u16(len);
    out.bytes(text.get(..usize::from(len)).unwrap_or(text));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::header::HEADER_LEN;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const NAMES: Start<'static> = Start {
        originator: oem(b"JIM"),
        destination: oem(b"ANN"),
    };

    const fn oem(raw: &[u8]) -> WireStr<'_> {
        WireStr {
            raw,
            unicode: false,
        }
    }

    fn message(emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut out = Writer::default();
        out.zeros(HEADER_LEN);
        emit(&mut out);
        out.into_vec()
    }

    #[test]
    fn requests_have_the_bytes_of_the_core_protocol() {
        let single = Single {
            start: NAMES,
            text: b"tea",
        };
        let bytes = message(|out| single.emit(out));
        assert_eq!(
            bytes.get(HEADER_LEN..),
            Some(&b"\0\x10\0\x04JIM\0\x04ANN\0\x01\x03\0tea"[..])
        );
        assert_eq!(Single::parse(&Block::first(&bytes).unwrap()), Ok(single));
        let bytes = message(|out| NAMES.emit(out));
        assert_eq!(
            bytes.get(HEADER_LEN..),
            Some(&b"\0\x0a\0\x04JIM\0\x04ANN\0"[..])
        );
        assert_eq!(Start::parse(&Block::first(&bytes).unwrap()), Ok(NAMES));
        let text = Text {
            group: 0x102,
            text: b"tea",
        };
        let bytes = message(|out| text.emit(out));
        assert_eq!(
            bytes.get(HEADER_LEN..),
            Some(&b"\x01\x02\x01\x06\0\x01\x03\0tea"[..])
        );
        assert_eq!(Text::parse(&Block::first(&bytes).unwrap()), Ok(text));
    }

    #[test]
    fn a_text_that_is_shorter_than_its_length_is_refused() {
        let text = Text {
            group: 1,
            text: b"tea",
        };
        let mut bytes = message(|out| text.emit(out));
        bytes.pop();
        let block = Block::first(&bytes).unwrap();
        assert_eq!(Text::parse(&block), Err(Error::Outside { what: "length" }));
    }

    proptest! {
        #[test]
        fn arbitrary_blocks_never_panic(bytes in any::<Vec<u8>>()) {
            let bytes = message(|out| { out.bytes(&bytes); });
            if let Ok(block) = Block::first(&bytes) {
                let _ = (Start::parse(&block), Single::parse(&block), Text::parse(&block));
            }
        }
    }
}
