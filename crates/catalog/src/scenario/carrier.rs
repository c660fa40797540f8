//! What fits to a scenario's transport.

use alloc::{format, string::String};

use super::{
    Scenario,
    choices::{OF_NETBIOS, is_beneath},
};
use crate::{component::ProfileError, link::LinkParams, netbios::Carrier};

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

impl Scenario {
    /// What carries the messages.
    pub const fn carrier(&self) -> Carrier {
        self.choices.carrier
    }

    /// Refuses a path that the transport cannot cross, and values that were asked for and have no effect with it.
    pub(super) fn check_carrier(&self, link: &LinkParams) -> Result<(), ProfileError> {
        let carrier = self.choices.carrier;
        if carrier == Carrier::Netbeui && link.access_rate.is_some() {
            let reason = format!(
                "the link `{}` leads through a router (link.access_rate), and NetBEUI has no addresses that a router could use; \
                 choose another link, or transport = \"nbipx\", \"ipx\" or \"tcp\"",
                self.choices.link
            );
            return Err(self.wrong("transport", reason));
        }
        let problem = self
            .asked
            .iter()
            .find_map(|path| Some((path, without_effect(path, carrier)?)));
        problem.map_or(Ok(()), |(path, reason)| Err(self.wrong(path, reason)))
    }
}

/// Why a value has no effect with a transport, and what to do.
fn without_effect(path: &str, carrier: Carrier) -> Option<String> {
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
