//! Checks that need the complete configuration.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use super::{Draft, Loaded, Loader};
use crate::diagnostic::{Diagnostic, Position, Severity};
use crate::hosts::HostList;
use crate::macros::has_macros;
use crate::settings::{
    GlobalSettings, Listener, Listeners, NodeTypeSetting, Security, ShareSettings,
};

/// Maximum length of a share name that DOS and Windows 9x list (KB Q160843).
const SHARE_NAME_MAX: usize = 12;

impl Loaded {
    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }
}

impl Loader {
    pub(super) fn finish(mut self) -> Loaded {
        self.loaded.settings.global.hosts = self.template.hosts.clone();
        if !self.named
            && let Some(name) = machine_name()
        {
            self.loaded.settings.global.netbios_name = name;
        }
        for draft in std::mem::take(&mut self.drafts) {
            let (mut share, diagnostics) =
                finish_share(draft, self.loaded.settings.global.security);
            share
                .guest_account
                .clone_from(&self.loaded.settings.global.guest_account);
            self.loaded.diagnostics.extend(diagnostics);
            match is_homes(&share) {
                true => self.loaded.settings.homes = Some(share),
                false => self.loaded.settings.shares.push(share),
            }
        }
        let global = &self.loaded.settings.global;
        if global.min_protocol > global.max_protocol {
            let message =
                "'server min protocol' is newer than 'server max protocol': nobody could connect";
            self.loaded.diagnostics.push(Diagnostic::error(message));
        }
        self.loaded.diagnostics.extend(wrong_with_names(global));
        let (listen, diagnostics) = listeners(global, &local_addresses());
        self.loaded.settings.listen = listen;
        self.loaded.diagnostics.extend(diagnostics);
        self.loaded.template = self.template;
        self.loaded
    }
}

/// What is wrong with the settings of names and WINS.
fn wrong_with_names(global: &GlobalSettings) -> Option<Diagnostic> {
    let netbios = &global.netbios;
    if netbios.wins_support && !netbios.wins_servers.is_empty() {
        let help = "remove 'wins server', or let that server be the only one";
        let both = Diagnostic::error("'wins support' and 'wins server' exclude each other");
        return Some(both.help(help));
    }
    let wins = netbios.wins_support || !netbios.wins_servers.is_empty();
    let needs = match netbios.node {
        _ if wins => return None,
        Some(node) if node != NodeTypeSetting::B => format!("'coax:node type = {node}'"),
        _ if netbios.wins_proxy => "'wins proxy'".to_string(),
        _ => return None,
    };
    let message = format!("{needs} has no effect without a WINS server");
    Some(Diagnostic::warning(message).help("set 'wins server' or 'wins support'"))
}

fn modules_without_effect(share: &ShareSettings) -> impl Iterator<Item = Diagnostic> {
    let help = "coax has no modules; only streams_xattr has an effect: it enables named streams";
    share.other_modules().map(move |module| {
        let message = format!("[{}]: 'vfs objects' {module} has no effect", share.name);
        Diagnostic::note(message).help(help)
    })
}

/// `[homes]` is not a share but the template of one for each user.
fn is_homes(share: &ShareSettings) -> bool {
    share.name.eq_ignore_ascii_case("homes")
}

/// Checks a share's path.
fn wrong_with_path(share: &ShareSettings) -> Option<Diagnostic> {
    let ShareSettings { name, path, .. } = share;
    if path.is_empty() && is_homes(share) {
        return None;
    }
    if path.is_empty() {
        let message = format!("[{name}] has no 'path', so nobody can connect to it");
        return Some(Diagnostic::warning(message));
    }
    let is_there = has_macros(path) || Path::new(&path.replace("%%", "%")).is_dir();
    (!is_there).then(|| {
        let message = format!("[{name}]: '{path}' is not a folder now; connecting to it will fail");
        Diagnostic::warning(message)
    })
}

fn finish_share(draft: Draft, security: Security) -> (ShareSettings, Vec<Diagnostic>) {
    let Draft { mut share, at, .. } = draft;
    share.guest_ok |= share.guest_only;
    share.available &= !share.path.is_empty() || is_homes(&share);
    let mut diagnostics: Vec<Diagnostic> = wrong_with_path(&share).into_iter().collect();
    if share.name.chars().count() > SHARE_NAME_MAX || share.name.contains(' ') {
        let message = format!("DOS and Windows 9x do not list [{}]", share.name);
        let help = format!(
            "a name of at most {SHARE_NAME_MAX} characters without spaces is visible to all clients (KB Q160843, Q145949)"
        );
        diagnostics.push(Diagnostic::note(message).help(help));
    }
    diagnostics.extend(modules_without_effect(&share));
    if security == Security::Share
        && share.password.is_none()
        && share.read_only_password.is_none()
        && !share.guest_ok
    {
        let message = format!(
            "[{}] has neither a password nor guests, so nobody can connect to it",
            share.name
        );
        diagnostics.push(
            Diagnostic::warning(message)
                .help("with 'security = share', set 'coax:password' or 'guest ok = yes'"),
        );
    }
    (share, place(diagnostics, at.as_ref()))
}

