//! Exchange of browse lists with the master browsers of other networks: finds the domain master browser in WINS, and fetches
//! lists with NetServerEnum2, as Windows and nmbd do.

use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddrV4, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use coax_catalog::clients;
use coax_client::{Client, Credentials, Event, NoFiles, Operation, Outcome, Target};
use coax_logon::secret::{Secret, SecretBytes};
use coax_netbios::{
    Destination, Fetched, ListedServer, ListedWorkgroup, Lookup, LookupConfig, LookupStep,
    Transport,
};
use coax_wire::{
    browser::server_type,
    codepage::CodePage,
    nbt::{
        dgm,
        name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION, Scope, ScopedName},
        ns::QueryKind,
    },
    time::{FileTime, Span},
};
use tokio::{
    net::UdpSocket,
    sync::{Semaphore, mpsc},
    time::timeout,
};

use super::{
    super::{host::Host, random},
    kind::{self, DATAGRAM},
};

/// Suffix of the domain master browser.
const SUFFIX_DOMAIN_MASTER: u8 = 0x1b;
/// Exchanges at the same time. Others wait for their turn.
const MAX_EXCHANGES: usize = 4;
/// How long an exchange may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a browser may take to accept a connection, or to take a request.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// Bytes that are read at once.
const READ: usize = 8 << 10;

/// The exchanges under way.
#[derive(Debug)]
pub(super) struct Exchanges {
    passes: Arc<Semaphore>,
    sender: mpsc::Sender<Done>,
    receiver: mpsc::Receiver<Done>,
    /// Browsers whose failure the log tells already.
    failing: BTreeSet<NbName>,
}

/// A finished exchange.
#[derive(Debug)]
pub(super) struct Done {
    /// The network for which it was made.
    pub(super) node: usize,
    pub(super) found: Found,
}

/// What an exchange found.
#[derive(Debug)]
pub(super) enum Found {
    /// The domain master browser, if there is one.
    DomainMaster(Option<(NbName, SocketAddrV4)>),
    /// The lists of a browser, or why there are none.
    Lists(NbName, Result<Fetched, String>),
}

/// Where the names of a network are looked up.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) own: Ipv4Addr,
    pub(super) wins: Vec<Ipv4Addr>,
    pub(super) scope: Scope,
    pub(super) workgroup: NbName,
}

/// A browser whose lists are fetched.
#[derive(Clone, Debug)]
pub(super) struct Browser {
    pub(super) name: NbName,
    pub(super) address: Ipv4Addr,
    /// All that it knows, or only what it hears on its own network.
    pub(super) whole: bool,
}

impl Exchanges {
    pub(super) fn new() -> Self {
        let (sender, receiver) = mpsc::channel(MAX_EXCHANGES);
        Self {
            passes: Arc::new(Semaphore::new(MAX_EXCHANGES)),
            sender,
            receiver,
            failing: BTreeSet::new(),
        }
    }

    /// The next one that finishes.
    pub(super) async fn next(&mut self) -> Option<Done> {
        self.receiver.recv().await
    }

    /// Looks for the domain master browser.
    pub(super) fn find(&self, host: &Arc<Host>, node: usize, names: Names) {
        let host = host.clone();
        self.spawn(node, async move {
            let found = timeout(PATIENCE, find(&host, &names)).await;
            Found::DomainMaster(found.ok().flatten())
        });
    }

    /// Fetches the lists of a browser.
    pub(super) fn fetch(&self, host: &Arc<Host>, node: usize, names: Names, from: Browser) {
        let host = host.clone();
        self.spawn(node, async move {
            let name = from.name;
            // The client's engine stays on one thread.
            let lists = tokio::task::spawn_blocking(move || fetch(&host, &names, &from)).await;
            Found::Lists(name, lists.unwrap_or_else(|error| Err(error.to_string())))
        });
    }

    fn spawn(&self, node: usize, work: impl Future<Output = Found> + Send + 'static) {
        let (passes, sender) = (self.passes.clone(), self.sender.clone());
        tokio::spawn(async move {
            let Ok(_pass) = passes.acquire_owned().await else {
                return;
            };
            let found = work.await;
            // Without a receiver the server has stopped.
            let _ = sender.send(Done { node, found }).await;
        });
    }

