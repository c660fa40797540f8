//! Accepts connections, up to a limit.

use std::{sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::Semaphore, time::sleep};

use crate::{
    http::{self, Response},
    site::Site,
};

/// Connections that are being refused; further ones are closed without a word.
const REFUSALS: usize = 16;
/// The pause after a connection that cannot be accepted.
const PAUSE: Duration = Duration::from_millis(200);

/// Accepts readers until it is dropped.
pub(crate) async fn accept(listener: TcpListener, site: Arc<Site>) {
    let places = Arc::new(Semaphore::new(site.limits.connections));
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // No descriptor is free at the moment.
                sleep(PAUSE).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        if let Ok(place) = places.clone().try_acquire_owned() {
            let site = site.clone();
            tokio::spawn(async move {
                let limits = site.limits;
                tokio::select! {
                    () = http::serve(stream, &*site, &limits) => {}
                    () = site.closed() => {}
                }
                drop(place);
            });
            continue;
        }
        site.refused("connections");
        if let Ok(place) = refusals.clone().try_acquire_owned() {
            tokio::spawn(async move {
                let why = "too many connections to this page: close other tabs and try again";
                let response = Response::error(503, why).field("Retry-After", "5");
                http::refuse(&stream, &response).await;
                drop(place);
            });
        }
    }
}
