//! The browser's messages on `\MAILSLOT\BROWSE` and LAN Manager's on `\MAILSLOT\LANMAN` ([MS-BRWS] 2.2).

use alloc::vec::Vec;

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};

/// Bits of a server's type ([MS-BRWS] 2.2.1, [MS-RAP] 2.5.5.1).
pub mod server_type {
    /// A workstation.
    pub const WORKSTATION: u32 = 0x1;
    /// A server.
    pub const SERVER: u32 = 0x2;
    /// A primary domain controller.
    pub const DOMAIN_CONTROLLER: u32 = 0x8;
    /// A server for NET TIME.
    pub const TIME_SOURCE: u32 = 0x20;
    /// A server with printers.
    pub const PRINT_QUEUE_SERVER: u32 = 0x200;
    /// A server that runs Unix.
    pub const UNIX: u32 = 0x800;
    /// Windows NT.
    pub const NT: u32 = 0x1000;
    /// Windows for Workgroups.
    pub const WFW: u32 = 0x2000;
    /// A Windows NT server.
    pub const NT_SERVER: u32 = 0x8000;
    /// It can become a browser.
    pub const POTENTIAL_BROWSER: u32 = 0x1_0000;
    /// A backup browser.
    pub const BACKUP_BROWSER: u32 = 0x2_0000;
    /// The local master browser.
    pub const MASTER_BROWSER: u32 = 0x4_0000;
    /// The domain master browser.
    pub const DOMAIN_MASTER: u32 = 0x8_0000;
    /// Windows 95 and later of its line.
    pub const WIN95: u32 = 0x40_0000;
    /// In a request: only machines of the master's network.
    pub const LOCAL_LIST_ONLY: u32 = 0x4000_0000;
    /// In a request: workgroups instead of machines; in a list: a workgroup.
    pub const DOMAIN_ENUM: u32 = 0x8000_0000;
    /// In a request: all machines.
    pub const ALL: u32 = 0xffff_ffff;
}

/// Bits of the election criteria's lowest byte ([MS-BRWS] 2.2.3).
pub mod criteria {
    /// A backup browser.
    pub const BACKUP: u32 = 0x01;
    /// A standby browser: it always keeps a list.
    pub const STANDBY: u32 = 0x02;
    /// The running master browser.
    pub const MASTER: u32 = 0x04;
    /// The domain's master browser, or a preferred master.
    pub const PREFERRED: u32 = 0x08;
    /// A WINS client.
    pub const WINS: u32 = 0x20;
    /// A primary domain controller.
    pub const DOMAIN_CONTROLLER: u32 = 0x80;
}

/// The version of the election protocol.
pub const ELECTION_VERSION: u8 = 1;
/// The most characters of a comment.
pub const MAX_COMMENT_LEN: usize = 43;
/// The most backup browsers in a list.
const MAX_BACKUPS: usize = 32;
/// The longest name behind the fixed fields.
const MAX_NAME_LEN: usize = 15;

/// A server or workgroup that announces itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Counts announcements whose content differs from the last.
    pub update_count: u8,
    /// Time to the next announcement, milliseconds.
    pub period_ms: u32,
    /// The server's or workgroup's name, at most 15 bytes.
    pub name: Vec<u8>,
    /// Version of its system.
    pub version: (u8, u8),
    /// See [`server_type`]; 0 when it goes away.
    pub server_type: u32,
    /// The comment, at most [`MAX_COMMENT_LEN`] bytes; for a workgroup the master's name.
    pub comment: Vec<u8>,
}

/// What decides an election, besides the sender's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// Version of the protocol; 0 asks others to hold an election.
    pub version: u8,
    /// System in the highest byte (`os level`), then the protocol's version, then [`criteria`].
    pub criteria: u32,
    /// Milliseconds since the sender started. [MS-BRWS] 2.2.3 says seconds; Windows and Samba send milliseconds.
    pub uptime_ms: u32,
    /// The sender's name.
    pub name: Vec<u8>,
}

/// A message of the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserMessage {
    /// 01: a server to the local master browser.
    Host(Announcement),
    /// 02: servers shall announce themselves; the sender's name.
    AnnouncementRequest(Vec<u8>),
    /// 08: an election.
    Election(Election),
    /// 09: which servers keep a list?
    GetBackupList {
        /// How many are wanted.
        count: u8,
        /// Repeated in the answer.
        token: u32,
    },
    /// 0A: these servers keep a list.
    BackupList {
        /// Of the request.
        token: u32,
        /// Their names.
        servers: Vec<Vec<u8>>,
    },
    /// 0B: this server shall become a backup browser.
    BecomeBackup(Vec<u8>),
    /// 0C: a local master browser to those of other workgroups.
    Domain(Announcement),
    /// 0D: a local master browser to its domain master; the sender's name.
    MasterAnnouncement(Vec<u8>),
    /// 0E: stop being a master, clear the lists, or stop browsing.
    ResetState(u8),
    /// 0F: the local master browser to all browsers.
    LocalMaster(Announcement),
}

