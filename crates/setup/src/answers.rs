//! The four answers, each judged as soon as it is given.

use std::path::{Path, PathBuf};

use coax_doctor::{
    access::{Account, EXECUTE, READ, WRITE, may},
    gather,
    unit::Effect,
};
use coax_serve::users::check_name;
use coax_smbconf::hosts::HostList;

use crate::{Wrong, site::Site};

/// All answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The folder to share.
    pub folder: PathBuf,
    /// Who may write.
    pub writers: Writers,
    /// Machines that will connect.
    pub machines: Vec<Machine>,
    /// Where they are.
    pub network: Network,
    /// The share's name.
    pub share: String,
    /// The server's name; `None`: this machine's.
    pub name: Option<String>,
    /// The workgroup.
    pub workgroup: String,
    /// Nobody may read without a password.
    pub no_guests: bool,
}

/// Who may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writers {
    /// Everybody reads.
    Nobody,
    /// Everybody reads and writes.
    Everybody,
    /// These users, with passwords.
    Users(Vec<String>),
}

/// A kind of machines, by what the server must accept from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// They send LM responses.
    Dos,
    /// They send NTLM responses.
    Nt,
    /// They send passwords as plain text.
    Plaintext,
    /// They have no TCP/IP.
    Netbeui,
}

impl Machine {
    /// Every kind, with its name and what it stands for.
    pub const ALL: [(Self, &'static str, &'static str); 4] = [
        (
            Self::Dos,
            "dos",
            "DOS, Windows for Workgroups, 95, 98, Me, OS/2",
        ),
        (
            Self::Nt,
            "nt",
            "Windows NT, 2000, XP, consoles, scanners, Linux",
        ),
        (
            Self::Plaintext,
            "plaintext",
            "the oldest programs, which send passwords as plain text",
        ),
        (Self::Netbeui, "netbeui", "machines without TCP/IP"),
    ];
    /// Without an answer: all that have TCP/IP and can keep a password.
    pub const DEFAULT: &'static str = "dos,nt";
}

/// Where the machines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// On any network of this machine.
    All,
    /// Behind this interface.
    Interface(String),
    /// In this network, such as `192.168.1.0/24`.
    Range(String),
}

/// Reads who may write: `nobody`, `everybody`, or users.
///
/// # Errors
/// A name that no user can have.
pub fn writers(text: &str) -> Result<Writers, Wrong> {
    let words = words(text);
    match words.as_slice() {
        [] => Err(Wrong::new(
            "nobody is named",
            "write nobody, everybody, or user names: anna,bob",
        )),
        ["nobody"] => Ok(Writers::Nobody),
        ["everybody"] => Ok(Writers::Everybody),
        names => {
            let mut users: Vec<String> = Vec::new();
            for name in names {
                user(name)?;
                if !users.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    users.push((*name).to_owned());
                }
            }
            Ok(Writers::Users(users))
        }
    }
}

fn user(name: &str) -> Result<(), Wrong> {
    let help = "write nobody, everybody, or user names: anna,bob";
    if matches!(name, "nobody" | "everybody") {
        return Err(Wrong::new(format!("'{name}' stands alone"), help));
    }
    // smb.conf has lists with quotes, and @ and + for groups
    let is_odd = |c: char| matches!(c, '"' | '\'' | '@' | '+' | '&' | '%' | '\\');
    match check_name(name) {
        Ok(()) if !name.contains(is_odd) => Ok(()),
        Ok(()) => Err(Wrong::new(
            format!("'{name}' cannot be a user name here"),
            "write it with letters and digits",
        )),
        Err(why) => Err(Wrong::new(why, help)),
    }
}

/// Reads which machines will connect.
///
/// # Errors
/// A kind that does not exist.
pub fn machines(text: &str) -> Result<Vec<Machine>, Wrong> {
    let mut all = Vec::new();
    for word in words(text) {
        let mut kinds = Machine::ALL.iter();
        let Some((kind, _, _)) = kinds.find(|(_, name, _)| name.eq_ignore_ascii_case(word)) else {
            return Err(Wrong::new(
                format!("'{word}' is not a kind of machine"),
                format!("write one or more of {}", kinds_listed()),
            ));
        };
        if !all.contains(kind) {
            all.push(*kind);
        }
    }
    match all.is_empty() {
        true => Err(Wrong::new(
            "no machine is named",
            format!("write one or more of {}", kinds_listed()),
        )),
        false => Ok(all),
    }
}

