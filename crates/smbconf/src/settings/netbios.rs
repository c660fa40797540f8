//! What the NetBIOS name service is told.

use std::{fmt, net::Ipv4Addr, path::PathBuf};

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
            domain_logons: false,
            domain_master: AutoSetting::Auto,
            logon_script: String::new(),
            logon_home: r"\\%N\%U".into(),
            messages: true,
            message_names: Vec::new(),
            message_command: String::new(),
            lmhosts: None,
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
