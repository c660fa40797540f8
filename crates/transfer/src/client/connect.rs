//! Connects to a location: tries addresses, ports, NetBIOS names and users in a fixed order.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use coax_client::{Credentials, Error as SmbError, Target, profile::Profile};
use coax_ethernet::{Interface, IpxStation, NbfStation, Port, Protocol, Station};
use coax_logon::secret::{Secret, SecretBytes};
use coax_netbios::{SessionError, Transport, ipx::IpxConfig, nbf::NbfConfig};
use coax_wire::{
    codepage::CodePage,
    command,
    nbt::{
        name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION, ScopedName},
        session::Refusal,
    },
    status::Status,
    time::{FileTime, ZoneMinutesWest},
};

use super::{Attempt, Connection, Error, Location, socket::Socket, url::Via};
use crate::names::{Method, Resolver};

/// Connection options in addition to location and profile.
#[derive(Clone, Debug)]
pub struct Options {
    /// The code page of file names if Unicode is not negotiated.
    pub code_page: CodePage,
    /// Offer this dialect alone.
    pub dialect: Option<&'static str>,
    /// The server's NetBIOS name. Default: derived from the location.
    pub called: Option<String>,
    /// How the server's address is found.
    pub resolver: Resolver,
    /// The protocol at the port. Default: derived from port and profile.
    pub transport: Option<Transport>,
    /// Allow a plaintext password or an LM response if the server supports nothing stronger.
    pub allow_weak: bool,
    /// Request SMB signing.
    pub sign: bool,
    /// Keep a record of every exchange.
    pub record: bool,
    /// Kind of share: `A:`, `LPT1:`, `IPC`, or `?????` for any.
    pub service: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            code_page: CodePage::cp850(),
            dialect: None,
            called: None,
            resolver: Resolver::default(),
            transport: None,
            allow_weak: false,
            sign: false,
            record: false,
            service: "?????",
        }
    }
}

/// A port and its transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Route {
    port: u16,
    transport: Transport,
}

/// Connects, negotiates, logs on and connects the share.
///
/// The address comes from LMHOSTS, WINS, a broadcast or the system's resolver, as [`Options::resolver`] says. Without a
/// port, coax tries the profile's port, then the other of 445 and 139. On 139 it calls the server by its name, then
/// `*SMBSERVER`, then by the name that the server's node status tells. Without a user it tries `GUEST`, then an anonymous log-on. What differed from the first choice is in
/// [`Connection::notes`].
///
/// # Errors
/// The error of the last attempt.
pub fn open(
    location: &Location,
    profile: &Arc<Profile>,
    options: &Options,
) -> Result<Connection, Error> {
    let mut notes = Vec::new();
    let (addresses, station) = match &location.via {
        Via::Tcp => (
            resolve(&location.host, &options.resolver, &mut notes)?,
            None,
        ),
        via => (Vec::new(), Some(station(via)?)),
    };
    let mut dialler = Dialler {
        location,
        profile,
        options,
        addresses,
        station,
        attempts: Vec::new(),
        notes,
        refused_names: Vec::new(),
    };
    let usual = (*profile.transport.port).into();
    let mut failed = None;
    let routes = match dialler.station {
        None => routes(location.port, options.transport, usual),
        // The station's socket carries what port 139 does.
        Some(_) => routes(Some(139), Some(Transport::Nbt139), usual),
    };
    for (place, route) in routes.iter().enumerate() {
        if let Some(error) = failed.take() {
            dialler.note_detour(&error, routes.get(place.wrapping_sub(1)), route);
        }
        match dialler.log_on(*route) {
            Ok(mut connection) => {
                connection.set_notes(dialler.notes);
                connection.set_station(dialler.station);
                return Ok(connection);
            }
            Err(error) if other_route_may_succeed(&error) => failed = Some(error),
            Err(error) => return Err(error),
        }
    }
    match failed {
        Some(error) if error.smb().is_some() => Err(error),
        _ => Err(Error::Unreachable {
            host: location.host.clone(),
            attempts: dialler.attempts,
        }),
    }
}

/// The ports to try. A well-known port has a fixed transport. Another port is tried with the profile's transport first.
/// Without a port: the profile's port, then the other one.
fn routes(port: Option<u16>, transport: Option<Transport>, usual: Transport) -> Vec<Route> {
    let other = |transport| match transport {
        Transport::Nbt139 => Transport::Direct445,
        Transport::Direct445 => Transport::Nbt139,
    };
    let at = |port, transport| Route { port, transport };
    match (port, transport) {
        (Some(port), Some(transport)) => vec![at(port, transport)],
        (Some(port @ (139 | 1139)), None) => vec![at(port, Transport::Nbt139)],
        (Some(port @ (445 | 1445)), None) => vec![at(port, Transport::Direct445)],
        (Some(port), None) => vec![at(port, usual), at(port, other(usual))],
        (None, Some(transport)) => vec![at(usual_port(transport), transport)],
        (None, None) => [usual, other(usual)]
            .map(|transport| at(usual_port(transport), transport))
            .to_vec(),
    }
}

