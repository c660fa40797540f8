//! Any bytes have fields, and every field lies within them.

use coax_capture::Reader;
use coax_decode::{
    Context, Decoded, Kind, Value, datagram, ethernet_frame, ipx_packet, llc_frame, messages,
    name_packet, netbeui_frame, session_packet, smb_message,
};

fn check(bytes: &[u8], decoded: &Decoded) {
    assert!(!decoded.fields.is_empty() || bytes.is_empty());
    assert!(decoded.fields.len() <= 20_000);
    for field in &decoded.fields {
        let end = field.at.checked_add(field.len);
        assert!(
            end.is_some_and(|end| end <= bytes.len()),
            "{field:?} of {} bytes",
            bytes.len()
        );
        assert!(field.value == Value::Group || !field.name.is_empty());
    }
}

/// A message of any bytes, as each kind, twice in one context.
pub fn message(data: &[u8]) {
    let mut context = Context::default();
    for _ in 0..2 {
        check(data, &smb_message(data, &mut context));
        check(data, &session_packet(data, &mut context));
        check(data, &netbeui_frame(data, &mut context));
    }
    check(data, &name_packet(data));
    check(data, &datagram(data));
}

/// A frame without IP: as a whole, from LLC on, from IPX on.
pub fn frame(data: &[u8]) {
    let mut context = Context::default();
    check(data, &ethernet_frame(data, &mut context));
    for start in [14, 17, 18, 22] {
        let inner = data.get(start..).unwrap_or_default();
        check(inner, &llc_frame(inner, &mut context));
        check(inner, &ipx_packet(inner, &mut context));
        check(inner, &Kind::of(inner).decode(inner));
    }
}

/// Frames of a DOS client, of Windows 98, 2000 and XP.
pub fn frames() -> Vec<Vec<u8>> {
    [super::ethernet::frames(), super::ipx::frames()].concat()
}

/// A capture file.
pub fn capture(data: &[u8]) {
    let Ok(mut reader) = Reader::new(data) else {
        return;
    };
    let _ = messages(&mut reader, |message| {
        assert!(message.bytes.len() <= message.len);
        check(message.bytes, &message.decoded);
    });
}
