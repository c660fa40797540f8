//! Injected faults between the engine and the socket.

use coax_fault::{Ending, Out, Verdict};
use coax_server::{Tail, Transmit};
use coax_wire::{command as code, nbt::session::Framing, time::Time};

use crate::{
    host::Host,
    outbox::Outbox,
    outcome::{End, TurnOutcome},
    report::FaultLine,
    socket::Socket,
    story::Story,
};

/// The faults of one client. A server without faults has none.
#[derive(Debug)]
pub(super) struct Faults {
    connection: coax_fault::Connection<Transmit>,
    /// A fault has ended the connection.
    end: Option<Ending>,
    /// The fault that was applied last.
    last: String,
}

impl Faults {
    /// The faults of a client of this server.
    pub(super) fn begin(host: &Host, framing: Framing) -> Option<Box<Self>> {
        let plan = host.faults.clone()?;
        Some(Box::new(Self {
            connection: coax_fault::Connection::new(plan, framing),
            end: None,
            last: String::new(),
        }))
    }

    /// Takes a request. Returns whether the engine serves it.
    pub(super) fn request(&mut self, now: Time, message: &[u8], story: &mut Story) -> bool {
        match self.connection.request(now, message) {
            Verdict::Serve => true,
            Verdict::Withhold => false,
            Verdict::Answer(reply) => {
                story.reply(&whole(reply));
                false
            }
        }
    }

    /// Takes a message to the client.
    pub(super) fn reply(&mut self, now: Time, transmit: Transmit) {
        let head = transmit.head.clone();
        let bytes = |transmit: Transmit| {
            let mut bytes = transmit.head;
            bytes.extend(transmit.tail.into_bytes());
            bytes
        };
        self.connection.reply(now, transmit, &head, bytes);
    }

    /// Moves what is due to the outbox.
    pub(super) fn release(
        &mut self,
        now: Time,
        framing: Framing,
        (outbox, story): (&mut Outbox, &mut Story),
    ) -> Result<(), TurnOutcome> {
        for applied in self.connection.take_applied() {
            self.last = applied.fault.to_string();
            story.fault(FaultLine {
                client: 0,
                fault: self.last.clone(),
                command: code::name(applied.command).unwrap_or("unknown command"),
                mid: applied.mid,
            });
        }
        while let Some(out) = self.connection.poll(now) {
            let message = match out {
                Out::Unchanged(transmit) => transmit,
                Out::Message(bytes) => whole(bytes),
                Out::Bytes(bytes) => {
                    outbox.push_bytes(bytes);
                    continue;
                }
                Out::End(ending) => {
                    self.end = Some(ending);
                    break;
                }
            };
            let header = framing
                .header(message.len())
                .map_err(|error| TurnOutcome::Over(End::Because(error.to_string())))?;
            outbox.push(header, message);
        }
        Ok(())
    }

    /// When [`Self::release`] must be called.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.connection.deadline()
    }

    /// The end of the connection, if a fault has ended it. What was sent before it has been sent as far as possible.
    pub(super) fn end(&self, socket: &Socket) -> Option<TurnOutcome> {
        let ending = self.end?;
        if ending == Ending::Reset {
            socket.reset_at_end();
        }
        let why = format!("the fault {}", self.last);
        Some(TurnOutcome::Over(End::Because(why)))
    }
}

fn whole(head: Vec<u8>) -> Transmit {
    Transmit {
        head,
        tail: Tail::None,
    }
}
