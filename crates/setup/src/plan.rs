//! From answers to files.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use coax_doctor::unit::Effect;
use coax_smbconf::load::load_text;

use crate::{
    Wrong,
    answers::{Answers, Machine, Network, Writers},
    site::Site,
};

/// The configuration that the packages install. Nobody misses it.
const PACKAGED: &str = include_str!("../../../packaging/smb.conf");

/// What to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The shared folder, if it must be created.
    pub new_folder: Option<PathBuf>,
    /// smb.conf.
    pub config: String,
    /// Settings of the service; `None`: none are needed.
    pub drop_in: Option<String>,
    /// Users who need an entry in the password file.
    pub users: Vec<String>,
    /// Whether they need LM hashes.
    pub lm: bool,
    /// What coax does not do by itself.
    pub remarks: Vec<String>,
}

/// Decides what to write.
///
/// # Errors
/// The answers do not fit each other, or cannot be written down.
pub fn plan(answers: &Answers, site: &Site) -> Result<Plan, Wrong> {
    let users = match &answers.writers {
        Writers::Users(users) => users.clone(),
        Writers::Nobody | Writers::Everybody => Vec::new(),
    };
    if answers.no_guests && users.is_empty() {
        return Err(Wrong::new(
            "without guests nobody could connect",
            "name users who write, or leave --no-guests out",
        ));
    }
    let config = config(answers, site, &users);
    verify(answers, &config)?;
    let drop_in = match &site.drop_in {
        Some(_) => drop_in(answers, site)?,
        None => None,
    };
    Ok(Plan {
        new_folder: (!answers.folder.exists()).then(|| answers.folder.clone()),
        config,
        drop_in,
        lm: answers.machines.contains(&Machine::Dos),
        remarks: remarks(answers, site, &users),
        users,
    })
}

