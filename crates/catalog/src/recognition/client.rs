//! Recognition of clients.

use alloc::{format, string::String, vec::Vec};

use serde::Deserialize;
use spin::Once;

use super::text::{Comparison, contains, first_match, read};
use crate::files::CLIENTS_GUESS;

/// Features of a client.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientFeatures<'a> {
    /// Dialects offered, in order.
    pub offered: &'a [String],
    /// System and LAN manager, as the client names them.
    pub native: Option<&'a str>,
    /// The NetBIOS name that the client calls itself by.
    pub calling: Option<&'a str>,
}

/// The client that a rule names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMatch {
    /// The recognised client.
    pub who: &'static str,
    /// Why.
    pub reason: String,
    /// The source of the rule.
    pub source: &'static str,
}

/// A rule of `data/clients-guess.toml`; every clue in it must fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ClientRule {
    pub(super) who: String,
    /// Exactly these dialects, in this order.
    pub(super) offers: Option<Vec<String>>,
    /// At least these dialects.
    pub(super) offers_among: Option<Vec<String>>,
    /// Text in the names of its system and LAN manager.
    pub(super) native: Option<String>,
    /// Text in its NetBIOS name.
    pub(super) calling: Option<String>,
    /// The source of the rule.
    pub(super) source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    client: Vec<ClientRule>,
}

/// The rules, in the order of the file.
pub(super) fn rules() -> &'static [ClientRule] {
    static RULES: Once<Rules> = Once::new();
    &RULES
        .call_once(|| read("clients-guess", CLIENTS_GUESS))
        .client
}

/// The client of the first rule that fits.
pub fn client(features: &ClientFeatures<'_>) -> Option<ClientMatch> {
    let (rule, _) = first_match(rules(), |rule, compare| rule.fits(features, compare))?;
    Some(ClientMatch {
        who: &rule.who,
        reason: rule.reason(features),
        source: &rule.source,
    })
}

impl ClientRule {
    fn fits(&self, features: &ClientFeatures<'_>, compare: Comparison) -> bool {
        let is = |clue: &Option<String>, said: Option<&str>, compare: Comparison| {
            clue.as_deref()
                .is_none_or(|clue| said.is_some_and(|said| compare(said, clue)))
        };
        let offers = |list: &Vec<String>| list == features.offered;
        let among = |list: &Vec<String>| list.iter().all(|name| features.offered.contains(name));
        is(&self.native, features.native, compare)
            && is(&self.calling, features.calling, contains)
            && self.offers.as_ref().is_none_or(offers)
            && self.offers_among.as_ref().is_none_or(among)
    }

    fn reason(&self, features: &ClientFeatures<'_>) -> String {
        let mut reasons = Vec::new();
        if let (Some(_), Some(native)) = (&self.native, features.native) {
            reasons.push(format!("calls itself \"{native}\""));
        }
        if let (Some(_), Some(name)) = (&self.calling, features.calling) {
            reasons.push(format!("its NetBIOS name is {name}"));
        }
        if let Some(list) = &self.offers {
            reasons.push(format!("offers exactly {}", list.join(", ")));
        }
        if let Some(list) = &self.offers_among {
            reasons.push(format!("offers {} among others", list.join(" and ")));
        }
        reasons.join(", ")
    }
}
