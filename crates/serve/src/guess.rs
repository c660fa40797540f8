//! Identifies the client's operating system with the rules of `data/clients-guess.toml`.

use coax_catalog::recognition::{ClientFeatures, client};

/// The client's properties that the rules test.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clues<'a> {
    /// Dialects offered, in order.
    pub(super) offered: &'a [String],
    /// NativeOS and NativeLanMan from the session setup.
    pub(super) native: &'a str,
    /// The calling NetBIOS name.
    pub(super) calling: Option<&'a str>,
    /// The called NetBIOS name.
    pub(super) called: Option<&'a str>,
}

/// A guess and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    /// The most likely client system.
    pub(super) who: String,
    /// Why.
    pub(super) why: String,
}

/// The best guess.
pub(super) fn guess(clues: &Clues<'_>) -> Guess {
    let features = ClientFeatures {
        offered: clues.offered,
        native: Some(clues.native).filter(|native| !native.is_empty()),
        calling: clues.calling,
    };
    match client(&features) {
        Some(found) => Guess {
            who: found.who.to_owned(),
            why: found.reason,
        },
        None => Guess {
            who: "an unknown client".into(),
            why: clues.in_words(),
        },
    }
}

impl Clues<'_> {
    fn in_words(&self) -> String {
        let mut words = Vec::new();
        if !self.native.is_empty() {
            words.push(format!("calls itself \"{}\"", self.native));
        }
        if !self.offered.is_empty() {
            words.push(format!("offers {}", self.offered.join(", ")));
        }
        if let Some(called) = self.called {
            words.push(format!("calls us {called}"));
        }
        if words.is_empty() {
            "it said nothing".into()
        } else {
            words.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guess_for_an_unknown_client_quotes_its_dialects() {
        let offered = ["MICROSOFT NETWORKS DEC".to_string()];
        let unknown = guess(&Clues {
            offered: &offered,
            called: Some("COAX"),
            ..Clues::default()
        });
        assert_eq!(unknown.who, "an unknown client");
        assert!(unknown.why.contains("MICROSOFT NETWORKS DEC") && unknown.why.contains("COAX"));
    }
}
