//! A simulated copy of one or several files, and its result.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use coax_catalog::{component::ProfileError, profile::Profile, scenario::Scenario};
use coax_client::Direction;
use coax_netbios::Transport;
use coax_wire::time::Span;

use super::{FileServer, Files, Redirector, ServerParams, mix::Mix};
use crate::{
    capture::Tap,
    cause::Account,
    side::Side,
    tcp::TcpStats,
    world::{Ended, PathStats, Setup, World},
};

/// What the lab does not model; every report lists it.
pub const NOT_MODELLED: [&str; 8] = [
    "more than one client, connection or user of the server",
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
    /// The server.
    pub server: ServerParams,
    /// Direction.
    pub direction: Direction,
    /// Size of each file, bytes.
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
                server: found.server_host,
                link: found.link,
                seed: found.seed,
                ..Setup::default()
            },
            client: found.client,
            server: found.server,
            direction: found.direction,
            size: found.size,
            files: found.files,
            limit: found.limit,
            whole: false,
            taps: Vec::new(),
        })
    }

    /// The files to copy.
    pub const fn all(&self) -> Files {
        Files {
            count: self.files,
            size: self.size,
        }
    }
}

/// The result of a copy.
#[derive(Debug)]
#[non_exhaustive]
pub struct CopyResult {
    /// Number of bytes copied, or the error.
    pub copied: Result<u64, String>,
    /// From the first request of the copy to its last response.
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
    /// The client's TCP.
    pub client_tcp: TcpStats,
    /// The server's TCP.
    pub server_tcp: TcpStats,
    /// Processor time of client and server.
    pub cpu: (Span, Span),
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
    let transport = Transport::from(*setup.client.transport.port);
    let mut world_setup = setup.world.clone();
    world_setup.port = match transport {
        Transport::Nbt139 => 139,
        Transport::Direct445 => 445,
    };
    let mut world = World::new(&world_setup);
    world.record(&setup.taps);
    world.allow(events);
    let files = setup.all();
    let mut client = Redirector::new(setup.client.clone(), setup.direction, files, setup.whole);
    let there = (setup.direction == Direction::ToClient).then_some(files);
    match FileServer::new(&setup.server, transport, there, setup.whole) {
        Ok(mut server) => {
            let ended = world.run(&mut client, &mut server, setup.limit);
            let copied = verdict(setup, &client, &server, ended);
            let wrong = client.wrong_bytes().saturating_add(server.wrong_bytes());
            result(world, &client, copied, wrong)
        }
        Err(error) => result(
            world,
            &client,
            Err(format!("the file cannot be: {error:?}")),
            0,
        ),
    }
}

/// The result: a copy counts only if both ends report it as complete.
fn verdict(
    setup: &CopySetup,
    client: &Redirector,
    server: &FileServer,
    ended: Ended,
) -> Result<u64, String> {
    let files = setup.all();
    let whole = server.whole_files(files);
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

fn result(
    world: World,
    client: &Redirector,
    copied: Result<u64, String>,
    wrong_bytes: u64,
) -> CopyResult {
    CopyResult {
        copied,
        took: client.began().map_or(Span(0), |began| world.now() - began),
        account: world.account(),
        mix: client.mix().clone(),
        dialect: client.link().map_or("none", |link| link.dialect.name),
        to_server: *world.path(Side::Client),
        to_client: *world.path(Side::Server),
        client_tcp: *world.tcp(Side::Client).stats(),
        server_tcp: *world.tcp(Side::Server).stats(),
        cpu: (world.cpu_used(Side::Client), world.cpu_used(Side::Server)),
        wrong_bytes,
        world,
    }
}
