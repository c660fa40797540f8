//! Finding the address of a server by its NetBIOS name: LMHOSTS, WINS, broadcast and DNS, in a configurable order.

mod query;

pub(crate) use query::random_id;
pub use query::{networks, query};

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, ToSocketAddrs},
    path::{Path, PathBuf},
    str::FromStr,
};

use coax_netbios::{Lmhosts, Lookup, LookupConfig, LookupStep};
use coax_wire::{
    nbt::{
        name::{NbName, SUFFIX_SERVER, Scope, ScopedName},
        ns::{NodeStatus, QueryKind},
    },
    time::Span,
};

/// The LMHOSTS files that are read if none is named: coax's own, then Samba's.
const LMHOSTS_FILES: [&str; 2] = ["/etc/coax/lmhosts", "/etc/samba/lmhosts"];
/// The largest LMHOSTS file, bytes.
const LMHOSTS_MAX: u64 = 4 << 20;
/// Wait for further answers to a broadcast.
const GATHER: Span = Span::from_millis(500);

/// A way to find a name, as in smb.conf's `name resolve order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// An LMHOSTS file.
    Lmhosts,
    /// The WINS servers.
    Wins,
    /// A broadcast on each network.
    Bcast,
    /// The system's resolver: hosts file and DNS.
    Host,
}

impl Method {
    /// The order without configuration.
    pub const ORDER: [Self; 4] = [Self::Lmhosts, Self::Wins, Self::Bcast, Self::Host];
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "lmhosts" => Ok(Self::Lmhosts),
            "wins" => Ok(Self::Wins),
            "bcast" => Ok(Self::Bcast),
            "host" => Ok(Self::Host),
            other => Err(format!("'{other}' is none of lmhosts, wins, bcast, host")),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lmhosts => "lmhosts",
            Self::Wins => "wins",
            Self::Bcast => "bcast",
            Self::Host => "host",
        })
    }
}

/// How names are found.
#[derive(Clone, Debug)]
pub struct Resolver {
    /// The methods, in order.
    pub order: Vec<Method>,
    /// The WINS servers, the primary one first.
    pub wins: Vec<Ipv4Addr>,
    /// The LMHOSTS file; `None`: /etc/coax/lmhosts or /etc/samba/lmhosts, if there is one.
    pub lmhosts: Option<PathBuf>,
    /// The NetBIOS scope.
    pub scope: Scope,
    /// Broadcast addresses to ask instead of those of all networks.
    pub broadcasts: Vec<Ipv4Addr>,
}

impl Default for Resolver {
    fn default() -> Self {
        Self {
            order: Method::ORDER.to_vec(),
            wins: Vec::new(),
            lmhosts: None,
            scope: Scope::EMPTY,
            broadcasts: Vec::new(),
        }
    }
}

/// What a resolver found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The addresses.
    pub addresses: Vec<IpAddr>,
    /// How they were found.
    pub method: Option<Method>,
    /// Problems of the LMHOSTS file: file, line, reason and remedy.
    pub problems: Vec<String>,
    /// What each method said that found nothing.
    pub failures: Vec<String>,
}

impl Resolver {
    /// Finds a server by the name in a URL. Addresses, names with dots and names that are too long for NetBIOS are for
    /// the system's resolver only.
    pub fn server(&self, host: &str) -> Found {
        let plain = host.parse::<IpAddr>().is_ok()
            || host.contains('.')
            || host.eq_ignore_ascii_case("localhost");
        let name = NbName::new(host.as_bytes(), SUFFIX_SERVER);
        match name {
            Ok(name) if !plain && host.is_ascii() => self.find(host, name),
            _ => {
                let mut found = Found::default();
                self.ask_system(host, &mut found);
                found
            }
        }
    }

    /// Finds the addresses of a NetBIOS name; `host` is what the system's resolver is asked for.
    pub fn find(&self, host: &str, name: NbName) -> Found {
        let mut found = Found::default();
        for method in &self.order {
            match method {
                Method::Lmhosts => self.look_into_lmhosts(&name, &mut found),
                Method::Wins | Method::Bcast => self.ask_network(*method, name, &mut found),
                Method::Host => self.ask_system(host, &mut found),
            }
            if !found.addresses.is_empty() {
                found.method = Some(*method);
                break;
            }
        }
        found
    }

