//! `coax lookup`: which address a NetBIOS name has, and which names a machine has.

use std::{net::Ipv4Addr, process::ExitCode};

use clap::Args;
use serde_json::{Value, json};

use super::{
    name_options::NameOptions,
    output::{WrongUsage, print},
};
use coax_netbios::{LookupAnswer, LookupStep};
use coax_transfer::names::{Method, Resolver, query};
use coax_wire::nbt::{
    name::{NbName, SUFFIX_SERVER},
    ns::{AddrEntry, NameFlags, NodeName, NodeStatus, QueryKind},
};

/// `coax lookup`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "NAME is a computer; NAME<1d> or NAME#1d asks for another suffix: 00 workstation, 03 messenger, 1b domain \
    master browser, 1c domain controllers, 1d local master browser, 1e browser elections, 20 file server (the default). \
    For an address, coax asks that machine for its names."
)]
pub struct LookupArgs {
    /// A NetBIOS name, or the IPv4 address of a machine
    pub name: String,
    /// Ask each machine found for all its names
    #[arg(long)]
    pub status: bool,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub names: NameOptions,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What was found.
#[derive(Debug, Default)]
struct Report {
    name: Option<NbName>,
    answers: Vec<Answer>,
    nodes: Vec<(Ipv4Addr, Option<NodeStatus>)>,
    problems: Vec<String>,
    failures: Vec<String>,
}

/// One source's answer.
#[derive(Debug)]
struct Answer {
    from: String,
    owners: Vec<(Ipv4Addr, Option<NameFlags>)>,
}

/// Does what the command line says.
///
/// # Errors
/// It is no NetBIOS name.
pub fn main(args: &LookupArgs) -> Result<ExitCode, WrongUsage> {
    let resolver = args.names.resolver();
    let mut report = Report::default();
    if let Ok(address) = args.name.parse::<Ipv4Addr>() {
        report.ask_status(&resolver, address);
    } else {
        match name(&args.name) {
            Ok(name) => report.find(&resolver, name, &args.name),
            Err(why) => {
                let message = format!("'{}' is not a NetBIOS name: {why}", args.name);
                return Err(WrongUsage::new("lookup", message)
                    .at(&args.name)
                    .help("write NAME, NAME<1d> or NAME#1d"));
            }
        }
        if args.status {
            for address in report.addresses() {
                report.ask_status(&resolver, address);
            }
        }
    }
    Ok(finish(args, &report))
}

fn finish(args: &LookupArgs, report: &Report) -> ExitCode {
    for problem in &report.problems {
        eprintln!("warning: {problem}");
    }
    let text = match args.json {
        true => format!("{}\n", report.json()),
        false => report.text(),
    };
    let printed = print(&text);
    if report.is_found() {
        return printed;
    }
    if report.name.is_none() {
        eprintln!(
            "error: {} does not tell its names: no answer on UDP 137",
            args.name
        );
        eprintln!(
            "  = help: the machine is off, has no NetBIOS over TCP/IP, or a firewall drops UDP 137"
        );
    } else {
        eprintln!(
            "error: {} is not found: {}",
            args.name,
            report.failures.join("; ")
        );
        eprintln!(
            "  = help: name a WINS server with --wins, or add the name to an LMHOSTS file (--lmhosts)"
        );
    }
    ExitCode::FAILURE
}

/// `NAME`, `NAME<1d>` or `NAME#1d`.
fn name(text: &str) -> Result<NbName, String> {
    if text.contains('<') {
        return text.parse().map_err(|error| format!("{error}"));
    }
    let (characters, suffix) = match text.rsplit_once('#') {
        Some((characters, hex)) if hex.len() == 2 => {
            let suffix = u8::from_str_radix(hex, 16);
            (
                characters,
                suffix.map_err(|_| format!("{hex} is not a suffix"))?,
            )
        }
        _ => (text, SUFFIX_SERVER),
    };
    if characters.eq_ignore_ascii_case("__MSBROWSE__") {
        return Ok(NbName(*b"\x01\x02__MSBROWSE__\x02\x01"));
    }
    NbName::new(characters.as_bytes(), suffix).map_err(|error| error.to_string())
}

impl Report {
    fn is_found(&self) -> bool {
        match self.name {
            Some(_) => !self.answers.is_empty(),
            None => self.nodes.iter().any(|(_, status)| status.is_some()),
        }
    }

    fn addresses(&self) -> Vec<Ipv4Addr> {
        let mut found = Vec::new();
        for (address, _) in self.answers.iter().flat_map(|answer| &answer.owners) {
            if !found.contains(address) && !address.is_broadcast() {
                found.push(*address);
            }
        }
        found
    }

