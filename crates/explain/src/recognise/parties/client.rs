//! Who the client is: the profile of `data/clients` that fits best, each clue weighed by how well it is known.

use std::sync::OnceLock;

use coax_catalog::{
    clients,
    profile::{BlockSize, Fact, Method, Port, Profile as Redirector, Provenance, Step},
    recognition::{self, ClientFeatures, text::is_or_begins as is_said},
};

use super::native::native;
use crate::{
    report::{Connection, Evidence, Party, Requests, Smb, Sureness, Transport},
    smb::CUT,
};

const DIRECT_PORT: u16 = 445;
/// Two profiles of which one leads the other by less fit as well.
const LEAD: f64 = 0.5;
/// Who offers one dialect at most, as many do, is named if more speaks for it than port and way of reading, which are 2.5.
const LEAST: f64 = 3.0;

/// What of a redirector is seen in a capture.
#[derive(Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub title: String,
    dialects: Known<Vec<String>>,
    native: Known<(String, String)>,
    buffer: Known<u32>,
    mpx: Known<u16>,
    flags: Known<(u8, u16)>,
    capabilities: Known<u32>,
    direct: Known<bool>,
    /// Of reads and of writes: how, how else, the block (`None`: as the buffer allows), the raw block.
    reads: Known<Way>,
    writes: Known<Way>,
    /// While it writes it waits to be told of changes in a folder.
    notifies: bool,
}

/// A value, and whether it rests on a source.
#[derive(Clone, Debug)]
struct Known<T> {
    value: T,
    sourced: bool,
}

#[derive(Clone, Debug)]
struct Way {
    methods: [&'static str; 2],
    block: Option<u64>,
    raw_block: Option<u64>,
}

/// All redirectors of `data/clients`, in the order of their names.
pub fn profiles() -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        clients::all()
            .iter()
            .map(|known| Profile::of(known))
            .collect()
    })
}

impl<T> Known<T> {
    fn of<U>(fact: &Fact<U>, value: T) -> Self {
        Self {
            value,
            sourced: is_sourced(fact),
        }
    }
}

fn is_sourced<T>(fact: &Fact<T>) -> bool {
    matches!(fact.provenance(), Provenance::Source(_))
}

const fn method_name(method: Method) -> &'static str {
    match method {
        Method::Core => "core",
        Method::Andx => "andx",
        Method::Raw => "raw",
    }
}

fn way(method: &Fact<Method>, otherwise: Method, block: &BlockSize, raw_block: u32) -> Known<Way> {
    let block = match block {
        BlockSize::Bytes(bytes) => Some(u64::from(*bytes)),
        BlockSize::Buffer(_) | BlockSize::Sizes(_) => None,
    };
    let methods = [method_name(**method), method_name(otherwise)];
    Known::of(
        method,
        Way {
            methods,
            block,
            raw_block: Some(u64::from(raw_block)),
        },
    )
}

impl Profile {
    fn of(known: &'static Redirector) -> Self {
        let (negotiate, logon) = (&known.negotiate, &known.logon);
        let (os, lan_man) = (&logon.native_os, &logon.native_lan_man);
        let (read, write) = (&known.read, &known.write);
        Self {
            name: &known.name,
            title: known.title.clone(),
            dialects: Known::of(&negotiate.dialects, negotiate.dialects.to_vec()),
            native: Known {
                value: (os.to_string(), lan_man.to_string()),
                sourced: is_sourced(os) && is_sourced(lan_man),
            },
            buffer: Known::of(
                &known.buffers.announced,
                u32::from(*known.buffers.announced),
            ),
            mpx: Known::of(&known.buffers.max_mpx, *known.buffers.max_mpx),
            flags: Known::of(&negotiate.flags, (*negotiate.flags, *negotiate.flags2)),
            capabilities: Known::of(&negotiate.capabilities, *negotiate.capabilities),
            direct: Known::of(&known.transport.port, *known.transport.port == Port::Direct),
            reads: way(&read.method, *read.otherwise, &read.block, *read.raw_block),
            writes: way(
                &write.method,
                *write.otherwise,
                &write.block,
                *write.raw_block,
            ),
            notifies: known.copy.put.contains(&Step::Notify),
        }
    }

    /// The same of what it offers and what it calls itself alone.
    fn by_names(&self, smb: &Smb) -> f64 {
        let mut score = 0.0;
        if !smb.offered.is_empty() {
            // many programs offer one dialect alone
            let gain = if smb.offered.len() > 1 { 4.0 } else { 1.0 };
            let is_ours = |list: &Vec<String>| is_list(list, &smb.offered);
            score += self.dialects.weigh(is_ours, gain, 5.0);
        }
        if smb.frames.log_on.0.is_some() {
            let said = native(&smb.client_system);
            // one that is known to say nothing may be one of many; of some nothing was kept
            let gain = match (&said, &smb.client_system) {
                (None, Some(_)) => 0.0,
                (None, None) => 0.5,
                _ => 6.0,
            };
            score += self.native.weigh(|name| names_itself(name, smb), gain, 6.0);
        }
        score
    }

