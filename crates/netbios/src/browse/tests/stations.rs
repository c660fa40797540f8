//! Browsers on stations of NetBEUI and IPX: real frames, names and datagrams on one cable.

use super::super::*;
use super::{MINUTE, config};
use crate::cable::{self, Cable, group, mac, name, unique};
use crate::ipx::{Ipx, IpxConfig, IpxEvent};
use crate::nbf::{Nbf, NbfConfig, NbfEvent, SessionId};
use alloc::vec::Vec;
use coax_wire::browser::BrowserMessage;
use coax_wire::mailslot::{self, MailslotMessage};
use coax_wire::time::{Span, Time};
use std::{string::String, vec};

/// A station and perhaps its browser, on the cable.
struct Machine<S: BrowserStation> {
    inner: BrowsedStation<S>,
    now: Time,
}

macro_rules! machine {
    ($engine:ident, $config:ident, $event:ident) => {
        impl cable::Station for Machine<$engine> {
            type Config = ($config, Option<BrowserConfig>);
            type Event = StationEvent<$event>;

            fn new((config, browser): Self::Config) -> Self {
                let station = $engine::new(Time(0), config);
                Self {
                    inner: BrowsedStation::new(Time(0), station, browser),
                    now: Time(0),
                }
            }

            fn handle_frame(&mut self, now: Time, frame: &[u8]) {
                self.now = now;
                self.inner.station.handle_frame(now, frame);
            }

            fn handle_timeout(&mut self, now: Time) {
                self.now = now;
                self.inner.station.handle_timeout(now);
                self.inner.handle_timeout(now);
            }

            fn poll_timeout(&self) -> Option<Time> {
                let own = self.inner.station.poll_timeout();
                own.into_iter().chain(self.inner.poll_timeout()).min()
            }

            fn poll_transmit(&mut self) -> Option<Vec<u8>> {
                self.inner.station.poll_transmit()
            }

            fn poll_event(&mut self) -> Option<Self::Event> {
                self.inner.poll_event(self.now)
            }

            fn consumed(&mut self, _: Time, _: SessionId) {}

            fn opened(_: &Self::Event) -> Option<SessionId> {
                None
            }

            fn message(_: &Self::Event) -> Option<(SessionId, &[u8])> {
                None
            }
        }

        impl News for StationEvent<$event> {
            fn news(&self) -> Option<&BrowserNews> {
                match self {
                    StationEvent::Browser(news) => Some(news),
                    StationEvent::Station(_) | StationEvent::Names(_) => None,
                }
            }
        }
    };
}

machine!(Nbf, NbfConfig, NbfEvent);
machine!(Ipx, IpxConfig, IpxEvent);

/// The news of a browser among a machine's events.
trait News {
    fn news(&self) -> Option<&BrowserNews>;
}

/// The last role that a machine told of.
fn role<E: News>(events: &[E]) -> Role {
    let roles = events.iter().rev().filter_map(|event| match event.news()? {
        BrowserNews::Browser(BrowserEvent::Role { role, .. }) => Some(*role),
        _ => None,
    });
    roles.into_iter().next().unwrap_or(Role::Potential)
}

/// The last lists that a machine told of.
fn lists<E: News>(events: &[E]) -> Heard {
    let lists = events.iter().rev().filter_map(|event| match event.news()? {
        BrowserNews::Lists(heard) => Some(heard.clone()),
        BrowserNews::Browser(_) => None,
    });
    lists.into_iter().next().unwrap_or_default()
}

fn servers<E: News>(events: &[E]) -> Vec<String> {
    let servers = lists(events).lists.servers;
    let text = |server: ListedServer| String::from_utf8(server.name).unwrap();
    servers.into_iter().map(text).collect()
}

fn run<S: cable::Station>(lan: &mut Cable<S>, ms: u64) {
    lan.run(Span::from_millis(ms));
}