    fn find(&mut self, resolver: &Resolver, name: NbName, text: &str) {
        self.name = Some(name);
        for method in &resolver.order {
            match method {
                Method::Lmhosts => self.look_into_lmhosts(resolver, &name),
                Method::Host => self.ask_system(resolver, name, text),
                Method::Wins | Method::Bcast => self.ask_network(resolver, name, *method),
            }
            if !self.answers.is_empty() {
                return;
            }
        }
    }

    fn look_into_lmhosts(&mut self, resolver: &Resolver, name: &NbName) {
        let Some(lmhosts) = resolver.lmhosts() else {
            return;
        };
        let problems = lmhosts.problems().iter();
        self.problems.extend(problems.map(ToString::to_string));
        let addresses = lmhosts.addresses(name, false);
        if addresses.is_empty() {
            return self.failures.push("not in LMHOSTS".into());
        }
        self.answers.push(Answer {
            from: "LMHOSTS".into(),
            owners: addresses.into_iter().map(|a| (a, None)).collect(),
        });
    }

    fn ask_system(&mut self, resolver: &Resolver, name: NbName, text: &str) {
        if name.suffix() != SUFFIX_SERVER {
            return;
        }
        let only = Resolver {
            order: vec![Method::Host],
            ..resolver.clone()
        };
        let found = only.find(text, name);
        let owners = found.addresses.iter().filter_map(|address| match address {
            std::net::IpAddr::V4(address) => Some((*address, None)),
            std::net::IpAddr::V6(_) => None,
        });
        let owners: Vec<_> = owners.collect();
        self.failures.extend(found.failures);
        if !owners.is_empty() {
            let from = "hosts file or DNS".into();
            self.answers.push(Answer { from, owners });
        }
    }

    fn ask_network(&mut self, resolver: &Resolver, name: NbName, method: Method) {
        let steps: Vec<LookupStep> = match method {
            Method::Wins => resolver.wins.iter().map(|a| LookupStep::Wins(*a)).collect(),
            _ => vec![LookupStep::Broadcast],
        };
        if steps.is_empty() {
            return;
        }
        let config = resolver.lookup(name, QueryKind::Addresses, steps);
        match query(config, &resolver.broadcasts) {
            Ok(lookup) if lookup.answers().is_empty() => {
                self.failures.push(match (lookup.denied_by(), method) {
                    (Some(server), _) => format!("the WINS server {server} does not know it"),
                    (None, Method::Wins) => "no WINS server answered".into(),
                    (None, _) => "no machine answered a broadcast".into(),
                });
            }
            Ok(lookup) => self.answers.extend(lookup.answers().iter().map(answer)),
            Err(error) => self.failures.push(format!("{method}: {error}")),
        }
    }

    fn ask_status(&mut self, resolver: &Resolver, address: Ipv4Addr) {
        let status = resolver.status(address);
        if let Err(error) = &status {
            self.problems.push(format!("{address}: {error}"));
        }
        self.nodes.push((address, status.ok().flatten()));
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for answer in &self.answers {
            for (address, flags) in &answer.owners {
                let name = self.name.map(|name| name.to_string()).unwrap_or_default();
                let kind = flags.map(|flags| format!("  {}", describe(flags)));
                let kind = kind.unwrap_or_default();
                text.push_str(&format!("{address:<15}  {name}{kind}  ({})\n", answer.from));
            }
        }
        for (address, status) in &self.nodes {
            match status {
                None => text.push_str(&format!("{address}: no node status\n")),
                Some(status) => text.push_str(&status_text(*address, status)),
            }
        }
        text
    }

