//! Prints views.

use std::{fmt::Debug, hint::black_box};

use coax_wire::Result;

/// Prints what was decoded: printing must not panic either.
pub fn see<T: Debug>(view: Result<T>) {
    black_box(format!("{view:?}"));
}
