//! A simulated copy of one or several files, and its result.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use coax_catalog::{
    component::ProfileError,
    netbios::Carrier,
    profile::{BlockSize, Profile},
    scenario::{Protocol, Scenario},
};
use coax_client::Direction;
use coax_netbios::Transport;
use coax_server::Carriage;
use coax_wire::time::{Span, Time};

use super::{FileServer, Files, Redirector, ServerParams, mix::Mix, service::Service};
use crate::{
    app::App,
    apps,
    capture::Tap,
    cause::Account,
    side::Side,
    tcp::TcpStats,
    world::{Ended, PathStats, Setup, World},
};

/// What the lab does not model; every report lists it.
pub const NOT_MODELLED: [&str; 8] = [
    "more than one connection or user of a client, and limits of a switch's buffers",
    "repeaters and different distances on a shared cable, and other traffic elsewhere",
    "caches, seeks and fragmentation of disks",
    "opening, searching and closing beyond a request's fixed cost",
    "a server that deals with several requests of one client at once",
    "interrupts that break into running work",
    "IP fragments, ARP, and TCP's own ageing (keep-alives, TIME-WAIT)",
    "oplocks' effect on what a program asks for",
];

/// Parameters of a copy.
#[derive(Clone, Debug)]
pub struct CopySetup {
    /// Hosts and link.
    pub world: Setup,
    /// The redirector.
    pub client: Arc<Profile>,
    /// Those of more clients, whose hosts are [`Setup::more`]. Each copies files of its own at the same time.
    pub more: Vec<Arc<Profile>>,
    /// The server.
    pub server: ServerParams,
    /// What carries the file.
    pub protocol: Protocol,
    /// Direction.
    pub direction: Direction,
    /// Size of each file, bytes; the average where requests have a list of sizes.
    pub size: u64,
    /// Number of files, copied one after the other.
    pub files: u32,
    /// Maximum duration of the run.
    pub limit: Span,
    /// Generate and compare every byte of the file.
    pub whole: bool,
    /// Capture points.
    pub taps: Vec<Tap>,
}

impl CopySetup {
    /// The copy of a scenario.
    ///
    /// # Errors
    /// A name, key or value is invalid; the error lists the allowed ones.
    pub fn of(scenario: &Scenario) -> Result<Self, ProfileError> {
        let found = scenario.resolve()?;
        Ok(Self {
            world: Setup {
                client: found.client_host,
                more: found.more.iter().map(|(host, _)| host.clone()).collect(),
                server: found.server_host,
                link: found.link,
                carrier: found.carrier,
                seed: found.seed,
                ..Setup::default()
            },
            client: found.client,
            more: found.more.into_iter().map(|(_, profile)| profile).collect(),
            server: found.server,
            protocol: found.protocol,
            direction: found.direction,
            size: found.size,
            files: found.files,
            limit: found.limit,
            whole: false,
            taps: Vec::new(),
        })
    }

    /// The files that a client copies.
    pub fn files_of(&self, client: u16) -> Files {
        let mut profiles = self.profiles();
        let found = profiles.find(|(number, _)| *number == client);
        let block = found.map(|(_, profile)| match self.direction {
            Direction::ToServer => &*profile.write.block,
            Direction::ToClient => &*profile.read.block,
        });
        Files {
            count: self.files,
            size: self.size,
            client,
            requests: match block {
                Some(BlockSize::Sizes(sizes)) => Some(sizes.clone()),
                _ => None,
            },
        }
    }

    /// The redirectors with their numbers.
    fn profiles(&self) -> impl Iterator<Item = (u16, &Arc<Profile>)> {
        (0..).zip(core::iter::once(&self.client).chain(&self.more))
    }
}

/// The result of one of several clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientResult {
    /// Its redirector.
    pub profile: String,
    /// Number of bytes copied, or the error.
    pub copied: Result<u64, String>,
    /// Start of its copy.
    pub began: Time,
    /// End of its copy.
    pub ended: Time,
    /// The causes of the time between.
    pub account: Account,
}

