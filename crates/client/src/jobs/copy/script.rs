//! The requests before and after the data transfer.

use super::{
    Copy, Stage,
    part::{STEP, WATCH, WATCH_FOLDER},
};
use crate::{
    calls::Request,
    error::Error,
    jobs::{job::Context, reply::Reply, stat, transact::Transaction},
    link::Text,
    profile::Step,
    spec::Existing,
};
use coax_wire::{
    block::{Block, put_empty},
    command,
    header::Fid,
    io::Writer,
    smb::{
        close, find_first2, flush, nt_create_andx, nt_transact, open, open_andx, query_information,
        query_information_disk,
        search::{self, ResumeKey},
        seek, set_information,
        transaction::Kind,
        write,
    },
    time::{DosDateTime, Utime},
};

/// Attributes that a search or open accepts: read-only, hidden, system, archive.
const ANY_FILE: u16 = 0x27;
/// Entries that MS-DOS asks for in each SEARCH (capture dos-win98-netbeui.pcap, frames 101 and 103).
const SEARCHED_AT_A_TIME: u16 = 20;
/// Open for reading, deny nothing ([MS-CIFS] 2.2.4.3.1).
const READ_DENY_NONE: u16 = 0x40;
/// Open for writing, deny write.
const WRITE_DENY_WRITE: u16 = 0x21;
const GENERIC_READ: u32 = 0x8000_0000;
/// Read and write data, read and write attributes, delete, synchronise: the rights for a file that a copy creates.
const WRITE_ACCESS: u32 = 0x0013_0197;
/// Share read, write and delete.
const SHARE_ALL: u32 = 7;
const SHARE_READ: u32 = 1;

impl Copy {
    /// Sends the request of a step; `false` if this copy does not need it.
    pub(super) fn send_step(&mut self, cx: &mut Context<'_>, step: Step) -> Result<bool, Error> {
        match step {
            Step::Open | Step::OpenAndx | Step::NtCreate => self.send_open(cx, step)?,
            Step::QueryPath => {
                let path = self.spec.path.clone();
                stat::query_path(cx, STEP, &path)?;
            }
            Step::QueryFile => stat::query_file(cx, STEP, self.opened()?)?,
            Step::FindFirst2 => self.send_find(cx)?,
            Step::Notify => return self.open_folder(cx),
            Step::SetSize | Step::SetEndOfFile if self.spec.size.is_none() => return Ok(false),
            Step::SetTimesFid | Step::SetFileTimes | Step::SetAttributes
                if self.spec.modified.is_none() =>
            {
                return Ok(false);
            }
            Step::SetEndOfFile => {
                stat::set_end_of_file(cx, STEP, self.opened()?, self.spec.size.unwrap_or(0))?;
            }
            Step::SetFileTimes => {
                let modified = self.spec.modified.unwrap_or(0);
                stat::set_file_times(cx, STEP, self.opened()?, modified)?;
            }
            Step::Transfer => return Ok(false),
            step => {
                let request = self.simple(cx, step)?;
                cx.send(request)?;
            }
        }
        Ok(true)
    }

    /// Steps with a single request on a path.
    fn simple(&mut self, cx: &Context<'_>, step: Step) -> Result<Request, Error> {
        let path = cx.link.path(&self.spec.path)?;
        let modified = self.modified(cx);
        Ok(match step {
            Step::DiskAttributes => of(command::QUERY_INFORMATION_DISK, put_empty),
            Step::CheckDirectory => {
                let folder = cx.link.path(parent(&self.spec.path))?;
                of(command::CHECK_DIRECTORY, |out| {
                    coax_wire::smb::directory::Request {
                        path: folder.as_wire(),
                    }
                    .emit(out);
                })
            }
            Step::Search => search_for(&path, None),
            Step::GetAttributes => of(command::QUERY_INFORMATION, |out| {
                query_information::Request {
                    path: path.as_wire(),
                }
                .emit(out);
            }),
            Step::SetAttributes => of(command::SET_INFORMATION, |out| {
                let attributes = self.spec.attributes;
                set_information::Request {
                    attributes,
                    modified,
                    path: path.as_wire(),
                }
                .emit(out);
            }),
            step => self.with_file(cx, step, self.opened()?)?,
        })
    }

