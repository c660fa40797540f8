//! Names: what old clients call files, and what the files are called.
//!
//! Everything here is pure: text in, text out. A client's path is split and judged by [`path`], its last part may be a
//! pattern ([`wildcard`]), each part is looked up in a folder's [`index`], which also gives every file an 8.3 name
//! ([`mangle`]); [`attributes`] says which of the files found the client wants to see.

pub mod attributes;
pub mod index;
pub mod mangle;
pub mod path;
pub mod wildcard;
