//! The targets: a function of bytes that must neither panic nor break what it asserts, and seeds to start from.

mod browsed;
mod calls;
mod decode;
mod decoders;
mod ethernet;
mod explain;
mod fault;
mod frames;
mod ipx;
mod logon;
mod names;
mod netbios;
mod replay;
mod seeds;
mod session;

use crate::{engine::script, redirector};

/// One target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, as `scripts/fuzz` takes it.
    pub name: &'static str,
    /// Runs one input.
    pub feed: fn(&[u8]),
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

const fn target(name: &'static str, feed: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, feed, seeds }
}

/// Every target.
pub const TARGETS: &[Target] = &[
    target("connection", script::play, seeds::scripts),
    target("messages", decoders::messages, seeds::conversations),
    target(
        "client",
        redirector::story::play,
        redirector::seeds::stories,
    ),
    target(
        "client_conversation",
        redirector::conversation::play,
        redirector::seeds::conversations,
    ),
    target("message", decoders::message, seeds::smb_messages),
    target("blocks", decoders::blocks, seeds::smb_blocks),
    target("levels", decoders::levels, seeds::levels),
    target("rap", calls::rap, seeds::rap),
    target("rpc", calls::rpc, seeds::rpc),
    target("security", calls::security, seeds::security),
    target("nbt_names", decoders::nbt_name, seeds::nbt_names),
    target(
        "nbt_datagrams",
        decoders::nbt_datagram,
        seeds::nbt_datagrams,
    ),
    target("nbt_sessions", session::nbt_session, seeds::streams),
    target("name_service", session::name_service, seeds::nbt_datagrams),
    target("wins_server", netbios::wins_server, seeds::nbt_datagrams),
    target("lookups", netbios::lookups, seeds::nbt_datagrams),
    target("lmhosts", netbios::lmhosts, seeds::lmhosts),
    target("netbeui_frames", ethernet::frame, ethernet::frames),
    target(
        "netbeui_station",
        ethernet::station,
        ethernet::conversations,
    ),
    target("ipx_frames", ipx::frame, ipx::frames),
    target("ipx_station", ipx::station, ipx::conversations),
    target("datagrams", netbios::datagrams, seeds::datagrams),
    target("mailslots", netbios::mailslots, seeds::mailslots),
    target("browser", netbios::browser, seeds::browser),
    target(
        "browser_stations",
        browsed::stations,
        browsed::conversations,
    ),
    target("ntlmssp", logon::ntlmssp, seeds::ntlmssp),
    target("spnego", logon::spnego, seeds::spnego),
    target("log_on", logon::log_on, seeds::spnego),
    target("responses", logon::responses, seeds::noise),
    target("smbpasswd", logon::smbpasswd, seeds::smbpasswd),
    target("smb_conf", names::smb_conf, seeds::smb_conf),
    target("dosattrib", names::dosattrib, seeds::dosattrib),
    target("code_pages", names::code_pages, seeds::texts),
    target("wildcards", names::wildcards, seeds::patterns),
    target("paths", names::paths, seeds::patterns),
    target("short_names", names::short_names, seeds::texts),
    target("times", names::times, seeds::noise),
    target("explain", explain::capture, explain::captures),
    target("explain_frames", frames::explained, frames::choices),
    target("decode", decode::message, seeds::smb_messages),
    target("decode_frames", decode::frame, decode::frames),
    target("decode_capture", decode::capture, explain::captures),
    target("fault", fault::fault, fault::faults),
    target("replay", replay::replay, explain::captures),
];

/// The target of this name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Runs `data` through the target of this name: what the wrappers in `fuzz/` call.
///
/// # Panics
/// If there is no such target, or if it finds something.
pub fn feed(name: &str, data: &[u8]) {
    let target = by_name(name).unwrap_or_else(|| panic!("no target {name}"));
    (target.feed)(data);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_name_of_its_own_and_digests_its_seeds() {
        for (i, target) in TARGETS.iter().enumerate() {
            assert!(TARGETS[..i].iter().all(|other| other.name != target.name));
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty(), "target {} has no seeds", target.name);
            seeds.iter().for_each(|seed| (target.feed)(seed));
        }
    }

    #[test]
    fn every_target_has_its_wrapper_for_libfuzzer() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");
        let manifest = std::fs::read_to_string(format!("{folder}/Cargo.toml")).unwrap();
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
        for target in TARGETS {
            let wrapper =
                std::fs::read_to_string(format!("{folder}/fuzz_targets/{}.rs", target.name))
                    .unwrap();
            assert!(wrapper.contains(&format!("\"{}\"", target.name)));
        }
    }
}
