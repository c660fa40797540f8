//! What an error means, and what to try: asked of the server where it can tell.

use std::{
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use coax_client::{
    Error as SmbError, Unfit,
    profile::{Profile, Proof},
};
use coax_netbios::SessionError;
use coax_wire::{
    codepage::CodePage,
    command,
    dialect::{Dialect, NegotiateShape},
    nbt::session::Refusal,
    status::Status,
};

mod probe;
pub mod waiting;

use crate::digits::size;
use coax_transfer::client::{
    Connection, Error, Location, Options, Via,
    copy::CopyError,
    ops::{is_missing, says},
};

/// How long a look at another port may take.
const GLANCE: Duration = Duration::from_millis(500);
/// Code pages that are looked through for a character.
const PAGES: [u16; 12] = [437, 850, 852, 855, 857, 866, 932, 936, 949, 950, 1252, 1251];

/// The error in words: of a refusal what it means, then the server's own word and what it was the answer to.
pub fn in_words(error: &Error) -> String {
    let Some(SmbError::Refused { command, status }) = error.smb() else {
        return error.to_string();
    };
    let request = command::name(*command).unwrap_or("an unknown request");
    let text = status.to_string();
    match text.rsplit_once(" (") {
        Some((words, code)) => format!(
            "{} ({}, to {request})",
            sentence(words),
            code.trim_end_matches(')')
        ),
        None => text,
    }
}

/// A sentence as part of another: no capital, no full stop.
fn sentence(words: &str) -> String {
    let words = words.trim_end_matches('.');
    let abbreviation = words.chars().nth(1).is_some_and(char::is_uppercase);
    let mut chars = words.chars();
    match chars.next() {
        Some(first) if !abbreviation => first.to_lowercase().chain(chars).collect(),
        _ => words.into(),
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
        Error::Shrunk { .. } | Error::Aside { .. } | Error::System { .. } | Error::Interface(_) => {
            Vec::new()
        }
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
                "port {port} is open; 'coax serve' uses it if it may not bind 445 and 139: try {there}"
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
    match error {
        SmbError::Dialect { .. } => dialects(location, profile, options),
        SmbError::Session(SessionError::PeerRefused(_)) if location.via != Via::Tcp => vec![format!(
            "no station that this interface reaches has the name {}<20>: is it switched on, in the same network segment, \
             and does it use {}?",
            location.host.to_uppercase(),
            match location.via {
                Via::Ipx { .. } => "IPX with this frame type",
                _ => "NetBEUI",
            }
        )],
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
        SmbError::Silent {
            command: command::NEGOTIATE,
            ..
        }
        | SmbError::Session(SessionError::HandshakeTimeout) => {
            vec!["it accepts connections and says nothing: is another service at this port?".into()]
        }
        SmbError::Session(SessionError::Unexpected(byte)) if byte.is_ascii_graphic() => vec![format!(
            "its answer begins with {:?}, as text does: another service, such as a web server, is at this port",
            char::from(*byte)
        )],
        SmbError::Closed {
            waiting: None | Some(command::NEGOTIATE),
        } => unsigned(location).unwrap_or_default(),
        SmbError::Signature {
            command: command::SESSION_SETUP_ANDX,
        } => vec![
            "the password on the server may differ, or somebody alters messages in transit".into(),
            "Samba 4.17 signs this answer wrongly unless the log-on is by extended security: --as modern has that".into(),
        ],
        SmbError::Refused { command, .. } => {
            refused_request(*command, error, location, profile, options)
        }
        _ => Vec::new(),
    }
}

/// There may be no such share, the server may want signatures, or the user may be another.
fn refused_request(
    command: u8,
    error: &SmbError,
    location: &Location,
    profile: &Arc<Profile>,
    options: &Options,
) -> Vec<String> {
    let error = Error::from(error.clone());
    let tree = [command::TREE_CONNECT, command::TREE_CONNECT_ANDX].contains(&command);
    let no_share = [Status::BAD_NETWORK_NAME, Status::BAD_DEVICE_TYPE];
    // A log-on may have the tree connect in its chain.
    if says(&error, &no_share) || tree && is_missing(&error) {
        shares(location, profile, options)
    } else if let Some(hints) = denied_unsigned(&error, location, tree) {
        hints
    } else {
        log_on(location, profile, options, tree)
    }
}

/// Which dialects the server does speak.
fn dialects(location: &Location, profile: &Arc<Profile>, options: &Options) -> Vec<String> {
    let heard = probe::dialects(location, profile, options);
    let names = heard.answers.iter().rev();
    let spoken: Vec<String> = names.map(|dialect| format!("{:?}", dialect.name)).collect();
    let rest = if heard.whole {
        ""
    } else {
        " (asked for older ones, it did not answer in time)"
    };
    match (spoken.is_empty(), heard.whole) {
        (true, true) => vec![
            "it speaks no dialect of SMB1 at all: newer systems have it switched off or removed"
                .into(),
        ],
        (true, false) => vec!["asked for its dialects, it did not answer in time".into()],
        _ => vec![format!(
            "it speaks {}{rest}: --dialect NAME",
            spoken.join(", ")
        )],
    }
}

/// A share that is refused to somebody who was logged on: for want of signatures?
fn denied_unsigned(error: &Error, location: &Location, tree: bool) -> Option<Vec<String>> {
    (tree && says(error, &[Status::ACCESS_DENIED]))
        .then(|| unsigned(location))
        .flatten()
}

/// What to say to somebody whose redirector does not sign, of a server that takes nothing else.
fn unsigned(location: &Location) -> Option<Vec<String>> {
    probe::insists_on_signatures(location).then(|| {
        vec![
            "the server takes signed messages alone, and these were not: dialects before NT LM 0.12 and log-ons by LM \
             responses have no signatures; --as modern without --dialect has them"
                .into(),
        ]
    })
}

/// What the server shares, if it tells.
fn shares(location: &Location, profile: &Arc<Profile>, options: &Options) -> Vec<String> {
    let ipc = location.with_share("IPC$");
    let options = Options {
        service: "IPC",
        ..options.clone()
    };
    let list = coax_transfer::client::open(&ipc, profile, &options).and_then(|mut c| c.shares());
    match list {
        Ok(list) if !list.is_empty() => {
            let shown = list.iter().filter(|share| !share.name.ends_with('$'));
            let names: Vec<&str> = shown.map(|share| share.name.as_str()).collect();
            vec![format!("it shares: {}", names.join(", "))]
        }
        _ => vec!["it does not tell what it shares; look there how the share is called".into()],
    }
}

fn log_on(location: &Location, profile: &Profile, options: &Options, tree: bool) -> Vec<String> {
    let Some(user) = &location.user else {
        return vec![format!(
            "it takes no guests here: write smb://USER@{}/{}",
            location.host, location.share
        )];
    };
    let dialect = options
        .dialect
        .and_then(|name| Dialect::by_name(name.as_bytes()));
    if tree && dialect.is_some_and(|dialect| dialect.shape == NegotiateShape::Core) {
        return vec![format!(
            "{} has no user accounts: the share must allow guests or have a share password",
            options.dialect.unwrap_or_default()
        )];
    }
    if tree {
        return vec![format!(
            "{user} may not use this share; ask the administrator of the server"
        )];
    }
    let old = dialect.is_some_and(|dialect| !dialect.is_nt());
    let proof = if *profile.logon.proof == Proof::Ntlmv2 && !old {
        "NTLMv2, which servers before NT 4.0 SP4 and some appliances do not know: --as windows-98 sends the older responses"
    } else {
        "an old response, which servers refuse unless they are configured to accept it ('coax serve' by --allow lm, Samba by \
         'lanman auth' and 'ntlm auth'): --as modern without --dialect sends NTLMv2"
    };
    vec![
        "check user and password; upper and lower case count from NT on".into(),
        format!("this profile sends {proof}"),
    ]
}

fn unfit_hints(unfit: &Unfit) -> Vec<String> {
    match unfit {
        Unfit::Plaintext => {
            vec!["--allow-weak sends it in clear text: an eavesdropper can read it".into()]
        }
        Unfit::WeakProof(_) => vec![
            "--allow-weak sends it: an eavesdropper can soon find the password".into(),
            "without --dialect, or with a newer one, a better proof may be agreed on".into(),
        ],
        Unfit::GuestCannotSign => vec!["log on as a user: smb://USER@HOST/SHARE".into()],
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
        Unfit::TooLarge(_) => vec![
            "--as modern without --dialect has 64 bits, if the server supports NT LM 0.12".into(),
        ],
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
            size(space.free),
            size(space.total)
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
        vec![format!("the folder {folder:?} does not exist")]
    }
}

fn rights(connection: &Connection, place: &Location) -> Vec<String> {
    let unsigned = if connection.link().signed {
        None
    } else {
        unsigned(place)
    };
    if let Some(hints) = unsigned {
        return hints;
    }
    if connection.link().guest || place.user.is_none() {
        vec![format!(
            "the server took you for a guest: log on with smb://USER@{}/{}, or let guests write there. On 'coax serve' that \
             takes --guest rw and a folder that its own user may write; its log names the reason",
            place.host, place.share
        )]
    } else {
        vec!["the file or the share may be read-only, or this user may not write here; the server's log may tell".into()]
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
    Some(format!("{} are in {}: {how}", size(kept.bytes), kept.at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use coax_wire::status::reply::ReplyStatus;

    #[test]
    fn a_refusal_says_what_it_means_and_the_servers_own_word() {
        let words = |field, nt| {
            in_words(&Error::from(SmbError::Refused {
                command: command::RENAME,
                status: ReplyStatus { field, nt },
            }))
        };
        let nt = words(0xc000_0035, true);
        assert!(
            nt.ends_with(" (STATUS_OBJECT_NAME_COLLISION, 0xc0000035, to RENAME)"),
            "{nt}"
        );
        let dos = words(0x0005_0001, false);
        assert!(dos.ends_with(", ERRDOS/5, to RENAME)"), "{dos}");
        assert!(
            nt.starts_with(char::is_lowercase) && !nt.contains(". ("),
            "{nt}"
        );
    }

    #[test]
    fn a_character_that_a_code_page_lacks_is_looked_for_in_others() {
        let unfit = Unfit::Unmappable {
            name: "\u{30c6}".into(),
            character: '\u{30c6}',
            page: 850,
        };
        let hints = unfit_hints(&unfit);
        assert!(hints.iter().any(|hint| hint.contains("932")), "{hints:?}");
    }
}
