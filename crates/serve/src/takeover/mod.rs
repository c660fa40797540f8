//! A new server process takes over the sockets of the one that serves (`coax serve --takeover`).
//!
//! The old process listens on a Unix socket (`coax:takeover socket`). The new one connects, and both check that the other
//! runs as the same user or as root. Then:
//!
//! 1. new → old: [`Hello`] with the version of this protocol;
//! 2. old → new: [`Offer`] with the listening sockets (SCM_RIGHTS), or a refusal;
//! 3. new → old: `ready`, after everything that can fail at a start is done;
//! 4. old → new: `yours`. From here on the old process accepts no clients and drains, and the new one accepts.
//!
//! Until step 4 the old process serves as if nothing had happened, whatever becomes of the new one. Clients that connect
//! between the two wait in the accept queue, which both processes share.

mod message;
mod new;
mod old;

pub(super) use new::Takeover;
pub(super) use old::{Control, Deed, Successor};
