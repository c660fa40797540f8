//! A copy by the engine over a TCP that is not the kernel's, with a log of what the engine offered to it and took from it:
//! `stack_client smoltcp|stream KEY=VALUE…`. Standard input is a TUN device whose packets smoltcp sends and receives, or a
//! socket to a process with another TCP. `docs/referee.md` states the log.

mod log;
mod smoltcp;
mod stream;

use std::{
    collections::HashMap,
    error::Error,
    fs::{File, OpenOptions},
    io::Read,
    os::unix::fs::FileExt,
    sync::Arc,
    time::Duration,
};

use coax_client::{
    Client, CopySpec, Credentials, Event, JobId, LocalError, LocalFiles, Operation, Tail, Target,
    Transmit,
};
use coax_netbios::Transport as Session;
use coax_wire::{
    codepage::CodePage,
    nbt::name::{NbName, ScopedName},
};

use log::Log;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Bytes that are taken from the TCP at once.
const RECEIVED_AT_ONCE: usize = 65_536;

/// How long the end of the connection may take after the copy.
const CLOSING_MAX: Duration = Duration::from_secs(1);

/// A connected TCP that never blocks.
trait Transport {
    /// Takes as many of these bytes as it has room for.
    fn send(&mut self, bytes: &[u8]) -> Result<usize>;

    /// Received bytes; `None` if there are none now, 0 at the end.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>>;

    /// Returns when something may have changed, at the latest after `limit`.
    fn wait(&mut self, limit: Option<Duration>) -> Result<()>;

    /// Ends the connection in order.
    fn close(&mut self, limit: Duration) -> Result<()>;

    /// Whether its room is that of the send buffer of TCP.
    fn has_send_buffer(&self) -> bool;
}

/// `KEY=VALUE` arguments.
struct Job(HashMap<String, String>);

impl Job {
    fn text(&self, key: &str) -> Result<&str> {
        let found = self.0.get(key).map(String::as_str);
        found.ok_or_else(|| format!("{key}=VALUE is missing").into())
    }

    fn number(&self, key: &str, default: usize) -> Result<usize> {
        match self.0.get(key) {
            None => Ok(default),
            Some(value) => value
                .parse()
                .map_err(|_| format!("{key}={value}: a number of bytes is expected").into()),
        }
    }
}

/// The copy's local file.
struct Local(File);

impl LocalFiles for Local {
    fn write(&mut self, _: JobId, offset: u64, data: &[u8]) -> std::result::Result<(), LocalError> {
        self.0.write_all_at(data, offset).map_err(local_error)
    }

    fn read(
        &mut self,
        _: JobId,
        offset: u64,
        buffer: &mut [u8],
    ) -> std::result::Result<usize, LocalError> {
        self.0.read_at(buffer, offset).map_err(local_error)
    }
}

fn local_error(error: std::io::Error) -> LocalError {
    LocalError {
        disk_full: error.kind() == std::io::ErrorKind::StorageFull,
        message: error.to_string(),
    }
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let stack = words.next().unwrap_or_default();
    let pairs = words.map(|word| match word.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(format!("`{word}`: KEY=VALUE is expected")),
    });
    let job = Job(pairs.collect::<std::result::Result<_, _>>()?);
    let transport: Box<dyn Transport> = match stack.as_str() {
        "smoltcp" => Box::new(smoltcp::Smoltcp::connect(&job)?),
        "stream" => Box::new(stream::Stream::from_standard_input()?),
        _ => return Err("usage: stack_client smoltcp|stream KEY=VALUE…".into()),
    };
    Copy::new(&job, transport)?.run()
}

/// A copy under way.
struct Copy {
    client: Client,
    files: Local,
    transport: Box<dyn Transport>,
    log: Log,
    unsent: Vec<u8>,
    sent: usize,
}

