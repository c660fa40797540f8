//! Lists the server's shares: with the SRVSVC pipe of NT servers, with RAP on others ([MS-SRVS] 3.1.4.8, [MS-RAP]
//! 2.5.5.1).

use super::{
    job::{Context, Job, Step},
    reply::Reply,
    transact::Transaction,
};
use crate::{calls::Request, error::Error, event::Outcome};
use alloc::{string::String, vec::Vec};
use coax_wire::{
    block::WireStr,
    command,
    header::Fid,
    io::Writer,
    rap::client as rap,
    rpc::{self, client as pdu, pfc, srvsvc},
    smb::{close, named_pipe, nt_create_andx, read_andx, transaction::Kind},
    time::Utime,
};

/// Maximum size of a share list, bytes.
const MAX_LIST: usize = 1 << 20;
/// Number of bytes per read from the pipe: one fragment.
const PIPE_BYTES: u32 = 4280;
/// Size of a RAP reply: the maximum of its 16-bit counts, as old clients request.
const RAP_BYTES: u16 = 0xffe0;
/// Call number of the bind on the pipe.
const BIND_CALL: u32 = 1;
const ENUM_CALL: u32 = 2;

#[derive(Debug)]
enum Stage {
    Begin,
    Opening,
    Binding,
    Asking(pdu::Assembly, Vec<u8>),
    Rap,
    End,
}

/// [`crate::Operation::Shares`].
#[derive(Debug)]
pub(super) struct Shares {
    stage: Stage,
    pipe: Option<Fid>,
    found: Vec<(String, u32, String)>,
}

impl Default for Shares {
    fn default() -> Self {
        Self {
            stage: Stage::Begin,
            pipe: None,
            found: Vec::new(),
        }
    }
}

impl Shares {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let path = cx.link.path("srvsvc")?;
        let mut request = Request::new(command::NT_CREATE_ANDX, 0);
        nt_create_andx::Request {
            flags: 0,
            root: 0,
            access: PIPE_ACCESS,
            allocation: 0,
            attributes: 0,
            share_access: 3,
            disposition: 1,
            options: 0,
            impersonation: 2,
            path: path.as_wire(),
        }
        .emit(&mut request.out);
        self.stage = Stage::Opening;
        cx.send(request).map(drop)
    }

    fn transact(&self, cx: &mut Context<'_>, data: &[u8]) -> Result<(), Error> {
        let fid = self
            .pipe
            .ok_or(Error::Protocol("a pipe that is not open"))?;
        let name = cx.link.text(named_pipe::NAME)?;
        Transaction {
            kind: Kind::Transaction,
            setup: &named_pipe::setup(named_pipe::function::TRANSACT, fid),
            name: name.as_wire(),
            data,
            max_parameters: 0,
            max_data: PIPE_BYTES,
            ..Transaction::trans2(0)
        }
        .send(cx, 0)
        .map(drop)
    }

    fn ask_srvsvc(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let arguments = srvsvc::share_enum_arguments("", u32::MAX);
        let mut call = Writer::default();
        rpc::Request {
            context: 0,
            opnum: srvsvc::SHARE_ENUM,
            stub: &arguments,
        }
        .emit(pfc::FIRST | pfc::LAST, ENUM_CALL, &mut call);
        self.stage = Stage::Asking(pdu::Assembly::new(ENUM_CALL, MAX_LIST), Vec::new());
        self.transact(cx, call.as_slice())
    }

    /// Uses RAP, also if the server refuses the pipe.
    fn ask_rap(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        self.close_pipe(cx);
        self.stage = Stage::Rap;
        let name = cx.link.text(rap::PIPE)?;
        let room = RAP_BYTES;
        Transaction {
            kind: Kind::Transaction,
            name: name.as_wire(),
            parameters: &rap::share_enum(room),
            max_parameters: 8,
            max_data: u32::from(room),
            ..Transaction::trans2(0)
        }
        .send(cx, 0)
        .map(drop)
    }

    /// Handles data from the pipe, and reads again if it is incomplete.
    fn on_pipe_data(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        let Stage::Asking(assembly, waiting) = &mut self.stage else {
            return Err(Error::Protocol("data from the pipe without a request"));
        };
        if bytes.is_empty() || waiting.len().saturating_add(bytes.len()) > MAX_LIST {
            return Err(Error::Protocol("a list of shares that does not end"));
        }
        waiting.extend_from_slice(bytes);
        while let Some((next, rest)) = pdu::Pdu::first(waiting).map_err(reply.nonsense())? {
            match assembly.push(&next).map_err(reply.nonsense())? {
                pdu::Progress::More => {}
                pdu::Progress::Results(stub) => return self.take_srvsvc(cx, &stub),
                pdu::Progress::Fault(_) => return self.ask_rap(cx),
            }
            let used = waiting.len().saturating_sub(rest.len());
            waiting.drain(..used);
        }
        self.read_on(cx)
    }

    fn read_on(&self, cx: &mut Context<'_>) -> Result<(), Error> {
        let fid = self
            .pipe
            .ok_or(Error::Protocol("a pipe that is not open"))?;
        let mut request = Request::new(command::READ_ANDX, 0);
        read_andx::Request {
            fid,
            offset: 0,
            max_count: PIPE_BYTES,
            min_count: PIPE_BYTES as u16,
            timeout_ms: 0,
        }
        .emit_wide(true, &mut request.out);
        cx.send(request).map(drop)
    }

    fn take_srvsvc(&mut self, cx: &mut Context<'_>, stub: &[u8]) -> Result<(), Error> {
        // Results of JFileServer 1.4.0 cannot be decoded, but its RAP replies can.
        let Ok((shares, srvsvc::code::SUCCESS)) = srvsvc::parse_share_enum_results(stub) else {
            return self.ask_rap(cx);
        };
        let share = |share: srvsvc::ShareInfo| (share.name, share.kind, share.comment);
        self.found = shares.into_iter().map(share).collect();
        self.close_pipe(cx);
        self.stage = Stage::End;
        Ok(())
    }

    fn take_rap(&mut self, cx: &Context<'_>, reply: &Reply<'_>) -> Result<(), Error> {
        reply.ok()?;
        let result = rap::Reply::parse(&reply.gathered.parameters).map_err(reply.nonsense())?;
        let text = |raw| {
            cx.link.decode(WireStr {
                raw,
                unicode: false,
            })
        };
        let shares = rap::shares(&result, &reply.gathered.data);
        self.found = shares
            .iter()
            .map(|share| (text(share.name), u32::from(share.kind), text(share.comment)))
            .collect();
        self.stage = Stage::End;
        Ok(())
    }

    fn close_pipe(&mut self, cx: &mut Context<'_>) {
        if let Some(fid) = self.pipe.take() {
            let mut request = Request::new(command::CLOSE, DONE);
            let modified = Utime(0);
            close::Request { fid, modified }.emit(&mut request.out);
            // An error here has no consequence.
            let _ = cx.send(request);
        }
    }
}

