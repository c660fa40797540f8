//! What an error means, and what to try: asked of the server where it can tell.

use std::{
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use coax_client::{Error as SmbError, Unfit, profile::Profile};
use coax_netbios::SessionError;
use coax_wire::{
    codepage::CodePage, command, dialect::DIALECTS, nbt::session::Refusal, status::Status,
};

use super::text;
use crate::client::{
    Connection, Error, Location, Options,
    copy::CopyError,
    ops::{is_missing, says},
};

/// How long a look at another port may take.
const GLANCE: Duration = Duration::from_millis(500);
/// Code pages that are looked through for a character.
const PAGES: [u16; 12] = [437, 850, 852, 855, 857, 866, 932, 936, 949, 950, 1252, 1251];

/// The error in words: the server's status with its name, a refused request by what it was for.
pub fn in_words(error: &Error) -> String {
    match error.smb() {
        Some(SmbError::Refused { command, status }) => {
            let request = command::name(*command).unwrap_or("an unknown request");
            format!(
                "{} (the server answers {request} with {})",
                status.words().trim_end_matches('.').to_lowercase_first(),
                status
            )
        }
        _ => error.to_string(),
    }
}

trait LowercaseFirst {
    fn to_lowercase_first(&self) -> String;
}

impl LowercaseFirst for str {
    fn to_lowercase_first(&self) -> String {
        let mut chars = self.chars();
        let second_is_upper = self.chars().nth(1).is_some_and(char::is_uppercase);
        match chars.next() {
            Some(first) if !second_is_upper => first.to_lowercase().chain(chars).collect(),
            _ => self.into(),
        }
    }
}

/// What to try when the share could not be connected.
pub fn connecting(
    error: &Error,
    location: &Location,
    profile: &Arc<Profile>,
    options: &Options,
) -> Vec<String> {
    match error {
        Error::Unknown { host, .. } => vec![format!(
            "if {host} is a NetBIOS name, ask for its address ('nmblookup {host}') and write smb://ADDRESS/{} --called {host}",
            location.share
        )],
        Error::Unreachable { attempts, .. } => {
            let refused = attempts
                .iter()
                .any(|a| a.error.kind() == std::io::ErrorKind::ConnectionRefused);
            unreachable(location, refused)
        }
        Error::Smb(error) => refused(error, location, profile, options),
        Error::Shrunk { .. } | Error::System { .. } => Vec::new(),
    }
}

fn unreachable(location: &Location, refused: bool) -> Vec<String> {
    let mut hints = Vec::new();
    for port in [1445, 1139] {
        if location.port != Some(port) && listens(&location.host, port) {
            let there = Location {
                port: Some(port),
                ..location.clone()
            };
            hints.push(format!(
                "something listens at port {port}, where 'coax serve' goes without the right to 445 and 139: try {there}"
            ));
        }
    }
    if hints.is_empty() && refused {
        hints.push("the machine is there, but nothing listens: is file sharing switched on, and bound to TCP/IP?".into());
    } else if hints.is_empty() {
        hints.push("is it switched on, is the address right, is a firewall in between?".into());
    }
    hints
}

fn listens(host: &str, port: u16) -> bool {
    let addresses = (host, port).to_socket_addrs();
    addresses.is_ok_and(|mut list| {
        list.any(|address: SocketAddr| TcpStream::connect_timeout(&address, GLANCE).is_ok())
    })
}

fn refused(
    error: &SmbError,
    location: &Location,
    profile: &Arc<Profile>,
    options: &Options,
) -> Vec<String> {
    let wrapped = Error::from(error.clone());
    match error {
        SmbError::Dialect { .. } => dialects(location, profile, options),
        SmbError::Session(SessionError::PeerRefused(
            Refusal::CalledNameNotPresent | Refusal::NotListeningOnCalledName,
        )) => vec![
            "on port 139 a server must be called by its NetBIOS name: --called NAME".into(),
            format!(
                "'nmblookup -A {0}', or 'NBTSTAT -A {0}' on Windows, tells its name (the one with <20>)",
                location.host
            ),
        ],
        SmbError::Unfit(unfit) => unfit_hints(unfit),
        SmbError::Refused { command, .. } => {
            let tree = [command::TREE_CONNECT, command::TREE_CONNECT_ANDX].contains(command);
            let no_share = [Status::BAD_NETWORK_NAME, Status::BAD_DEVICE_TYPE];
            if tree && says(&wrapped, &no_share) {
                shares(location, profile, options)
            } else {
                log_on(location, profile, tree)
            }
        }
        _ => Vec::new(),
    }
}

/// Which dialects the server does speak.
fn dialects(location: &Location, profile: &Arc<Profile>, options: &Options) -> Vec<String> {
    let guest = Location {
        user: None,
        password: None,
        ..location.clone()
    };
    let spoken: Vec<String> = DIALECTS
        .iter()
        .filter(|dialect| {
            let options = Options {
                dialect: Some(dialect.name),
                ..options.clone()
            };
            match Connection::open(&guest, profile, &options) {
                // Whatever else is wrong, the dialect was taken.
                Err(error) => matches!(
                    error.smb(),
                    Some(SmbError::Refused { .. } | SmbError::Unfit(_))
                ),
                Ok(_) => true,
            }
        })
        .map(|dialect| format!("{:?}", dialect.name))
        .collect();
    if spoken.is_empty() {
        return vec![
            "it speaks no dialect of SMB1 at all: newer systems have it switched off or removed"
                .into(),
        ];
    }
    vec![format!("it speaks {}: --dialect NAME", spoken.join(", "))]
}

/// What the server shares, if it tells.
fn shares(location: &Location, profile: &Arc<Profile>, options: &Options) -> Vec<String> {
    let ipc = location.with_share("IPC$");
    let options = Options {
        service: "IPC",
        ..options.clone()
    };
    let list = Connection::open(&ipc, profile, &options).and_then(|mut c| c.shares());
    match list {
        Ok(list) if !list.is_empty() => {
            let shown = list.iter().filter(|share| !share.name.ends_with('$'));
            let names: Vec<&str> = shown.map(|share| share.name.as_str()).collect();
            vec![format!("it shares: {}", names.join(", "))]
        }
        _ => vec!["it does not tell what it shares; look there how the share is called".into()],
    }
}

fn log_on(location: &Location, profile: &Profile, tree: bool) -> Vec<String> {
    let Some(user) = &location.user else {
        return vec![format!(
            "it takes no guests here: write smb://USER@{}/{}",
            location.host, location.share
        )];
    };
    if tree {
        return vec![format!(
            "{user} may not use this share; ask whoever runs the server"
        )];
    }
    let proof = match *profile.logon.proof {
        coax_client::profile::Proof::Ntlmv2 => {
            "NTLMv2, which servers before NT 4.0 SP4 and some appliances do not know: --as windows-98 sends what they knew"
        }
        _ => "an old way, which newer servers refuse: --as modern sends NTLMv2",
    };
    vec![
        "check user and password; upper and lower case count from NT on".into(),
        format!("{} proves the password by {proof}", profile.name),
    ]
}

fn unfit_hints(unfit: &Unfit) -> Vec<String> {
    match unfit {
        Unfit::Plaintext => {
            vec!["--allow-weak sends it in clear text: anybody on the cable can read it".into()]
        }
        Unfit::WeakProof(_) => vec![
            "--allow-weak sends it: who listens on the cable has the password within hours".into(),
            "without --dialect, or with a newer one, a better proof may be agreed on".into(),
        ],
        Unfit::GuestCannotSign => vec!["log on as somebody: smb://USER@HOST/SHARE".into()],
        Unfit::Unmappable {
            character, page, ..
        } => {
            let others: Vec<String> = PAGES
                .iter()
                .filter(|number| **number != *page)
                .filter(|number| {
                    CodePage::from_number(**number).is_some_and(|page| page.maps(*character))
                })
                .map(ToString::to_string)
                .collect();
            if others.is_empty() {
                vec!["no code page of the time has this character: rename the file".into()]
            } else {
                vec![format!(
                    "{character:?} is in code pages {}: --code-page N, if the server has that one too",
                    others.join(", ")
                )]
            }
        }
        Unfit::Beyond(..) => vec!["without --dialect a newer one may be agreed on".into()],
        Unfit::NoRoom { .. } => vec!["a shorter path, or another profile (--as), may fit".into()],
    }
}

/// What to try when an operation failed.
pub fn working(error: &Error, place: &Location, connection: &mut Connection) -> Vec<String> {
    let Some(smb) = error.smb() else {
        return Vec::new();
    };
    if let SmbError::Unfit(unfit) = smb {
        return unfit_hints(unfit);
    }
    if matches!(smb, SmbError::NoRoomLeft { .. }) || says(error, &[Status::DISK_FULL]) {
        return disk_full(connection);
    }
    if is_missing(error) {
        return missing(place, connection);
    }
    let by = |status| says(error, &[status]);
    if by(Status::ACCESS_DENIED) || by(Status::MEDIA_WRITE_PROTECTED) {
        return rights(connection, place);
    }
    if by(Status::SHARING_VIOLATION) {
        return vec!["another program has the file open; try again when it is closed".into()];
    }
    if by(Status::DIRECTORY_NOT_EMPTY) {
        return vec![format!(
            "'coax rm -r {place}' removes a folder with all that is in it"
        )];
    }
    Vec::new()
}

fn disk_full(connection: &mut Connection) -> Vec<String> {
    let space = if connection.is_over() {
        None
    } else {
        connection.disk_space().ok()
    };
    vec![match space {
        Some(space) => format!(
            "the server has {} free of {}",
            text::size(space.free),
            text::size(space.total)
        ),
        None => "make room on the server".into(),
    }]
}

/// How far the path exists.
fn missing(place: &Location, connection: &mut Connection) -> Vec<String> {
    let folder = place.folder();
    let there = !connection.is_over()
        && connection
            .find(folder)
            .is_ok_and(|stat| stat.is_some_and(|stat| stat.is_directory()));
    let parent = place.with_path(folder);
    if there {
        vec![format!("'coax ls {parent}' shows what is there")]
    } else {
        vec![format!("there is no folder {folder:?} either")]
    }
}

fn rights(connection: &Connection, place: &Location) -> Vec<String> {
    if connection.link().guest || place.user.is_none() {
        vec![format!(
            "you are connected as a guest: log on with smb://USER@{}/{}",
            place.host, place.share
        )]
    } else {
        vec!["the file may be read-only, or this user may not write here".into()]
    }
}

/// What was kept of a copy that broke off.
pub fn kept(error: &CopyError) -> Option<String> {
    let kept = error.kept.as_ref()?;
    let how = if kept.goes_on {
        "the same command goes on from there"
    } else {
        "the same command with --resume goes on from there"
    };
    Some(format!(
        "{} are in {}: {how}",
        text::size(kept.bytes),
        kept.at
    ))
}
