//! Goes through bytes with a layout and notes each field.

use crate::{
    field::{Decoded, Field, Value},
    layout::{Condition, Tables},
};

/// How many fields of a message are kept. [`Decoded::is_cut`] says that there were more.
const MAX_FIELDS: usize = 20_000;

/// A part of a message.
#[derive(Debug)]
pub(crate) struct Walk<'a, 'o> {
    /// All bytes, from where offsets in the message count.
    pub(crate) message: &'a [u8],
    /// Where `message` begins in the bytes that were given.
    pub(crate) base: usize,
    /// The next byte.
    pub(crate) at: usize,
    /// The end of the part.
    pub(crate) end: usize,
    /// Strings are UTF-16LE.
    pub(crate) unicode: bool,
    /// The number of words of the block, for fields that depend on it.
    pub(crate) words: u8,
    /// The search asked for resume keys.
    pub(crate) resume_keys: bool,
    /// Numbers of the message by name.
    pub(crate) known: Vec<(&'static str, u64)>,
    pub(crate) depth: u8,
    pub(crate) out: &'o mut Decoded,
}

/// The bytes end inside a field. It has been noted.
#[derive(Debug)]
pub(crate) struct Ended;

pub(crate) type Step<T = ()> = Result<T, Ended>;

impl<'a, 'o> Walk<'a, 'o> {
    /// A walk over a whole message, which begins at `base` of the bytes that were given.
    pub(crate) fn new(message: &'a [u8], base: usize, out: &'o mut Decoded) -> Self {
        Self {
            message,
            base,
            at: 0,
            end: message.len(),
            unicode: false,
            words: 0,
            resume_keys: false,
            known: Vec::new(),
            depth: 0,
            out,
        }
    }
}

impl<'a> Walk<'a, '_> {
    /// A walk over `message[at..end]` whose fields belong to the same list.
    pub(crate) fn inner(&mut self, at: usize, end: usize) -> Walk<'a, '_> {
        Walk {
            message: self.message,
            base: self.base,
            at,
            end: end.min(self.message.len()),
            unicode: self.unicode,
            words: self.words,
            resume_keys: self.resume_keys,
            known: self.known.clone(),
            depth: self.depth.saturating_add(1),
            out: self.out,
        }
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.end.min(self.message.len()).saturating_sub(self.at)
    }

    /// The bytes that are left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.message
            .get(self.at..self.at + self.left())
            .unwrap_or_default()
    }

    /// Takes `len` bytes of a field, or notes that they are missing.
    pub(crate) fn take(&mut self, name: &'static str, len: usize) -> Step<&'a [u8]> {
        let Some(bytes) = self.rest().get(..len) else {
            let left = self.left();
            let field = self.note(name, self.at, left, Value::Bytes);
            field.problem = Some(format!("ends after {left} of {len} bytes"));
            self.at += left;
            return Err(Ended);
        };
        self.at += len;
        Ok(bytes)
    }

    /// A little-endian number of up to 8 bytes.
    pub(crate) fn number(&mut self, name: &'static str, len: usize) -> Step<u64> {
        let bytes = self.take(name, len)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The same in network order.
    pub(crate) fn big(&mut self, name: &'static str, len: usize) -> Step<u64> {
        let bytes = self.take(name, len)?;
        Ok(bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The next byte, without taking it.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// Notes a field at `at` from the beginning of the message.
    pub(crate) fn note(
        &mut self,
        name: &'static str,
        at: usize,
        len: usize,
        value: Value,
    ) -> &mut Field {
        if self.out.fields.len() >= MAX_FIELDS {
            self.out.is_cut = true;
            self.out.fields.truncate(MAX_FIELDS - 1);
        }
        self.out.fields.push(Field {
            at: self.base.saturating_add(at),
            len,
            depth: self.depth,
            name,
            value,
            meaning: String::new(),
            problem: None,
        });
        let last = self.out.fields.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "it was pushed above")]
        &mut self.out.fields[last]
    }

    /// Notes a group whose members follow; its length is at most what is left.
    pub(crate) fn group(&mut self, name: &'static str, len: usize) -> &mut Field {
        self.note(name, self.at, len.min(self.left()), Value::Group)
    }

    /// A number that was read before.
    pub(crate) fn value_of(&self, field: &str) -> u64 {
        let found = self.known.iter().rev().find(|(name, _)| *name == field);
        found.map_or(0, |(_, number)| *number)
    }

    /// The same as a length.
    pub(crate) fn length_of(&self, field: &str) -> usize {
        usize::try_from(self.value_of(field)).unwrap_or(usize::MAX)
    }

    /// Whether a field exists in this message.
    pub(crate) fn exists(&self, condition: Condition) -> bool {
        match condition {
            Condition::Always => true,
            Condition::Words(count) => self.words >= count,
            Condition::ResumeKeys => self.resume_keys,
            Condition::Bit { field, mask, set } => (self.value_of(field) & mask != 0) == set,
        }
    }

    /// A number in the words of a list. A value without a name is a problem; bits without one are sent by real servers.
    pub(crate) fn named(
        &mut self,
        name: &'static str,
        at: usize,
        number: (u64, usize),
        list: &str,
    ) {
        let names = Tables::get().names(list);
        let meaning = names
            .map(|names| names.describe(number.0))
            .unwrap_or_default();
        let is_undefined = names.is_some_and(|names| names.is_undefined(number.0));
        let field = self.note(name, at, number.1, Value::Hex(number.0, number.1));
        field.meaning = meaning;
        if is_undefined {
            field.problem = Some("no such value is defined".to_owned());
        }
    }

    /// Bytes of any value.
    pub(crate) fn bytes(&mut self, name: &'static str, len: usize) -> Step {
        let at = self.at;
        self.take(name, len)?;
        if len > 0 {
            self.note(name, at, len, Value::Bytes);
        }
        Ok(())
    }
}
