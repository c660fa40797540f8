//! `coax serve --ci` and `--fault` as a program: what it prints, how it ends, and what each fault does on the wire.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const COAX: &str = env!("CARGO_BIN_EXE_coax");
const ECHO: u8 = 0x2b;
/// Longer than any test.
const LONG: Duration = Duration::from_secs(20);

struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    listening: Value,
    ci: Value,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(COAX)
            .args(["serve", "--ci"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self {
            child,
            out,
            listening: Value::Null,
            ci: Value::Null,
        };
        server.listening = server.next().unwrap();
        server.ci = server.next().unwrap();
        server
    }

    fn with_faults(faults: &[&str]) -> Self {
        let arguments: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
        Self::start(&arguments)
    }

    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The next event of this kind.
    fn event(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().expect(kind);
            if event["event"] == kind {
                return event;
            }
        }
    }

    fn client(&self) -> Client {
        let mut client = Client {
            stream: TcpStream::connect(self.listening["direct"].as_str().unwrap()).unwrap(),
        };
        client.stream.set_read_timeout(Some(LONG)).unwrap();
        client.send(
            0x72,
            0,
            &[],
            b"\x02PC NETWORK PROGRAM 1.0\0\x02NT LM 0.12\0",
        );
        client.receive().unwrap();
        client
    }

    /// Stops it; the summary and the exit code.
    fn finish(mut self) -> (Value, i32) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.ended()
    }

    fn ended(&mut self) -> (Value, i32) {
        let mut last = Value::Null;
        while let Some(event) = self.next() {
            last = event;
        }
        assert_eq!(last["event"], "summary", "the last line");
        let code = self.child.wait().unwrap().code().unwrap();
        assert_eq!(last["exit_code"].as_i64(), Some(i64::from(code)));
        (last, code)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client {
    stream: TcpStream,
}

impl Client {
    fn send(&mut self, command: u8, mid: u16, words: &[u16], bytes: &[u8]) {
        let mut message = b"\xffSMB\0\0\0\0\0\x18\x01\x40".to_vec();
        message[4] = command;
        message.resize(30, 0);
        message.extend(mid.to_le_bytes());
        message.push(u8::try_from(words.len()).unwrap());
        words
            .iter()
            .for_each(|word| message.extend(word.to_le_bytes()));
        message.extend(u16::try_from(bytes.len()).unwrap().to_le_bytes());
        message.extend(bytes);
        let len = u32::try_from(message.len()).unwrap().to_be_bytes();
        self.stream
            .write_all(&[&len[..], &message].concat())
            .unwrap();
    }

    fn echo(&mut self, mid: u16) {
        self.send(ECHO, mid, &[1], b"hello");
    }

    fn receive(&mut self) -> std::io::Result<Vec<u8>> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header)?;
        let mut message = vec![0; u32::from_be_bytes(header) as usize];
        self.stream.read_exact(&mut message)?;
        Ok(message)
    }

    /// Sends an ECHO and returns the MID of the reply and its length.
    fn answer(&mut self, mid: u16) -> (u16, usize) {
        self.echo(mid);
        let reply = self.receive().unwrap();
        (u16::from_le_bytes([reply[30], reply[31]]), reply.len())
    }

    fn is_silent_for(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let silent = matches!(self.stream.read(&mut [0; 1]), Err(error) if error.kind() == ErrorKind::WouldBlock);
        self.stream.set_read_timeout(Some(LONG)).unwrap();
        silent
    }
}

#[test]
fn the_first_lines_say_where_it_listens_and_what_it_shares() {
    let server = Server::start(&[]);
    assert_eq!(server.listening["event"], "listening");
    let direct = server.listening["direct"].as_str().unwrap();
    assert!(direct.starts_with("127.0.0.1:"), "{direct}");
    assert!(
        server.listening["nbt"]
            .as_str()
            .unwrap()
            .starts_with("127.0.0.1:")
    );
    assert_eq!(server.ci["event"], "ci");
    assert_eq!(server.ci["url"], format!("smb://{direct}/CI"));
    let folder = server.ci["folder"].as_str().unwrap().to_owned();
    std::fs::write(format!("{folder}/A.TXT"), "left by a test").unwrap();
    let (summary, code) = server.finish();
    assert_eq!((summary["ended"].as_str(), code), (Some("signal"), 0));
    assert!(!std::path::Path::new(&folder).exists(), "{folder} is left");
}

#[test]
fn a_folder_that_is_named_is_shared_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games");
    std::fs::create_dir(&path).unwrap();
    let server = Server::start(&[path.to_str().unwrap()]);
    assert_eq!(server.ci["share"], "GAMES");
    assert_eq!(server.finish().1, 0);
    assert!(path.exists());
}

#[test]
fn it_ends_with_its_parent() {
    let script = format!("{COAX} serve --ci & echo $!; sleep 0.4");
    let out = Command::new("sh").args(["-c", &script]).output().unwrap();
    let lines: Vec<Value> = String::from_utf8(out.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(Value::is_object)
        .collect();
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["event"], &last["ended"]),
        (&"summary".into(), &"parent".into())
    );
}

#[test]
fn it_ends_at_the_time_limit_with_exit_code_1() {
    let mut server = Server::start(&["--ci-time-limit", "1s", "--ci-parent", "none"]);
    let (summary, code) = server.ended();
    assert_eq!((summary["ended"].as_str(), code), (Some("time limit"), 1));
}

