//! `coax serve --check`: does what a start does, and says what came of it.

use std::net::SocketAddr;
use std::process::ExitCode;

use serde::Serialize;

use crate::cli::output::{print, print_diagnostics};
use coax_report::greeting;
use coax_serve::Bound;
use coax_serve::prepare::{Prepared, Rejected};
use coax_smbconf::diagnostic::{Diagnostic, Severity};
use coax_smbconf::load::local_addresses;
use coax_smbconf::settings::Settings;

/// What `--check --json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    /// Whether the server would start.
    ok: bool,
    /// What is to be said, in the order found.
    diagnostics: Vec<Said<'a>>,
    /// What would be served; `None` if it would not start.
    serves: Option<Serves<'a>>,
}

/// One diagnostic.
#[derive(Debug, Serialize)]
struct Said<'a> {
    /// `note`, `warning` or `error`.
    severity: String,
    message: &'a str,
    /// The configuration file, if it is about one of its lines.
    file: Option<&'a str>,
    /// The line, from 1.
    line: Option<u32>,
    help: Option<&'a str>,
}

/// What would be served.
#[derive(Debug, Serialize)]
struct Serves<'a> {
    name: &'a str,
    workgroup: &'a str,
    shares: Vec<ShareLine<'a>>,
    /// Who can log on, by name.
    users: Vec<String>,
    /// Addresses for NetBIOS sessions.
    nbt: Vec<SocketAddr>,
    /// Addresses for SMB directly over TCP.
    direct: Vec<SocketAddr>,
    /// Whether the server answers name queries on UDP port 137.
    names: bool,
    /// The address of the web page.
    web: Option<SocketAddr>,
}

/// One share.
#[derive(Debug, Serialize)]
struct ShareLine<'a> {
    name: &'a str,
    path: &'a str,
    printable: bool,
    available: bool,
}

/// Checks `settings`, of which `said` was said already.
pub(super) fn check(settings: &Settings, mut said: Vec<Diagnostic>) -> ExitCode {
    let prepared = match Prepared::new(settings) {
        Ok(prepared) => prepared,
        Err(Rejected(reasons)) => {
            said.extend(reasons);
            return failed(said, settings.json);
        }
    };
    said.extend(prepared.warnings.iter().cloned());
    let bound = match prepared.bound() {
        Ok(bound) => bound,
        Err(error) => {
            said.push(Diagnostic::error(error.to_string()));
            return failed(said, settings.json);
        }
    };
    let users = prepared.users();
    prepared.discard();
    if settings.json {
        return json(&said, Some(serves(settings, bound, users)));
    }
    print_diagnostics(&said);
    print(&greeting::greet(settings, &bound, &local_addresses()))
}

/// A server that would not start, for the reasons in `said`.
pub(super) fn failed(said: Vec<Diagnostic>, as_json: bool) -> ExitCode {
    match as_json {
        true => drop(json(&said, None)),
        false => print_diagnostics(&said),
    }
    ExitCode::FAILURE
}

fn json(said: &[Diagnostic], serves: Option<Serves<'_>>) -> ExitCode {
    let report = Report {
        ok: serves.is_some() && said.iter().all(|d| d.severity != Severity::Error),
        diagnostics: said.iter().map(line).collect(),
        serves,
    };
    match serde_json::to_string(&report) {
        Ok(text) => print(&(text + "\n")),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn line(diagnostic: &Diagnostic) -> Said<'_> {
    Said {
        severity: diagnostic.severity.to_string(),
        message: &diagnostic.message,
        file: diagnostic.at.as_ref().map(|at| &*at.file),
        line: diagnostic.at.as_ref().map(|at| at.line),
        help: diagnostic.help.as_deref(),
    }
}

fn serves(settings: &Settings, bound: Bound, users: Vec<String>) -> Serves<'_> {
    let shares = settings.shares.iter().map(|share| ShareLine {
        name: &share.name,
        path: &share.path,
        printable: share.printable,
        available: share.available,
    });
    Serves {
        name: &settings.global.netbios_name,
        workgroup: &settings.global.workgroup,
        shares: shares.collect(),
        users,
        nbt: bound.nbt,
        direct: bound.direct,
        names: bound.names,
        web: bound.web,
    }
}