    /// A line for the log, if a browser begins or ends to fail.
    pub(super) fn in_words(
        &mut self,
        from: NbName,
        lists: &Result<Fetched, String>,
    ) -> Option<String> {
        let name = String::from_utf8_lossy(from.characters()).into_owned();
        match lists {
            Ok(_) => self
                .failing
                .remove(&from)
                .then(|| format!("the master browser {name} gives its list of servers again")),
            Err(why) => {
                // The engine forgets browsers that it does not hear, so their number is limited there.
                let first = self.failing.len() < 256 && self.failing.insert(from);
                first.then(|| {
                    format!("the master browser {name} gives no list of servers: {why}; coax tries again. Port 139 of {name} must be reachable from here")
                })
            }
        }
    }
}

/// The owner of the name `<1B>` at the WINS servers, and its computer name from its node status.
async fn find(host: &Host, names: &Names) -> Option<(NbName, SocketAddrV4)> {
    let wins = names.wins.iter().map(|server| LookupStep::Wins(*server));
    let name = names.workgroup.with_suffix(SUFFIX_DOMAIN_MASTER);
    let found = ask(host, names, name, QueryKind::Addresses, wins.collect()).await?;
    for address in found.addresses() {
        let steps = vec![LookupStep::Station(address)];
        let told = ask(host, names, NbName::ANY, QueryKind::NodeStatus, steps).await?;
        let mut status = told
            .answers()
            .iter()
            .filter_map(|answer| answer.status.as_ref());
        let computer = status.find_map(|status| {
            let unique = status.names.iter().filter(|own| !own.flags.is_group());
            let computer = unique.map(|own| own.name);
            let mut computer = computer.filter(|own| own.suffix() == SUFFIX_WORKSTATION);
            computer.find(|own| own.characters() != names.workgroup.characters())
        });
        if let Some(computer) = computer {
            return Some((computer, SocketAddrV4::new(address, dgm::PORT)));
        }
    }
    None
}

/// Runs one lookup to its end.
async fn ask(
    host: &Host,
    names: &Names,
    name: NbName,
    kind: QueryKind,
    steps: Vec<LookupStep>,
) -> Option<Lookup> {
    let socket = UdpSocket::bind((names.own, 0)).await.ok()?;
    let first_id = random::random().map(u16::from_le_bytes);
    let config = LookupConfig {
        name: scoped(name, &names.scope),
        kind,
        steps,
        gather: Span::from_millis(0),
        first_id: first_id.unwrap_or(1),
    };
    let mut lookup = Lookup::new(host.clock.now(), config);
    let mut buffer = [0; DATAGRAM];
    while let Some(due) = lookup.poll_timeout() {
        while let Some(transmit) = lookup.poll_transmit() {
            if let Destination::Addr(to) = transmit.to {
                // A network that is down now may be up at the next try.
                let _ = socket.send_to(&transmit.bytes, to).await;
            }
        }
        let received = timeout(host.clock.until(due), socket.recv_from(&mut buffer)).await;
        if let Ok(Ok((len, std::net::SocketAddr::V4(from)))) = received {
            let bytes = buffer.get(..len).unwrap_or_default();
            lookup.handle_datagram(host.clock.now(), from, bytes);
        }
        lookup.handle_timeout(host.clock.now());
    }
    Some(lookup)
}

fn scoped(name: NbName, scope: &Scope) -> ScopedName {
    ScopedName {
        name,
        scope: scope.clone(),
    }
}

/// The lists of one browser, from an anonymous session on port 139.
fn fetch(host: &Host, names: &Names, from: &Browser) -> Result<Fetched, String> {
    let page = host.server().config.code_page;
    let mut connection = Connection::open(host, names, from, page)?;
    let only = match from.whole {
        true => 0,
        false => server_type::LOCAL_LIST_ONLY,
    };
    let all = match from.whole {
        true => server_type::ALL,
        false => only,
    };
    let encode = |text: &str| page.encode_lossy(text);
    let workgroups = connection.list(host, server_type::DOMAIN_ENUM | only, None)?;
    let domain = page.decode(names.workgroup.characters()).into_owned();
    let servers = connection.list(host, all, Some(domain))?;
    Ok(Fetched {
        servers: (servers.iter())
            .map(|server| ListedServer {
                name: encode(&server.name),
                version: server.version,
                server_type: server.kind & !server_type::LOCAL_LIST_ONLY,
                comment: encode(&server.comment),
            })
            .collect(),
        workgroups: (workgroups.iter())
            .map(|group| ListedWorkgroup {
                name: encode(&group.name),
                master: encode(&group.comment),
                server_type: group.kind & !server_type::LOCAL_LIST_ONLY | server_type::DOMAIN_ENUM,
            })
            .collect(),
    })
}

