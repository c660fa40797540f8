//! The start of a server whose sockets may come from another process.

use std::{os::unix::net::UnixListener, path::Path};

use anyhow::{Context, Result};
use coax_smbconf::{diagnostic::Diagnostic, settings::Settings};

use super::{
    handed::Handed,
    operate::Offer,
    prepare::{Parts, Prepared},
    rejected::Rejected,
    status,
    takeover::{Control, Takeover},
};

/// Everything that a start needs, with the sockets of the service manager or of the server that this one replaces.
///
/// # Errors
/// Every reason that prevents the start. A server that was to be replaced keeps running.
pub(super) fn prepared(settings: &Settings, takes_over: bool) -> Result<Prepared, Rejected> {
    let reject = |why: String| Rejected(vec![Diagnostic::error(why)]);
    let path = settings.global.takeover_socket.as_deref();
    if !takes_over {
        let handed = Handed::from_service_manager().map_err(reject)?;
        let mut prepared = Prepared::with(settings, handed)?;
        prepared.parts.control = path.map(Control::bind).transpose().map_err(reject)?;
        prepared.parts.status = status_socket(settings, false).map_err(reject)?;
        return Ok(prepared);
    }
    let mut takeover = begin(settings, path).map_err(reject)?;
    let handed = std::mem::take(&mut takeover.handed);
    let mut prepared = Prepared::with(settings, handed)?;
    prepared.parts.control = takeover.control.take();
    prepared.parts.takeover = Some(takeover);
    prepared.parts.status = status_socket(settings, true).map_err(reject)?;
    Ok(prepared)
}

fn status_socket(settings: &Settings, replace: bool) -> Result<Option<UnixListener>, String> {
    let path = status::socket_path(settings);
    path.map(|path| status::bind(&path, replace)).transpose()
}

/// Whether clients come without TCP/IP.
fn has_stations(settings: &Settings) -> bool {
    !settings.listen.netbeui.is_empty() || !settings.listen.ipx.is_empty()
}

fn begin(settings: &Settings, path: Option<&Path>) -> Result<Takeover, String> {
    if has_stations(settings) {
        return Err(
            "--takeover cannot take over NetBEUI and IPX: stop the old server and start this one"
                .into(),
        );
    }
    let path = path.ok_or(
        "--takeover needs the socket of the running server: 'coax:takeover socket = /run/coax/takeover' in smb.conf or with --option, for both servers",
    )?;
    Takeover::begin(path)
}

/// What the server hands over to the next one, if it is configured to.
///
/// # Errors
/// The process has no descriptor left.
pub(super) fn control(settings: &Settings, parts: &Parts) -> Result<Option<Offer>> {
    let Some(listener) = &parts.control else {
        return Ok(None);
    };
    let listener: UnixListener = listener.try_clone().context("cannot prepare takeovers")?;
    let refusal = has_stations(settings).then(|| {
        "it serves NetBEUI or IPX, which cannot be handed over; stop it and start the new one"
            .to_owned()
    });
    let deed = parts.sockets.deed().context("cannot prepare takeovers")?;
    Ok(Some(Offer::new(Control::new(listener, refusal), deed)))
}
