//! Information levels: what TRANS2 queries and sets of files and volumes carry ([MS-CIFS] 2.2.8, [MS-FSCC] 2.4, 2.5),
//! and lists of extended attributes.

pub mod ea;
pub mod file;
pub mod reply;
pub mod set_file;
pub mod streams;
pub mod volume;

/// Levels of [MS-FSCC] are passed through SMB as their class plus this ([MS-SMB] 2.2.2.3.5).
pub const PASS_THROUGH: u16 = 1000;
