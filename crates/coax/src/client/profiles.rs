//! The redirectors that can be imitated.

pub use coax_catalog::{
    clients::{DEFAULT, all, by_name},
    files::CLIENTS as TEXTS,
};
