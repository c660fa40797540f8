//! The first part: a server of our own, and every redirector.

use coax_catalog::clients;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context as _, Result, anyhow};

use super::Event;
use crate::cli::serve::{ServeArgs, ServeError};
use coax_serve::{Running, report::Reporter};
use coax_smbconf::settings::{GuestAccess, Settings};
use coax_transfer::{
    bench::{self, Plan, Report},
    client::{Location, Options},
    speed::Stop,
};

/// Serves an empty folder that guests may write to, at a port of this machine alone that is free; copies a file of `size`
/// bytes to it and back as each redirector. Where the server was, and what was measured.
pub(super) fn all(
    size: u64,
    stop: &Stop,
    told: &mut dyn FnMut(Event<'_>),
) -> Result<(String, Report)> {
    let folder = tempfile::Builder::new()
        .prefix("coax-tour-")
        .tempdir()
        .context("there is no room for a folder to share")?;
    let silent = Reporter::to(|_| ()).context("the system gives no thread")?;
    let server = Running::start(settings(folder.path())?, silent)?;
    let address = server.bound().nbt.first().copied();
    let address = address.context("the server listens nowhere")?;
    let place: Location = format!("smb://{address}/TOUR")
        .parse()
        .map_err(|error| anyhow!("{error}"))?;
    let plan = Plan {
        place: place.clone(),
        profiles: clients::all().to_vec(),
        size,
        runs: 1,
        options: Options {
            record: true,
            ..Options::default()
        },
        ceiling: None,
    };
    let report = bench::run(&plan, stop, &mut |event| {
        if let bench::Event::Copying(_, profile, to_server) = event {
            told(Event::Copying(profile, to_server));
        }
    });
    server.stop();
    Ok((place.to_string(), report?))
}

fn settings(folder: &std::path::Path) -> Result<Settings> {
    let share = format!("TOUR={}:rw", folder.display());
    let arguments = ServeArgs {
        shares: vec![share.parse().map_err(|error| anyhow!("{share}: {error}"))?],
        guest: Some(GuestAccess::Rw),
        nbt: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
        name: Some("COAX-TOUR".into()),
        ..ServeArgs::default()
    };
    let (settings, _) = arguments.settings().map_err(|error| match error {
        ServeError::Usage(message) => anyhow!(message),
        ServeError::Failed(said) => {
            let said: Vec<String> = said.iter().map(ToString::to_string).collect();
            anyhow!(said.join("; "))
        }
    })?;
    Ok(settings)
}
