//! What the server has learned of its clients outlives it.

use coax_state::{Client, OpenError, Store};

use crate::site::{Server, Site, coax, content};

/// Ten days ago, Unix seconds: a connection of today changes it.
fn ten_days_ago_s() -> u64 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_secs() - 10 * 86_400
}

/// A server whose clients are all paced, with a state folder.
fn start(site: &Site) -> Server {
    let folder = site.path("state");
    let global = format!(
        "coax:pacing = always\ncoax:state directory = {}\n",
        folder.display()
    );
    site.configure(&global, "");
    Server::start(site)
}

/// Bytes of a copy that proves a limit of 6 segments: loopback has segments of 64 KB, and a limit is proven by 8 full windows.
const PROOF: usize = 20_000_000;

/// Copies a file to the server and back.
fn copy(site: &Site, server: &Server) {
    copy_of(site, server, 1_000_000);
}

fn copy_of(site: &Site, server: &Server, len: usize) {
    let (local, back) = (site.path("local"), site.path("back"));
    std::fs::write(&local, content(3, len)).unwrap();
    let url = server.url("DATA/copied");
    for arguments in [
        ["put", local.to_str().unwrap(), &url],
        ["get", &url, back.to_str().unwrap()],
    ] {
        let done = coax(&arguments);
        assert!(done.status.success(), "{done:?}");
    }
    assert!(std::fs::read(back).unwrap() == content(3, len));
}

/// What the database has, after the server ended.
fn known(site: &Site) -> Vec<Client> {
    let opened = Store::open(&site.path("state")).unwrap();
    assert_eq!(opened.set_aside, None);
    opened.store.clients(0).unwrap()
}

/// A database with a limit of this machine's card: nothing is lost on loopback, so no copy teaches one.
fn with_a_limit(site: &Site) -> Client {
    let folder = site.path("state");
    std::fs::create_dir_all(&folder).unwrap();
    let client = Client {
        address: "127.0.0.1".parse().unwrap(),
        seen_s: ten_days_ago_s(),
        receive: Some(6),
        send: Some(6),
    };
    let store = Store::open(&folder).unwrap().store;
    store.write_clients(client.seen_s, &[client], &[]).unwrap();
    client
}

/// What the database has after a copy that proves its limit. A busy machine may read so late that the windows of a copy are
/// not full; then the next one proves it.
fn after_a_proof(site: &Site, stored_s: u64) -> Vec<Client> {
    for _ in 0..8 {
        let server = start(site);
        copy_of(site, &server, PROOF);
        server.stop();
        let now = known(site);
        if now.iter().any(|client| client.seen_s > stored_s) {
            return now;
        }
    }
    panic!("no copy proved the limit: {:?}", known(site));
}

#[test]
fn limits_are_used_after_a_restart_and_kept_when_they_hold() {
    let site = Site::new();
    let stored = with_a_limit(&site);
    let now = after_a_proof(&site, stored.seen_s);
    assert_eq!(now.len(), 1, "{now:?}");
    assert!(now[0].send <= Some(6), "{now:?}");
    start(&site).stop();
    assert_eq!(known(&site), now);
}

#[test]
fn a_server_that_is_killed_leaves_a_file_that_the_next_one_can_use() {
    let site = Site::new();
    with_a_limit(&site);
    for _ in 0..8 {
        let mut server = start(&site);
        copy(&site, &server);
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        assert_eq!(known(&site).len(), 1);
    }
}

#[test]
fn a_damaged_file_is_renamed_and_serving_goes_on() {
    let site = Site::new();
    std::fs::create_dir(site.path("state")).unwrap();
    std::fs::write(site.path("state/coax.redb"), "rubbish").unwrap();
    let mut server = start(&site);
    let notice = server.notice("renamed");
    assert!(notice.contains("coax.redb.unusable-1"), "{notice}");
    copy(&site, &server);
    server.stop();
    assert_eq!(known(&site), []);
    let kept = std::fs::read_to_string(site.path("state/coax.redb.unusable-1")).unwrap();
    assert_eq!(kept, "rubbish");
}

#[test]
fn a_folder_that_cannot_be_created_costs_only_the_memory() {
    let site = Site::new();
    std::fs::write(site.path("state"), "a file").unwrap();
    let mut server = start(&site);
    let notice = server.notice("state folder");
    assert!(notice.contains("coax:state directory"), "{notice}");
    copy(&site, &server);
    server.stop();
    assert_eq!(
        std::fs::read_to_string(site.path("state")).unwrap(),
        "a file"
    );
}

#[test]
fn the_second_server_of_a_folder_says_that_it_is_in_use() {
    let site = Site::new();
    let stored = with_a_limit(&site);
    let first = start(&site);
    let mut second = start(&site);
    second.notice("is in use by another server");
    copy(&site, &second);
    second.stop();
    first.stop();
    assert_eq!(known(&site), [stored]);
}

#[test]
fn after_a_takeover_the_new_server_has_the_file() {
    let site = Site::new();
    let stored = with_a_limit(&site);
    let folder = site.path("state");
    let global = format!(
        "coax:pacing = always\ncoax:state directory = {}\n",
        folder.display()
    );
    site.configure(&global, "");
    let mut old = Server::replaceable(&site, &[]);
    let new = Server::replaceable(&site, &["--takeover"]);
    old.notice("a new process accepts clients now");
    old.ended();
    // the new server has the file once nobody else can open it
    let folder = site.path("state");
    while !matches!(Store::open(&folder), Err(OpenError::InUse)) {
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    for _ in 0..3 {
        copy_of(&site, &new, PROOF);
    }
    new.stop();
    let now = known(&site);
    assert!(now.len() == 1 && now[0].seen_s > stored.seen_s, "{now:?}");
}
