//! The server's program: what its connections share.

use alloc::{collections::BTreeSet, string::ToString, sync::Arc, vec, vec::Vec};
use core::sync::atomic::{AtomicBool, Ordering};

use coax_catalog::server::{Newest, ServerParams};
use coax_server::{
    Server,
    config::Config,
    share::{Share, ShareKind},
    table::{Exclusive, Tables, Wake},
    vfs::{FsTime, VfsError},
};
use coax_wire::time::Time;

use super::{Files, clock, disk::Folder};

/// The share's name.
pub(super) const SHARE: &str = "FILES";

pub(super) fn config(params: &ServerParams) -> Config {
    let own = Config::default();
    let [native_os, native_lan_man] = own.native.clone();
    Config {
        name: "LAB".to_string(),
        max_buffer: params.max_buffer.unwrap_or(own.max_buffer),
        max_mpx: params.max_mpx.unwrap_or(own.max_mpx),
        read_raw: params.read_raw.unwrap_or(own.read_raw),
        write_raw: params.write_raw.unwrap_or(own.write_raw),
        large_readwrite: params.large_readwrite.unwrap_or(own.large_readwrite),
        unicode: params.unicode.unwrap_or(own.unicode),
        nt_status: params.nt_status.unwrap_or(own.nt_status),
        extended_security: params.extended_security.unwrap_or(own.extended_security),
        max_generation: params
            .dialect
            .map_or(own.max_generation, Newest::generation),
        native: [
            params.native_os.clone().unwrap_or(native_os),
            params.native_lan_man.clone().unwrap_or(native_lan_man),
        ],
        ..own
    }
}

#[derive(Debug)]
struct Alone(spin::Mutex<Tables>);

impl Exclusive for Alone {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock());
    }
}

/// The server's program, its share and the files in it.
#[derive(Clone)]
pub struct Service {
    pub(super) server: Arc<Server>,
    pub(super) folder: Folder,
    pub(super) pacing: bool,
    pub(super) whole: bool,
    /// Clients whose connections must act because of another one.
    woken: Arc<spin::Mutex<BTreeSet<u16>>>,
}

impl core::fmt::Debug for Service {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Service {
    /// A server with these files in its share. File data is generated and compared if `whole`.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn new(params: &ServerParams, files: &[Files], whole: bool) -> Result<Self, VfsError> {
        let now = clock(Time(0));
        let folder = Folder::new(files, whole, FsTime(now.unix_ns()))?;
        let config = config(params);
        let tables = Tables::new(config.tables());
        let disk = ShareKind::Disk(Arc::new(folder.clone()));
        let server = Server {
            config,
            shares: vec![Arc::new(Share::for_guests(1, SHARE, disk))],
            accounts: coax_logon::accounts::Accounts::default(),
            tables: Arc::new(Alone(spin::Mutex::new(tables))),
        };
        Ok(Self {
            server: Arc::new(server),
            folder,
            pacing: params.pacing,
            whole,
            woken: Arc::default(),
        })
    }

    /// Number of these files in the share with their full size.
    pub fn whole_files(&self, files: &Files) -> u32 {
        self.folder.whole(files)
    }

    /// Number of wrong bytes received, if data is compared.
    pub fn wrong_bytes(&self) -> u64 {
        self.folder.take_meter().wrong
    }

    pub(super) fn bell(&self, client: u16) -> Arc<Bell> {
        Arc::new(Bell {
            rung: AtomicBool::new(false),
            client,
            woken: self.woken.clone(),
        })
    }

    /// The clients whose connections must act now.
    pub(super) fn take_woken(&self) -> Vec<u16> {
        core::mem::take(&mut *self.woken.lock())
            .into_iter()
            .collect()
    }
}

/// Wakes the engine of one connection after another connection has acted.
#[derive(Debug)]
pub(super) struct Bell {
    rung: AtomicBool,
    client: u16,
    woken: Arc<spin::Mutex<BTreeSet<u16>>>,
}

impl Bell {
    pub(super) fn take(&self) -> bool {
        self.rung.swap(false, Ordering::Relaxed)
    }

    pub(super) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Relaxed)
    }
}

impl Wake for Bell {
    fn wake(&self) {
        self.rung.store(true, Ordering::Relaxed);
        self.woken.lock().insert(self.client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_states_nothing_offers_what_coax_offers() {
        let (stated, default) = (config(&ServerParams::default()), Config::default());
        let offered = |it: &Config| {
            (
                (it.max_buffer, it.max_mpx, it.large_readwrite),
                (it.read_raw, it.write_raw, it.unicode, it.nt_status),
                (it.max_generation, it.native.clone(), it.extended_security),
            )
        };
        assert_eq!(offered(&stated), offered(&default));
        let stated = config(&ServerParams {
            max_buffer: Some(4356),
            ..ServerParams::default()
        });
        assert_eq!(stated.max_buffer, 4356);
    }
}
