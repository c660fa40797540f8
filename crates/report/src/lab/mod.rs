//! Scenarios, tables and reports of the lab. `coax_lab` contains the simulation.

pub mod data;
pub mod evidence;
pub mod fit;
pub mod keys;
pub mod list;
pub mod named;
pub mod parallel;
pub mod plots;
pub mod predictions;
pub mod report;
pub mod run;
pub mod sweep;
pub mod tables;
pub mod trace;

#[cfg(test)]
mod tests;
