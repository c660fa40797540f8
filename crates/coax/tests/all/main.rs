//! The integration tests of coax. They are one program: each further one costs a second of linking and 30 MB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod batch;
mod ci;
mod commands_page;
mod decode;
mod explain;
mod get;
mod lab;
mod manual;
mod memory;
mod operation;
mod remembered;
mod replay;
mod serve;
mod serve_arguments;
mod site;
mod status;
mod takeover;
mod users;
mod wrong_usage;