fn usual_port(transport: Transport) -> u16 {
    match transport {
        Transport::Nbt139 => 139,
        Transport::Direct445 => 445,
    }
}

/// Whether another port or transport may succeed: the connection was refused, or the peer uses another protocol.
fn other_route_may_succeed(error: &Error) -> bool {
    match error {
        Error::Unreachable { .. } => true,
        Error::Smb(SmbError::Closed { waiting }) => {
            matches!(waiting, None | Some(command::NEGOTIATE))
        }
        Error::Smb(SmbError::Session(error)) => {
            !matches!(error, SessionError::PeerRefused(refusal) if is_name_error(*refusal))
        }
        _ => false,
    }
}

fn is_name_error(refusal: Refusal) -> bool {
    matches!(
        refusal,
        Refusal::CalledNameNotPresent | Refusal::NotListeningOnCalledName
    )
}

struct Dialler<'a> {
    location: &'a Location,
    profile: &'a Arc<Profile>,
    options: &'a Options,
    addresses: Vec<IpAddr>,
    station: Option<Station>,
    attempts: Vec<Attempt>,
    notes: Vec<String>,
    /// Names that the server does not answer to.
    refused_names: Vec<NbName>,
}

impl Dialler<'_> {
    /// Authenticates as the user. Without a user: as `GUEST`, which old servers know, then anonymously.
    fn log_on(&mut self, route: Route) -> Result<Connection, Error> {
        let users: Vec<String> = match &self.location.user {
            Some(user) => vec![user.clone()],
            None => vec!["GUEST".into(), String::new()],
        };
        let mut refused = None;
        for user in users {
            match self.call(route, &user) {
                Err(error) if anonymous_may_succeed(&error) => {
                    refused.get_or_insert(error);
                }
                outcome => return outcome,
            }
        }
        Err(refused.unwrap_or_else(|| SmbError::Closed { waiting: None }.into()))
    }

    /// Tries the server's NetBIOS names in turn.
    fn call(&mut self, route: Route, user: &str) -> Result<Connection, Error> {
        let names = if route.transport == Transport::Nbt139 {
            called_names(self.options.called.as_deref(), &self.location.host)
        } else {
            vec![NbName::SMBSERVER.with_suffix(SUFFIX_SERVER)]
        };
        // Without TCP/IP a name is also the address: there is nobody to ask for another.
        let names = names.into_iter().take(match self.station {
            None => usize::MAX,
            Some(_) => 1,
        });
        let mut refused = None;
        let mut names = names.into_iter();
        while let Some(name) = names.next().or_else(|| self.told_name(refused.as_ref())) {
            match self.connect(route, user, name) {
                Err(Error::Smb(SmbError::Session(SessionError::Retargeted { address, port }))) => {
                    let elsewhere = SocketAddr::new(address.into(), port);
                    self.notes
                        .push(format!("the server sends us to {elsewhere}"));
                    let socket = self.dial(&[elsewhere])?;
                    return self.begin(socket, route.transport, user, name);
                }
                Err(Error::Smb(SmbError::Session(SessionError::PeerRefused(refusal))))
                    if is_name_error(refusal) =>
                {
                    refused = Some(SmbError::Session(SessionError::PeerRefused(refusal)));
                    self.refused_names.push(name);
                }
                outcome => return outcome,
            }
        }
        Err(refused.unwrap_or(SmbError::Closed { waiting: None }).into())
    }

    /// The name that the server itself tells, after it refused all others.
    fn told_name(&mut self, refused: Option<&SmbError>) -> Option<NbName> {
        refused?;
        let told = self.addresses.iter().find_map(|address| match address {
            IpAddr::V4(address) => self.options.resolver.server_name(*address),
            IpAddr::V6(_) => None,
        })?;
        if self.options.called.is_some() || self.refused_names.contains(&told) {
            return None;
        }
        self.notes.push(format!("the server calls itself {told}"));
        Some(told)
    }

    fn connect(&mut self, route: Route, user: &str, called: NbName) -> Result<Connection, Error> {
        if let Some(station) = &self.station {
            let stream = station.connect().and_then(Socket::local);
            let what = "the station on the interface gives no socket";
            let socket = stream.map_err(|error| Error::System { what, error })?;
            return self.begin(socket, route.transport, user, called);
        }
        let places: Vec<SocketAddr> = self
            .addresses
            .iter()
            .map(|address| SocketAddr::new(*address, route.port))
            .collect();
        let socket = self.dial(&places)?;
        self.begin(socket, route.transport, user, called)
    }

    fn dial(&mut self, places: &[SocketAddr]) -> Result<Socket, Error> {
        for address in places {
            match Socket::connect(address) {
                Ok(socket) => return Ok(socket),
                Err(_) if self.attempts.iter().any(|known| known.address == *address) => {}
                Err(error) => self.attempts.push(Attempt {
                    address: *address,
                    error,
                }),
            }
        }
        Err(Error::Unreachable {
            host: self.location.host.clone(),
            attempts: Vec::new(),
        })
    }

    fn begin(
        &self,
        socket: Socket,
        transport: Transport,
        user: &str,
        called: NbName,
    ) -> Result<Connection, Error> {
        let scoped = |name| ScopedName {
            name,
            scope: Default::default(),
        };
        let options = self.options;
        let password = self.location.password.clone();
        let target = Target {
            server: server_name(&self.location.host),
            share: self.location.share.clone(),
            service: options.service,
            credentials: Credentials {
                user: user.into(),
                domain: self.location.domain.clone(),
                password: password.unwrap_or_else(|| SecretBytes::from("")),
                allow_weak: options.allow_weak,
            },
            transport,
            called: scoped(called),
            calling: scoped(own_name()),
            code_page: options.code_page,
            dialect: options.dialect,
            sign: options.sign,
            entropy: entropy()?,
            zone: ZoneMinutesWest(coax_clock::zone_minutes_west()),
            filetime: filetime(),
        };
        Connection::begin(socket, self.profile, target, options.record)
    }

    fn note_detour(&mut self, error: &Error, from: Option<&Route>, to: &Route) {
        let Some(from) = from else { return };
        let spoken = match to.transport {
            Transport::Nbt139 => "with a NetBIOS session",
            Transport::Direct445 => "directly",
        };
        self.notes.push(if from.port == to.port {
            format!("{error}; trying port {} {spoken}", to.port)
        } else {
            let why = match self.attempts.last() {
                Some(attempt) if error.smb().is_none() => super::error::plain(&attempt.error),
                _ => error.to_string(),
            };
            format!("port {}: {why}; using port {}", from.port, to.port)
        });
    }
}

