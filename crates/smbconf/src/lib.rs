//! Reads smb.conf and the command line into [`settings::Settings`].
//!
//! [`parse`] implements the grammar. [`table`] is the only definition of the parameters. [`load`] combines both.
//! [`settings`] is the result. [`explain`] reports the effect of each line.

pub mod compare;
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
