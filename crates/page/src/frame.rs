//! What readers get each second: the server's status with rates, and what was known of clients that are busy.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use coax_serve::{
    TotalsStatus, TrafficStatus,
    status::{ClientStatus, FileStatus, LimitStatus, NetworkStatus, Status},
};
use serde::Serialize;

use crate::source::ShareSetting;

/// Clients that are shown at most; the most active ones.
const CLIENTS_MAX: usize = 200;
/// Files that are shown at most.
const FILES_MAX: usize = 500;
/// Busy files of a share.
const BUSIEST: usize = 3;
/// Seconds of a client's graph.
const PAST: usize = 120;
/// Looks after which a client that is always busy counts as standing still.
const BUSY_LOOKS: u32 = 3;

/// What one look at the server has found.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) at_ms: u64,
    pub(crate) status: Status,
    pub(crate) totals: TotalsStatus,
    pub(crate) name: (String, String),
    pub(crate) shares: Vec<ShareSetting>,
    pub(crate) spaces: BTreeMap<String, (u64, u64)>,
    pub(crate) recording: serde_json::Value,
}

/// What readers get.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) seen: Seen,
    /// The event.
    pub(crate) text: Arc<str>,
    /// The rates of the last two minutes, by client.
    pub(crate) past: BTreeMap<u64, Vec<(u64, u64)>>,
}

/// Bytes a second, received and sent.
type Rate = (u64, u64);

/// Makes frames of what is seen; remembers what the last one had.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    clients: BTreeMap<u64, Known>,
    shares: BTreeMap<String, (TrafficStatus, Rate)>,
    at: Option<Instant>,
}

/// A client as last seen.
#[derive(Debug)]
struct Known {
    status: ClientStatus,
    at: Instant,
    busy_looks: u32,
    rate: Rate,
    past: VecDeque<Rate>,
}

#[derive(Serialize)]
struct Out<'a> {
    at: u64,
    server: Server<'a>,
    clients: Vec<Client<'a>>,
    clients_total: usize,
    files: &'a [FileStatus],
    files_total: usize,
    shares: Vec<Share<'a>>,
    networks: &'a [NetworkStatus],
    print_jobs: &'a [String],
    limits: &'a [LimitStatus],
    recording: &'a serde_json::Value,
}

#[derive(Serialize)]
struct Server<'a> {
    name: &'a str,
    workgroup: &'a str,
    version: &'a str,
    state: &'a str,
    seconds: u64,
}

#[derive(Serialize)]
struct Client<'a> {
    #[serde(flatten)]
    status: &'a ClientStatus,
    rate: Rate,
}

#[derive(Serialize)]
struct Share<'a> {
    name: &'a str,
    printer: bool,
    /// Free and total bytes.
    space: Option<(u64, u64)>,
    requests: u64,
    rate: Rate,
    open: usize,
    busiest: Vec<Busy<'a>>,
}

#[derive(Serialize)]
struct Busy<'a> {
    file: &'a str,
    client: u64,
    direction: &'a str,
    rate: u64,
}

impl Watcher {
    /// The next frame.
    pub(crate) fn frame(&mut self, seen: Seen, now: Instant) -> Frame {
        for client in &seen.status.clients {
            let number = client.client;
            let known = self.clients.entry(number);
            known
                .or_insert_with(|| Known::new(client.clone(), now))
                .update(client, now);
        }
        let present: Vec<u64> = seen.status.clients.iter().map(|one| one.client).collect();
        self.clients
            .retain(|number, _| present.binary_search(number).is_ok() || present.contains(number));
        self.traffic(&seen.totals, now);
        let text = serde_json::to_string(&self.out(&seen)).unwrap_or_default();
        let shown = self.shown();
        let past = shown.map(|known| {
            let past = known.past.iter().copied().collect();
            (known.status.client, past)
        });
        Frame {
            text: text.into(),
            past: past.collect(),
            seen,
        }
    }

    fn traffic(&mut self, totals: &TotalsStatus, now: Instant) {
        let ms = self
            .at
            .replace(now)
            .map(|before| now.duration_since(before).as_millis() as u64);
        let mut shares = BTreeMap::new();
        for (name, traffic) in &totals.shares {
            let before = self.shares.get(name).map(|known| known.0);
            let rate = match (before, ms) {
                (Some(before), Some(ms)) => (
                    rate(before.received, traffic.received, ms),
                    rate(before.sent, traffic.sent, ms),
                ),
                _ => (0, 0),
            };
            shares.insert(name.clone(), (*traffic, rate));
        }
        self.shares = shares;
    }

