//! What a running server does, as text.

mod history;
mod table;
mod text;
mod waits;

pub use history::report as history;
pub use text::report;
