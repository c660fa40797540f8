//! The binary's parts: command line, smb.conf, drivers and reports. What speaks the protocols lies in the crates below.
// The library is the binary's own: its pages are read beside the source.
#![allow(rustdoc::private_intra_doc_links)]

pub mod cli;
pub mod tour;
