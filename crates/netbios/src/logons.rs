//! A log-on server for Windows 9x and for Workgroups: answers the search for one in datagrams, whatever carries them.
//!
//! It knows no account. A client that found it logs on with SMB.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use coax_wire::codepage::utf16;
use coax_wire::mailslot::{self, MailslotMessage};
use coax_wire::nbt::name::{NbName, SUFFIX_WORKSTATION};
use coax_wire::netlogon::{NetlogonMessage, TOKEN};
use coax_wire::time::Time;

use crate::datagram::{Incoming, Outgoing, Route};
use crate::limit::{Rate, RateLimiter};
use crate::names::OwnName;

/// Suffix of the group of a domain's log-on servers.
const SUFFIX_CONTROLLERS: u8 = 0x1c;
/// Suffix of the primary one.
const SUFFIX_PRIMARY: u8 = 0x1b;
/// NT's name of the mailslot.
const NTLOGON: &[u8] = b"\\MAILSLOT\\NET\\NTLOGON";
/// All mailslots begin so.
const MAILSLOT: &[u8] = b"\\MAILSLOT\\";
/// Answers and events that may wait.
const MAX_WAITING: usize = 64;
/// Refused stations that are remembered, so that the log names each once.
const MAX_REFUSED: usize = 256;
/// Answers to one station.
const PER_STATION: Rate = Rate {
    per_s: 5,
    burst: 20,
};

/// What a [`LogonServer`] is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogonConfig {
    /// This server's name.
    pub computer: NbName,
    /// The domain.
    pub domain: NbName,
    /// It answers as the primary domain controller.
    pub primary: bool,
}

/// What to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogonEvent<A> {
    /// A client looks for a server for this user, and was answered.
    Requested {
        /// The station.
        from: A,
        /// Its computer name.
        computer: Vec<u8>,
        /// The user.
        user: Vec<u8>,
    },
    /// A Windows NT machine looks for a domain controller. It gets no answer, because its log-on needs the NETLOGON
    /// service, which this server does not have; another domain controller can answer. Told once a station.
    NtRefused {
        /// The station.
        from: A,
        /// Its computer name, in UTF-16LE.
        computer: Vec<u8>,
    },
}

/// The names that clients look for, beside the computer's: the domain's `<1C>`. The `<1B>` of the primary controller is
/// the domain master browser's.
pub fn logon_names(domain: NbName) -> [OwnName; 1] {
    [OwnName::group(domain.with_suffix(SUFFIX_CONTROLLERS))]
}

/// The log-on server of one network.
#[derive(Debug)]
pub struct LogonServer<A> {
    config: LogonConfig,
    stations: RateLimiter<A>,
    refused: BTreeSet<A>,
    outgoing: VecDeque<Outgoing<A>>,
    events: VecDeque<LogonEvent<A>>,
}

