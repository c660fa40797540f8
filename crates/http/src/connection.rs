//! One connection: reads requests one after the other and writes the responses.

use std::{
    future::{Future, pending},
    io::{self, ErrorKind},
    net::SocketAddr,
    os::unix::fs::FileExt as _,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::TcpStream,
    sync::watch,
    time::{sleep, timeout},
};

use crate::{Body, HEAD_MAX, Head, Limits, Method, Refused, Response, read_head};

/// Bytes that are read or written at once.
const PART: usize = 16 << 10;
/// Requests of one connection at most.
const REQUESTS_MAX: usize = 1000;
/// Time after which readers of events get a comment, so that proxies keep the connection.
const SILENCE: Duration = Duration::from_secs(15);
/// How long, and for how many bytes, a client that was refused may go on to send.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_MAX: usize = 256 << 10;
/// The policy of refusals: they load nothing.
const REFUSAL: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A request.
#[derive(Debug)]
pub struct Request {
    /// Its head.
    pub head: Head,
    /// Its body.
    pub body: Vec<u8>,
}

/// A response that is being made. It is boxed, so that the program contains this server once for all services.
pub type Answering<'a, T = Response> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers requests.
pub trait Service: Send + Sync + 'static {
    /// Answers one that came to the address `local`.
    fn answer(&self, request: Request, local: SocketAddr) -> Answering<'_>;

    /// What responses may load and do (`Content-Security-Policy`), unless they have a policy of their own.
    fn policy(&self) -> &'static str;

    /// A connection was refused, because there are too many.
    fn is_full(&self) {}

    /// Waits until all connections are to end.
    fn closed(&self) -> Answering<'_, ()> {
        Box::pin(pending())
    }
}

