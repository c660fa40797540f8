//! The web page of a running server, and its metrics.
//!
//! The crate `http` limits and serves connections. `site` answers requests that `access` admits. `live` looks at the server once a second while anybody watches, and all readers get the same text.
//! `history` keeps a day. `recording` makes captures. `metrics` writes OpenMetrics. What is shown comes from a
//! [`Source`], so that the page can be tested without a server.
//!
//! **Invariant:** whatever readers do, at most one look at the server is under way, and memory and connections are bounded.

mod access;
mod files;
mod frame;
mod history;
mod limits;
mod live;
mod metrics;
mod recording;
mod server;
mod site;
mod source;
mod space;

use std::{future::Future, sync::Arc};

use coax_serve::web::Door;

pub use history::{Day, Series};
pub use limits::Limits;
pub use metrics::FAMILIES;
pub use recording::Contents;
pub use server::{Explain, page};
pub use source::{Recording, Setting, ShareSetting, Source};

/// Shows `source` at `door` until `ended`. Call within the runtime.
///
/// # Errors
/// The runtime cannot use the socket.
pub fn start(
    door: Door,
    source: Arc<dyn Source>,
    limits: Limits,
    ended: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(door.listener)?;
    let access = access::Access::new(door.token, source.names())?;
    let site = Arc::new(site::Site::new(access, source, limits));
    tokio::spawn(async move {
        tokio::select! {
            () = coax_http::accept(listener, site.clone(), limits.http) => {}
            () = site.watch() => {}
            () = ended => {}
        }
        site.close();
    });
    Ok(())
}
