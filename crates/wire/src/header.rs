//! The 32-byte SMB header ([MS-CIFS] 2.2.3.1) and the identifiers in it.

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};

/// Length of the header, bytes.
pub const HEADER_LEN: usize = 32;
/// The first four bytes of every SMB message.
pub const PROTOCOL: [u8; 4] = *b"\xffSMB";
/// The first four bytes of every message of SMB 2 and 3 ([MS-SMB2] 2.2.1).
pub const SMB2_PROTOCOL: [u8; 4] = *b"\xfeSMB";
/// Offset of the status field.
pub const STATUS_OFFSET: usize = 5;
/// Offset of the signature field.
pub const SIGNATURE_OFFSET: usize = 14;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);
    };
}

id!(/// Tree identifier: a connection to a share.
    Tid(u16));
id!(/// User identifier: a logged-on session.
    Uid(u16));
id!(/// Multiplex identifier: which request a reply answers.
    Mid(u16));
id!(/// Process identifier of the client (PIDHigh and PIDLow together).
    Pid(u32));
id!(/// File identifier: an open file.
    Fid(u16));
id!(/// Search identifier of TRANS2 searches.
    Sid(u16));

/// Bits of the header's `Flags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// LOCK_AND_READ and WRITE_AND_UNLOCK are supported (server's negotiate reply).
    pub const LOCK_AND_READ_OK: u8 = 0x01;
    /// Paths are caseless.
    pub const CASELESS: u8 = 0x08;
    /// Paths are in canonical form (obsolete).
    pub const CANONICAL: u8 = 0x10;
    /// The client asks for an exclusive oplock (core opens).
    pub const OPLOCK: u8 = 0x20;
    /// The client asks for a batch oplock (core opens), with `OPLOCK`.
    pub const OPBATCH: u8 = 0x40;
    /// This is a reply.
    pub const REPLY: u8 = 0x80;

    /// Whether all of `bits` are set.
    pub const fn has(self, bits: u8) -> bool {
        self.0 & bits == bits
    }
}

/// Bits of the header's `Flags2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags2(pub u16);

impl Flags2 {
    /// The client supports long names in replies.
    pub const LONG_NAMES: u16 = 0x0001;
    /// The client supports extended attributes.
    pub const EAS: u16 = 0x0002;
    /// The message is signed.
    pub const SIGNED: u16 = 0x0004;
    /// Signatures are required (NT 4 SP 3 and later).
    pub const SIGNATURE_REQUIRED: u16 = 0x0010;
    /// A path in the request is a long name.
    pub const IS_LONG_NAME: u16 = 0x0040;
    /// `@GMT-…` path (reparse).
    pub const REPARSE_PATH: u16 = 0x0400;
    /// Extended security (SPNEGO) in negotiate and session set-up.
    pub const EXTENDED_SECURITY: u16 = 0x0800;
    /// Paths are DFS paths.
    pub const DFS: u16 = 0x1000;
    /// Reading is allowed if execution is.
    pub const READ_IF_EXECUTE: u16 = 0x2000;
    /// Status is an NTSTATUS, not class and code.
    pub const NT_STATUS: u16 = 0x4000;
    /// Strings are UTF-16LE.
    pub const UNICODE: u16 = 0x8000;

    /// Whether all of `bits` are set.
    pub const fn has(self, bits: u16) -> bool {
        self.0 & bits == bits
    }
}

/// The header of a message, field for field. Decodes anything that begins with the protocol's four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Command code.
    pub command: u8,
    /// The status on the wire: an NTSTATUS, or class, zero and code ([`crate::status`]).
    pub status: u32,
    /// Flags.
    pub flags: Flags,
    /// Flags2.
    pub flags2: Flags2,
    /// Signature, or connectionless fields on IPX.
    pub signature: [u8; 8],
    /// Tree.
    pub tid: Tid,
    /// Client process.
    pub pid: Pid,
    /// User.
    pub uid: Uid,
    /// Request number.
    pub mid: Mid,
}