impl BrowserMessage {
    /// Decodes a message.
    ///
    /// # Errors
    /// It ends too early, or is of an unknown kind.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        Ok(match r.u8("browser opcode")? {
            0x01 => Self::Host(Announcement::parse(&mut r)?),
            0x0c => Self::Domain(Announcement::parse(&mut r)?),
            0x0f => Self::LocalMaster(Announcement::parse(&mut r)?),
            0x02 => {
                r.u8("flags")?;
                Self::AnnouncementRequest(text(&mut r, MAX_NAME_LEN))
            }
            0x08 => {
                let (version, criteria) = (r.u8("election version")?, r.u32("criteria")?);
                let uptime_ms = r.u32("uptime")?;
                r.u32("reserved")?;
                Self::Election(Election {
                    version,
                    criteria,
                    uptime_ms,
                    name: text(&mut r, MAX_NAME_LEN),
                })
            }
            0x09 => Self::GetBackupList {
                count: r.u8("count")?,
                token: r.u32("token")?,
            },
            0x0a => {
                let (count, token) = (r.u8("count")?, r.u32("token")?);
                let servers = 0..usize::from(count).min(MAX_BACKUPS);
                let servers = servers.map(|_| text(&mut r, MAX_NAME_LEN));
                Self::BackupList {
                    token,
                    servers: servers.filter(|name| !name.is_empty()).collect(),
                }
            }
            0x0b => Self::BecomeBackup(text(&mut r, MAX_NAME_LEN)),
            0x0d => Self::MasterAnnouncement(text(&mut r, MAX_NAME_LEN)),
            0x0e => Self::ResetState(r.u8("state")?),
            _ => {
                return Err(Error::Value {
                    what: "browser opcode",
                });
            }
        })
    }

    /// The message.
    pub fn emit(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(64);
        match self {
            Self::Host(announcement) => announcement.emit(0x01, &mut w),
            Self::Domain(announcement) => announcement.emit(0x0c, &mut w),
            Self::LocalMaster(announcement) => announcement.emit(0x0f, &mut w),
            Self::AnnouncementRequest(name) => put_text(w.u8(0x02).u8(0), name),
            Self::Election(election) => {
                w.u8(0x08).u8(election.version).u32(election.criteria);
                put_text(w.u32(election.uptime_ms).u32(0), &election.name);
            }
            Self::GetBackupList { count, token } => {
                w.u8(0x09).u8(*count).u32(*token);
            }
            Self::BackupList { token, servers } => {
                let count = servers.len().min(MAX_BACKUPS);
                w.u8(0x0a).u8(u8::try_from(count).unwrap_or(0)).u32(*token);
                for server in servers.iter().take(count) {
                    put_text(&mut w, server);
                }
            }
            Self::BecomeBackup(name) => put_text(w.u8(0x0b), name),
            Self::MasterAnnouncement(name) => put_text(w.u8(0x0d), name),
            Self::ResetState(state) => {
                w.u8(0x0e).u8(*state);
            }
        }
        w.into_vec()
    }
}

impl Announcement {
    fn parse(r: &mut Reader<'_>) -> Result<Self> {
        let (update_count, period_ms) = (r.u8("update count")?, r.u32("period")?);
        let name: [u8; 16] = r.array("name")?;
        let end = name.iter().position(|&b| b == 0).unwrap_or(MAX_NAME_LEN);
        let version = (r.u8("major version")?, r.u8("minor version")?);
        let server_type = r.u32("server type")?;
        // Windows leaves garbage where the browser's version and signature belong, and old senders end here.
        r.take_up_to(4);
        Ok(Self {
            update_count,
            period_ms,
            name: name.get(..end).unwrap_or_default().to_vec(),
            version,
            server_type,
            comment: text(r, MAX_COMMENT_LEN),
        })
    }

    fn emit(&self, opcode: u8, w: &mut Writer) {
        let mut name = [0; 16];
        for (slot, byte) in name.iter_mut().zip(self.name.iter().take(MAX_NAME_LEN)) {
            *slot = *byte;
        }
        w.u8(opcode).u8(self.update_count).u32(self.period_ms);
        w.bytes(&name).u8(self.version.0).u8(self.version.1);
        // Version 15.1 of the browser protocol, and its signature.
        w.u32(self.server_type).bytes(&[0x0f, 0x01, 0x55, 0xaa]);
        let comment = self.comment.get(..MAX_COMMENT_LEN);
        put_text(w, comment.unwrap_or(&self.comment));
    }
}

