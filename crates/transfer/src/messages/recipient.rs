//! Who a message is for: a machine or user with its address, or a workgroup.

use std::net::{IpAddr, Ipv4Addr};

use coax_netbios::LookupStep;
use coax_wire::nbt::{
    name::{NbName, SUFFIX_MESSENGER, SUFFIX_SERVER, SUFFIX_WORKSTATION},
    ns::{NodeStatus, QueryKind},
};

use super::{
    failure::MessageFailure,
    options::{MessageMethod, MessageOptions},
};
use crate::names::{Method, Resolver, query};

/// A recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recipient {
    /// A machine or user; the name has the suffix 03, or 00 if the machine has no messenger.
    Machine {
        name: NbName,
        addresses: Vec<IpAddr>,
    },
    /// A workgroup or domain.
    Group { name: NbName },
}

impl Recipient {
    /// Finds it; besides, what to know about how.
    pub(super) fn find(
        to: &str,
        options: &MessageOptions,
    ) -> Result<(Self, Vec<String>), MessageFailure> {
        let resolver = &options.resolver;
        if to.parse::<IpAddr>().is_ok() || to.contains('.') || to.eq_ignore_ascii_case("localhost")
        {
            return at_address(to, resolver);
        }
        let bytes = options.code_page.encode_lossy(&to.to_uppercase());
        let name = NbName::new(&bytes, SUFFIX_MESSENGER).map_err(|error| {
            let why = error.to_string();
            let name = to.into();
            MessageFailure::BadName { name, why }
        })?;
        by_name(to, name, options)
    }
}

/// A machine by its address or DNS name, which tells its names itself.
fn at_address(to: &str, resolver: &Resolver) -> Result<(Recipient, Vec<String>), MessageFailure> {
    let found = resolver.server(to);
    if found.addresses.is_empty() {
        return Err(MessageFailure::NotFound {
            name: to.into(),
            failures: found.failures,
        });
    }
    let v4 = found.addresses.iter().find_map(|address| match address {
        IpAddr::V4(address) => Some(*address),
        IpAddr::V6(_) => None,
    });
    let status = v4.and_then(|address: Ipv4Addr| resolver.status(address).ok().flatten());
    let mut notes = Vec::new();
    let name = match &status {
        Some(status) => messenger_name(status),
        None => {
            notes.push(format!(
                "{to} does not tell its names; it is called *SMBSERVER"
            ));
            NbName::SMBSERVER.with_suffix(SUFFIX_MESSENGER)
        }
    };
    let addresses = found.addresses;
    Ok((Recipient::Machine { name, addresses }, notes))
}

/// The name of a machine's messenger; without one the machine's name.
fn messenger_name(status: &NodeStatus) -> NbName {
    let unique = || status.names.iter().filter(|own| !own.flags.is_group());
    let with = |suffix| unique().find(move |own| own.name.suffix() == suffix);
    let server = with(SUFFIX_SERVER).or_else(|| with(SUFFIX_WORKSTATION));
    let computer = server.map(|own| own.name.with_suffix(SUFFIX_MESSENGER));
    let has = |name: &NbName| unique().any(|own| own.name == *name);
    let messenger = computer
        .filter(has)
        .or(with(SUFFIX_MESSENGER).map(|own| own.name));
    let plain = || server.map(|own| own.name.with_suffix(SUFFIX_WORKSTATION));
    messenger.or_else(plain).unwrap_or(NbName::SMBSERVER)
}

/// A machine or user with the name's suffix 03, else a workgroup or machine with 00.
fn by_name(
    to: &str,
    name: NbName,
    options: &MessageOptions,
) -> Result<(Recipient, Vec<String>), MessageFailure> {
    let resolver = &options.resolver;
    let netbios = resolver.order.iter().copied();
    let netbios = netbios.filter(|method| *method != Method::Host);
    let found = Resolver {
        order: netbios.collect(),
        ..resolver.clone()
    }
    .find(to, name);
    let mut notes = found.problems;
    if !found.addresses.is_empty() {
        let addresses = found.addresses;
        return Ok((Recipient::Machine { name, addresses }, notes));
    }
    let plain = name.with_suffix(SUFFIX_WORKSTATION);
    match owner(resolver, plain) {
        Some(None) => Ok((Recipient::Group { name: plain }, notes)),
        Some(Some(address)) => {
            let addresses = vec![address.into()];
            Ok((
                Recipient::Machine {
                    name: plain,
                    addresses,
                },
                notes,
            ))
        }
        None => {
            let (recipient, more) = by_system(to, found.failures, options)?;
            notes.extend(more);
            Ok((recipient, notes))
        }
    }
}

/// The last resort: the hosts file and DNS.
fn by_system(
    to: &str,
    failures: Vec<String>,
    options: &MessageOptions,
) -> Result<(Recipient, Vec<String>), MessageFailure> {
    let not_found = |failures| MessageFailure::NotFound {
        name: to.into(),
        failures,
    };
    let forced = options.method == Some(MessageMethod::Mailslot);
    if !options.resolver.order.contains(&Method::Host) || forced {
        return Err(not_found(failures));
    }
    let system = Resolver {
        order: vec![Method::Host],
        ..options.resolver.clone()
    };
    at_address(to, &system).map_err(|failure| match failure {
        MessageFailure::NotFound { failures: more, .. } => {
            not_found(failures.into_iter().chain(more).collect())
        }
        other => other,
    })
}

/// Who has a name with the suffix 00: `Some(None)` for a group, or the machine's address.
fn owner(resolver: &Resolver, name: NbName) -> Option<Option<Ipv4Addr>> {
    for method in &resolver.order {
        let steps: Vec<LookupStep> = match method {
            Method::Wins => resolver.wins.iter().map(|a| LookupStep::Wins(*a)).collect(),
            Method::Bcast => vec![LookupStep::Broadcast],
            Method::Lmhosts | Method::Host => continue,
        };
        if steps.is_empty() {
            continue;
        }
        let config = resolver.lookup(name, QueryKind::Addresses, steps);
        let Ok(lookup) = query(config, &resolver.broadcasts) else {
            continue;
        };
        let mut owners = lookup.answers().iter().flat_map(|answer| &answer.owners);
        if let Some(first) = owners.next() {
            let group = first.flags.is_group() || first.address.is_broadcast();
            return Some((!group).then_some(first.address));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use coax_wire::nbt::ns::{NameFlags, NodeName, Statistics};

    fn status(names: &[(&str, u16)]) -> NodeStatus {
        let own = |(name, flags): &(&str, u16)| NodeName {
            name: name.parse().unwrap(),
            flags: NameFlags(*flags),
        };
        NodeStatus {
            id: 0,
            name: NbName::ANY.into(),
            names: names.iter().map(own).collect(),
            statistics: Statistics::of_unit([0; 6]),
        }
    }

    #[test]
    fn the_computer_s_messenger_comes_before_its_user_s() {
        let named = |names: &[(&str, u16)]| messenger_name(&status(names)).to_string();
        let (unique, group) = (0x0400, 0x8400);
        let win98 = [
            ("WIN98<00>", unique),
            ("LAB<00>", group),
            ("ANNA<03>", unique),
            ("WIN98<03>", unique),
        ];
        assert_eq!(named(&win98), "WIN98<03>");
        assert_eq!(
            named(&[("DOS<00>", unique), ("ANNA<03>", unique)]),
            "ANNA<03>"
        );
        assert_eq!(named(&[("LAB<00>", group), ("DOS<00>", unique)]), "DOS<00>");
    }
}