fn place(diagnostics: Vec<Diagnostic>, at: Option<&Position>) -> Vec<Diagnostic> {
    diagnostics
        .into_iter()
        .map(|d| match at {
            Some(at) => d.at(at),
            None => d,
        })
        .collect()
}

/// This machine's host name as a NetBIOS name: its first label, upper case, at most 15 characters.
fn machine_name() -> Option<String> {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .to_uppercase();
    let label = host.split('.').next().unwrap_or_default();
    let name: String = label
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .take(15)
        .collect();
    (!name.is_empty() && name != "LOCALHOST").then_some(name)
}

/// The names and addresses of this machine's network interfaces.
pub fn local_addresses() -> Vec<(String, IpAddr)> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    interfaces
        .into_iter()
        .map(|i| (i.name.clone(), i.ip()))
        .collect()
}

/// The addresses to listen at, from `interfaces`, `bind interfaces only`, `smb ports` and `disable netbios`.
pub fn listeners(
    global: &GlobalSettings,
    local: &[(String, IpAddr)],
) -> (Listeners, Vec<Diagnostic>) {
    let (addresses, mut diagnostics) = addresses(global, local);
    let at = |wanted: fn(u16) -> bool| -> Vec<Listener> {
        let ports = global.smb_ports.iter().filter(|p| wanted(**p));
        ports
            .flat_map(|p| {
                addresses
                    .iter()
                    .map(|a| Listener::with_fallback(SocketAddr::new(*a, *p)))
            })
            .collect()
    };
    let nbt = if global.disable_netbios {
        Vec::new()
    } else {
        at(|p| p % 100 == 39)
    };
    let direct = at(|p| p % 100 != 39);
    if nbt.is_empty() && direct.is_empty() && !addresses.is_empty() {
        diagnostics.push(
            Diagnostic::error("no port is left to listen at")
                .help("see 'smb ports' and 'disable netbios'"),
        );
    }
    (
        Listeners {
            names: names(&nbt),
            nbt,
            direct,
            netbeui: Vec::new(),
            ipx: global.netbios.ipx.clone(),
        },
        diagnostics,
    )
}

/// The addresses to listen at: the wildcard address, or those of `interfaces`.
fn addresses(
    global: &GlobalSettings,
    local: &[(String, IpAddr)],
) -> (Vec<IpAddr>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut addresses = vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)];
    if global.bind_interfaces_only && !global.interfaces.is_empty() {
        addresses = global
            .interfaces
            .iter()
            .flat_map(|word| interface(word, local, &mut diagnostics))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        if addresses.is_empty() {
            diagnostics.push(Diagnostic::error("none of 'interfaces' is an address of this machine, and 'bind interfaces only' is on"));
        }
    } else if global.bind_interfaces_only {
        diagnostics.push(Diagnostic::warning(
            "'bind interfaces only' has no effect without 'interfaces'",
        ));
    } else if !global.interfaces.is_empty() {
        diagnostics.push(Diagnostic::note("coax listens at every address; 'bind interfaces only = yes' restricts it to 'interfaces'"));
    }
    (addresses, diagnostics)
}

/// Where to run the name service: only if a session service listens on port 139, because clients that resolve a name
/// connect there. The wildcard address is necessary to receive broadcasts.
fn names(nbt: &[Listener]) -> Option<Listener> {
    let found = nbt.iter().any(|l| l.address.port() == 139);
    let everywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    found.then(|| Listener::exactly(SocketAddr::new(everywhere, 137)))
}

/// The local addresses that match one word of `interfaces`.
fn interface(
    word: &str,
    local: &[(String, IpAddr)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<IpAddr> {
    let word = word.split(';').next().unwrap_or_default();
    if word.is_empty() || word.contains('=') {
        return Vec::new();
    }
    if let Ok(address) = word.parse() {
        return vec![address];
    }
    let found: Vec<IpAddr> = match HostList::parse(word) {
        Ok(network) if word.contains('/') => {
            // An address with a mask means that address; a network means our addresses in it.
            let own = word
                .split('/')
                .next()
                .and_then(|a| a.parse().ok())
                .filter(|a| local.iter().any(|(_, l)| l == a));
            match own {
                Some(own) => vec![own],
                None => local
                    .iter()
                    .map(|(_, a)| *a)
                    .filter(|a| network.contains(*a))
                    .collect(),
            }
        }
        _ => local
            .iter()
            .filter(|(name, a)| named(name, word) && a.is_ipv4())
            .map(|(_, a)| *a)
            .collect(),
    };
    if found.is_empty() {
        diagnostics.push(Diagnostic::warning(format!(
            "'interfaces': this machine has no '{word}' with an IPv4 address"
        )));
    }
    found
}

/// Whether an interface name matches; `eth*` matches all that begin with eth.
fn named(name: &str, wanted: &str) -> bool {
    wanted
        .strip_suffix('*')
        .map_or(name == wanted, |prefix| name.starts_with(prefix))
}
