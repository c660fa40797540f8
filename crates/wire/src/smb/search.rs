//! SEARCH (0x81), FIND (0x82), FIND_UNIQUE (0x83) and FIND_CLOSE (0x84): [MS-CIFS] 2.2.4.58 to 2.2.4.61.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::Result,
    io::{Reader, Writer},
    time::DosDateTime,
};

/// Length of a resume key, bytes.
pub const RESUME_KEY_LEN: usize = 21;
/// Length of a directory entry, resume key included, bytes.
pub const ENTRY_LEN: usize = 43;
/// The buffer-format byte of a variable block.
const FORMAT_VARIABLE: u8 = 5;
/// Bytes of a reply that are no entries: words, counts and the block's head.
pub const RESPONSE_OVERHEAD: usize = 1 + 2 + 2 + 3;
/// Room for a name and its terminator, bytes.
const NAME_LEN: usize = 13;
/// The name alone, without extension, is padded to this.
const BASE_LEN: usize = 8;

/// The position of a search: each entry contains it, and the next request returns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumeKey {
    /// Bits 0 to 4 are the server's, the rest the client's.
    pub reserved: u8,
    /// The name sought, in the eleven characters of a file control block.
    pub pattern: [u8; 11],
    /// The server's; the first is never 0.
    pub server: [u8; 5],
    /// The client's bytes, returned unchanged.
    pub client: [u8; 4],
}

impl ResumeKey {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        Ok(Self {
            reserved: r.u8("resume key")?,
            pattern: r.array("resume key")?,
            server: r.array("resume key")?,
            client: r.array("resume key")?,
        })
    }

    /// Appends the 21 bytes.
    pub fn emit(&self, out: &mut Writer) {
        out.u8(self.reserved)
            .bytes(&self.pattern)
            .bytes(&self.server)
            .bytes(&self.client);
    }
}

/// A search, the continuation of one, or its end: all four commands have one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Entries wanted at most.
    pub max_count: u16,
    /// Attributes entries may and must have.
    pub search_attributes: u16,
    /// Folder and pattern.
    pub path: WireStr<'a>,
    /// Where to continue; `None` starts a search.
    pub resume_key: Option<ResumeKey>,
}

impl<'a> Request<'a> {
    /// Decodes. A missing second block counts as an empty one.
    ///
    /// # Errors
    /// [`crate::Error::Short`]; `Value` for wrong buffer formats.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let max_count = words.u16("max count")?;
        let search_attributes = words.u16("search attributes")?;
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        let path = strings.string();
        Ok(Self {
            max_count,
            search_attributes,
            path,
            resume_key: resume_key(&mut strings)?,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.max_count)
            .u16(self.search_attributes);
        let bytes = block.bytes();
        self.path.emit_formatted(bytes);
        match &self.resume_key {
            Some(key) => key.emit(bytes.u8(FORMAT_VARIABLE).u16(RESUME_KEY_LEN as u16)),
            None => drop(bytes.u8(FORMAT_VARIABLE).u16(0)),
        }
        block.finish(0);
    }
}

fn resume_key(strings: &mut crate::block::Strings<'_>) -> Result<Option<ResumeKey>> {
    if strings.is_empty() {
        return Ok(None);
    }
    strings.format(FORMAT_VARIABLE)?;
    match usize::from(strings.u16("resume key length")?) {
        0 => Ok(None),
        len => ResumeKey::parse(strings.bytes(len, "resume key")?).map(Some),
    }
}

/// One file found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The position of the search after this entry.
    pub key: ResumeKey,
    /// Attributes.
    pub attributes: u8,
    /// Time of last write, local.
    pub modified: DosDateTime,
    /// Length, bytes.
    pub size: u32,
    /// 8.3 name, encoded; what exceeds 12 bytes is cut.
    pub name: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Decodes 43 bytes. The name ends at its first zero; spaces behind a name are padding.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        let key = ResumeKey::parse(r.take(RESUME_KEY_LEN, "resume key")?)?;
        let attributes = r.u8("attributes")?;
        let time = r.u16("time")?;
        let date = r.u16("date")?;
        let size = r.u32("file size")?;
        let field = r.take(NAME_LEN, "name")?;
        let name = field.split(|&byte| byte == 0).next().unwrap_or(field);
        Ok(Self {
            key,
            attributes,
            modified: DosDateTime { date, time },
            size,
            name: name.trim_ascii_end(),
        })
    }

    /// Appends the 43 bytes. The name ends with a zero; after a name of less than eight characters follow spaces, as in
    /// Windows 98, because programs with file control blocks read fixed fields, not strings (KB Q159972).
    pub fn emit(&self, out: &mut Writer) {
        self.key.emit(out);
        out.u8(self.attributes)
            .u16(self.modified.time)
            .u16(self.modified.date)
            .u32(self.size);
        let mut field = [0u8; NAME_LEN];
        if let Some(base) = field.get_mut(..BASE_LEN) {
            base.fill(b' ');
        }
        let name = self.name.get(..NAME_LEN - 1).unwrap_or(self.name);
        for (slot, byte) in field.iter_mut().zip(name.iter().chain(&[0])) {
            *slot = *byte;
        }
        out.bytes(&field);
    }
}

