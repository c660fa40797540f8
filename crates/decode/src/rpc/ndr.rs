//! Arguments in their form on the wire (NDR, C706 chapter 14): aligned to their size from the first argument's first byte.

use super::table::{Argument, Structure, Table, Type};
use crate::{
    data,
    field::Value,
    walk::{Ended, Step, Walk},
};

/// What a pointer points to; it follows the structure or the argument that has the pointer.
#[derive(Clone, Copy, Debug)]
enum Pointee {
    Text,
    Secret,
    Number(usize),
    Characters,
    Bytes,
    One(&'static Structure),
    Several(&'static Structure),
}

type Deferred = Vec<(&'static str, Pointee)>;

/// Decodes a call's arguments. If other fragments follow, the last argument may be cut.
pub(super) fn arguments(walk: &mut Walk<'_, '_>, arguments: &[Argument], is_last: bool) -> Step {
    let start = walk.at;
    let first = walk.out.fields.len();
    let mut stub = Stub { walk, start };
    for argument in arguments {
        let mut deferred = Deferred::new();
        let done = stub
            .fixed(argument, &mut deferred)
            .and_then(|()| stub.deferred(&deferred));
        if let Err(ended) = done {
            if !is_last {
                cut(walk, first);
            }
            return Err(ended);
        }
    }
    Ok(())
}

/// The rest is in the next fragment, so the last field is no problem.
fn cut(walk: &mut Walk<'_, '_>, first: usize) {
    for field in walk.out.fields.iter_mut().skip(first) {
        if field.problem.take().is_some() {
            field.meaning = "continued in the next fragment".to_owned();
        }
    }
}

struct Stub<'w, 'a, 'o> {
    walk: &'w mut Walk<'a, 'o>,
    /// Where alignment counts from.
    start: usize,
}

impl Stub<'_, '_, '_> {
    fn align(&mut self, size: usize) -> Step {
        let beyond = (self.walk.at - self.start) % size;
        match beyond {
            0 => Ok(()),
            _ => self.walk.bytes("Pad", size - beyond),
        }
    }

    fn number(&mut self, name: &'static str, size: usize) -> Step<u64> {
        self.align(size)?;
        let at = self.walk.at;
        let number = self.walk.number(name, size)?;
        self.walk.note(name, at, size, Value::Number(number));
        Ok(number)
    }

    fn count(&mut self, name: &'static str) -> Step<usize> {
        let count = self.number(name, 4)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// A pointer. It is zero if it points to nothing.
    fn pointer(&mut self, name: &'static str, pointee: Pointee, deferred: &mut Deferred) -> Step {
        self.align(4)?;
        let at = self.walk.at;
        let id = self.walk.number("ReferentId", 4)?;
        let field = self.walk.note("ReferentId", at, 4, Value::Hex(id, 4));
        field.meaning = match id {
            0 => format!("no {name}"),
            _ => format!("of {name}"),
        };
        if id != 0 {
            deferred.push((name, pointee));
        }
        Ok(())
    }

    /// The part of an argument that stands in its place.
    fn fixed(&mut self, argument: &Argument, deferred: &mut Deferred) -> Step {
        let name = argument.name;
        match argument.kind {
            Type::Unsigned(size) => self.number(name, size).map(|_| ()),
            Type::Hex(size, list) => self.hex(name, size, list),
            Type::Text => self.text(name, false),
            Type::Bytes => self.bytes(name),
            Type::Handle => self.handle(name),
            Type::TextPointer => self.pointer(name, Pointee::Text, deferred),
            Type::SecretPointer => self.pointer(name, Pointee::Secret, deferred),
            Type::NumberPointer(size) => self.pointer(name, Pointee::Number(size), deferred),
            Type::BytesPointer => self.pointer(name, Pointee::Bytes, deferred),
            Type::Counted => {
                self.number("Length", 2)?;
                self.number("MaximumLength", 2)?;
                self.pointer(name, Pointee::Characters, deferred)
            }
            Type::In(of) => self.members(structure(of)?, deferred),
            Type::To(of) => self.pointer(name, Pointee::One(structure(of)?), deferred),
            Type::Array(of) => self.pointer(name, Pointee::Several(structure(of)?), deferred),
            Type::Union(family) => self.union(name, family, deferred),
        }
    }

    fn hex(&mut self, name: &'static str, size: usize, list: Option<&str>) -> Step {
        self.align(size)?;
        let at = self.walk.at;
        let number = self.walk.number(name, size)?;
        match list {
            Some(list) => self.walk.named(name, at, (number, size), list),
            None => {
                let field = self.walk.note(name, at, size, Value::Hex(number, size));
                if name == "ReturnValue" && number == 0 {
                    field.meaning = "success".to_owned();
                }
            }
        }
        Ok(())
    }

    /// A context handle: attributes and a UUID.
    fn handle(&mut self, name: &'static str) -> Step {
        self.align(4)?;
        self.walk.bytes(name, 20)
    }

    /// The level again, and the pointer of this level.
    fn union(&mut self, name: &'static str, family: &'static str, deferred: &mut Deferred) -> Step {
        let level = self.number("SwitchIs", 4)?;
        let known = u32::try_from(level).ok();
        let known = known.and_then(|level| Table::get().structure((family, level)));
        match known {
            Some(known) => self.pointer(name, Pointee::One(known), deferred),
            None => self.walk.bytes(name, self.walk.left()).and(Err(Ended)),
        }
    }

    /// What the pointers of an argument point to, in their order.
    fn deferred(&mut self, deferred: &Deferred) -> Step {
        for (name, pointee) in deferred {
            match pointee {
                Pointee::Text => self.text(name, false)?,
                Pointee::Secret => self.text(name, true)?,
                Pointee::Number(size) => self.number(name, *size).map(|_| ())?,
                Pointee::Characters => self.text(name, false)?,
                Pointee::Bytes => self.bytes(name)?,
                Pointee::One(one) => {
                    let mut inner = Deferred::new();
                    self.members(one, &mut inner)?;
                    self.deferred(&inner)?;
                }
                Pointee::Several(one) => self.several(one)?,
            }
        }
        Ok(())
    }

    /// A structure's members, as a group.
    fn members(&mut self, structure: &'static Structure, deferred: &mut Deferred) -> Step {
        self.align(4)?;
        let (start, index) = (self.walk.at, self.walk.out.fields.len());
        self.walk.group(structure.name, 0);
        self.walk.depth += 1;
        let done = structure
            .members
            .iter()
            .try_for_each(|member| self.fixed(member, deferred));
        self.walk.depth -= 1;
        if let Some(group) = self.walk.out.fields.get_mut(index) {
            group.len = self.walk.at - start;
        }
        done
    }

    /// A conformant array of structures: all structures, then what their pointers point to.
    fn several(&mut self, structure: &'static Structure) -> Step {
        let count = self.count("MaxCount")?;
        let mut deferred = Deferred::new();
        for _ in 0..count {
            self.members(structure, &mut deferred)?;
        }
        self.deferred(&deferred)
    }

    /// A conformant array of bytes.
    fn bytes(&mut self, name: &'static str) -> Step {
        let len = self.count("MaxCount")?;
        self.walk.bytes(name, len)
    }

    /// A conformant varying string: size, offset, length in characters of two bytes, and the characters.
    fn text(&mut self, name: &'static str, is_secret: bool) -> Step {
        let max = self.count("MaxCount")?;
        let offset = self.count("Offset")?;
        let actual = self.count("ActualCount")?;
        if offset.saturating_add(actual) > max
            && let Some(field) = self.walk.out.fields.last_mut()
        {
            field.problem = Some(format!("beyond MaxCount, which is {max}"));
        }
        let len = actual.saturating_mul(2);
        match is_secret {
            true => data::secret(self.walk, name, len),
            false => {
                let at = self.walk.at;
                let raw = self.walk.take(name, len)?;
                let text = Value::Text(data::text(raw, true));
                self.walk.note(name, at, len, text);
                Ok(())
            }
        }
    }
}

/// A structure of the table; a test checks that all exist.
fn structure(of: (&'static str, u32)) -> Step<&'static Structure> {
    Table::get().structure(of).ok_or(Ended)
}
