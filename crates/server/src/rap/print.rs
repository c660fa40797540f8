//! DosPrintQEnum, DosPrintQGetInfo and DosPrintJobEnum: the LAN Manager API of print queues. A job leaves the queue
//! when its file is complete, so queues are always empty.

use super::answer::{Answer, Client, listed, single};
use crate::share::{Share, ShareKind};
use alloc::{vec, vec::Vec};
use coax_wire::rap::{Field, Request, code};

/// Priority in the middle of 1 to 9.
const PRIORITY: u16 = 5;

/// DosPrintQEnum.
pub(super) fn list(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let records: Result<Vec<_>, u16> = client
        .asker
        .server
        .browseable(client.asker.user)
        .filter(|share| is_queue(share))
        .map(|share| record(client, request, share))
        .collect();
    listed(request, &records?)
}

/// DosPrintQGetInfo.
pub(super) fn info(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let queue = queue(client, request)?;
    single(request, record(client, request, queue)?)
}

/// DosPrintJobEnum.
pub(super) fn jobs(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    queue(client, request)?;
    listed(request, &[])
}

fn queue<'a>(client: &Client<'a>, request: &Request<'_>) -> Result<&'a Share, u16> {
    let name = request.text(0).ok_or(code::INVALID_PARAMETER)?;
    let share = client.asker.server.share(&client.decode(name));
    share
        .filter(|share| is_queue(share))
        .map(|share| &**share)
        .ok_or(code::Q_NOT_FOUND)
}

fn is_queue(share: &Share) -> bool {
    matches!(share.kind, ShareKind::Printer(_))
}

/// Level 0 `B13`; 1 and 2 `B13BWWWzzzzzWW` (in level 2 the last field counts the jobs that follow); 3 and 4
/// `zWWWWzzzzWWzzl`; 5 `z`.
fn record(client: &Client<'_>, request: &Request<'_>, share: &Share) -> Result<Vec<Field>, u16> {
    let name = client.text(&share.name);
    let comment = client.text(&share.comment);
    let empty = || client.text("");
    let when = [PRIORITY, 0, 0].map(Field::Word);
    let state = [0, 0].map(Field::Word);
    let mut fields = vec![name.clone()];
    match request.level() {
        Some(0 | 5) => {}
        Some(1 | 2) => {
            fields.push(Field::Word(0));
            fields.extend(when);
            fields.extend([empty(), client.text("WinPrint"), name, empty(), comment]);
            fields.extend(state);
        }
        Some(3 | 4) => {
            fields.extend(when);
            fields.push(Field::Word(0));
            fields.extend([empty(), client.text("WinPrint"), empty(), comment]);
            fields.extend(state);
            fields.extend([name, client.text("NULL"), Field::Null]);
        }
        _ => return Err(code::INVALID_LEVEL),
    }
    Ok(fields)
}
