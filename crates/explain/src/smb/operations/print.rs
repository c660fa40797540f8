//! Print jobs, from their opening to their end.

use hashbrown::HashSet;

use crate::smb::{
    stretch::{Exchange, Stretch},
    subject::{MAX_FOLLOWED, Subject},
};

/// Print jobs that are open, and the trees of printers.
#[derive(Debug, Default)]
pub(in crate::smb) struct Jobs {
    open: Vec<Job>,
    printers: HashSet<u16>,
}

/// One job.
#[derive(Debug)]
pub(in crate::smb) struct Job {
    fid: u16,
    pub(in crate::smb) subject: Subject,
    pub(in crate::smb) stretch: Stretch,
    pub(in crate::smb) bytes: u64,
}

impl Jobs {
    /// Whether no job is open.
    pub(in crate::smb) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// A tree was connected; whether it is a printer.
    pub(in crate::smb) fn note_tree(&mut self, tid: u16, is_printer: bool) {
        if !is_printer {
            self.printers.remove(&tid);
        } else if self.printers.len() < MAX_FOLLOWED {
            self.printers.insert(tid);
        }
    }

    /// Whether files of this tree are print jobs.
    pub(in crate::smb) fn is_printer(&self, tid: u16) -> bool {
        self.printers.contains(&tid)
    }

    /// A job was opened. Of too many the new one is not followed.
    pub(in crate::smb) fn begin(&mut self, fid: u16, subject: Subject, exchange: &Exchange) {
        self.end(fid);
        if self.open.len() < MAX_FOLLOWED {
            self.open.push(Job {
                fid,
                subject,
                stretch: Stretch::of(exchange),
                bytes: 0,
            });
        }
    }

    /// A request about a file was answered: perhaps the file is a job.
    pub(in crate::smb) fn add(&mut self, fid: u16, exchange: &Exchange, bytes: u64) {
        if let Some(job) = self.open.iter_mut().find(|job| job.fid == fid) {
            job.stretch.add(exchange, true);
            job.bytes = job.bytes.saturating_add(bytes);
        }
    }

    /// A job ends.
    pub(in crate::smb) fn end(&mut self, fid: u16) -> Option<Job> {
        let place = self.open.iter().position(|job| job.fid == fid)?;
        Some(self.open.remove(place))
    }

    /// No more comes: those that have not ended.
    pub(in crate::smb) fn take(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.open)
    }
}
