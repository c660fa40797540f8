//! Operations on files, independent of the command. Only this layer calls the file system and changes the shared
//! tables.

pub mod attributes;
pub mod close;
pub mod durability;
pub mod eas;
pub mod find;
pub mod journal;
pub mod locate;
pub mod locking;
pub mod metadata;
pub mod modify;
pub mod open;
pub mod print;
pub mod security;
pub mod stream_list;
pub mod streams;
pub mod transfer;
pub mod trim;

#[cfg(test)]
mod veto_tests;
