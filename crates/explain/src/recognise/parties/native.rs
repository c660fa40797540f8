//! What a machine calls itself.

use coax_catalog::recognition::text;

/// `system / LAN manager` as a machine names them, as far as they were kept; `None` if nothing was.
pub(super) fn native(system: &Option<(String, String)>) -> Option<String> {
    let (os, lan_man) = system.as_ref()?;
    text::native(os, lan_man)
}
