//! Reads a file from a server to standard output:
//! `cargo run -p coax-client --example get -- ADDRESS SHARE PATH [PORT]`. Port 445 is the default; guests only.

use std::{
    collections::BTreeMap,
    error::Error,
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use coax_client::{
    Client, CopySpec, Credentials, Event, JobId, LocalError, LocalFiles, Operation, Tail, Target,
};
use coax_netbios::Transport;
use coax_wire::{
    codepage::CodePage,
    nbt::name::{NbName, ScopedName},
    time::Time,
};

/// The received data by its offset in the file.
#[derive(Default)]
struct Memory(BTreeMap<u64, Vec<u8>>);

impl LocalFiles for Memory {
    fn write(&mut self, _: JobId, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        self.0.insert(offset, data.to_vec());
        Ok(())
    }

    fn read(&mut self, _: JobId, _: u64, _: &mut [u8]) -> Result<usize, LocalError> {
        Ok(0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, share, path, port @ ..] = arguments.as_slice() else {
        return Err("usage: get ADDRESS SHARE PATH [PORT]".into());
    };
    let port = port.first().map_or(Ok(445), |port| port.parse())?;
    let mut socket = TcpStream::connect((address.as_str(), port))?;
    let profile = coax_catalog::clients::by_name("modern").ok_or("no profile")?;
    let (begin, now) = (
        Instant::now(),
        SystemTime::now().duration_since(UNIX_EPOCH)?,
    );
    let clock = || Time((now + begin.elapsed()).as_nanos() as u64);
    let mut client = Client::new(clock(), Arc::clone(&profile), target(address, share)?);
    let mut memory = Memory::default();
    client.submit(
        clock(),
        Operation::Copy(CopySpec::get(path.as_str())),
        &mut memory,
    );
    loop {
        send(&mut client, &mut socket)?;
        while let Some(event) = client.poll_event() {
            match event {
                Event::Done { result, .. } => {
                    result?;
                    let mut out = std::io::stdout().lock();
                    for data in memory.0.values() {
                        out.write_all(data)?;
                    }
                    client.finish(clock());
                    return send(&mut client, &mut socket);
                }
                Event::Closed(error) => return Err(error.into()),
                _ => {}
            }
        }
        receive(&mut client, &mut socket, &mut memory, &clock)?;
    }
}

/// Waits for bytes until the engine's next deadline.
fn receive(
    client: &mut Client,
    socket: &mut TcpStream,
    memory: &mut Memory,
    clock: &dyn Fn() -> Time,
) -> Result<(), Box<dyn Error>> {
    let wait = client
        .poll_timeout()
        .map(|due| due.0.saturating_sub(clock().0));
    let wait = wait.map(|wait| Duration::from_nanos(wait.max(1_000_000)));
    socket.set_read_timeout(wait)?;
    let mut buffer = [0; 65_536];
    match socket.read(&mut buffer) {
        Ok(0) => client.handle_eof(clock(), memory),
        Ok(count) => {
            let bytes = buffer.get(..count).unwrap_or_default();
            client.handle_bytes(clock(), bytes, memory);
        }
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            client.handle_timeout(clock(), memory);
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn send(client: &mut Client, socket: &mut TcpStream) -> Result<(), Box<dyn Error>> {
    while let Some(transmit) = client.poll_transmit() {
        socket.write_all(&transmit.head)?;
        if let Tail::Bytes(bytes) = transmit.tail {
            socket.write_all(&bytes)?;
        }
    }
    Ok(())
}

fn target(server: &str, share: &str) -> Result<Target, Box<dyn Error>> {
    let name = |text: &[u8], suffix| -> Result<ScopedName, Box<dyn Error>> {
        Ok(ScopedName {
            name: NbName::new(text, suffix)?,
            scope: Default::default(),
        })
    };
    Ok(Target {
        server: server.into(),
        share: share.into(),
        service: "?????",
        credentials: Credentials {
            user: "GUEST".into(),
            domain: String::new(),
            password: "".into(),
            allow_weak: false,
        },
        transport: Transport::Direct445,
        called: name(b"*SMBSERVER", 0x20)?,
        calling: name(b"EXAMPLE", 0)?,
        code_page: CodePage::cp850(),
        dialect: None,
        sign: false,
        entropy: [7; 24].into(), // a guest proves nothing; other users need random bytes
        zone: Default::default(),
        filetime: 0,
    })
}
