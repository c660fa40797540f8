//! Names of bits and values (`layouts/bits.txt`).

use super::parse::{TableError, each_line, hex};

/// How a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A name for each bit.
    Bits,
    /// A name for each value.
    Values,
    /// Names for some values.
    Codes,
    /// Several numbers in one, each with names for its values.
    Fields,
}

/// A list of names.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) name: &'static str,
    form: Form,
    rows: Vec<(u64, Vec<&'static str>)>,
}

impl Names {
    /// Reads every list of a file.
    pub(super) fn parse(file: &'static str, text: &'static str) -> Result<Vec<Self>, TableError> {
        let mut lists: Vec<Self> = Vec::new();
        each_line(file, text, |line, is_row| match is_row {
            true => lists.last_mut().ok_or("no list before")?.row(line),
            false => Self::head(line).map(|list| lists.push(list)),
        })?;
        Ok(lists)
    }

    fn head(line: &'static str) -> Result<Self, &'static str> {
        let mut words = line.split_whitespace();
        let form = match words.next() {
            Some("bits") => Form::Bits,
            Some("values") => Form::Values,
            Some("codes") => Form::Codes,
            Some("fields") => Form::Fields,
            _ => return Err("neither bits nor values nor codes nor fields"),
        };
        let name = words.next().ok_or("no name")?;
        words.next().ok_or("no source")?;
        Ok(Self {
            name,
            form,
            rows: Vec::new(),
        })
    }

    fn row(&mut self, line: &'static str) -> Result<(), &'static str> {
        let mut words = line.split_whitespace();
        let mask = words.next().and_then(hex).ok_or("no number")?;
        let names: Vec<_> = words.collect();
        let is_whole = match self.form {
            Form::Bits | Form::Values | Form::Codes => names.len() == 1,
            Form::Fields => names.len() > 1 && mask != 0,
        };
        if !is_whole {
            return Err("wrong number of names");
        }
        self.rows.push((mask, names));
        Ok(())
    }

    /// `number` in words. What has no name is given as a number.
    pub(crate) fn describe(&self, number: u64) -> String {
        match self.form {
            Form::Bits => self.bits(number),
            Form::Values => self.value(number).unwrap_or("?").to_owned(),
            Form::Codes => self.value(number).unwrap_or("").to_owned(),
            Form::Fields => self.fields(number),
        }
    }

    /// Whether `number` should be one of a list of values and is none.
    pub(crate) fn is_undefined(&self, number: u64) -> bool {
        self.form == Form::Values && self.value(number).is_none()
    }

    /// Bits that have no name.
    fn unknown(&self, number: u64) -> u64 {
        self.rows
            .iter()
            .fold(number, |rest, (mask, _)| rest & !mask)
    }

    fn value(&self, number: u64) -> Option<&'static str> {
        let row = self.rows.iter().find(|(value, _)| *value == number)?;
        row.1.first().copied()
    }

    fn bits(&self, number: u64) -> String {
        let set = self.rows.iter().filter(|(mask, _)| number & mask == *mask);
        let mut words: Vec<String> = set
            .flat_map(|(_, names)| names)
            .map(|name| (*name).to_owned())
            .collect();
        if self.unknown(number) != 0 {
            words.push(format!("{:#x}?", self.unknown(number)));
        }
        words.join(" ")
    }

    fn fields(&self, number: u64) -> String {
        let mut words = Vec::new();
        for (mask, names) in &self.rows {
            let value = (number & mask) >> mask.trailing_zeros();
            let [field, values @ ..] = names.as_slice() else {
                continue;
            };
            let index = usize::try_from(value).unwrap_or(usize::MAX);
            match values.get(index) {
                Some(word) => words.push(format!("{field}={word}")),
                None => words.push(format!("{field}={value}?")),
            }
        }
        if self.unknown(number) != 0 {
            words.push(format!("{:#x}?", self.unknown(number)));
        }
        words.join(" ")
    }
}
