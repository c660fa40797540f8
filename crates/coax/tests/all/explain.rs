//! `coax explain` as a command: what it takes, what it prints and writes, and how it ends.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures");

fn capture(name: &str) -> PathBuf {
    Path::new(CAPTURES).join(name)
}

fn explain<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coax"));
    command.arg("explain").args(arguments).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A little-endian pcap file in two: the first `packets` of them, and the rest.
fn in_two(file: &[u8], packets: usize) -> [Vec<u8>; 2] {
    const HEADER: usize = 24;
    let mut cut = HEADER;
    for _ in 0..packets {
        let len = u32::from_le_bytes(file[cut + 8..cut + 12].try_into().unwrap());
        cut += 16 + len as usize;
    }
    [
        file[..cut].to_vec(),
        [&file[..HEADER], &file[cut..]].concat(),
    ]
}

#[test]
fn pieces_of_a_capture_say_joined_what_the_whole_says_in_whatever_order() {
    let folder = tempfile::tempdir().unwrap();
    let whole = capture("suricata-xp-filecontainer.pcap");
    let pieces = in_two(&fs::read(&whole).unwrap(), 1300);
    let paths = ["b.pcap", "a.pcap"].map(|name| folder.path().join(name));
    for (path, piece) in paths.iter().zip(&pieces) {
        fs::write(path, piece).unwrap();
    }
    let [first, second] = paths.each_ref().map(|path| path.as_os_str());
    let mut wanted = json(&explain(&["--json".as_ref(), whole.as_os_str()]));
    for order in [[first, second], [second, first]] {
        let output = explain(&["--json".as_ref(), "--join".as_ref(), order[0], order[1]]);
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        let mut told = json(&output);
        let file = told["captures"][0]["file"].take();
        assert!(file.as_str().unwrap().ends_with("a.pcap"), "{file}");
        wanted["captures"][0]["file"].take();
        assert_eq!(told, wanted);
    }
    let apart = explain(&[first, second]);
    let hint = String::from_utf8(apart.stderr).unwrap();
    assert!(
        apart.status.success() && hint.contains("b.pcap ends: --join reads them as one"),
        "{hint}"
    );
}

#[test]
fn a_dash_is_standard_input_and_there_is_no_joining_with_it() {
    let file = capture("suricata-andx-chain.pcap");
    let mut command = Command::new(env!("CARGO_BIN_EXE_coax"));
    let command = command
        .args(["explain", "-"])
        .stdin(File::open(&file).unwrap());
    let piped = command.output().unwrap();
    assert!(piped.status.success(), "{piped:?}");
    assert_eq!(piped.stdout, explain(&[&file]).stdout);
    let joined = explain(&["--join", "-"]);
    assert_eq!(joined.status.code(), Some(1), "{joined:?}");
}

#[test]
fn what_cannot_be_read_is_named_with_what_to_do_and_costs_the_others_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let zip = folder.path().join("a.zip");
    fs::write(&zip, b"PK\x03\x04 and so on").unwrap();
    let good = capture("suricata-andx-chain.pcap");
    let missing = folder.path().join("missing.pcap");
    let output = explain(&[zip.as_path(), &missing, &good]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("zip archive: unpack it first"), "{said}");
    assert!(said.contains("missing.pcap: "), "{said}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("andx-chain.pcap:\n") && told.contains("Capture: "),
        "{told}"
    );
}

#[test]
fn a_page_is_not_replaced_by_one_that_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, "what was there").unwrap();
    let output = explain(&[
        "--html".as_ref(),
        page.as_os_str(),
        folder.path().join("missing.pcap").as_os_str(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read(&page).unwrap(), b"what was there");
}

#[test]
#[cfg(target_os = "linux")]
fn a_report_that_does_not_fit_on_the_disk_is_a_failure() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coax"));
    let command = command
        .arg("explain")
        .arg(capture("suricata-andx-chain.pcap"));
    let output = command.stdout(Stdio::from(full)).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot write to standard output"), "{said}");
}

#[test]
fn links_that_are_not_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("monitor.pcap");
    let mut bytes: Vec<u8> = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 127]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    for second in 0..3_u32 {
        bytes.extend([second, 0, 4, 4].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend([0; 4]);
    }
    fs::write(&file, bytes).unwrap();
    let told = String::from_utf8(explain(&[&file]).stdout).unwrap();
    let first = "No copy that can be read: 3 packets, 3 of link type 127 (802.11 with a radiotap header), which";
    assert!(told.starts_with(first), "{told}");
    assert!(told.contains("Capture: poor"), "{told}");
}