    /// Steps with a request on the open file.
    fn with_file(&mut self, cx: &Context<'_>, step: Step, fid: Fid) -> Result<Request, Error> {
        let modified = self.modified(cx);
        Ok(match step {
            Step::GetAttributesFid => of(command::QUERY_INFORMATION2, |out| {
                query_information::Request2 { fid }.emit(out);
            }),
            Step::SeekEnd => seek_end(fid),
            Step::SetSize => set_size(fid, self.spec.size.unwrap_or(0) as u32),
            Step::Flush => of(command::FLUSH, |out| flush::Request { fid }.emit(out)),
            Step::SetTimesFid => of(command::SET_INFORMATION2, |out| {
                set_information::Request2 {
                    fid,
                    times: self.dos_times(cx),
                }
                .emit(out);
            }),
            _ => {
                self.fid = None;
                of(command::CLOSE, |out| {
                    close::Request { fid, modified }.emit(out)
                })
            }
        })
    }

    /// The time to set, in the server's local time; 0 for none.
    fn modified(&self, cx: &Context<'_>) -> Utime {
        let set = self.spec.modified.filter(|_| self.to_server());
        set.map_or(Utime(0), |ns| Utime::from_unix_ns(ns, cx.link.zone))
    }

    fn dos_times(&self, cx: &Context<'_>) -> query_information::DosTimes {
        let modified = self.spec.modified.map_or(DosDateTime::NONE, |ns| {
            DosDateTime::from_unix_ns(ns, cx.link.zone)
        });
        query_information::DosTimes {
            created: DosDateTime::NONE,
            accessed: DosDateTime::NONE,
            modified,
        }
    }

    fn send_open(&mut self, cx: &mut Context<'_>, step: Step) -> Result<(), Error> {
        let path = cx.link.path(&self.spec.path)?;
        let request = match step {
            Step::NtCreate => self.nt_create(&path),
            Step::OpenAndx => self.open_andx(cx, &path),
            _ => self.core_open(cx, &path),
        };
        cx.send(request).map(drop)
    }

    fn nt_create(&self, path: &Text) -> Request {
        let writes = self.to_server();
        of(command::NT_CREATE_ANDX, |out| {
            nt_create_andx::Request {
                flags: 0,
                root: 0,
                access: if writes { WRITE_ACCESS } else { GENERIC_READ },
                allocation: 0,
                attributes: u32::from(self.spec.attributes),
                share_access: if writes { SHARE_READ } else { SHARE_ALL },
                disposition: match self.spec.existing {
                    _ if !writes => 1,
                    Existing::Replace => 5,
                    Existing::Keep => 2,
                    Existing::Resume => 3,
                },
                options: nt_create_andx::options::NON_DIRECTORY
                    | nt_create_andx::options::SEQUENTIAL_ONLY,
                impersonation: 2,
                path: path.as_wire(),
            }
            .emit(out);
        })
    }

    fn open_andx(&self, cx: &Context<'_>, path: &Text) -> Request {
        let writes = self.to_server();
        of(command::OPEN_ANDX, |out| {
            open_andx::Request {
                flags: open_andx::flags::QUERY_INFORMATION,
                access_mode: open_andx::AccessMode(if writes {
                    WRITE_DENY_WRITE
                } else {
                    READ_DENY_NONE
                }),
                search_attributes: ANY_FILE,
                attributes: self.spec.attributes,
                created: self.modified(cx),
                open_mode: match self.spec.existing {
                    _ if !writes => 0x01,
                    Existing::Replace => 0x12,
                    Existing::Keep => 0x10,
                    Existing::Resume => 0x11,
                },
                allocation: 0,
                timeout_ms: 0,
                path: path.as_wire(),
            }
            .emit(out);
        })
    }

    /// CREATE truncates an existing file, CREATE_NEW refuses it, and OPEN resumes it.
    fn core_open(&self, cx: &Context<'_>, path: &Text) -> Request {
        let (attributes, time) = (self.spec.attributes, self.modified(cx));
        let code = match self.spec.existing {
            _ if !self.to_server() => command::OPEN,
            Existing::Replace => command::CREATE,
            Existing::Keep => command::CREATE_NEW,
            Existing::Resume => command::OPEN,
        };
        let access_mode = if self.to_server() {
            WRITE_DENY_WRITE
        } else {
            READ_DENY_NONE
        };
        of(code, |out| match code {
            command::OPEN => open::Open {
                access_mode,
                search_attributes: ANY_FILE,
                path: path.as_wire(),
            }
            .emit(out),
            _ => open::Create {
                attributes,
                time,
                path: path.as_wire(),
            }
            .emit(out),
        })
    }

