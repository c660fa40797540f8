//! Remote calls and security descriptors: RAP, DCE/RPC with its services, self-relative descriptors.

use crate::{choices::Choices, replies};
use coax_wire::{
    rap,
    rpc::{self, srvsvc, wkssvc},
    security::Descriptor,
};
use std::hint::black_box;

/// Parameters of a RAP call, and the descriptors in them; a RAP reply.
pub fn rap(data: &[u8]) {
    let _ = black_box(rap::descriptor::parse(data));
    let mut choices = Choices::new(data);
    let letters = choices.counted();
    replies::look_at_rap(&String::from_utf8_lossy(letters), choices.rest());
    if let Ok(request) = rap::Request::parse(data) {
        black_box((request.level(), request.text(0), request.dword()));
        let items = rap::descriptor::parse(request.data).unwrap_or_default();
        let none = rap::pack(&items, &[Vec::new()], 4096);
        assert!(none.data.len() <= 4096);
    }
}

/// What a pipe sent, as a client reads it; a fragment of DCE/RPC: its header, its body as every kind of PDU, its arguments as those of every call.
pub fn rpc(data: &[u8]) {
    replies::look_at_pdus(data);
    let Some(header) = rpc::Header::parse(data) else {
        return;
    };
    let Ok(body) = rpc::body(&header, data) else {
        return;
    };
    let _ = black_box(rpc::Bind::parse(body));
    let Ok(request) = rpc::Request::parse(header.flags, body) else {
        return;
    };
    for opnum in [request.opnum, 15, 16, 21, 28] {
        let _ = black_box(srvsvc::Call::parse(opnum, request.stub));
        let _ = black_box(wkssvc::parse(opnum, request.stub));
    }
    let fragments = rpc::response_fragments(request.context, header.call_id, request.stub, 1024);
    assert!(fragments.iter().all(|fragment| fragment.len() <= 1024));
}

/// A security descriptor: what is decoded encodes to what decodes the same.
pub fn security(data: &[u8]) {
    let mut choices = Choices::new(data);
    let Ok(found) = Descriptor::parse(data) else {
        return;
    };
    let bytes = found.to_bytes();
    let again = Descriptor::parse(&bytes).expect("our own security descriptor");
    assert_eq!((&again.owner, &again.group), (&found.owner, &found.group));
    assert_eq!((&again.sacl, &again.dacl), (&found.sacl, &found.dacl));
    black_box(found.only(choices.u32()));
}
