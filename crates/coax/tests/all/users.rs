//! Users and their passwords as a stranger meets them: where passwords come from, and where they must not be seen.

use std::{
    io::{BufRead, BufReader, Read, Seek, SeekFrom, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

const PASSWORD: &str = "Swordfish-4711";
const LONG: Duration = Duration::from_secs(20);

fn coax() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coax"));
    command.env_remove("COAX_PASSWORD");
    command
}

/// A server of an empty folder, and where it listens.
struct Server {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(arguments: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = coax();
        command
            .arg("serve")
            .args(["--share", &format!("DATA={}", folder.path().display())])
            .args(["--direct", "127.0.0.1:0", "--json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stdin(Stdio::null());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        if let Some(mut input) = child.stdin.take() {
            writeln!(input, "{PASSWORD}").unwrap();
        }
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).expect("the server must listen");
        // Nobody reads on, and the server does not mind.
        drop(out);
        Self {
            child,
            address: listening["direct"].as_str().unwrap().into(),
            _folder: folder,
        }
    }

    fn process(&self, file: &str) -> Vec<u8> {
        std::fs::read(format!("/proc/{}/{file}", self.child.id())).unwrap()
    }

    /// Whether `user` may list the share with this password.
    fn admits(&self, user: &str, password: &str) -> bool {
        let place = format!("smb://{user}@{}/DATA", self.address);
        let listed = coax()
            .args(["ls", &place])
            .env("COAX_PASSWORD", password)
            .output()
            .unwrap();
        listed.status.success()
    }

    /// How often `text` stands in the memory that the process can write.
    fn copies_in_memory(&self, text: &str) -> usize {
        let maps = String::from_utf8(self.process("maps")).unwrap();
        let mut memory = std::fs::File::open(format!("/proc/{}/mem", self.child.id())).unwrap();
        let mut copies = 0;
        for line in maps.lines().filter(|line| line.contains(" rw")) {
            let (from, rest) = line.split_once('-').unwrap();
            let from = u64::from_str_radix(from, 16).unwrap();
            let to = u64::from_str_radix(rest.split(' ').next().unwrap(), 16).unwrap();
            let mut bytes = vec![0; usize::try_from(to - from).unwrap()];
            memory.seek(SeekFrom::Start(from)).unwrap();
            // Some pages cannot be read, and none of them is ours.
            if memory.read_exact(&mut bytes).is_ok() {
                let windows = bytes.windows(text.len());
                copies += windows.filter(|w| *w == text.as_bytes()).count();
            }
        }
        copies
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|w| w == text.as_bytes())
}

#[test]
fn a_password_on_the_command_line_is_not_in_the_process_list_nor_kept_in_memory() {
    let user = format!("eve:{PASSWORD}");
    let server = Server::start(&["--user", &user, "--name", "ATTIC"], |_| {});
    assert!(server.admits("eve", PASSWORD) && !server.admits("eve", "wrong"));
    let arguments = server.process("cmdline");
    assert!(!holds(&arguments, PASSWORD) && holds(&arguments, "--user\0eve\0"));
    assert!(holds(&arguments, "--name\0ATTIC\0"));
    assert!(!holds(&server.process("environ"), PASSWORD));
    assert_eq!(server.process("comm"), b"coax\n");
    assert_eq!(server.copies_in_memory(PASSWORD), 0);
    assert_eq!(server.copies_in_memory(&PASSWORD.to_uppercase()), 0);
    assert!(server.copies_in_memory("ATTIC") > 0);
}

#[test]
fn a_password_may_come_from_the_environment_and_does_not_stay_there() {
    let server = Server::start(&["--user", "eve"], |command| {
        command.env("COAX_PASSWORD", PASSWORD);
    });
    assert!(server.admits("EVE", PASSWORD) && !server.admits("eve", "wrong"));
    assert!(!holds(&server.process("environ"), PASSWORD));
    assert_eq!(server.copies_in_memory(PASSWORD), 0);
}

#[test]
fn passwords_may_come_from_standard_input_and_mix_with_others() {
    let arguments = ["--user", "ann:first", "--password-stdin", "--user", "eve"];
    let server = Server::start(&arguments, |command| {
        command.stdin(Stdio::piped());
    });
    assert!(server.admits("eve", PASSWORD) && server.admits("ann", "first"));
    assert!(!server.admits("ann", PASSWORD));
    assert!(!holds(&server.process("cmdline"), "first"));
}

#[test]
fn a_user_without_a_password_anywhere_is_an_error_that_says_how_to_give_one() {
    // Without a controlling terminal nobody can be asked.
    let done = Command::new("setsid")
        .args(["--wait", env!("CARGO_BIN_EXE_coax")])
        .args(["serve", "/", "--direct", "127.0.0.1:0", "--user", "eve"])
        .env_remove("COAX_PASSWORD")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(
        said.contains("COAX_PASSWORD") && said.contains("--password-stdin"),
        "{said}"
    );
}

#[test]
fn a_password_in_a_url_leaves_the_process_list() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!(
        "smb://eve:{PASSWORD}@{}/DATA/F",
        silent.local_addr().unwrap()
    );
    let mut client = coax()
        .args(["get", &place, "-", "--transport", "direct"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It has connected: everything before that is over.
    let _connection = silent.accept().unwrap();
    let arguments = std::fs::read(format!("/proc/{}/cmdline", client.id())).unwrap();
    client.kill().unwrap();
    client.wait().unwrap();
    assert!(holds(&arguments, "smb://eve@127.0.0.1:") && !holds(&arguments, PASSWORD));
}

#[test]
fn no_message_about_wrong_input_shows_a_password() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("smb.conf");
    let text = format!(
        "[global]\ncoax:pasword = {PASSWORD}\ncoax:password {PASSWORD}\ncoax:nonsense = yes\n[A]\npath = /\nguest ok = yes\ncoax:passwords = {PASSWORD}\n"
    );
    std::fs::write(&conf, text).unwrap();
    let url = |text: &str| text.replace("PASSWORD", PASSWORD);
    for arguments in [
        vec![
            "serve".to_string(),
            "/".into(),
            "--user".into(),
            url(":PASSWORD"),
        ],
        vec!["ls".into(), url("smb://eve:PASSWORD%@nas/a")],
        vec!["ls".into(), url("smb://eve:PASSWORD")],
        vec![
            "serve".into(),
            "--check".into(),
            "--config".into(),
            conf.display().to_string(),
            "--direct".into(),
            "127.0.0.1:0".into(),
        ],
    ] {
        let done = coax().args(&arguments).output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        assert!(
            !holds(&said, PASSWORD),
            "{}",
            String::from_utf8_lossy(&said)
        );
        assert!(!said.is_empty());
    }
}

fn user(file: &Path, arguments: &[&str], typed: &str) -> Output {
    let mut child = coax()
        .arg("user")
        .args(arguments)
        .arg("--file")
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early does not read it.
    let _ = child.stdin.take().unwrap().write_all(typed.as_bytes());
    child.wait_with_output().unwrap()
}

fn listed(file: &Path) -> Vec<Value> {
    let done = user(file, &["list", "--json"], "");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["wrong"], serde_json::json!([]));
    report["users"].as_array().unwrap().clone()
}

