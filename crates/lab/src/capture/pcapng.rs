//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng): little-endian, Ethernet, nanoseconds.

use alloc::{vec, vec::Vec};

fn block(out: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let padding = body.len().next_multiple_of(4).saturating_sub(body.len());
    let total = (body.len() as u32)
        .saturating_add(padding as u32)
        .saturating_add(12);
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&total.to_le_bytes());
    out.extend_from_slice(body);
    out.resize(out.len().saturating_add(padding), 0);
    out.extend_from_slice(&total.to_le_bytes());
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Appends the section header block; `application` names the writer.
pub fn section_header(out: &mut Vec<u8>, application: &str) {
    let mut body = Vec::new();
    body.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
    body.extend_from_slice(&[1, 0, 0, 0]);
    body.extend_from_slice(&u64::MAX.to_le_bytes());
    option(&mut body, 4, application.as_bytes());
    option(&mut body, 0, &[]);
    block(out, 0x0a0d_0d0a, &body);
}

/// Appends the interface description block.
pub fn interface(out: &mut Vec<u8>, name: &str) {
    // link type Ethernet, no snap length
    let mut body = vec![1, 0, 0, 0, 0, 0, 0, 0];
    option(&mut body, 2, name.as_bytes());
    option(&mut body, 9, &[9]);
    option(&mut body, 0, &[]);
    block(out, 1, &body);
}

/// Appends a frame and its time in nanoseconds since 1970.
pub fn packet(out: &mut Vec<u8>, stamp: u64, frame: &[u8]) {
    let mut body = Vec::with_capacity(frame.len().saturating_add(24));
    body.extend_from_slice(&0_u32.to_le_bytes());
    body.extend_from_slice(&((stamp >> 32) as u32).to_le_bytes());
    body.extend_from_slice(&(stamp as u32).to_le_bytes());
    let len = (frame.len() as u32).to_le_bytes();
    body.extend_from_slice(&len);
    body.extend_from_slice(&len);
    body.extend_from_slice(frame);
    block(out, 6, &body);
}
