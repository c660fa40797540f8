//! Collects facts: each subject in a thread of its own, and nothing for longer than 12 seconds.

mod bounded;
mod client;
mod command;
mod firewall;
mod machine;
mod names;
mod process;
mod service;
mod shares;

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{self, Sender},
    thread,
    time::{Duration, Instant},
};

use coax_serve::{
    holder::{self, Kind},
    prepare,
};
use coax_smbconf::{
    diagnostic::{Diagnostic, Severity},
    load::load,
    settings::Settings,
};
use coax_transfer::names::Resolver;

pub use bounded::{PACKAGED_CONFIG, within};
pub use machine::interfaces;
pub use service::{account, unit};
pub use shares::{mount_point, way};

use crate::facts::{
    Client, Clock, Config, Facts, Firewall, Interface, Names, Ports, Samba, Share, Status,
};
use crate::parse::Route;

/// The longest time for all of it.
const PATIENCE: Duration = Duration::from_secs(12);
/// The longest time for smb.conf, whose shares may be on a mount that hangs.
const CONFIG_PATIENCE: Duration = Duration::from_secs(4);
/// Threads for shares.
const SHARE_THREADS: usize = 16;
/// The status socket of the packages' service.
const PACKAGED_STATUS: &str = "/run/coax/status";

/// What to find out.
pub struct Question<'a> {
    /// The configuration; without it the packages', if there is one.
    pub config: Option<&'a Path>,
    /// The client to check, by address or name.
    pub client: Option<&'a str>,
    /// How names are found.
    pub resolver: Resolver,
    /// Asks a server at its status socket.
    pub status: fn(&Path) -> Status,
    /// Is told how many of how many checks are done.
    pub progress: &'a dyn Fn(usize, usize),
}

/// What a thread found.
enum Part {
    Diagnostics(Vec<Diagnostic>),
    Ports(Ports, Samba),
    Status(Status),
    Firewall(Firewall),
    Network(Vec<Interface>, Vec<Route>),
    Clock(Clock),
    Shares(Vec<Share>),
    Names(Names),
    Client(Box<Client>),
}

/// Finds out everything.
pub fn facts(question: &Question<'_>) -> Facts {
    let begun = Instant::now();
    let mut facts = Facts {
        rights: machine::rights(),
        ..Facts::default()
    };
    let packaged = Path::new(PACKAGED_CONFIG);
    let default = || packaged.exists().then_some(packaged);
    let path = question.config.or_else(default).map(Path::to_path_buf);
    let Some(config) = within(CONFIG_PATIENCE, move || read_config(path)) else {
        facts.late.push("smb.conf");
        return facts;
    };
    facts.config = config;
    facts.service = service::service(&facts.config);
    let (send, receive) = mpsc::channel();
    let mut open = start(question, &facts, &send);
    drop(send);
    let all = open.len();
    while !open.is_empty() {
        (question.progress)(all.saturating_sub(open.len()), all);
        let left = PATIENCE.saturating_sub(begun.elapsed());
        let Ok((name, part)) = receive.recv_timeout(left.min(Duration::from_millis(250))) else {
            if left.is_zero() {
                break;
            }
            continue;
        };
        if let Some(at) = open.iter().position(|known| *known == name) {
            open.remove(at);
        }
        take(&mut facts, part);
    }
    facts.late.extend(open);
    facts
}

fn read_config(path: Option<PathBuf>) -> Config {
    let loaded = load(path.as_deref(), &[]);
    Config {
        path,
        settings: loaded.settings,
        // shares are looked at one by one
        diagnostics: about_more_than_folders(loaded.diagnostics),
    }
}

fn about_more_than_folders(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_about_folder = |said: &Diagnostic| {
        said.message.contains("is not a folder now")
            || said.message.contains("name a folder that exists")
    };
    all.into_iter()
        .filter(|said| !is_about_folder(said))
        .collect()
}

