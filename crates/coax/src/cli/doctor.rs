//! `coax doctor`: what keeps clients from a server on this machine, and how to fix it.

mod text;

use std::{
    io::ErrorKind,
    net::IpAddr,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use coax_doctor::{
    Finding, Severity,
    facts::{Facts, Status},
    findings,
    gather::{self, Question},
};
use coax_serve::status::{Answer, Ask};
use coax_wire::nbt::name::{NbName, SUFFIX_SERVER};
use serde_json::{Value, json};

use super::{
    name_options::NameOptions,
    output::{WrongUsage, print},
    progress::Progress,
    status::ask::ask,
};

/// The version of the JSON object; it grows if a field changes its meaning or goes.
const SCHEMA: u32 = 1;

/// `coax doctor`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Checks ports and who holds them, other SMB servers, the packet filter, interfaces, routes, the clock, \
        smb.conf, the folders of its shares, and name conflicts in the network. With CLIENT also one client: name, \
        reachability, announcements, whether the server admits it, and what a server that runs says of it.\n\n\
        Nothing is changed. Root sees more: whose a port is, and the rules of the packet filter.",
    after_help = "Exit codes: 0 no error was found, 1 there are errors, 2 wrong usage. docs/doctor.md explains the checks."
)]
pub struct DoctorArgs {
    /// A client, by address or NetBIOS name
    pub client: Option<String>,
    /// The smb.conf to check [default: /etc/coax/smb.conf, if it exists]
    #[arg(long, value_name = "smb.conf")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub names: NameOptions,
    /// Report as one JSON object (docs/doctor.md)
    #[arg(long)]
    pub json: bool,
}

/// Checks, and prints what was found.
///
/// # Errors
/// CLIENT is neither an address nor a name.
pub fn main(args: &DoctorArgs) -> Result<ExitCode, WrongUsage> {
    if let Some(client) = &args.client {
        check_client(client)?;
    }
    let progress = Progress::new("checks");
    let facts = gather::facts(&Question {
        config: args.config.as_deref(),
        client: args.client.as_deref(),
        resolver: args.names.resolver(),
        status,
        progress: &|done, all| progress.at(done, all),
    });
    progress.clear();
    let all = findings(&facts);
    let printed = match args.json {
        true => print(&format!("{}\n", json_of(args, &facts, &all))),
        false => print(&text::report(&all)),
    };
    let has_errors = all.iter().any(|f| f.severity == Severity::Error);
    Ok(if has_errors {
        ExitCode::FAILURE
    } else {
        printed
    })
}

fn check_client(client: &str) -> Result<(), WrongUsage> {
    let is_address = client.parse::<IpAddr>().is_ok();
    let is_host = client.contains('.') && !client.contains(char::is_whitespace);
    if is_address || is_host {
        return Ok(());
    }
    NbName::new(client.as_bytes(), SUFFIX_SERVER).map_or_else(
        |error| {
            let message = format!("'{client}' is neither an address nor a NetBIOS name: {error}");
            Err(WrongUsage::new("doctor", message)
                .at(client)
                .help("write an address, as 192.168.1.9, or a name of 1 to 15 characters"))
        },
        |_| Ok(()),
    )
}

/// Asks a server at its status socket.
fn status(socket: &Path) -> Status {
    match UnixStream::connect(socket) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Status::Denied(socket.to_owned());
        }
        Err(_) => return Status::Silent,
        Ok(_) => {}
    }
    match ask(socket, Ask::Status) {
        Ok(Answer::Status(status)) => Status::Answer(status),
        _ => Status::Silent,
    }
}

fn json_of(args: &DoctorArgs, facts: &Facts, all: &[Finding]) -> Value {
    let count = |severity| all.iter().filter(|f| f.severity == severity).count();
    let finding = |f: &Finding| {
        json!({
            "severity": f.severity.to_string(),
            "check": f.check.to_string(),
            "what": f.what,
            "where": f.place,
            "why": f.why,
            "fix": f.fix,
        })
    };
    json!({
        "schema": SCHEMA,
        "ok": count(Severity::Error) == 0,
        "config": facts.config.path,
        "client": args.client,
        "address": facts.client.as_ref().and_then(|client| client.address),
        "errors": count(Severity::Error),
        "warnings": count(Severity::Warning),
        "notes": count(Severity::Note),
        "findings": all.iter().map(finding).collect::<Vec<_>>(),
    })
}
