//! Advice for a client while it copies: the rules of `data/advice` that need no packets.
//!
//! A rule asks for facts ([`coax_explain::recognise::Facts`]). Only what the server knows for certain is set, so a rule that asks for
//! anything else does not apply.

use std::sync::Arc;

use coax_catalog::{
    clients,
    profile::{Method, Profile},
};
use coax_explain::recognise::{Facts, Place, advise_account};
use coax_server::config::{Config, Signing};
use coax_waits::{Copy, Direction, Family, Kernel};

use super::status::{AdviceStatus, direction};

/// What a client has said of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Party<'a> {
    /// Dialects offered, in order.
    pub(super) offered: &'a [String],
    /// The dialect agreed on.
    pub(super) dialect: Option<&'static str>,
    /// The recognised system.
    pub(super) system: &'a str,
}

/// The most promising advice for the client's copy.
pub(super) fn first(
    party: &Party<'_>,
    config: &Config,
    copy: &Copy,
    kernel: &Kernel,
) -> Option<AdviceStatus> {
    let facts = facts(party, config, copy, kernel);
    let found = advise_account(&facts, &copy.account, copy.wall());
    let advice = found.into_iter().next()?;
    let change = |change: coax_explain::recognise::Change| {
        let on = match change.on {
            Place::Client => "on the client",
            Place::Server => "on the server",
            Place::Network => "in the network",
        };
        let note = change.note.map(|note| format!(" ({note})"));
        format!(
            "{on}, {}: {}{}",
            change.where_,
            change.to,
            note.unwrap_or_default()
        )
    };
    Some(AdviceStatus {
        percent: (advice.share * 100.0).round() as u64,
        id: advice.id,
        title: advice.title,
        why: advice.why,
        changes: advice.changes.into_iter().map(change).collect(),
    })
}

fn facts(party: &Party<'_>, config: &Config, copy: &Copy, kernel: &Kernel) -> Facts {
    let mut facts = Facts::default();
    facts.set("carries", "smb1");
    facts.set("server.kind", "coax");
    facts.set("direction", direction(copy));
    if let Some(profile) = profile(party.offered, copy) {
        facts.set("client.profile", profile.name.as_str());
    }
    facts.set("client.name", party.system);
    requests(&mut facts, copy);
    negotiated(&mut facts, party, config);
    let seconds = copy.wall().0 as f64 / 1e9;
    facts.set("copy.bytes", copy.bytes);
    facts.set("copy.seconds", seconds);
    for (cause, span) in copy.account.iter() {
        let percent = span.0 as f64 * 100.0 / copy.wall().0.max(1) as f64;
        facts.set(cause.description().share, percent);
    }
    if kernel.min_rtt.0 > 0 {
        facts.set("round-trip.ms", kernel.min_rtt.0 as f64 / 1e6);
    }
    if copy.direction == Direction::ToClient && kernel.mss > 0 {
        let again = kernel
            .retransmitted
            .saturating_sub(copy.retransmitted_before);
        facts.set("retransmissions", again);
        let segments = (copy.bytes / kernel.mss).max(1);
        facts.set(
            "retransmissions.percent",
            again as f64 * 100.0 / segments as f64,
        );
        facts.set("window.client", kernel.client_window);
        facts.set("window.receiver", kernel.client_window);
    }
    facts
}

fn requests(facts: &mut Facts, copy: &Copy) {
    let (own, other) = match copy.direction {
        Direction::ToClient => ("read", "write"),
        Direction::ToServer => ("write", "read"),
    };
    for family in Family::ALL {
        let name = family.name();
        facts.set(&format!("{own}.{name}.count"), copy.count(family));
        facts.set(&format!("{other}.{name}.count"), 0_u64);
    }
    let all: u64 = Family::ALL.iter().map(|family| copy.count(*family)).sum();
    facts.set("block.count", all);
    facts.set("block.kind", copy.family().name());
    facts.set("block.usual", u64::from(copy.usual));
    facts.set("block.largest", u64::from(copy.largest));
    facts.set("block.page-rest", u64::from(copy.usual % 4096));
    facts.set("flush.count", copy.flushes);
    match copy.direction {
        Direction::ToClient => facts.set("raw-read.used", copy.count(Family::Raw)),
        Direction::ToServer => {
            facts.set("write.count", all);
            facts.set("raw-write.used", copy.count(Family::Raw));
        }
    }
}

fn negotiated(facts: &mut Facts, party: &Party<'_>, config: &Config) {
    let Some(dialect) = party.dialect else {
        return;
    };
    facts.set("dialect", dialect);
    facts.set("dialects", party.offered.to_vec());
    let known = coax_wire::dialect::DIALECTS
        .iter()
        .find(|known| known.name == dialect);
    // raw mode cannot be signed, and only the connection knows whether it signs
    if config.signing == Signing::Off {
        facts.set("signed", false);
    }
    if let Some(known) = known {
        facts.set("raw-read.offered", known.raw && config.read_raw);
        facts.set("raw-write.offered", known.raw && config.write_raw);
    }
}

/// The redirector, if what it offers and how it copies leaves only one.
fn profile(offered: &[String], copy: &Copy) -> Option<&'static Arc<Profile>> {
    let asks = |profile: &Profile| match copy.direction {
        Direction::ToClient => [*profile.read.method, *profile.read.otherwise],
        Direction::ToServer => [*profile.write.method, *profile.write.otherwise],
    };
    let family = |method: &Method| match method {
        Method::Core => Family::Core,
        Method::Andx => Family::Andx,
        Method::Raw => Family::Raw,
    };
    let fits = |profile: &&Arc<Profile>| {
        profile.negotiate.dialects.as_slice() == offered
            && asks(profile).first().map(family) == Some(copy.family())
    };
    let mut fitting = clients::all().iter().filter(fits);
    fitting.next().filter(|_| fitting.next().is_none())
}
