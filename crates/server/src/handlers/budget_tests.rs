//! Budgets over the wire: each refusal is clear and reserves nothing, and all reservations are released.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{
    budget::{Budgets, Caps, Resource},
    config::Config,
    share::ShareOptions,
    testkit::{TestClient, TestServer, block},
};
use coax_wire::{
    block::WireStr,
    command as c,
    header::HEADER_LEN,
    io::Writer,
    smb::{
        nt_transact,
        transaction::{Kind, Request},
    },
    status::Status,
};
use std::{string::ToString, vec::Vec};

const NT: &str = "NT LM 0.12";

fn server(budgets: Budgets) -> TestServer {
    let config = Config {
        budgets,
        ..Config::default()
    };
    let server = TestServer::with(config, ShareOptions::default());
    for number in 0..64 {
        server
            .fs
            .add_file(&number.to_string(), b"contents")
            .unwrap();
    }
    server
}

fn few_opens(address: usize, total: usize) -> TestServer {
    server(Budgets {
        opens: Caps {
            connection: total,
            address,
            total,
            small: 2,
        },
        ..Budgets::default()
    })
}

/// Counts the files that the client can open.
fn opens(client: &mut TestClient) -> usize {
    let open = |number: &usize| {
        let name = number.to_string();
        let answer = client.nt_create(&name, 0x0012_0089, (1, 0));
        assert!([0, Status::TOO_MANY_OPENED_FILES.0].contains(&answer.status()));
        answer.status() == 0
    };
    (0..64).take_while(open).count()
}

fn held(server: &TestServer) -> [usize; 3] {
    server.server.locked(|tables| {
        [Resource::Opens, Resource::Locks, Resource::Memory].map(|which| tables.total().get(which))
    })
}

/// Sends the first message of a transaction of 40,000 bytes and no secondary.
fn half_send(client: &mut TestClient) -> Option<u32> {
    let request = Request {
        kind: Kind::Transaction2,
        total_parameters: 0,
        total_data: 40_000,
        max_parameters: 0,
        max_data: 0,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function: 5,
        setup: &[5, 0],
        name: WireStr {
            raw: b"",
            unicode: false,
        },
        parameters: &[],
        data: &[7; 100],
    };
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    let block = out.as_slice()[HEADER_LEN..].to_vec();
    client.post(c::TRANSACTION2, &block);
    client.answer().map(|answer| answer.status())
}

#[test]
fn clients_of_one_address_cannot_use_up_the_servers_open_files() {
    let server = few_opens(16, 32);
    let mut greedy = server.client_from("10.0.0.1:1000", NT);
    let mut again = server.client_from("10.0.0.1:1001", NT);
    let mut other = server.client_from("10.0.0.2:1000", NT);
    assert_eq!(
        opens(&mut greedy),
        14,
        "the last eighth is reserved for others"
    );
    assert_eq!(opens(&mut again), 2, "this client uses little memory");
    assert_eq!(opens(&mut other), 12, "each address has its own account");
}

#[test]
fn the_last_client_to_connect_can_still_open_a_file() {
    let server = few_opens(32, 32);
    let mut greedy = server.client_from("10.0.0.1:1", NT);
    assert_eq!(opens(&mut greedy), 28);
    let mut late = server.client_from("10.0.0.2:1", NT);
    assert_eq!(opens(&mut late), 2);
}

#[test]
fn incomplete_transactions_of_all_clients_together_stay_within_the_budget() {
    let server = server(Budgets {
        memory: Caps::of_total(200_000, 50_000),
        ..Budgets::default()
    });
    let mut clients: Vec<TestClient> = (0..8)
        .map(|number| server.client_from(&std::format!("10.0.0.{number}:1"), NT))
        .collect();
    let answers: Vec<Option<u32>> = clients.iter_mut().map(half_send).collect();
    // An interim reply asks the client to continue.
    let taken = answers.iter().filter(|answer| **answer == Some(0)).count();
    let refused = Some(Status::INSUFF_SERVER_RESOURCES.0);
    assert_eq!(taken, 4);
    assert!(answers[taken..].iter().all(|answer| *answer == refused));
    assert!(held(&server)[2] <= 200_000);
}

#[test]
fn a_disconnect_releases_all_resources_of_the_client() {
    let server = server(Budgets::default());
    let mut blocker = server.client_from("10.0.0.1:1", NT);
    let locked = blocker.open("1");
    // Process 77, ten bytes at the beginning.
    let range: [u8; 10] = [77, 0, 0, 0, 0, 0, 10, 0, 0, 0];
    let lock = |fid: u16, timeout: [u16; 2]| {
        let words = [0xff, 0, fid, 0, timeout[0], timeout[1], 0, 1];
        block(&words, &range)
    };
    blocker
        .send_block(c::LOCKING_ANDX, &lock(locked, [0, 0]))
        .ok();
    let mut client = server.client_from("10.0.0.2:1", NT);
    opens(&mut client);
    let waiting = client.open("1");
    client.post(c::LOCKING_ANDX, &lock(waiting, [0xffff, 0xffff]));
    assert!(client.answer().is_none(), "the lock request must wait");
    half_send(&mut client);
    let folder = client.nt_create("", 0x0012_0089, (1, 1)).ok();
    let fid = u16::from_le_bytes([folder.block().words[5], folder.block().words[6]]);
    let setup = [0xff, 1, 0, 0, fid as u8, (fid >> 8) as u8, 0, 0];
    let notify = nt_transact::request(4, &setup, &[], &[], (4_096, 0));
    let mut out = Writer::default();
    notify.emit(out.zeros(HEADER_LEN));
    let bytes = out.as_slice()[HEADER_LEN..].to_vec();
    client.post(c::NT_TRANSACT, &bytes);
    assert!(
        client.answer().is_none(),
        "the notification request must wait"
    );
    let during = held(&server);
    assert!(
        during[0] > 64 && during[1] == 1 && during[2] > 40_000,
        "{during:?}"
    );
    client.conn.handle_disconnect(client.now);
    blocker.conn.handle_disconnect(blocker.now);
    drop((client, blocker));
    assert_eq!(held(&server), [0, 0, 0]);
}
