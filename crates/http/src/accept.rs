//! Accepts connections, up to a limit.

use std::{sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::Semaphore, time::sleep};

use crate::{
    Limits, Response, Service,
    connection::{refuse, serve},
};

/// Connections that are being refused; further ones are closed without a response.
const REFUSALS: usize = 16;
/// The pause after a connection that cannot be accepted.
const PAUSE: Duration = Duration::from_millis(200);

/// Accepts clients until it is dropped. Connections go on until [`Service::closed`].
pub async fn accept(listener: TcpListener, service: Arc<dyn Service>, limits: Limits) {
    let places = Arc::new(Semaphore::new(limits.connections));
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
            let service = service.clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = serve(stream, &*service, &limits) => {}
                    () = service.closed() => {}
                }
                drop(place);
            });
            continue;
        }
        service.is_full();
        if let Ok(place) = refusals.clone().try_acquire_owned() {
            tokio::spawn(async move {
                let why = "too many connections to this page: close other tabs and try again";
                let response = Response::error(503, why).field("Retry-After", "5");
                refuse(&stream, &response).await;
                drop(place);
            });
        }
    }
}