/// A client's connection to `IPC$`.
struct Connection {
    stream: TcpStream,
    client: Client,
    began: Instant,
}

impl Connection {
    fn open(host: &Host, names: &Names, from: &Browser, page: CodePage) -> Result<Self, String> {
        let profile = clients::by_name(clients::DEFAULT).ok_or("there is no client profile")?;
        let to = SocketAddrV4::new(from.address, 139);
        let stream = TcpStream::connect_timeout(&to.into(), CONNECT_PATIENCE);
        let stream = stream.map_err(|error| format!("{to}: {error}"))?;
        let limited = stream.set_write_timeout(Some(CONNECT_PATIENCE));
        limited.map_err(|error| error.to_string())?;
        let entropy = random::random().map_err(|error| error.to_string())?;
        let now_ns = i64::try_from(coax_clock::wall_ns()).unwrap_or(0);
        let own = page.encode_lossy(&host.server().config.name.to_uppercase());
        let own = NbName::new(&own, SUFFIX_WORKSTATION).map_err(|error| error.to_string())?;
        let target = Target {
            server: page.decode(from.name.characters()).into_owned(),
            share: "IPC$".into(),
            service: "IPC",
            credentials: Credentials {
                user: String::new(),
                domain: String::new(),
                password: SecretBytes::from(""),
                allow_weak: false,
            },
            transport: Transport::Nbt139,
            called: scoped(from.name.with_suffix(SUFFIX_SERVER), &names.scope),
            calling: scoped(own, &names.scope),
            code_page: page,
            dialect: None,
            sign: false,
            entropy: Secret::from(entropy),
            zone: Default::default(),
            filetime: FileTime::from_unix_ns(now_ns).0,
        };
        let client = Client::new(host.clock.now(), profile, target);
        let began = Instant::now();
        let mut connection = Self {
            stream,
            client,
            began,
        };
        loop {
            match connection.next(host)? {
                Event::Connected(_) => return Ok(connection),
                Event::Closed(error) => return Err(error.to_string()),
                Event::Done { .. } | Event::Progress { .. } => {}
            }
        }
    }

    fn list(
        &mut self,
        host: &Host,
        kinds: u32,
        domain: Option<String>,
    ) -> Result<Vec<coax_client::ListedServer>, String> {
        let operation = Operation::Servers { kinds, domain };
        let now = host.clock.now();
        let wanted = self.client.submit(now, operation, &mut NoFiles);
        loop {
            match self.next(host)? {
                Event::Done { job, result } if job == wanted => {
                    return match result.map_err(|error| error.to_string())? {
                        Outcome::Servers(servers) => Ok(servers),
                        _ => Err("an outcome of another operation".into()),
                    };
                }
                Event::Closed(error) => return Err(error.to_string()),
                _ => {}
            }
        }
    }

    /// Sends and receives until the engine reports an event.
    fn next(&mut self, host: &Host) -> Result<Event, String> {
        let mut buffer = vec![0; READ];
        loop {
            while let Some(transmit) = self.client.poll_transmit() {
                let written = self.stream.write_all(&transmit.head);
                written.map_err(|error| error.to_string())?;
            }
            if let Some(event) = self.client.poll_event() {
                return Ok(event);
            }
            if self.client.is_closed() {
                return Err("it closed the connection".into());
            }
            let left = PATIENCE.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                return Err(format!("no list within {} s", PATIENCE.as_secs()));
            }
            let due = self.client.poll_timeout();
            let wait = due.map_or(left, |due| host.clock.until(due)).min(left);
            let wait = Some(wait.max(Duration::from_millis(1)));
            let set = self.stream.set_read_timeout(wait);
            set.map_err(|error| error.to_string())?;
            let received = self.stream.read(&mut buffer);
            let now = host.clock.now();
            match received {
                Ok(0) => self.client.handle_eof(now, &mut NoFiles),
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    self.client.handle_bytes(now, bytes, &mut NoFiles);
                }
                Err(error) if is_nothing(&error) => {
                    self.client.handle_timeout(now, &mut NoFiles);
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

fn is_nothing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// What the exchanges of a network need to know.
pub(super) fn names(host: &Host, network: coax_netbios::Network, workgroup: NbName) -> Names {
    let netbios = &host.settings().global.netbios;
    Names {
        own: network.address,
        wins: kind::wins_servers(netbios, network),
        scope: kind::scope(netbios).unwrap_or_default(),
        workgroup,
    }
}
