//! The page at its address.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
};

use coax_http::{
    Answering, Body, Limits, Method, Port, Refused, Request, Response, Service, accept, is_own,
};

use crate::find::Page;

/// The policy of the page's own document (crates/web/page/index.html), and that no other page may show it in a frame.
pub const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; img-src data:; \
                          worker-src blob:; frame-src 'self' about:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page on a port of this machine.
#[derive(Debug)]
pub struct Hosting {
    listener: TcpListener,
    address: SocketAddr,
}

impl Hosting {
    /// Listens on loopback; port 0 is any free one.
    ///
    /// # Errors
    /// The port is taken, or only root may take it.
    pub fn on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where browsers find the page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves as long as the process lives.
    ///
    /// # Errors
    /// The system has no descriptors for it.
    pub fn serve(self, page: Page, limits: Limits) -> io::Result<()> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build()?.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let site = Site(page.bytes.into());
            accept(listener, Arc::new(site), limits).await;
            Ok(())
        })
    }
}

/// The page's bytes.
struct Site(Arc<[u8]>);

impl Site {
    fn respond(&self, request: &Request, local: SocketAddr) -> Response {
        let head = &request.head;
        let refused = |status, why| Response::from(Refused { status, why });
        if !is_own(&head.host, local, &[], Port::Own) {
            return refused(
                421,
                "the page answers only at the address that coax web prints",
            );
        }
        match (head.method, head.path.as_str()) {
            (Method::Post | Method::Other, _) => {
                refused(405, "use GET").field("Allow", "GET, HEAD")
            }
            (_, "/" | "/index.html") => {
                let body = Body::Shared(self.0.clone());
                Response::new(200, "text/html; charset=utf-8", body)
                    .field("Cross-Origin-Opener-Policy", "same-origin")
            }
            _ => refused(404, "there is nothing at this address"),
        }
    }
}

impl Service for Site {
    fn answer(&self, request: Request, local: SocketAddr) -> Answering<'_> {
        Box::pin(async move { self.respond(&request, local) })
    }

    fn policy(&self) -> &'static str {
        POLICY
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../web/page/index.html");

    #[test]
    fn the_policy_is_that_of_the_page() {
        let own = POLICY.strip_suffix("; frame-ancestors 'none'").unwrap();
        let stated = format!("http-equiv=\"Content-Security-Policy\" content=\"{own}\"");
        assert!(PAGE.contains(&stated));
    }
}
