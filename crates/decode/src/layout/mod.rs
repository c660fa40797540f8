//! The tables in `layouts/`: which fields each message has.

mod names;
mod parse;
mod tables;

pub(crate) use parse::{Condition, Item, Kind, TableError, each_line};
pub use tables::Direction;
pub(crate) use tables::{Layout, Part, Tables, command_name};

#[cfg(test)]
mod tests;
