//! SESSION_SETUP_ANDX (0x73), [MS-CIFS] 2.2.4.53; extended security: [MS-SMB] 2.2.4.6.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::{Error, Result},
    io::Writer,
};

/// The credentials in the three forms of the request, distinguished by the word count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials<'a> {
    /// Ten words (LAN Manager): one password or LM response.
    Lanman {
        /// Password or response.
        password: &'a [u8],
    },
    /// Thirteen words (NT LM 0.12): both responses, or a plaintext password in one of them.
    Nt {
        /// The "case-insensitive" field: LM response or OEM plaintext.
        oem_password: &'a [u8],
        /// The "case-sensitive" field: NTLM response or UTF-16LE plaintext.
        unicode_password: &'a [u8],
    },
    /// Twelve words: a SPNEGO or NTLMSSP token.
    Extended {
        /// The token.
        token: &'a [u8],
    },
}

/// The client's identity and its user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Largest message the client takes, bytes.
    pub max_buffer: u16,
    /// Requests it keeps outstanding.
    pub max_mpx: u16,
    /// Number of this virtual circuit; 0 asks the server to drop the client's others.
    pub vc_number: u16,
    /// The session key of the negotiate reply.
    pub session_key: u32,
    /// Capabilities ([`super::negotiate::cap`]); 0 before NT LM 0.12.
    pub capabilities: u32,
    /// Passwords, responses or token.
    pub credentials: Credentials<'a>,
    /// User name; empty for anonymous, absent in extended security and from the oldest clients.
    pub account: Option<WireStr<'a>>,
    /// Domain.
    pub domain: Option<WireStr<'a>>,
    /// Operating system.
    pub native_os: Option<WireStr<'a>>,
    /// LAN manager.
    pub native_lan_man: Option<WireStr<'a>>,
}

impl<'a> Request<'a> {
    /// Decodes; `unicode` is the header's flag.
    ///
    /// # Errors
    /// [`Error::WordCount`], [`Error::Short`] if password or token run past the message.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        match block.word_count() {
            10 => Self::parse_lanman(block, unicode),
            12 => Self::parse_extended(block, unicode),
            13 => Self::parse_nt(block, unicode),
            found => Err(Error::WordCount {
                what: "SESSION_SETUP_ANDX",
                found,
            }),
        }
    }

    fn parse_lanman(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let (mut request, mut words) = Self::common(block)?;
        let len = usize::from(words.u16("password length")?);
        let mut strings = block.strings(unicode);
        let password = strings.bytes(len.min(strings.rest().len()), "password")?;
        request.credentials = Credentials::Lanman { password };
        request.names(&mut strings);
        Ok(request)
    }

    fn parse_nt(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let (mut request, mut words) = Self::common(block)?;
        let oem_len = usize::from(words.u16("OEM password length")?);
        let unicode_len = usize::from(words.u16("Unicode password length")?);
        words.u32("reserved")?;
        request.capabilities = words.u32("capabilities")?;
        let mut strings = block.strings(unicode);
        let oem_password = strings.bytes(oem_len, "OEM password")?;
        let unicode_password = strings.bytes(unicode_len, "Unicode password")?;
        request.credentials = Credentials::Nt {
            oem_password,
            unicode_password,
        };
        request.names(&mut strings);
        Ok(request)
    }

    fn parse_extended(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let (mut request, mut words) = Self::common(block)?;
        let len = usize::from(words.u16("security blob length")?);
        words.u32("reserved")?;
        request.capabilities = words.u32("capabilities")?;
        let mut strings = block.strings(unicode);
        request.credentials = Credentials::Extended {
            token: strings.bytes(len, "security blob")?,
        };
        request.native_os = Some(strings.misaligned_string());
        request.native_lan_man = Some(strings.misaligned_string());
        Ok(request)
    }

    /// Appends the request in the form of its credentials. Names that are `None` are left out; none may follow one.
    ///
    /// UTF-16LE names are aligned, passwords are as they come.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        let words = block.words();
        words
            .u16(self.max_buffer)
            .u16(self.max_mpx)
            .u16(self.vc_number)
            .u32(self.session_key);
        match self.credentials {
            Credentials::Lanman { password } => words.u16(password.len() as u16).u32(0),
            Credentials::Nt {
                oem_password,
                unicode_password,
            } => words
                .u16(oem_password.len() as u16)
                .u16(unicode_password.len() as u16)
                .u32(0)
                .u32(self.capabilities),
            Credentials::Extended { token } => {
                words.u16(token.len() as u16).u32(0).u32(self.capabilities)
            }
        };
        self.emit_bytes(block.bytes());
        block.finish(0);
    }

    /// Passwords or token, and the names behind them.
    fn emit_bytes(&self, bytes: &mut Writer) {
        match self.credentials {
            Credentials::Lanman { password } => bytes.bytes(password),
            Credentials::Nt {
                oem_password,
                unicode_password,
            } => bytes.bytes(oem_password).bytes(unicode_password),
            Credentials::Extended { token } => bytes.bytes(token),
        };
        let names = [
            self.account,
            self.domain,
            self.native_os,
            self.native_lan_man,
        ];
        for name in names.into_iter().flatten() {
            name.emit(bytes);
        }
    }

    fn common(block: &Block<'a>) -> Result<(Self, crate::io::Reader<'a>)> {
        let mut words = block.words();
        words.u32("AndX")?;
        let request = Self {
            max_buffer: words.u16("max buffer")?,
            max_mpx: words.u16("max mpx")?,
            vc_number: words.u16("VC number")?,
            session_key: words.u32("session key")?,
            capabilities: 0,
            credentials: Credentials::Lanman { password: &[] },
            account: None,
            domain: None,
            native_os: None,
            native_lan_man: None,
        };
        Ok((request, words))
    }

    fn names(&mut self, strings: &mut crate::block::Strings<'a>) {
        for name in [&mut self.account, &mut self.domain] {
            *name = (!strings.is_empty()).then(|| strings.string());
        }
        for name in [&mut self.native_os, &mut self.native_lan_man] {
            *name = (!strings.is_empty()).then(|| strings.misaligned_string());
        }
    }
}

