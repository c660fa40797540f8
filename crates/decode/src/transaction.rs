//! TRANSACTION, TRANSACTION2 and NT_TRANSACT: what their parameters and data mean depends on name and function.

use coax_wire::{
    command as code,
    smb::{named_pipe::function, subcommand, transaction::Kind},
};

use crate::{
    context::{Asked, Exchange},
    data,
    field::Value,
    item,
    layout::{Direction, Part, Tables},
    parts::{Collected, Place},
    remote,
    walk::{Step, Walk},
};

/// Characters of a transaction's name that are remembered: more than the names that have a meaning here.
const MAX_NAME: usize = 64;

/// Whether a command has parameters and data at offsets of their own.
pub(crate) const fn is_one(command: u8) -> bool {
    matches!(
        command,
        code::TRANSACTION
            | code::TRANSACTION_SECONDARY
            | code::TRANSACTION2
            | code::TRANSACTION2_SECONDARY
            | code::NT_TRANSACT
            | code::NT_TRANSACT_SECONDARY
    )
}

/// The command that a later part continues.
const fn primary(command: u8) -> u8 {
    match command {
        code::TRANSACTION_SECONDARY => code::TRANSACTION,
        code::TRANSACTION2_SECONDARY => code::TRANSACTION2,
        code::NT_TRANSACT_SECONDARY => code::NT_TRANSACT,
        other => other,
    }
}

/// The named pipe of a request: that of a call, or the file that is read or written.
pub(crate) fn pipe_of(walk: &Walk<'_, '_>, command: u8, asked: &Asked) -> Option<u16> {
    let fid = match command {
        code::TRANSACTION if asked.function == Some(function::TRANSACT) => {
            let mut setup = walk.known.iter().filter(|(name, _)| *name == "Setup");
            setup.nth(1)?.1
        }
        code::READ_ANDX | code::WRITE_ANDX => {
            let fid = walk.known.iter().find(|(name, _)| *name == "FID");
            fid?.1
        }
        _ => return None,
    };
    u16::try_from(fid).ok()
}

/// Decodes what the setup words mean, and notes the function.
pub(crate) fn setup(
    walk: &mut Walk<'_, '_>,
    command: u8,
    direction: Direction,
    asked: &mut Asked,
) -> Step {
    if direction == Direction::Response {
        return Ok(());
    }
    asked.function = match command {
        code::TRANSACTION | code::TRANSACTION2 if walk.value_of("SetupCount") > 0 => {
            first_setup(walk)
        }
        code::NT_TRANSACT => u16::try_from(walk.value_of("Function")).ok(),
        _ => return Ok(()),
    };
    let Some(function) = asked.function else {
        return Ok(());
    };
    if let Some(name) = Kind::of(command).and_then(|kind| subcommand::name(kind, function))
        && command != code::TRANSACTION
    {
        describe(walk, command, name);
    }
    let layout = Tables::get().function(command, function, direction, Part::Setup);
    if let Some(layout) = layout {
        // the words mean more than numbers: their fields replace those that are already there
        let count = walk.length_of("SetupCount");
        walk.at = walk.at.saturating_sub(count.saturating_mul(2));
        let kept = walk.out.fields.len().saturating_sub(count);
        walk.out.fields.truncate(kept);
        item::items(walk, &layout.words)?;
    }
    Ok(())
}

fn first_setup(walk: &Walk<'_, '_>) -> Option<u16> {
    let first = walk.known.iter().find(|(name, _)| *name == "Setup")?;
    u16::try_from(first.1).ok()
}

/// Names the function beside the field that has it.
fn describe(walk: &mut Walk<'_, '_>, command: u8, name: &'static str) {
    let field = if command == code::NT_TRANSACT {
        "Function"
    } else {
        "Setup"
    };
    if let Some(found) = walk
        .out
        .fields
        .iter_mut()
        .rev()
        .find(|entry| entry.name == field)
    {
        found.meaning = name.to_owned();
    }
}

/// Decodes name, parameters and data.
pub(crate) fn bytes(
    walk: &mut Walk<'_, '_>,
    command: u8,
    direction: Direction,
    exchange: &mut Exchange,
) -> Step {
    if command == code::TRANSACTION && direction == Direction::Request && walk.left() > 0 {
        name(walk, command, &mut exchange.asked)?;
    }
    limits(walk);
    let command = primary(command);
    let Exchange { asked, parts } = exchange;
    part(walk, "Parameters", &mut parts.parameters, |walk| {
        parameters(walk, command, direction, asked)
    })?;
    part(walk, "Data", &mut parts.data, |walk| {
        content(walk, command, direction, asked)
    })
}

