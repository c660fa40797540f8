//! NetShareEnum and NetShareGetInfo ([MS-RAP] 3.2.5.1, 3.2.5.2).

use super::answer::{Answer, Client, listed, single};
use crate::{
    pipe::services::{share_kind, told_path},
    share::Share,
};
use alloc::{vec, vec::Vec};
use coax_wire::rap::{Field, Request, code};

/// The longest name that fits in a record's 13 bytes. Windows 98 shows no list at all if one is longer (KB Q160843).
const LONGEST_NAME: usize = 12;

/// NetShareEnum.
pub(super) fn list(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let level = level(request)?;
    let shares = client.asker.server.browseable(client.asker.user);
    let fitting = shares.filter(|share| client.encode(&share.name).len() <= LONGEST_NAME);
    let records: Vec<_> = fitting.map(|share| record(client, level, share)).collect();
    listed(request, &records)
}

/// NetShareGetInfo.
pub(super) fn info(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let level = level(request)?;
    let name = request.text(0).ok_or(code::INVALID_PARAMETER)?;
    let share = client.asker.server.share(&client.decode(name));
    let share = share.ok_or(code::NET_NAME_NOT_FOUND)?;
    single(request, record(client, level, share))
}

fn level(request: &Request<'_>) -> Result<u16, u16> {
    match request.level() {
        Some(level @ 0..=2) => Ok(level),
        _ => Err(code::INVALID_LEVEL),
    }
}

/// A record of level 0 (`B13`), 1 (`B13BWz`) or 2 (`B13BWzWWWzB9B`).
fn record(client: &Client<'_>, level: u16, share: &Share) -> Vec<Field> {
    const NO_LIMIT: u16 = 0xffff;
    let mut fields = vec![client.text(&share.name)];
    if level >= 1 {
        fields.push(Field::Word(0));
        fields.push(Field::Word(share_kind(share) as u16));
        fields.push(client.text(&share.comment));
    }
    if level == 2 {
        let counts = [0, NO_LIMIT, 0].map(Field::Word);
        fields.extend(counts);
        fields.push(client.text(&told_path(share)));
        fields.push(client.text(""));
        fields.push(Field::Word(0));
    }
    fields
}
