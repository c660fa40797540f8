//! Answers of the server: decoding, judging, and updating the client.

use super::{World, describe};
use crate::{
    client::{Envelope, File, Kind},
    model::Check,
    op::{Carrier, Op, Oplock, Request},
    reply::{self, Message, Reply},
};
use coax_server::{Tail, Transmit};

impl World {
    pub(super) fn take_answers(&mut self, client: usize, trigger: Option<u16>) -> Check {
        let mut messages = Vec::new();
        while let Some(transmit) = self.clients[client].conn.poll_transmit() {
            let raw = transmit.head.is_empty();
            let bytes = self.bytes_of(transmit)?;
            self.trace(&bytes);
            messages.push((
                reply::parse(&bytes, raw).ok_or("a malformed message")?,
                bytes,
            ));
        }
        while self.clients[client].conn.poll_event().is_some() {}
        if self.clients[client].conn.is_closing() {
            return Err("the server closes a connection whose client did nothing wrong".into());
        }
        // A request can release other requests. Their answers may precede its own but belong after it.
        let is_own = |message: &Message| match message {
            Message::Answer { mid, .. } => Some(*mid) == trigger,
            Message::Raw(_) => true,
            Message::Break { .. } => false,
        };
        messages.sort_by_key(|(message, _)| !is_own(message));
        for (message, bytes) in messages {
            self.take(client, message, &bytes, trigger)?;
        }
        self.judge(client, |model, at| model.close_rest(at))?;
        self.forget_closed(client);
        self.note_waiting(client, trigger);
        let (held, acknowledged) = (
            self.clients[client].conn.held().opens,
            self.model.open_count(client),
        );
        if held != acknowledged {
            return Err(format!(
                "the server keeps {held} files open for a client that knows of {acknowledged}"
            ));
        }
        self.step_done()
    }

    /// The server reads file data when it sends it. A disk error at that time would end the connection, so none is
    /// injected.
    fn bytes_of(&self, transmit: Transmit) -> Result<Vec<u8>, String> {
        let mut bytes = transmit.head;
        if let Tail::File { .. } = transmit.tail {
            self.disks.iter().for_each(|disk| disk.inject(None));
        }
        bytes.extend(transmit.tail.into_bytes());
        Ok(bytes)
    }

    fn note_waiting(&mut self, client: usize, trigger: Option<u16>) {
        let waits = |pending: &&mut Request| {
            pending.client == client && Some(pending.mid) == trigger && pending.delivered
        };
        if let Some(request) = self.pending.iter_mut().find(waits) {
            request.waited = true;
            self.figures.waited += 1;
            self.model.watched(request);
        }
    }

    fn take(
        &mut self,
        client: usize,
        message: Message,
        bytes: &[u8],
        trigger: Option<u16>,
    ) -> Check {
        match message {
            Message::Break { fid, to } => self.take_break(client, fid, to),
            Message::Raw(data) => {
                let reply = Reply {
                    data: (!data.is_empty()).then_some(data),
                    ..Reply::default()
                };
                self.take_answer(
                    client,
                    trigger.ok_or("raw data that nobody asked for")?,
                    reply,
                    None,
                )
            }
            Message::Answer { mid, reply } => self.take_answer(client, mid, reply, Some(bytes)),
        }
    }

    fn take_break(&mut self, client: usize, fid: u16, to: Oplock) -> Check {
        self.tell(|| format!("client {client} < the oplock of FID {fid} breaks to {to:?}"));
        self.figures.breaks += 1;
        self.model.break_told((client, fid), to, self.now)?;
        let from = &mut self.clients[client];
        if let Some(file) = from.file(fid) {
            file.cached = None;
            if file.oplock.excludes() {
                from.breaks.push((fid, to));
            } else {
                file.oplock = Oplock::None;
            }
        }
        Ok(())
    }

