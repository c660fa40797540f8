//! `coax browse`: the workgroups of the network, their master browsers, servers and shares, as a tree.

use std::{net::Ipv4Addr, process::ExitCode, sync::Arc};

use clap::Args;
use serde_json::{Value, json};

use super::{
    name_options::NameOptions,
    output::{WrongUsage, print},
};
use coax_catalog::clients;
use coax_client::{ListedServer, profile::Profile};
use coax_netbios::{LookupStep, MSBROWSE};
use coax_smbconf::settings::IpxInterface;
use coax_transfer::{
    client::{Connection, Error, Location, Options, Via, browsers, open, ops::ShareEntry},
    names::{Resolver, query},
};
use coax_wire::{
    browser::server_type,
    nbt::{name::NbName, ns::QueryKind},
};

/// Suffix of a local master browser.
const SUFFIX_MASTER: u8 = 0x1d;
/// What to do if there is no master browser.
const NO_MASTER: &str =
    "'coax serve' becomes a master browser within 10 s; or ask a server with 'coax shares'";
/// The workgroup that is browsed without TCP/IP if none is named, as it is the default of `workgroup`.
const DEFAULT_WORKGROUP: &[u8; 16] = b"WORKGROUP      \x1d";
/// The most servers that are asked for their shares.
const MAX_ASKED: usize = 500;

/// `coax browse`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "coax asks the master browsers of the network for their lists, as NET VIEW and the Network Neighborhood do, \
    and then each server for its shares. Over NetBEUI and IPX it asks the master browser of one workgroup, and those that this one \
    knows."
)]
pub struct BrowseArgs {
    /// Show this workgroup only
    pub workgroup: Option<String>,
    /// Do not ask the servers for their shares
    #[arg(long)]
    pub no_shares: bool,
    /// Browse NetBEUI on this Ethernet interface instead of TCP/IP: the workgroup's list [default: that of WORKGROUP]; needs
    /// CAP_NET_RAW
    #[arg(long, value_name = "INTERFACE", conflicts_with = "ipx")]
    pub netbeui: Option<String>,
    /// The same over IPX
    #[arg(long, value_name = "INTERFACE[:FRAME[:NETWORK]]")]
    pub ipx: Option<IpxInterface>,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub names: NameOptions,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// A workgroup.
#[derive(Debug)]
struct Workgroup {
    name: String,
    master: String,
    servers: Result<Vec<Server>, String>,
}

/// A server of a workgroup.
#[derive(Debug)]
struct Server {
    listed: ListedServer,
    shares: Option<Result<Vec<ShareEntry>, String>>,
}

/// Does what the command line says.
///
/// # Errors
/// The workgroup is no NetBIOS name.
pub fn main(args: &BrowseArgs) -> Result<ExitCode, WrongUsage> {
    let wanted = args.workgroup.as_deref();
    let name = match wanted.map(|group| NbName::new(group.as_bytes(), SUFFIX_MASTER)) {
        None => MSBROWSE,
        Some(Ok(name)) => name,
        Some(Err(error)) => {
            let word = wanted.unwrap_or_default();
            let message = format!("'{word}' is not a workgroup: {error}");
            return Err(WrongUsage::new("browse", message)
                .at(word)
                .help("write a NetBIOS name of 1 to 15 characters"));
        }
    };
    Ok(browse(args, name, wanted))
}

/// The network that `--netbeui` or `--ipx` names.
fn via(args: &BrowseArgs) -> Via {
    match (&args.netbeui, &args.ipx) {
        (Some(interface), _) => Via::Netbeui {
            interface: Some(interface.clone()),
        },
        (_, Some(ipx)) => Via::Ipx {
            interface: Some(ipx.interface.clone()),
            frame: ipx.frame,
            network: ipx.network,
            carriage: None,
        },
        _ => Via::Tcp,
    }
}

fn browse(args: &BrowseArgs, name: NbName, wanted: Option<&str>) -> ExitCode {
    let resolver = args.names.resolver();
    let Some(profile) = clients::by_name(clients::DEFAULT) else {
        eprintln!("error: there is no client profile");
        return ExitCode::FAILURE;
    };
    let browsing = Browsing {
        resolver: &resolver,
        via: via(args),
        profile,
        shares: !args.no_shares,
    };
    match browsing.run(name, wanted) {
        Ok(groups) if args.json => print(&format!("{}\n", json_of(&groups))),
        Ok(groups) => print(&tree(&groups)),
        Err(why) => {
            eprintln!("error: {why}");
            if browsing.via == Via::Tcp {
                eprintln!("  = help: {NO_MASTER}");
            }
            ExitCode::FAILURE
        }
    }
}

struct Browsing<'a> {
    resolver: &'a Resolver,
    via: Via,
    profile: Arc<Profile>,
    shares: bool,
}