macro_rules! browsing {
    ($module:ident, $engine:ident, $config:ident, $event:ident) => {
        mod $module {
            use super::*;

            type Lan = Cable<Machine<$engine>>;

            fn server(
                number: u8,
                computer: &str,
                os_level: u8,
            ) -> ($config, Option<BrowserConfig>) {
                let names = vec![
                    unique(&std::format!("{computer}<20>")),
                    unique(&std::format!("{computer}<00>")),
                    group("LAB<00>"),
                ];
                let mut station = $config::new(mac(number), names);
                station.hears = overheard(name("LAB")).to_vec();
                (station, Some(config(computer, os_level)))
            }

            fn masters(lan: &Lan) -> Vec<usize> {
                let roles = lan.events.iter().map(|events| role(events));
                let masters = roles.enumerate().filter(|(_, role)| *role == Role::Master);
                masters.map(|(at, _)| at).collect()
            }

            fn three() -> Lan {
                Lan::new(vec![
                    server(1, "LOW", 1),
                    server(2, "HIGH", 33),
                    server(3, "MIDDLE", 20),
                ])
            }

            #[test]
            fn the_best_of_three_becomes_master_and_each_has_the_whole_list() {
                let mut lan = three();
                run(&mut lan, MINUTE);
                assert_eq!(masters(&lan), [1]);
                assert!(lan.stations[1].inner.station.owns(&name("LAB<1d>")));
                assert!(lan.stations[1].inner.station.owns(&MSBROWSE));
                assert_eq!(servers(&lan.events[1]), ["LOW", "MIDDLE"]);
                assert_eq!(servers(&lan.events[0]), ["HIGH", "MIDDLE"]);
                assert_eq!(servers(&lan.events[2]), ["HIGH", "LOW"]);
                for other in [0, 2] {
                    let master = lists(&lan.events[other]).master;
                    let name = master.map(|name| name.characters().to_vec());
                    assert_eq!(name.as_deref(), Some(&b"HIGH"[..]));
                }
            }

            #[test]
            fn the_names_are_told_as_they_are_registered_and_given_up() {
                let mut lan = three();
                run(&mut lan, MINUTE);
                let told = |lan: &Lan| {
                    let events = lan.events[1].iter().rev();
                    let mut names = events.filter_map(|event| match event {
                        StationEvent::Names(names) => Some(names.clone()),
                        _ => None,
                    });
                    names.next().unwrap()
                };
                assert_eq!(lists(&lan.events[1]).role, Role::Master);
                let names = told(&lan);
                assert!(names.iter().all(|(_, registered)| *registered));
                for own in ["HIGH<20>", "HIGH<00>", "LAB<00>", "LAB<1d>", "LAB<1e>"] {
                    assert!(names.contains(&(name(own), true)), "{own}");
                }
                let now = lan.now;
                lan.stations[1].inner.shutdown(now);
                run(&mut lan, 1000);
                assert!(!told(&lan).contains(&(name("LAB<1d>"), true)));
            }

            #[test]
            fn a_master_that_stops_is_replaced_and_forgotten() {
                let mut lan = three();
                run(&mut lan, MINUTE);
                let now = lan.now;
                lan.stations[1].inner.shutdown(now);
                run(&mut lan, 1000);
                assert!(!lan.stations[1].inner.station.owns(&name("LAB<1d>")));
                lan.unplugged.push(1);
                run(&mut lan, 20_000);
                assert_eq!(masters(&lan)[1..], [2], "the first is the one that stopped");
                assert_eq!(servers(&lan.events[0]), ["MIDDLE"]);
                assert_eq!(servers(&lan.events[2]), ["LOW"]);
            }

            #[test]
            fn a_client_is_told_the_master_by_the_name_that_it_asked() {
                let mut client = $config::new(mac(9), vec![]);
                client.hears = vec![name("CLIENT<00>")];
                let mut lan = Lan::new(vec![server(1, "TOWER", 20), (client, None)]);
                run(&mut lan, 20_000);
                lan.events[1].clear();
                let request = BrowserMessage::GetBackupList { count: 4, token: 7 };
                lan.stations[1].inner.station.carry(&crate::Outgoing {
                    source: name("CLIENT<00>"),
                    destination: name("LAB<1d>"),
                    group: false,
                    route: crate::Route::Everybody,
                    data: MailslotMessage::new(mailslot::BROWSE, request.emit()).emit(),
                });
                run(&mut lan, 100);
                let answers = lan.events[1].iter().filter_map(|event| match event {
                    StationEvent::Station($event::Datagram { source, data, .. }) => {
                        let message = MailslotMessage::parse(data).unwrap();
                        Some((*source, BrowserMessage::parse(&message.data).unwrap()))
                    }
                    _ => None,
                });
                let answers: Vec<_> = answers.collect();
                let wanted = BrowserMessage::BackupList {
                    token: 7,
                    servers: vec![b"TOWER".to_vec()],
                };
                assert!(!answers.is_empty());
                for answer in answers {
                    assert_eq!(answer, (name("LAB<1d>"), wanted.clone()));
                }
            }

            #[test]
            fn losses_and_repetitions_leave_one_master_with_the_whole_list() {
                for seed in 1..=8 {
                    let mut lan = three();
                    lan.seed(seed);
                    (lan.loss, lan.duplication, lan.delay) = (100, 100, 50);
                    run(&mut lan, 30 * MINUTE);
                    assert_eq!(masters(&lan), [1], "seed {seed}");
                    assert_eq!(servers(&lan.events[1]), ["LOW", "MIDDLE"], "seed {seed}");
                }
            }
        }
    };
}

browsing!(netbeui, Nbf, NbfConfig, NbfEvent);
browsing!(ipx, Ipx, IpxConfig, IpxEvent);
