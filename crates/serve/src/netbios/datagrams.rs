//! Datagrams on UDP port 138 of one network, and who hears them: the browser, the messenger and the log-on server.

use std::net::SocketAddrV4;

use coax_netbios::{
    LogonConfig, LogonEvent, LogonServer, Messenger, NbtDatagrams, NbtDatagramsConfig, Network,
    ReceivedMessage, Transmit,
};
use coax_wire::{
    nbt::name::{NbName, SUFFIX_MESSENGER, SUFFIX_WORKSTATION},
    time::Time,
};

use super::{
    super::{host::Host, random},
    browsing::Browsing,
    kind,
};

/// The datagrams of one network.
#[derive(Debug)]
pub(super) struct Datagrams {
    transport: NbtDatagrams,
    network: Network,
    /// The browser; without one, the machine does not hear broadcasts.
    pub(super) browsing: Option<Browsing>,
    messenger: Option<Messenger<SocketAddrV4>>,
    logons: Option<LogonServer<SocketAddrV4>>,
}

impl Datagrams {
    /// Starts to announce the server on `network`, and to hear messages for `users`.
    pub(super) fn start(
        host: &Host,
        network: Network,
        (computer, workgroup): (NbName, NbName),
        users: &[NbName],
    ) -> Result<Self, String> {
        let netbios = &host.settings().global.netbios;
        let mut config = NbtDatagramsConfig::new(network);
        config.node = kind::node_type(netbios);
        config.scope = kind::scope(netbios)?;
        // `Names::handle_packet` decides which stations of other networks are heard.
        config.foreign = true;
        let first_id = random::random().map(u16::from_le_bytes);
        config.first_id = first_id.unwrap_or_default();
        // A P node hears no broadcasts, so it cannot browse.
        let browses = config.node.uses_broadcast();
        let browsing = browses.then(|| Browsing::start(host, network, (computer, workgroup)));
        let messenger = netbios.messages.then(|| {
            let own = [computer, workgroup].map(|name| name.with_suffix(SUFFIX_WORKSTATION));
            let mut names = own.to_vec();
            names.push(computer.with_suffix(SUFFIX_MESSENGER));
            names.extend_from_slice(users);
            Messenger::new(names)
        });
        let logons = netbios.domain_logons.then(|| {
            LogonServer::new(LogonConfig {
                computer,
                domain: workgroup,
                primary: netbios.is_domain_master(),
            })
        });
        Ok(Self {
            transport: NbtDatagrams::new(config),
            network,
            browsing,
            messenger,
            logons,
        })
    }

    /// A packet arrived on port 138. Only stations of this network take part in browsing, and local master browsers of others.
    pub(super) fn handle_packet(&mut self, now: Time, from: SocketAddrV4, bytes: &[u8]) {
        self.transport.handle_packet(now, from, bytes);
        let local = self.network.contains(*from.ip());
        while let Some(incoming) = self.transport.poll_incoming() {
            if let Some(messenger) = &mut self.messenger {
                messenger.handle_datagram(&incoming);
            }
            if let Some(logons) = &mut self.logons {
                logons.handle_datagram(now, &incoming);
            }
            match &mut self.browsing {
                Some(browsing) if local => browsing.handle_datagram(now, &incoming),
                Some(browsing) => browsing.handle_remote_datagram(now, &incoming),
                None => {}
            }
        }
    }

    /// The next message to a user.
    pub(super) fn poll_message(&mut self) -> Option<ReceivedMessage<SocketAddrV4>> {
        self.messenger.as_mut()?.poll_message()
    }

    /// What the log-on server has to report.
    pub(super) fn poll_logon(&mut self) -> Option<LogonEvent<SocketAddrV4>> {
        self.logons.as_mut()?.poll_event()
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if let Some(browsing) = &mut self.browsing {
            browsing.handle_timeout(now);
        }
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.browsing.as_ref()?.due()
    }

    pub(super) fn shutdown(&mut self, now: Time) {
        if let Some(browsing) = &mut self.browsing {
            browsing.shutdown(now);
        }
    }

    /// A packet to send on port 138, until there is none.
    pub(super) fn poll_transmit(&mut self) -> Option<Transmit> {
        while let Some(outgoing) = self.browsing.as_mut().and_then(Browsing::poll_outgoing) {
            self.transport.send(&outgoing);
        }
        while let Some(outgoing) = self.logons.as_mut().and_then(LogonServer::poll_outgoing) {
            self.transport.send(&outgoing);
        }
        self.transport.poll_transmit()
    }
}
