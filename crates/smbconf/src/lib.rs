//! smb.conf and the command line, read into [`settings::Settings`].
//!
//! [`parse`] knows the grammar and no parameter; [`table`] knows every parameter and is the only place that does;
//! [`load`] joins them; [`settings`] is what comes out; [`explain`] says what became of each line.

pub mod diagnostic;
pub mod explain;
pub mod hosts;
pub mod list;
pub mod load;
pub mod log_level;
pub mod macros;
pub mod nearest;
pub mod parse;
pub mod settings;
pub mod share_argument;
pub mod sockopt;
pub mod table;
pub mod usermap;
pub mod value;
