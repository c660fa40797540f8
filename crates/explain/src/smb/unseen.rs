//! Messages of which not even the header was kept: only how long they were.

use coax_cause::Account;

use super::{
    Mark, Smb, USUAL_OVERHEAD,
    op::{Op, What},
    pending::{Due, Pending},
};
use crate::{report::LabelKind, session::Message};

impl Smb {
    /// The answer to a read of which only the length is known.
    pub(super) fn read_unseen(&mut self, message: &Message<'_>, spent: &Account) {
        let overhead = self.reply_overhead.unwrap_or(USUAL_OVERHEAD);
        let bytes = message.len.saturating_sub(overhead);
        let Some(mut pending) = self.queue.take_read(bytes) else {
            return;
        };
        if let Some(op) = pending.ops.first() {
            self.label(op.name, LabelKind::Answer);
        }
        pending.read(bytes);
        let header = pending.header;
        self.complete(
            &pending,
            false,
            Mark {
                moment: message.end,
                spent: *spent,
            },
            &header,
        );
    }

    /// A request of which only the length is known: it goes on where the one before it ended.
    pub(super) fn transfer_again(&mut self, message: &Message<'_>) {
        let Some((header, op, len)) = self.latest_transfer.clone() else {
            return;
        };
        // it may have ended before it was as long as that one
        let lacking = match op.what {
            What::Write => len.saturating_sub(message.len),
            _ => 0,
        };
        let next = Op {
            offset: op.offset.saturating_add(op.count),
            count: op.count.saturating_sub(lacking),
            ..op
        };
        self.latest_transfer = Some((header, next.clone(), len - lacking));
        let begin = Mark {
            moment: message.start,
            spent: message.mark,
        };
        let mut pending = Pending::new(&header, vec![next], begin, message.end, Due::Reply);
        pending.guessed = true;
        if let Some((reply, bytes, kept, end)) = self.early.take()
            && reply.command == header.command
        {
            pending.apply_response(&reply, &bytes);
            pending.infer_truncated(kept);
            return self.complete(&pending, false, end, &reply);
        }
        if let Some(forgotten) = self.queue.push(pending) {
            self.abandon(&forgotten);
        }
    }
}
