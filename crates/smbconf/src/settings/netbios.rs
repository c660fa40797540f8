//! What the NetBIOS name service is told.

use coax_wire::ipx::{FrameType, Network};
use std::{fmt, net::Ipv4Addr, path::PathBuf, str::FromStr};

/// Names of other machines and WINS. Parameters in the documentation of each field are smb.conf's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetbiosSettings {
    /// `coax:node type`: how names are registered; `None`: as a B node, or as an M node with a WINS server.
    pub node: Option<NodeTypeSetting>,
    /// `netbios scope`: only machines of the same scope see each other.
    pub scope: String,
    /// `wins server`: where to register and look up names, the primary server first.
    pub wins_servers: Vec<Ipv4Addr>,
    /// `wins support`: be a WINS server.
    pub wins_support: bool,
    /// `wins proxy`: answer broadcasts for names that only WINS knows.
    pub wins_proxy: bool,
    /// `wins hook`: a command at every change of a record.
    pub wins_hook: String,
    /// `max wins ttl`, seconds: the longest time to live that the WINS server grants.
    pub max_wins_ttl_s: u32,
    /// `min wins ttl`, seconds: the shortest.
    pub min_wins_ttl_s: u32,
    /// `coax:wins database`: the file of the WINS server's records.
    pub wins_database: PathBuf,
    /// `os level`: the weight in elections of the master browser, 0 to 255.
    pub os_level: u32,
    /// `local master`: take part in elections.
    pub local_master: bool,
    /// `preferred master`: call an election at the start. `auto`: if it is the domain master.
    pub preferred_master: AutoSetting,
    /// `browse list`: give out the list of other servers.
    pub browse_list: bool,
    /// `lm announce`: announce the server to LAN Manager and OS/2.
    pub lm_announce: AutoSetting,
    /// `lm interval`, seconds between those announcements; 0: none.
    pub lm_interval_s: u32,
    /// `coax:browse sync interval`, seconds between two exchanges of lists with browsers of other networks.
    pub browse_sync_interval_s: u32,
    /// `domain logons`: answer Windows 9x's search for a domain controller.
    pub domain_logons: bool,
    /// `domain master`: be the domain master browser and the primary domain controller.
    pub domain_master: AutoSetting,
    /// `logon script`, relative to the share `NETLOGON`.
    pub logon_script: String,
    /// `logon home`: the home folder.
    pub logon_home: String,
    /// `coax:messages`: receive messages between users.
    pub messages: bool,
    /// `coax:message names`: further names, such as users of this machine, whose messages are received.
    pub message_names: Vec<String>,
    /// `message command`: run for each message; empty: none.
    pub message_command: String,
    /// `coax:lmhosts`: names and addresses that the WINS server answers besides.
    pub lmhosts: Option<PathBuf>,
    /// `coax:ipx`: interfaces for IPX.
    pub ipx: Vec<IpxInterface>,
}

impl Default for NetbiosSettings {
    fn default() -> Self {
        Self {
            node: None,
            scope: String::new(),
            wins_servers: Vec::new(),
            wins_support: false,
            wins_proxy: false,
            wins_hook: String::new(),
            max_wins_ttl_s: 518_400,
            min_wins_ttl_s: 21_600,
            wins_database: "/var/lib/coax/wins.dat".into(),
            os_level: 20,
            local_master: true,
            preferred_master: AutoSetting::Auto,
            browse_list: true,
            lm_announce: AutoSetting::Auto,
            lm_interval_s: 60,
            browse_sync_interval_s: 300,
            domain_logons: false,
            domain_master: AutoSetting::Auto,
            logon_script: String::new(),
            logon_home: r"\\%N\%U".into(),
            messages: true,
            message_names: Vec::new(),
            message_command: String::new(),
            lmhosts: None,
            ipx: Vec::new(),
        }
    }
}

/// An interface for IPX: `INTERFACE[:FRAME[:NETWORK]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpxInterface {
    /// The interface.
    pub interface: String,
    /// The frame type; `None`: it is detected.
    pub frame: Option<FrameType>,
    /// The number of the network; `None`: it is learned.
    pub network: Option<Network>,
}

