//! The choices of a scenario.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use coax_wire::time::Span;

use crate::{
    clients, component::built_in, direction::Direction, netbios::Carrier, server::ServerParams,
    units::parse_span,
};

/// Keys of a scenario.
pub(super) const CHOICES: [&str; 21] = [
    "title",
    "direction",
    "protocol",
    "size",
    "files",
    "clients",
    "also",
    "seed",
    "limit",
    "link",
    "transport",
    "client.profile",
    "client.stack",
    "client.machine",
    "client.card",
    "client.netbios",
    "server.config",
    "server.stack",
    "server.machine",
    "server.card",
    "server.netbios",
];

/// Prefixes of the keys that can be changed.
pub(super) const PLACES: [&str; 11] = [
    "client.profile.",
    "client.stack.",
    "client.machine.",
    "client.card.",
    "client.netbios.",
    "server.config.",
    "server.stack.",
    "server.machine.",
    "server.card.",
    "server.netbios.",
    "link.",
];

/// NetBEUI and IPX where no other system's are stated: coax's own.
const OWN: &str = "coax";

/// The default time limit of a run: a day.
const DAY: Span = Span::from_secs(86_400);

/// Keys that name a file of `data`. Another name discards earlier changes below the key.
pub fn parts() -> impl Iterator<Item = &'static str> {
    PLACES.iter().map(|place| place.trim_end_matches('.'))
}

/// The components of a host.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// The client's profile or the server's configuration.
    pub(super) what: String,
    pub(super) stack: String,
    pub(super) machine: String,
    pub(super) card: String,
    /// The name that was chosen; `None`: the usual one.
    netbios: Option<String>,
}

impl Host {
    /// The file of its NetBEUI and IPX.
    pub(super) fn netbios(&self) -> String {
        let usual = || {
            let client = clients::by_name(&self.what).map(|profile| profile.netbios.clone());
            client.or_else(|| built_in::<ServerParams>(&self.what).ok()?.params.netbios)
        };
        let chosen = self.netbios.clone();
        chosen.or_else(usual).unwrap_or_else(|| OWN.to_string())
    }
}

/// What carries the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// A redirector's copy.
    #[default]
    Smb,
    /// One-way TCP between the hosts, as the data connection of FTP or TTCP. Profile and server configuration have no effect.
    Tcp,
}

#[derive(Clone, Debug)]
pub(super) struct Choices {
    pub(super) title: String,
    pub(super) direction: Direction,
    pub(super) protocol: Protocol,
    pub(super) size: u64,
    pub(super) files: u32,
    pub(super) clients: u32,
    pub(super) also: Vec<String>,
    pub(super) seed: u64,
    pub(super) limit: Span,
    pub(super) link: String,
    pub(super) carrier: Carrier,
    pub(super) client: Host,
    pub(super) server: Host,
}

impl Default for Choices {
    fn default() -> Self {
        let host = |what: &str| Host {
            what: what.to_string(),
            stack: "linux".to_string(),
            machine: "fast".to_string(),
            card: "plain".to_string(),
            netbios: None,
        };
        Self {
            title: String::new(),
            direction: Direction::ToServer,
            protocol: Protocol::Smb,
            size: 42_000_000,
            files: 1,
            clients: 1,
            also: Vec::new(),
            seed: 1,
            limit: DAY,
            link: "ethernet-100".to_string(),
            carrier: Carrier::Tcp,
            client: host("modern"),
            server: host("samba-nas"),
        }
    }
}

impl Choices {
    /// Sets a value; `Err(None)` for an unknown key, else the error.
    pub(super) fn take(&mut self, key: &str, value: &toml::Value) -> Result<(), Option<String>> {
        match key {
            "size" => self.size = size(value).map_err(Some)?,
            "files" => self.files = files(value).map_err(Some)?,
            "protocol" => self.protocol = protocol(value).map_err(Some)?,
            "clients" => self.clients = clients(value).map_err(Some)?,
            "also" => self.also = names(value).map_err(Some)?,
            "seed" => self.seed = whole(value, "a whole number from 0 on").map_err(Some)?,
            "limit" => {
                let text = value.as_str().ok_or_else(|| {
                    format!("{value} is not a time: write a number and its unit, such as \"60 s\"")
                });
                self.limit = text.and_then(parse_span).map_err(Some)?
            }
            "direction" => self.direction = direction(value).map_err(Some)?,
            "transport" => self.carrier = carrier(value).map_err(Some)?,
            "client.netbios" => self.client.netbios = Some(text(value).map_err(Some)?),
            "server.netbios" => self.server.netbios = Some(text(value).map_err(Some)?),
            _ => {
                let place = self.name(key).ok_or(None)?;
                *place = text(value).map_err(Some)?;
            }
        }
        Ok(())
    }

    fn name(&mut self, key: &str) -> Option<&mut String> {
        Some(match key {
            "title" => &mut self.title,
            "link" => &mut self.link,
            "client.profile" => &mut self.client.what,
            "client.stack" => &mut self.client.stack,
            "client.machine" => &mut self.client.machine,
            "client.card" => &mut self.client.card,
            "server.config" => &mut self.server.what,
            "server.stack" => &mut self.server.stack,
            "server.machine" => &mut self.server.machine,
            "server.card" => &mut self.server.card,
            _ => return None,
        })
    }

