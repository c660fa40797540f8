//! Transactions in several messages: the parts so far, so that the fields of each part can be decoded with those before it.

use crate::{
    field::{Decoded, Field, Value},
    walk::{Step, Walk},
};

/// Bytes of parameters or of data that are kept: as many as a transaction's 16 bit counts allow.
const MAX_BYTES: usize = 65_535;
/// Parts that are decoded; each one is decoded with all before it.
const MAX_PARTS: usize = 64;

/// What has come of parameters or of data.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    bytes: Vec<u8>,
    parts: usize,
    is_wanted: bool,
}

/// What has come of one transaction.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) parameters: Collected,
    pub(crate) data: Collected,
}

/// A part's place in the whole, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) displacement: usize,
    pub(crate) total: usize,
}

impl Parts {
    /// Whether other parts are expected and can be decoded.
    pub(crate) const fn are_wanted(&self) -> bool {
        self.parameters.is_wanted || self.data.is_wanted
    }
}

impl Collected {
    /// Decodes a part: by itself if it is the first one, otherwise with those before it. `walk` is at its first byte.
    pub(crate) fn part(
        &mut self,
        walk: &mut Walk<'_, '_>,
        place: Place,
        mut decode: impl FnMut(&mut Walk<'_, '_>) -> Step,
    ) -> Step {
        match (self.take(walk.rest(), place), place.displacement) {
            (_, 0) => decode(walk),
            (true, displacement) => {
                self.decode(walk, displacement, |whole| {
                    // the end of the parts so far is no problem
                    let _ = decode(whole);
                });
                Ok(())
            }
            (false, _) => Ok(()),
        }
    }

    /// Takes a part. The result says whether all parts before it are there.
    fn take(&mut self, bytes: &[u8], place: Place) -> bool {
        if place.displacement == 0 {
            *self = Self::default();
            if bytes.len() >= place.total {
                return true;
            }
        }
        let follows = place.displacement == self.bytes.len() && self.parts < MAX_PARTS;
        let end = place.displacement.saturating_add(bytes.len());
        self.is_wanted = follows && end < place.total && end <= MAX_BYTES;
        if follows && end <= MAX_BYTES {
            self.bytes.extend_from_slice(bytes);
            self.parts += 1;
        }
        follows && end <= MAX_BYTES
    }

    /// Decodes everything that has come, and notes the fields that lie in the part that `walk` is at and that begins at
    /// `displacement` of the whole. A field that began in an earlier part has its whole value here.
    fn decode(
        &self,
        walk: &mut Walk<'_, '_>,
        displacement: usize,
        decode: impl FnOnce(&mut Walk<'_, '_>),
    ) {
        let mut all = Decoded::default();
        let mut whole = Walk::new(&self.bytes, 0, &mut all);
        whole.unicode = walk.unicode;
        decode(&mut whole);
        let reached = whole.at;
        let start = walk.at;
        let len = walk.left();
        for field in all.fields {
            let end = field.at.saturating_add(field.len);
            if end <= displacement {
                continue;
            }
            let noted = walk.note(field.name, start, 0, Value::Group);
            let (at, depth) = (noted.at, noted.depth.saturating_add(field.depth));
            *noted = moved(field, displacement, at, depth);
        }
        let covered = reached.saturating_sub(displacement).min(len);
        walk.at = start + covered;
    }
}

/// A field at its place in the part, without what lies in earlier parts. `at` is where the part begins.
fn moved(mut field: Field, displacement: usize, at: usize, depth: u8) -> Field {
    let end = field.at.saturating_add(field.len);
    let begin = field.at.max(displacement);
    if field.at < displacement {
        let earlier = displacement - field.at;
        if field.value != Value::Group && !field.meaning.is_empty() {
            field.meaning.push_str("; ");
        }
        if field.value != Value::Group {
            field.meaning.push_str(&match earlier {
                1 => "its first byte is in an earlier message".to_owned(),
                _ => format!("its first {earlier} bytes are in earlier messages"),
            });
        }
        // an identifier is rewritten at its place, which has only a part of it
        if let Value::Id(_, id) = field.value {
            field.value = Value::Hex(u64::from(id), 2);
        }
    }
    field.at = at.saturating_add(begin - displacement);
    field.len = end - begin;
    field.depth = depth;
    field
}
