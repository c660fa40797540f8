//! The sockets: a fixed number of threads, one request for each connection.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crate::{
    answer::{answer, refusal},
    find::Page,
    request::{MAX_HEAD, Request},
};

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads, so as many connections at a time; others wait in the socket's queue.
    pub threads: usize,
    /// The head of a request must be complete after this time.
    pub head: Duration,
    /// The client must have taken the whole answer after this time.
    pub body: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        // a browser opens connections in reserve and sends nothing on them
        Self {
            threads: 8,
            head: Duration::from_secs(5),
            body: Duration::from_secs(30),
        }
    }
}

/// The page on a port of this machine.
#[derive(Debug)]
pub struct Hosting {
    listener: TcpListener,
    address: SocketAddr,
}

impl Hosting {
    /// Listens on loopback; port 0 is any free one.
    ///
    /// # Errors
    /// The port is taken, or only root may take it.
    pub fn on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where browsers find the page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves as long as the process lives.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn serve(self, page: Page, limits: Limits) -> io::Result<()> {
        let shared = Arc::new((self.listener, page));
        let mut threads = Vec::new();
        for _ in 0..limits.threads {
            let shared = Arc::clone(&shared);
            let address = self.address;
            let work = move || accept(&shared.0, &shared.1, address, limits);
            threads.push(thread::Builder::new().name("page".into()).spawn(work)?);
        }
        for thread in threads {
            // it does not end
            let _ = thread.join();
        }
        Ok(())
    }
}

fn accept(listener: &TcpListener, page: &Page, address: SocketAddr, limits: Limits) {
    loop {
        match listener.accept() {
            // what is wrong with one connection concerns its client only
            Ok((stream, _)) => drop(one(stream, page, address, limits)),
            // no more file descriptors: some become free
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

fn one(mut stream: TcpStream, page: &Page, address: SocketAddr, limits: Limits) -> io::Result<()> {
    let answer = match head(&mut stream, Instant::now() + limits.head)? {
        Head::Complete(bytes) => answer(&Request::parse(&bytes), address, page.bytes.len()),
        Head::TooLong => refusal("431 Request Header Fields Too Large", ""),
        Head::TooLate => refusal("408 Request Timeout", ""),
        Head::None => return Ok(()),
    };
    let deadline = Instant::now() + limits.body;
    send(&mut stream, answer.head.as_bytes(), deadline)?;
    if answer.page {
        send(&mut stream, &page.bytes, deadline)?;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    // a close with unread bytes is a reset, which may cost the client the answer
    let mut rest = [0; 4096];
    let mut left = MAX_HEAD;
    while left > 0 && until(&stream, deadline.min(Instant::now() + limits.head)).is_ok() {
        match stream.read(&mut rest)? {
            0 => break,
            count => left = left.saturating_sub(count),
        }
    }
    Ok(())
}

enum Head {
    Complete(Vec<u8>),
    TooLong,
    TooLate,
    None,
}

fn head(stream: &mut TcpStream, deadline: Instant) -> io::Result<Head> {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        if until(stream, deadline).is_err() {
            return Ok(Head::TooLate);
        }
        match stream.read(&mut part) {
            Ok(0) => return Ok(Head::None),
            Ok(count) => {
                let known = bytes.len().saturating_sub(3);
                bytes.extend_from_slice(part.get(..count).unwrap_or_default());
                if let Some(end) = Request::end(bytes.get(known..).unwrap_or_default()) {
                    bytes.truncate(known + end);
                    return Ok(Head::Complete(bytes));
                }
            }
            Err(error) if is_timeout(&error) && bytes.is_empty() => return Ok(Head::None),
            Err(error) if is_timeout(&error) => return Ok(Head::TooLate),
            Err(error) => return Err(error),
        }
        if bytes.len() > MAX_HEAD {
            return Ok(Head::TooLong);
        }
    }
}

fn send(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        until(stream, deadline)?;
        let count = stream.write(bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}

/// Lets the next read and write wait until the deadline at most.
fn until(stream: &TcpStream, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.set_write_timeout(Some(left))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
