//! What a client sends to commands: print jobs and messages.

use std::net::SocketAddr;

use coax_smbconf::macros::MacroValues;

use super::Link;
use crate::{
    messages::{self, UserMessage},
    printing::Job,
    story::Story,
};

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

    /// Hands on a message between users: sender, recipient and text.
    pub(super) fn user_message(&self, story: &Story, [from, to, text]: [&str; 3]) {
        let settings = &*self.host.settings();
        let peer = self.address.parse::<SocketAddr>().ok();
        let addresses = peer.zip(self.socket.local_address());
        let macros = story.macros(addresses.map(|(peer, ours)| (peer.ip(), ours.ip())));
        let message = UserMessage {
            client: Some(self.number),
            address: peer.map_or_else(|| self.address.clone(), |peer| peer.ip().to_string()),
            from,
            to,
            text,
            values: MacroValues {
                host_name: &settings.global.netbios_name,
                workgroup: &settings.global.workgroup,
                ..macros.clone()
            },
        };
        messages::receive(&self.host, &message);
    }
}