fn kinds_listed() -> String {
    Machine::ALL.map(|(_, name, _)| name).join(", ")
}

/// Reads where the machines are: `all`, an interface, or a network.
///
/// # Errors
/// This machine has no such interface or network.
pub fn network(text: &str, machines: &[Machine], site: &Site) -> Result<Network, Wrong> {
    let text = text.trim();
    let named = site
        .interfaces
        .iter()
        .find(|interface| interface.name == text);
    let netbeui = machines.contains(&Machine::Netbeui);
    match named {
        None if netbeui => Err(Wrong::new(
            "machines without TCP/IP need one interface",
            interfaces_listed(site),
        )),
        None if text.eq_ignore_ascii_case("all") => Ok(Network::All),
        Some(interface) if interface.loopback => Err(Wrong::new(
            format!("only this machine can connect to {text}"),
            interfaces_listed(site),
        )),
        Some(interface) if netbeui && !interface.ethernet => Err(Wrong::new(
            format!("{text} is no Ethernet interface, and NetBEUI needs one"),
            interfaces_listed(site),
        )),
        Some(interface) if interface.addresses.is_empty() && !netbeui => Err(Wrong::new(
            format!("{text} has no IPv4 address"),
            format!("give it one: sudo ip addr add 192.168.1.5/24 broadcast + dev {text}"),
        )),
        Some(_) => Ok(Network::Interface(text.to_owned())),
        None => range(text, site),
    }
}

fn range(text: &str, site: &Site) -> Result<Network, Wrong> {
    let list = HostList::parse(text)
        .ok()
        .filter(|_| text.contains('/') && !text.contains(char::is_whitespace));
    let Some(list) = list else {
        let what = format!("'{text}' is not an interface or network of this machine");
        return Err(Wrong::new(what, interfaces_listed(site)));
    };
    let mut own = site
        .interfaces
        .iter()
        .filter(|i| !i.loopback)
        .flat_map(|i| &i.addresses);
    match own.any(|address| list.contains(address.network.address.into())) {
        true => Ok(Network::Range(text.to_owned())),
        false => Err(Wrong::new(
            format!("this machine has no address in {text}"),
            interfaces_listed(site),
        )),
    }
}

/// What may be answered to the question about the network.
pub fn interfaces_listed(site: &Site) -> String {
    let usable = site.interfaces.iter().filter(|i| !i.loopback && i.up);
    let one = |interface: &coax_doctor::facts::Interface| {
        let addresses = interface.addresses.iter();
        let addresses: Vec<String> = addresses
            .map(|a| format!("{}/{}", a.network.address, a.network.prefix))
            .collect();
        match addresses.is_empty() {
            true => interface.name.clone(),
            false => format!("{} ({})", interface.name, addresses.join(", ")),
        }
    };
    let all: Vec<String> = usable.map(one).collect();
    format!("write all, or one of {}", all.join(", "))
}