impl<A: Copy + Ord> LogonServer<A> {
    /// A server without requests.
    pub fn new(config: LogonConfig) -> Self {
        Self {
            config,
            stations: RateLimiter::new(PER_STATION),
            refused: BTreeSet::new(),
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// A datagram arrived. Those for other names and other mailslots are passed over.
    pub fn handle_datagram(&mut self, now: Time, incoming: &Incoming<A>) {
        if !self.is_for_us(&incoming.destination) {
            return;
        }
        let Ok(slot) = MailslotMessage::parse(&incoming.data) else {
            return;
        };
        if !slot.is_for(mailslot::NETLOGON) && !slot.is_for(NTLOGON) {
            return;
        }
        let Ok(message) = NetlogonMessage::parse(&slot.data) else {
            return;
        };
        if self.stations.admit(now, incoming.from) {
            self.answer(incoming, message);
        }
    }

    /// A datagram to send, until there is none.
    pub fn poll_outgoing(&mut self) -> Option<Outgoing<A>> {
        self.outgoing.pop_front()
    }

    /// What to report, until there is nothing.
    pub fn poll_event(&mut self) -> Option<LogonEvent<A>> {
        self.events.pop_front()
    }

    fn is_for_us(&self, to: &NbName) -> bool {
        let (computer, domain) = (&self.config.computer, &self.config.domain);
        match to.suffix() {
            SUFFIX_CONTROLLERS => to.characters() == domain.characters(),
            SUFFIX_PRIMARY => self.config.primary && to.characters() == domain.characters(),
            _ => [computer, domain]
                .map(|own| own.characters())
                .contains(&to.characters()),
        }
    }

    fn answer(&mut self, incoming: &Incoming<A>, message: NetlogonMessage) {
        let server = self.config.computer.characters().to_vec();
        match message {
            NetlogonMessage::LogonRequest {
                computer,
                user,
                mailslot,
                ..
            } => {
                let server = [b"\\\\", server.as_slice()].concat();
                // nmbd 4.17 answers so, whatever the request has.
                let token = TOKEN;
                let response = NetlogonMessage::LogonResponse { server, token };
                if self.reply(incoming, &computer, &mailslot, &response) {
                    self.tell(LogonEvent::Requested {
                        from: incoming.from,
                        computer,
                        user,
                    });
                }
            }
            NetlogonMessage::PrimaryQuery {
                computer,
                mailslot,
                unicode,
            } if self.config.primary => {
                let wide = |name: &NbName| -> Vec<u8> {
                    let text: alloc::string::String =
                        name.characters().iter().copied().map(char::from).collect();
                    utf16::encode(&text)
                };
                let names = [wide(&self.config.computer), wide(&self.config.domain)];
                let unicode = unicode.then_some(names);
                let response = NetlogonMessage::PrimaryResponse { server, unicode };
                self.reply(incoming, &computer, &mailslot, &response);
            }
            NetlogonMessage::SamLogonRequest { computer, .. } => {
                let known = self.refused.contains(&incoming.from);
                if !known && self.refused.len() < MAX_REFUSED {
                    self.refused.insert(incoming.from);
                    self.tell(LogonEvent::NtRefused {
                        from: incoming.from,
                        computer,
                    });
                }
            }
            _ => {}
        }
    }

    /// Answers to the client's mailslot at its `<00>`; false if it named none.
    fn reply(
        &mut self,
        incoming: &Incoming<A>,
        computer: &[u8],
        mailslot: &[u8],
        response: &NetlogonMessage,
    ) -> bool {
        let upper = computer.to_ascii_uppercase();
        let Ok(to) = NbName::new(&upper, SUFFIX_WORKSTATION) else {
            return false;
        };
        let begins = mailslot.get(..MAILSLOT.len());
        if !begins.is_some_and(|begin| begin.eq_ignore_ascii_case(MAILSLOT))
            || self.outgoing.len() >= MAX_WAITING
        {
            return false;
        }
        self.outgoing.push_back(Outgoing {
            source: self.config.computer.with_suffix(SUFFIX_WORKSTATION),
            destination: to,
            group: false,
            route: Route::Station(incoming.from),
            data: MailslotMessage::new(mailslot, response.emit()).emit(),
        });
        true
    }

    fn tell(&mut self, event: LogonEvent<A>) {
        if self.events.len() < MAX_WAITING {
            self.events.push_back(event);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn server(primary: bool) -> LogonServer<u8> {
        LogonServer::new(LogonConfig {
            computer: "TOWER<20>".parse().unwrap(),
            domain: "LAB<00>".parse().unwrap(),
            primary,
        })
    }

    fn ask(server: &mut LogonServer<u8>, to: &str, data: &[u8]) -> Option<Outgoing<u8>> {
        let incoming = Incoming {
            from: 7,
            source: "WIN98<00>".parse().unwrap(),
            destination: to.parse().unwrap(),
            data: MailslotMessage::new(mailslot::NETLOGON, data.to_vec()).emit(),
        };
        server.handle_datagram(Time(0), &incoming);
        server.poll_outgoing()
    }

    const LOGON: &[u8] = b"\0\0WIN98\0ANNA\0\\MAILSLOT\\TEMP\\NETLOGON\0\0\xff\xff\xff\xff";

    #[test]
    fn a_log_on_request_is_answered_to_the_client_s_mailslot() {
        for to in ["LAB<1c>", "LAB<00>", "TOWER<20>", "TOWER<00>"] {
            let mut server = server(false);
            let answer = ask(&mut server, to, LOGON).unwrap();
            assert_eq!(answer.destination, "WIN98<00>".parse().unwrap());
            assert_eq!(answer.route, Route::Station(7));
            let slot = MailslotMessage::parse(&answer.data).unwrap();
            assert!(slot.is_for(mailslot::NETLOGON_TEMP));
            assert_eq!(slot.data, b"\x06\0\\\\TOWER\0\xff\xff");
            assert!(matches!(
                server.poll_event(),
                Some(LogonEvent::Requested { .. })
            ));
        }
        assert_eq!(ask(&mut server(false), "HOME<1c>", LOGON), None);
    }

    #[test]
    fn only_the_primary_controller_answers_the_query_for_it() {
        let query = b"\x07\0WIN98\0\\MAILSLOT\\NET\\GETDC1\0\xff\xff";
        assert_eq!(ask(&mut server(false), "LAB<1c>", query), None);
        let mut primary = server(true);
        let answer = ask(&mut primary, "LAB<1b>", query).unwrap();
        let slot = MailslotMessage::parse(&answer.data).unwrap();
        assert_eq!(slot.data, b"\x0c\0TOWER\0");
    }

    #[test]
    fn nt_s_request_gets_no_answer_and_is_told_once() {
        let mut server = server(true);
        let sam = b"\x12\0\0\0N\0T\x004\0\0\0A\0\0\0";
        for _ in 0..3 {
            assert_eq!(ask(&mut server, "LAB<1c>", sam), None);
        }
        let events: Vec<_> = core::iter::from_fn(|| server.poll_event()).collect();
        assert_eq!(events.len(), 1);
    }

    #[test]
    fn a_station_gets_a_limited_number_of_answers_and_none_elsewhere() {
        let mut server = server(false);
        let answered = (0..1000).filter(|_| ask(&mut server, "LAB<1c>", LOGON).is_some());
        assert_eq!(answered.count(), 20);
        let no_slot = b"\0\0WIN98\0ANNA\0\\PIPE\\X\0\0\xff\xff\xff\xff";
        assert_eq!(ask(&mut self::server(false), "LAB<1c>", no_slot), None);
    }
}