/// Whether somebody would miss the configuration that is there.
pub fn replaces_own(config: &Path, plan: &Plan) -> bool {
    match std::fs::read(config) {
        Ok(there) => is_own(&there) && there != plan.config.as_bytes(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// Texts of old machines are often not UTF-8.
fn is_own(config: &[u8]) -> bool {
    config != PACKAGED.as_bytes() && !config.trim_ascii().is_empty()
}

fn config(answers: &Answers, site: &Site, users: &[String]) -> String {
    let mut out = String::from(
        "# Written by 'coax setup'. The syntax is Samba's. 'coax serve --config FILE --check' finds mistakes after a change.\n\n[global]\n",
    );
    let mut set = |key: &str, value: &str| {
        // writing to a string does not fail
        let _ = writeln!(out, "    {key} = {value}");
    };
    if let Some(name) = &answers.name {
        set("netbios name", name);
    }
    set("workgroup", &answers.workgroup);
    set("server string", "coax on %h");
    if !users.is_empty() || site.users().exists() {
        set("smb passwd file", &value(&site.users()));
    }
    if answers.machines.contains(&Machine::Dos) && !users.is_empty() {
        set("lanman auth", "yes");
    }
    if !answers.no_guests {
        set("map to guest", "Bad User");
    }
    match &answers.network {
        Network::All => {}
        Network::Interface(name) => {
            set("interfaces", &format!("lo {name}"));
            set("bind interfaces only", "yes");
        }
        Network::Range(range) => {
            set("interfaces", &format!("lo {range}"));
            set("bind interfaces only", "yes");
            set("hosts allow", &format!("127.0.0.1 {range}"));
        }
    }
    if site.drop_in.is_some() {
        set("coax:takeover socket", "/run/coax/takeover");
    }
    let _ = write!(out, "\n[{}]\n", answers.share);
    let mut set = |key: &str, value: &str| {
        let _ = writeln!(out, "    {key} = {value}");
    };
    set("path", &value(&answers.folder));
    set("guest ok", if answers.no_guests { "no" } else { "yes" });
    set(
        "read only",
        if answers.writers == Writers::Everybody {
            "no"
        } else {
            "yes"
        },
    );
    if !users.is_empty() {
        set("write list", &users.join(" "));
    }
    if answers.no_guests {
        set("valid users", &users.join(" "));
    }
    out
}

/// A path as a value: `%` begins a macro.
fn value(path: &Path) -> String {
    path.display().to_string().replace('%', "%%")
}

/// Reads the text again: it must say what was answered.
fn verify(answers: &Answers, config: &str) -> Result<(), Wrong> {
    let loaded = load_text("smb.conf", config);
    let path = answers.folder.display().to_string().replace('%', "%%");
    let share = loaded.settings.shares.first();
    let same = share.is_some_and(|share| share.path == path && share.name == answers.share);
    match same && !loaded.has_errors() && loaded.settings.shares.len() == 1 {
        true => Ok(()),
        false => Err(Wrong::new(
            "smb.conf cannot express these answers",
            "choose a folder and names of letters, digits, dots and hyphens",
        )),
    }
}

fn drop_in(answers: &Answers, site: &Site) -> Result<Option<String>, Wrong> {
    let mut lines = Vec::new();
    let writes = answers.writers != Writers::Nobody;
    match (site.unit.effect_on(&answers.folder), writes) {
        (Effect::Home | Effect::HomeReadOnly, true) => {
            lines.push("ProtectHome=no".to_owned());
            lines.push(format!("ReadWritePaths={}", quoted(&answers.folder)));
        }
        (Effect::Home, false) => lines.push("ProtectHome=read-only".into()),
        (Effect::ReadOnly, true) => {
            lines.push(format!("ReadWritePaths={}", quoted(&answers.folder)))
        }
        _ => {}
    }
    let netbeui = match &answers.network {
        Network::Interface(name) if answers.machines.contains(&Machine::Netbeui) => Some(name),
        _ => None,
    };
    if netbeui.is_some() {
        lines.push("AmbientCapabilities=CAP_NET_RAW".into());
        lines.push("CapabilityBoundingSet=CAP_NET_RAW".into());
    }
    let mut options = String::new();
    if let Some(name) = netbeui {
        options.push_str(&format!(" --netbeui {name}"));
    }
    if answers.machines.contains(&Machine::Plaintext) {
        options.push_str(" --allow plaintext");
    }
    if !options.is_empty() {
        let command = format!(
            "/usr/bin/coax serve --config {}{options}",
            site.config.display()
        );
        lines.push("ExecStartPre=".into());
        lines.push(format!("ExecStartPre={command} --check"));
        lines.push("ExecStart=".into());
        lines.push(format!("ExecStart={command}"));
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let text = format!(
        "# Written by 'coax setup'.\n[Service]\n{}\n",
        lines.join("\n")
    );
    permits(answers, site, &text).map(|()| Some(text))
}

/// The unit with the new settings must let the service use the folder.
fn permits(answers: &Answers, site: &Site, text: &str) -> Result<(), Wrong> {
    let unit = site.unit.clone().with("new".into(), text);
    let effect = unit.effect_on(&answers.folder);
    let is_good = match answers.writers {
        Writers::Nobody => matches!(
            effect,
            Effect::None | Effect::ReadOnly | Effect::HomeReadOnly
        ),
        _ => effect == Effect::None,
    };
    match is_good {
        true => Ok(()),
        false => Err(Wrong::new(
            format!(
                "the service's unit keeps {} from it",
                answers.folder.display()
            ),
            "write a folder below /srv, or change the unit: systemctl edit coax",
        )),
    }
}

/// A path in a unit file (systemd.syntax(7)).
fn quoted(path: &Path) -> String {
    let text = path.display().to_string().replace('%', "%%");
    match text.contains(char::is_whitespace) {
        true => format!("\"{text}\""),
        false => text,
    }
}

fn remarks(answers: &Answers, site: &Site, users: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    let has = |machine| answers.machines.contains(&machine);
    if has(Machine::Dos) && !users.is_empty() {
        all.push("LM responses of DOS, Windows 9x and OS/2 can be broken in seconds: use passwords that you use nowhere else".into());
    }
    if has(Machine::Plaintext) && !users.is_empty() {
        all.push("plaintext passwords can be read by everybody on the network".into());
    }
    if answers.writers == Writers::Everybody {
        all.push("everybody on the network can delete and replace files without a password".into());
    }
    if site.drop_in.is_none() {
        let mut command = format!("coax serve --config {}", site.config.display());
        if let (true, Network::Interface(name)) = (has(Machine::Netbeui), &answers.network) {
            command.push_str(&format!(" --netbeui {name}"));
        }
        if has(Machine::Plaintext) {
            command.push_str(" --allow plaintext");
        }
        all.push(format!(
            "no service is installed for this file; to serve: {command}"
        ));
    }
    all
}

#[cfg(test)]
mod tests;
