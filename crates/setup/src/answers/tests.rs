//! Right and wrong answers.
#![allow(clippy::unwrap_used)]

use std::net::Ipv4Addr;

use coax_doctor::{
    facts::{Address, Interface},
    unit::Unit,
};
use coax_netbios::Network as Ip;

use super::*;

fn interface(name: &str, address: Option<[u8; 4]>, ethernet: bool) -> Interface {
    let addresses = address.map(|address| Address {
        network: Ip {
            address: Ipv4Addr::from(address),
            prefix: 24,
        },
        broadcast: None,
    });
    Interface {
        name: name.into(),
        up: true,
        loopback: name == "lo",
        ethernet,
        addresses: addresses.into_iter().collect(),
        ..Interface::default()
    }
}

fn site() -> Site {
    Site {
        interfaces: vec![
            interface("lo", Some([127, 0, 0, 1]), false),
            interface("eth0", Some([192, 168, 1, 5]), true),
            interface("eth1", None, true),
            interface("tun0", Some([10, 8, 0, 1]), false),
        ],
        ..Site::default()
    }
}

/// A site whose service runs as a user without rights, as the packages' does.
fn with_service() -> Site {
    Site {
        drop_in: Some("/nonexistent/drop-in.conf".into()),
        unit: Unit::parse([(
            "unit".into(),
            include_str!("../../../../packaging/coax.service"),
        )]),
        account: Some(Account {
            name: "coax".into(),
            user: 64_321,
            groups: vec![64_321],
        }),
        ..site()
    }
}

#[test]
fn writers_are_nobody_everybody_or_users() {
    let users = |names: &[&str]| Ok(Writers::Users(names.iter().map(|n| (*n).into()).collect()));
    assert_eq!(writers("nobody"), Ok(Writers::Nobody));
    assert_eq!(writers(" everybody "), Ok(Writers::Everybody));
    assert_eq!(writers("anna, bob  ANNA"), users(&["anna", "bob"]));
    for (wrong, why) in [
        ("", "nobody is named"),
        ("nobody,anna", "'nobody' stands alone"),
        ("a:b", "cannot be a user name"),
        ("@staff", "cannot be a user name"),
        ("an\"na", "cannot be a user name"),
    ] {
        let wrong = writers(wrong).unwrap_err();
        assert!(wrong.what.contains(why), "{wrong:?}");
        assert!(wrong.fix.starts_with("write"), "{wrong:?}");
    }
}

#[test]
fn machines_are_kinds() {
    assert_eq!(machines("DOS, nt dos"), Ok(vec![Machine::Dos, Machine::Nt]));
    assert_eq!(
        machines(Machine::DEFAULT),
        Ok(vec![Machine::Dos, Machine::Nt])
    );
    let wrong = machines("win95").unwrap_err();
    assert!(wrong.what.contains("win95") && wrong.fix.contains("dos, nt, plaintext, netbeui"));
    assert!(machines(" , ").is_err());
}

#[test]
fn a_network_is_one_of_this_machine() {
    let site = site();
    let of = |text: &str, machines: &[Machine]| network(text, machines, &site);
    let tcp = [Machine::Dos];
    let interface = |name: &str| Ok(Network::Interface(name.into()));
    assert_eq!(of("all", &tcp), Ok(Network::All));
    assert_eq!(of("eth0", &tcp), interface("eth0"));
    assert_eq!(
        of("192.168.1.0/24", &tcp),
        Ok(Network::Range("192.168.1.0/24".into()))
    );
    assert_eq!(of("eth1", &[Machine::Netbeui]), interface("eth1"));
    for (text, machines, why) in [
        ("lo", &tcp[..], "only this machine"),
        ("eth1", &tcp, "no IPv4 address"),
        ("eth9", &tcp, "not an interface or network"),
        ("10.0.0.0/24", &tcp, "no address in 10.0.0.0/24"),
        ("127.0.0.0/8", &tcp, "no address in"),
        ("192.168.1.0/99", &tcp, "not an interface or network"),
        (
            "192.168.1.0/24 10.0.0.0/8",
            &tcp,
            "not an interface or network",
        ),
        ("all", &[Machine::Netbeui], "need one interface"),
        ("tun0", &[Machine::Netbeui], "no Ethernet interface"),
    ] {
        let wrong = of(text, machines).unwrap_err();
        assert!(wrong.what.contains(why), "{text}: {wrong:?}");
    }
    assert!(interfaces_listed(&site).contains("eth0 (192.168.1.5/24), eth1, tun0"));
}

#[test]
fn a_folder_can_be_shared_if_smb_conf_can_name_it() {
    let folder_of = |text: &str| folder(text, &site());
    let here = tempfile::tempdir().unwrap();
    let real = here.path().canonicalize().unwrap();
    std::os::unix::fs::symlink(&real, real.join("link")).unwrap();
    assert_eq!(
        folder_of(&format!("{}/link/new/deep", real.display())),
        Ok(real.join("new/deep"))
    );
    assert_eq!(
        folder_of(&format!("{}/link", real.display())),
        Ok(real.clone())
    );
    std::fs::write(real.join("file"), "").unwrap();
    for (text, why) in [
        (String::new(), "no folder is named"),
        ("/".into(), "whole disk"),
        ("/proc/self".into(), "/proc belongs"),
        ("/etc/coax".into(), "/etc belongs"),
        ("/srv/a\"b".into(), "cannot stand in smb.conf"),
        ("/srv/a\\".into(), "cannot stand in smb.conf"),
        ("/srv/a\nb".into(), "cannot stand in smb.conf"),
        (real.join("file").display().to_string(), "is a file"),
        ("/nonexistent/../x".into(), "not a plain path"),
    ] {
        let wrong = folder_of(&text).unwrap_err();
        assert!(wrong.what.contains(why), "{text}: {wrong:?}");
    }
}

#[test]
fn the_service_must_be_able_to_use_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let site = with_service();
    let wrong = folder("/tmp/coax-folder-that-nobody-made", &site).unwrap_err();
    assert!(wrong.what.contains("its unit hides it"), "{wrong:?}");
    // a folder of this test's own, outside of /tmp
    let here = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = here.path().canonicalize().unwrap();
    let set = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    let users = Writers::Users(vec!["anna".into()]);
    set(0o700);
    let wrong = folder(path.to_str().unwrap(), &site).unwrap_err();
    assert!(wrong.what.contains("user coax may not"), "{wrong:?}");
    assert!(wrong.fix.contains("setfacl"), "{wrong:?}");
    set(0o755);
    let wrong = writable(&path, &users, &site).unwrap_err();
    assert!(wrong.what.contains("the user coax may not"), "{wrong:?}");
    assert_eq!(writable(&path, &Writers::Nobody, &site), Ok(()));
    set(0o777);
    assert_eq!(writable(&path, &users, &site), Ok(()));
    assert_eq!(writable(&path.join("new"), &users, &site), Ok(()));
}
