use super::*;
use crate::testkit::{Answer, TestClient, TestServer};
use coax_wire::{
    header::HEADER_LEN,
    io::Writer,
    security::ace_flag,
    smb::transaction::{Kind, Request, Response},
};

const NT: &str = "NT LM 0.12";
/// FILE_OPEN and FILE_CREATE, of a file; FILE_CREATE of a folder.
const OPEN: (u32, u32) = (1, 0);
const CREATE: (u32, u32) = (2, 0);
const CREATE_FOLDER: (u32, u32) = (2, 1);
const MAXIMUM_ALLOWED: u32 = 0x0200_0000;
const WRITE_DATA: u32 = 0x2;

#[test]
fn users_have_sids_of_their_own_that_do_not_depend_on_case() {
    let session = |user: Option<&str>| Session {
        id: Default::default(),
        user: user.map(Into::into),
    };
    let sid = |user| user_sid("COAX", &session(user));
    assert_eq!(sid(Some("Ann")), sid(Some("ANN")));
    assert_ne!(sid(Some("ann")), sid(Some("bob")));
    assert_eq!(sid(None).sub_authorities.last(), Some(&501));
    assert_ne!(sid(None), user_sid("OTHER", &session(None)));
}

#[test]
fn setting_one_part_of_a_descriptor_keeps_the_others() {
    let whole = Descriptor {
        owner: Some(Sid::system()),
        ..Descriptor::default()
    };
    let given = Descriptor {
        owner: Some(Sid::everyone()),
        dacl: Some(None),
        ..Descriptor::default()
    };
    let merged = merged(whole, &given, info::DACL);
    assert_eq!(merged.owner, Some(Sid::system()));
    assert_eq!(merged.dacl, Some(None));
}

fn nt_transact(
    client: &mut TestClient,
    function: u16,
    parameters: &[u8],
    data: &[u8],
) -> (Answer, Vec<u8>) {
    let request = Request {
        kind: Kind::NtTransact,
        total_parameters: parameters.len() as u32,
        total_data: data.len() as u32,
        max_parameters: 100,
        max_data: 1000,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function,
        setup: b"",
        name: coax_wire::block::WireStr {
            raw: &[],
            unicode: true,
        },
        parameters,
        data,
    };
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    let answer = client.send_block(0xa0, &out.as_slice()[HEADER_LEN..]);
    let block = answer.block();
    let response = Response::parse(Kind::NtTransact, &block).ok().flatten();
    let told = response.map_or(Vec::new(), |response| response.data.to_vec());
    (answer.clone(), told)
}

fn describe(client: &mut TestClient, fid: u16, control: u16, aces: &[(Sid, u8, u32)]) {
    let aces = aces.iter().map(|(sid, flags, mask)| Ace {
        kind: ace_type::ALLOWED,
        flags: *flags,
        mask: *mask,
        sid: sid.clone(),
    });
    let list = Acl {
        aces: aces.collect(),
    };
    let descriptor = Descriptor {
        control,
        dacl: Some(Some(list)),
        ..Descriptor::default()
    };
    let mut parameters = fid.to_le_bytes().to_vec();
    parameters.extend([0, 0, info::DACL as u8, 0, 0, 0]);
    nt_transact(client, 3, &parameters, &descriptor.to_bytes())
        .0
        .ok();
}

/// Owner, and the entries of the list.
fn described(client: &mut TestClient, fid: u16) -> (Sid, Vec<(Sid, u8, u32)>) {
    let mut parameters = fid.to_le_bytes().to_vec();
    parameters.extend([0, 0, (info::DACL | info::OWNER) as u8, 0, 0, 0]);
    let (answer, bytes) = nt_transact(client, 6, &parameters, b"");
    answer.ok();
    let told = Descriptor::parse(&bytes).unwrap();
    let aces = told.dacl.unwrap().unwrap().aces;
    let aces = aces.into_iter().map(|ace| (ace.sid, ace.flags, ace.mask));
    (told.owner.unwrap(), aces.collect())
}

fn fid(answer: &Answer) -> u16 {
    u16::from_le_bytes([answer.block().words[5], answer.block().words[6]])
}

fn rights(client: &mut TestClient, fid: u16) -> u32 {
    client.query_fid(1008, fid).ok().u32(0)
}

/// Opens and returns the granted rights.
fn open(client: &mut TestClient, path: &str, access: u32) -> core::result::Result<u32, Answer> {
    let answer = client.nt_create(path, access, OPEN);
    if answer.status() != 0 {
        return Err(answer);
    }
    let got = rights(client, fid(&answer));
    client.close(fid(&answer)).ok();
    Ok(got)
}

