//! The lab's scenarios, tables and reports. What is simulated, and how, lies in `coax_lab`.

pub mod data;
pub mod keys;
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
