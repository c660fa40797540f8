//! Short names of frequently used keys.

use anyhow::{Context as _, Result};
use coax_lab::scenario::{Scenario, parse_value};

/// The client: a redirector with its usual stack and machine.
pub const CLIENT: &str = "client";

/// Short names and their keys.
const SHORT: [(&str, &str); 5] = [
    ("stack", "client.stack"),
    ("netbios", "client.netbios"),
    ("machine", "client.machine"),
    ("card", "client.card"),
    ("server", "server.config"),
];

/// The full key of a short name.
pub fn whole(key: &str) -> &str {
    let found = SHORT.iter().find(|(short, _)| *short == key);
    found.map_or(key, |(_, whole)| whole)
}

/// Changes one value of a scenario. `client`, `stack`, `netbios`, `machine`, `card` and `server` are accepted as on the command
/// line of `coax lab copy`.
///
/// # Errors
/// The key is unknown or the value is not allowed.
pub fn set(scenario: &mut Scenario, key: &str, value: toml::Value) -> Result<()> {
    match value.as_str() {
        Some(name) if key == CLIENT => Ok(scenario.choose_client(name)?),
        _ => Ok(scenario.set(whole(key), value)?),
    }
}

/// Like [`set`], from `KEY=VALUE`.
///
/// # Errors
/// As for [`set`], or `=` is missing.
pub fn set_text(scenario: &mut Scenario, assignment: &str) -> Result<()> {
    let (key, text) = assignment
        .split_once('=')
        .with_context(|| format!("'{assignment}' is not KEY=VALUE: write it as link.delay=31ms"))?;
    set(scenario, key.trim(), parse_value(text))
}