/// A capture of the lab in this folder.
fn lab_capture(folder: &Path, arguments: &[&str]) -> String {
    let pcap = folder.join("copy.pcap").to_str().unwrap().to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coax"));
    command.args(["lab", "run"]).args(arguments);
    let done = command.args(["--pcap", &pcap]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    pcap
}

#[test]
fn advice_becomes_a_diff_of_the_users_files_that_patch_applies() {
    const NT: &str = "REGEDIT4\r\n\r\n[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\LanmanServer\\Parameters]\r\n\
        \"SizReqBuf\"=dword:00001104\r\n";
    let folder = tempfile::tempdir().unwrap();
    let pcap = lab_capture(folder.path(), &["wan-2000-to-nt", "--set", "size=400kB"]);
    fs::write(folder.path().join("nt.reg"), NT).unwrap();
    fs::write(folder.path().join("smb.conf"), "[global]\nread raw = no\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coax"));
    command.current_dir(folder.path());
    command.args([
        "explain",
        "--json",
        &pcap,
        "--server-config",
        "nt.reg",
        "--config",
        "smb.conf",
    ]);
    let told = json(&command.output().unwrap());
    let changes = &told["captures"][0]["file_changes"];
    let advice = changes["advice"].as_array().unwrap();
    let state = |id: &str| &advice.iter().find(|one| one["id"] == id).unwrap()["state"];
    assert_eq!(state("nt-larger-request-buffer-and-window"), "changed");
    assert_eq!(state("nt-larger-request-buffer"), "included");
    let changed = advice.iter().filter(|one| one["state"] == "changed");
    assert!(changed.clone().count() == 1);
    for one in changed {
        assert_eq!(changes["predicted_s"], one["predicted_s"]);
    }
    let predicted: Vec<f64> = advice
        .iter()
        .filter_map(|one| one["predicted_s"][1].as_f64())
        .collect();
    assert!(predicted.len() > 1 && predicted.is_sorted(), "{advice:?}");
    let diff = folder.path().join("diff");
    fs::write(&diff, changes["diff"].as_str().unwrap()).unwrap();
    let mut patch = Command::new("patch");
    patch.args(["-p0", "-i", "diff"]).current_dir(folder.path());
    assert!(patch.output().unwrap().status.success());
    let expected = NT.replace("00001104", "0000ffff")
        + "\r\n[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters]\r\n\"tcpwindowsize\"=dword:0000faf0\r\n";
    assert_eq!(
        fs::read_to_string(folder.path().join("nt.reg")).unwrap(),
        expected
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("smb.conf")).unwrap(),
        "[global]\nread raw = no\n"
    );
}

#[test]
fn advice_that_the_files_have_or_cannot_hold_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let window = "client.stack.receive_window=1450";
    let arguments = [
        "dos-ms-net-full",
        "--set",
        "size=300kB",
        "--set",
        "direction=to-client",
        "--set",
        window,
    ];
    let pcap = lab_capture(folder.path(), &arguments);
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let own = path("PROTOCOL.INI", "[TCPIP]\r\nTCPWindowSize=4350\r\n");
    let text = |file: &str| {
        let output = explain(&[pcap.as_str(), "--config", file]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let told = text(&own);
    assert!(
        told.contains("PROTOCOL.INI:2: tcpwindowsize = 4350"),
        "{told}"
    );
    assert!(
        told.contains("have these values already") && !told.contains("\n--- "),
        "{told}"
    );
    let told = text(&path("smb.conf", "[global]\nread raw = yes\n"));
    assert!(told.contains("No given file can hold these:"), "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("no PROTOCOL.INI of the client is given"),
        "{told}"
    );
    for (file, why) in [
        (
            path("notes.txt", "a = b\n"),
            "coax reads no file of this kind",
        ),
        (
            folder.path().join("none.ini").to_str().unwrap().to_owned(),
            "cannot read",
        ),
    ] {
        let output = explain(&[pcap.as_str(), "--config", &file]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why) && output.stdout.is_empty(), "{said}");
    }
}

#[test]
fn several_changes_of_a_diff_are_also_predicted_together() {
    let folder = tempfile::tempdir().unwrap();
    let values = [
        "size=300kB",
        "client.machine=fast",
        "client.stack.receive_window=2920",
        "server.config.read_raw=false",
        "server.stack.nagle=standard",
        "link.delay=5 ms",
    ];
    let mut arguments = vec!["wfw-486"];
    arguments.extend(values.iter().flat_map(|value| ["--set", value]));
    let pcap = lab_capture(folder.path(), &arguments);
    let conf = folder.path().join("smb.conf");
    fs::write(&conf, "[global]\nread raw = no\n").unwrap();
    let run = |more: &[&str]| {
        let mut all = vec![pcap.as_str(), "--config", conf.to_str().unwrap()];
        all.extend(more);
        explain(&all)
    };
    let told = json(&run(&["--json"]));
    let changes = &told["captures"][0]["file_changes"];
    let advice = changes["advice"].as_array().unwrap();
    let changed: Vec<f64> = advice
        .iter()
        .filter(|one| one["state"] == "changed")
        .filter_map(|one| one["predicted_s"][1].as_f64())
        .collect();
    assert!(changed.len() > 1, "{advice:?}");
    let together = changes["predicted_s"][1].as_f64().unwrap();
    assert!(
        changed.iter().all(|alone| together <= alone * 1.02),
        "{changes}"
    );
    let text = String::from_utf8(run(&[]).stdout).unwrap();
    assert!(
        text.contains("With the whole diff: would take about"),
        "{text}"
    );
}
