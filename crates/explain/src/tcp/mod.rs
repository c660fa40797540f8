//! TCP connections rebuilt: what each side sent, in order, and what its sending waited for.

mod connection;
mod counter;
mod ended;
mod finger;
mod habits;
mod half;
mod held;
mod prologue;
mod repeats;
mod scale;
mod sent;
mod step;
mod stream;
mod testimony;
mod window;

pub(crate) use ended::Ended;
pub(crate) use prologue::{Desk, Followed};