    /// All but the title and the limit, as text.
    pub(super) fn named(&self) -> Vec<(String, String)> {
        let direction = match self.direction {
            Direction::ToServer => "to-server",
            Direction::ToClient => "to-client",
        };
        let (client, server) = (&self.client, &self.server);
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        let mut all = vec![
            pair("client.profile", &client.what),
            pair("client.stack", &client.stack),
            pair("client.machine", &client.machine),
            pair("client.card", &client.card),
            pair("server.config", &server.what),
            pair("server.stack", &server.stack),
            pair("server.machine", &server.machine),
            pair("server.card", &server.card),
            pair("link", &self.link),
            pair("direction", direction),
            pair("size", &self.size.to_string()),
            pair("seed", &self.seed.to_string()),
        ];
        if self.files > 1 {
            all.push(pair("files", &self.files.to_string()));
        }
        if self.carrier != Carrier::Tcp {
            all.push(pair("client.netbios", &client.netbios()));
            all.push(pair("server.netbios", &server.netbios()));
            all.push(pair("transport", self.carrier.name()));
        }
        if self.protocol == Protocol::Tcp {
            all.push(pair("protocol", "tcp"));
        }
        if self.clients > 1 {
            all.push(pair("clients", &self.clients.to_string()));
        }
        if !self.also.is_empty() {
            let also: Vec<String> = self.also.iter().map(|it| format!("\"{it}\"")).collect();
            all.push(pair("also", &format!("[{}]", also.join(", "))));
        }
        all
    }
}

fn text(value: &toml::Value) -> Result<String, String> {
    let found = value.as_str().map(ToString::to_string);
    found.ok_or_else(|| format!("expected a string, not {}", value.type_str()))
}

fn whole(value: &toml::Value, allowed: &str) -> Result<u64, String> {
    let found = value.as_integer().and_then(|n| u64::try_from(n).ok());
    found.ok_or_else(|| format!("{value} is not possible; allowed is {allowed}"))
}

fn direction(value: &toml::Value) -> Result<Direction, String> {
    match value.as_str() {
        Some("to-server") => Ok(Direction::ToServer),
        Some("to-client") => Ok(Direction::ToClient),
        _ => Err(format!(
            "{value} is not a direction; allowed are \"to-server\" and \"to-client\""
        )),
    }
}

fn carrier(value: &toml::Value) -> Result<Carrier, String> {
    let named = value.as_str().and_then(Carrier::named);
    named.ok_or_else(|| {
        let all = Carrier::ALL.map(|carrier| format!("\"{}\"", carrier.name()));
        format!("{value} is not a transport; allowed are {}", all.join(", "))
    })
}

fn protocol(value: &toml::Value) -> Result<Protocol, String> {
    match value.as_str() {
        Some("smb") => Ok(Protocol::Smb),
        Some("tcp") => Ok(Protocol::Tcp),
        _ => Err(format!(
            "{value} is not a protocol; allowed are \"smb\" and \"tcp\" (one-way TCP, as FTP and TTCP)"
        )),
    }
}

fn size(value: &toml::Value) -> Result<u64, String> {
    match value {
        toml::Value::String(text) => parse_size(text),
        other => in_range(whole(other, SIZES)?, SIZES),
    }
}

/// As many as have names of eight characters.
fn files(value: &toml::Value) -> Result<u32, String> {
    const COUNTS: &str = "1 to 9999 files";
    let count = whole(value, COUNTS)?;
    let count = u32::try_from(count)
        .ok()
        .filter(|it| (1..=9999).contains(it));
    count.ok_or_else(|| format!("{value} is not possible; allowed is {COUNTS}"))
}

/// As many as have addresses in 192.0.2.0/24.
fn clients(value: &toml::Value) -> Result<u32, String> {
    const COUNTS: &str = "1 to 250 clients";
    let count = u32::try_from(whole(value, COUNTS)?).ok();
    let count = count.filter(|it| (1..=250).contains(it));
    count.ok_or_else(|| format!("{value} is not possible; allowed is {COUNTS}"))
}

fn names(value: &toml::Value) -> Result<Vec<String>, String> {
    let wrong = || {
        format!(
            "{value} is not possible; allowed is a list of client profiles, such as [\"windows-98\"]"
        )
    };
    let list = value.as_array().ok_or_else(wrong)?;
    let each = list.iter().map(|name| text(name).map_err(|_| wrong()));
    each.collect()
}

const SIZES: &str = "1 byte to 1 TB, such as 42MB or 42MiB";

fn in_range(bytes: u64, allowed: &str) -> Result<u64, String> {
    if (1..=1_000_000_000_000).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(format!("{bytes} is not possible; allowed is {allowed}"))
    }
}

/// A size: a whole number of bytes, or one with `kB`, `MB`, `GB` (powers of 1,000), `KiB`, `MiB` or `GiB` (of 1,024).
///
/// # Errors
/// The problem and the allowed form.
pub fn parse_size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 8] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let unit = UNITS
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1));
    let bytes = number.trim().parse::<u64>().ok();
    let bytes = bytes.and_then(|n| n.checked_mul(factor));
    let bytes = bytes.ok_or_else(|| format!("`{text}` is not a size; allowed is {SIZES}"))?;
    in_range(bytes, SIZES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_may_be_written_as_coax_itself_writes_it() {
        assert_eq!(parse_size("400KB"), Ok(400_000));
        assert_eq!(parse_size("400 kB"), Ok(400_000));
        assert_eq!(parse_size("4KiB"), Ok(4096));
        assert!(parse_size("4 kb").is_err());
    }
}