    /// What speaks for it, less what speaks against it.
    fn score(&self, connection: &Connection, smb: &Smb) -> f64 {
        let mut score = self.by_names(smb);
        let mut weigh = |same: Option<f64>| score += same.unwrap_or(0.0);
        weigh(
            smb.client_max_buffer
                .map(|size| self.buffer.weigh(|own| *own == size, 2.0, 1.0)),
        );
        weigh(
            smb.client_mpx
                .map(|count| self.mpx.weigh(|own| *own == count, 1.0, 0.5)),
        );
        weigh(
            smb.client_flags
                .map(|flags| self.flags.weigh(|own| *own == flags, 1.0, 0.5)),
        );
        weigh(
            smb.capabilities
                .1
                .map(|bits| self.capabilities.weigh(|own| *own == bits, 1.0, 0.5)),
        );
        let is_tcp = connection.transport() == Transport::Tcp;
        let direct = connection.server.port == DIRECT_PORT;
        weigh(is_tcp.then(|| self.direct.weigh(|own| *own == direct, 0.5, 0.5)));
        weigh(Some(self.reads.fits(
            &connection.requests,
            ["READ", "READ_ANDX", "READ_RAW", "READ_MPX"],
        )));
        weigh(Some(self.writes.fits(
            &connection.requests,
            ["WRITE", "WRITE_ANDX", "WRITE_RAW", "WRITE_MPX"],
        )));
        let writes = connection
            .requests
            .iter()
            .filter(|row| row.command.starts_with("WRITE"));
        if writes.map(|row| row.bytes).sum::<u64>() >= TOO_FEW {
            let notified = smb.with_notify.count > 0;
            score += if notified == self.notifies { 0.5 } else { -0.5 };
        }
        score
    }
}

impl<T> Known<T> {
    /// What contradicts an assumption speaks half as loud.
    fn weigh(&self, fits: impl FnOnce(&T) -> bool, gain: f64, loss: f64) -> f64 {
        match (fits(&self.value), self.sourced) {
            (true, _) => gain,
            (false, true) => -loss,
            (false, false) => -loss / 2.0,
        }
    }
}

const METHODS: [&str; 4] = ["core", "andx", "raw", "mpx"];
/// Of so few bytes nobody can tell how a redirector moves files.
const TOO_FEW: u64 = 16_384;

impl Known<Way> {
    /// Whether a copy's requests are this redirector's. `commands` in the order of [`METHODS`].
    fn fits(&self, rows: &[Requests], commands: [&str; 4]) -> f64 {
        let of = |command: &str| rows.iter().find(|row| row.command == command);
        let used = METHODS.into_iter().zip(commands);
        let used = used.filter_map(|(method, command)| Some((method, of(command)?)));
        let Some((method, row)) = used.max_by_key(|(_, row)| row.bytes) else {
            return 0.0;
        };
        if row.bytes < TOO_FEW {
            return 0.0;
        }
        let [usual, otherwise] = &self.value.methods;
        let by_method = match () {
            () if *usual == method => 2.0,
            () if *otherwise == method => 0.5,
            () => -4.0,
        };
        let block = if method == "raw" {
            self.value.raw_block
        } else {
            self.value.block
        };
        let by_block = match block {
            Some(block) if block == row.largest_bytes || block == row.usual_bytes => 2.0,
            // the server's buffer may have cut it
            Some(block) if block > row.largest_bytes => -0.5,
            Some(_) => -1.0,
            None => 0.5,
        };
        by_method + by_block
    }
}

pub(super) fn recognise(connection: &Connection, smb: &Smb) -> Party {
    let mut scored: Vec<(f64, &Profile)> = profiles()
        .iter()
        .map(|profile| (profile.score(connection, smb), profile))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let evidence = seen(connection, smb);
    let least = if smb.offered.len() > 1 { 0.0 } else { LEAST };
    let Some((best, profile)) = scored.first().copied().filter(|best| best.0 > least) else {
        return unlike_any(smb, evidence);
    };
    let rivals = scored
        .iter()
        .skip(1)
        .take_while(|(score, _)| best - score < LEAD);
    let also: Vec<String> = rivals.map(|(_, rival)| rival.name.to_owned()).collect();
    let is_other = is_another(profile, smb);
    let says_so = names_itself(&profile.native.value, smb) && native(&smb.client_system).is_some();
    let sure = match () {
        () if is_other || !also.is_empty() || smb.offered.is_empty() || is_cut(smb) => {
            Sureness::Like
        }
        () if says_so => Sureness::Sure,
        () => Sureness::Likely,
    };
    let other = is_other.then(|| guess(smb)).flatten();
    Party {
        profile: Some(profile.name.to_owned()),
        name: other.unwrap_or_else(|| profile.title.clone()),
        sure,
        evidence,
        also,
        config: None,
    }
}

/// Whether it calls itself something else than this profile does, or offers something else.
fn is_another(profile: &Profile, smb: &Smb) -> bool {
    let says = native(&smb.client_system).is_some();
    let says_other = says && !names_itself(&profile.native.value, smb);
    let offers = !smb.offered.is_empty();
    says_other || (offers && !is_list(&profile.dialects.value, &smb.offered))
}

