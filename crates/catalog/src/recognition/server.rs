//! Recognition of servers.

use alloc::{string::String, vec::Vec};

use serde::Deserialize;
use spin::Once;

use super::text::{Comparison, first_match, read};
use crate::files::SERVERS_GUESS;

/// Features of a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerFeatures<'a> {
    /// System and LAN manager, as the server names them.
    pub native: Option<&'a str>,
    /// The name of its LAN manager alone.
    pub lan_manager: &'a str,
    /// The dialect that it chose.
    pub dialect: Option<&'a str>,
    /// The largest message that it takes, bytes.
    pub max_buffer: Option<u32>,
    /// Requests outstanding at once.
    pub max_mpx: Option<u16>,
    /// The TTL with which its SYN left.
    pub first_ttl: Option<u8>,
    /// Whose TCP it runs, if only one of `data/stacks-guess.toml` fits.
    pub tcp: Option<&'a str>,
}

/// The server that a rule names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMatch {
    /// Its kind, for conditions of advice.
    pub kind: &'static str,
    /// The recognised server.
    pub who: String,
    /// The server named itself, and the capture contains the complete name.
    pub said_so: bool,
    /// The configuration in `data/servers` that is most like it.
    pub config: Option<&'static str>,
    /// The source of the rule.
    pub source: &'static str,
}

/// A rule of `data/servers-guess.toml`; every clue in it must fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ServerRule {
    kind: String,
    pub(super) who: String,
    /// Text in the names of its system and LAN manager.
    native: Option<String>,
    /// The dialect that it chose.
    dialect: Option<String>,
    /// The largest message that it takes.
    max_buffer: Option<u32>,
    /// Requests at once.
    max_mpx: Option<u16>,
    /// The TTL with which its SYN left.
    first_ttl: Option<u8>,
    /// Whose TCP it runs.
    pub(super) tcp: Option<String>,
    /// The configuration in `data/servers` that is most like it.
    pub(super) config: Option<String>,
    /// The source of the rule.
    pub(super) source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    server: Vec<ServerRule>,
}

/// The rules, in the order of the file.
pub(super) fn rules() -> &'static [ServerRule] {
    static RULES: Once<Rules> = Once::new();
    &RULES
        .call_once(|| read("servers-guess", SERVERS_GUESS))
        .server
}

/// The server of the first rule that fits.
pub fn server(features: &ServerFeatures<'_>) -> Option<ServerMatch> {
    let (rule, is_whole) = first_match(rules(), |rule, compare| rule.fits(features, compare))?;
    Some(ServerMatch {
        kind: &rule.kind,
        who: rule.who.replace("{lan-manager}", features.lan_manager),
        said_so: rule.native.is_some() && is_whole,
        config: rule.config.as_deref(),
        source: &rule.source,
    })
}

impl ServerRule {
    fn fits(&self, features: &ServerFeatures<'_>, compare: Comparison) -> bool {
        let native = match (&self.native, features.native) {
            (Some(clue), Some(said)) => compare(said, clue),
            (clue, said) => clue.is_none() && said.is_none(),
        };
        let dialect = self.dialect.as_deref();
        native
            && dialect.is_none_or(|clue| features.dialect == Some(clue))
            && (self.max_buffer).is_none_or(|size| features.max_buffer == Some(size))
            && (self.max_mpx).is_none_or(|count| features.max_mpx == Some(count))
            && (self.first_ttl).is_none_or(|ttl| features.first_ttl == Some(ttl))
            && (self.tcp.as_deref()).is_none_or(|who| features.tcp == Some(who))
    }
}
