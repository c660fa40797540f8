//! What raw TCP carried: [`text`], [`json`], and [`advice`] on what to type or try.

pub mod advice;
pub mod json;
pub mod text;
