//! NetBEUI stations on one cable.

use super::super::*;
use std::vec;

use crate::cable::{Cable, station};
pub use crate::cable::{group, mac, name, pattern, unique};

station!(Nbf, NbfConfig, NbfEvent);

pub type Lan = Cable<Nbf>;

impl Lan {
    /// A server `SERVER` and a client `CLIENT` whose names are registered.
    pub fn pair() -> Self {
        Self::pair_with(|_| {})
    }

    pub fn pair_with(change: impl Fn(&mut NbfConfig)) -> Self {
        let mut server = NbfConfig::new(mac(1), vec![unique("SERVER<20>"), group("LAB<00>")]);
        let mut client = NbfConfig::new(mac(2), vec![unique("CLIENT<00>")]);
        change(&mut server);
        change(&mut client);
        Self::registered(vec![server, client])
    }

    /// Calls from a station and waits for the outcome: the caller's session and the server's.
    pub fn call(&mut self, from: usize, to: usize, called: &str) -> (SessionId, SessionId) {
        let before = self.opened(to).len();
        let id = self.stations[from]
            .call(self.now, name(called), name("CLIENT<00>"))
            .unwrap();
        self.run(Span::from_secs(2));
        assert!(self.opened(from).contains(&id), "{:?}", self.events[from]);
        (id, self.opened(to)[before])
    }

    /// Commands of the NetBIOS frames in the log, oldest first.
    pub fn commands(&self) -> Vec<u8> {
        let of = |bytes: &Vec<u8>| {
            let Payload::Length(payload) = Ethernet::parse(bytes).ok()?.payload else {
                return None;
            };
            let pdu = Pdu::parse(payload).ok()?;
            pdu.info.get(4).copied()
        };
        self.log.iter().filter_map(of).collect()
    }
}
