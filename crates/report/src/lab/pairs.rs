//! Which stack and machine a redirector is usually met with.

use coax_lab::scenario::Scenario;

/// Name of a client profile, its stack, and its machine.
const PAIRS: [(&str, &str, &str); 16] = [
    ("ibm-dls-4.0", "ibm-tcpip-2.1.1", "virtual-dos"),
    ("ibm-dls-5.0-full", "nts-3.18", "virtual-dos"),
    ("ibm-dls-5.0-predir", "nts-3.18", "virtual-dos"),
    ("linux-cifs", "linux", "fast"),
    ("modern", "linux", "fast"),
    ("ms-net-3.11-basic", "ms-tcpip-1.0a", "virtual-dos"),
    ("ms-net-3.11-full", "ms-tcpip-1.0a", "virtual-dos"),
    ("nt-4-copy", "nt-4", "fast"),
    ("nt-4-explorer", "nt-4", "fast"),
    ("os2-warp", "bsd-4.4", "fast"),
    ("ps2-opl", "bsd-4.4", "fast"),
    ("smbclient-1999", "linux-2.0", "fast"),
    ("wfw-3.11", "wfw-tcpip-32", "virtual-dos"),
    ("windows-2000", "windows-2000", "fast"),
    ("windows-95", "windows-95", "fast"),
    ("windows-98", "windows-98", "fast"),
];

/// Puts a client with its usual stack and machine into a scenario.
///
/// # Errors
/// None: every name here is a string. What it means is found out when the scenario is set up.
pub fn choose_client(scenario: &mut Scenario, client: &str) -> anyhow::Result<()> {
    let pair = PAIRS.iter().find(|(name, _, _)| *name == client);
    let (_, stack, machine) = pair.copied().unwrap_or((client, "linux", "fast"));
    for (key, name) in [
        ("client.profile", client),
        ("client.stack", stack),
        ("client.machine", machine),
    ] {
        scenario.set(key, toml::Value::String(name.to_owned()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_redirector_has_a_stack_and_a_machine_that_exist() {
        for profile in coax_catalog::clients::all() {
            assert!(
                super::PAIRS
                    .iter()
                    .any(|(name, _, _)| *name == profile.name),
                "{}",
                profile.name
            );
            let mut scenario = coax_lab::scenario::Scenario::new("test");
            let chosen = super::choose_client(&mut scenario, &profile.name);
            assert!(chosen.is_ok());
            let setup = coax_lab::smb::CopySetup::of(&scenario);
            assert!(setup.is_ok(), "{:?}", setup.err());
        }
    }
}
