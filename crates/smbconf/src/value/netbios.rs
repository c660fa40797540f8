//! Values of the NetBIOS parameters.

use std::{net::Ipv4Addr, path::PathBuf};

use super::{BOOL, Codec, nearest, unquoted, words};
use crate::settings::{AutoSetting, IpxInterface, NodeTypeSetting};

/// The most WINS servers.
const ADDRESSES_MAX: usize = 12;

/// What a name and its scope leave of 255 bytes (RFC 1002 section 4.1).
const SCOPE_MAX: usize = 220;

/// A file.
pub const REQUIRED_FILE: Codec<PathBuf> = Codec {
    kind: "path",
    read: |t| match unquoted(t) {
        "" => Err("name a file".into()),
        t => Ok(t.into()),
    },
    nearest: nearest::none,
    show: |v| v.display().to_string(),
};

/// IPv4 addresses. Samba's tags for networks (`TAG:ADDRESS`) have no effect.
pub const ADDRESSES: Codec<Vec<Ipv4Addr>> = Codec {
    kind: "list of IPv4 addresses",
    read: |t| {
        let words = words(t);
        if words.len() > ADDRESSES_MAX {
            return Err(format!(
                "at most {ADDRESSES_MAX} addresses, not {}",
                words.len()
            ));
        }
        let address = |word: &String| {
            let text = word.rsplit(':').next().unwrap_or(word);
            let parsed = text.parse();
            parsed.map_err(|_| format!("'{word}' is not an IPv4 address, as in 192.168.1.5"))
        };
        words.iter().map(address).collect()
    },
    nearest: nearest::none,
    show: |v| {
        let shown: Vec<String> = v.iter().map(ToString::to_string).collect();
        shown.join(" ")
    },
};

/// Interfaces for IPX.
pub const IPX: Codec<Vec<IpxInterface>> = Codec {
    kind: "list of interfaces, each INTERFACE[:FRAME[:NETWORK]]",
    read: |t| words(t).iter().map(|word| word.parse()).collect(),
    nearest: nearest::none,
    show: |v| {
        let shown: Vec<String> = v.iter().map(ToString::to_string).collect();
        shown.join(" ")
    },
};

/// `yes`, `no` or `auto`.
pub const AUTO: Codec<AutoSetting> = Codec {
    kind: "yes, no or auto",
    read: |t| match (t.trim().eq_ignore_ascii_case("auto"), (BOOL.read)(t)) {
        (true, _) => Ok(AutoSetting::Auto),
        (false, Ok(true)) => Ok(AutoSetting::Yes),
        (false, Ok(false)) => Ok(AutoSetting::No),
        (false, Err(_)) => Err(format!("'{t}' is neither yes, no nor auto")),
    },
    nearest: nearest::none,
    show: |v| {
        let word = match v {
            AutoSetting::Yes => "yes",
            AutoSetting::No => "no",
            AutoSetting::Auto => "auto",
        };
        word.into()
    },
};

/// A NetBIOS scope.
pub const SCOPE: Codec<String> = Codec {
    kind: "labels separated by dots",
    read: |t| {
        let text = unquoted(t);
        let mut labels = text.split('.').filter(|_| !text.is_empty());
        let fits = text.len() < SCOPE_MAX && labels.all(|label| (1..=63).contains(&label.len()));
        match fits {
            true => Ok(text.to_string()),
            false => Err("a scope is labels of 1 to 63 characters, separated by dots".into()),
        }
    },
    nearest: nearest::none,
    show: Clone::clone,
};

/// `b`, `p`, `m`, `h`, or nothing.
pub const NODE_TYPE: Codec<Option<NodeTypeSetting>> = Codec {
    kind: "b, p, m or h",
    read: |t| match t.trim().to_ascii_lowercase().as_str() {
        "" => Ok(None),
        "b" => Ok(Some(NodeTypeSetting::B)),
        "p" => Ok(Some(NodeTypeSetting::P)),
        "m" => Ok(Some(NodeTypeSetting::M)),
        "h" => Ok(Some(NodeTypeSetting::H)),
        other => Err(format!("'{other}' is not a node type: b, p, m or h")),
    },
    nearest: nearest::none,
    show: |v| v.map(|v| v.to_string()).unwrap_or_default(),
};
