//! What a server is asked after something failed: over connections of its own, and never for long.

use coax_catalog::clients;
use std::{
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use coax_client::{Error as SmbError, Unfit, profile::Profile};
use coax_wire::{
    dialect::{DIALECTS, Dialect},
    smb::negotiate::security,
};

use coax_transfer::client::{Error, Location, Options};

/// How long the server is asked before the person is told what is known by then. (JFileServer 1.4.0 leaves some log-ons
/// without an answer, and a redirector waits a minute for one.)
const PATIENCE: Duration = Duration::from_secs(10);

/// What was heard, and whether that is all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Heard<T> {
    pub answers: Vec<T>,
    pub whole: bool,
}

/// Lets a thread ask, and gathers its answers for so long. What it hears later is lost: this program ends soon.
fn within<T: Send + 'static>(
    time: Duration,
    ask: impl FnOnce(&Sender<T>) + Send + 'static,
) -> Heard<T> {
    let (sender, answers) = channel();
    thread::spawn(move || ask(&sender));
    let end = Instant::now().checked_add(time);
    let mut heard = Heard {
        answers: Vec::new(),
        whole: false,
    };
    loop {
        let left = end.map_or(time, |end| end.saturating_duration_since(Instant::now()));
        match answers.recv_timeout(left) {
            Ok(answer) => heard.answers.push(answer),
            Err(end) => {
                heard.whole = end == RecvTimeoutError::Disconnected;
                return heard;
            }
        }
    }
}

fn as_guest(location: &Location) -> Location {
    Location {
        user: None,
        password: None,
        ..location.clone()
    }
}

/// The dialects the server speaks, newest first, since an old one may leave it without words.
pub(super) fn dialects(
    location: &Location,
    profile: &Arc<Profile>,
    options: &Options,
) -> Heard<&'static Dialect> {
    dialects_within(PATIENCE, location, profile, options)
}

fn dialects_within(
    time: Duration,
    location: &Location,
    profile: &Arc<Profile>,
    options: &Options,
) -> Heard<&'static Dialect> {
    let (guest, profile, options) = (as_guest(location), profile.clone(), options.clone());
    within(time, move |heard| {
        for dialect in DIALECTS.iter().rev() {
            let options = Options {
                dialect: Some(dialect.name),
                ..options.clone()
            };
            let taken = match coax_transfer::client::open(&guest, &profile, &options) {
                // Whatever else is wrong, the dialect was taken.
                Err(error) => matches!(
                    error.smb(),
                    Some(SmbError::Refused { .. } | SmbError::Unfit(_))
                ),
                Ok(_) => true,
            };
            if taken && heard.send(dialect).is_err() {
                return;
            }
        }
    })
}

/// Whether the server takes signed messages alone: old dialects have no way to say so, so it is asked in the newest.
pub(super) fn insists_on_signatures(location: &Location) -> bool {
    let guest = as_guest(location);
    let heard = within(PATIENCE, move |heard| {
        let newest = clients::by_name(clients::DEFAULT);
        let opened =
            newest.map(|newest| coax_transfer::client::open(&guest, &newest, &Options::default()));
        let insists = opened.is_some_and(|opened| match opened {
            Ok(connection) => connection.link().security & security::SIGNATURES_REQUIRED != 0,
            Err(error) => is_about_signatures(&error),
        });
        // Nobody listens any more if this took too long.
        let _ = heard.send(insists);
    });
    heard.answers.contains(&true)
}

fn is_about_signatures(error: &Error) -> bool {
    matches!(error.smb(), Some(SmbError::Unfit(Unfit::GuestCannotSign)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use coax_transfer::client::testkit::{Served, modern};
    use std::net::TcpListener;

    #[test]
    fn a_server_is_asked_for_each_dialect_from_the_newest_to_the_oldest() {
        let served = Served::start("server min protocol = LANMAN2", None);
        let heard = dialects(&served.location(""), &modern(), &Options::default());
        let names: Vec<_> = heard.answers.iter().map(|dialect| dialect.name).collect();
        assert_eq!(names.first(), Some(&"NT LM 0.12"), "{names:?}");
        assert!(heard.whole && names.contains(&"LANMAN2.1") && !names.contains(&"LANMAN1.0"));
    }

    #[test]
    fn a_server_that_never_answers_is_not_waited_for() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = format!("smb://{}/DATA", silent.local_addr().unwrap());
        let time = Duration::from_millis(100);
        let heard = dialects_within(
            time,
            &place.parse().unwrap(),
            &modern(),
            &Options::default(),
        );
        let nothing = Heard {
            answers: Vec::new(),
            whole: false,
        };
        assert_eq!(heard, nothing);
    }

    #[test]
    fn it_is_known_whether_a_server_insists_on_signatures() {
        let insists = |signing: &str, user| {
            let served = Served::start(&format!("server signing = {signing}"), user);
            insists_on_signatures(&served.location(""))
        };
        let anna = Some(("anna", "secret"));
        assert!(insists("mandatory", None) && insists("mandatory", anna));
        assert!(!insists("auto", None) && !insists("auto", anna) && !insists("disabled", anna));
    }
}
