//! Every value of a scenario, and what it rests on.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{PLACES, Scenario, load::shown};
use crate::{
    card::NicParams,
    component::{Described, Evidence, ProfileError, built_in},
    files::{self, CLIENTS},
    link::LinkParams,
    machine::MachineParams,
    netbios::{Carrier, NetbiosParams},
    server::ServerParams,
    stack::StackParams,
    tuned::{Kind, Tuned},
};

/// A value of a scenario and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The key.
    pub path: String,
    /// The value.
    pub value: String,
    /// The source; empty if there is none.
    pub source: String,
    /// It is a reading of the evidence, not the evidence.
    pub assumed: bool,
    /// The cells because of which it was set.
    pub tuned: Tuned,
    /// The scenario changes the value that the component's file has; empty if the file has none.
    pub instead_of: Option<String>,
}

impl Basis {
    fn of(path: String, evidence: Evidence) -> Self {
        Self {
            path,
            value: evidence.value.trim_matches('"').to_string(),
            source: evidence.source,
            assumed: evidence.assumed,
            tuned: evidence.tuned,
            instead_of: None,
        }
    }
}

impl Scenario {
    /// Every value: the choices, then those of the components' files, then the changes. Values that no file has are the
    /// defaults of the model.
    ///
    /// # Errors
    /// A component's name is unknown.
    pub fn evidence(&self) -> Result<Vec<Basis>, ProfileError> {
        let (client, server) = (&self.choices.client, &self.choices.server);
        let mut all = self.chosen();
        all.extend(self.of_client());
        let is_tcp = self.choices.carrier == Carrier::Tcp;
        if is_tcp {
            self.of::<StackParams>("client.stack.", &client.stack, &mut all)?;
        } else {
            let name = client.netbios();
            self.of::<NetbiosParams>("client.netbios.", &name, &mut all)?;
        }
        self.of::<MachineParams>("client.machine.", &client.machine, &mut all)?;
        self.of::<NicParams>("client.card.", &client.card, &mut all)?;
        self.of::<ServerParams>("server.config.", &server.what, &mut all)?;
        if is_tcp {
            self.of::<StackParams>("server.stack.", &server.stack, &mut all)?;
        } else {
            let name = server.netbios();
            self.of::<NetbiosParams>("server.netbios.", &name, &mut all)?;
        }
        self.of::<MachineParams>("server.machine.", &server.machine, &mut all)?;
        self.of::<NicParams>("server.card.", &server.card, &mut all)?;
        self.of::<LinkParams>("link.", &self.choices.link, &mut all)?;
        // the choice `server.netbios` says it
        all.retain(|basis| basis.path != "server.config.netbios");
        all.extend(self.changed());
        Ok(all)
    }

    /// What this scenario's figure is to a cell: the strongest of its values' kinds.
    ///
    /// # Errors
    /// As for [`evidence`](Self::evidence).
    pub fn kind(&self, cell: &str) -> Result<Kind, ProfileError> {
        let evidence = self.evidence()?;
        let kinds = evidence.iter().map(|basis| basis.tuned.kind(cell));
        Ok(kinds.max().unwrap_or(Kind::Predicted))
    }

    /// The names of the components and the other choices.
    fn chosen(&self) -> Vec<Basis> {
        let named = self.choices.named().into_iter();
        named
            .map(|(path, value)| self.with_reason(path, value, None))
            .collect()
    }

    fn changed(&self) -> Vec<Basis> {
        let is_tcp = self.choices.carrier == Carrier::Tcp;
        let changes = self.changes.iter();
        changes
            .filter(|(path, _)| is_tcp || !path.contains(".stack."))
            .map(|(path, value)| {
                let before = self.in_file(path).unwrap_or_default();
                self.with_reason(path.clone(), shown(value), Some(before))
            })
            .collect()
    }

    fn with_reason(&self, path: String, value: String, instead_of: Option<String>) -> Basis {
        let reason = self.reasons.get(&path).cloned().unwrap_or_default();
        Basis {
            path,
            value,
            source: reason.text,
            assumed: false,
            tuned: reason.tuned,
            instead_of,
        }
    }

    fn of<T: Described>(
        &self,
        place: &str,
        name: &str,
        all: &mut Vec<Basis>,
    ) -> Result<(), ProfileError> {
        for evidence in built_in::<T>(name)?.evidence {
            let path = format!("{place}{}", evidence.key);
            if !self.changes.contains_key(&path) {
                all.push(Basis::of(path, evidence));
            }
        }
        Ok(())
    }

    /// The values of the client's profile.
    fn of_client(&self) -> Vec<Basis> {
        let file = self.facts();
        let sections = file
            .iter()
            .filter_map(|(name, it)| Some((name, it.as_table()?)));
        let facts = sections.flat_map(|(section, facts)| {
            let named = facts.iter();
            named.map(move |(key, fact)| (format!("client.profile.{section}.{key}"), fact))
        });
        facts
            .filter(|(path, _)| !self.changes.contains_key(path))
            .map(|(path, fact)| basis_of_fact(path, fact))
            .collect()
    }

    /// The value of a component's file, before any change.
    fn in_file(&self, path: &str) -> Option<String> {
        let mut unchanged = self.clone();
        unchanged.changes.clear();
        match path.strip_prefix("client.profile.") {
            Some(key) => {
                let all = self.facts();
                let (section, key) = key.split_once('.')?;
                Some(shown(all.get(section)?.get(key)?.get("value")?))
            }
            None if PLACES.iter().any(|place| path.starts_with(place)) => unchanged.parameter(path),
            None => None,
        }
    }

    fn facts(&self) -> toml::Table {
        let text = files::find(CLIENTS, &self.choices.client.what).unwrap_or_default();
        toml::from_str(text).unwrap_or_default()
    }
}

fn basis_of_fact(path: String, fact: &toml::Value) -> Basis {
    let text = |key: &str| fact.get(key).and_then(toml::Value::as_str);
    let cells = |key: &str| {
        let list = fact.get(key).and_then(toml::Value::as_array);
        let names = list.into_iter().flatten().filter_map(toml::Value::as_str);
        names.map(ToString::to_string).collect()
    };
    Basis {
        path,
        value: fact.get("value").map(shown).unwrap_or_default(),
        source: text("source")
            .or(text("assumed"))
            .unwrap_or_default()
            .to_string(),
        assumed: text("assumed").is_some(),
        tuned: Tuned {
            fitted: cells("fitted"),
            chosen: cells("chosen"),
        },
        instead_of: None,
    }
}
