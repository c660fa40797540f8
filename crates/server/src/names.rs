//! Names: how old clients name files, and how the file system does.
//!
//! These modules are pure: text in, text out. [`path`] splits and checks a client's path, whose last component may be a
//! pattern ([`wildcard`]). The folder's [`index`] looks up each component and gives every file an 8.3 name
//! ([`mangle`]). [`attributes`] selects the files that the client wants to see.

pub mod attributes;
pub mod index;
pub mod mangle;
pub mod path;
pub mod wildcard;
