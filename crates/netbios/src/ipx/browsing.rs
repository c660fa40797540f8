//! The station of a browser.

use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::nbt::name::NbName;
use coax_wire::time::Time;

use crate::browse::{BrowserStation, Meaning};
use crate::datagram::{Incoming, Outgoing};
use crate::names::{NameKind, OwnName};
use crate::nbf::StationName;

use super::Ipx;
use super::config::IpxEvent;
use super::route::Place;

impl BrowserStation for Ipx {
    type Address = Place;
    type Event = IpxEvent;

    fn hardware(address: &Place) -> Mac {
        address.route.hop
    }

    fn register(&mut self, now: Time, own: &OwnName) {
        let own = StationName {
            name: own.name,
            group: own.kind == NameKind::Group,
            listens: false,
        };
        self.add_name(now, own);
    }

    fn release(&mut self, name: &NbName) {
        self.remove_name(name);
    }

    fn carry(&mut self, outgoing: &Outgoing<Place>) {
        self.send_datagram(outgoing);
    }

    fn next_event(&mut self) -> Option<IpxEvent> {
        self.poll_event()
    }

    fn names(&self) -> Vec<(NbName, bool)> {
        Self::names(self).collect()
    }

    fn meaning(event: &IpxEvent) -> Meaning<Self::Address> {
        match event {
            IpxEvent::NameRegistered(name) => Meaning::Name(*name, true),
            IpxEvent::NameRefused { name, .. } => Meaning::Name(*name, false),
            IpxEvent::Datagram {
                from,
                source,
                destination,
                data,
            } => Meaning::Datagram(Incoming {
                from: *from,
                source: *source,
                destination: *destination,
                data: data.clone(),
            }),
            _ => Meaning::Nothing,
        }
    }
}
