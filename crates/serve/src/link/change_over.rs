//! A client changes over to another configuration.

use std::{net::SocketAddr, sync::atomic::Ordering};

use coax_server::Connection;

use super::Link;
use crate::{
    lanes::Pass,
    outcome::{End, TurnOutcome},
};

impl Link {
    /// Whether another configuration is in force than the one that the client is served under.
    pub(crate) fn is_outdated(&self) -> bool {
        self.generation.load(Ordering::Relaxed) != self.host.generation()
    }

    /// Serves the client under the configuration in force.
    pub(super) fn change_over(&self, pass: &mut Option<Pass>) -> Result<(), TurnOutcome> {
        let mut inner = self.lock();
        let reach = inner.engine.as_ref().map(Connection::change_over_reach);
        let _pass = self.leave(reach.unwrap_or_default(), pass)?;
        let (service, negotiated) = (self.host.service(), inner.negotiated);
        self.generation.store(service.generation, Ordering::Relaxed);
        let address = self.address.parse::<SocketAddr>();
        if let Ok(address) = address
            && let Err(why) = service.settings.global.hosts.check_server(address.ip())
        {
            return Err(TurnOutcome::Over(End::Because(format!(
                "the configuration does not admit it any more: {why}"
            ))));
        }
        let Some(engine) = &mut inner.engine else {
            return Ok(());
        };
        let server = service.server_for(negotiated, engine.server());
        engine.change_over(self.host.clock.now(), server);
        self.settle(&mut inner)
    }
}