    /// The names of a node.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn status(&self, address: Ipv4Addr) -> std::io::Result<Option<NodeStatus>> {
        let lookup = self.lookup(
            NbName::ANY,
            QueryKind::NodeStatus,
            vec![LookupStep::Station(address)],
        );
        let lookup = query(lookup, &self.broadcasts)?;
        let answer = lookup.answers().first();
        Ok(answer.and_then(|answer| answer.status.clone()))
    }

    /// The name that a node's file service has, from its status.
    pub fn server_name(&self, address: Ipv4Addr) -> Option<NbName> {
        let status = self.status(address).ok()??;
        let mut names = status.names.iter();
        let own = names.find(|own| own.name.suffix() == SUFFIX_SERVER && !own.flags.is_group());
        own.map(|own| own.name)
    }

    /// Asks as [`LookupStep`]s say.
    pub fn lookup(&self, name: NbName, kind: QueryKind, steps: Vec<LookupStep>) -> LookupConfig {
        LookupConfig {
            name: ScopedName {
                name,
                scope: self.scope.clone(),
            },
            kind,
            steps,
            gather: GATHER,
            first_id: query::random_id(),
        }
    }

    /// The entries of the LMHOSTS file.
    pub fn lmhosts(&self) -> Option<Lmhosts> {
        let default = || {
            let files = LMHOSTS_FILES.iter().map(PathBuf::from);
            let mut files = files.filter(|file| file.is_file());
            files.next()
        };
        let file = self.lmhosts.clone().or_else(default)?;
        let mut open = |file: &str| read(Path::new(file));
        Some(Lmhosts::load(&file.to_string_lossy(), &mut open))
    }

    fn look_into_lmhosts(&self, name: &NbName, found: &mut Found) {
        let Some(lmhosts) = self.lmhosts() else {
            return;
        };
        let problems = lmhosts.problems().iter();
        found.problems.extend(problems.map(ToString::to_string));
        let addresses = lmhosts.addresses(name, false);
        found
            .addresses
            .extend(addresses.into_iter().map(IpAddr::V4));
        if found.addresses.is_empty() {
            found.failures.push("not in LMHOSTS".into());
        }
    }

    fn ask_network(&self, method: Method, name: NbName, found: &mut Found) {
        let steps: Vec<LookupStep> = match method {
            Method::Wins => self.wins.iter().map(|a| LookupStep::Wins(*a)).collect(),
            _ => vec![LookupStep::Broadcast],
        };
        if steps.is_empty() {
            return;
        }
        let mut config = self.lookup(name, QueryKind::Addresses, steps);
        // The first server that answers will do; `coax lookup` gathers all.
        config.gather = Span(0);
        match query(config, &self.broadcasts) {
            Ok(lookup) => {
                let addresses = lookup.addresses().into_iter();
                // Of a group WINS tells the broadcast address, which is no server's.
                let addresses = addresses.filter(|address| !address.is_broadcast());
                found.addresses.extend(addresses.map(IpAddr::V4));
                if found.addresses.is_empty() {
                    found.failures.push(silence(method, &lookup));
                }
            }
            Err(error) => found.failures.push(format!("{method}: {error}")),
        }
    }

    fn ask_system(&self, host: &str, found: &mut Found) {
        match (host, 0).to_socket_addrs() {
            Ok(addresses) => {
                for address in addresses.map(|address| address.ip()) {
                    if !found.addresses.contains(&address) {
                        found.addresses.push(address);
                    }
                }
                // Servers of that age listen at IPv4 addresses only.
                found.addresses.sort_by_key(IpAddr::is_ipv6);
            }
            Err(error) => found.failures.push(crate::client::plain(&error)),
        }
    }
}

fn silence(method: Method, lookup: &Lookup) -> String {
    match (lookup.denied_by(), method) {
        (Some(server), _) => format!("the WINS server {server} does not know it"),
        (None, Method::Wins) => "no WINS server answered".into(),
        (None, _) => "no machine answered a broadcast".into(),
    }
}

fn read(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if size.len() > LMHOSTS_MAX {
        return Err(format!("it is larger than {LMHOSTS_MAX} bytes"));
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_lmhosts_entry_comes_before_the_network_and_its_bad_lines_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lmhosts");
        std::fs::write(&file, "10.9.8.7 attic\n10.9.8 x\n").unwrap();
        let resolver = Resolver {
            lmhosts: Some(file),
            ..Resolver::default()
        };
        let found = resolver.server("Attic");
        assert_eq!(found.addresses, [IpAddr::from([10, 9, 8, 7])]);
        assert_eq!(found.method, Some(Method::Lmhosts));
        assert_eq!(found.problems.len(), 1);
        assert!(found.problems.iter().all(|p| p.contains("lmhosts, line 2")));
    }

    #[test]
    fn addresses_and_dns_names_are_for_the_system() {
        let resolver = Resolver {
            lmhosts: Some("/nonexistent".into()),
            ..Resolver::default()
        };
        for host in ["127.0.0.1", "localhost", "::1"] {
            let found = resolver.server(host);
            assert!(found.addresses.iter().any(IpAddr::is_loopback), "{host}");
            assert!(found.problems.is_empty());
        }
    }

    #[test]
    fn methods_are_read_as_they_are_shown() {
        for method in Method::ORDER {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        assert!("dns".parse::<Method>().is_err());
    }
}
