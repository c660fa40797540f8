//! Which values have an effect with which transport.

use alloc::{format, string::String};

use crate::netbios::Carrier;

/// Values that have an effect with TCP only.
const OF_TCP: [&str; 4] = [
    "client.stack",
    "server.stack",
    "client.profile.transport",
    "server.config.pacing",
];
/// The only transport with which a value beneath `client.netbios` has an effect; `None`: it has with all of them.
fn only_with(key: &str) -> Option<&'static [Carrier]> {
    Some(match key {
        "" => return None,
        "frame_type" => &[Carrier::Nbipx, Carrier::Ipx],
        key if key.starts_with("nbipx_") => &[Carrier::Nbipx],
        key if key.starts_with("direct_") => &[Carrier::Ipx],
        _ => &[Carrier::Netbeui],
    })
}

/// Components of NetBEUI and IPX.
const OF_NETBIOS: [&str; 2] = ["client.netbios", "server.netbios"];

/// Whether a path is at a place or beneath it.
fn is_beneath(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Why a value has no effect with a transport, and what to do.
pub(super) fn without_effect(path: &str, carrier: Carrier) -> Option<String> {
    let name = carrier.name();
    if carrier != Carrier::Tcp && OF_TCP.iter().any(|place| is_beneath(path, place)) {
        return Some(format!(
            "has an effect with TCP only, and this copy has transport = \"{name}\"; leave it out, or choose transport = \"tcp\". \
             Timers and windows of {name} are beneath client.netbios and server.netbios"
        ));
    }
    let place = OF_NETBIOS.iter().find(|place| is_beneath(path, place))?;
    let key = path.strip_prefix(place)?.trim_start_matches('.');
    let allowed = match only_with(key) {
        None if carrier != Carrier::Tcp => return None,
        None => &[Carrier::Netbeui, Carrier::Nbipx, Carrier::Ipx][..],
        Some(allowed) => allowed,
    };
    let names = || {
        let mut text = String::new();
        for (at, carrier) in allowed.iter().enumerate() {
            let before = if at == 0 { "" } else { " or " };
            text.push_str(&format!("{before}transport = \"{}\"", carrier.name()));
        }
        text
    };
    (!allowed.contains(&carrier)).then(|| {
        format!(
            "has an effect with {} only, and this copy has transport = \"{name}\"",
            names()
        )
    })
}
