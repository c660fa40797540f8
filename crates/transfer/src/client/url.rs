//! URLs of the form `smb://[[DOMAIN;]USER[:PASSWORD]@]HOST[:PORT]/SHARE[/PATH]`, from the expired draft *SMB URL*
//! (draft-crhertel-smb-url), and the two notations of UNC names.

use std::{fmt, str::FromStr};

use coax_logon::secret::SecretBytes;
use coax_netbios::ipx::Carriage;
use coax_smbconf::settings::IpxInterface;
use coax_wire::ipx::{FrameType, Network};

/// A place on a server. `Display` writes it as a URL without the password.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// User; `None` means guest.
    pub user: Option<String>,
    /// Domain or workgroup of the user; may be empty.
    pub domain: String,
    /// The password, if the URL contains one.
    pub password: Option<SecretBytes>,
    /// Name or address, IPv6 addresses without brackets.
    pub host: String,
    /// TCP port, if the URL contains one.
    pub port: Option<u16>,
    /// The network that leads there.
    pub via: Via,
    /// The share; empty for the server itself.
    pub share: String,
    /// Path in the share, separated by `/`, without a leading one. The last component may contain wildcards.
    pub path: String,
    /// The path ended with a slash, so it means a folder.
    pub trailing_slash: bool,
}

/// The network that leads to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// TCP/IP.
    #[default]
    Tcp,
    /// NetBIOS frames on Ethernet (NetBEUI): `nbf://SERVER[:INTERFACE]/SHARE`.
    Netbeui {
        /// The interface of this machine; `None`: the only one that is up.
        interface: Option<String>,
    },
    /// IPX: `ipx://SERVER[:INTERFACE[:FRAME[:NETWORK]]]/SHARE`; `ipx+nb` and `ipx+direct` choose what carries sessions.
    Ipx {
        /// The interface of this machine; `None`: the only one that is up.
        interface: Option<String>,
        /// The frame type; `None`: all are tried.
        frame: Option<FrameType>,
        /// The number of the network; `None`: it is learned.
        network: Option<Network>,
        /// What carries sessions; `None`: what the server offers, NetBIOS first.
        carriage: Option<Carriage>,
    },
}

/// What a URL begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Smb,
    Nbf,
    Ipx(Option<Carriage>),
}

impl Scheme {
    const ALL: [(&str, Self); 5] = [
        ("smb://", Self::Smb),
        ("nbf://", Self::Nbf),
        ("ipx://", Self::Ipx(None)),
        ("ipx+nb://", Self::Ipx(Some(Carriage::NetBios))),
        ("ipx+direct://", Self::Ipx(Some(Carriage::Direct))),
    ];

    /// The scheme of a text, and what follows it.
    fn of(text: &str) -> Option<(Self, &str)> {
        Self::ALL.iter().find_map(|(prefix, scheme)| {
            let (head, rest) = text.split_at_checked(prefix.len())?;
            head.eq_ignore_ascii_case(prefix).then_some((*scheme, rest))
        })
    }

    fn prefix(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(_, scheme)| *scheme == self)
            .map_or("smb://", |(prefix, _)| prefix)
    }
}

/// Why a text is not a valid location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLocation {
    /// It does not start with `smb://` or two slashes.
    #[error(
        "write smb://HOST/SHARE/PATH, nbf://SERVER/SHARE/PATH, ipx://SERVER/SHARE/PATH or //HOST/SHARE/PATH"
    )]
    Scheme,
    /// The host is missing.
    #[error("the host is missing: write smb://HOST/SHARE/PATH")]
    Host,
    /// The text after the last colon is not a port number.
    #[error("the text after the colon is not a port: write a number from 1 to 65535")]
    Port(String),
    /// An IPv6 address needs brackets.
    #[error("write an IPv6 address in brackets: smb://[fe80::1]/SHARE")]
    Brackets,
    /// What follows the server's name is no interface, frame type and network number.
    #[error("{0}: write ipx://SERVER:INTERFACE:FRAME:NETWORK/SHARE, the last three if needed")]
    Ipx(String),
    /// `%` without two hexadecimal digits, or the decoded text is not UTF-8.
    #[error("% must precede two hexadecimal digits; write the character % as %25")]
    Percent,
    /// The path contains `..`.
    #[error("\"..\" leads out of the share's tree: write the path itself")]
    Upwards,
}

