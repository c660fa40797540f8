//! IPX stations on one cable.

use super::super::*;
use std::vec;

use crate::cable::{Cable, station};
pub use crate::cable::{group, mac, name, pattern, unique};

station!(Ipx, IpxConfig, IpxEvent);

pub type Lan = Cable<Ipx>;

impl Lan {
    /// A server `SERVER` and a client `CLIENT` whose names are registered.
    pub fn pair() -> Self {
        Self::pair_with(|_| {})
    }

    pub fn pair_with(change: impl Fn(&mut IpxConfig)) -> Self {
        let server = vec![unique("SERVER<20>"), unique("SERVER<00>"), group("LAB<00>")];
        let mut server = IpxConfig::new(mac(1), server);
        let mut client = IpxConfig::new(mac(2), vec![unique("CLIENT<00>")]);
        change(&mut server);
        change(&mut client);
        Self::registered(vec![server, client])
    }

    /// Calls the server from the client: the client's session and the server's.
    pub fn call(&mut self, only: Carriage) -> (SessionId, SessionId) {
        let before = self.opened(0).len();
        let (called, calling) = (name("SERVER<20>"), name("CLIENT<00>"));
        let now = self.now;
        let id = self.stations[1]
            .call(now, called, calling, Some(only))
            .unwrap();
        for _ in 0..100 {
            if self.opened(1).contains(&id) {
                break;
            }
            self.run(Span::from_millis(100));
        }
        assert!(self.opened(1).contains(&id), "{:?}", self.events[1]);
        // The server of a direct session hears of it with the first request.
        let server = self.opened(0).get(before).copied();
        (id, server.unwrap_or(SessionId(u32::MAX)))
    }

    pub fn send(&mut self, from: usize, id: SessionId, bytes: Vec<u8>) {
        let now = self.now;
        self.stations[from].send(now, id, bytes).unwrap();
    }

    pub fn closed(&self, station: usize, of: SessionId) -> Option<SessionClose> {
        let of = |event: &IpxEvent| match event {
            IpxEvent::SessionClosed { session, why } if *session == of => Some(*why),
            _ => None,
        };
        self.events[station].iter().find_map(of)
    }

    /// The session packets in the log, oldest first.
    pub fn headers(&self) -> Vec<SessionHeader> {
        let of = |bytes: &Vec<u8>| {
            let frame = Frame::parse(bytes).unwrap();
            let (_, packet) = FrameType::parse(&frame).unwrap();
            let is_netbios = packet.destination.socket == socket::NETBIOS;
            let header = SessionHeader::parse(packet.data).ok()?.0;
            (is_netbios && packet.data.len() != nbipx::NAME_LEN).then_some(header)
        };
        self.log.iter().filter_map(of).collect()
    }
}