/// The server's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response<'a> {
    /// Bit 0: logged on as guest.
    pub action: u16,
    /// SPNEGO token, in the four-word form.
    pub token: Option<&'a [u8]>,
    /// Operating system, encoded without terminator.
    pub native_os: &'a [u8],
    /// LAN manager, the same.
    pub native_lan_man: &'a [u8],
    /// Domain, the same.
    pub domain: &'a [u8],
    /// Whether the three strings are UTF-16LE.
    pub unicode: bool,
}

impl<'a> Response<'a> {
    /// Bit of `action`: logged on as guest.
    pub const GUEST: u16 = 0x0001;

    /// Decodes, with 3 words, or 4 and a token; `unicode` is the header's flag. Strings that are missing are empty.
    ///
    /// # Errors
    /// [`Error::WordCount`]; [`Error::Short`] if the token runs past the bytes.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        if !matches!(block.word_count(), 3 | 4) {
            return Err(Error::WordCount {
                what: "SESSION_SETUP_ANDX",
                found: block.word_count(),
            });
        }
        let action = block.word(2)?;
        let mut strings = block.strings(unicode);
        let token = match block.word(3) {
            Ok(len) => Some(strings.bytes(usize::from(len), "security blob")?),
            Err(_) => None,
        };
        Ok(Self {
            action,
            token,
            native_os: strings.string().raw,
            native_lan_man: strings.string().raw,
            domain: strings.string().raw,
            unicode,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        block.words().u16(self.action);
        if let Some(token) = self.token {
            block.words().u16(token.len() as u16);
        }
        let bytes = block.bytes();
        bytes.bytes(self.token.unwrap_or(&[]));
        for text in [self.native_os, self.native_lan_man, self.domain] {
            if self.unicode {
                crate::block::put_unicode(bytes, text);
            } else {
                crate::block::put_oem(bytes, text);
            }
        }
        block.finish(0);
    }
}
