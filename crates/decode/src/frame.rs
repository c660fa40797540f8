//! Ethernet frames and LLC (`layouts/frames.txt`).

use coax_wire::llc::{Control, Pdu, SAP_IPX, SAP_NETBIOS, SAP_SNAP, Supervisory, Unnumbered};

use crate::{
    context::Context,
    field::Value,
    group::{grow, part},
    ipx, nbf,
    piece::Piece,
    walk::{Step, Walk},
};

/// The EtherType of IPX.
const IPX_TYPE: u64 = 0x8137;
/// VLAN tags that are looked behind.
const MAX_TAGS: usize = 4;

/// An Ethernet frame. The result is the piece of a session's message that it carries.
pub(crate) fn ethernet(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step<Option<Piece>> {
    "Ethernet frame".clone_into(&mut walk.out.title);
    let index = walk.out.fields.len();
    part(walk, "ethernet")?;
    walk.depth = 1;
    let mut kind = type_or_length(walk)?;
    walk.depth = 0;
    grow(walk, index, 0);
    for _ in 0..MAX_TAGS {
        if !matches!(kind, 0x8100 | 0x88a8 | 0x9100) {
            break;
        }
        part(walk, "vlan")?;
        walk.depth = 1;
        kind = type_or_length(walk)?;
        walk.depth = 0;
    }
    let whole = walk.end;
    let piece = match kind {
        IPX_TYPE => ipx::packet(walk, context),
        ..=1500 => {
            let len = usize::try_from(kind).unwrap_or(0);
            walk.end = walk.at.saturating_add(len).min(whole);
            // what is missing has been noted, and the padding follows all the same
            Ok(in_802_3(walk, context).unwrap_or(None))
        }
        _ => walk.bytes("Data", walk.left()).map(|()| None),
    };
    walk.at = walk.end;
    walk.end = whole;
    walk.bytes("Padding", walk.left())?;
    piece
}

/// The type of an Ethernet II frame, or the length of an 802.3 payload.
fn type_or_length(walk: &mut Walk<'_, '_>) -> Step<u64> {
    let at = walk.at;
    let number = walk.big("TypeOrLength", 2)?;
    let left = walk.left();
    if number > 1500 {
        walk.named("Type", at, (number, 2), "ethertype");
        return Ok(number);
    }
    let field = walk.note("Length", at, 2, Value::Number(number));
    if usize::try_from(number).unwrap_or(usize::MAX) > left {
        field.problem = Some(format!("only {left} bytes follow"));
    }
    Ok(number)
}

fn in_802_3(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step<Option<Piece>> {
    match walk.rest().starts_with(&[0xff, 0xff]) {
        true => ipx::packet(walk, context),
        false => llc(walk, context),
    }
}

/// A protocol data unit of LLC.
pub(crate) fn llc(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step<Option<Piece>> {
    "LLC frame".clone_into(&mut walk.out.title);
    let unit = Pdu::parse(walk.rest()).ok();
    let (start, index) = (walk.at, walk.out.fields.len());
    part(walk, "llc")?;
    walk.depth = 1;
    let done = control(walk, unit.map(|unit| unit.control));
    walk.depth = 0;
    grow(walk, index, start);
    done?;
    let Some(unit) = unit else {
        walk.bytes("Information", walk.left())?;
        return Ok(None);
    };
    information(walk, &unit, context)
}

fn control(walk: &mut Walk<'_, '_>, control: Option<Control>) -> Step {
    let at = walk.at;
    let len = match control {
        Some(Control::Unnumbered { .. }) => 1,
        Some(_) => 2,
        None if walk.peek().is_some_and(|first| first & 3 == 3) => 1,
        None => 2,
    };
    let number = walk.number("Control", len)?;
    let field = walk.note("Control", at, len, Value::Hex(number, len));
    match control {
        Some(control) => field.meaning = in_words(control),
        None => field.problem = Some("no such control field".to_owned()),
    }
    Ok(())
}

fn in_words(control: Control) -> String {
    let (mut words, pf) = match control {
        Control::Information { ns, nr, pf } => (format!("I N(S)={ns} N(R)={nr}"), pf),
        Control::Supervisory { kind, nr, pf } => {
            (format!("{} N(R)={nr}", supervisory_name(kind)), pf)
        }
        Control::Unnumbered { kind, pf } => (unnumbered_name(kind).to_owned(), pf),
    };
    if pf {
        words.push_str(" P/F");
    }
    words
}

const fn supervisory_name(kind: Supervisory) -> &'static str {
    match kind {
        Supervisory::Rr => "RR",
        Supervisory::Rnr => "RNR",
        Supervisory::Rej => "REJ",
    }
}

const fn unnumbered_name(kind: Unnumbered) -> &'static str {
    match kind {
        Unnumbered::Ui => "UI",
        Unnumbered::Xid => "XID",
        Unnumbered::Test => "TEST",
        Unnumbered::Sabme => "SABME",
        Unnumbered::Disc => "DISC",
        Unnumbered::Ua => "UA",
        Unnumbered::Dm => "DM",
        Unnumbered::Frmr => "FRMR",
    }
}

/// What follows the control field.
fn information(
    walk: &mut Walk<'_, '_>,
    unit: &Pdu<'_>,
    context: &mut Context,
) -> Step<Option<Piece>> {
    let side = if unit.response { "response" } else { "command" };
    let name = match unit.control {
        Control::Information { .. } => "I",
        Control::Supervisory { kind, .. } => supervisory_name(kind),
        Control::Unnumbered { kind, .. } => unnumbered_name(kind),
    };
    walk.out.title = format!("LLC {name} {side}");
    let is_data = matches!(
        unit.control,
        Control::Information { .. }
            | Control::Unnumbered {
                kind: Unnumbered::Ui,
                ..
            }
    );
    match (unit.control, unit.dsap & !1) {
        _ if walk.left() == 0 => return Ok(None),
        (_, SAP_NETBIOS) if is_data => return nbf::frame(walk, context),
        (_, SAP_IPX) if is_data => return ipx::packet(walk, context),
        (_, SAP_SNAP) if is_data => return snap(walk, context),
        (
            Control::Unnumbered {
                kind: Unnumbered::Frmr,
                ..
            },
            _,
        ) => part(walk, "frmr")?,
        (
            Control::Unnumbered {
                kind: Unnumbered::Xid,
                ..
            },
            _,
        ) => part(walk, "xid")?,
        _ => {}
    }
    walk.bytes("Information", walk.left())?;
    Ok(None)
}

fn snap(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step<Option<Piece>> {
    part(walk, "snap")?;
    if walk.value_of("SnapType") == IPX_TYPE {
        return ipx::packet(walk, context);
    }
    walk.bytes("Data", walk.left())?;
    Ok(None)
}