    /// The most active clients, by number.
    fn shown(&self) -> impl Iterator<Item = &Known> {
        let mut all: Vec<&Known> = self.clients.values().collect();
        if all.len() > CLIENTS_MAX {
            all.sort_by_key(|known| {
                let (received, sent) = known.rate;
                (
                    std::cmp::Reverse(received.saturating_add(sent)),
                    known.status.idle_seconds,
                )
            });
            all.truncate(CLIENTS_MAX);
            all.sort_by_key(|known| known.status.client);
        }
        all.into_iter()
    }

    fn out<'a>(&'a self, seen: &'a Seen) -> Out<'a> {
        let status = &seen.status;
        let clients = self.shown().map(|known| Client {
            status: &known.status,
            rate: known.rate,
        });
        let files = status.files.get(..FILES_MAX).unwrap_or(&status.files);
        Out {
            at: seen.at_ms,
            server: Server {
                name: &seen.name.0,
                workgroup: &seen.name.1,
                version: &status.version,
                state: &status.state,
                seconds: status.seconds,
            },
            clients: clients.collect(),
            clients_total: status.clients.len(),
            files,
            files_total: status.files_total,
            shares: seen
                .shares
                .iter()
                .map(|share| self.share(share, seen))
                .collect(),
            networks: &status.networks,
            print_jobs: &status.print_jobs,
            limits: &status.limits,
            recording: &seen.recording,
        }
    }

    fn share<'a>(&'a self, share: &'a ShareSetting, seen: &'a Seen) -> Share<'a> {
        let (traffic, rate) = self.shares.get(&share.name).copied().unwrap_or_default();
        let open = seen
            .status
            .files
            .iter()
            .filter(|file| file.share == share.name);
        Share {
            name: &share.name,
            printer: share.printer,
            space: seen.spaces.get(&share.name).copied(),
            requests: traffic.requests,
            rate,
            open: open.count(),
            busiest: self.busiest(&share.name),
        }
    }

    /// The files of a share that clients copy fastest.
    fn busiest(&self, share: &str) -> Vec<Busy<'_>> {
        let copies = self.clients.values().filter_map(|known| {
            let copy = known.status.account.as_ref()?.copy.as_ref()?;
            let (of, file) = copy.file.as_deref()?.split_once('/')?;
            (of == share).then(|| Busy {
                file,
                client: known.status.client,
                direction: &copy.direction,
                rate: known.rate.0.saturating_add(known.rate.1),
            })
        });
        let mut copies: Vec<Busy<'_>> = copies.collect();
        copies.sort_by_key(|busy| std::cmp::Reverse(busy.rate));
        copies.truncate(BUSIEST);
        copies
    }
}

impl Known {
    fn new(status: ClientStatus, now: Instant) -> Self {
        Self {
            status,
            at: now,
            busy_looks: 0,
            rate: (0, 0),
            past: VecDeque::new(),
        }
    }

    /// A busy client tells only its account: the rest stays as it was.
    fn update(&mut self, client: &ClientStatus, now: Instant) {
        if client.busy {
            self.busy_looks = self.busy_looks.saturating_add(1);
            let file = self.file();
            self.status.busy = true;
            self.status.account.clone_from(&client.account);
            if let Some(copy) = self.status.account.as_mut().and_then(|it| it.copy.as_mut()) {
                copy.file = file.filter(|_| !copy.ended);
            }
            if self.busy_looks > BUSY_LOOKS {
                self.rate = (0, 0);
            }
        } else {
            let ms = now.duration_since(self.at).as_millis() as u64;
            let before = &self.status;
            self.rate = (
                rate(before.bytes_in, client.bytes_in, ms),
                rate(before.bytes_out, client.bytes_out, ms),
            );
            (self.at, self.busy_looks) = (now, 0);
            self.status.clone_from(client);
        }
        if self.past.len() >= PAST {
            self.past.pop_front();
        }
        self.past.push_back(self.rate);
    }

    fn file(&self) -> Option<String> {
        let copy = self.status.account.as_ref()?.copy.as_ref()?;
        copy.file.clone()
    }
}

fn rate(before: u64, now: u64, ms: u64) -> u64 {
    now.saturating_sub(before)
        .saturating_mul(1000)
        .checked_div(ms)
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "frame_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
pub(crate) mod tests;
