//! Sends messages to users, machines and workgroups (NET SEND, WinPopup).
//!
//! A machine or user is called in a session to its name with the suffix 03, so that the sender learns whether the message
//! arrived. A workgroup gets a datagram to its mailslot, which nobody confirms.

mod datagram;
mod failure;
mod options;
mod recipient;
mod session;
mod text;

pub use failure::MessageFailure;
pub use options::{MessageMethod, MessageOptions};

use std::net::{IpAddr, SocketAddr};

use coax_client::UserMessage;
use coax_netbios::{Network, Route};
use coax_wire::{
    messenger::MessengerMessage,
    nbt::name::{NbName, SUFFIX_MESSENGER, SUFFIX_WORKSTATION},
    smb::message::MAX_TEXT_LEN,
};

use crate::names::networks;
use recipient::Recipient;
use text::fit;

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// How.
    pub method: MessageMethod,
    /// The NetBIOS name that it was sent to.
    pub name: NbName,
    /// Where it was sent to: the machine, or the networks' broadcast addresses.
    pub addresses: Vec<IpAddr>,
    /// Bytes of text.
    pub bytes: usize,
    /// Characters at the end that did not fit.
    pub cut: usize,
    /// Characters that the code page lacks, sent as `_`.
    pub replaced: usize,
    /// What to know about how the name was found.
    pub notes: Vec<String>,
}

/// Sends `text` to a machine, a user, a workgroup or an IPv4 address.
///
/// # Errors
/// See [`MessageFailure`].
pub fn send_message(
    to: &str,
    text: &str,
    options: &MessageOptions,
) -> Result<SentMessage, MessageFailure> {
    let from = sender(options)?;
    let (recipient, notes) = Recipient::find(to, options)?;
    let is_group = matches!(recipient, Recipient::Group { .. });
    let method = options.method.unwrap_or(match is_group {
        true => MessageMethod::Mailslot,
        false => MessageMethod::Session,
    });
    let sent = match (method, recipient) {
        (MessageMethod::Session, Recipient::Group { name }) => {
            return Err(MessageFailure::GroupSession { name });
        }
        (MessageMethod::Session, Recipient::Machine { name, addresses }) => {
            if name.suffix() != SUFFIX_MESSENGER {
                let address = addresses.first().copied();
                return Err(MessageFailure::NoMessenger { name, address });
            }
            in_session(from, name, &addresses, text, options)?
        }
        (MessageMethod::Mailslot, recipient) => in_mailslot(from, recipient, text, options)?,
    };
    Ok(SentMessage { notes, ..sent })
}

/// The sender's NetBIOS name.
fn sender(options: &MessageOptions) -> Result<NbName, MessageFailure> {
    let Some(from) = &options.from else {
        return Ok(crate::client::own_name());
    };
    let bytes = options.code_page.encode_lossy(&from.to_uppercase());
    let wrong = |error: coax_wire::nbt::name::NameError| MessageFailure::BadName {
        name: from.clone(),
        why: error.to_string(),
    };
    NbName::new(&bytes, SUFFIX_WORKSTATION).map_err(wrong)
}

fn in_session(
    from: NbName,
    name: NbName,
    addresses: &[IpAddr],
    text: &str,
    options: &MessageOptions,
) -> Result<SentMessage, MessageFailure> {
    let fitted = fit(text, options.code_page, MAX_TEXT_LEN);
    let message = UserMessage {
        from: from.characters().to_vec(),
        to: name.characters().to_vec(),
        text: fitted.bytes,
    };
    let bytes = message.text.len();
    let places = addresses.iter();
    let places: Vec<SocketAddr> = places
        .map(|address| SocketAddr::new(*address, options.port))
        .collect();
    let names = (name, from.with_suffix(SUFFIX_WORKSTATION));
    let reached = session::send(&places, names, &options.resolver.scope, message)?;
    Ok(SentMessage {
        method: MessageMethod::Session,
        name,
        addresses: vec![reached.ip()],
        bytes,
        cut: fitted.cut,
        replaced: fitted.replaced,
        notes: Vec::new(),
    })
}

fn in_mailslot(
    from: NbName,
    recipient: Recipient,
    text: &str,
    options: &MessageOptions,
) -> Result<SentMessage, MessageFailure> {
    let (name, machine) = match recipient {
        Recipient::Group { name } => (name, None),
        Recipient::Machine { name, addresses } => {
            let v4 = addresses.iter().find_map(|address| match address {
                IpAddr::V4(address) => Some(*address),
                IpAddr::V6(_) => None,
            });
            (name, Some(v4.ok_or(MessageFailure::NoIpv4 { name })?))
        }
    };
    let (sender, to) = (from.characters(), name.characters());
    let fitted = fit(text, options.code_page, MessengerMessage::room(sender, to));
    let message = MessengerMessage {
        from: sender.to_vec(),
        to: to.to_vec(),
        text: fitted.bytes,
    };
    let bytes = message.text.len();
    let outgoing = |route| {
        let destination = (name, machine.is_none());
        coax_netbios::message_datagram(from, destination, route, &message)
    };
    let addresses = match machine {
        Some(address) => {
            let to = std::net::SocketAddrV4::new(address, options.datagram_port);
            datagram::send_to_station(&outgoing(Route::Station(to)), to, &options.resolver.scope)?;
            vec![IpAddr::V4(address)]
        }
        None => {
            let targets = targets(options);
            let outgoing = outgoing(Route::Everybody);
            let sent = datagram::broadcast(&outgoing, &targets, options);
            sent?.into_iter().map(IpAddr::V4).collect()
        }
    };
    Ok(SentMessage {
        method: MessageMethod::Mailslot,
        name,
        addresses,
        bytes,
        cut: fitted.cut,
        replaced: fitted.replaced,
        notes: Vec::new(),
    })
}

/// The networks that a workgroup's message goes to, each with its broadcast address.
fn targets(options: &MessageOptions) -> Vec<(Network, std::net::Ipv4Addr)> {
    let networks = networks();
    let given = &options.resolver.broadcasts;
    if given.is_empty() {
        let all = networks.into_iter();
        return all.map(|network| (network, network.broadcast())).collect();
    }
    let of = |address: std::net::Ipv4Addr| {
        let mut known = networks.iter();
        let own = known.find(|network| network.contains(address)).copied();
        let any = Network {
            address: std::net::Ipv4Addr::UNSPECIFIED,
            prefix: 0,
        };
        (own.unwrap_or(any), address)
    };
    given.iter().map(|address| of(*address)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn options(port: u16) -> MessageOptions {
        MessageOptions {
            port,
            from: Some("Jim".into()),
            ..MessageOptions::default()
        }
    }

    #[test]
    fn a_machine_that_does_not_listen_is_unreachable_and_a_false_name_is_told() {
        // Nothing listens at port 1 of the loopback address.
        let failed = send_message("127.0.0.1", "tea?", &options(1)).unwrap_err();
        assert!(
            matches!(failed, MessageFailure::Unreachable { .. }),
            "{failed}"
        );
        assert!(failed.to_string().contains("127.0.0.1:1"), "{failed}");
        let from = Some("a name that is too long".into());
        let long = MessageOptions { from, ..options(1) };
        let failed = send_message("127.0.0.1", "tea?", &long).unwrap_err();
        assert!(matches!(failed, MessageFailure::BadName { .. }), "{failed}");
    }
}