    fn send_find(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let path = cx.link.path(&self.spec.path)?;
        let level = if cx.link.nt_smbs() { 0x104 } else { 1 };
        let find = find_first2::FindFirst2 {
            search_attributes: ANY_FILE,
            search_count: 1,
            flags: find_first2::flags::CLOSE_AFTER_REQUEST | find_first2::flags::CLOSE_AT_EOS,
            level,
        };
        Transaction {
            parameters: &find.to_bytes(&path.as_wire()),
            max_data: 1024,
            ..Transaction::trans2(find_first2::FIND_FIRST2)
        }
        .send(cx, STEP)
        .map(drop)
    }

    /// Handles the reply to a step.
    pub(super) fn step_reply(
        &mut self,
        cx: &mut Context<'_>,
        step: Step,
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        if step == Step::Search && reply.status.is_ok() {
            self.end_search(cx, reply)?;
        }
        let block = match step {
            // A file that does not exist yet will be created.
            Step::Search | Step::FindFirst2 | Step::GetAttributes | Step::QueryPath
                if self.to_server() =>
            {
                return Ok(());
            }
            _ => reply.ok()?,
        };
        let nonsense = reply.nonsense();
        match step {
            Step::Open | Step::OpenAndx | Step::NtCreate => {
                self.opened_by(cx, reply.command, &block)
                    .map_err(nonsense)?;
            }
            Step::GetAttributes => {
                let info = query_information::Response::parse(&block).map_err(nonsense)?;
                self.learn(cx, info.size, info.modified, info.attributes);
            }
            Step::DiskAttributes => {
                query_information_disk::Response::parse(&block).map_err(nonsense)?;
            }
            Step::QueryPath | Step::QueryFile => self.learn_stat(cx, reply)?,
            _ => {}
        }
        Ok(())
    }

    /// Continues the search after the match, as MS-DOS does (capture dos-win98-netbeui.pcap, frame 103). The server
    /// frees a search only when it reports the end of the files, and it has few search slots.
    fn end_search(&mut self, cx: &mut Context<'_>, reply: &Reply<'_>) -> Result<(), Error> {
        let found = search::Response::parse(&reply.ok()?).map_err(reply.nonsense())?;
        if let Some(last) = found.entries().last() {
            let name = cx.link.text("")?;
            cx.send(search_for(&name, Some(last.key)))?;
            self.stage = Stage::EndingSearch;
        }
        Ok(())
    }

    /// Records the file handle and the metadata of the open reply.
    fn opened_by(
        &mut self,
        cx: &Context<'_>,
        code: u8,
        block: &Block<'_>,
    ) -> coax_wire::Result<()> {
        match code {
            command::OPEN => {
                let opened = open::OpenResponse::parse(block)?;
                self.fid = Some(opened.fid);
                self.learn(cx, opened.size, opened.modified, opened.attributes);
            }
            command::OPEN_ANDX => {
                let opened = open_andx::Response::parse(block)?;
                self.fid = Some(opened.fid);
                self.learn(cx, opened.size, opened.modified, opened.attributes);
                if opened.size == 0 {
                    // impacket reports size 0 for every file; a read will find the end.
                    self.known.size = None;
                }
            }
            command::NT_CREATE_ANDX => {
                let opened = nt_create_andx::Response::parse(block)?;
                self.fid = Some(opened.fid);
                self.known.size = Some(opened.size);
                self.known.narrow = false;
                self.known.modified = Some(opened.modified.unix_ns());
                self.known.attributes = Some(opened.attributes as u16);
            }
            _ => self.fid = Some(open::parse_create_response(block)?),
        }
        Ok(())
    }

    fn learn(&mut self, cx: &Context<'_>, size: u32, modified: Utime, attributes: u16) {
        self.known.size = Some(u64::from(size));
        self.known.narrow = true;
        self.known.attributes = Some(attributes);
        if modified.0 != 0 {
            self.known.modified = Some(modified.unix_ns(cx.link.zone));
        }
    }

    fn learn_stat(&mut self, cx: &Context<'_>, reply: &Reply<'_>) -> Result<(), Error> {
        let info = stat::parse(cx, &reply.gathered.data).map_err(reply.nonsense())?;
        self.known.size = Some(info.size);
        self.known.narrow = !cx.link.nt_smbs();
        self.known.modified = info.modified.or(self.known.modified);
        self.known.attributes = Some(info.attributes);
        Ok(())
    }

