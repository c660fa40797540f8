//! A browser joined to its station of NetBEUI or IPX, on a cable with other stations that send any mailslot data.

use coax_netbios::{
    BrowsedStation, BrowserConfig, BrowserNews, BrowserStation, LmAnnounce, Outgoing, Route,
    SYNC_INTERVAL, StationEvent,
    ipx::{Ipx, IpxConfig},
    nbf::{Nbf, NbfConfig, StationName},
    overheard,
};
use coax_wire::{
    ether::Mac,
    mailslot::{self, MailslotMessage},
    nbt::name::NbName,
    time::{Span, Time},
};

use super::seeds;
use crate::choices::Choices;

/// Frames that one step may cause: a claim, its repetitions, and the browser's answers and announcements.
const MAX_FRAMES: usize = 100;
/// News of one step that nobody took before.
const MAX_NEWS: usize = 260;
/// Turns of both until nothing is due at one moment.
const MAX_ROUNDS: usize = 64;

/// What the stations have in common.
trait OnCable: BrowserStation {
    fn create(number: u8, own: Vec<StationName>) -> Self;
    fn receive(&mut self, now: Time, frame: &[u8]);
    fn tick(&mut self, now: Time);
    fn sent(&mut self) -> Vec<Vec<u8>>;
}

macro_rules! on_cable {
    ($engine:ident, $config:ident) => {
        impl OnCable for $engine {
            fn create(number: u8, own: Vec<StationName>) -> Self {
                let mut config = $config::new(Mac([2, 0, 0, 0, 0, number]), own);
                config.hears = overheard(workgroup()).to_vec();
                $engine::new(START, config)
            }

            fn receive(&mut self, now: Time, frame: &[u8]) {
                self.handle_frame(now, frame);
            }

            fn tick(&mut self, now: Time) {
                self.handle_timeout(now);
            }

            fn sent(&mut self) -> Vec<Vec<u8>> {
                std::iter::from_fn(|| self.poll_transmit()).collect()
            }
        }
    };
}

on_cable!(Nbf, NbfConfig);
on_cable!(Ipx, IpxConfig);

const START: Time = Time(1_000_000_000);

fn workgroup() -> NbName {
    NbName::new(b"LAB", 0).expect("a name")
}

fn own(name: NbName) -> StationName {
    StationName {
        name,
        group: false,
        listens: false,
    }
}

/// The station with a browser, and one that has or claims the names of a master browser.
struct Lan<S: OnCable> {
    now: Time,
    browsed: BrowsedStation<S>,
    other: S,
}

/// A conversation over NetBEUI or IPX.
pub fn stations(data: &[u8]) {
    let mut choices = Choices::new(data);
    match choices.u8() & 1 {
        0 => play::<Nbf>(&mut choices),
        _ => play::<Ipx>(&mut choices),
    }
}

fn play<S: OnCable>(choices: &mut Choices<'_>) {
    let flags = choices.u8();
    let mut others = vec![own(NbName::new(b"OTHER", 0).expect("a name"))];
    if flags & 1 != 0 {
        others.push(own(workgroup().with_suffix(0x1d)));
    }
    let station = S::create(1, vec![own(config(flags).computer)]);
    let browsed = BrowsedStation::new(START, station, Some(config(flags)));
    let mut lan = Lan {
        now: START,
        browsed,
        other: S::create(2, others),
    };
    for _ in 0..500 {
        if choices.is_done() {
            break;
        }
        lan.step(choices);
        lan.settle();
    }
    lan.browsed.shutdown(lan.now);
    lan.settle();
}

fn config(flags: u8) -> BrowserConfig {
    BrowserConfig {
        computer: NbName::new(b"COAX", 0).expect("a name"),
        workgroup: workgroup(),
        comment: Vec::new(),
        version: (4, 9),
        server_type: 3,
        os_level: 20,
        local_master: flags & 2 == 0,
        preferred_master: flags & 4 != 0,
        domain_master: flags & 8 != 0,
        wins: flags & 8 != 0,
        answers_as_master: true,
        lm_announce: LmAnnounce::Auto,
        lm_interval_s: 60,
        sync_interval: SYNC_INTERVAL,
        seed: 7,
    }
}

