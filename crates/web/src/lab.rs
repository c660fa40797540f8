//! The lab: what can be chosen, and runs of scenarios.

use anyhow::{Context as _, Result};
use coax_catalog::{
    files::{self, Files},
    tables,
};
use coax_explain::Cause;
use coax_lab::scenario::{Scenario, parse_value};
use coax_report::lab::{keys, plots::sequence::sequence, report, run};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    decode::KINDS,
    sliders::{SLIDERS, SWITCHES},
};

/// A scenario and changes of it, as the page sends them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of one that comes with the lab, or the text of a file.
    pub scenario: String,
    /// Keys and values in the order in which they were changed.
    #[serde(default)]
    pub changes: Vec<(String, String)>,
    /// Draw the sequence numbers over time.
    #[serde(default)]
    pub picture: bool,
}

/// What can be chosen: the files of each kind with their titles, the tables, the sliders, and the kinds of messages.
pub fn catalogue() -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "causes": Cause::ALL.map(|cause| {
            let own = cause.description();
            json!({ "key": own.key, "label": own.label, "colour": own.colour, "meaning": own.meaning })
        }),
        "choices": [
            choice("client", "Client", files::CLIENTS),
            choice("client.stack", "TCP stack of the client", files::STACKS),
            choice("client.machine", "Machine of the client", files::MACHINES),
            choice("client.card", "Network card of the client", files::CARDS),
            choice("link", "Network", files::LINKS),
            choice("server.config", "Server", files::SERVERS),
            choice("server.stack", "TCP stack of the server", files::STACKS),
            choice("server.machine", "Machine of the server", files::MACHINES),
        ],
        "kinds": KINDS.map(|(name, _, title)| json!({ "name": name, "title": title })),
        "scenarios": titled(files::SCENARIOS),
        "sliders": SLIDERS,
        "switches": SWITCHES,
        "tables": tables::names().filter_map(table).collect::<Vec<_>>(),
    })
}

fn choice(key: &str, label: &str, files: Files) -> Value {
    json!({ "key": key, "label": label, "files": titled(files) })
}

fn titled(files: Files) -> Vec<Value> {
    let files = files.iter();
    files
        .map(|(name, text)| json!({ "name": name, "title": title(text).unwrap_or(name) }))
        .collect()
}

/// The title in a file of the catalogue: the first line that sets one.
fn title(text: &'static str) -> Option<&'static str> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("title = \""))?;
    line.strip_suffix('"')
}

/// The cells of a table that are copies.
fn table(name: &'static str) -> Option<Value> {
    let table = tables::table(name).ok()?;
    let cells: Vec<Value> = table
        .cells
        .iter()
        .filter_map(|cell| {
            let scenario = cell.scenario(&table.sources, false).ok()?;
            let published = cell.published.as_deref();
            let figure = published
                .and_then(|path| coax_catalog::published::figure(&table.published, path).ok());
            Some(json!({
                "name": cell.name(name),
                "title": scenario.title(),
                "published": figure,
                "unit": cell.unit.name(),
                "scenario": scenario.as_file(),
            }))
        })
        .collect();
    Some(json!({ "name": name, "title": table.title, "about": table.about.trim(), "cells": cells }))
}

/// The request's scenario.
///
/// # Errors
/// The scenario or a change is wrong; the text names the key and what is allowed.
fn scenario(request: &Request) -> Result<Scenario> {
    let is_text = request.scenario.contains(['\n', '=']);
    let mut scenario = match is_text {
        true => Scenario::parse("the scenario", &request.scenario)?,
        false => Scenario::built_in(&request.scenario)?,
    };
    for (key, value) in &request.changes {
        keys::set(&mut scenario, key, parse_value(value))?;
    }
    Ok(scenario)
}

/// The scenario of a request as the page shows it: title, file, the value of every choice, slider and switch, and those that have no effect
/// with the scenario's transport.
///
/// # Errors
/// The request is damaged, or its scenario is wrong.
pub fn describe(request: &str) -> Result<Value> {
    let request: Request = serde_json::from_str(request).context("the request is damaged")?;
    let scenario = scenario(&request)?;
    scenario.resolve()?;
    let named = scenario.parameters();
    let sliders = SLIDERS.iter().map(|slider| slider.key);
    let switches = SWITCHES.iter().map(|switch| switch.key);
    let values = sliders
        .chain(switches)
        .filter_map(|key| Some((key.to_owned(), scenario.parameter(key)?)));
    let values: serde_json::Map<String, Value> = values
        .chain(named.iter().cloned())
        .map(|(key, value)| (key, value.into()))
        .collect();
    let sliders = SLIDERS.iter().map(|slider| slider.key);
    let all = sliders.chain(SWITCHES.iter().map(|switch| switch.key));
    let idle: Vec<&str> = all.filter(|key| scenario.is_without_effect(key)).collect();
    Ok(json!({
        "title": scenario.title(),
        "file": scenario.as_file(),
        "values": values,
        "without_effect": idle,
    }))
}

/// Runs the request's scenario: the object of `coax lab run --json`, the text of `coax lab run`, and the picture, if wanted.
///
/// # Errors
/// The request is damaged, or its scenario is wrong.
pub fn run(request: &str) -> Result<Value> {
    let request: Request = serde_json::from_str(request).context("the request is damaged")?;
    let scenario = scenario(&request)?;
    let observed = run::run_observed(&scenario, None, request.picture)?;
    let picture = match request.picture && observed.summary.failed.is_none() {
        true => Some(sequence(&observed, None)?),
        false => None,
    };
    Ok(json!({
        "summary": observed.summary,
        "text": report::text(&observed.summary),
        "picture": picture,
    }))
}

#[cfg(test)]
mod tests;