/// Whether an anonymous log-on may succeed where the guest log-on failed.
fn anonymous_may_succeed(error: &Error) -> bool {
    let refused = [
        Status::LOGON_FAILURE,
        Status::ACCOUNT_DISABLED,
        Status::NO_SUCH_USER,
        Status::WRONG_PASSWORD,
        Status::ACCESS_DENIED,
    ];
    let Error::Smb(SmbError::Refused { command, status }) = error else {
        return false;
    };
    *command == command::SESSION_SETUP_ANDX
        && refused
            .iter()
            .any(|known| known.dos() == status.status().dos() || *known == status.status())
}

/// The packet sockets of the interface that leads to a server, or of the only one that is up.
pub(super) fn port(via: &Via) -> Result<Port, Error> {
    let (interface, protocol) = match via {
        Via::Ipx {
            interface, frame, ..
        } => (interface, Protocol::Ipx(*frame)),
        Via::Netbeui { interface } => (interface, Protocol::Netbeui),
        Via::Tcp => (&None, Protocol::Netbeui),
    };
    let interface = match interface {
        Some(name) => Interface::find(name),
        None => Interface::only(),
    };
    let interface = interface.map_err(coax_ethernet::OpenError::from)?;
    Ok(Port::open(interface, protocol)?)
}

/// A station on an interface. It has no name of its own and takes no sessions.
fn station(via: &Via) -> Result<Station, Error> {
    let port = port(via)?;
    let mac = port.interface().mac();
    let station = match via {
        Via::Ipx {
            frame,
            network,
            carriage,
            ..
        } => {
            let mut config = IpxConfig::new(mac, Vec::new());
            (config.frame, config.network) = (*frame, *network);
            config.accepts.clear();
            // Another program on this machine has sessions of its own with the same stations.
            let random = entropy()?;
            let random = random.as_bytes().first_chunk();
            config.first_number = u16::from_le_bytes(*random.unwrap_or(&[1, 0]));
            let only = *carriage;
            let begin = move |now| IpxStation::new(now, config, only, None);
            Station::start(port, begin, |_| {})
        }
        _ => {
            let config = NbfConfig::new(mac, Vec::new());
            Station::start(port, move |now| NbfStation::new(now, config, None), |_| {})
        }
    };
    station.map_err(|error| Error::System {
        what: "cannot start the station on the interface",
        error,
    })
}

