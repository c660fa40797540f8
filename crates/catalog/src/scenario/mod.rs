//! Scenarios: a copy described by names of profiles, and changes to them.
//!
//! ```toml
//! title = "what this is"
//! direction = "to-server"
//! size = "42MB"
//! protocol = "smb"          # or "tcp": one-way TCP, as FTP and TTCP
//! files = 1                 # number of files of that size, copied one after the other
//! clients = 5               # number of clients that copy at the same time, each files of its own
//! also = ["windows-98"]     # profiles of the clients after the first, in turn; without it they are like the first
//! link = "ethernet-100"
//! transport = "tcp"         # or "netbeui", "nbipx", "ipx"
//! [client]
//! profile = "ms-net-3.11-full"
//! stack = "ms-tcpip-1.0a"
//! machine = "virtual-dos"
//! card = "dos-short-ring"
//! [server]
//! config = "samba-nas"
//! stack = "linux"
//! machine = "nas"
//! card = "plain"
//! [set]
//! "client.stack.receive_window" = 2900
//! "client.machine.request.fixed" = "105 us"
//! "client.profile.read.block" = 4096   # or "buffer", "kibibytes", or a list of sizes with their counts: [[4096, 3], [512, 1]]
//! ```
//!
//! A table `[sweep]` may contain values for a grid of runs; this module only stores it.
//!
//! What `[set]` may change lies beneath `client.profile`, `client.stack`, `client.machine`, `client.card`,
//! `client.netbios`, `server.config`, `server.stack`, `server.machine`, `server.card`, `server.netbios` and `link`; the keys are those of the files in `data`.

mod carrier;
mod choices;
mod effects;
mod evidence;
mod load;
#[cfg(test)]
mod tests;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use choices::{CHOICES, Choices, PLACES};
pub use choices::{Protocol, parse_size, parts};
use coax_wire::time::Span;
use effects::without_effect;
pub use evidence::Basis;
use load::{brief, client_profile, described, in_file, shown};

use crate::{
    card::NicParams,
    clients,
    component::{Described, ProfileError},
    direction::Direction,
    files,
    host::HostParams,
    link::LinkParams,
    machine::MachineParams,
    netbios::{Carrier, NetbiosParams},
    profile::Profile,
    server::ServerParams,
    stack::StackParams,
    tuned::{Source, Sources, sourced, sources},
};

/// A scenario with all names resolved.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The client's machine, card and TCP.
    pub client_host: HostParams,
    /// The server's machine, card and TCP.
    pub server_host: HostParams,
    /// The link.
    pub link: LinkParams,
    /// What carries the messages.
    pub carrier: Carrier,
    /// The redirector.
    pub client: Arc<Profile>,
    /// The hosts and redirectors of more clients, which copy at the same time.
    pub more: Vec<(HostParams, Arc<Profile>)>,
    /// The server's parameters.
    pub server: ServerParams,
    /// What carries the file.
    pub protocol: Protocol,
    /// The direction of the copy.
    pub direction: Direction,
    /// Bytes of each file; the average where requests have a list of sizes.
    pub size: u64,
    /// Number of files.
    pub files: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The run ends at this time at the latest.
    pub limit: Span,
}

/// A copy, described by names and changes.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the source, for messages.
    pub name: String,
    choices: Choices,
    changes: BTreeMap<String, toml::Value>,
    /// Paths that a person set for this run, apart from those that a component or a built-in scenario states.
    asked: BTreeSet<String>,
    /// The sources of changes and choices, by path.
    reasons: BTreeMap<String, Source>,
    sweep: Vec<(String, toml::Value)>,
}

