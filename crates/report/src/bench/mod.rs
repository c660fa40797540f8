//! What the benchmark measured: [`text`], [`json`].

pub mod json;
pub mod text;

#[cfg(test)]
mod tests;