impl Browsing<'_> {
    fn run(&self, name: NbName, wanted: Option<&str>) -> Result<Vec<Workgroup>, String> {
        let masters = self.masters(name)?;
        let mut groups: Vec<Workgroup> = Vec::new();
        let mut refused = Vec::new();
        for master in masters {
            // The browsers of one workgroup have the same list.
            if self.via != Via::Tcp && !groups.is_empty() {
                break;
            }
            match self.workgroups(&master) {
                Ok(found) => {
                    for group in found {
                        let named = wanted.is_none_or(|w| w.eq_ignore_ascii_case(&group.name));
                        if named && !groups.iter().any(|known| known.name == group.name) {
                            groups.push(self.workgroup(&master, group));
                        }
                    }
                }
                Err(error) => refused.push(format!("{master}: {error}")),
            }
        }
        if groups.is_empty() {
            return Err(match refused.is_empty() {
                true => "no workgroup is listed".into(),
                false => refused.join("; "),
            });
        }
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(groups)
    }

    /// The addresses of all master browsers, or of that of one workgroup. Without TCP/IP: the names of one workgroup's.
    fn masters(&self, name: NbName) -> Result<Vec<String>, String> {
        if self.via != Via::Tcp {
            let group = match name {
                MSBROWSE => NbName(*DEFAULT_WORKGROUP),
                name => name,
            };
            let found = browsers(&self.via, group).map_err(|error| error.to_string())?;
            let text = group.to_string();
            let group = text.split('<').next().unwrap_or_default();
            return match found.is_empty() {
                true => Err(format!(
                    "no master browser of {group} answered\n  = help: name the workgroup, as in 'coax browse LAB'; {NO_MASTER}"
                )),
                false => Ok(found),
            };
        }
        let steps = vec![LookupStep::Broadcast];
        let config = self.resolver.lookup(name, QueryKind::Addresses, steps);
        let lookup = query(config, &self.resolver.broadcasts).map_err(|error| error.to_string())?;
        // Each answers for itself; some list all addresses of their machine, of which the sender's reaches it.
        let mut masters: Vec<Ipv4Addr> = lookup.answers().iter().map(|a| a.from).collect();
        masters.sort_unstable();
        masters.dedup();
        match masters.is_empty() {
            true => Err("no machine answered the broadcast for a master browser".into()),
            false => Ok(masters.iter().map(ToString::to_string).collect()),
        }
    }

    /// The workgroups that a master browser knows.
    fn workgroups(&self, master: &str) -> Result<Vec<ListedServer>, Error> {
        let mut connection = self.connect(master)?;
        connection.servers(server_type::DOMAIN_ENUM, None)
    }

    /// The servers of a workgroup, from its own master browser if that is found, else from `known`, which named it.
    fn workgroup(&self, known: &str, group: ListedServer) -> Workgroup {
        let own = NbName::new(group.name.as_bytes(), SUFFIX_MASTER).ok();
        let own = own.and_then(|name| self.masters(name).ok()?.into_iter().next());
        let host = own.unwrap_or_else(|| known.into());
        let listed = self
            .connect(&host)
            .and_then(|mut connection| connection.servers(server_type::ALL, Some(&group.name)));
        let servers = listed.map_err(|error| error.to_string()).map(|mut listed| {
            listed.sort_by(|a, b| a.name.cmp(&b.name));
            let with_shares = |(at, listed): (usize, ListedServer)| Server {
                shares: (self.shares && at < MAX_ASKED).then(|| self.shares_of(&listed.name)),
                listed,
            };
            listed.into_iter().enumerate().map(with_shares).collect()
        });
        Workgroup {
            name: group.name,
            master: group.comment,
            servers,
        }
    }

    fn shares_of(&self, server: &str) -> Result<Vec<ShareEntry>, String> {
        let shares = self.connect(server).and_then(|mut c| c.shares());
        let mut shares = shares.map_err(|error| error.to_string())?;
        shares.retain(|share| !share.name.ends_with('$'));
        Ok(shares)
    }

    fn connect(&self, host: &str) -> Result<Connection, Error> {
        let location = Location {
            host: host.into(),
            via: self.via.clone(),
            share: "IPC$".into(),
            ..Location::default()
        };
        let options = Options {
            resolver: self.resolver.clone(),
            service: "IPC",
            ..Options::default()
        };
        open(&location, &self.profile, &options)
    }
}