#[test]
fn users_who_are_added_can_log_on_and_those_who_are_removed_or_disabled_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    let done = |arguments: &[&str], typed: &str| {
        let done = user(&file, arguments, typed);
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(done(&["add", "ann"], &format!("{PASSWORD}\n")).starts_with("added ann"));
    done(&["add", "bob"], "other\n");
    done(&["add", "eve", "--no-lm"], "third\n");
    assert!(done(&["add", "BOB"], "changed\n").starts_with("changed the password of BOB"));
    done(&["disable", "eve"], "");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let users = listed(&file);
    assert_eq!(users.len(), 3);
    assert_eq!(
        (&users[1]["name"], &users[1]["lm"]),
        (&"bob".into(), &true.into())
    );
    assert_eq!(
        (&users[2]["disabled"], &users[2]["lm"]),
        (&true.into(), &false.into())
    );
    let option = format!("passdb backend = smbpasswd:{}", file.display());
    let option = ["--option", option.as_str(), "--guest", "none"];
    let server = Server::start(&option, |_| {});
    assert!(server.admits("ann", PASSWORD) && server.admits("bob", "changed"));
    assert!(!server.admits("bob", "other") && !server.admits("eve", "third"));
    done(&["enable", "eve"], "");
    done(&["remove", "ann", "bob"], "");
    let server = Server::start(&option, |_| {});
    assert!(server.admits("eve", "third") && !server.admits("ann", PASSWORD));
}

#[test]
fn a_user_command_that_cannot_be_done_changes_nothing_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    user(&file, &["add", "ann"], "secret\n");
    let before = std::fs::read(&file).unwrap();
    for (arguments, code, part) in [
        (&["remove", "joe"][..], 1, "no user 'joe'"),
        (&["remove", "ann", "joe"], 1, "no user 'joe'"),
        (&["add", "joe"], 1, "password is missing"),
        (&["add", "a:b"], 2, "colon"),
        (&["disable", "joe"], 1, "no user 'joe'"),
    ] {
        let done = user(&file, arguments, "");
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(code), "{said}");
        assert!(said.contains(part), "{said}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
    let nowhere = coax().args(["user", "list"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn runs_at_the_same_time_lose_no_user_and_the_file_of_a_configuration_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (file, conf) = (folder.path().join("users"), folder.path().join("smb.conf"));
    let text = format!("[global]\nsmb passwd file = {}\n", file.display());
    std::fs::write(&conf, text).unwrap();
    let runs: Vec<Child> = (0..12)
        .map(|number| {
            coax()
                .args([
                    "user",
                    "add",
                    "--no-password",
                    &format!("user{number}"),
                    "--config",
                ])
                .arg(&conf)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let until = Instant::now() + LONG;
    for mut run in runs {
        assert!(run.wait().unwrap().success() && Instant::now() < until);
    }
    assert_eq!(listed(&file).len(), 12);
}
