//! What fits to a scenario's transport.

use alloc::format;

use super::{Scenario, effects::without_effect};
use crate::{component::ProfileError, link::LinkParams, netbios::Carrier};

impl Scenario {
    /// What carries the messages.
    pub const fn carrier(&self) -> Carrier {
        self.choices.carrier
    }

    /// Whether a value has no effect with the scenario's transport.
    pub fn is_without_effect(&self, path: &str) -> bool {
        without_effect(path, self.choices.carrier).is_some()
    }

    /// Refuses a path that the transport cannot cross, and values that were asked for and have no effect with it.
    pub(super) fn check_carrier(&self, link: &LinkParams) -> Result<(), ProfileError> {
        let carrier = self.choices.carrier;
        if carrier == Carrier::Netbeui && link.access_rate.is_some() {
            let reason = format!(
                "the link `{}` leads through a router (link.access_rate), and NetBEUI has no addresses that a router could use; \
                 choose another link, or transport = \"nbipx\", \"ipx\" or \"tcp\"",
                self.choices.link
            );
            return Err(self.wrong("transport", reason));
        }
        let problem = self
            .asked
            .iter()
            .find_map(|path| Some((path, without_effect(path, carrier)?)));
        problem.map_or(Ok(()), |(path, reason)| Err(self.wrong(path, reason)))
    }
}
