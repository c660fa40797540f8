//! Recorded identifiers and what they are here.

use std::collections::HashMap;

use coax_decode::{Decoded, Identifier};

use crate::fields::{bytes, has, ids};

/// Resume keys that are remembered.
const MAX_KEYS: usize = 1 << 16;

/// Recorded identifiers and what they are here.
#[derive(Debug, Default)]
pub(crate) struct Mapping {
    ids: HashMap<(Identifier, u16), u16>,
    /// Resume keys of searches.
    keys: HashMap<Vec<u8>, Vec<u8>>,
}

impl Mapping {
    /// The identifier here.
    pub(crate) fn id(&self, kind: Identifier, recorded: u16) -> Option<u16> {
        self.ids.get(&(kind, recorded)).copied()
    }

    /// The resume key here.
    pub(crate) fn key(&self, recorded: &[u8]) -> Option<&[u8]> {
        self.keys.get(recorded).map(Vec::as_slice)
    }

    /// Learns from two replies to the same request.
    pub(crate) fn learn(&mut self, recorded: (&[u8], &Decoded), here: (&[u8], &Decoded)) {
        self.learn_ids(recorded.1, here.1);
        let keys = |(message, decoded): (&[u8], &Decoded)| {
            let fields = decoded
                .fields
                .iter()
                .filter(|field| field.name == "ResumeKey");
            let of: Vec<Vec<u8>> = fields.map(|field| bytes(message, field).to_vec()).collect();
            of
        };
        let (recorded, here) = (keys(recorded), keys(here));
        // the client goes on at the last entry of the reply, which another server may cut elsewhere
        let last = recorded.last().cloned().zip(here.last().cloned());
        if self.keys.len() < MAX_KEYS {
            self.keys.extend(recorded.into_iter().zip(here));
            self.keys.extend(last);
        }
    }

    fn learn_ids(&mut self, recorded: &Decoded, here: &Decoded) {
        for kind in [
            Identifier::Fid,
            Identifier::Tid,
            Identifier::Uid,
            Identifier::Sid,
        ] {
            let gives = match kind {
                Identifier::Tid => {
                    has(recorded, "TREE_CONNECT") || has(recorded, "TREE_CONNECT_ANDX")
                }
                Identifier::Uid => has(recorded, "SESSION_SETUP_ANDX"),
                Identifier::Fid | Identifier::Sid => true,
            };
            if !gives {
                continue;
            }
            let pairs = ids(recorded, kind).zip(ids(here, kind));
            for ((_, recorded), (_, here)) in pairs {
                self.ids.insert((kind, recorded), here);
            }
        }
    }
}