    fn json(&self) -> Value {
        let answers = self.answers.iter().map(|answer| {
            let owners = answer.owners.iter().map(|(address, flags)| {
                json!({
                    "address": address.to_string(),
                    "group": flags.map(NameFlags::is_group),
                    "node": flags.map(node_letter),
                })
            });
            json!({"from": answer.from, "owners": owners.collect::<Vec<_>>()})
        });
        let nodes = self.nodes.iter().map(|(address, status)| {
            let names = status.iter().flat_map(|status| &status.names);
            json!({
                "address": address.to_string(),
                "answered": status.is_some(),
                "mac": status.as_ref().map(|s| mac(s.statistics.unit_id())),
                "names": names.map(own_json).collect::<Vec<_>>(),
            })
        });
        let addresses = self.addresses();
        json!({
            "ok": self.is_found(),
            "name": self.name.map(|name| characters(&name)),
            "suffix": self.name.map(|name| format!("{:02x}", name.suffix())),
            "addresses": addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "answers": answers.collect::<Vec<_>>(),
            "nodes": nodes.collect::<Vec<_>>(),
            "failures": self.failures,
        })
    }
}

fn answer(answer: &LookupAnswer) -> Answer {
    let from = match answer.step {
        LookupStep::Wins(server) => format!("WINS server {server}"),
        LookupStep::Broadcast => format!("{} answered the broadcast", answer.from),
        LookupStep::Station(station) => station.to_string(),
    };
    let owners = answer.owners.iter();
    Answer {
        from,
        owners: owners
            .map(|AddrEntry { flags, address }| (*address, Some(*flags)))
            .collect(),
    }
}

fn describe(flags: NameFlags) -> String {
    let kind = if flags.is_group() { "group" } else { "unique" };
    format!("{kind}, {} node", node_letter(flags))
}

fn node_letter(flags: NameFlags) -> char {
    let bits = (NameFlags::POINT_TO_POINT, NameFlags::MIXED);
    match (flags.0 & bits.0 != 0, flags.0 & bits.1 != 0) {
        (false, false) => 'B',
        (true, false) => 'P',
        (false, true) => 'M',
        (true, true) => 'H',
    }
}

fn status_text(address: Ipv4Addr, status: &NodeStatus) -> String {
    let mut text = format!("{address}\n");
    for own in &status.names {
        let flags = own.flags;
        let kind = if flags.is_group() { "group" } else { "unique" };
        let mut states = Vec::new();
        for (bit, state) in STATES {
            if flags.0 & bit != 0 {
                states.push(*state);
            }
        }
        let name = format!("{}<{:02x}>", characters(&own.name), own.name.suffix());
        let service = service(own).unwrap_or_default();
        let states = states.join(", ");
        text.push_str(&format!("  {name:<20} {kind:<6} {states:<10} {service}"));
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text.push_str(&format!(
        "  MAC address {}\n",
        mac(status.statistics.unit_id())
    ));
    text
}

/// States of a name, as NAME_FLAGS have them (RFC 1002 section 4.2.18).
const STATES: &[(u16, &str)] = &[
    (NameFlags::ACTIVE, "active"),
    (NameFlags::CONFLICT, "conflict"),
    (NameFlags::DEREGISTERING, "being released"),
    (NameFlags::PERMANENT, "permanent"),
];

fn own_json(own: &NodeName) -> Value {
    json!({
        "name": characters(&own.name),
        "suffix": format!("{:02x}", own.name.suffix()),
        "service": service(own),
        "group": own.flags.is_group(),
        "node": node_letter(own.flags),
        "active": own.flags.0 & NameFlags::ACTIVE != 0,
        "conflict": own.flags.0 & NameFlags::CONFLICT != 0,
    })
}

/// What a suffix stands for (KB Q163409).
fn service(own: &NodeName) -> Option<&'static str> {
    if own.name.characters().starts_with(b"\x01\x02__MSBROWSE__") {
        return Some("master browser");
    }
    Some(match (own.name.suffix(), own.flags.is_group()) {
        (0x00, false) => "workstation",
        (0x00, true) => "workgroup or domain",
        (0x01, false) => "messenger (computer)",
        (0x03, _) => "messenger",
        (0x06, _) => "remote access server",
        (0x1b, _) => "domain master browser",
        (0x1c, _) => "domain controllers",
        (0x1d, _) => "local master browser",
        (0x1e, _) => "browser elections",
        (0x1f, _) => "NetDDE",
        (0x20, _) => "file server",
        (0x21, _) => "remote access client",
        _ => return None,
    })
}

/// A name's characters; bytes that are not printable ASCII appear as `\xNN`.
fn characters(name: &NbName) -> String {
    name.characters().escape_ascii().to_string()
}

fn mac(unit_id: [u8; 6]) -> String {
    unit_id.map(|byte| format!("{byte:02x}")).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_suffix_of_a_file_server_unless_another_is_given() {
        let suffix = |text| name(text).map(|name| (characters(&name), name.suffix()));
        assert_eq!(suffix("tower"), Ok(("TOWER".into(), 0x20)));
        assert_eq!(suffix("lab#1d"), Ok(("LAB".into(), 0x1d)));
        assert_eq!(suffix("lab<1B>"), Ok(("LAB".into(), 0x1b)));
        assert_eq!(suffix("__msbrowse__").map(|(_, suffix)| suffix), Ok(0x01));
        assert!(suffix("sixteencharacters").is_err());
        assert!(suffix("lab#zz").is_err());
    }

    #[test]
    fn a_node_status_is_shown_with_the_meaning_of_each_name() {
        let own = |name: &str, flags| NodeName {
            name: name.parse().unwrap_or(NbName::ANY),
            flags: NameFlags(flags),
        };
        let status = NodeStatus {
            id: 0,
            name: NbName::ANY.into(),
            names: vec![own("TOWER<20>", 0x6400), own("LAB<00>", 0x8c00)],
            statistics: coax_wire::nbt::ns::Statistics::of_unit([0, 1, 2, 3, 4, 255]),
        };
        let shown = status_text([10, 0, 0, 1].into(), &status);
        assert_eq!(
            shown,
            "10.0.0.1\n  TOWER<20>            unique active     file server\n  \
             LAB<00>              group  active, conflict workgroup or domain\n  MAC address 00-01-02-03-04-ff\n"
        );
    }
}