impl Location {
    /// Whether a text is a location on a server and not a local file.
    pub fn is_meant(text: &str) -> bool {
        Scheme::of(text).is_some() || text.starts_with("//") || text.starts_with("\\\\")
    }

    /// Another path in the same share, with the same server and user.
    #[must_use]
    pub fn with_path(&self, path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            trailing_slash: false,
            ..self.clone()
        }
    }

    /// Another share of the same server with the same user.
    #[must_use]
    pub fn with_share(&self, share: impl Into<String>) -> Self {
        Self {
            share: share.into(),
            path: String::new(),
            trailing_slash: false,
            ..self.clone()
        }
    }

    /// The last component of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path without its last component.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Whether the last component contains wildcards.
    pub fn has_wildcards(&self) -> bool {
        self.name().contains(['*', '?'])
    }

    /// Whether both locations are in the same share of the same server.
    pub fn same_share(&self, other: &Self) -> bool {
        self.host.eq_ignore_ascii_case(&other.host)
            && self.port == other.port
            && self.via == other.via
            && self.share.eq_ignore_ascii_case(&other.share)
    }

    fn from_url(scheme: Scheme, rest: &str) -> Result<Self, BadLocation> {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut location = Self::default();
        let place = match authority.rsplit_once('@') {
            Some((who, place)) => {
                location.set_user(who)?;
                place
            }
            None => authority,
        };
        match scheme {
            Scheme::Smb => location.set_place(place)?,
            Scheme::Nbf => location.set_station(place)?,
            Scheme::Ipx(carriage) => location.set_ipx(place, carriage)?,
        }
        location.set_share_and_path(&decode(path)?)?;
        Ok(location)
    }

    fn from_unc(rest: &str) -> Result<Self, BadLocation> {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut location = Self::default();
        location.set_place(host)?;
        location.set_share_and_path(path)?;
        Ok(location)
    }

    fn set_user(&mut self, who: &str) -> Result<(), BadLocation> {
        let (user, password) = match who.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (who, None),
        };
        let (domain, user) = user.split_once(';').unwrap_or(("", user));
        self.domain = decode(domain)?;
        self.user = Some(decode(user)?).filter(|user| !user.is_empty());
        self.password = match password {
            Some(password) => Some(decode(password)?.as_str().into()),
            None => None,
        };
        Ok(())
    }

    fn set_place(&mut self, place: &str) -> Result<(), BadLocation> {
        let (host, port) = if let Some(rest) = place.strip_prefix('[') {
            let (host, rest) = rest.split_once(']').ok_or(BadLocation::Brackets)?;
            (host, rest.strip_prefix(':'))
        } else {
            match place.split_once(':') {
                Some((_, port)) if port.contains(':') => return Err(BadLocation::Brackets),
                Some((host, port)) => (host, Some(port)),
                None => (place, None),
            }
        };
        if host.is_empty() {
            return Err(BadLocation::Host);
        }
        self.host = decode(host)?;
        self.port = match port {
            Some(port) => match port.parse() {
                Ok(number) if number != 0 => Some(number),
                _ => return Err(BadLocation::Port(port.into())),
            },
            None => None,
        };
        Ok(())
    }

    /// A server's NetBIOS name and this machine's interface.
    fn set_station(&mut self, place: &str) -> Result<(), BadLocation> {
        let (name, interface) = match place.split_once(':') {
            Some((name, interface)) => (name, Some(decode(interface)?)),
            None => (place, None),
        };
        if name.is_empty() {
            return Err(BadLocation::Host);
        }
        self.host = decode(name)?;
        self.via = Via::Netbeui { interface };
        Ok(())
    }

    /// A server's NetBIOS name, and this machine's interface, its frame type and network.
    fn set_ipx(&mut self, place: &str, carriage: Option<Carriage>) -> Result<(), BadLocation> {
        let (name, rest) = match place.split_once(':') {
            Some((name, rest)) => (name, Some(decode(rest)?)),
            None => (place, None),
        };
        if name.is_empty() {
            return Err(BadLocation::Host);
        }
        let network = rest.map(|rest| rest.parse::<IpxInterface>().map_err(BadLocation::Ipx));
        let network = network.transpose()?;
        self.host = decode(name)?;
        self.via = Via::Ipx {
            frame: network.as_ref().and_then(|network| network.frame),
            network: network.as_ref().and_then(|network| network.network),
            interface: network.map(|network| network.interface),
            carriage,
        };
        Ok(())
    }

    fn set_share_and_path(&mut self, text: &str) -> Result<(), BadLocation> {
        let mut parts = text
            .split(['/', '\\'])
            .filter(|part| !matches!(*part, "" | "."));
        self.share = parts.next().unwrap_or_default().into();
        let parts: Vec<&str> = parts.collect();
        if parts.contains(&"..") || self.share == ".." {
            return Err(BadLocation::Upwards);
        }
        self.path = parts.join("/");
        self.trailing_slash = !parts.is_empty() && text.ends_with(['/', '\\']);
        Ok(())
    }
}

