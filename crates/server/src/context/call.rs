//! The interface of a request for its handler.

use super::{Call, Flow, Outcome};
use crate::{
    error::{Because, Result},
    files::OpenFile,
    reason::Reason,
    session::Session,
    share::{Access, Share},
    table::{OpenRequest, Patience},
    tree::Authorized,
    vfs::Vfs,
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_wire::{
    block::WireStr,
    dialect::Generation,
    header::{Fid, Flags, Flags2, Tid},
    io::Writer,
    status::Status,
};

impl Call<'_> {
    /// The output buffer for the reply's block.
    pub fn out(&mut self) -> &mut Writer {
        &mut self.reply.out
    }

    /// Appends a block without words and bytes, the form of many replies.
    pub fn done_empty(&mut self) -> Outcome {
        coax_wire::block::BlockWriter::begin(self.out()).finish(0);
        Ok(Flow::Done)
    }

    /// Appends an AndX block without further words and bytes.
    pub fn done_andx(&mut self) -> Outcome {
        coax_wire::block::BlockWriter::begin_andx(self.out()).finish(0);
        Ok(Flow::Done)
    }

    /// The session of the header's UID.
    ///
    /// # Errors
    /// `BAD_UID`.
    pub fn session(&self) -> Result<&Session> {
        Ok(self
            .conn
            .sessions
            .find(self.header.uid)
            .ok_or(Status::BAD_UID)?)
    }

    /// The header's tree with the access rights of the header's user.
    ///
    /// # Errors
    /// As [`Context::authorize`].
    pub fn tree(&self) -> Result<Authorized<'_>> {
        self.tree_of(self.header.tid)
    }

    /// Another tree of the connection with the access rights of the header's user.
    ///
    /// # Errors
    /// As [`Context::authorize`].
    pub fn tree_of(&self, tid: Tid) -> Result<Authorized<'_>> {
        self.conn.authorize(self.header.uid, tid)
    }

    /// Checks that the header's user may use the header's tree, and caches the decision for later requests.
    ///
    /// # Errors
    /// As [`Context::authorize`].
    pub fn admit(&mut self) -> Result<()> {
        let (conn, header) = (&mut *self.conn, self.header);
        let session = conn.sessions.find(header.uid).ok_or(Status::BAD_UID)?;
        conn.trees.admit(header.tid, session)
    }

    /// The share of the header's TID.
    ///
    /// # Errors
    /// As [`Self::tree`].
    pub fn share(&self) -> Result<Arc<Share>> {
        Ok(self.tree()?.share.clone())
    }

    /// The folder of the header's TID.
    ///
    /// # Errors
    /// As [`Self::tree`]; `ACCESS_DENIED` on `IPC$`.
    pub fn vfs(&self) -> Result<Arc<dyn Vfs>> {
        let tree = self.tree()?;
        let vfs = tree.share.vfs().cloned();
        vfs.ok_or_else(|| Status::ACCESS_DENIED.because(Reason::NoFiles))
    }

    /// Refuses changes if the user may only read.
    ///
    /// # Errors
    /// `ACCESS_DENIED`; as [`Self::tree`].
    pub fn must_write(&self) -> Result<()> {
        if self.tree()?.access < Access::Write {
            return Err(Status::ACCESS_DENIED.because(Reason::ReadOnlyTree));
        }
        Ok(())
    }

    /// The open file of `fid`, or of the chain's open: in later commands of a chain its FID replaces theirs.
    ///
    /// # Errors
    /// `INVALID_HANDLE` if this tree has no such open, or another session of the connection opened it.
    pub fn file(&self, fid: Fid) -> Result<&OpenFile> {
        let fid = self.chain_fid.unwrap_or(fid);
        let file = self.conn.files.find(fid).ok_or(Status::INVALID_HANDLE)?;
        let another_users =
            file.uid != self.header.uid && self.conn.sessions.is_logged_on(file.uid);
        if file.tid != self.header.tid || another_users {
            return Err(Status::INVALID_HANDLE.into());
        }
        Ok(file)
    }

    /// The open file of `fid`, mutable.
    ///
    /// # Errors
    /// As [`Self::file`].
    pub fn file_mut(&mut self, fid: Fid) -> Result<&mut OpenFile> {
        let fid = self.file(fid)?.fid;
        Ok(self
            .conn
            .files
            .find_mut(fid)
            .ok_or(Status::INVALID_HANDLE)?)
    }

    /// Decodes a string of the request. Undefined bytes of the code page map to the private-use area.
    pub fn text(&self, text: WireStr<'_>) -> String {
        if text.unicode {
            coax_wire::codepage::utf16::decode(text.raw)
        } else {
            self.conn
                .server
                .config
                .code_page
                .decode(text.raw)
                .into_owned()
        }
    }

    /// Whether strings of this request are UTF-16LE.
    pub fn unicode(&self) -> bool {
        self.header.unicode()
    }

    /// `text` encoded for the client, without terminator; characters missing in its code page become `_`.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        self.encode_as(text, self.unicode())
    }

    /// `text` encoded in UTF-16LE or the code page, without terminator.
    pub fn encode_as(&self, text: &str, unicode: bool) -> Vec<u8> {
        if unicode {
            coax_wire::codepage::utf16::encode(text)
        } else {
            self.conn.server.config.code_page.encode_lossy(text)
        }
    }

    /// The generation of the negotiated dialect.
    pub fn generation(&self) -> Generation {
        self.conn
            .client
            .dialect
            .map_or(Generation::Core, |dialect| dialect.generation)
    }

    /// Whether the client gets a challenge for its password. A client older than NT LM 0.12 could only answer with an
    /// LM response. It gets none if the server accepts plaintext passwords but no LM responses.
    pub fn challenges(&self) -> bool {
        let config = &self.conn.server.config;
        let is_nt = self.generation() == Generation::Nt;
        let only_plaintext = config.policy.plaintext && !config.policy.lanman;
        config.encrypt_passwords && (is_nt || !only_plaintext)
    }

    /// Whether names are case-sensitive in this request: on shares that always are, or if the client decides (`case
    /// sensitive = auto`) and omits the header's caseless flag. As Samba, the server trusts only Linux and Samba's own
    /// clients here, because others omit the flag without meaning it.
    pub fn is_case_exact(&self, share: &Share) -> bool {
        let options = &share.options;
        let by_client = options.case_by_client && self.conn.client.flags_case;
        options.case_sensitive || (by_client && !self.header.flags.has(Flags::CASELESS))
    }

    /// The time for which this request may wait for others to close a file. A client of an older generation has one
    /// outstanding request, so its own opens cannot close meanwhile.
    pub fn patience(&self) -> Patience {
        Patience {
            until: self.arrived + self.conn.server.config.sharing_violation_delay,
            own: self.generation() == Generation::Nt,
        }
    }

    /// `SHARING_VIOLATION` with the conflicting open.
    pub fn sharing_violation(&self, request: &OpenRequest) -> crate::Error {
        let server = &self.conn.server;
        let holder = server.locked(|tables| tables.sharing_holder(request));
        Status::SHARING_VIOLATION.because(Reason::Sharing(holder))
    }

    /// Whether the client receives NT statuses.
    pub fn nt_status(&self) -> bool {
        self.header.flags2.has(Flags2::NT_STATUS)
    }

    /// The largest message that the client accepts, bytes.
    pub fn client_buffer(&self) -> usize {
        let size = match self.conn.client.max_buffer {
            0 => self.conn.server.config.max_buffer,
            size => size,
        };
        usize::from(self.conn.peer.carriage.limit(size))
    }
}
