//! The negotiate flags ([MS-NLMP] 2.2.2.5).

use core::fmt;
use core::ops::{BitAnd, BitOr};

/// A set of negotiate flags.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct NegotiateFlags(pub u32);

impl NegotiateFlags {
    /// Strings are UTF-16LE.
    pub const UNICODE: Self = Self(0x0000_0001);
    /// Strings may be in the OEM code page.
    pub const OEM: Self = Self(0x0000_0002);
    /// The server should name itself.
    pub const REQUEST_TARGET: Self = Self(0x0000_0004);
    /// Messages can be signed.
    pub const SIGN: Self = Self(0x0000_0010);
    /// Messages can be sealed.
    pub const SEAL: Self = Self(0x0000_0020);
    /// Connectionless use.
    pub const DATAGRAM: Self = Self(0x0000_0040);
    /// Keys derived from the LM response.
    pub const LM_KEY: Self = Self(0x0000_0080);
    /// NTLM is supported.
    pub const NTLM: Self = Self(0x0000_0200);
    /// The client is anonymous.
    pub const ANONYMOUS: Self = Self(0x0000_0800);
    /// The NEGOTIATE message holds a domain name.
    pub const OEM_DOMAIN_SUPPLIED: Self = Self(0x0000_1000);
    /// The NEGOTIATE message holds a workstation name.
    pub const OEM_WORKSTATION_SUPPLIED: Self = Self(0x0000_2000);
    /// Signatures are always present, even if they are dummies.
    pub const ALWAYS_SIGN: Self = Self(0x0000_8000);
    /// The server's name is a domain's.
    pub const TARGET_TYPE_DOMAIN: Self = Self(0x0001_0000);
    /// The server's name is a computer's.
    pub const TARGET_TYPE_SERVER: Self = Self(0x0002_0000);
    /// NTLM2 session security.
    pub const EXTENDED_SESSIONSECURITY: Self = Self(0x0008_0000);
    /// The CHALLENGE message holds AV pairs.
    pub const TARGET_INFO: Self = Self(0x0080_0000);
    /// A version field is filled in.
    pub const VERSION: Self = Self(0x0200_0000);
    /// 128-bit keys.
    pub const KEY_128: Self = Self(0x2000_0000);
    /// The client sends the session key, encrypted.
    pub const KEY_EXCH: Self = Self(0x4000_0000);
    /// 56-bit keys.
    pub const KEY_56: Self = Self(0x8000_0000);

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for NegotiateFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for NegotiateFlags {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl fmt::Debug for NegotiateFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NegotiateFlags({:#010x})", self.0)
    }
}
