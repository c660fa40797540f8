//! What client and server agreed on.

use coax_wire::{
    block::{Block, WireStr},
    command,
    dialect::{Dialect, NegotiateShape},
    header::{Flags2, Header},
    smb::{negotiate, session_setup_andx, tree_connect},
};

use super::{
    kept::{CUT, Kept},
    op::{Op, What},
};
use crate::report::{Refusal, Seen, Smb};

/// Notes what a NEGOTIATE request offers.
pub(super) fn offered(smb: &mut Smb, block: &Block<'_>, header: &Header, kept: &Kept<'_>) {
    smb.client_flags = Some((header.flags.0, header.flags2.0));
    const MOST: usize = 64;
    if let Ok(request) = negotiate::Request::parse(block) {
        let names = request.dialects().take(MOST);
        let told = |name: &[u8]| {
            let mut text = String::from_utf8_lossy(name).into_owned();
            text.extend((!kept.has(name, 1)).then_some(CUT));
            text
        };
        smb.offered = names.map(told).collect();
    }
}

/// Notes what its answer chooses.
pub(super) fn chosen(smb: &mut Smb, block: &Block<'_>, header: &Header) {
    let Ok((shape, response)) = negotiate::Response::parse(block, header.unicode()) else {
        return;
    };
    smb.dialect = smb.offered.get(usize::from(response.index)).cloned();
    if shape == NegotiateShape::Core {
        return;
    }
    smb.server_max_buffer = Some(response.max_buffer);
    smb.max_mpx = Some(response.max_mpx);
    if shape == NegotiateShape::Nt {
        smb.max_raw = Some(response.max_raw);
        smb.capabilities.0 = Some(response.capabilities);
        let raw = response.capabilities & negotiate::cap::RAW_MODE != 0;
        smb.raw_offered = Some((raw, raw));
        let signs = response.security_mode & negotiate::security::SIGNATURES_ENABLED != 0;
        smb.signing_offered = Some(signs);
    } else {
        let has = |bit| response.raw_mode & bit != 0;
        smb.raw_offered = Some((
            has(negotiate::raw_mode::READ),
            has(negotiate::raw_mode::WRITE),
        ));
    }
}

/// Notes what the client says of itself when it logs on.
pub(super) fn log_on(smb: &mut Smb, block: &Block<'_>, header: &Header, kept: &Kept<'_>) {
    let Ok(request) = session_setup_andx::Request::parse(block, header.unicode()) else {
        return;
    };
    smb.client_max_buffer = Some(u32::from(request.max_buffer));
    smb.client_mpx = Some(request.max_mpx);
    let is_nt = smb
        .dialect
        .as_deref()
        .and_then(|name| Dialect::by_name(name.as_bytes()));
    if is_nt.is_some_and(Dialect::is_nt) {
        smb.capabilities.1 = Some(request.capabilities);
    }
    smb.client_system =
        system(kept, request.native_os, request.native_lan_man).or(smb.client_system.take());
}

/// Notes what the server says of itself.
pub(super) fn logged_on(smb: &mut Smb, block: &Block<'_>, header: &Header, kept: &Kept<'_>) {
    let Ok(response) = session_setup_andx::Response::parse(block, header.unicode()) else {
        return;
    };
    let of = |raw| {
        Some(WireStr {
            raw,
            unicode: response.unicode,
        })
    };
    let said = system(kept, of(response.native_os), of(response.native_lan_man));
    smb.server_system = said.or(smb.server_system.take());
}

/// System and LAN manager as a machine names them, if it names any; of a name that was cut what is known.
fn system(
    kept: &Kept<'_>,
    os: Option<WireStr<'_>>,
    lan_man: Option<WireStr<'_>>,
) -> Option<(String, String)> {
    let text = |name: Option<WireStr<'_>>| name.map(|name| kept.text(name)).unwrap_or_default();
    let told = (text(os), text(lan_man));
    (!told.0.is_empty() || !told.1.is_empty()).then_some(told)
}

/// Notes what a core client learns when it connects to a share.
pub(super) fn core_connected(smb: &mut Smb, block: &Block<'_>) {
    if let Ok(response) = tree_connect::Response::parse(block) {
        smb.server_max_buffer
            .get_or_insert(u32::from(response.max_buffer));
    }
}

/// Notes whether messages are signed.
pub(super) fn signature(smb: &mut Smb, header: &Header) {
    smb.signed |= header.flags2.has(Flags2::SIGNED) && header.signature != [0; 8];
}

/// Kinds of refusals that are told apart.
const MOST_REFUSALS: usize = 64;

/// Notes that a request was refused.
pub(super) fn refused(smb: &mut Smb, header: &Header, command: String, frame: u64) {
    let status = if header.flags2.has(Flags2::NT_STATUS) {
        format!("0x{:08X}", header.status)
    } else {
        // class and code as DOS has them ([MS-CIFS] 2.2.2.4)
        let class = match header.status & 0xff {
            1 => "ERRDOS",
            2 => "ERRSRV",
            3 => "ERRHRD",
            _ => "ERRCMD",
        };
        format!("{class}/{}", header.status >> 16)
    };
    let place = smb
        .refusals
        .iter()
        .position(|known| known.command == command && known.status == status);
    let place = match place {
        Some(place) => place,
        None if smb.refusals.len() >= MOST_REFUSALS => return,
        None => {
            let seen = Seen::default();
            let new = Refusal {
                command,
                status,
                seen,
            };
            smb.refusals.push(new);
            smb.refusals.len() - 1
        }
    };
    if let Some(refusal) = smb.refusals.get_mut(place) {
        refusal.seen.note(frame);
    }
}

/// Notes where the first transfers of each kind are.
pub(super) fn transfer(smb: &mut Smb, op: &Op, frame: u64) {
    let is_raw = matches!(op.name.command, command::READ_RAW | command::WRITE_RAW);
    let place = match (&op.what, is_raw) {
        (What::Read, true) => 0,
        (What::Write, true) => 1,
        (What::Read, false) => 2,
        (What::Write | What::WriteAndClose, false) => 3,
        _ => return,
    };
    if let Some(first) = smb.frames.transfers.get_mut(place) {
        first.get_or_insert(frame);
    }
    if op.write_through && place % 2 == 1 {
        smb.through.note(frame);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn header(status: [u8; 4], nt: bool) -> Header {
        let mut message = b"\xffSMB\x73".to_vec();
        message.extend(status);
        message.resize(32, 0);
        message[11] = if nt { 0x40 } else { 0 };
        Header::parse(&message).unwrap()
    }

    #[test]
    fn refusals_are_counted_by_command_and_status_and_bounded() {
        let mut smb = Smb::default();
        let expired = header([2, 0, 0xc2, 0x08], false);
        let unknown = header([0x34, 0, 0, 0xc0], true);
        refused(&mut smb, &expired, "SESSION_SETUP_ANDX".to_owned(), 8);
        refused(&mut smb, &unknown, "NT_CREATE_ANDX".to_owned(), 9);
        refused(&mut smb, &unknown, "NT_CREATE_ANDX".to_owned(), 11);
        let told: Vec<(&str, Seen)> = smb
            .refusals
            .iter()
            .map(|refusal| (refusal.status.as_str(), refusal.seen))
            .collect();
        let seen = |count, frame| Seen { count, frame };
        assert_eq!(
            told,
            [("ERRSRV/2242", seen(1, 8)), ("0xC0000034", seen(2, 9))]
        );
        for number in 0..1000 {
            refused(&mut smb, &unknown, format!("{number}"), 12);
        }
        assert_eq!(smb.refusals.len(), MOST_REFUSALS);
    }
}