impl Scenario {
    /// An ordinary copy: the modern client to a Samba over 100 Mbit/s, everything fast.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_string(),
            choices: Choices::default(),
            changes: BTreeMap::new(),
            asked: BTreeSet::new(),
            reasons: BTreeMap::new(),
            sweep: Vec::new(),
        }
    }

    /// Reads a scenario's file. `name` is the file's, for messages.
    ///
    /// # Errors
    /// The file, the invalid key and the allowed values. [`resolve`](Self::resolve) checks names and changes.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| ProfileError::Malformed {
            file: name.to_string(),
            reason: error.to_string(),
        })?;
        let mut scenario = Self::new(name);
        let sources = match table.get("sources") {
            Some(value) => sources(value).map_err(|reason| scenario.wrong("sources", reason))?,
            None => Sources::new(),
        };
        for (key, value) in &table {
            match value {
                _ if key == "sources" => (),
                toml::Value::Table(set) if key == "set" => scenario.change(set, &sources)?,
                toml::Value::Table(sweep) if key == "sweep" => {
                    flatten("", sweep, &mut scenario.sweep);
                }
                toml::Value::Table(place) if sourced(value).is_none() => {
                    for (inner, value) in place {
                        scenario.take(&format!("{key}.{inner}"), value, &sources, Self::choose)?;
                    }
                }
                value => scenario.take(key, value, &sources, Self::choose)?,
            }
        }
        // a file must not set what has no effect with its own transport; with another one, its values are not used
        let carrier = scenario.choices.carrier;
        let paths = scenario.changes.keys();
        let idle = paths.filter(|path| without_effect(path, carrier).is_some());
        scenario.asked = idle.cloned().collect();
        Ok(scenario)
    }

    /// One that comes with the lab.
    ///
    /// # Errors
    /// The name is unknown; the error lists the known names.
    pub fn built_in(name: &str) -> Result<Self, ProfileError> {
        let text = files::find(files::SCENARIOS, name).ok_or_else(|| ProfileError::Unknown {
            kind: "scenario",
            name: name.to_string(),
            known: files::names(files::SCENARIOS),
        })?;
        Self::parse(&format!("data/scenarios/{name}.toml"), text)
    }

    /// Changes values as a table `[set]` does: `KEY = VALUE`, or `KEY = { value = …, source = "NAME" }` with a name in
    /// `sources`.
    ///
    /// # Errors
    /// As [`set`](Self::set), or the source has no entry.
    pub fn change(&mut self, set: &toml::Table, sources: &Sources) -> Result<(), ProfileError> {
        let mut changes = Vec::new();
        flatten("", set, &mut changes);
        for (path, value) in changes {
            self.take(&path, &value, sources, Self::describe)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        path: &str,
        value: &toml::Value,
        sources: &Sources,
        put: impl Fn(&mut Self, &str, toml::Value) -> Result<(), ProfileError>,
    ) -> Result<(), ProfileError> {
        let Some((value, name)) = sourced(value) else {
            return put(self, path, value.clone());
        };
        let source = sources.get(name).cloned();
        let source = source.ok_or_else(|| ProfileError::Source {
            file: self.name.clone(),
            key: path.to_string(),
            source_name: name.to_string(),
        })?;
        put(self, path, value.clone())?;
        self.reasons.insert(path.to_string(), source);
        Ok(())
    }

    /// Changes one value: a choice of the scenario, or a value of one of its components.
    ///
    /// # Errors
    /// The path is none of these, or the choice is not possible.
    pub fn set(&mut self, path: &str, value: toml::Value) -> Result<(), ProfileError> {
        self.describe(path, value)?;
        self.asked.insert(path.to_string());
        Ok(())
    }

    /// As [`set`](Self::set), for values that describe a machine and may have no effect on this copy: those of its TCP, if
    /// the copy does not use it.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn describe(&mut self, path: &str, value: toml::Value) -> Result<(), ProfileError> {
        self.reasons.remove(path);
        if PLACES.iter().any(|place| path.starts_with(place)) {
            self.changes.insert(path.to_string(), value);
            return Ok(());
        }
        self.choose(path, value)
    }

    /// Chooses the client's profile, with the stack and machine that the lab usually runs it on. An unknown name is an
    /// error of [`resolve`](Self::resolve).
    ///
    /// # Errors
    /// None today; as [`set`](Self::set).
    pub fn choose_client(&mut self, client: &str) -> Result<(), ProfileError> {
        let known = clients::by_name(client);
        let usual = known.as_deref().map_or(("linux", "fast"), |profile| {
            (profile.stack.as_str(), profile.machine.as_str())
        });
        for (key, name) in [
            ("client.profile", client),
            ("client.stack", usual.0),
            ("client.machine", usual.1),
        ] {
            self.describe(key, toml::Value::String(name.to_string()))?;
        }
        Ok(())
    }

    /// Changes one value, from `KEY=VALUE` as people type it: a value is TOML, or else a string.
    ///
    /// # Errors
    /// As [`set`](Self::set), or there is no `=`.
    pub fn set_text(&mut self, assignment: &str) -> Result<(), ProfileError> {
        let (path, text) = assignment.split_once('=').ok_or_else(|| {
            self.wrong(
                assignment,
                "expected KEY=VALUE, such as client.stack.mss=1450",
            )
        })?;
        self.set(path.trim(), parse_value(text))
    }

    /// The file's `[sweep]`: keys in alphabetical order with their values.
    pub fn sweep(&self) -> &[(String, toml::Value)] {
        &self.sweep
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.choices.title
    }

    /// Bytes of the file.
    pub const fn size(&self) -> u64 {
        self.choices.size
    }

    /// Number of files of that size.
    pub const fn files(&self) -> u32 {
        self.choices.files
    }

    /// Which way.
    pub const fn direction(&self) -> Direction {
        self.choices.direction
    }

    /// The names and changed values, sorted by path.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let mut all = self.choices.named();
        let changes = self.changes.iter();
        all.extend(changes.map(|(path, value)| (path.clone(), shown(value))));
        all
    }

    /// The scenario as a file that [`parse`](Self::parse) reads. Sources are left out.
    pub fn as_file(&self) -> String {
        let mut file = toml::Table::new();
        let title = self.title();
        if !title.is_empty() {
            file.insert("title".to_string(), title.into());
        }
        for (path, text) in self.choices.named() {
            let value = match path.as_str() {
                "size" | "files" | "seed" | "clients" | "also" => parse_value(&text),
                _ => toml::Value::String(text),
            };
            put(&mut file, &path, value);
        }
        let mut set = toml::Table::new();
        // A base scenario's values for another transport would be refused in a file of their own.
        let is_idle = |path: &str| self.is_without_effect(path) && !self.asked.contains(path);
        let effective = self.changes.iter().filter(|(path, _)| !is_idle(path));
        for (path, value) in effective {
            put(&mut set, path, value.clone());
        }
        if !set.is_empty() {
            file.insert("set".to_string(), set.into());
        }
        toml::to_string(&file).unwrap_or_default()
    }

    /// One of these, or the profile's value if it is not changed; `None` if the file does not contain it, and for
    /// client profiles.
    pub fn parameter(&self, path: &str) -> Option<String> {
        let mut all = self.parameters().into_iter();
        if let Some((_, text)) = all.find(|(known, _)| known == path) {
            return Some(text);
        }
        let (client, server) = (&self.choices.client, &self.choices.server);
        let (place, key) = PLACES
            .iter()
            .find_map(|place| Some((*place, path.strip_prefix(place)?)))?;
        match place {
            "client.stack." => in_file::<StackParams>(&client.stack, key),
            "client.machine." => in_file::<MachineParams>(&client.machine, key),
            "client.card." => in_file::<NicParams>(&client.card, key),
            "client.netbios." => in_file::<NetbiosParams>(&client.netbios(), key),
            "server.config." => in_file::<ServerParams>(&server.what, key),
            "server.stack." => in_file::<StackParams>(&server.stack, key),
            "server.machine." => in_file::<MachineParams>(&server.machine, key),
            "server.card." => in_file::<NicParams>(&server.card, key),
            "server.netbios." => in_file::<NetbiosParams>(&server.netbios(), key),
            "link." => in_file::<LinkParams>(&self.choices.link, key),
            _ => None,
        }
    }

    /// Resolves names and changes.
    ///
    /// # Errors
    /// A name, key or value is invalid; the error lists the allowed ones.
    pub fn resolve(&self) -> Result<Resolved, ProfileError> {
        let choices = &self.choices;
        let link = self.part::<LinkParams>("link", &choices.link)?;
        self.check_carrier(&link)?;
        Ok(Resolved {
            client_host: self.host("client", &choices.client)?,
            server_host: self.host("server", &choices.server)?,
            link,
            carrier: choices.carrier,
            client: self.client()?,
            more: self.more()?,
            server: self.part::<ServerParams>("server.config", &choices.server.what)?,
            protocol: self.protocol()?,
            direction: choices.direction,
            size: choices.size,
            files: choices.files,
            seed: choices.seed,
            limit: choices.limit,
        })
    }

    fn host(&self, side: &str, names: &choices::Host) -> Result<HostParams, ProfileError> {
        let place = format!("{side}.netbios");
        Ok(HostParams {
            machine: self.part::<MachineParams>(&format!("{side}.machine"), &names.machine)?,
            nic: self.part::<NicParams>(&format!("{side}.card"), &names.card)?,
            stack: self.part::<StackParams>(&format!("{side}.stack"), &names.stack)?,
            // files of TCP copies are not read
            netbios: match self.choices.carrier {
                Carrier::Tcp => NetbiosParams::default(),
                _ => self.part::<NetbiosParams>(&place, &names.netbios())?,
            },
        })
    }

    fn protocol(&self) -> Result<Protocol, ProfileError> {
        match (self.choices.protocol, self.choices.clients) {
            (Protocol::Tcp, 2..) => Err(self.wrong(
                "clients",
                "several clients copy with protocol = \"smb\" only",
            )),
            (Protocol::Tcp, _) if self.choices.carrier != Carrier::Tcp => Err(self.wrong(
                "protocol",
                "\"tcp\" is TCP alone; leave out the transport, or write protocol = \"smb\"",
            )),
            (protocol, _) => Ok(protocol),
        }
    }

    /// The clients after the first. Without `also` they are like it, with all changes; else they are those listed there in turn,
    /// each on its usual stack and machine, with the first one's card.
    fn more(&self) -> Result<Vec<(HostParams, Arc<Profile>)>, ProfileError> {
        let choices = &self.choices;
        let count = (choices.clients as usize).saturating_sub(1);
        if choices.also.is_empty() && count == 0 {
            return Ok(Vec::new());
        }
        if choices.also.is_empty() {
            let one = (self.host("client", &choices.client)?, self.client()?);
            return Ok(alloc::vec![one; count]);
        }
        let each = choices.also.iter().map(|name| {
            let mut other = Self::new(&self.name);
            other.choose_client(name)?;
            other.choices.client.card = choices.client.card.clone();
            other.choices.carrier = choices.carrier;
            Ok((
                other.host("client", &other.choices.client)?,
                other.client()?,
            ))
        });
        let each = each.collect::<Result<Vec<_>, ProfileError>>()?;
        Ok(each.into_iter().cycle().take(count).collect())
    }

    fn client(&self) -> Result<Arc<Profile>, ProfileError> {
        let name = &self.choices.client.what;
        let text = files::find(files::CLIENTS, name).ok_or_else(|| ProfileError::Unknown {
            kind: "client",
            name: name.clone(),
            known: files::names(files::CLIENTS),
        })?;
        let changes = self.beneath("client.profile");
        client_profile(text, &changes)
            .map_err(|(key, reason)| self.wrong(&format!("client.profile.{key}"), reason))
    }

    fn part<T: Described>(&self, place: &str, name: &str) -> Result<T, ProfileError> {
        described::<T>(name, &self.beneath(place)).map_err(|error| match error {
            ProfileError::Value { key, reason, .. } => {
                self.wrong(&format!("{place}.{key}"), reason)
            }
            other => other,
        })
    }

    /// The changes beneath a place, their paths without it.
    fn beneath(&self, place: &str) -> Vec<(&str, &toml::Value)> {
        let inner = |path: &'_ str| -> Option<usize> {
            let rest = path.strip_prefix(place)?.strip_prefix('.')?;
            Some(path.len().saturating_sub(rest.len()))
        };
        self.changes
            .iter()
            .filter_map(|(path, value)| Some((path.get(inner(path)?..)?, value)))
            .collect()
    }

    fn choose(&mut self, key: &str, value: toml::Value) -> Result<(), ProfileError> {
        self.choices.take(key, &value).map_err(|problem| {
            let reason = problem.unwrap_or_else(|| {
                format!(
                    "there is no such key; there are {}, and in [set] those beneath {}",
                    CHOICES.join(", "),
                    parts().collect::<Vec<_>>().join(", ")
                )
            });
            self.wrong(key, reason)
        })
    }

    fn wrong(&self, key: &str, reason: impl Into<String>) -> ProfileError {
        let reason: String = reason.into();
        ProfileError::Value {
            file: self.name.clone(),
            key: key.to_string(),
            reason: brief(&reason),
        }
    }
}

/// A value as people type it: TOML, or else a string.
pub fn parse_value(text: &str) -> toml::Value {
    let text = text.trim();
    let parsed: Option<toml::Table> = toml::from_str(&format!("value = {text}")).ok();
    // one value only, so that the text cannot add keys
    let value = parsed
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| toml::Value::String(text.trim_matches('"').to_string()))
}

/// Puts a value at a path of keys separated by dots.
fn put(table: &mut toml::Table, path: &str, value: toml::Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_string(), value);
        }
        Some((first, rest)) => {
            let inner = table
                .entry(first)
                .or_insert_with(|| toml::Table::new().into());
            if let Some(inner) = inner.as_table_mut() {
                put(inner, rest, value);
            }
        }
    }
}

fn flatten(before: &str, table: &toml::Table, out: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let path = if before.is_empty() {
            key.clone()
        } else {
            format!("{before}.{key}")
        };
        match value {
            toml::Value::Table(inner) if sourced(value).is_none() => flatten(&path, inner, out),
            value => out.push((path, value.clone())),
        }
    }
}