/// Read and write data and attributes, read control, synchronise: the rights for a pipe.
const PIPE_ACCESS: u32 = 0x0012_019f;
/// Tag of requests whose reply is ignored.
const DONE: u32 = 1;

impl Job for Shares {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error> {
        match self.stage {
            Stage::Begin if cx.link.nt_smbs() => self.open(cx)?,
            Stage::Begin => self.ask_rap(cx)?,
            Stage::End => {
                return Ok(Step::Done(Outcome::Shares(core::mem::take(
                    &mut self.found,
                ))));
            }
            _ => {}
        }
        Ok(Step::Waiting)
    }

    fn reply(&mut self, cx: &mut Context<'_>, part: u32, reply: &Reply<'_>) -> Result<(), Error> {
        if part == DONE {
            return Ok(());
        }
        match self.stage {
            Stage::Opening => {
                let Ok(block) = reply.ok() else {
                    return self.ask_rap(cx);
                };
                self.pipe = Some(
                    nt_create_andx::Response::parse(&block)
                        .map_err(reply.nonsense())?
                        .fid,
                );
                self.stage = Stage::Binding;
                self.transact(cx, &pdu::bind(srvsvc::INTERFACE, BIND_CALL))
            }
            Stage::Binding => {
                let answer = pdu::Pdu::first(&reply.gathered.data).ok().flatten();
                let granted = answer.map(|(pdu, _)| pdu::Granted::parse(&pdu));
                match granted {
                    Some(Ok(_)) => self.ask_srvsvc(cx),
                    _ => self.ask_rap(cx),
                }
            }
            Stage::Asking(..) if reply.command == command::READ_ANDX => {
                let range = read_andx::Response::parse(&reply.any()?)
                    .map_err(reply.nonsense())?
                    .data;
                self.on_pipe_data(cx, reply.message.get(range).unwrap_or_default(), reply)
            }
            Stage::Asking(..) if reply.is_whole_or_part() => {
                self.on_pipe_data(cx, &reply.gathered.data, reply)
            }
            Stage::Asking(..) => self.ask_rap(cx),
            Stage::Rap => self.take_rap(cx, reply),
            Stage::Begin | Stage::End => Ok(()),
        }
    }

    fn give_up(&mut self, cx: &mut Context<'_>) {
        self.close_pipe(cx);
    }
}