impl FromStr for IpxInterface {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let interface = parts.next().unwrap_or_default();
        if interface.is_empty() {
            return Err("name the interface, as in eth0 or eth0:802.2:0017A2C0".into());
        }
        let frame = match parts.next() {
            None | Some("" | "auto") => None,
            Some(frame) => Some(frame.parse().map_err(|_| {
                format!("'{frame}' is not a frame type: 802.2, 802.3, ethernet-ii, snap or auto")
            })?),
        };
        let network = parts.next().map(ipx_network).transpose()?;
        match parts.next() {
            None => Ok(Self {
                interface: interface.into(),
                frame,
                network: network.flatten(),
            }),
            Some(_) => Err(format!(
                "'{text}' has too many parts: INTERFACE, FRAME and NETWORK, separated by colons"
            )),
        }
    }
}

/// Reads an IPX network number; an empty one is learned.
///
/// # Errors
/// It is no number from 1 to FFFFFFFE.
fn ipx_network(text: &str) -> Result<Option<Network>, String> {
    let number = match text.len() {
        0 => return Ok(None),
        1..=8 => u32::from_str_radix(text, 16).ok(),
        _ => None,
    };
    let usable = number.filter(|number| !matches!(*number, 0 | u32::MAX) && !text.starts_with('+'));
    match usable {
        Some(number) => Ok(Some(Network(number))),
        None => Err(format!(
            "'{text}' is not a network number: up to eight hexadecimal digits, 1 to FFFFFFFE"
        )),
    }
}

impl fmt::Display for IpxInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.interface)?;
        match (self.frame, self.network) {
            (None, None) => Ok(()),
            (Some(frame), None) => write!(f, ":{frame}"),
            (None, Some(network)) => write!(f, ":auto:{network}"),
            (Some(frame), Some(network)) => write!(f, ":{frame}:{network}"),
        }
    }
}

impl NetbiosSettings {
    /// Whether the server is the domain master browser; by default that of a domain is.
    pub fn is_domain_master(&self) -> bool {
        match self.domain_master {
            AutoSetting::Yes => true,
            AutoSetting::No => false,
            AutoSetting::Auto => self.domain_logons,
        }
    }

    /// Whether the server calls an election; by default a domain master does.
    pub fn is_preferred_master(&self) -> bool {
        match self.preferred_master {
            AutoSetting::Yes => true,
            AutoSetting::No => false,
            AutoSetting::Auto => self.is_domain_master(),
        }
    }
}

/// A node type of RFC 1001, section 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeTypeSetting {
    /// Broadcasts only.
    B,
    /// WINS only.
    P,
    /// Broadcasts, then WINS.
    M,
    /// WINS, and broadcasts if no WINS server answers.
    H,
}

impl fmt::Display for NodeTypeSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::B => "b",
            Self::P => "p",
            Self::M => "m",
            Self::H => "h",
        })
    }
}

/// A setting that may be left to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSetting {
    /// Yes.
    Yes,
    /// No.
    No,
    /// As the server decides.
    Auto,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_for_ipx_is_read_as_it_is_written() {
        for text in [
            "eth0",
            "eth0:snap",
            "eth0:auto:0017A2C0",
            "br0:802.3:00000001",
        ] {
            let read: Result<IpxInterface, String> = text.parse();
            assert_eq!(read.map(|read| read.to_string()), Ok(text.to_string()));
        }
        let short: Result<IpxInterface, String> = "eth0:ETHERNET_II:a".parse();
        assert_eq!(
            short.map(|read| read.to_string()),
            Ok("eth0:ethernet-ii:0000000A".to_string())
        );
        for (text, why) in [
            ("", "name the interface"),
            (":snap", "name the interface"),
            ("eth0:802.4", "'802.4' is not a frame type: 802.2"),
            ("eth0:snap:xyz", "'xyz' is not a network number"),
            ("eth0:snap:0", "'0' is not a network number"),
            ("eth0::FFFFFFFF", "'FFFFFFFF' is not a network number"),
            ("eth0::123456789", "is not a network number"),
            ("eth0:snap:1:2", "too many parts"),
        ] {
            let error = text.parse::<IpxInterface>().err().unwrap_or_default();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