/// The result of a copy.
#[derive(Debug)]
#[non_exhaustive]
pub struct CopyResult {
    /// Number of bytes that the first client copied, or the error of the first client that failed.
    pub copied: Result<u64, String>,
    /// From the first request of the first client's copy to its last response.
    pub took: Span,
    /// The causes of that time; their sum is `took`.
    pub account: Account,
    /// The requests.
    pub mix: Mix,
    /// The negotiated dialect.
    pub dialect: &'static str,
    /// Statistics of the path from the client, for the whole run.
    pub to_server: PathStats,
    /// Statistics of the path from the server.
    pub to_client: PathStats,
    /// The client's TCP, NetBEUI or IPX.
    pub client_tcp: TcpStats,
    /// The server's.
    pub server_tcp: TcpStats,
    /// Processor time of client and server.
    pub cpu: (Span, Span),
    /// All clients, if there are several.
    pub clients: Vec<ClientResult>,
    /// Number of wrong bytes received; 0 if data is not compared.
    pub wrong_bytes: u64,
    /// The world at the end of the run.
    pub world: World,
}

/// Runs the copy.
pub fn copy(setup: &CopySetup) -> CopyResult {
    copy_within(setup, u64::MAX)
}

/// Runs the copy with a limit on events.
pub fn copy_within(setup: &CopySetup, events: u64) -> CopyResult {
    if setup.protocol == Protocol::Tcp {
        return streamed(setup, events);
    }
    let mut world_setup = setup.world.clone();
    world_setup.port = port(transport(setup, &setup.client));
    let mut world = World::new(&world_setup);
    world.record(&setup.taps);
    world.allow(events);
    let to_client = setup.direction == Direction::ToClient;
    let there = setup.profiles().filter(|_| to_client);
    let there: Vec<Files> = there.map(|(client, _)| setup.files_of(client)).collect();
    let mut clients: Vec<Redirector> = setup
        .profiles()
        .map(|(client, profile)| redirector(setup, client, profile))
        .collect();
    let service = match Service::new(&setup.server, &there, setup.whole) {
        Ok(service) => service,
        Err(error) => {
            let failed = Failed::Share(format!("the file cannot be: {error:?}"));
            return result(setup, world, &clients, &failed);
        }
    };
    let mut servers: Vec<FileServer> = setup
        .profiles()
        .map(|(client, profile)| {
            let carried = (transport(setup, profile), carriage(&setup.world));
            FileServer::new(&service, client, carried)
        })
        .collect();
    let mut apps: Vec<(&mut dyn App, &mut dyn App)> = clients
        .iter_mut()
        .zip(&mut servers)
        .map(|(client, server)| (client as &mut dyn App, server as &mut dyn App))
        .collect();
    let ended = world.run_all(&mut apps, setup.limit);
    result(setup, world, &clients, &Failed::Not(service, ended))
}

/// The port of FTP's data connections (RFC 959).
const FTP_DATA: u16 = 20;

/// One-way TCP instead of a copy.
fn streamed(setup: &CopySetup, events: u64) -> CopyResult {
    let mut world = World::new(&Setup {
        port: FTP_DATA,
        ..setup.world.clone()
    });
    world.record(&setup.taps);
    world.allow(events);
    let from = match setup.direction {
        Direction::ToServer => Side::Client,
        Direction::ToClient => Side::Server,
    };
    let bytes = setup.files_of(0).bytes();
    let stream = apps::bulk_in(&mut world, from, bytes, setup.limit).finish(world);
    let copied = match (stream.bytes == bytes, stream.intact) {
        (true, true) => Ok(bytes),
        (true, false) => Err("bytes that were received are wrong".to_string()),
        (false, _) => Err(format!("{} bytes of {bytes} were received", stream.bytes)),
    };
    let result = result(setup, stream.world, &[], &Failed::Share(String::new()));
    CopyResult {
        copied,
        took: stream.took,
        account: stream.account,
        dialect: "TCP alone",
        ..result
    }
}

const fn port(transport: Transport) -> u16 {
    match transport {
        Transport::Nbt139 => 139,
        Transport::Direct445 => 445,
    }
}