impl Header {
    /// Decodes the header at the beginning of `message`.
    ///
    /// # Errors
    /// [`Error::NotSmb`], [`Error::Short`].
    pub fn parse(message: &[u8]) -> Result<Self> {
        // Of a slice with a constant length, the compiler omits the checks of each field.
        match message.first_chunk::<HEADER_LEN>() {
            Some(whole) => Self::decode(whole),
            None => Self::decode(message),
        }
    }

    #[inline(always)]
    fn decode(message: &[u8]) -> Result<Self> {
        let mut r = Reader::new(message);
        if r.array::<4>("protocol")? != PROTOCOL {
            return Err(Error::NotSmb);
        }
        let command = r.u8("command")?;
        let status = r.u32("status")?;
        let flags = Flags(r.u8("flags")?);
        let flags2 = Flags2(r.u16("flags2")?);
        let pid_high = u32::from(r.u16("pid high")?);
        let signature = r.array("signature")?;
        r.take(2, "reserved")?;
        let tid = Tid(r.u16("tid")?);
        let pid_low = u32::from(r.u16("pid low")?);
        let uid = Uid(r.u16("uid")?);
        let mid = Mid(r.u16("mid")?);
        Ok(Self {
            command,
            status,
            flags,
            flags2,
            signature,
            tid,
            pid: Pid(pid_high << 16 | pid_low),
            uid,
            mid,
        })
    }

    /// Appends the 32 bytes.
    pub fn emit(&self, out: &mut Writer) {
        out.bytes(&self.to_bytes());
    }

    /// The 32 bytes.
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&PROTOCOL);
        bytes[4] = self.command;
        bytes[STATUS_OFFSET..9].copy_from_slice(&self.status.to_le_bytes());
        bytes[9] = self.flags.0;
        bytes[10..12].copy_from_slice(&self.flags2.0.to_le_bytes());
        let [pid_0, pid_1, pid_2, pid_3] = self.pid.0.to_le_bytes();
        bytes[12..SIGNATURE_OFFSET].copy_from_slice(&[pid_2, pid_3]);
        bytes[SIGNATURE_OFFSET..22].copy_from_slice(&self.signature);
        bytes[24..26].copy_from_slice(&self.tid.0.to_le_bytes());
        bytes[26..28].copy_from_slice(&[pid_0, pid_1]);
        bytes[28..30].copy_from_slice(&self.uid.0.to_le_bytes());
        bytes[30..].copy_from_slice(&self.mid.0.to_le_bytes());
        bytes
    }

    /// Whether strings in this message are UTF-16LE.
    pub const fn unicode(&self) -> bool {
        self.flags2.has(Flags2::UNICODE)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NEGOTIATE: [u8; 32] = [
        0xff, b'S', b'M', b'B', 0x72, 0, 0, 0, 0, 0x18, 0x53, 0xc8, 0x12, 0x00, 1, 2, 3, 4, 5, 6,
        7, 8, 0, 0, 0xff, 0xff, 0xfe, 0xca, 0x34, 0x12, 0x01, 0x00,
    ];

    #[test]
    fn a_header_decodes_field_by_field_and_encodes_to_the_same_bytes() {
        let header = Header::parse(&NEGOTIATE).unwrap();
        assert_eq!(header.command, 0x72);
        assert_eq!(header.pid, Pid(0x0012_cafe));
        assert_eq!(
            (header.tid, header.uid, header.mid),
            (Tid(0xffff), Uid(0x1234), Mid(1))
        );
        assert!(header.unicode());
        let mut out = Writer::default();
        header.emit(&mut out);
        assert_eq!(out.as_slice(), NEGOTIATE);
    }

    #[test]
    fn a_cut_header_names_the_field_that_ran_short() {
        assert_eq!(
            Header::parse(&NEGOTIATE[..30]),
            Err(Error::Short { what: "mid" })
        );
        assert_eq!(Header::parse(b"\xfeSMB"), Err(Error::NotSmb));
    }
}
