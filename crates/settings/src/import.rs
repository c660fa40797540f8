//! What the lines of all files mean together: a scenario.

use coax_catalog::scenario::Scenario;

use crate::{
    file::{File, Kind},
    table::{Setting, settings},
    value,
};

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The old machine's.
    Client,
    /// The server's.
    Server,
}

impl Role {
    /// `client` or `server`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// What a line does to the scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// It sets these values; `assumed`: that it is this value is an assumption.
    Sets {
        /// Paths and values of the scenario.
        values: Vec<(String, toml::Value)>,
        /// See above.
        assumed: bool,
    },
    /// It selects this client profile.
    Selects(String),
    /// It is known, and changes nothing that the lab models.
    Nothing,
    /// Its value is not possible, and why.
    Wrong(String),
}

/// A line with a known meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// `FILE:LINE`.
    pub place: String,
    /// The line without its comment.
    pub text: String,
    /// What it does, one sentence.
    pub meaning: &'static str,
    /// The value that is usually best, if one is known.
    pub advice: Option<&'static str>,
    /// Where that is from.
    pub source: &'static str,
    /// Its effect on the scenario.
    pub effect: Effect,
}

/// Files, read.
#[derive(Clone, Debug, Default)]
pub struct Import {
    files: Vec<(File, Role)>,
    lines: Vec<Line>,
    /// Lines without a known effect on speed.
    others: usize,
    profile: Option<String>,
    guess: Option<&'static str>,
}

impl Import {
    /// Adds a file of the machine that usually has it, unless `role` says whose it is.
    pub fn add_as(&mut self, file: &File, role: Option<Role>) {
        let usual = match file.kind.is_usually_the_servers() {
            true => Role::Server,
            false => Role::Client,
        };
        self.add(file, role.unwrap_or(usual));
    }

    /// Adds the lines of a file. Of two lines that set the same value the later one counts, as on the machine.
    pub fn add(&mut self, file: &File, role: Role) {
        for entry in &file.entries {
            let fits =
                |setting: &&Setting| setting.fits(file.kind.name(), &entry.section, &entry.key);
            let Some(setting) = settings().iter().find(fits) else {
                self.others = self.others.saturating_add(1);
                continue;
            };
            let effect = effect(setting, &entry.value, role);
            if let Effect::Selects(profile) = &effect {
                self.profile = Some(profile.clone());
            }
            self.lines.push(Line {
                place: format!("{}:{}", file.name, entry.line),
                text: format!("{} = {}", entry.shown_key, entry.value),
                meaning: &setting.meaning,
                advice: setting.advice.as_deref(),
                source: &setting.source,
                effect,
            });
        }
        if role == Role::Client {
            self.guess = self.guess.or_else(|| guess(file));
        }
        self.files.push((file.clone(), role));
    }