    /// Opens the file's folder for change notification.
    fn open_folder(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let folder = cx.link.path(parent(&self.spec.path))?;
        let mut request = of(command::NT_CREATE_ANDX, |out| {
            nt_create_andx::Request {
                flags: 0,
                root: 0,
                access: LIST_FOLDER,
                allocation: 0,
                attributes: 0,
                share_access: SHARE_ALL,
                disposition: 1,
                options: nt_create_andx::options::DIRECTORY,
                impersonation: 2,
                path: folder.as_wire(),
            }
            .emit(out);
        });
        request.part = WATCH_FOLDER;
        cx.send(request)?;
        // The copy does not wait for the notification request, but the server answers the next request after it.
        Ok(false)
    }

    /// The folder is open: sends a change notification request.
    pub(super) fn watch_folder(
        &mut self,
        cx: &mut Context<'_>,
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        let Ok(block) = reply.ok() else {
            return Ok(());
        };
        let folder = nt_create_andx::Response::parse(&block)
            .map_err(reply.nonsense())?
            .fid;
        self.watch.folder = Some(folder);
        self.send_watch(cx, folder)
    }

    /// The server reports a change, probably by this copy. Sends the request again, as Explorer does.
    pub(super) fn watch_answered(
        &mut self,
        cx: &mut Context<'_>,
        reply: &Reply<'_>,
    ) -> Result<(), Error> {
        let again = self.watch.request.take().and(self.watch.folder);
        match again.filter(|_| reply.status.is_ok()) {
            Some(folder) => self.send_watch(cx, folder),
            None => Ok(()),
        }
    }

    fn send_watch(&mut self, cx: &mut Context<'_>, folder: Fid) -> Result<(), Error> {
        let mut setup = Writer::default();
        setup.u32(NAMES_AND_SIZES).u16(folder.0).u16(0);
        let mut request = Transaction {
            kind: Kind::NtTransact,
            function: nt_transact::function::NOTIFY_CHANGE,
            setup: setup.as_slice(),
            max_parameters: 1024,
            ..Transaction::trans2(0)
        }
        .request(cx, WATCH)?;
        request.patience = None;
        self.watch.request = Some(cx.send(request)?);
        Ok(())
    }

    /// Cancels the change notification and closes the folder.
    pub(super) fn end_watch(&mut self, cx: &mut Context<'_>) {
        // The copy is complete; errors here have no consequence.
        if let Some(mid) = self.watch.request.take() {
            let cancel = of(command::NT_CANCEL, put_empty);
            let _ = cx.calls.send_unanswered(mid, cancel);
        }
        if let Some(fid) = self.watch.folder.take() {
            let modified = Utime(0);
            let _ = cx.send(of(command::CLOSE, |out| {
                close::Request { fid, modified }.emit(out)
            }));
        }
    }
}

/// The right to list a folder ([MS-CIFS] 2.2.1.4.2).
const LIST_FOLDER: u32 = 0x0010_0001;
/// File names, folder names, attributes, sizes, times of last write ([MS-CIFS] 2.2.7.4.1).
const NAMES_AND_SIZES: u32 = 0x1f;

fn of(command: u8, emit: impl FnOnce(&mut Writer)) -> Request {
    let mut request = Request::new(command, STEP);
    emit(&mut request.out);
    request
}

fn search_for(path: &Text, resume_key: Option<ResumeKey>) -> Request {
    of(command::SEARCH, |out| {
        search::Request {
            max_count: SEARCHED_AT_A_TIME,
            search_attributes: if resume_key.is_some() { 0 } else { ANY_FILE },
            path: path.as_wire(),
            resume_key,
        }
        .emit(out);
    })
}

fn seek_end(fid: Fid) -> Request {
    of(command::SEEK, |out| {
        seek::Request {
            fid,
            mode: 2,
            offset: 0,
        }
        .emit(out);
    })
}

/// A write of zero bytes sets the length ([MS-CIFS] 2.2.4.12).
fn set_size(fid: Fid, size: u32) -> Request {
    of(command::WRITE, |out| {
        write::Request {
            fid,
            count: 0,
            offset: size,
            remaining: 0,
            data: &[],
        }
        .emit(out);
    })
}

/// The parent folder of a path.
fn parent(path: &str) -> &str {
    path.rfind(['/', '\\'])
        .and_then(|at| path.get(..at))
        .unwrap_or("")
}