impl FromStr for Location {
    type Err = BadLocation;

    fn from_str(text: &str) -> Result<Self, BadLocation> {
        if !Self::is_meant(text) {
            return Err(BadLocation::Scheme);
        }
        match Scheme::of(text) {
            Some((scheme, rest)) => Self::from_url(scheme, rest),
            None => Self::from_unc(&text.get(2..).unwrap_or_default().replace('\\', "/")),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.via {
            Via::Tcp => Scheme::Smb,
            Via::Netbeui { .. } => Scheme::Nbf,
            Via::Ipx { carriage, .. } => Scheme::Ipx(carriage),
        };
        f.write_str(scheme.prefix())?;
        if let Some(user) = &self.user {
            if !self.domain.is_empty() {
                write!(f, "{};", encode(&self.domain))?;
            }
            write!(f, "{}@", encode(user))?;
        }
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?;
        } else {
            f.write_str(&self.host)?;
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        if let Via::Netbeui {
            interface: Some(interface),
        } = &self.via
        {
            write!(f, ":{}", encode(interface))?;
        }
        if let Via::Ipx {
            interface: Some(interface),
            frame,
            network,
            ..
        } = &self.via
        {
            let network = IpxInterface {
                interface: encode(interface),
                frame: *frame,
                network: *network,
            };
            write!(f, ":{network}")?;
        }
        write!(f, "/{}", encode(&self.share))?;
        if !self.path.is_empty() {
            write!(f, "/{}", encode(&self.path))?;
        }
        Ok(())
    }
}

fn decode(text: &str) -> Result<String, BadLocation> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2).ok_or(BadLocation::Percent)?;
        let text = std::str::from_utf8(digits).map_err(|_| BadLocation::Percent)?;
        bytes.push(u8::from_str_radix(text, 16).map_err(|_| BadLocation::Percent)?);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| BadLocation::Percent)
}

