//! Recognition of machines by their messages: the rules of `data/clients-guess.toml`, `data/servers-guess.toml` and
//! `data/stacks-guess.toml`, and the code that matches them.

mod client;
mod server;
mod stack;
pub mod text;

pub use client::{ClientFeatures, ClientMatch, client};
pub use server::{ServerFeatures, ServerMatch, server};
pub use stack::{StackFeatures, stacks};

#[cfg(test)]
mod tests;
