//! What the frames of several clients pass on their way: the line of a router, or the wire of a switch's port.

use coax_wire::time::Time;

use super::{
    LinkParams, TxFull,
    nic::Ring,
    wire::{Frame, Wire},
};
use crate::cause::Provenance;

/// The way behind the wires of one direction.
#[derive(Debug)]
pub(crate) struct Junction {
    router: Option<(Wire, Ring)>,
    queue_bytes: u64,
    port: Option<Wire>,
}

impl Junction {
    /// That of a link. Several clients send to one host if `many`.
    pub(crate) fn new(link: &LinkParams, many: bool) -> Self {
        let router = || (Wire::new(link.rate), Ring::new(0, TxFull::Drop));
        Self {
            router: link.access_rate.map(|_| router()),
            queue_bytes: link.queue_bytes,
            port: many.then(|| Wire::new(link.access_rate.unwrap_or(link.rate))),
        }
    }

    /// A frame is at the end of its sender's wire; `None` if the router's queue is full.
    pub(super) fn pass(&mut self, account: Provenance, frame: &Frame) -> Option<Provenance> {
        let account = self.route(account, frame)?;
        Some(match &mut self.port {
            Some(port) => port.follow(account, frame),
            None => account,
        })
    }

    fn route(&mut self, account: Provenance, frame: &Frame) -> Option<Provenance> {
        let Some((wire, queue)) = &mut self.router else {
            return Some(account);
        };
        let waiting = queue.bytes_waiting(account.at());
        if self.queue_bytes > 0 && waiting.saturating_add(frame.bytes) > self.queue_bytes {
            return None;
        }
        let (_, account) = wire.pass(Time(0), account, frame);
        queue.take(account.at(), frame.bytes);
        Some(account)
    }
}
