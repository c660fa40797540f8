//! Who the server is.

use coax_catalog::recognition::{ServerFeatures, server};

use super::native::native;
use crate::report::{Connection, Evidence, Party, Smb, Stack, Sureness, Transport};

pub(super) fn recognise(connection: &Connection, smb: &Smb, tcp: &Stack) -> Party {
    let said = native(&smb.server_system);
    let only_tcp = match tcp.who.as_slice() {
        [who] => Some(who.as_str()),
        _ => None,
    };
    let evidence = seen(connection, smb, said.as_deref(), only_tcp);
    let lan_man = smb.server_system.as_ref().map(|said| said.1.as_str());
    let found = server(&ServerFeatures {
        native: said.as_deref(),
        lan_manager: lan_man.unwrap_or_default(),
        dialect: smb.dialect.as_deref(),
        max_buffer: smb.server_max_buffer,
        max_mpx: smb.max_mpx,
        first_ttl: connection.habits[1]
            .greeting
            .map(|greeting| greeting.initial_ttl()),
        tcp: only_tcp,
    });
    let Some(found) = found else {
        return Party {
            name: said.map_or_else(|| "unknown".to_owned(), |said| format!("unknown ({said})")),
            evidence,
            ..Party::default()
        };
    };
    Party {
        profile: Some(found.kind.to_owned()),
        name: found.who,
        sure: if found.said_so {
            Sureness::Sure
        } else {
            Sureness::Like
        },
        evidence,
        also: Vec::new(),
        config: found.config.map(str::to_owned),
    }
}

fn seen(
    connection: &Connection,
    smb: &Smb,
    said: Option<&str>,
    tcp: Option<&str>,
) -> Vec<Evidence> {
    let mut all = Vec::new();
    let mut add = |what: String, frame: Option<u64>| all.push(Evidence { what, frame });
    if let Some(said) = said {
        add(format!("calls itself {said}"), smb.frames.log_on.1);
    }
    let answered = smb.frames.negotiate.1;
    if let Some(dialect) = &smb.dialect {
        add(format!("chooses {dialect}"), answered);
    }
    if let (Some(buffer), Some(mpx)) = (smb.server_max_buffer, smb.max_mpx) {
        add(
            format!("takes messages of {buffer} bytes, {mpx} at once"),
            answered,
        );
    }
    let [_, side] = &connection.sides;
    let is_tcp = connection.transport() == Transport::Tcp;
    if let (true, Some(mss), [_, habits]) = (is_tcp, side.mss, &connection.habits) {
        let whose = tcp.map_or("TCP".to_owned(), |who| format!("TCP of {who}"));
        add(
            format!("{whose}: MSS {mss}, window up to {}", side.max_window),
            habits.syn,
        );
    }
    all
}
