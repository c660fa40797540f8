//! Messages between users in datagrams: WinPopup's mailslot, whatever carries the datagrams.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::mailslot::{self, MailslotMessage};
use coax_wire::messenger::MessengerMessage;
use coax_wire::nbt::name::NbName;

use crate::datagram::{Incoming, Outgoing, Route};

/// Messages that may wait.
const MAX_WAITING: usize = 64;

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage<A> {
    /// The station that sent it.
    pub from: A,
    /// The NetBIOS name that sent it.
    pub source: NbName,
    /// The name it was sent to: one of ours.
    pub destination: NbName,
    /// The message.
    pub message: MessengerMessage,
}

/// Receives the messages for some names.
#[derive(Debug)]
pub struct Messenger<A> {
    names: Vec<NbName>,
    waiting: VecDeque<ReceivedMessage<A>>,
    dropped: u64,
}

impl<A: Copy> Messenger<A> {
    /// A receiver for the messages to `names`: a computer's `<03>` and `<00>`, a user's `<03>`, a workgroup's `<00>`.
    pub fn new(names: Vec<NbName>) -> Self {
        Self {
            names,
            waiting: VecDeque::new(),
            dropped: 0,
        }
    }

    /// A datagram arrived. Those for other names and other mailslots are passed over.
    pub fn handle_datagram(&mut self, incoming: &Incoming<A>) {
        if !self.names.contains(&incoming.destination) {
            return;
        }
        let Ok(slot) = MailslotMessage::parse(&incoming.data) else {
            return;
        };
        if !slot.is_for(mailslot::MESSENGER) {
            return;
        }
        let parsed = MessengerMessage::parse(&slot.data);
        match parsed {
            Ok(message) if self.waiting.len() < MAX_WAITING => {
                self.waiting.push_back(ReceivedMessage {
                    from: incoming.from,
                    source: incoming.source,
                    destination: incoming.destination,
                    message,
                });
            }
            _ => self.dropped = self.dropped.saturating_add(1),
        }
    }

    /// The next message.
    pub fn poll_message(&mut self) -> Option<ReceivedMessage<A>> {
        self.waiting.pop_front()
    }

    /// Malformed messages, and those that came while too many waited.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// The datagram of a message from `source` to `destination`, a machine or user (`<03>`, `<00>`) or a group (`<00>`).
pub fn message_datagram<A>(
    source: NbName,
    (destination, group): (NbName, bool),
    route: Route<A>,
    message: &MessengerMessage,
) -> Outgoing<A> {
    Outgoing {
        source,
        destination,
        group,
        route,
        data: MailslotMessage::new(mailslot::MESSENGER, message.emit()).emit(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn message() -> MessengerMessage {
        MessengerMessage {
            from: b"JIM".to_vec(),
            to: b"ANN".to_vec(),
            text: b"tea?".to_vec(),
        }
    }

    fn incoming(to: &str) -> Incoming<u8> {
        let names: [NbName; 2] = ["JIM<03>", to].map(|name| name.parse().unwrap());
        let [source, destination] = names;
        let sent = message_datagram(source, (destination, false), Route::Station(7), &message());
        Incoming {
            from: 7,
            source,
            destination,
            data: sent.data,
        }
    }

    #[test]
    fn messages_for_our_names_arrive_and_others_do_not() {
        let names = ["ANN<03>", "LAB<00>"].map(|name| name.parse().unwrap());
        let mut messenger = Messenger::new(names.to_vec());
        for to in ["ANN<03>", "BOB<03>", "LAB<00>", "LAB<1d>"] {
            messenger.handle_datagram(&incoming(to));
        }
        let got: Vec<_> = core::iter::from_fn(|| messenger.poll_message()).collect();
        let to: Vec<_> = got.iter().map(|got| got.destination).collect();
        assert_eq!(to, names);
        assert!(
            got.iter()
                .all(|got| got.message == message() && got.from == 7)
        );
    }

    #[test]
    fn malformed_and_too_many_messages_are_dropped() {
        let mut messenger = Messenger::new(Vec::from(["ANN<03>".parse().unwrap()]));
        let mut bad = incoming("ANN<03>");
        bad.data = MailslotMessage::new(mailslot::MESSENGER, b"JIM".to_vec()).emit();
        messenger.handle_datagram(&bad);
        for _ in 0..1000 {
            messenger.handle_datagram(&incoming("ANN<03>"));
        }
        let got = core::iter::from_fn(|| messenger.poll_message());
        assert_eq!(got.count(), MAX_WAITING);
        assert_eq!(messenger.dropped(), 1 + 1000 - MAX_WAITING as u64);
    }
}