/// Starts a thread for each part, and says what they find out.
fn start(
    question: &Question<'_>,
    facts: &Facts,
    to: &Sender<(&'static str, Part)>,
) -> Vec<&'static str> {
    let mut open = Vec::new();
    let mut run = |name: &'static str, find: Box<dyn FnOnce() -> Part + Send>| {
        let to = to.clone();
        let found = move || {
            // nobody waits any more if it took too long
            let _ = to.send((name, find()));
        };
        if thread::Builder::new().spawn(found).is_ok() {
            open.push(name);
        }
    };
    let settings = facts.config.settings.clone();
    let denied = !facts.rights.is_root()
        && facts
            .service
            .account
            .as_ref()
            .is_some_and(|a| a.user != facts.rights.user);
    let of_config = settings.clone();
    run(
        "the configuration",
        Box::new(move || Part::Diagnostics(checked(&of_config, denied))),
    );
    let of_ports = settings.clone();
    run("the table of sockets", Box::new(move || ports(&of_ports)));
    run(
        "the packet filter",
        Box::new(|| Part::Firewall(firewall::firewall())),
    );
    run(
        "the table of interfaces",
        Box::new(|| Part::Network(interfaces(), machine::routes())),
    );
    run("the clock", Box::new(|| Part::Clock(machine::clock())));
    if let Some(socket) = status_socket(facts) {
        let ask = question.status;
        run(
            "the server's status socket",
            Box::new(move || Part::Status(ask(&socket))),
        );
    }
    let all: Vec<(String, PathBuf)> = shares::folders(&settings);
    for some in all.chunks(all.len().div_ceil(SHARE_THREADS).max(1)) {
        let some = some.to_vec();
        run(
            "the file system of a share",
            Box::new(move || Part::Shares(shares::shares(&some))),
        );
    }
    let resolver = resolver(&question.resolver, &settings);
    let of_names = (settings.clone(), resolver.clone());
    run(
        "the network",
        Box::new(move || Part::Names(names::names(&of_names.0, &of_names.1))),
    );
    if let Some(client) = question.client {
        let client = client.to_owned();
        run(
            "the client",
            Box::new(move || Part::Client(Box::new(client::client(client, &settings, &resolver)))),
        );
    }
    open
}

/// The resolver, with what smb.conf says if the command line does not.
fn resolver(given: &Resolver, settings: &Settings) -> Resolver {
    let mut resolver = given.clone();
    if resolver.wins.is_empty() {
        resolver
            .wins
            .clone_from(&settings.global.netbios.wins_servers);
    }
    if resolver.scope == coax_wire::nbt::name::Scope::EMPTY
        && let Ok(scope) = coax_wire::nbt::name::Scope::new(&settings.global.netbios.scope)
    {
        resolver.scope = scope;
    }
    resolver
}

fn status_socket(facts: &Facts) -> Option<PathBuf> {
    let named = facts.config.settings.global.status_socket.clone();
    let packaged = facts.service.unit.is_some().then(|| PACKAGED_STATUS.into());
    named.or(packaged)
}

/// What a start would find wrong. Another user's files, such as the password file, are not for this user to judge.
fn checked(settings: &Settings, denied: bool) -> Vec<Diagnostic> {
    if !denied {
        return about_more_than_folders(prepare::check(settings));
    }
    let note = "users and passwords were not checked: they belong to the server's user";
    vec![Diagnostic::new(Severity::Note, note).help("run coax doctor with sudo")]
}

fn ports(settings: &Settings) -> Part {
    let listen = &settings.listen;
    let tcp = listen.nbt.iter().chain(&listen.direct);
    let tcp: Vec<u16> = tcp.map(|l| l.address.port()).collect();
    let ports = Ports {
        tcp: holder::sockets(Kind::Tcp, &tcp),
        udp: holder::sockets(Kind::Udp, &[137, 138]),
    };
    Part::Ports(ports, process::samba())
}

fn take(facts: &mut Facts, part: Part) {
    match part {
        Part::Diagnostics(said) => facts.config.diagnostics.extend(said),
        Part::Ports(ports, samba) => (facts.ports, facts.samba) = (ports, samba),
        Part::Status(status) => facts.service.status = status,
        Part::Firewall(firewall) => facts.firewall = firewall,
        Part::Network(interfaces, routes) => {
            (facts.interfaces, facts.routes) = (interfaces, routes)
        }
        Part::Clock(clock) => facts.clock = clock,
        Part::Shares(shares) => facts.shares.extend(shares),
        Part::Names(names) => facts.names = names,
        Part::Client(client) => facts.client = Some(*client),
    }
}

#[cfg(test)]
mod tests;