/// Reads the folder to share. It need not exist.
///
/// # Errors
/// It cannot be shared, or the account that serves may not read it.
pub fn folder(text: &str, site: &Site) -> Result<PathBuf, Wrong> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Wrong::new(
            "no folder is named",
            "write a path, as /srv/coax",
        ));
    }
    let is_odd = |c: char| c.is_control() || matches!(c, '"' | '\\');
    if text.contains(is_odd) {
        return Err(Wrong::new(
            format!("'{}' cannot stand in smb.conf", text.escape_debug()),
            "share a folder whose path has no quotes, backslashes or control characters",
        ));
    }
    let path = absolute(Path::new(text))?;
    if path.parent().is_none() {
        return Err(Wrong::new(
            "the whole disk would be shared",
            "write a folder below /",
        ));
    }
    let forbidden = ["/proc", "/sys", "/dev", "/etc", "/boot"];
    if let Some(known) = forbidden.iter().find(|known| path.starts_with(known)) {
        return Err(Wrong::new(
            format!("{known} belongs to the system"),
            "write a folder below /srv or /home",
        ));
    }
    match std::fs::metadata(&path) {
        Ok(found) if !found.is_dir() => {
            return Err(Wrong::new(
                format!("{} is a file", path.display()),
                "write a folder",
            ));
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Wrong::new(
                format!("cannot look at {}: {error}", path.display()),
                "run coax setup with sudo",
            ));
        }
        _ => {}
    }
    if site.drop_in.is_some()
        && matches!(
            site.unit.effect_on(&path),
            Effect::Temporary | Effect::Hidden
        )
    {
        return Err(Wrong::new(
            format!(
                "the service cannot see {}: its unit hides it",
                path.display()
            ),
            "write a folder below /srv",
        ));
    }
    readable(&path, site)?;
    Ok(path)
}

/// The path from the root, symbolic links resolved as far as it exists.
fn absolute(path: &Path) -> Result<PathBuf, Wrong> {
    let wrong = |error: std::io::Error| Wrong::new(error.to_string(), "write a path, as /srv/coax");
    let path = std::path::absolute(path).map_err(wrong)?;
    if path
        .components()
        .any(|part| part == std::path::Component::ParentDir)
    {
        let what = format!("{} is not a plain path", path.display());
        return path
            .canonicalize()
            .map_err(|_| Wrong::new(what, "write it without '..'"));
    }
    let mut known = path.ancestors();
    let real = known.find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    Ok(match real {
        Some((folder, real)) => match path.strip_prefix(folder) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => path,
        },
        None => path,
    })
}

/// Whether the account that serves may pass the folders above, and read the folder if it exists.
fn readable(path: &Path, site: &Site) -> Result<(), Wrong> {
    let Some(account) = &site.account else {
        return Ok(());
    };
    let Account { name, .. } = account;
    let way = gather::way(path);
    for (folder, owned) in &way {
        let is_it = folder == path;
        let wanted = if is_it { READ | EXECUTE } else { EXECUTE };
        if !may(account, owned, wanted) {
            let shown = folder.display();
            let (what, right) = match is_it {
                true => (
                    format!("the service's user {name} may not read {shown}"),
                    "rX",
                ),
                false => (
                    format!("the service's user {name} may not pass {shown}"),
                    "x",
                ),
            };
            return Err(Wrong::new(
                what,
                format!("sudo setfacl -m u:{name}:{right} '{shown}', or write a folder below /srv"),
            ));
        }
    }
    Ok(())
}

/// Whether writers can write: the account that serves needs the right.
///
/// # Errors
/// It lacks it.
pub fn writable(path: &Path, writers: &Writers, site: &Site) -> Result<(), Wrong> {
    if *writers == Writers::Nobody || !path.exists() {
        return Ok(());
    }
    if let Some(mount) = gather::mount_point(path)
        && mount.options.iter().any(|option| option == "ro")
    {
        return Err(Wrong::new(
            format!(
                "{} is on a file system that is mounted read-only",
                path.display()
            ),
            "write nobody, or remount it: sudo mount -o remount,rw …",
        ));
    }
    let shown = path.display();
    let way = gather::way(path);
    let denied = match (&site.account, way.last()) {
        (Some(account), Some((_, owned))) if !may(account, owned, WRITE | EXECUTE) => {
            Some(account.name.clone())
        }
        (None, _) if !may_write_ourselves(path) => Some("that runs this".to_owned()),
        _ => None,
    };
    match denied {
        None => Ok(()),
        Some(name) => Err(Wrong::new(
            format!("nobody can write in {shown}: the user {name} may not"),
            format!("sudo setfacl -R -m u:{name}:rwX -m d:u:{name}:rwX '{shown}', or write nobody"),
        )),
    }
}

fn may_write_ourselves(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    accessat(
        CWD,
        path,
        Access::WRITE_OK | Access::EXEC_OK,
        AtFlags::EACCESS,
    )
    .is_ok()
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split([',', ' ', '\t']);
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests;
