//! Messages between users (WinPopup, NET SEND): each becomes an event, and `message command` runs for it.
//!
//! The text reaches the command in a file only. Names reach the shell as single words, as with print commands.

use std::{net::IpAddr, path::PathBuf};

use coax_netbios::{Network, ReceivedMessage};
use coax_server::message::lines;
use coax_smbconf::macros::{MacroValues, expand_command, one_word};

use super::{
    commands::{Order, TextFile},
    host::Host,
    report::Line,
};

/// The longest name in an event, characters.
const MAX_NAME_LEN: usize = 64;

/// A message that a client or a station sent.
#[derive(Debug)]
pub(super) struct UserMessage<'a> {
    /// The client's number, if it came in a session.
    pub(super) client: Option<u64>,
    /// The sender's address.
    pub(super) address: String,
    /// The sender's name.
    pub(super) from: &'a str,
    /// The recipient's name.
    pub(super) to: &'a str,
    /// The text.
    pub(super) text: &'a str,
    /// The values of the command's other macros.
    pub(super) values: MacroValues<'a>,
}

/// Reports a message, and queues the command for it.
pub(super) fn receive(host: &Host, message: &UserMessage<'_>) {
    host.reporter.tell(Line::UserMessage {
        client: message.client,
        address: message.address.clone(),
        from: message.from.into(),
        to: message.to.into(),
        text: message.text.into(),
    });
    let settings = host.settings();
    let command = &settings.global.netbios.message_command;
    if command.is_empty() {
        return;
    }
    let file = host.printing.message_files().next();
    let order = order(command, file, message);
    if let Err(why) = host.printing.queue_message(order) {
        let why = format!("the message command did not run: {why}");
        host.reporter.notice_repeated(why);
    }
}

/// Reports a message that came in a datagram, unless its sender sends too many.
pub(super) fn receive_datagram(
    host: &Host,
    network: Network,
    received: &ReceivedMessage<std::net::SocketAddrV4>,
) {
    let (server, now) = (host.server(), host.clock.now());
    let address = *received.from.ip();
    let sender = address.to_string();
    if !server.locked(|tables| tables.admit_message(now, &sender)) {
        return;
    }
    let page = server.config.code_page;
    let decoded = |bytes: &[u8]| page.decode(bytes).into_owned();
    let name = |bytes: &[u8]| -> String {
        let name = decoded(bytes);
        name.trim().chars().take(MAX_NAME_LEN).collect()
    };
    let settings = host.settings();
    let machine = decoded(received.source.characters());
    let message = UserMessage {
        client: None,
        address: sender,
        from: &name(&received.message.from),
        to: &name(&received.message.to),
        text: &lines(&decoded(&received.message.text)),
        values: MacroValues {
            client_name: &machine,
            addresses: Some((IpAddr::V4(address), IpAddr::V4(network.address))),
            host_name: &settings.global.netbios_name,
            workgroup: &settings.global.workgroup,
            ..MacroValues::default()
        },
    };
    receive(host, &message);
}

/// The command with its macros expanded: those of a message are `%s` (the file with its text), `%f` (the sender) and
/// `%t` (the recipient).
fn order(command: &str, path: PathBuf, message: &UserMessage<'_>) -> Order {
    let (from, to) = (one_word(message.from), one_word(message.to));
    let path = path.display().to_string();
    let further = [('s', path.as_str()), ('f', &from), ('t', &to)];
    let values = MacroValues {
        further: &further,
        ..message.values.clone()
    };
    let mut text = message.text.to_owned();
    text.push('\n');
    Order {
        line: expand_command(command, &values),
        folder: "/".into(),
        file: Some(TextFile { path, text }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{
        commands::Runner,
        message_files::{FILES, MessageFiles},
    };

    fn message<'a>(from: &'a str, text: &'a str) -> UserMessage<'a> {
        UserMessage {
            client: Some(3),
            address: "10.0.0.9".into(),
            from,
            to: "TOWER",
            text,
            values: MacroValues {
                client_name: "$(touch owned)",
                ..MacroValues::default()
            },
        }
    }

    #[test]
    fn the_command_gets_the_text_in_a_private_file_and_names_as_harmless_words() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let files = MessageFiles::within(folder.path().join("messages"));
        let out = folder.path().join("out");
        let command = format!("cat %s > {0}; echo %f %t %m >> {0}", out.display());
        let message = message("`rm -rf x`;", "tea?\n$(touch owned)");
        let path = files.next();
        Runner::Here
            .run(&order(&command, path.clone(), &message))
            .unwrap();
        assert_eq!(
            std::fs::read_to_string(&out).unwrap(),
            "tea?\n$(touch owned)\n_rm_-rf_x__ TOWER __touch_owned_\n"
        );
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn the_oldest_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let files = MessageFiles::within(folder.path().join("messages"));
        for number in 0..FILES + 3 {
            let text = number.to_string();
            let order = order("true", files.next(), &message("JIM", &text));
            Runner::Here.run(&order).unwrap();
        }
        let kept = std::fs::read_dir(folder.path().join("messages"))
            .unwrap()
            .count();
        assert_eq!(kept as u64, FILES);
        let second = std::fs::read_to_string(folder.path().join("messages/02.txt")).unwrap();
        assert_eq!(second, format!("{}\n", FILES + 2));
    }
}
