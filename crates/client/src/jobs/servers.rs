//! Lists the servers or workgroups that a browser knows ([MS-RAP] 2.5.5.2.1, NetServerEnum2).

use super::{
    job::{Context, Job, Step},
    reply::Reply,
    transact::Transaction,
};
use crate::{
    error::Error,
    event::{ListedServer, Outcome},
    link::oem,
};
use alloc::{string::String, vec::Vec};
use coax_wire::{
    block::WireStr,
    rap::{client as rap, code},
    smb::transaction::Kind,
};

/// Size of a RAP reply: the maximum of its 16-bit counts, as old clients request.
const RAP_BYTES: u16 = 0xffe0;

/// [`crate::Operation::Servers`].
#[derive(Debug)]
pub(super) struct Servers {
    kinds: u32,
    domain: Option<String>,
    found: Option<Vec<ListedServer>>,
    asked: bool,
}

impl Servers {
    /// Servers of these types, in `domain` or in the server's own workgroup.
    pub(super) fn new(kinds: u32, domain: Option<String>) -> Self {
        Self {
            kinds,
            domain,
            found: None,
            asked: false,
        }
    }

    fn ask(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        self.asked = true;
        let name = cx.link.text(rap::PIPE)?;
        let domain = self.domain.as_ref();
        let domain = domain.map(|domain| oem(cx.link.code_page, domain));
        let domain = domain.transpose()?;
        let domain = domain.as_ref().map(|text| text.as_wire().raw);
        let parameters = rap::server_enum2(RAP_BYTES, self.kinds, domain);
        Transaction {
            kind: Kind::Transaction,
            name: name.as_wire(),
            parameters: &parameters,
            max_parameters: 8,
            max_data: u32::from(RAP_BYTES),
            ..Transaction::trans2(0)
        }
        .send(cx, 0)
        .map(drop)
    }
}

impl Job for Servers {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error> {
        if !self.asked {
            self.ask(cx)?;
        }
        Ok(match self.found.take() {
            Some(found) => Step::Done(Outcome::Servers(found)),
            None => Step::Waiting,
        })
    }

    fn reply(&mut self, cx: &mut Context<'_>, _: u32, reply: &Reply<'_>) -> Result<(), Error> {
        reply.ok()?;
        let result = rap::Reply::parse(&reply.gathered.parameters).map_err(reply.nonsense())?;
        if !matches!(result.code, code::SUCCESS | code::MORE_DATA) {
            return Err(Error::Protocol("the server keeps no list of servers"));
        }
        let text = |raw| {
            cx.link.decode(WireStr {
                raw,
                unicode: false,
            })
        };
        let servers = rap::servers(&result, &reply.gathered.data);
        let listed = servers.iter().map(|server| ListedServer {
            name: text(server.name),
            version: server.version,
            kind: server.kind,
            comment: text(server.comment),
        });
        self.found = Some(listed.collect());
        Ok(())
    }

    fn give_up(&mut self, _: &mut Context<'_>) {}
}