#[test]
fn a_process_that_does_not_exist_is_an_error_at_start() {
    let out = Command::new(COAX)
        .args(["serve", "--ci", "--ci-parent", "2147483646"])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!(
        (out.status.code(), text.as_str()),
        (Some(1), "error: there is no process 2147483646\n")
    );
}

#[test]
fn a_request_that_fails_is_explained_and_no_problem_of_the_test() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    client.send(0x04, 7, &[9, 0, 0], &[]);
    client.receive().unwrap();
    let explained = server.event("explained");
    assert_eq!(explained["mid"], 7);
    let why = explained["why"].as_str().unwrap();
    assert!(
        !why.is_empty() && explained["instead"].is_string(),
        "{explained}"
    );
    assert_eq!(explained["invalid"].as_array().unwrap().len(), 0);
    drop(client);
    let (summary, code) = server.finish();
    assert_eq!((summary["refused_requests"].as_i64(), code), (Some(1), 0));
}

#[test]
fn an_invalid_request_is_explained_with_field_and_offset_and_fails_the_test() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    // CLOSE has three words
    client.send(0x04, 7, &[9], &[]);
    client.receive().unwrap();
    let explained = server.event("explained");
    assert_eq!(
        explained["invalid"][0],
        "WordCount at offset 32 is 1: should be 3"
    );
    drop(client);
    let (summary, code) = server.finish();
    assert_eq!((summary["invalid_requests"].as_i64(), code), (Some(1), 1));
    assert!(
        summary["problems"][0]
            .as_str()
            .unwrap()
            .contains("one request was invalid")
    );
}

#[test]
fn faults_change_delay_double_and_drop_replies() {
    let server = Server::with_faults(&[
        "ECHO#1=delay 300ms",
        "ECHO#2=mid 99",
        "ECHO#3=truncate 33",
        "ECHO#4=duplicate",
        "ECHO#5=drop",
        "ECHO#6:request=drop",
        "ECHO#7=error ACCESS_DENIED",
        "ECHO#8:reply=error ERRSRV/1",
        "ECHO#9=signature",
        "ECHO#10=split 10 30ms",
    ]);
    let mut client = server.client();
    let began = Instant::now();
    assert_eq!(client.answer(1), (1, 42));
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(client.answer(2), (99, 42));
    assert_eq!(client.answer(3).1, 33);
    assert_eq!(client.answer(4), (4, 42));
    assert_eq!(client.receive().unwrap().len(), 42);
    for mid in [5, 6] {
        client.echo(mid);
        assert!(client.is_silent_for(Duration::from_millis(200)), "{mid}");
    }
    client.echo(7);
    assert_eq!(
        client.receive().unwrap()[5..9],
        0xc000_0022_u32.to_le_bytes()
    );
    client.echo(8);
    assert_eq!(client.receive().unwrap()[5..9], [2, 0, 1, 0]);
    client.echo(9);
    assert_eq!(client.receive().unwrap()[14..22], [0xff; 8]);
    client.echo(10);
    let mut sizes = Vec::new();
    while sizes.iter().sum::<usize>() < 46 {
        sizes.push(client.stream.read(&mut [0; 64]).unwrap());
    }
    assert_eq!(sizes, [10, 10, 10, 10, 6]);
    assert_eq!(client.answer(11), (11, 42));
    drop(client);
    let (summary, code) = server.finish();
    let injected = summary["injected"].as_array().unwrap();
    assert!(
        injected.iter().all(|fault| fault["applied"] == 1),
        "{summary}"
    );
    assert_eq!((injected.len(), code), (10, 0));
}

#[test]
fn faults_end_connections_in_three_ways_and_the_next_connection_gets_on() {
    let mut server = Server::with_faults(&[
        "ECHO#1=disconnect",
        "ECHO#2=reset",
        "ECHO#3=cut 20",
        "ECHO#4:request=reset",
    ]);
    let end = |server: &Server| {
        let mut client = server.client();
        client.echo(1);
        let mut bytes = Vec::new();
        let end = client
            .stream
            .read_to_end(&mut bytes)
            .map_err(|error| error.kind());
        (bytes.len(), end.err())
    };
    assert_eq!(end(&server), (0, None));
    assert_eq!(end(&server), (0, Some(ErrorKind::ConnectionReset)));
    assert_eq!(end(&server), (20, None));
    assert_eq!(end(&server), (0, Some(ErrorKind::ConnectionReset)));
    let why = server.event("disconnected");
    assert_eq!(why["why"], "the fault ECHO#1=disconnect");
    assert_eq!(server.client().answer(1), (1, 42));
    assert_eq!(server.finish().1, 0);
}

#[test]
fn a_fault_that_was_never_applied_fails_the_test() {
    let server = Server::with_faults(&["READ_ANDX#3=disconnect"]);
    server.client().answer(1);
    let (summary, code) = server.finish();
    assert_eq!(code, 1);
    assert_eq!(
        summary["problems"][0],
        "the fault READ_ANDX#3=disconnect was never applied: the client sent no such request"
    );
}

#[test]
fn a_normal_server_says_that_it_injects_faults() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(COAX)
        .args([
            "serve",
            folder.path().to_str().unwrap(),
            "--direct",
            "127.0.0.1:0",
            "--json",
            "--fault",
            "ECHO=drop",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let notice = lines
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|event| event["event"] == "notice")
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(notice["text"], "this server injects faults: ECHO=drop");
}
