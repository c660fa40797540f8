//! The server's own users: a password file in smbpasswd format, independent of the machine's users.

mod entry;
mod file;

use coax_logon::text::OemCodePage;
use coax_wire::codepage::CodePage;
use zeroize::Zeroizing;

pub use entry::{Entry, Passwords, check_name};
pub use file::{FileError, PasswordFile};

/// The clients' code page, as LM hashes need it.
#[derive(Clone, Copy, Debug)]
pub struct Page(pub CodePage);

impl OemCodePage for Page {
    fn decode(&self, oem: &[u8]) -> String {
        self.0.decode(oem).into_owned()
    }

    fn encode_upper(&self, text: &str) -> Option<Vec<u8>> {
        // Allocates the full size at once: a growing buffer would leave copies of the password in memory.
        let room = text.len().saturating_mul(4);
        let mut upper = Zeroizing::new(String::with_capacity(room));
        upper.extend(text.chars().map(|c| self.0.upper_char(c)));
        self.0.encode(&upper).ok()
    }
}
