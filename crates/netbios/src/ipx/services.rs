//! Networks and services: enough of RIP and SAP for a network without a router or NetWare server.

use coax_wire::ether::Mac;
use coax_wire::ipx::{Address, Network, kind, rip, sap, socket};
use coax_wire::time::Time;

use super::Ipx;
use super::config::IpxEvent;
use super::route::Place;

/// Delay of the own network in eighteenths of a second: as a router tells it in tests/captures/tcpdump-ipx.pcap.
const TICKS: u16 = 2;

impl Ipx {
    /// The number of this network; 0 until it is known.
    pub fn network(&self) -> Network {
        self.network
    }

    /// Asks routers for the number of the network.
    pub(super) fn ask_for_network(&mut self) {
        let request = rip::Packet {
            is_response: false,
            routes: alloc::vec![rip::Route {
                network: rip::ANY,
                hops: rip::UNREACHABLE,
                ticks: 0xffff,
            }],
        };
        self.broadcast(kind::RIP, socket::RIP, &[&request.emit()]);
    }

    /// A station that is in this network, and not behind a router or in a network inside of itself, tells its number by
    /// its address.
    pub(super) fn learn_network(&mut self, mac: Mac, source: Address, hops: u8) {
        let network = source.host.network;
        let is_near = hops == 0 && source.host.node == mac;
        if self.network == Network(0) && network != Network(0) && is_near {
            self.network = network;
            self.tell(IpxEvent::NetworkLearned { network, from: mac });
        }
    }

    pub(super) fn handle_rip(&mut self, now: Time, from: Place, packet: &rip::Packet) {
        let own = self.network;
        let mut routes = packet.routes.iter();
        let asks = routes.any(|route| route.network == rip::ANY || route.network == own);
        if packet.is_response || !asks || own == Network(0) || !self.may_reply(now, from.route) {
            return;
        }
        let answer = rip::Packet {
            is_response: true,
            routes: alloc::vec![rip::Route {
                network: own,
                hops: 1,
                ticks: TICKS,
            }],
        };
        self.reply(kind::RIP, socket::RIP, from, &[&answer.emit()]);
    }

    pub(super) fn handle_sap(&mut self, now: Time, from: Place, packet: &sap::Packet) {
        let operation = match packet.operation {
            sap::Operation::GeneralQuery => sap::Operation::GeneralResponse,
            sap::Operation::NearestQuery => sap::Operation::NearestResponse,
            _ => return,
        };
        let any = packet.operation == sap::Operation::GeneralQuery && packet.wanted == sap::ANY;
        let asks = any || packet.wanted == sap::NT_SERVER;
        let Some(name) = self.config.advertised.clone().filter(|_| asks) else {
            return;
        };
        if !self.may_reply(now, from.route) {
            return;
        }
        let address = Address::new(self.network, self.config.mac, socket::SMB_SERVER);
        let answer = sap::Packet {
            operation,
            wanted: sap::ANY,
            services: alloc::vec![sap::Service {
                kind: sap::NT_SERVER,
                name,
                address,
                hops: 1,
            }],
        };
        self.reply(kind::PACKET_EXCHANGE, socket::SAP, from, &[&answer.emit()]);
    }
}
