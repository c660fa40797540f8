//! Faulty file systems: one that blocks, and one that panics.

use std::{
    fmt,
    sync::{Arc, Mutex, mpsc},
};

use coax_server::{
    share::{Share, ShareKind},
    vfs::{OpenHow, Space, Stat, Vfs, VfsDir, VfsFile, VfsResult},
};

use super::*;

/// The disk of share DATA, with a fault that runs at each use.
struct Trap(Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trap")
    }
}

impl Trap {
    fn spring<T>(&self) -> VfsResult<T> {
        (self.0)();
        Err(coax_server::vfs::VfsError::NotFound)
    }
}

impl Vfs for Trap {
    fn open(&self, _: &str, _: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        self.spring()
    }
    fn open_dir(&self, _: &str) -> VfsResult<Arc<dyn VfsDir>> {
        self.spring()
    }
    fn stat(&self, _: &str) -> VfsResult<Stat> {
        self.spring()
    }
    fn make_dir(&self, _: &str) -> VfsResult<()> {
        self.spring()
    }
    fn remove_file(&self, _: &str) -> VfsResult<()> {
        self.spring()
    }
    fn remove_dir(&self, _: &str) -> VfsResult<()> {
        self.spring()
    }
    fn rename(&self, _: &str, _: &str, _: bool) -> VfsResult<()> {
        self.spring()
    }
    fn hard_link(&self, _: &str, _: &str) -> VfsResult<()> {
        self.spring()
    }
    fn attribute(&self, _: &str, _: &str) -> VfsResult<Vec<u8>> {
        self.spring()
    }
    fn space(&self) -> VfsResult<Space> {
        self.spring()
    }
}

fn with_disk(trap: impl Fn() + Send + Sync + 'static) -> Fixture {
    with_disk_among("", 4, trap)
}

fn with_disk_among(
    options: &str,
    threads: usize,
    trap: impl Fn() + Send + Sync + 'static,
) -> Fixture {
    Fixture::build(options, threads, |server| {
        let mut shares = server.shares.iter_mut();
        let share = shares
            .find(|share| share.name == "DATA")
            .expect("the share must exist");
        let kind = ShareKind::Disk(Arc::new(Trap(Box::new(trap))));
        *share = Arc::new(Share {
            kind,
            ..Share::clone(share)
        });
    })
}

#[test]
fn a_panic_ends_that_connection_with_a_reason_and_no_other() {
    let server = with_disk(|| panic!("simulated panic of the disk"));
    let mut bystander = server.direct();
    bystander.use_the_share();
    let mut victim = server.direct();
    victim.use_the_share();
    victim.ask_open("\\FILE.TXT");
    assert!(victim.is_closed());
    assert!(server.disconnected().contains("defect"));
    bystander.echo(b"still served");
    server.running.stop();
}

/// A server whose disk hangs until it is let go. A test that fails lets it go first: the server's end waits for its disk.
struct Hung {
    let_go: mpsc::Sender<()>,
    server: Fixture,
}

impl Hung {
    fn build(options: &str, threads: usize) -> Self {
        let (let_go, wait) = mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let server = with_disk_among(options, threads, move || {
            // `recv` fails when the sender is dropped, which releases the disk
            let _ = wait.lock().unwrap().recv();
        });
        Self { let_go, server }
    }
}

#[test]
fn a_hung_disk_blocks_only_its_client_and_the_answer_arrives_in_the_end() {
    let hung = Hung::build("", 4);
    let mut waiting = hung.server.direct();
    waiting.use_the_share();
    waiting.ask_open("\\FILE.TXT");
    for _ in 0..10 {
        let mut other = hung.server.direct();
        other.use_the_share();
        other.echo(b"not held up");
    }
    waiting.stream.set_nonblocking(true).unwrap();
    assert!(
        waiting.stream.read(&mut [0; 1]).is_err(),
        "no reply is possible yet"
    );
    waiting.stream.set_nonblocking(false).unwrap();
    drop(hung.let_go);
    assert_eq!(waiting.receive()[4], 0x02);
    drop(hung.server);
}

#[test]
fn a_hung_disk_blocks_few_threads_however_many_clients_wait_for_it() {
    const CLIENTS: usize = 300;
    const THREADS: usize = 16;
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("FILE.TXT"), b"reachable").unwrap();
    let options = format!(
        "[OTHER]\npath = {}\nguest ok = yes\n[global]",
        other.path().display()
    );
    let hung = Hung::build(&options, THREADS);
    let mut waiting: Vec<Client> = (0..CLIENTS).map(|_| hung.server.direct()).collect();
    for client in &mut waiting {
        client.use_the_share();
        client.ask_open("\\FILE.TXT");
    }
    // Clients of the other share log on, connect and open files meanwhile.
    for _ in 0..20 {
        let mut client = hung.server.direct();
        client.use_share("OTHER");
        client.ask_open("\\FILE.TXT");
        assert_eq!(client.receive()[5], 0);
        client.echo(b"not held up");
    }
    // the passes of requests that were just answered return meanwhile
    let inside = || hung.server.running.host.lanes.inside();
    let end = Instant::now() + LONG;
    while inside() > THREADS / 8 {
        assert!(Instant::now() < end, "{} threads are inside", inside());
        std::thread::yield_now();
    }
    // The server releases clients that give up, although the disk still hangs.
    drop(waiting.split_off(CLIENTS / 2));
    drop(hung.let_go);
    for client in &mut waiting {
        assert_eq!(client.receive()[4], 0x02, "every request must get a reply");
    }
    drop(hung.server);
}