    /// The names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(file, _)| file.name.as_str())
    }

    pub(crate) fn files(&self) -> &[(File, Role)] {
        &self.files
    }

    /// The lines with a known meaning, in the order of the files.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The number of lines without a known effect on speed.
    #[must_use]
    pub const fn others(&self) -> usize {
        self.others
    }

    /// The client profile that the files name or suggest.
    #[must_use]
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref().or(self.guess)
    }

    /// The values that the lines set, each once.
    #[must_use]
    pub fn values(&self) -> Vec<(String, toml::Value)> {
        let mut values: Vec<(String, toml::Value)> = Vec::new();
        for line in &self.lines {
            let Effect::Sets { values: set, .. } = &line.effect else {
                continue;
            };
            for (path, value) in set {
                values.retain(|(known, _)| known != path);
                values.push((path.clone(), value.clone()));
            }
        }
        values.sort_by(|a, b| a.0.cmp(&b.0));
        values
    }

    /// A scenario file with these values: a copy of 8 MB from the server.
    ///
    /// # Errors
    /// The profile does not exist, or a value is not possible for the lab.
    pub fn scenario(&self, title: &str, profile: Option<&str>) -> Result<String, String> {
        self.resolved(title, profile)
            .map(|scenario| self.text(title, &scenario))
    }

    /// The same, ready to run.
    ///
    /// # Errors
    /// As [`scenario`](Self::scenario).
    pub fn resolved(&self, title: &str, profile: Option<&str>) -> Result<Scenario, String> {
        let mut scenario = Scenario::new(title);
        if let Some(profile) = profile.or(self.profile()) {
            scenario
                .choose_client(profile)
                .map_err(|error| error.to_string())?;
        }
        for (path, value) in self.values() {
            scenario
                .describe(&path, value)
                .map_err(|error| error.to_string())?;
        }
        scenario.resolve().map_err(|error| error.to_string())?;
        Ok(scenario)
    }

    fn text(&self, title: &str, scenario: &Scenario) -> String {
        let title = toml::Value::String(title.to_owned());
        let mut text = format!(
            "title = {title}\ndirection = \"to-client\"\nsize = 8000000\nlink = \"ethernet-10\"\n"
        );
        for (place, keys) in [
            ("client", ["profile", "stack", "machine"]),
            ("server", ["config", "stack", "machine"]),
        ] {
            let named = keys
                .iter()
                .filter_map(|key| Some((key, scenario.parameter(&format!("{place}.{key}"))?)));
            let lines: String = named
                .map(|(key, name)| format!("{key} = {}\n", toml::Value::String(name)))
                .collect();
            if !lines.is_empty() {
                text.push_str(&format!("\n[{place}]\n{lines}"));
            }
        }
        // what has an effect with another transport only must not be set for this one
        let all = self.values();
        let (others, values): (Vec<_>, Vec<_>) = all.into_iter().partition(is_of_netbeui);
        if !values.is_empty() {
            text.push_str("\n[set]\n");
        }
        for (path, value) in values {
            text.push_str(&format!("{path} = {value}\n"));
        }
        for (path, value) in others {
            let line = format!("# with transport = \"netbeui\": {path} = {value}\n");
            text.push_str(&line);
        }
        text
    }
}

pub(crate) fn effect(setting: &Setting, text: &str, role: Role) -> Effect {
    if !setting.choose.is_empty() {
        let word = text.trim().to_lowercase();
        return match setting.choose.get(&word) {
            Some(profile) => Effect::Selects(profile.clone()),
            None => Effect::Wrong(format!("'{text}' is none of {}", words(&setting.choose))),
        };
    }
    let role = if setting.role.as_deref() == Some("server") {
        Role::Server
    } else {
        role
    };
    match value::of(setting, text) {
        Err(why) => Effect::Wrong(why),
        Ok(Some(value)) if setting.set.is_some() => {
            let paths = setting.set.iter().chain(&setting.also);
            let values = paths.map(|path| (format!("{}.{path}", role.name()), value.clone()));
            Effect::Sets {
                values: values.collect(),
                assumed: setting.assumed,
            }
        }
        Ok(_) => Effect::Nothing,
    }
}

fn is_of_netbeui((path, _): &(String, toml::Value)) -> bool {
    path.contains(".netbios.")
}

fn words<V>(map: &std::collections::BTreeMap<String, V>) -> String {
    map.keys().cloned().collect::<Vec<_>>().join(", ")
}

/// The client that usually has such a file.
fn guess(file: &File) -> Option<&'static str> {
    let has = |part: &str| {
        file.entries
            .iter()
            .any(|entry| entry.section.contains(part))
    };
    match file.kind {
        Kind::NetworkIni => Some("ibm-dls-5.0-full"),
        Kind::SystemIni if has("386enh") || has("mstcp") => Some("wfw-3.11"),
        Kind::SystemIni | Kind::ProtocolIni if has("network") || has("tcpip") => {
            Some("ms-net-3.11-full")
        }
        Kind::Registry if has("\\vxd\\") => Some("windows-98"),
        Kind::Registry if has("\\tcpip\\parameters") => Some("windows-2000"),
        _ => None,
    }
}
