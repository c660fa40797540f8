//! `layouts/rpc.txt`: interfaces, calls, structures.

use std::sync::OnceLock;

use crate::layout::{Direction, TableError, each_line};

const TEXT: &str = include_str!("../../layouts/rpc.txt");

/// A structure that a table refers to: its family and level.
pub(super) type Name = (&'static str, u32);

/// The type of an argument. `layouts/rpc.txt` explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Unsigned(usize),
    /// With the list that names its bits or values.
    Hex(usize, Option<&'static str>),
    Text,
    TextPointer,
    SecretPointer,
    NumberPointer(usize),
    Counted,
    Bytes,
    BytesPointer,
    Handle,
    In(Name),
    To(Name),
    Union(&'static str),
    Array(Name),
}

/// An argument of a call, or a member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Type,
}

/// An interface.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(super) name: &'static str,
    /// As on the wire.
    uuid: [u8; 16],
    calls: Vec<Call>,
}

/// One direction of a call.
#[derive(Debug)]
pub(super) struct Call {
    opnum: u16,
    direction: Direction,
    pub(super) name: &'static str,
    pub(super) arguments: Vec<Argument>,
}

/// A structure.
#[derive(Debug)]
pub(super) struct Structure {
    pub(super) of: Name,
    pub(super) name: &'static str,
    pub(super) members: Vec<Argument>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) interfaces: Vec<Interface>,
    pub(super) structures: Vec<Structure>,
    in_structure: bool,
}

impl Interface {
    pub(super) fn call(&self, opnum: u16, direction: Direction) -> Option<&Call> {
        let is = |call: &&Call| call.opnum == opnum && call.direction == direction;
        self.calls.iter().find(is)
    }

    /// Name of the interface and of the call.
    pub(super) fn title(&self, opnum: u16) -> String {
        let call = self.calls.iter().find(|call| call.opnum == opnum);
        match call {
            Some(call) => format!("{} {}", self.name, call.name),
            None => format!("{}, call {opnum}", self.name),
        }
    }

    #[cfg(test)]
    pub(super) fn calls(&self) -> &[Call] {
        &self.calls
    }
}

impl Table {
    pub(super) fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        // a test reads it; a table that cannot be read names no call
        TABLE.get_or_init(|| Self::parse().unwrap_or_default())
    }

    pub(super) fn parse() -> Result<Self, TableError> {
        let mut table = Self::default();
        each_line("rpc.txt", TEXT, |line, is_argument| match is_argument {
            true => table.argument(line),
            false => table.head(line),
        })?;
        Ok(table)
    }

    pub(super) fn interface(&self, uuid: &[u8]) -> Option<&Interface> {
        self.interfaces
            .iter()
            .find(|interface| interface.uuid == uuid)
    }

    pub(super) fn structure(&self, of: Name) -> Option<&Structure> {
        self.structures.iter().find(|known| known.of == of)
    }

    fn head(&mut self, line: &'static str) -> Result<(), &'static str> {
        let (what, _) = line.split_once("  ").ok_or("no source")?;
        let words: Vec<&'static str> = what.split_whitespace().collect();
        match words.as_slice() {
            ["interface", name, uuid] => self.interfaces.push(Interface {
                name,
                uuid: wire_form(uuid).ok_or("no UUID")?,
                calls: Vec::new(),
            }),
            ["call", interface, opnum, name, direction] => {
                // so that the arguments that follow find their call
                let at = self
                    .interfaces
                    .iter()
                    .position(|one| one.name == *interface);
                let interface = self.interfaces.remove(at.ok_or("no such interface")?);
                self.interfaces.push(interface);
                let last = self.interfaces.last_mut().ok_or("no interface")?;
                last.calls.push(Call {
                    opnum: opnum.parse().map_err(|_| "no number")?,
                    direction: Direction::named(direction)?,
                    name,
                    arguments: Vec::new(),
                });
            }
            ["struct", family, level, name] => self.structures.push(Structure {
                of: (*family, level.parse().map_err(|_| "no level")?),
                name,
                members: Vec::new(),
            }),
            _ => return Err("neither interface nor call nor struct"),
        }
        self.in_structure = words.first() == Some(&"struct");
        Ok(())
    }

    fn argument(&mut self, line: &'static str) -> Result<(), &'static str> {
        let mut words = line.split_whitespace();
        let name = words.next().ok_or("no name")?;
        let kind = Type::parse(&words.collect::<Vec<_>>())?;
        let list = match self.in_structure {
            true => self.structures.last_mut().map(|last| &mut last.members),
            false => self
                .interfaces
                .last_mut()
                .and_then(|interface| interface.calls.last_mut())
                .map(|call| &mut call.arguments),
        };
        list.ok_or("no call before")?.push(Argument { name, kind });
        Ok(())
    }
}

impl Type {
    fn parse(words: &[&'static str]) -> Result<Self, &'static str> {
        let level = |text: &str| text.parse().map_err(|_| "no level");
        Ok(match words {
            ["u8"] => Self::Unsigned(1),
            ["u16"] => Self::Unsigned(2),
            ["u32"] => Self::Unsigned(4),
            ["u64"] => Self::Unsigned(8),
            ["x16"] => Self::Hex(2, None),
            ["x32"] => Self::Hex(4, None),
            ["x32", list] => Self::Hex(4, Some(list)),
            ["string"] => Self::Text,
            ["pstring"] => Self::TextPointer,
            ["psecret"] => Self::SecretPointer,
            ["pu16"] => Self::NumberPointer(2),
            ["pu32"] => Self::NumberPointer(4),
            ["ustring"] => Self::Counted,
            ["bytes"] => Self::Bytes,
            ["pbytes"] => Self::BytesPointer,
            ["handle"] => Self::Handle,
            ["in", family, number] => Self::In((*family, level(number)?)),
            ["to", family, number] => Self::To((*family, level(number)?)),
            ["array", family, number] => Self::Array((*family, level(number)?)),
            ["union", family] => Self::Union(family),
            _ => return Err("no such type"),
        })
    }

    /// The structure that this type refers to.
    #[cfg(test)]
    pub(super) const fn refers_to(self) -> Option<Name> {
        match self {
            Self::In(name) | Self::To(name) | Self::Array(name) => Some(name),
            _ => None,
        }
    }
}

/// A UUID's bytes on the wire: the first three parts are little-endian (C706 appendix A).
fn wire_form(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|digit| *digit != '-').collect();
    let number = u128::from_str_radix(&digits, 16).ok()?;
    let [a, b, c, d, e, f, g, h, rest @ ..] = number.to_be_bytes();
    let [i, j, k, l, m, n, o, p] = rest;
    (digits.len() == 32).then_some([d, c, b, a, f, e, h, g, i, j, k, l, m, n, o, p])
}

/// A UUID in words, from its bytes on the wire.
pub(super) fn uuid_text(bytes: &[u8]) -> String {
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let mut text = String::new();
    for (place, from) in order.iter().enumerate() {
        if [4, 6, 8, 10].contains(&place) {
            text.push('-');
        }
        let byte = bytes.get(*from).copied().unwrap_or(0);
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