impl<S: OnCable> Lan<S> {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(6) {
            0 => self.now = self.now + Span::from_millis(u64::from(choices.u8()) * 10),
            1 => self.now = self.now + Span::from_secs(u64::from(choices.u8())),
            2 => {
                let len = choices.below(200);
                let frame = choices.bytes(len);
                self.browsed.station.receive(self.now, frame);
            }
            _ => self.other.carry(&outgoing(choices)),
        }
    }

    /// Both do what is due, and what they sent arrives, until nothing is due and neither sends.
    fn settle(&mut self) {
        let (mut frames, mut news) = (0, 0);
        for round in 0.. {
            assert!(round < MAX_ROUNDS, "deadlines stay due");
            self.browsed.station.tick(self.now);
            self.browsed.handle_timeout(self.now);
            self.other.tick(self.now);
            news += self.events();
            let (ours, theirs) = (self.browsed.station.sent(), self.other.sent());
            frames += ours.len();
            ours.iter()
                .for_each(|frame| self.other.receive(self.now, frame));
            theirs
                .iter()
                .for_each(|frame| self.browsed.station.receive(self.now, frame));
            let is_due = self
                .browsed
                .poll_timeout()
                .is_some_and(|due| due <= self.now);
            if ours.is_empty() && theirs.is_empty() && !is_due {
                break;
            }
        }
        assert!(frames <= MAX_FRAMES, "{frames} frames in one step");
        assert!(news <= MAX_NEWS, "{news} news in one step");
    }

    /// Takes all events of both; how many news of the browser there were.
    fn events(&mut self) -> usize {
        while self.other.next_event().is_some() {}
        let mut news = 0;
        while let Some(event) = self.browsed.poll_event(self.now) {
            let StationEvent::Browser(told) = event else {
                continue;
            };
            news += 1;
            if let BrowserNews::Lists(heard) = told {
                assert!(heard.lists.servers.len() <= 2000 && heard.lists.workgroups.len() <= 500);
                let own = heard.master.map(|master| master.with_suffix(0));
                assert_ne!(own, Some(config(0).computer), "another machine of our name");
            }
        }
        news
    }
}

/// Any mailslot data from any name to a name that browsers have.
fn outgoing<A>(choices: &mut Choices<'_>) -> Outgoing<A> {
    let message = choices.counted().to_vec();
    let slot = *choices.one_of(&[mailslot::BROWSE, mailslot::LANMAN]);
    let suffix = *choices.one_of(&[0x00, 0x1d, 0x1e, 0x20]);
    let from = NbName::new(&[b'A' + choices.u8() % 26], 0).expect("a name");
    Outgoing {
        source: from,
        destination: *choices.one_of(&[
            workgroup().with_suffix(suffix),
            coax_netbios::MSBROWSE,
            config(0).computer.with_suffix(suffix),
        ]),
        group: suffix != 0x1d,
        route: Route::Everybody,
        data: MailslotMessage::new(slot, message).emit(),
    }
}

/// Both transports, each with the messages of browsers and with time between them.
pub fn conversations() -> Vec<Vec<u8>> {
    let seed = |transport, flags| {
        let mut all = vec![transport, flags];
        for (at, message) in seeds::browser().into_iter().enumerate() {
            // The first byte of each is its length.
            all.push(3);
            all.extend(message);
            all.extend([0, 1, at as u8, 0, 0, 100, 1, 15]);
        }
        all
    };
    [0, 1]
        .into_iter()
        .flat_map(|transport| [0, 1, 4, 15].map(|flags| seed(transport, flags)))
        .collect()
}
