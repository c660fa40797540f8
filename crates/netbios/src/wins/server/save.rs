//! The text of the database file.

use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;

use coax_wire::nbt::ns::NameFlags;

use super::super::database::{VERSION, seconds};
use super::super::record::RecordState;
use super::WinsServer;
use crate::quoted::quoted_name;

impl WinsServer {
    /// The records as the text of a database file. Tombstones are left out, and the entries of LMHOSTS, which are static only
    /// as long as they are there.
    pub fn database(&self) -> String {
        let mut text = format!("{VERSION}\n");
        for (name, record) in self.records.iter() {
            if record.state() == RecordState::Tombstone || record.is_in_lmhosts() {
                continue;
            }
            let expires = match record.state() {
                RecordState::Active => record.expires().map_or(0, |time| seconds(time).max(1)),
                _ => seconds(record.since()).max(1),
            };
            let _ = write!(text, "{} {expires}", quoted_name(name));
            for address in record.addresses() {
                let _ = write!(text, " {address}");
            }
            let [flags, _] = (record.flags().0 | NameFlags::ACTIVE).to_be_bytes();
            let _ = writeln!(text, " {flags:02x}R");
        }
        text
    }
}
