//! Reports of raw TCP measurements: [`text`], [`json`], and [`advice`] on what to type or try.

pub mod advice;
pub mod json;
pub mod text;
