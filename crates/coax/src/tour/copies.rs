//! The first part: a server of our own, and every redirector.

use coax_catalog::clients;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context as _, Result, anyhow};

use super::event::Event;
use coax_serve::{Running, report::Reporter};
use coax_smbconf::{
    load::load,
    settings::{GuestAccess, Listener, Listeners, Settings},
    share_argument::ShareArg,
};
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
        .context("cannot create a temporary folder to share")?;
    let silent = Reporter::to(|_| ()).context("the system gives no thread")?;
    let server = Running::start(settings(folder.path())?, silent)?;
    let address = server.bound().nbt.first().copied();
    let address = address.context("the server has no address")?;
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
    let options = [
        "netbios name = COAX-TOUR".to_owned(),
        "map to guest = Bad User".to_owned(),
    ];
    let loaded = load(None, &options);
    let share = ShareArg {
        name: "TOUR".into(),
        dir: folder.to_owned(),
        read_only: false,
    };
    let share = share.settings(GuestAccess::Rw, &loaded.template);
    let mut settings = loaded.settings;
    settings.shares = vec![share.map_err(|why| anyhow!("{why}"))?];
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    settings.listen = Listeners {
        nbt: vec![Listener::exactly(any_port)],
        direct: Vec::new(),
        names: None,
        netbeui: Vec::new(),
        ipx: Vec::new(),
    };
    Ok(settings)
}