fn resolve(host: &str, resolver: &Resolver, notes: &mut Vec<String>) -> Result<Vec<IpAddr>, Error> {
    let found = resolver.server(host);
    notes.extend(found.problems);
    if let (Some(method), Some(address)) = (found.method, found.addresses.first())
        && method != Method::Host
    {
        let by = match method {
            Method::Lmhosts => "LMHOSTS",
            Method::Wins => "WINS",
            _ => "a broadcast",
        };
        notes.push(format!("{by} gives {address} for {host}"));
    }
    match found.addresses.is_empty() {
        true => Err(Error::Unknown {
            host: host.into(),
            reason: found.failures.join("; "),
        }),
        false => Ok(found.addresses),
    }
}

/// The called names to try on port 139: the given name, or `*SMBSERVER`, which newer servers accept.
fn called_names(given: Option<&str>, host: &str) -> Vec<NbName> {
    let name = |text: &str| NbName::new(text.as_bytes(), SUFFIX_SERVER).ok();
    if let Some(name) = given.and_then(name) {
        return vec![name];
    }
    let is_address = host.parse::<IpAddr>().is_ok();
    let own = host.split('.').next().filter(|_| !is_address);
    let general = NbName::SMBSERVER.with_suffix(SUFFIX_SERVER);
    own.and_then(name).into_iter().chain([general]).collect()
}

/// The server in `\\SERVER\SHARE`. IPv6 addresses are written in the form that Windows uses, because a colon is not
/// allowed there.
fn server_name(host: &str) -> String {
    if host.contains(':') {
        format!("{}.ipv6-literal.net", host.replace(':', "-"))
    } else {
        host.into()
    }
}

/// This machine's NetBIOS name.
pub(crate) fn own_name() -> NbName {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let short: String = host
        .chars()
        .take_while(|c| *c != '.')
        .filter(char::is_ascii_graphic)
        .take(15)
        .collect();
    let fallback = || NbName(*b"COAX            ").with_suffix(SUFFIX_WORKSTATION);
    NbName::new(short.as_bytes(), SUFFIX_WORKSTATION).unwrap_or_else(|_| fallback())
}

fn entropy() -> Result<Secret<24>, Error> {
    let mut bytes = [0; 24];
    let mut done = 0usize;
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => done = done.saturating_add(count),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                return Err(Error::System {
                    what: "the system gives no random bytes",
                    error: error.into(),
                });
            }
        }
    }
    Ok(bytes.into())
}

fn filetime() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ns = since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(0));
    FileTime::from_unix_ns(ns).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use Transport::{Direct445, Nbt139};

    #[test]
    fn without_a_port_the_profiles_port_is_tried_first() {
        let ports = |usual| {
            routes(None, None, usual)
                .iter()
                .map(|route| route.port)
                .collect::<Vec<_>>()
        };
        assert_eq!(ports(Direct445), [445, 139]);
        assert_eq!(ports(Nbt139), [139, 445]);
    }

    #[test]
    fn another_port_is_tried_with_the_profiles_transport_first() {
        let spoken = |port, usual| {
            let routes = routes(Some(port), None, usual);
            assert!(routes.iter().all(|route| route.port == port));
            routes
                .iter()
                .map(|route| route.transport)
                .collect::<Vec<_>>()
        };
        assert_eq!(spoken(4000, Direct445), [Direct445, Nbt139]);
        assert_eq!(spoken(4000, Nbt139), [Nbt139, Direct445]);
        assert_eq!(spoken(1139, Direct445), [Nbt139]);
        assert_eq!(spoken(445, Nbt139), [Direct445]);
    }

    #[test]
    fn a_server_is_called_by_its_name_then_by_smbserver() {
        let named = |given, host| {
            let names = called_names(given, host);
            names
                .iter()
                .map(|name| String::from_utf8_lossy(name.characters()).into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(named(None, "attic.lan"), ["ATTIC", "*SMBSERVER"]);
        assert_eq!(named(None, "10.0.0.9"), ["*SMBSERVER"]);
        assert_eq!(
            named(None, "a-name-much-too-long-for-netbios"),
            ["*SMBSERVER"]
        );
        assert_eq!(named(Some("nas"), "10.0.0.9"), ["NAS"]);
    }
}
