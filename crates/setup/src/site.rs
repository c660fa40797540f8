//! The machine that is set up.

use std::path::{Path, PathBuf};

use coax_doctor::{access::Account, facts::Interface, gather, unit::Unit};

/// Settings of the service that setup writes (systemd.unit(5): drop-ins).
pub const DROP_IN: &str = "/etc/systemd/system/coax.service.d/50-coax-setup.conf";
/// systemd runs this machine (sd_booted(3)).
const BOOTED: &str = "/run/systemd/system";

/// What decides about the files.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The configuration to write.
    pub config: PathBuf,
    /// Where settings of the service go, if the unit serves this configuration.
    pub drop_in: Option<PathBuf>,
    /// The unit without the drop-in.
    pub unit: Unit,
    /// The account that will serve; `None`: the one that runs setup.
    pub account: Option<Account>,
    /// Network interfaces.
    pub interfaces: Vec<Interface>,
    /// systemd can restart the service.
    pub starts: bool,
}

impl Site {
    /// This machine.
    pub fn here(config: &Path) -> Self {
        let mut site = Self {
            config: config.to_owned(),
            interfaces: gather::interfaces(),
            ..Self::default()
        };
        let path = Path::new(DROP_IN);
        let Some(unit) = gather::unit(Some(path)).filter(|unit| unit.serves(config)) else {
            return site;
        };
        site.account = unit.user.as_deref().and_then(gather::account);
        site.unit = unit;
        site.drop_in = Some(path.to_owned());
        site.starts = Path::new(BOOTED).exists();
        site
    }

    /// The file of users and passwords.
    pub fn users(&self) -> PathBuf {
        self.config.with_file_name("users")
    }
}
