//! Messages to the service manager (systemd's sd_notify): ready, reloading, stopping, status, alive.
//!
//! Without a service manager (`NOTIFY_SOCKET` is not set) nothing is sent. A message that cannot be sent changes nothing
//! for clients, so errors are ignored.

use std::{sync::Arc, time::Duration};

use sd_notify::NotifyState;

use super::host::Host;

/// Additional time for the end of the process after the time for clients.
const MARGIN: Duration = Duration::from_secs(10);

/// The server accepts clients; `took_over` if it replaces another process of the service.
pub(super) fn ready(took_over: bool) {
    let main = NotifyState::MainPid(std::process::id());
    let states = [NotifyState::Ready, main];
    let count = if took_over { 2 } else { 1 };
    send(states.get(..count).unwrap_or_default());
}

/// The configuration is being read again; [`ready`] ends this.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => send(&[NotifyState::Reloading, now]),
        Err(_) => send(&[NotifyState::Reloading]),
    }
}

/// The server drains for at most `limit`.
pub(super) fn stopping(limit: Duration) {
    let total = limit.saturating_add(MARGIN).as_micros();
    let total = u32::try_from(total).unwrap_or(u32::MAX);
    let more = NotifyState::ExtendTimeoutUsec(total);
    send(&[NotifyState::Stopping, more]);
}

/// What `systemctl status` shows.
pub(super) fn status(text: &str) {
    send(&[NotifyState::Status(text)]);
}

fn send(states: &[NotifyState<'_>]) {
    let _ = sd_notify::notify(states);
}

/// Reports that the server is alive, twice in each watchdog period, until the process ends. Each report passes through
/// what clients need: the runtime, a thread of the pool, and the shared tables.
pub(super) async fn keep_alive(host: Arc<Host>) {
    let Some(period) = sd_notify::watchdog_enabled() else {
        return;
    };
    let mut before = String::new();
    loop {
        tokio::time::sleep(period / 2).await;
        let server = host.server();
        let census = move || server.locked(|tables| tables.census());
        let Ok(census) = host.pool.run(census).await else {
            return;
        };
        send(&[NotifyState::Watchdog]);
        let now = format!(
            "{} clients, {} open files",
            census.connections, census.opens
        );
        if now != before {
            status(&now);
            before = now;
        }
    }
}
