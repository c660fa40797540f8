//! The folder of a share.

use anyhow::{Result, bail};
use coax_smbconf::{
    macros::{MacroValues, expand, has_macros},
    settings::{Settings, ShareSettings},
};

/// The share's folder. Its macros are expanded once, at the start, so those that differ from client to client cannot be
/// used.
pub(super) fn path(settings: &Settings, share: &ShareSettings) -> Result<String> {
    let client_macros = [
        "%m", "%M", "%I", "%i", "%L", "%u", "%U", "%a", "%R", "%T", "%d",
    ];
    let text = share.path.replace("%%", "");
    if let Some(found) = client_macros.iter().find(|m| text.contains(**m)) {
        bail!(
            "share {}: its path contains {found}, which differs between clients; coax shares one folder",
            share.name
        );
    }
    Ok(plain(&share.path, settings, &share.name))
}

pub(super) fn plain(text: &str, settings: &Settings, share: &str) -> String {
    if !has_macros(text) {
        return text.replace("%%", "%");
    }
    let host = settings.global.netbios_name.as_str();
    expand(
        text,
        &MacroValues {
            host_name: host,
            share,
            workgroup: &settings.global.workgroup,
            ..MacroValues::default()
        },
    )
}