#[test]
fn users_without_rights_in_a_descriptor_are_refused_and_its_owner_may_change_it() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let made = client.nt_create("\\f", right::ALL, CREATE).ok();
    let fid = fid(&made);
    let (owner, _) = described(&mut client, fid);
    describe(&mut client, fid, 0, &[(owner, 0, 0x8000_0000)]);
    let (_, kept) = described(&mut client, fid);
    assert_eq!(
        kept[0].2, 0x0012_0089,
        "generic rights must be stored as specific ones"
    );
    let refused = open(&mut client, "\\f", WRITE_DATA).unwrap_err();
    refused.refused(Status::ACCESS_DENIED);
    let deny_nothing = [0xff, 0, 0, 0x42, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let name = client.string("\\f", HEADER_LEN + 1 + 30 + 2);
    let by_dos_mode = client.request(0x2d, &deny_nothing, &name);
    by_dos_mode.refused(Status::ACCESS_DENIED);
    assert_eq!(open(&mut client, "\\f", 1).unwrap(), 0x81);
    let most = 0x0012_0089 | right::DELETE | right::WRITE_DAC;
    assert_eq!(open(&mut client, "\\f", MAXIMUM_ALLOWED).unwrap(), most);
    let refused = open(&mut client, "\\f", right::SYSTEM_SECURITY).unwrap_err();
    refused.refused(Status::PRIVILEGE_NOT_HELD);
    let cut = client.nt_create("\\f", right::READ_ATTRIBUTES, (4, 0));
    cut.refused(Status::ACCESS_DENIED);
}

#[test]
fn setting_attributes_later_keeps_the_descriptor() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = fid(&client.nt_create("\\f", right::ALL, CREATE).ok());
    let hidden = [2, 0, 0, 0, 0, 0, 0, 0];
    describe(&mut client, fid, 0, &[]);
    let refused = client.paths(0x09, &hidden, &["\\f"]);
    refused.refused(Status::ACCESS_DENIED);
    describe(&mut client, fid, 0, &[(Sid::everyone(), 0, 0x100)]);
    client.close(fid).ok();
    client.paths(0x09, &hidden, &["\\f"]).ok();
    assert_eq!(client.paths(0x08, &[], &["\\f"]).ok().word(0), 2);
    let refused = open(&mut client, "\\f", 1).unwrap_err();
    refused.refused(Status::ACCESS_DENIED);
    let owners = right::READ_CONTROL | right::WRITE_DAC;
    assert!(open(&mut client, "\\f", owners).is_ok());
}

#[test]
fn descriptors_apply_on_shares_that_store_no_attributes() {
    let options = crate::share::ShareOptions {
        store_dos_attributes: false,
        ..Default::default()
    };
    let server = TestServer::with(crate::config::Config::default(), options);
    let mut client = server.client(NT);
    let fid = fid(&client.nt_create("\\f", right::ALL, CREATE).ok());
    describe(&mut client, fid, 0, &[]);
    client.close(fid).ok();
    let refused = open(&mut client, "\\f", 1).unwrap_err();
    refused.refused(Status::ACCESS_DENIED);
}

#[test]
fn new_files_inherit_from_their_folders_descriptor() {
    use ace_flag::{CONTAINER_INHERIT as CI, INHERIT_ONLY as IO, INHERITED, OBJECT_INHERIT as OI};
    let server = TestServer::new();
    let mut client = server.client(NT);
    let folder = fid(&client.nt_create("\\d", right::ALL, CREATE_FOLDER).ok());
    let everyone = (Sid::everyone(), 0, right::ALL);
    let creator = (Sid::creator_owner(), OI | CI, WRITE_DATA);
    let automatic = control::DACL_AUTO_INHERIT_REQ | control::DACL_AUTO_INHERITED;
    describe(&mut client, folder, automatic, &[creator, everyone]);
    let made = fid(&client.nt_create("\\d\\f", right::ALL, CREATE).ok());
    assert_eq!(
        rights(&mut client, made),
        right::ALL,
        "the creator must have all rights"
    );
    let (owner, aces) = described(&mut client, made);
    assert_eq!(aces, [(owner.clone(), INHERITED, WRITE_DATA)]);
    client.close(made).ok();
    let refused = open(&mut client, "\\d\\f", 1).unwrap_err();
    refused.refused(Status::ACCESS_DENIED);
    let below = fid(&client.nt_create("\\d\\e", right::ALL, CREATE_FOLDER).ok());
    let expected = [
        (owner, INHERITED, WRITE_DATA),
        (Sid::creator_owner(), OI | CI | IO | INHERITED, WRITE_DATA),
    ];
    assert_eq!(described(&mut client, below).1, expected);
    client.paths(0x00, &[], &["\\d\\g"]).ok();
    let made = fid(&client.nt_create("\\d\\g", right::READ_CONTROL, (1, 1)).ok());
    assert_eq!(described(&mut client, made).1, expected);
}

