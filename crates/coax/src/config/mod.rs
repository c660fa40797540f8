//! smb.conf and the command line, read into [`settings::Settings`].
//!
//! [`parse`] knows the grammar and no parameter; [`table`] knows every parameter and is the only place that does;
//! [`settings`] is what comes out.

pub mod hosts;
pub mod list;
pub mod settings;
