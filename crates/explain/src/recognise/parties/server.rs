//! Who the server is.

use serde::Deserialize;

use super::{Evidence, Party, Sureness, fitting, native, rules};
use crate::report::{Connection, Smb};

/// A rule of `data/servers-guess.toml`; every clue that it has must fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rule {
    kind: String,
    who: String,
    /// Text in the system and LAN manager names of the session set-up's answer.
    native: Option<String>,
    /// The dialect that it chose.
    dialect: Option<String>,
    /// The largest message that it takes.
    max_buffer: Option<u32>,
    /// Requests at once.
    max_mpx: Option<u16>,
    /// The configuration of `data/servers` that is most like it.
    config: Option<String>,
    /// Where the clue was seen: for readers of the table.
    #[allow(dead_code)]
    source: String,
}

pub(super) fn recognise(connection: &Connection, smb: &Smb) -> Party {
    let said = native(&smb.server_system);
    let evidence = seen(connection, smb, said.as_deref());
    let fits = |rule: &Rule, names: fn(&str, &str) -> bool| rule.fits(smb, said.as_deref(), names);
    let Some((rule, is_whole)) = fitting(&rules().server, fits) else {
        return Party {
            name: said.map_or_else(|| "unknown".to_owned(), |said| format!("unknown ({said})")),
            evidence,
            ..Party::default()
        };
    };
    let lan_man = smb
        .server_system
        .as_ref()
        .map_or("", |said| said.1.as_str());
    Party {
        profile: Some(rule.kind.clone()),
        name: rule.who.replace("{lan-manager}", lan_man),
        sure: if rule.native.is_some() && is_whole {
            Sureness::Sure
        } else {
            Sureness::Like
        },
        evidence,
        also: Vec::new(),
        config: rule.config.clone(),
    }
}

impl Rule {
    /// `names` is how what it calls itself is held against the clue.
    fn fits(&self, smb: &Smb, said: Option<&str>, names: fn(&str, &str) -> bool) -> bool {
        let is = |clue: &Option<String>, told: Option<&str>, fits: fn(&str, &str) -> bool| {
            clue.as_deref()
                .is_none_or(|clue| told.is_some_and(|told| fits(told, clue)))
        };
        is(&self.native, said, names)
            && is(&self.dialect, smb.dialect.as_deref(), |told, clue| {
                told == clue
            })
            && (self.native.is_some() || said.is_none())
            && self
                .max_buffer
                .is_none_or(|size| smb.server_max_buffer == Some(size))
            && self.max_mpx.is_none_or(|count| smb.max_mpx == Some(count))
    }
}

fn seen(connection: &Connection, smb: &Smb, said: Option<&str>) -> Vec<Evidence> {
    let mut all = Vec::new();
    let mut add = |what: String, frame: Option<u64>| all.push(Evidence { what, frame });
    if let Some(said) = said {
        add(format!("calls itself {said}"), smb.frames.log_on.1);
    }
    let answered = smb.frames.negotiate.1;
    if let Some(dialect) = &smb.dialect {
        add(format!("chooses {dialect}"), answered);
    }
    if let (Some(buffer), Some(mpx)) = (smb.server_max_buffer, smb.max_mpx) {
        add(
            format!("takes messages of {buffer} bytes, {mpx} at once"),
            answered,
        );
    }
    let [_, side] = &connection.sides;
    if let (Some(mss), [_, habits]) = (side.mss, &connection.habits) {
        add(
            format!("TCP: MSS {mss}, window up to {}", side.max_window),
            habits.syn,
        );
    }
    all
}