/// The name, which says with the function what the transaction does.
fn name(walk: &mut Walk<'_, '_>, command: u8, asked: &mut Asked) -> Step {
    data::string(walk, "Name", walk.unicode)?;
    asked.name = name_of(walk);
    if let Some(function) = asked.function {
        let mailslot = asked.name.to_ascii_uppercase().starts_with("\\MAILSLOT\\");
        let function = if mailslot {
            subcommand::MAILSLOT_WRITE
        } else {
            function
        };
        let name = subcommand::name(Kind::Transaction, function);
        describe(walk, command, name.unwrap_or(""));
    }
    Ok(())
}

/// The rest of the data is in other messages, so its last field may be cut.
fn continued(walk: &mut Walk<'_, '_>, first: usize) {
    for field in walk.out.fields.iter_mut().skip(first) {
        let is_cut = |problem: &mut String| problem.starts_with("ends after");
        if field.problem.take_if(is_cut).is_some() || field.meaning.starts_with(data::NO_ZERO) {
            field.meaning = "continued in the next message".to_owned();
        }
    }
}

fn name_of(walk: &Walk<'_, '_>) -> String {
    match walk.out.fields.last().map(|field| &field.value) {
        Some(Value::Text(text)) => text.chars().take(MAX_NAME).collect(),
        _ => String::new(),
    }
}

/// No part may be more than the whole.
fn limits(walk: &mut Walk<'_, '_>) {
    for (count, total) in [
        ("ParameterCount", "TotalParameterCount"),
        ("DataCount", "TotalDataCount"),
    ] {
        let (part, whole) = (walk.value_of(count), walk.value_of(total));
        let field = walk
            .out
            .fields
            .iter_mut()
            .rev()
            .find(|field| field.name == count);
        if let Some(field) = field.filter(|_| part > whole) {
            field.problem = Some(format!("more than {total}, which is {whole}"));
        }
    }
}

/// Parameters or data at their offset, as a group with what `decode` makes of them.
fn part(
    walk: &mut Walk<'_, '_>,
    name: &'static str,
    collected: &mut Collected,
    decode: impl FnMut(&mut Walk<'_, '_>) -> Step,
) -> Step {
    let numbers = match name {
        "Data" => [
            "DataOffset",
            "DataCount",
            "DataDisplacement",
            "TotalDataCount",
        ],
        _ => [
            "ParameterOffset",
            "ParameterCount",
            "ParameterDisplacement",
            "TotalParameterCount",
        ],
    };
    let [offset, len, displacement, total] = numbers.map(|number| walk.length_of(number));
    if len == 0 {
        return Ok(());
    }
    let start = data::place(walk, name, offset, len)?;
    let first = walk.out.fields.len();
    if let Some(group) = walk
        .out
        .fields
        .last_mut()
        .filter(|field| field.name == name && field.problem.is_none())
    {
        group.value = Value::Group;
        let mut inner = walk.inner(start, start.saturating_add(len));
        let place = Place {
            displacement,
            total,
        };
        // what is missing has been noted; the next part has its own offset
        let _ = collected.part(&mut inner, place, decode);
        let left = inner.left();
        let _ = inner.bytes("Unused", left);
    }
    if displacement.saturating_add(len) < total {
        continued(walk, first);
    }
    Ok(())
}

fn parameters(
    walk: &mut Walk<'_, '_>,
    command: u8,
    direction: Direction,
    asked: &mut Asked,
) -> Step {
    if command == code::TRANSACTION {
        return remote::parameters(walk, direction, asked);
    }
    let layout = asked.function.and_then(|function| {
        Tables::get().function(command, function, direction, Part::Parameters)
    });
    let Some(layout) = layout else {
        return Ok(());
    };
    if layout.has_entries() {
        return item::entries(walk, layout);
    }
    item::items(walk, &layout.words)?;
    if direction == Direction::Request {
        let family = layout.words.iter().find_map(|item| match item.kind {
            crate::layout::Kind::Level(family) => Some(family),
            _ => None,
        });
        asked.level = family.zip(u16::try_from(walk.value_of("InformationLevel")).ok());
        asked.resume_keys = family == Some("find") && walk.value_of("Flags") & 4 != 0;
    } else {
        asked.level = asked.level.filter(|(family, _)| *family != "set");
    }
    Ok(())
}

/// The data of a level: of the request if it sets something, of the reply if it asks.
fn content(walk: &mut Walk<'_, '_>, command: u8, direction: Direction, asked: &Asked) -> Step {
    if command == code::TRANSACTION {
        return remote::data(walk, direction, asked);
    }
    let is_set = asked.level.is_some_and(|(family, _)| family == "set");
    let Some((family, level)) = asked
        .level
        .filter(|_| is_set == (direction == Direction::Request))
    else {
        return Ok(());
    };
    walk.resume_keys = asked.resume_keys;
    match Tables::get().level(family, level) {
        Some(layout) if family == "find" || layout.has_entries() => item::entries(walk, layout),
        Some(layout) => item::items(walk, &layout.words),
        None => Ok(()),
    }
}
