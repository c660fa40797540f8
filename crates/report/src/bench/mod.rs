//! Reports of the benchmark: [`text`], [`json`].

pub mod json;
pub mod text;

#[cfg(test)]
mod tests;
