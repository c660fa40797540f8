//! Connections that keep working, or lose what they may no longer use, when the configuration changes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{
    Server,
    event::Event,
    share::{Admission, Share, ShareKind},
    table::Census,
    testkit::{TestClient, TestServer},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_logon::{accounts::User, text::Ascii};
use coax_wire::{command as c, status::Status};

const NT: &str = "NT LM 0.12";

/// The same server after `change` of its shares and accounts.
fn changed(server: &TestServer, change: impl FnOnce(&mut Server)) -> Arc<Server> {
    let old = &server.server;
    let mut new = Server {
        config: old.config.clone(),
        shares: old.shares.clone(),
        accounts: old.accounts.clone(),
        tables: old.tables.clone(),
    };
    change(&mut new);
    Arc::new(new)
}

fn redefine(server: &mut Server, change: impl FnOnce(&mut Share)) {
    let mut share = (*server.shares[0]).clone();
    change(&mut share);
    server.shares[0] = Arc::new(share);
}

fn change_over(client: &mut TestClient, server: &Arc<Server>) -> Vec<Event> {
    while client.conn.poll_event().is_some() {}
    let now = client.now;
    client.conn.change_over(now, server.clone());
    core::iter::from_fn(|| client.conn.poll_event()).collect()
}

fn census(server: &TestServer) -> Census {
    server.server.locked(|tables| tables.census())
}

#[test]
fn an_administrator_closes_an_open_and_its_client_keeps_the_others() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let (first, second) = (client.open("A"), client.open("A"));
    let (rows, _) = server.server.locked(|tables| tables.overview(10));
    let now = client.now;
    assert!(client.conn.close_open(now, rows[0].open));
    assert!(!client.conn.close_open(now, rows[0].open));
    let (left, _) = server.server.locked(|tables| tables.overview(10));
    assert_eq!(left, rows[1..]);
    client.close(first).refused(Status::INVALID_HANDLE);
    client.close(second).ok();
}

#[test]
fn an_open_file_survives_changes_that_do_not_concern_it() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = client.open("A");
    let before = census(&server);
    let new = changed(&server, |server| {
        redefine(server, |share| share.comment = "new".into());
        let other = Share::for_guests(7, "OTHER", ShareKind::Disk(server_fs(server)));
        server.shares.push(Arc::new(other));
    });
    assert_eq!(change_over(&mut client, &new), []);
    assert_eq!(census(&server), before);
    client
        .request(c::WRITE, &[fid, 4, 0, 0, 0], b"\x01\x04\0data")
        .ok();
    client.close(fid).ok();
    client.connect_share("OTHER");
}

fn server_fs(server: &Server) -> Arc<dyn crate::vfs::Vfs> {
    server.shares[0].vfs().unwrap().clone()
}

#[test]
fn a_removed_share_is_disconnected_with_its_files_and_the_connection_goes_on() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let disk = client.header.tid;
    let fid = client.open("A");
    let new = changed(&server, |server| drop(server.shares.remove(0)));
    let events = change_over(&mut client, &new);
    let ended = Event::TreeEnded {
        share: "DISK".into(),
        why: "the share was removed",
    };
    assert_eq!(events, [ended]);
    assert_eq!((census(&server).opens, census(&server).files), (0, 0));
    client.header.tid = disk;
    client.close(fid).refused(Status::INVALID_HANDLE);
    client.connect_share("IPC$");
}

#[test]
fn a_share_that_becomes_read_only_refuses_changes_and_open_files_keep_their_rights() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = client.open("A");
    let read_only = |share: &mut Share| share.admission.read_only = true;
    let new = changed(&server, |server| redefine(server, read_only));
    assert_eq!(change_over(&mut client, &new), []);
    client
        .request(c::WRITE, &[fid, 1, 0, 0, 0], b"\x01\x01\0x")
        .ok();
    client.close(fid).ok();
    let delete = client.paths(c::DELETE, &[0], &["A"]);
    delete.refused(Status::ACCESS_DENIED);
}

#[test]
fn a_share_that_no_session_may_use_any_more_is_disconnected() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    client.open("A");
    let nobody = |share: &mut Share| share.admission = Admission::default();
    let new = changed(&server, |server| redefine(server, nobody));
    let events = change_over(&mut client, &new);
    assert!(matches!(&events[..], [Event::TreeEnded { why, .. }] if why.starts_with("no user")));
    assert_eq!(census(&server).opens, 0);
}

#[test]
fn the_session_of_a_removed_user_ends_and_that_of_another_user_stays() {
    let mut server = TestServer::new();
    server.edit(|server| {
        for name in ["ann", "bob"] {
            let user = User::with_password(name, "x", &Ascii);
            server.accounts.add(user).unwrap();
        }
    });
    let mut client = server.client(NT);
    let mut open_as = |name: &str| {
        let user = Some(String::from(name));
        client.header.uid = client.conn.context.sessions.add(9, user).unwrap();
        (client.header.uid, client.open(name))
    };
    let ((ann, anns), (bob, bobs)) = (open_as("ann"), open_as("bob"));
    let new = changed(&server, |server| {
        server.accounts = Default::default();
        let bob = User::with_password("bob", "y", &Ascii);
        server.accounts.add(bob).unwrap();
    });
    let events = change_over(&mut client, &new);
    assert_eq!(events, [Event::SessionEnded { user: "ann".into() }]);
    client.header.uid = ann;
    client.close(anns).refused(Status::INVALID_HANDLE);
    client.header.uid = bob;
    client.close(bobs).ok();
    assert_eq!(census(&server).opens, 0);
}

#[test]
fn files_of_a_user_who_may_not_use_the_share_any_more_are_closed_and_the_tree_stays() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    client.open("GUEST");
    let user = Some(String::from("ann"));
    client.header.uid = client.conn.context.sessions.add(9, user).unwrap();
    let anns = client.open("ANN");
    let new = changed(&server, |server| {
        let ann = User::with_password("ann", "x", &Ascii);
        server.accounts.add(ann).unwrap();
        redefine(server, |share| share.admission.guest = None);
    });
    assert_eq!(change_over(&mut client, &new), []);
    assert_eq!(census(&server).opens, 1);
    client.close(anns).ok();
}
