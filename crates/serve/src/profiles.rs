//! What users get who log on to the domain: `logon script` and `logon home`, with Samba's substitutions.

use coax_server::config::{DomainLogons, UserProfile};
use coax_smbconf::{
    macros::{MacroValues, expand},
    settings::GlobalSettings,
};

/// The settings that differ from user to user.
#[derive(Debug)]
pub(super) struct Profiles {
    script: String,
    home: String,
    server: String,
    domain: String,
}

impl Profiles {
    pub(super) fn new(global: &GlobalSettings) -> Self {
        Self {
            script: global.netbios.logon_script.clone(),
            home: global.netbios.logon_home.clone(),
            server: global.netbios_name.clone(),
            domain: global.workgroup.clone(),
        }
    }
}

impl DomainLogons for Profiles {
    fn profile(&self, user: &str, client: &str) -> UserProfile {
        let values = MacroValues {
            client_name: client,
            called_name: &self.server,
            host_name: &self.server,
            user,
            workgroup: &self.domain,
            ..MacroValues::default()
        };
        UserProfile {
            script: expand(&self.script, &values),
            home: expand(&self.home, &values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_machine_and_server_are_substituted() {
        let mut global = GlobalSettings {
            netbios_name: "TOWER".into(),
            ..GlobalSettings::default()
        };
        global.netbios.logon_script = r"%m\%U.bat".into();
        let profile = Profiles::new(&global).profile("anna", "WIN98");
        assert_eq!(profile.script, r"win98\anna.bat");
        assert_eq!(profile.home, r"\\TOWER\anna");
    }
}
