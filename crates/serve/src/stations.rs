//! What the stations of NetBEUI and IPX share: the browser of their network.

use std::sync::Arc;

use coax_netbios::{BrowserConfig, BrowserEvent, BrowserNews, nbf::StationName, overheard};
use coax_wire::nbt::name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION};

use super::{
    host::Host,
    netbios::{browser_config, in_words, master_in_words, role, station_lists},
    status::{NameStatus, NetworkStatus},
};

/// The browser of a station: its configuration, and who reports its news.
pub(super) struct StationBrowsing {
    /// For the engine.
    pub(super) config: BrowserConfig,
    /// Names of others that the station must hear.
    pub(super) hears: Vec<NbName>,
    /// Reports.
    pub(super) teller: Teller,
}

/// Reports a browser's news and gives its lists to the SMB server.
pub(super) struct Teller {
    host: Arc<Host>,
    /// The interface and the protocol.
    at: String,
    workgroup: NbName,
    base_type: u32,
    /// For `coax status`.
    shown: NetworkStatus,
}

impl StationBrowsing {
    /// The browser of a station whose names begin with the server's and contain the workgroup's. `None` if they do not.
    pub(super) fn new(host: &Arc<Host>, at: String, names: &[StationName]) -> Option<Self> {
        let server = names
            .iter()
            .find(|own| own.name.suffix() == SUFFIX_SERVER)?;
        let is_workgroup =
            |own: &&StationName| own.group && own.name.suffix() == SUFFIX_WORKSTATION;
        let workgroup = names.iter().find(is_workgroup)?.name;
        let workgroup = workgroup.with_suffix(SUFFIX_SERVER);
        Some(Self {
            config: browser_config(host, (server.name, workgroup)),
            hears: overheard(workgroup).to_vec(),
            teller: Teller {
                shown: NetworkStatus {
                    address: at.clone(),
                    ..NetworkStatus::default()
                },
                at,
                workgroup,
                base_type: coax_server::server_type(&host.server()),
                host: host.clone(),
            },
        })
    }
}

/// Another station has one of the server's names on the network `at`.
pub(super) fn name_taken(at: &str, name: &str, by: &str) -> String {
    format!(
        "{at}: the name {name} belongs to the station {by}, which clients here reach instead; choose another with --name, or stop that \
         station: coax claims the name every minute. Other networks are not affected"
    )
}

impl Teller {
    /// Reports.
    pub(super) fn tell(&mut self, news: BrowserNews) {
        let (at, workgroup) = (&self.at, self.workgroup);
        match news {
            BrowserNews::Browser(BrowserEvent::Role { role, reason }) => {
                let text = in_words(at, workgroup, role, &reason);
                self.host.reporter.notice(text);
            }
            BrowserNews::Browser(BrowserEvent::Master(master)) => {
                let text = master_in_words(at, workgroup, master);
                self.host.reporter.notice(text);
            }
            BrowserNews::Browser(_) => {}
            BrowserNews::Lists(heard) => {
                let others = self.host.settings().global.netbios.browse_list;
                let server = self.host.server();
                let config = &server.config;
                let lists = station_lists(config.code_page, self.base_type, others, &heard);
                self.shown.role = Some(role(heard.role).into());
                self.shown.master.clone_from(&lists.master);
                if let Some(neighbours) = &config.neighbours {
                    neighbours.publish(at, lists);
                }
                self.show();
            }
        }
    }

    /// Shows the station's names.
    pub(super) fn tell_names(&mut self, names: &[(NbName, bool)]) {
        let shown = names.iter().map(|(name, registered)| NameStatus {
            name: name.to_string(),
            registered: *registered,
        });
        self.shown.names = shown.collect();
        self.show();
    }

    fn show(&self) {
        self.host
            .publish_networks(&self.at, vec![self.shown.clone()]);
    }
}