/// Percent-encodes reserved characters only.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' | '@' | ':' | ';' | ' ' | '"' | '\'' => {
                out.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(text: &str) -> Location {
        text.parse().unwrap()
    }

    #[test]
    fn all_components_of_a_url_are_parsed() {
        let place = parse("smb://LAB;anna:p%40ss%3aword@nas.local:1445/Games/DOOM%20II/DOOM.WAD");
        assert_eq!(
            (place.domain.as_str(), place.user.as_deref()),
            ("LAB", Some("anna"))
        );
        assert_eq!(place.password.clone().unwrap().as_bytes(), b"p@ss:word");
        assert_eq!((place.host.as_str(), place.port), ("nas.local", Some(1445)));
        assert_eq!(
            (place.share.as_str(), place.path.as_str()),
            ("Games", "DOOM II/DOOM.WAD")
        );
        assert_eq!((place.folder(), place.name()), ("DOOM II", "DOOM.WAD"));
    }

    #[test]
    fn missing_components_are_empty() {
        let place = parse("smb://nas");
        assert_eq!((place.user, place.port), (None, None));
        assert_eq!((place.share, place.path), (String::new(), String::new()));
        assert!(parse("smb://:secret@nas/a").user.is_none());
    }

    #[test]
    fn unc_names_with_either_slash_are_accepted() {
        for text in [
            "//nas/games/a/b.txt",
            "\\\\nas\\games\\a\\b.txt",
            "smb://nas/games\\a\\b.txt",
        ] {
            let place = parse(text);
            assert_eq!(
                (
                    place.host.as_str(),
                    place.share.as_str(),
                    place.path.as_str()
                ),
                ("nas", "games", "a/b.txt"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_slash_at_the_end_of_a_path_is_remembered_and_not_part_of_it() {
        for text in [
            "smb://nas/games/a/",
            "smb://nas/games/a//",
            "\\\\nas\\games\\a\\",
        ] {
            let place = parse(text);
            assert_eq!(
                (place.path.as_str(), place.trailing_slash),
                ("a", true),
                "{text}"
            );
            assert!(!place.with_path("b").trailing_slash);
        }
        for text in ["smb://nas/games/a", "smb://nas/games/"] {
            assert!(!parse(text).trailing_slash, "{text}");
        }
    }

    #[test]
    fn ipv6_addresses_stand_in_brackets() {
        let place = parse("SMB://[fe80::1]:139/x");
        assert_eq!((place.host.as_str(), place.port), ("fe80::1", Some(139)));
        assert_eq!(place.to_string(), "smb://[fe80::1]:139/x");
        let bare = "smb://fe80::1/x".parse::<Location>().unwrap_err();
        assert_eq!(bare, BadLocation::Brackets);
    }

    #[test]
    fn a_location_without_tcp_names_a_server_and_perhaps_an_interface() {
        let place = parse("nbf://anna@ATTIC:eth0/GAMES/A.TXT");
        let via = |interface: Option<&str>| Via::Netbeui {
            interface: interface.map(Into::into),
        };
        assert_eq!(
            (place.host.as_str(), &place.via),
            ("ATTIC", &via(Some("eth0")))
        );
        assert_eq!(place.to_string(), "nbf://anna@ATTIC:eth0/GAMES/A.TXT");
        let place = parse("NBF://ATTIC/GAMES");
        assert_eq!((&place.via, place.share.as_str()), (&via(None), "GAMES"));
        assert!(!place.same_share(&parse("smb://ATTIC/GAMES")));
        assert_eq!(
            "nbf:///x".parse::<Location>().unwrap_err(),
            BadLocation::Host
        );
    }

    #[test]
    fn a_location_on_ipx_names_interface_frame_type_network_and_carriage() {
        let place = parse("ipx://anna@ATTIC:eth0:802.3:17A2C0/GAMES/A.TXT");
        let via = Via::Ipx {
            interface: Some("eth0".into()),
            frame: Some(FrameType::Raw802_3),
            network: Some(Network(0x0017_a2c0)),
            carriage: None,
        };
        assert_eq!((place.host.as_str(), &place.via), ("ATTIC", &via));
        for text in [
            "ipx://anna@ATTIC:eth0:802.3:0017A2C0/GAMES/A.TXT",
            "ipx+nb://ATTIC/GAMES",
            "ipx+direct://ATTIC:eth0/GAMES",
        ] {
            assert!(Location::is_meant(text));
            assert_eq!(parse(text).to_string(), text);
        }
        for (text, why) in [
            ("ipx:///x", "the host is missing"),
            ("ipx://ATTIC:eth0:802.9/x", "'802.9' is not a frame type"),
            ("ipx://ATTIC:eth0:snap:QQ/x", "'QQ' is not a network number"),
        ] {
            let error = text.parse::<Location>().unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn invalid_locations_are_refused_with_a_reason() {
        for (text, why) in [
            ("nas/games", BadLocation::Scheme),
            ("smb:///games", BadLocation::Host),
            ("smb://nas:0/games", BadLocation::Port("0".into())),
            ("smb://nas:smb/games", BadLocation::Port("smb".into())),
            ("smb://nas/games/50%", BadLocation::Percent),
            ("smb://nas/games/../x", BadLocation::Upwards),
        ] {
            assert_eq!(text.parse::<Location>().unwrap_err(), why, "{text}");
        }
    }

    #[test]
    fn a_displayed_location_contains_no_password() {
        let place = parse("smb://anna:hush@nas/a%20b/c%25d");
        assert_eq!(place.to_string(), "smb://anna@nas/a%20b/c%25d");
        assert!(!format!("{place:?}").contains("hush"));
        let again = parse(&place.to_string());
        assert_eq!((again.share, again.path), (place.share, place.path));
    }
}