fn tree(groups: &[Workgroup]) -> String {
    let mut text = String::new();
    for group in groups {
        text.push_str(&format!(
            "{} (master browser {})\n",
            group.name, group.master
        ));
        match &group.servers {
            Err(why) => text.push_str(&format!("    {why}\n")),
            Ok(servers) => servers
                .iter()
                .for_each(|server| server_lines(server, &mut text)),
        }
    }
    text
}

fn server_lines(server: &Server, text: &mut String) {
    let listed = &server.listed;
    let line = format!("    \\\\{:<16} {}", listed.name, listed.comment);
    text.push_str(line.trim_end());
    text.push('\n');
    match &server.shares {
        None => {}
        Some(Err(why)) => text.push_str(&format!("        {why}\n")),
        Some(Ok(shares)) => {
            for share in shares {
                let line = format!("        {:<14} {}", share.name, share.comment);
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
    }
}

fn json_of(groups: &[Workgroup]) -> Value {
    let share = |share: &ShareEntry| json!({"name": share.name, "kind": share.kind & 0xffff, "comment": share.comment});
    let server = |server: &Server| {
        let (major, minor) = server.listed.version;
        let shares = server.shares.as_ref();
        json!({
            "name": server.listed.name,
            "version": format!("{}.{minor}", major & 15),
            "type": server.listed.kind,
            "comment": server.listed.comment,
            "shares": shares.and_then(|s| s.as_ref().ok()).map(|s| s.iter().map(share).collect::<Vec<_>>()),
            "error": shares.and_then(|s| s.as_ref().err()),
        })
    };
    let group = |group: &Workgroup| {
        let servers = group.servers.as_ref();
        json!({
            "name": group.name,
            "master": group.master,
            "servers": servers.ok().map(|s| s.iter().map(server).collect::<Vec<_>>()),
            "error": servers.err(),
        })
    };
    json!({"ok": true, "workgroups": groups.iter().map(group).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroups_servers_and_shares_are_a_tree() {
        let listed = ListedServer {
            name: "TOWER".into(),
            version: (4, 9),
            kind: 0x9a03,
            comment: "files".into(),
        };
        let share = ShareEntry {
            name: "GAMES".into(),
            kind: 0,
            comment: "old ones".into(),
        };
        let group = |servers| Workgroup {
            name: "LAB".into(),
            master: "TOWER".into(),
            servers,
        };
        let server = Server {
            listed,
            shares: Some(Ok(vec![share])),
        };
        let groups = [group(Ok(vec![server])), group(Err("refused".into()))];
        assert_eq!(
            tree(&groups),
            "LAB (master browser TOWER)\n    \\\\TOWER            files\n        GAMES          old ones\n\
             LAB (master browser TOWER)\n    refused\n"
        );
        let shown = json_of(&groups);
        assert_eq!(
            shown.pointer("/workgroups/0/servers/0/shares/0/name"),
            Some(&json!("GAMES"))
        );
        assert_eq!(
            shown.pointer("/workgroups/1/error"),
            Some(&json!("refused"))
        );
    }
}
