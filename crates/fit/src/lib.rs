#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod estimate;
pub mod input;
mod knowledge;
mod measured;
mod posterior;
mod run;
pub mod sample;
mod statistics;
#[cfg(test)]
mod tests;
mod unknown;

pub use estimate::{Estimate, Fitted, Options, Parameter, Prediction, Problem, Together, estimate};
pub use input::Input;
pub use knowledge::Knowledge;
pub use measured::{Kind, Measured, Setting};
pub use posterior::{Posterior, Sampler, sample as sample_posterior};
pub use run::{Run, seconds};
pub use unknown::{USUAL, Unknown, Usual};