/// LAN Manager's announcement on `\MAILSLOT\LANMAN`, which OS/2 and LAN Manager listen to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanmanAnnouncement {
    /// See [`server_type`]; 0 when it goes away.
    pub server_type: u32,
    /// Version of its system.
    pub version: (u8, u8),
    /// Time to the next announcement, seconds.
    pub period_s: u16,
    /// The server's name.
    pub name: Vec<u8>,
    /// The comment.
    pub comment: Vec<u8>,
}

impl LanmanAnnouncement {
    /// Decodes an announcement.
    ///
    /// # Errors
    /// It ends too early, or is no announcement.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(bytes);
        if r.u16("LANMAN opcode")? != 1 {
            return Err(Error::Value {
                what: "LANMAN opcode",
            });
        }
        Ok(Self {
            server_type: r.u32("server type")?,
            version: (r.u8("major version")?, r.u8("minor version")?),
            period_s: r.u16("period")?,
            name: text(&mut r, MAX_NAME_LEN),
            comment: text(&mut r, MAX_COMMENT_LEN),
        })
    }

    /// The announcement.
    pub fn emit(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(64);
        w.u16(1).u32(self.server_type);
        w.u8(self.version.0).u8(self.version.1).u16(self.period_s);
        put_text(&mut w, &self.name);
        put_text(&mut w, &self.comment);
        w.into_vec()
    }
}

/// Bytes up to a zero or the end, cut to `max`.
fn text(r: &mut Reader<'_>, max: usize) -> Vec<u8> {
    let rest = r.rest();
    let len = rest.iter().position(|&byte| byte == 0);
    let whole = r.take_up_to(len.unwrap_or(rest.len()));
    r.take_up_to(1);
    whole.get(..max).unwrap_or(whole).to_vec()
}

fn put_text(w: &mut Writer, text: &[u8]) {
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    w.bytes(text.get(..end).unwrap_or_default()).u8(0);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn announcement() -> Announcement {
        Announcement {
            update_count: 3,
            period_ms: 720_000,
            name: b"TOWER".to_vec(),
            version: (4, 9),
            server_type: 0x9a03,
            comment: b"files".to_vec(),
        }
    }

    #[test]
    fn a_host_announcement_has_the_bytes_of_ms_brws_section_2_2_1() {
        let bytes = BrowserMessage::Host(announcement()).emit();
        let expected = b"\x01\x03\x80\xfc\x0a\x00TOWER\0\0\0\0\0\0\0\0\0\0\0\x04\x09\x03\x9a\0\0\x0f\x01\x55\xaafiles\0";
        assert_eq!(bytes, expected);
    }

    #[test]
    fn every_message_survives_being_written_and_read() {
        let messages = [
            BrowserMessage::Host(announcement()),
            BrowserMessage::Domain(announcement()),
            BrowserMessage::LocalMaster(announcement()),
            BrowserMessage::AnnouncementRequest(b"TOWER".to_vec()),
            BrowserMessage::Election(Election {
                version: 1,
                criteria: 0x1401_0f06,
                uptime_ms: 99,
                name: b"TOWER".to_vec(),
            }),
            BrowserMessage::GetBackupList { count: 4, token: 7 },
            BrowserMessage::BackupList {
                token: 7,
                servers: vec![b"TOWER".to_vec(), b"BARN".to_vec()],
            },
            BrowserMessage::BecomeBackup(b"BARN".to_vec()),
            BrowserMessage::MasterAnnouncement(b"BARN".to_vec()),
            BrowserMessage::ResetState(2),
        ];
        for message in messages {
            assert_eq!(BrowserMessage::parse(&message.emit()), Ok(message));
        }
        let lanman = LanmanAnnouncement {
            server_type: 3,
            version: (4, 9),
            period_s: 60,
            name: b"TOWER".to_vec(),
            comment: b"files".to_vec(),
        };
        assert_eq!(LanmanAnnouncement::parse(&lanman.emit()), Ok(lanman));
    }

    #[test]
    fn a_workgroup_announcement_with_garbage_for_a_signature_is_read() {
        let mut bytes = BrowserMessage::Domain(announcement()).emit();
        bytes[28..32].copy_from_slice(&[1, 2, 3, 4]);
        let parsed = BrowserMessage::parse(&bytes);
        assert_eq!(parsed, Ok(BrowserMessage::Domain(announcement())));
    }

    proptest! {
        #[test]
        fn arbitrary_messages_never_panic_and_stay_small(bytes in any::<Vec<u8>>(), opcode in 0u8..16) {
            let whole = [&[opcode][..], &bytes].concat();
            if let Ok(message) = BrowserMessage::parse(&whole) {
                let again = BrowserMessage::parse(&message.emit());
                prop_assert!(again.is_ok());
                prop_assert!(message.emit().len() <= 6 + 32 * 16 + 60);
            }
            let _ = LanmanAnnouncement::parse(&bytes);
        }
    }
}
