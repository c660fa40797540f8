//! Print jobs of a client.

use std::net::SocketAddr;

use coax_smbconf::macros::MacroValues;

use super::Link;
use crate::{printing::Job, story::Story};

impl Link {
    /// Hands a complete print job to the printing thread.
    pub(super) fn print(&self, story: &Story, job: Job<'_>) {
        let settings = &*self.host.settings();
        let peer = self.address.parse::<SocketAddr>().ok();
        let addresses = peer.zip(self.socket.local_address());
        let values = MacroValues {
            host_name: &settings.global.netbios_name,
            workgroup: &settings.global.workgroup,
            ..story.macros(addresses.map(|(peer, ours)| (peer.ip(), ours.ip())))
        };
        if let Err(why) = self.host.printing.take(settings, job, &values) {
            story.note(&why);
        }
    }
}
