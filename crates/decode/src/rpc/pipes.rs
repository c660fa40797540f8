//! What is known of the named pipes of a connection: their interfaces and calls.

use super::table::Interface;
use crate::recent::Recent;

/// Pipes that are remembered of a connection.
const MAX_PIPES: usize = 64;
/// Interfaces of a pipe.
const MAX_CONTEXTS: usize = 8;
/// Calls without an answer.
const MAX_CALLS: usize = 8;

/// The pipes of one connection by FID.
#[derive(Debug)]
pub(crate) struct Pipes {
    pipes: Recent<u16, Pipe>,
}

impl Default for Pipes {
    fn default() -> Self {
        Self {
            pipes: Recent::new(MAX_PIPES),
        }
    }
}

impl Pipes {
    /// Whether calls were seen on it.
    pub(crate) fn has(&self, fid: u16) -> bool {
        self.pipes.get(&fid).is_some()
    }

    pub(super) fn of(&mut self, fid: u16) -> &mut Pipe {
        self.pipes.of(fid, Pipe::default)
    }
}

/// A call that waits for its answer.
#[derive(Clone, Copy, Debug)]
struct Call {
    id: u32,
    context: u16,
    opnum: u16,
}

/// One pipe.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    contexts: Vec<(u16, &'static Interface)>,
    calls: Vec<Call>,
}

impl Pipe {
    /// A client begins anew.
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }

    /// The client gives an interface a number.
    pub(super) fn bind(&mut self, context: u16, interface: &'static Interface) {
        self.contexts.retain(|(known, _)| *known != context);
        if self.contexts.len() < MAX_CONTEXTS {
            self.contexts.push((context, interface));
        }
    }

    pub(super) fn interface(&self, context: u16) -> Option<&'static Interface> {
        let found = self.contexts.iter().find(|(known, _)| *known == context);
        found.map(|(_, interface)| *interface)
    }

    pub(super) fn call(&mut self, id: u32, context: u16, opnum: u16) {
        self.calls.retain(|call| call.id != id);
        if self.calls.len() >= MAX_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(Call { id, context, opnum });
    }

    /// The interface and number of a call.
    pub(super) fn called(&self, id: u32) -> Option<(&'static Interface, u16)> {
        let call = self.calls.iter().find(|call| call.id == id)?;
        Some((self.interface(call.context)?, call.opnum))
    }
}
