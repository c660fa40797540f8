//! The browsers of a workgroup without TCP/IP, asked for as NET VIEW does ([MS-BRWS] 3.2.5.4).

use coax_ethernet::{Asker, Question, ask};
use coax_netbios::{ipx::IpxConfig, nbf::NbfConfig};
use coax_wire::{
    browser::BrowserMessage,
    mailslot::{self, MailslotMessage},
    nbt::name::NbName,
};

use super::{
    Error, Via,
    connect::{own_name, port},
};

/// Suffix of a local master browser.
const SUFFIX_MASTER: u8 = 0x1d;
/// Browsers that are asked for.
const WANTED: u8 = 4;
/// The number of the question, which the answer repeats.
const TOKEN: u32 = 0x636f_6178;

/// The names of the machines that give out a workgroup's list, the master browser first; none if nobody answers. Asks on the
/// interface of `via`, three times a second apart.
///
/// # Errors
/// The interface cannot be used.
pub fn browsers(via: &Via, workgroup: NbName) -> Result<Vec<String>, Error> {
    let port = port(via)?;
    let mac = port.interface().mac();
    let asker = match via {
        Via::Ipx { frame, network, .. } => {
            let mut config = IpxConfig::new(mac, Vec::new());
            (config.frame, config.network) = (*frame, *network);
            config.accepts.clear();
            Asker::Ipx(Box::new(config))
        }
        _ => Asker::Netbeui(NbfConfig::new(mac, Vec::new())),
    };
    let request = BrowserMessage::GetBackupList {
        count: WANTED,
        token: TOKEN,
    };
    let question = Question {
        source: own_name(),
        destination: workgroup.with_suffix(SUFFIX_MASTER),
        data: MailslotMessage::new(mailslot::BROWSE, request.emit()).emit(),
    };
    let listed = ask(&port, asker, &question, answer);
    let listed = listed.map_err(|error| Error::System {
        what: "cannot wait for frames of the interface",
        error,
    })?;
    let names = listed.unwrap_or_default();
    let text = |name: Vec<u8>| String::from_utf8_lossy(&name).into_owned();
    Ok(names.into_iter().map(text).collect())
}

fn answer(data: &[u8]) -> Option<Vec<Vec<u8>>> {
    let message = MailslotMessage::parse(data).ok()?;
    match BrowserMessage::parse(&message.data).ok()? {
        BrowserMessage::BackupList { token, servers } if token == TOKEN && !servers.is_empty() => {
            Some(servers)
        }
        _ => None,
    }
}