/// Why a connection ends without a response.
enum End {
    /// The client is gone or too slow.
    Gone,
    /// With this response.
    Refused(Refused),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Serves a connection until its end.
pub(crate) async fn serve(stream: TcpStream, service: &dyn Service, limits: &Limits) {
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let mut read = Vec::new();
    for _ in 0..REQUESTS_MAX {
        let request = match request(&stream, &mut read, limits).await {
            Ok(Some(request)) => request,
            Ok(None) | Err(End::Gone) => return,
            Err(End::Refused(refused)) => return refuse(&stream, &refused.into()).await,
        };
        let (closes, bare) = (request.head.closes, request.head.method == Method::Head);
        let response = service.answer(request, local).await;
        let closes = closes || response.len().is_none();
        let head = response.head(closes, service.policy());
        let sent = send(&stream, &head, response, bare, limits).await;
        if sent.is_err() || closes {
            return;
        }
    }
}

/// Sends a response to a client whose further bytes are not read as requests. They are taken for a moment, because a
/// connection that is closed with unread bytes loses its response.
pub(crate) async fn refuse(stream: &TcpStream, response: &Response) {
    let Body::Text(text) = &response.body else {
        return;
    };
    let whole = response.head(true, REFUSAL) + text;
    if write(stream, whole.as_bytes(), LINGER).await.is_err() {
        return;
    }
    let _ = rustix::net::shutdown(stream, rustix::net::Shutdown::Write);
    let drain = async {
        let mut rest = Vec::new();
        let mut taken: usize = 0;
        while let Ok(count @ 1..) = more(stream, &mut rest).await {
            taken = taken.saturating_add(count);
            rest.clear();
            if taken > LINGER_MAX {
                return;
            }
        }
    };
    let _ = timeout(LINGER, drain).await;
}

/// The next request; `None` if the client closes the connection instead, or is silent.
async fn request(
    stream: &TcpStream,
    read: &mut Vec<u8>,
    limits: &Limits,
) -> Result<Option<Request>, End> {
    if read.is_empty() {
        match timeout(limits.idle, more(stream, read)).await {
            Ok(Ok(1..)) => {}
            _ => return Ok(None),
        }
    }
    let too_slow = |why| End::Refused(Refused { status: 408, why });
    let head = timeout(limits.head, head(stream, read)).await;
    let head = head.map_err(|_| too_slow("the head of the request came too slowly"))??;
    read.drain(..head.len.min(read.len()));
    if head.expects && read.len() < head.body {
        write(stream, b"HTTP/1.1 100 Continue\r\n\r\n", limits.stall).await?;
    }
    let whole = timeout(limits.body, async {
        while read.len() < head.body {
            if more(stream, read).await? == 0 {
                return Err(End::Gone);
            }
        }
        Ok(())
    });
    whole
        .await
        .map_err(|_| too_slow("the body of the request came too slowly"))??;
    let body = read.drain(..head.body.min(read.len())).collect();
    Ok(Some(Request { head, body }))
}

async fn head(stream: &TcpStream, read: &mut Vec<u8>) -> Result<Head, End> {
    loop {
        match read_head(read) {
            Ok(Some(head)) => return Ok(head),
            Ok(None) => {}
            Err(refused) => return Err(End::Refused(refused)),
        }
        if more(stream, read).await? == 0 {
            return Err(End::Gone);
        }
    }
}

/// Reads what has arrived; 0 at the end.
async fn more(stream: &TcpStream, read: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        stream.readable().await?;
        let mut part = [0; HEAD_MAX / 4];
        match stream.try_read(&mut part) {
            Ok(count) => {
                read.extend_from_slice(part.get(..count).unwrap_or_default());
                return Ok(count);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

async fn send(
    stream: &TcpStream,
    head: &str,
    response: Response,
    bare: bool,
    limits: &Limits,
) -> io::Result<()> {
    write(stream, head.as_bytes(), limits.stall).await?;
    if bare {
        return Ok(());
    }
    match response.body {
        Body::Text(text) => write(stream, text.as_bytes(), limits.stall).await,
        Body::Shared(bytes) => write(stream, &bytes, limits.stall).await,
        Body::File(file, len) => send_file(stream, &file, len, limits.stall).await,
        Body::Events(texts, _reader) => events(stream, texts, limits.stall).await,
    }
}

/// Writes everything. A client that accepts nothing for `stall` is gone.
async fn write(stream: &TcpStream, bytes: &[u8], stall: Duration) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        timeout(stall, stream.writable()).await??;
        match stream.try_write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The file is in memory, so reading it does not wait.
async fn send_file(
    stream: &TcpStream,
    file: &std::fs::File,
    len: u64,
    stall: Duration,
) -> io::Result<()> {
    let mut part = vec![0; PART];
    let mut at: u64 = 0;
    while at < len {
        let count = file.read_at(&mut part, at)? as u64;
        let count = count.min(len.saturating_sub(at));
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let bytes = part.get(..usize::try_from(count).unwrap_or_default());
        write(stream, bytes.unwrap_or_default(), stall).await?;
        at = at.saturating_add(count);
    }
    Ok(())
}

/// Each new text. A reader that is slow gets the newest when it is ready; those between are skipped.
async fn events(
    stream: &TcpStream,
    mut texts: watch::Receiver<Arc<str>>,
    stall: Duration,
) -> io::Result<()> {
    loop {
        let next = tokio::select! {
            changed = texts.changed() => Some(changed),
            () = sleep(SILENCE) => None,
            () = gone(stream) => return Ok(()),
        };
        let event = match next {
            Some(Ok(())) => {
                let text = texts.borrow_and_update().clone();
                if text.is_empty() {
                    continue;
                }
                format!("data: {text}\n\n")
            }
            Some(Err(_)) => return Ok(()),
            None => ":\n\n".into(),
        };
        write(stream, event.as_bytes(), stall).await?;
    }
}

/// The reader has closed the connection, or sends what nobody asked for.
async fn gone(stream: &TcpStream) {
    let mut read = Vec::new();
    let _ = more(stream, &mut read).await;
}