    fn take_answer(
        &mut self,
        client: usize,
        mid: u16,
        mut reply: Reply,
        message: Option<&[u8]>,
    ) -> Check {
        let index = self
            .pending
            .iter()
            .position(|pending| (pending.client, pending.mid) == (client, mid));
        if index.is_none() && !reply.is_ok() && self.clients[client].acknowledged.contains(&mid) {
            // An acknowledgement gets an answer only if it is refused.
            return Ok(());
        }
        let index = index.ok_or("an answer to no request, or a second one")?;
        if self.is_interim(client, index, &reply) {
            return Ok(());
        }
        let request = self.pending.remove(index);
        let well_formed = message.is_none_or(|message| reply.complete(&request, message));
        self.tell(|| {
            let opened = reply
                .opened
                .map(|opened| format!(" {opened:?}"))
                .unwrap_or_default();
            format!(
                "client {client} < {:#010x} to {}{opened}",
                reply.status,
                describe(&request)
            )
        });
        if !well_formed {
            return Err("a malformed answer".into());
        }
        *(if reply.is_ok() {
            &mut self.figures.succeeded
        } else {
            &mut self.figures.refused
        }) += 1;
        // An empty raw reply carries no information.
        if message.is_some() || reply.data.is_some() {
            self.judge(client, |model, at| model.judge(&request, &reply, at))
                .map_err(|wrong| format!("{wrong}: {}", describe(&request)))?;
        }
        self.learn(client, &request, reply);
        Ok(())
    }

    /// Handles a reply that asks for the rest of a request.
    fn is_interim(&mut self, client: usize, index: usize, reply: &Reply) -> bool {
        const WRITE_RAW: u8 = 0x1d;
        let request = &mut self.pending[index];
        let raw = matches!(
            request.op,
            Op::Write {
                by: Carrier::Raw,
                ..
            }
        );
        let from = &mut self.clients[client];
        let asks = reply.is_ok()
            && if raw {
                reply.command == WRITE_RAW
            } else {
                reply.words == 0
            };
        let Some(pieces) = from.pieces.remove(&request.mid) else {
            return false;
        };
        if !asks {
            from.raw &= !raw;
            return false;
        }
        if !request.abandoned {
            for bytes in pieces {
                from.outbox.push_front(Envelope {
                    kind: Kind::Piece(request.mid),
                    request: request.clone(),
                    bytes,
                });
            }
        }
        true
    }

    /// Updates the client's knowledge from a reply.
    fn learn(&mut self, client: usize, request: &Request, reply: Reply) {
        let from = &mut self.clients[client];
        let ids = (request.uid, request.tid, request.pid);
        if let Some(opened) = reply.opened {
            let folder = matches!(&request.op, Op::Open(args) if args.folder == Some(true));
            from.forget_cached();
            from.files.push(File {
                fid: opened.fid,
                ids,
                folder,
                oplock: opened.oplock,
                cached: None,
                dirty: None,
            });
        }
        match (&request.op, reply.is_ok()) {
            (Op::Close { fid }, _) if self.model.open((client, *fid)).is_none() => {
                from.files.retain(|file| file.fid != *fid)
            }
            (Op::LogOn { user }, true) => from.sessions.push((reply.uid, *user)),
            (Op::LogOff, true) => from.sessions.retain(|session| session.0 != request.uid),
            (Op::Connect { .. }, true) => from.trees.push((reply.tid, request.uid)),
            (Op::Disconnect, true) => from.trees.retain(|tree| tree.0 != request.tid),
            (
                Op::Read {
                    fid, offset, len, ..
                },
                true,
            ) => {
                if let (Some(file), Some(data)) = (from.file(*fid), reply.data) {
                    file.cached = (file.oplock != Oplock::None).then_some((*offset, *len, data));
                }
            }
            (Op::Write { fid, .. }, _) => {
                from.forget_cached();
                self.model.set_dirty((client, *fid), false);
            }
            (Op::SetLength { .. }, _) => from.forget_cached(),
            _ => {}
        }
        self.forget_closed(client);
    }

    fn forget_closed(&mut self, client: usize) {
        let model = &self.model;
        self.clients[client]
            .files
            .retain(|file| model.open((client, file.fid)).is_some());
    }
}
