//! Names in the network.

use std::net::Ipv4Addr;

use super::listed::listed;
use crate::{
    facts::Facts,
    finding::{Check, Finding, Severity},
};

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    let names = &facts.names;
    let global = &facts.config.settings.global;
    let (server, workgroup) = (&global.netbios_name, &global.workgroup);
    let found = |severity, what: String| Finding::new(severity, Check::Names, what);
    if let Some(why) = &names.unasked {
        all.push(
            found(
                Severity::Note,
                "the network was not asked for name conflicts".into(),
            )
            .why(why.as_str()),
        );
        return;
    }
    let others = |owners: &[Ipv4Addr]| -> Vec<Ipv4Addr> {
        owners
            .iter()
            .copied()
            .filter(|a| !is_own(facts, *a))
            .collect()
    };
    let rivals = others(&names.server);
    if rivals.is_empty() {
        let what = match names.server.is_empty() {
            true => format!("no machine has the name {server}"),
            false => format!("this machine has the name {server}"),
        };
        all.push(found(Severity::Ok, what));
    } else {
        all.push(
            found(
                Severity::Error,
                format!("another machine has the name {server}"),
            )
            .at(listed(&rivals))
            .why("clients reach whichever answers first, and coax cannot register the name")
            .fix("[global] netbios name = ANOTHER-NAME, or rename the other machine"),
        );
    }
    let machines = others(&names.workgroup);
    if !machines.is_empty() {
        all.push(
            found(
                Severity::Error,
                format!("a machine has the workgroup's name {workgroup} as its own"),
            )
            .at(listed(&machines))
            .why("a name is either a machine's or a group's: the workgroup cannot be registered")
            .fix("[global] workgroup = ANOTHER-NAME, or rename the other machine"),
        );
    }
    master(facts, all);
}

fn is_own(facts: &Facts, address: Ipv4Addr) -> bool {
    let addresses = facts.interfaces.iter().flat_map(|i| &i.addresses);
    address.is_loopback()
        || addresses
            .map(|a| a.network.address)
            .any(|own| own == address)
}

fn master(facts: &Facts, all: &mut Vec<Finding>) {
    let names = &facts.names;
    let global = &facts.config.settings.global;
    let group = &global.workgroup;
    let found = |severity, what: String| Finding::new(severity, Check::Names, what);
    let masters = &names.masters;
    match masters.as_slice() {
        [] if !global.netbios.local_master => all.push(
            found(Severity::Warning, format!("the workgroup {group} has no master browser"))
                .why("NET VIEW and the Network Neighborhood stay empty; 'local master = no' keeps coax from becoming one")
                .fix("[global] local master = yes"),
        ),
        [] => all.push(found(
            Severity::Ok,
            format!("the workgroup {group} has no master browser; coax becomes it within 10 s of its start"),
        )),
        [one] if is_own(facts, *one) => all.push(found(
            Severity::Ok,
            format!("this machine is the master browser of {group}"),
        )),
        [one] => all.push(
            found(Severity::Ok, format!("the master browser of {group} is {one}"))
                .at(format!("{group}<1d>")),
        ),
        several => all.push(
            found(Severity::Warning, format!("the workgroup {group} has several master browsers in one network"))
                .at(listed(several))
                .why("their lists differ; a mask, a broadcast address or a firewall keeps them apart")
                .fix("compare masks and broadcast addresses of these machines"),
        ),
    }
}
