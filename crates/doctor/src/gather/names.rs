//! Asks the network for our names.

use std::{net::Ipv4Addr, thread};

use coax_netbios::{Lookup, LookupStep};
use coax_smbconf::settings::Settings;
use coax_transfer::names::{Resolver, networks, query};
use coax_wire::nbt::{
    name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION},
    ns::QueryKind,
};

use crate::facts::Names;

/// Suffix of a local master browser.
const SUFFIX_MASTER: u8 = 0x1d;

pub(super) fn names(settings: &Settings, resolver: &Resolver) -> Names {
    let global = &settings.global;
    if global.disable_netbios || networks().is_empty() && resolver.broadcasts.is_empty() {
        let why = match global.disable_netbios {
            true => "'disable netbios = yes' switches names off",
            false => "this machine has no network with a broadcast address",
        };
        return Names {
            unasked: Some(why.into()),
            ..Names::default()
        };
    }
    let asked = thread::scope(|scope| {
        let ask = |name: &str, suffix| {
            let name = NbName::new(name.as_bytes(), suffix).ok();
            scope.spawn(move || name.map(|name| ask(resolver, name)))
        };
        let threads = [
            ask(&global.netbios_name, SUFFIX_SERVER),
            ask(&global.netbios_name, SUFFIX_WORKSTATION),
            ask(&global.workgroup, SUFFIX_WORKSTATION),
            ask(&global.workgroup, SUFFIX_MASTER),
        ];
        threads.map(|thread| thread.join().ok().flatten())
    });
    let mut names = Names::default();
    for (at, asked) in asked.into_iter().enumerate() {
        match (asked, at) {
            (Some(Err(why)), _) => names.unasked = Some(why),
            (Some(Ok(lookup)), 0 | 1) => names.server.extend(owners(&lookup, false)),
            (Some(Ok(lookup)), 2) => {
                names.workgroup = owners(&lookup, false);
                names.members = owners(&lookup, true);
            }
            (Some(Ok(lookup)), _) => names.masters = owners(&lookup, false),
            (None, _) => {}
        }
    }
    names.server.sort_unstable();
    names.server.dedup();
    names
}

fn ask(resolver: &Resolver, name: NbName) -> Result<Lookup, String> {
    let steps = vec![LookupStep::Broadcast];
    let config = resolver.lookup(name, QueryKind::Addresses, steps);
    query(config, &resolver.broadcasts).map_err(|error| error.to_string())
}

/// Those who have the name as a group's, or as their own.
fn owners(lookup: &Lookup, group: bool) -> Vec<Ipv4Addr> {
    let mut all = Vec::new();
    for answer in lookup.answers() {
        let owners = answer
            .owners
            .iter()
            .filter(|owner| owner.flags.is_group() == group);
        // of several addresses of one machine, that of the sender reaches it
        if owners.count() > 0 && !all.contains(&answer.from) {
            all.push(answer.from);
        }
    }
    all
}

/// The local master browsers of a workgroup.
pub(super) fn masters(resolver: &Resolver, workgroup: &str) -> Vec<Ipv4Addr> {
    let name = NbName::new(workgroup.as_bytes(), SUFFIX_MASTER).ok();
    let lookup = name.and_then(|name| ask(resolver, name).ok());
    lookup
        .map(|lookup| owners(&lookup, false))
        .unwrap_or_default()
}