/// Whether something of what it offers or calls itself was cut off.
fn is_cut(smb: &Smb) -> bool {
    let says = smb.client_system.iter();
    let mut said = says.flat_map(|(os, lan_man)| [os, lan_man]);
    said.any(|name| name.ends_with(CUT)) || smb.offered.iter().any(|name| name.ends_with(CUT))
}

/// Whether the client names itself so, as far as that was kept.
fn names_itself((os, lan_man): &(String, String), smb: &Smb) -> bool {
    let nothing = <(String, String)>::default();
    let said = smb.client_system.as_ref().unwrap_or(&nothing);
    // what follows a name that was cut was not kept
    is_said(&said.0, os) && (said.0.ends_with(CUT) || is_said(&said.1, lan_man))
}

/// Whether these dialects were offered, of which a capture may have kept the beginning.
fn is_list(list: &[String], offered: &[String]) -> bool {
    let Some((last, whole)) = offered.split_last() else {
        return false;
    };
    let is_beginning = whole.len() >= 2 && list.starts_with(whole);
    let rest = list.get(whole.len()).filter(|_| is_beginning);
    list == offered || rest.is_some_and(|name| last.ends_with(CUT) && is_said(last, name))
}

fn unlike_any(smb: &Smb, evidence: Vec<Evidence>) -> Party {
    let guess = guess(smb);
    Party {
        sure: if guess.is_some() {
            Sureness::Like
        } else {
            Sureness::Unknown
        },
        name: guess.unwrap_or_else(|| "unknown".to_owned()),
        evidence,
        ..Party::default()
    }
}

/// Who it is by the rules of the catalog; else what it calls itself.
fn guess(smb: &Smb) -> Option<String> {
    let said = native(&smb.client_system);
    let found = recognition::client(&ClientFeatures {
        offered: &smb.offered,
        native: said.as_deref(),
        calling: None,
    });
    found
        .map(|found| found.who.to_owned())
        .or_else(|| said.map(|said| format!("unknown ({said})")))
}

fn seen(connection: &Connection, smb: &Smb) -> Vec<Evidence> {
    let mut all = said_of_itself(smb);
    all.extend(transfers(connection, smb));
    let ([side, _], [habits, _]) = (&connection.sides, &connection.habits);
    let is_tcp = connection.transport() == Transport::Tcp;
    all.extend(side.mss.filter(|_| is_tcp).map(|mss| Evidence {
        what: format!("TCP: MSS {mss}, window up to {}", side.max_window),
        frame: habits.syn,
    }));
    all
}

/// What it offers and calls itself.
fn said_of_itself(smb: &Smb) -> Vec<Evidence> {
    let mut all = Vec::new();
    let mut add = |what: String, frame: Option<u64>| all.push(Evidence { what, frame });
    if !smb.offered.is_empty() {
        add(
            format!("offers {}", smb.offered.join(", ")),
            smb.frames.negotiate.0,
        );
    }
    let log_on = smb.frames.log_on.0;
    if let Some(said) = native(&smb.client_system) {
        add(format!("calls itself {said}"), log_on);
    }
    if let (Some(size), Some(mpx)) = (smb.client_max_buffer, smb.client_mpx) {
        add(
            format!("takes messages of {size} bytes, {mpx} at once"),
            log_on,
        );
    }
    all
}

/// By which commands it moves files, and how much with each.
fn transfers(connection: &Connection, smb: &Smb) -> Vec<Evidence> {
    let names = ["READ_RAW", "WRITE_RAW", "READ", "WRITE"];
    let most = |name: &str| {
        let is_raw = name.ends_with("RAW");
        let fits = |row: &&Requests| {
            row.command.starts_with(name) && row.command.ends_with("RAW") == is_raw
        };
        let rows = connection.requests.iter().filter(fits);
        rows.max_by_key(|row| row.bytes).filter(|row| row.bytes > 0)
    };
    let told = names.into_iter().zip(smb.frames.transfers);
    told.filter_map(|(name, frame)| {
        let row = most(name)?;
        Some(Evidence {
            what: format!("{} of {} bytes", row.command, row.usual_bytes),
            frame: Some(frame?),
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_list_that_was_cut_what_is_there_decides_if_it_is_enough() {
        let list =
            |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
        let whole = list(&["CORE", "LANMAN1.0", "LM1.2X002", "NT LM 0.12"]);
        for (offered, fits) in [
            (&["CORE", "LANMAN1.0", "LM1.2X002", "NT LM 0.12"][..], true),
            (&["CORE", "LANMAN1.0", "LM1…"], true),
            (&["CORE", "LANMAN1.0", "…"], true),
            (&["CORE", "LANMAN1.0", "NT…"], false),
            (&["CORE", "LANMAN1.0", "LM1.2X002"], false),
            (&["CORE", "LAN…"], false),
            (&[], false),
        ] {
            assert_eq!(is_list(&whole, &list(offered)), fits, "{offered:?}");
        }
    }
}