#[test]
fn a_folder_whose_descriptor_denies_additions_refuses_new_files() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let folder = fid(&client.nt_create("\\d", right::ALL, CREATE_FOLDER).ok());
    describe(&mut client, folder, 0, &[(Sid::everyone(), 0, right::READ)]);
    for how in [CREATE, CREATE_FOLDER] {
        let refused = client.nt_create("\\d\\new", 1, how);
        refused.refused(Status::ACCESS_DENIED);
    }
    let by_name = client.paths(0x00, &[], &["\\d\\new"]);
    by_name.refused(Status::ACCESS_DENIED);
    assert!(server.fs.contents("d/new").is_err(), "no file may be left");
}

/// COPY within the tree with this open function.
fn copy(client: &mut TestClient, function: u16, from: &str, to: &str) -> Answer {
    let mut bytes = client.string(from, HEADER_LEN + 1 + 6 + 2);
    let at = HEADER_LEN + 1 + 6 + 2 + bytes.len();
    bytes.extend(client.string(to, at));
    client.request(0x29, &[0xffff, function, 0], &bytes)
}

#[test]
fn a_copy_needs_the_rights_to_read_its_source_and_to_write_its_target() {
    let server = TestServer::new();
    server.fs.add_file("own", b"own").unwrap();
    let mut client = server.client(NT);
    server.fs.add_file("secret", b"secret").unwrap();
    let secret = fid(&client.nt_create("\\secret", right::ALL, OPEN).ok());
    describe(&mut client, secret, 0, &[]);
    client.close(secret).ok();
    for (function, from, to) in [
        (0x10, "\\secret", "\\stolen"),
        (0x11, "\\secret", "\\own"),
        (0x11, "\\own", "\\secret"),
        (0x12, "\\own", "\\secret"),
    ] {
        copy(&mut client, function, from, to).refused(Status::ACCESS_DENIED);
    }
    assert!(server.fs.contents("stolen").is_err());
    assert_eq!(server.fs.contents("own").unwrap(), b"own");
    assert_eq!(server.fs.contents("secret").unwrap(), b"secret");
}

#[test]
fn a_copied_file_gets_the_descriptor_of_its_folder_and_not_that_of_its_source() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let source = fid(&client.nt_create("\\source", right::ALL, CREATE).ok());
    describe(&mut client, source, 0, &[(Sid::everyone(), 0, right::READ)]);
    client.close(source).ok();
    let folder = fid(&client.nt_create("\\closed", right::ALL, CREATE_FOLDER).ok());
    describe(&mut client, folder, 0, &[(Sid::everyone(), 0, right::READ)]);
    copy(&mut client, 0x10, "\\source", "\\closed\\copy").refused(Status::ACCESS_DENIED);
    assert!(server.fs.contents("closed/copy").is_err());
    copy(&mut client, 0x10, "\\source", "\\copy").ok();
    assert!(open(&mut client, "\\copy", WRITE_DATA).is_ok());
    open(&mut client, "\\source", WRITE_DATA)
        .unwrap_err()
        .refused(Status::ACCESS_DENIED);
}

#[test]
fn a_copy_to_another_share_gets_the_descriptor_of_its_folder_there() {
    let from = crate::share::ShareOptions {
        store_dos_attributes: false,
        ..Default::default()
    };
    let mut server = TestServer::with(crate::config::Config::default(), from);
    let other = alloc::sync::Arc::new(crate::memfs::MemFs::new());
    let vfs = other.clone();
    server.edit(|inner| {
        let share = crate::share::Share::for_guests(3, "OTHER", crate::share::ShareKind::Disk(vfs));
        inner.shares.push(alloc::sync::Arc::new(share));
    });
    server.fs.add_file("f", b"f").unwrap();
    let mut client = server.client(NT);
    let source = client.header.tid;
    client.connect_share("OTHER");
    let folder = fid(&client.nt_create("\\d", right::ALL, CREATE_FOLDER).ok());
    let inherited = (Sid::everyone(), ace_flag::OBJECT_INHERIT, right::READ | 0x2);
    describe(&mut client, folder, 0, &[inherited]);
    client.close(folder).ok();
    let target = core::mem::replace(&mut client.header.tid, source);
    let mut bytes = client.string("\\f", HEADER_LEN + 1 + 6 + 2);
    let at = HEADER_LEN + 1 + 6 + 2 + bytes.len();
    bytes.extend(client.string("\\d\\f", at));
    client.request(0x29, &[target.0, 0x10, 0], &bytes).ok();
    assert_eq!(other.contents("d/f").unwrap(), b"f");
    client.header.tid = target;
    assert!(open(&mut client, "\\d\\f", 1).is_ok());
    let refused = open(&mut client, "\\d\\f", right::WRITE_OWNER).unwrap_err();
    refused.refused(Status::ACCESS_DENIED);
}