/// The reply of SEARCH, FIND and FIND_UNIQUE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// Entries as the words count them. Zero ends the search.
    pub count: u16,
    data: &'a [u8],
}

impl<'a> Response<'a> {
    /// Decodes the reply. The entries' block may be missing in error replies.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let mut strings = block.strings(false);
        strings.maybe_format(FORMAT_VARIABLE);
        let len = usize::from(strings.u16("data length").unwrap_or(0));
        let rest = strings.rest();
        Ok(Self {
            count: block.word(0)?,
            data: rest.get(..len).unwrap_or(rest),
        })
    }

    /// The entries, limited by the count in the words and by the data.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let whole = self.data.chunks_exact(ENTRY_LEN);
        whole
            .take(usize::from(self.count))
            .filter_map(|bytes| Entry::parse(bytes).ok())
    }
}

/// Appends the reply of SEARCH, FIND and FIND_UNIQUE: `entries` contains `count` entries from [`Entry::emit`].
pub fn emit_response(count: u16, entries: &[u8], out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(count);
    block
        .bytes()
        .u8(FORMAT_VARIABLE)
        .u16(entries.len() as u16)
        .bytes(entries);
    block.finish(0);
}

/// Appends FIND_CLOSE's reply: a count of nothing and an empty block.
pub fn emit_close_response(out: &mut Writer) {
    emit_response(0, &[], out);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::header::HEADER_LEN;
    use alloc::vec::Vec;

    fn parse(block: &[u8]) -> Result<Request<'static>> {
        let message: Vec<u8> = [&[0; HEADER_LEN], block].concat();
        Request::parse(&Block::first(message.leak()).unwrap(), false)
    }

    /// An MS-DOS client's requests for `DIR`: the first one, and the continuation with the resume key.
    const FIRST: &[u8] = b"\x02\x14\0\x16\0\x12\0\x04\\????????.???\0\x05\0\0";
    const NEXT: &[u8] =
        b"\x02\x14\0\0\0\x1a\0\x04\0\x05\x15\0\x83???????????\x16\x01\0\x01\0\x83\0\0\x01";

    #[test]
    fn a_dos_clients_first_request_and_its_continuation_decode() {
        let first = parse(FIRST).unwrap();
        assert_eq!(
            (first.max_count, first.search_attributes, first.path.raw),
            (20, 0x16, &b"\\????????.???"[..])
        );
        assert_eq!(first.resume_key, None);
        let next = parse(NEXT).unwrap();
        let key = next.resume_key.unwrap();
        assert_eq!((key.reserved, &key.pattern), (0x83, b"???????????"));
        assert_eq!(
            (key.server, key.client),
            ([0x16, 1, 0, 1, 0], [0x83, 0, 0, 1])
        );
        assert!(next.path.is_empty());
    }

    #[test]
    fn cut_and_lying_requests_are_refused_or_lack_a_key() {
        for len in 7..NEXT.len() {
            let _ = parse(&NEXT[..len]);
        }
        assert!(parse(&NEXT[..NEXT.len() - 1]).is_err());
        assert!(parse(b"\x02\x14\0\0\0\x03\0\x05\0\x05").is_err());
        assert_eq!(
            parse(b"\x02\x14\0\0\0\x02\0\x04\0").unwrap().resume_key,
            None
        );
    }

    /// The entry of a folder `TEST` as Windows 98 sent it to an MS-DOS client.
    #[test]
    fn an_entry_has_43_bytes_and_pads_names_without_extension() {
        let entry = Entry {
            key: ResumeKey::parse(b"\x83???????????\x16\x02\0\x01\0\0\0\0\0").unwrap(),
            attributes: 0x10,
            modified: DosDateTime {
                date: 0x4f8f,
                time: 0x64c9,
            },
            size: 0,
            name: b"TEST",
        };
        let mut out = Writer::default();
        entry.emit(&mut out);
        let want = b"\x83???????????\x16\x02\0\x01\0\0\0\0\0\x10\xc9\x64\x8f\x4f\0\0\0\0TEST\0   \0\0\0\0\0";
        assert_eq!(out.as_slice(), want);
        assert_eq!(out.len(), ENTRY_LEN);
        let mut long = Writer::default();
        Entry {
            name: b"LONGNAME.EXTENSION",
            ..entry
        }
        .emit(&mut long);
        assert_eq!(&long.as_slice()[30..], b"LONGNAME.EXT\0");
    }
}