impl Copy {
    fn new(job: &Job, transport: Box<dyn Transport>) -> Result<Self> {
        let profile = coax_catalog::clients::by_name("modern").ok_or("no profile")?;
        let log = Log::create(job.text("log")?)?;
        let (local, remote) = (job.text("local")?, job.text("remote")?);
        let (file, spec) = match job.text("verb")? {
            "put" => {
                let file = File::open(local)?;
                let size = file.metadata()?.len();
                (file, CopySpec::put(remote, size))
            }
            _ => {
                let file = OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    .open(local)?;
                (file, CopySpec::get(remote))
            }
        };
        let mut files = Local(file);
        let mut client = Client::new(log.now(), Arc::clone(&profile), target(job)?);
        client.submit(log.now(), Operation::Copy(spec), &mut files);
        Ok(Self {
            client,
            files,
            transport,
            log,
            unsent: Vec::new(),
            sent: 0,
        })
    }

    fn run(mut self) -> Result<()> {
        while !self.is_done()? {
            self.offer()?;
            if !self.receive()? {
                self.wait()?;
            }
        }
        self.client.finish(self.log.now());
        self.offer()?;
        self.log.flush()?;
        self.transport.close(CLOSING_MAX)
    }

    fn is_done(&mut self) -> Result<bool> {
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::Done { result, .. } => {
                    result?;
                    return Ok(true);
                }
                Event::Closed(error) => return Err(error.into()),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Offers one message after the other, as a program whose writes block.
    fn offer(&mut self) -> Result<()> {
        loop {
            if self.sent == self.unsent.len() {
                let Some(transmit) = self.client.poll_transmit() else {
                    return Ok(());
                };
                self.unsent = self.bytes(transmit)?;
                self.sent = 0;
                self.log.offered(self.unsent.len())?;
            }
            let rest = self.unsent.get(self.sent..).unwrap_or_default();
            let taken = self.transport.send(rest)?;
            self.sent += taken;
            if self.transport.has_send_buffer() {
                self.log.taken(taken)?;
            }
            if taken == 0 {
                return Ok(());
            }
        }
    }

    fn bytes(&mut self, transmit: Transmit) -> Result<Vec<u8>> {
        let mut found = transmit.head;
        match transmit.tail {
            Tail::None => {}
            Tail::Bytes(bytes) => found.extend(bytes),
            Tail::Local { offset, len, .. } => {
                let begin = found.len();
                found.resize(begin + len, 0);
                self.files
                    .0
                    .read_exact_at(found.get_mut(begin..).unwrap_or_default(), offset)?;
            }
        }
        Ok(found)
    }

    /// Whether there was something.
    fn receive(&mut self) -> Result<bool> {
        let mut buffer = vec![0; RECEIVED_AT_ONCE];
        match self.transport.receive(&mut buffer)? {
            None => Ok(false),
            Some(0) => {
                self.client.handle_eof(self.log.now(), &mut self.files);
                Ok(true)
            }
            Some(count) => {
                self.log.read(count)?;
                let bytes = buffer.get(..count).unwrap_or_default();
                self.client
                    .handle_bytes(self.log.now(), bytes, &mut self.files);
                Ok(true)
            }
        }
    }

    fn wait(&mut self) -> Result<()> {
        let due = self.client.poll_timeout();
        let limit = due.map(|due| Duration::from_nanos(due.0.saturating_sub(self.log.now().0)));
        self.transport.wait(limit)?;
        if due.is_some_and(|due| due <= self.log.now()) {
            self.client.handle_timeout(self.log.now(), &mut self.files);
        }
        Ok(())
    }
}

/// Random bytes.
fn entropy<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn target(job: &Job) -> Result<Target> {
    let name = |text: &[u8], suffix| -> Result<ScopedName> {
        Ok(ScopedName {
            name: NbName::new(text, suffix)?,
            scope: Default::default(),
        })
    };
    Ok(Target {
        server: job.text("server")?.into(),
        share: job.text("share")?.into(),
        service: "?????",
        credentials: Credentials {
            user: job.text("user")?.into(),
            domain: String::new(),
            password: job.text("password")?.into(),
            allow_weak: true,
        },
        transport: Session::Direct445,
        called: name(b"*SMBSERVER", 0x20)?,
        calling: name(b"STACK", 0)?,
        code_page: CodePage::cp850(),
        dialect: None,
        sign: false,
        entropy: entropy::<24>()?.into(),
        zone: Default::default(),
        filetime: 0,
    })
}
