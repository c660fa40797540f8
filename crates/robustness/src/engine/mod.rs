//! A whole server fed with whatever comes, and what must hold after every step.
//!
//! [`world`] is the server, its clients and the checks, [`request`] builds requests that are nearly right, [`transaction`]
//! those of transactions, [`script`] reads bytes as a series of steps.

pub mod client;
pub mod flag;
mod material;
pub mod request;
pub mod script;
pub mod transaction;
pub mod world;
