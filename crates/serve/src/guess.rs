//! Who a client is, guessed from what it offers and says. The rules are data: data/clients-guess.toml.

use std::sync::LazyLock;

use serde::Deserialize;

const RULES_TOML: &str = include_str!("../../../data/clients-guess.toml");

static RULES: LazyLock<Result<Rules, toml::de::Error>> =
    LazyLock::new(|| toml::from_str(RULES_TOML));

/// What is known of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clues<'a> {
    /// Dialects offered, in order.
    pub(super) offered: &'a [String],
    /// System and LAN manager, as it names them.
    pub(super) native: &'a str,
    /// The NetBIOS name it calls itself by.
    pub(super) calling: Option<&'a str>,
    /// The NetBIOS name it called us by.
    pub(super) called: Option<&'a str>,
}

/// A guess and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    /// Who it seems to be.
    pub(super) who: String,
    /// Why.
    pub(super) why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    client: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Rule {
    who: String,
    offers: Option<Vec<String>>,
    offers_among: Option<Vec<String>>,
    native: Option<String>,
    calling: Option<String>,
    /// Where the clue was seen: for readers of the table.
    #[allow(dead_code)]
    source: String,
}

/// The best guess there is.
pub(super) fn guess(clues: &Clues<'_>) -> Guess {
    let rules = RULES
        .as_ref()
        .map(|rules| rules.client.as_slice())
        .unwrap_or_default();
    match rules
        .iter()
        .find_map(|rule| Some((rule, rule.fits(clues)?)))
    {
        Some((rule, why)) => Guess {
            who: rule.who.clone(),
            why,
        },
        None => Guess {
            who: "an unknown client".into(),
            why: clues.in_words(),
        },
    }
}

impl Rule {
    /// Why it fits, if it does.
    fn fits(&self, clues: &Clues<'_>) -> Option<String> {
        let mut reasons = Vec::new();
        if let Some(text) = &self.native {
            has(clues.native, text)
                .then(|| reasons.push(format!("calls itself \"{}\"", clues.native)))?;
        }
        if let Some(text) = &self.calling {
            let name = clues.calling.filter(|name| has(name, text))?;
            reasons.push(format!("its NetBIOS name is {name}"));
        }
        if let Some(list) = &self.offers {
            (list == clues.offered)
                .then(|| reasons.push(format!("offers exactly {}", list.join(", "))))?;
        }
        if let Some(list) = &self.offers_among {
            let all = list.iter().all(|dialect| clues.offered.contains(dialect));
            all.then(|| reasons.push(format!("offers {} among others", list.join(" and "))))?;
        }
        (!reasons.is_empty()).then(|| reasons.join(", "))
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

fn has(text: &str, part: &str) -> bool {
    text.to_ascii_lowercase()
        .contains(&part.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn who(offered: &[&str], native: &str) -> String {
        let offered: Vec<String> = offered.iter().map(ToString::to_string).collect();
        guess(&Clues {
            offered: &offered,
            native,
            ..Clues::default()
        })
        .who
    }

    const DOS: &[&str] = &[
        "PC NETWORK PROGRAM 1.0",
        "MICROSOFT NETWORKS 3.0",
        "DOS LM1.2X002",
        "DOS LANMAN2.1",
        "Windows for Workgroups 3.1a",
    ];

    #[test]
    fn the_table_reads_and_every_rule_has_a_clue_and_a_source() {
        let rules = RULES.as_ref().unwrap();
        assert!(rules.client.len() > 10);
        for rule in &rules.client {
            assert!(!rule.source.is_empty(), "{}", rule.who);
            let clues = [
                rule.offers.is_some(),
                rule.offers_among.is_some(),
                rule.native.is_some(),
                rule.calling.is_some(),
            ];
            assert!(clues.contains(&true), "{}", rule.who);
        }
    }

    #[test]
    fn clients_seen_in_captures_are_recognised() {
        assert!(who(DOS, "").starts_with("MS-DOS LAN Manager"));
        assert_eq!(
            who(&["NT LM 0.12", "SMB 2.002"], "Mac OS X 10.10 SMBFS 3.0.0"),
            "Mac OS X"
        );
        assert!(who(&["NT LM 0.12"], "Unix Samba").contains("smbclient"));
        assert_eq!(
            who(
                &["NT LM 0.12"],
                "Windows 2002 Service Pack 3 2600 Windows 2002 5.1"
            ),
            "Windows XP"
        );
        assert!(who(&["NT LM 0.12"], "").contains("small"));
    }

    #[test]
    fn clients_are_not_taken_for_those_whose_words_they_share() {
        assert!(who(&["NT LM 0.12"], "AmigaOS smbfs 2.22").starts_with("AmigaOS"));
        assert!(who(&["Samba", "NT LM 0.12"], "Unix liBDSM").contains("libdsm"));
        assert!(who(&["Samba", "NT LM 0.12"], "").contains("libdsm"));
        let smblib = "UNIX of some type SMBlib LM2.1 minus a bit";
        assert!(who(&["Samba", "NT LM 0.12"], smblib).contains("Authen::Smb"));
        assert!(who(&["NT LM 0.12"], "PlayStation 2 SMBMAN").starts_with("PlayStation 2"));
        let windows_98 = [DOS, &["NT LM 0.12"]].concat();
        assert_eq!(who(&windows_98, ""), "Windows 95, 98 or Me");
    }

    #[test]
    fn smbclient_of_each_age_is_recognised_by_each_list_it_offers() {
        let list = [
            "PC NETWORK PROGRAM 1.0",
            "MICROSOFT NETWORKS 1.03",
            "MICROSOFT NETWORKS 3.0",
            "LANMAN1.0",
            "LM1.2X002",
            "Samba",
            "NT LANMAN 1.0",
            "NT LM 0.12",
        ];
        // smbclient 2.2.12 with -m COREPLUS, LANMAN1, LANMAN2 and NT1.
        for upto in [2, 4, 6, 8] {
            let offered: Vec<&str> = list.iter().take(upto).copied().collect();
            let guess = who(&offered, "");
            assert!(guess.contains("smbclient"), "{upto}: {guess}");
        }
    }

    #[test]
    fn a_guess_gives_its_reason_and_an_unknown_client_what_it_said() {
        let offered = ["MICROSOFT NETWORKS DEC".to_string()];
        let unknown = guess(&Clues {
            offered: &offered,
            called: Some("COAX"),
            ..Clues::default()
        });
        assert_eq!(unknown.who, "an unknown client");
        assert!(unknown.why.contains("MICROSOFT NETWORKS DEC") && unknown.why.contains("COAX"));
        let native = guess(&Clues {
            native: "Unix Samba",
            ..Clues::default()
        });
        assert_eq!(native.why, "calls itself \"Unix Samba\"");
    }

    #[test]
    fn the_order_of_dialects_counts_where_a_rule_lists_them() {
        let mut reversed = DOS.to_vec();
        reversed.reverse();
        assert_ne!(who(&reversed, ""), who(DOS, ""));
    }
}
