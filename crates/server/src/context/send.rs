//! Completes a reply: header, status, signature; then queues it.

use super::{
    Context,
    progress::Progress,
    reply::{Reply, Tail, Transmit},
};
use crate::{
    session::SignedRequest,
    table::{OpenId, Oplock},
};
use coax_wire::{
    block::BlockWriter,
    command,
    dialect::Generation,
    header::{Flags, Flags2, Header, Mid, Pid, Uid},
    io::Writer,
    smb::locking_andx::Request,
    status::Status,
};

impl Context {
    pub(super) fn finish(&mut self, progress: Progress) {
        let Progress {
            header,
            reply,
            signed,
            ..
        } = progress;
        self.send_reply(&header, reply, signed);
    }

    /// Sends an empty block with `status`.
    pub(super) fn send_error(&mut self, header: &Header, status: Status, signed: SignedRequest) {
        let mut reply = Reply::begin();
        BlockWriter::begin(&mut reply.out).finish(0);
        reply.status = Some(status);
        self.send_reply(header, reply, signed);
    }

    /// Writes the header and queues the reply. `header` is the request's, with current UID and TID.
    pub(crate) fn send_reply(&mut self, header: &Header, mut reply: Reply, signed: SignedRequest) {
        let status = reply.status.unwrap_or(Status::OK);
        // Windows marks a class and code without an NTSTATUS as such (raw.lock async).
        let nt_status = header.flags2.has(Flags2::NT_STATUS)
            && self.server.config.nt_status
            && !status.is_dos();
        let head = Header {
            status: self.wire_status(status, nt_status),
            flags: Flags(self.reply_flags(header.flags).0 | reply.oplock_flags),
            flags2: self.reply_flags2(header.flags2, nt_status),
            signature: [0; 8],
            ..*header
        };
        let more = core::mem::take(&mut reply.more);
        self.send_message(&head, reply, signed);
        for out in more {
            let reply = Reply {
                out,
                ..Reply::default()
            };
            self.send_message(&head, reply, signed);
        }
    }

    fn send_message(&mut self, head: &Header, mut reply: Reply, signed: SignedRequest) {
        reply.put_header(head);
        if let Some(number) = self.signing.number_for(signed) {
            reply.flatten();
            self.signing.sign(number, reply.out.as_mut_slice());
        }
        let Reply { out, tail, .. } = reply;
        self.transmits.push_back(Transmit {
            head: out.into_vec(),
            tail,
        });
    }

    /// The header's status field in the form that this client understands.
    pub(crate) fn wire_status(&self, status: Status, nt_status: bool) -> u32 {
        match self.client.dialect {
            Some(dialect) if dialect.dos && !nt_status => status.dos().for_dos().to_wire(),
            _ => status.to_wire(nt_status),
        }
    }

    /// Queues raw data: a message without header.
    pub(crate) fn send_raw(&mut self, tail: Tail) {
        self.transmits.push_back(Transmit {
            head: alloc::vec::Vec::new(),
            tail,
        });
    }

    /// Notifies the client of an oplock break: a LOCKING_ANDX request of the server, MID and PID 0xFFFF, the high half
    /// of the PID and the UID zero ([MS-CIFS] 3.3.4.2). It is never signed ([MS-CIFS] 3.3.4.1.1).
    pub(super) fn send_oplock_break(&mut self, open: OpenId, to: Oplock) {
        let Some(file) = self.files.by_open(open) else {
            return;
        };
        let header = Header {
            command: command::LOCKING_ANDX,
            tid: file.tid,
            pid: Pid(0xffff),
            uid: Uid(0),
            mid: Mid(0xffff),
            ..Header::default()
        };
        let level = u8::from(to == Oplock::LevelII);
        let mut out = Writer::with_capacity(64);
        header.emit(&mut out);
        Request::oplock_break(file.fid, level).emit(&mut out);
        self.raw.note_break(open);
        self.transmits.push_back(Transmit {
            head: out.into_vec(),
            tail: Tail::None,
        });
    }

    fn reply_flags(&self, asked: Flags) -> Flags {
        let lock_and_read = if asked.0 & Flags::LOCK_AND_READ_OK == 0 {
            0
        } else {
            Flags::LOCK_AND_READ_OK
        };
        Flags(Flags::REPLY | (asked.0 & (Flags::CASELESS | Flags::CANONICAL)) | lock_and_read)
    }

    fn reply_flags2(&self, asked: Flags2, nt_status: bool) -> Flags2 {
        let generation = self
            .client
            .dialect
            .map_or(Generation::Core, |dialect| dialect.generation);
        let mut kept = asked.0
            & (Flags2::LONG_NAMES | Flags2::EAS | Flags2::UNICODE | Flags2::EXTENDED_SECURITY);
        kept |= asked.0 & (Flags2::IS_LONG_NAME | Flags2::SIGNED | Flags2::SIGNATURE_REQUIRED);
        if nt_status {
            kept |= Flags2::NT_STATUS;
        }
        if generation == Generation::Nt {
            kept |= Flags2::LONG_NAMES;
        }
        Flags2(kept)
    }
}
