//! One client.

use super::*;

#[test]
fn a_client_that_answers() {
    table(&[
        (
            |f| f.client = Some(client("192.168.1.9")),
            Severity::Ok,
            &["the server admits 192.168.1.9"],
        ),
        (
            |f| f.client = Some(client("192.168.1.9")),
            Severity::Ok,
            &["it answers: node status, TCP 139 (open), TCP 445 (closed)"],
        ),
        (
            |f| f.client = Some(client("192.168.1.9")),
            Severity::Ok,
            &["its names are DOSPC<00>, LAB<00> (MAC address 00-11"],
        ),
        (
            |f| {
                f.client = Some(Client {
                    listed: Listed::No,
                    ..client("192.168.1.9")
                })
            },
            Severity::Note,
            &["the list of LAB does not have it"],
        ),
        (
            |f| f.client = Some(client("192.168.1.9")),
            Severity::Note,
            &["has no connection from it"],
        ),
    ]);
}

#[test]
fn a_client_that_does_not_answer() {
    table(&[
        (
            |f| {
                f.client = Some(Client {
                    asked: "NOBODY".into(),
                    failures: vec!["no machine answered".into()],
                    ..Client::default()
                })
            },
            Severity::Error,
            &[
                "no machine is found by the name NOBODY",
                "no machine answered",
            ],
        ),
        (
            |f| {
                let silent = Client {
                    node: None,
                    neighbour: Neighbour::Silent,
                    ports: vec![(139, Port::Silent)],
                    ..client("192.168.1.9")
                };
                f.client = Some(silent);
            },
            Severity::Error,
            &["does not answer ARP", "check power"],
        ),
        (
            |f| {
                f.client = Some(Client {
                    node: None,
                    ports: Vec::new(),
                    ..client("192.168.1.9")
                })
            },
            Severity::Warning,
            &["answers ARP and nothing else"],
        ),
        (
            |f| {
                f.client = Some(Client {
                    echo: Some(true),
                    full_echo: Some(false),
                    ..client("192.168.1.9")
                })
            },
            Severity::Warning,
            &["packets of 1500 bytes do not"],
        ),
    ]);
}

#[test]
fn the_way_to_a_client() {
    table(&[
        (
            |f| f.client = Some(client("10.9.9.9")),
            Severity::Error,
            &["no route to 10.9.9.9"],
        ),
        (
            |f| {
                f.routes.push(Route {
                    interface: "eth0".into(),
                    to: lan("0.0.0.0", 0).network,
                    gateway: Some(ip("192.168.1.1")),
                    metric: 0,
                });
                f.client = Some(client("10.9.9.9"));
            },
            Severity::Note,
            &["behind the router 192.168.1.1", "wins support"],
        ),
    ]);
}

#[test]
fn who_is_admitted() {
    table(&[
        (
            |f| {
                f.config.settings = settings("hosts allow = 10.");
                f.client = Some(client("192.168.1.9"));
            },
            Severity::Error,
            &[
                "the server refuses 192.168.1.9",
                "not on 'hosts allow'",
                "[global] hosts allow = … 192.168.1.9",
            ],
        ),
        (
            |f| {
                f.config.settings.shares[0].hosts =
                    settings("hosts deny = 192.168.1.9").global.hosts;
                f.client = Some(client("192.168.1.9"));
            },
            Severity::Warning,
            &["the share OLD refuses", "[OLD] hosts deny"],
        ),
        (
            |f| {
                f.routes[0].to = lan("8.8.8.0", 24).network;
                f.client = Some(client("8.8.8.9"));
            },
            Severity::Error,
            &["refuses 8.8.8.9", "public", "hosts allow"],
        ),
        (
            |f| {
                let line = ClientStatus {
                    client: 3,
                    address: "192.168.1.9:1025".into(),
                    system: "MS Network Client 3.0".into(),
                    user: Some("guest".into()),
                    refused: vec![
                        "LOG-ON of anna: LM response ('lanman auth = yes' would allow it)".into(),
                    ],
                    ..ClientStatus::default()
                };
                f.service.status = Status::Answer(Box::new(serving(vec![line])));
                f.client = Some(client("192.168.1.9"));
            },
            Severity::Warning,
            &[
                "the server refused LOG-ON of anna |",
                "LM response",
                "| lanman auth = yes",
            ],
        ),
    ]);
}

#[test]
fn names_of_a_client() {
    table(&[
        (
            |f| {
                let mut client = client("192.168.1.9");
                client.node.as_mut().unwrap().names[0].conflict = true;
                f.client = Some(client);
            },
            Severity::Warning,
            &["DOSPC is in conflict"],
        ),
        (
            |f| {
                let mut client = client("192.168.1.9");
                client.node.as_mut().unwrap().names[0].name = "VINTAGE".into();
                f.client = Some(client);
            },
            Severity::Error,
            &["it has the server's name VINTAGE"],
        ),
        (
            |f| {
                let mut client = client("192.168.1.9");
                client.node.as_mut().unwrap().names[1].name = "HOME".into();
                f.client = Some(client);
            },
            Severity::Note,
            &[
                "its workgroup is HOME, the server's is LAB",
                "[global] workgroup = HOME",
            ],
        ),
    ]);
}
