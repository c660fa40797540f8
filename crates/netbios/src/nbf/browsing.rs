//! The station of a browser.

use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::nbt::name::NbName;
use coax_wire::time::Time;

use crate::browse::{BrowserStation, Meaning};
use crate::datagram::{Incoming, Outgoing};
use crate::names::{NameKind, OwnName};

use super::Nbf;
use super::config::{NbfEvent, StationName};

impl BrowserStation for Nbf {
    type Address = Mac;
    type Event = NbfEvent;

    fn hardware(address: &Mac) -> Mac {
        *address
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

    /// All stations hear a datagram, and those that have its name take it (SC30-3587 §5.3).
    fn carry(&mut self, outgoing: &Outgoing<Mac>) {
        self.send_datagram(outgoing.source, Some(outgoing.destination), &outgoing.data);
    }

    fn next_event(&mut self) -> Option<NbfEvent> {
        self.poll_event()
    }

    fn names(&self) -> Vec<(NbName, bool)> {
        Self::names(self).collect()
    }

    /// A name in conflict is lost.
    fn meaning(event: &NbfEvent) -> Meaning<Self::Address> {
        match event {
            NbfEvent::NameRegistered(name) => Meaning::Name(*name, true),
            NbfEvent::NameRefused { name, .. } | NbfEvent::NameConflict { name, .. } => {
                Meaning::Name(*name, false)
            }
            NbfEvent::Datagram {
                from,
                source,
                destination: Some(destination),
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
