//! The end of a program, with a check for leaks.

use super::{BEGIN, Figures, MS, World, describe};
use crate::{disk::Disk, model::Check, op::Op};
use coax_server::table::Census;

impl World {
    /// Ends the program: delivers all messages, fires all deadlines, disconnects all clients, and checks that nothing
    /// is left.
    ///
    /// # Errors
    /// Whatever is left.
    pub fn finish(&mut self) -> Result<Figures, String> {
        self.disks.iter().for_each(|disk| disk.inject(None));
        self.deliver_all()?;
        for _ in 0..3 {
            self.pass(60_000 * MS)?;
            self.deliver_all()?;
        }
        let waiting = self.pending.clone();
        for request in waiting.iter().filter(|request| !request.abandoned) {
            match request.op {
                Op::Notify { .. }
                | Op::Lock {
                    wait_ms: u32::MAX, ..
                } => self.cancel(request),
                _ => return Err(format!("no final answer to {}", describe(request))),
            }
        }
        self.deliver_all()?;
        if let Some(left) = self.pending.iter().find(|request| !request.abandoned) {
            return Err(format!(
                "no final answer after its cancellation to {}",
                describe(left)
            ));
        }
        for client in 0..self.clients.len() {
            self.disconnect(client)?;
        }
        self.nothing_left()?;
        self.figures.time = self.now - BEGIN;
        self.figures.faults = self.faults_before;
        self.figures.calls = self.disks.iter().map(Disk::calls).sum();
        Ok(self.figures)
    }

    fn deliver_all(&mut self) -> Check {
        while let Some(client) = self
            .clients
            .iter()
            .position(|client| !client.outbox.is_empty())
        {
            self.deliver(client)?;
        }
        self.drain_all()
    }

    fn nothing_left(&mut self) -> Check {
        let census = self.server.locked(|tables| tables.census());
        if census != Census::default() {
            return Err(format!("left in the tables: {census:?}"));
        }
        for (share, disk) in self.disks.iter().enumerate() {
            let (there, named) = (disk.memory.objects(), self.model.objects(share));
            if there != named {
                return Err(format!(
                    "{there} objects on a disk on which {named} have names: a handle has leaked"
                ));
            }
        }
        Ok(())
    }
}
