//! TCP connections rebuilt: what each side sent, in order, and what its sending waited for.

mod connection;
mod counter;
mod finger;
mod habits;
mod half;
mod prologue;
mod repeats;
mod scale;
mod sent;
mod window;

pub(crate) use connection::finish::Ended;
pub(crate) use prologue::{Desk, Followed};