fn redirector(setup: &CopySetup, client: u16, profile: &Arc<Profile>) -> Redirector {
    let files = setup.files_of(client);
    let transport = transport(setup, profile);
    Redirector::over(
        transport,
        profile.clone(),
        setup.direction,
        files,
        setup.whole,
    )
}

/// The framing of a client's messages.
fn transport(setup: &CopySetup, profile: &Profile) -> Transport {
    match setup.world.carrier {
        Carrier::Tcp => Transport::from(*profile.transport.port),
        // the stations' programs have what port 139 has
        Carrier::Netbeui | Carrier::Nbipx | Carrier::Ipx => Transport::Nbt139,
    }
}

/// What the server has to know of the carrier, as in `coax serve`.
fn carriage(setup: &Setup) -> Carriage {
    let frame = setup.server.netbios.frame_type;
    match setup.carrier {
        Carrier::Tcp | Carrier::Netbeui => Carriage::Stream,
        Carrier::Nbipx => Carriage::Messages(usize::from(u16::MAX)),
        Carrier::Ipx => Carriage::Packets(frame.max_data()),
    }
}

/// Whether the run could start, and how it ended.
enum Failed {
    Share(String),
    Not(Service, Ended),
}

/// A client's result: a copy counts only if both ends report it as complete.
fn verdict(
    setup: &CopySetup,
    number: u16,
    client: &Redirector,
    failed: &Failed,
) -> Result<u64, String> {
    let (service, ended) = match failed {
        Failed::Share(error) => return Err(error.clone()),
        Failed::Not(service, ended) => (service, ended),
    };
    let files = setup.files_of(number);
    let whole = service.whole_files(&files);
    match client.result() {
        Some(Ok(bytes)) if *bytes != files.bytes() || whole != files.count => Err(format!(
            "{bytes} bytes of {} were copied; of {} files {whole} are whole on the server",
            files.bytes(),
            files.count
        )),
        Some(result) => result.clone(),
        None => Err(match ended {
            Ended::OutOfTime => format!(
                "the copy takes longer than the {} s that a run may last",
                setup.limit.0 / 1_000_000_000
            ),
            Ended::TooMuch => "the copy takes more steps than a run may have".to_string(),
            _ => "the copy stands still: nothing is left to happen".to_string(),
        }),
    }
}

fn client_results(
    setup: &CopySetup,
    world: &World,
    clients: &[Redirector],
    failed: &Failed,
) -> Vec<ClientResult> {
    let each = setup.profiles().zip(clients);
    each.map(|((number, profile), client)| {
        let ended = client.ended().unwrap_or_else(|| world.now());
        ClientResult {
            profile: profile.name.clone(),
            copied: verdict(setup, number, client, failed),
            began: client.began().unwrap_or(ended),
            ended,
            account: world.account_of(number),
        }
    })
    .collect()
}

fn result(setup: &CopySetup, world: World, clients: &[Redirector], failed: &Failed) -> CopyResult {
    let wrong = clients.iter().map(Redirector::wrong_bytes).sum::<u64>();
    let wrong_bytes = match failed {
        Failed::Share(_) => wrong,
        Failed::Not(service, _) => wrong.saturating_add(service.wrong_bytes()),
    };
    let mut all = client_results(setup, &world, clients, failed);
    let error = all.iter().find_map(|it| it.copied.as_ref().err().cloned());
    let first = clients.first();
    let own = all.first().map_or(Ok(0), |it| it.copied.clone());
    let took = all.first().map_or(Span(0), |it| it.ended - it.began);
    if all.len() < 2 {
        all.clear();
    }
    CopyResult {
        copied: error.map_or(own, Err),
        took,
        account: world.account(),
        mix: first.map(|it| it.mix().clone()).unwrap_or_default(),
        dialect: first
            .and_then(Redirector::link)
            .map_or("none", |link| link.dialect.name),
        to_server: *world.path(Side::Client),
        to_client: *world.path(Side::Server),
        client_tcp: *world.transport(Side::Client),
        server_tcp: *world.transport(Side::Server),
        cpu: (world.cpu_used(Side::Client), world.cpu_used(Side::Server)),
        clients: all,
        wrong_bytes,
        world,
    }
}
