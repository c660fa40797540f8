//! Where the mutations start: real messages from the captures, and small things of every kind.

use crate::captures;
use coax_server::names::attributes::{Attributes, DosAttrib};
use coax_wire::{
    header::HEADER_LEN,
    security::{Descriptor, Sid},
};

/// Seeds are cut here, bytes.
const LONGEST: usize = 2000;
/// At most so many messages of each command and word count.
const EACH: usize = 3;

/// Messages of all captures, a few of each kind.
pub fn smb_messages() -> Vec<Vec<u8>> {
    let mut seen = std::collections::BTreeMap::new();
    let mut found = Vec::new();
    for message in captures::all_messages() {
        let kind = (
            message.get(4).copied(),
            message.get(9).map(|flags| flags & 0x80),
            message.get(32).copied(),
        );
        let count = seen.entry(kind).or_insert(0);
        *count += 1;
        if *count <= EACH {
            found.push(message[..message.len().min(LONGEST)].to_vec());
        }
    }
    found
}

/// Sessions of the captures as their clients spoke them: options, then each message with its length before it.
pub fn conversations() -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = captures::names()
        .iter()
        .map(|name| conversation(name))
        .collect();
    found.extend(smb_messages());
    found
}

fn conversation(name: &str) -> Vec<u8> {
    let mut session = vec![0];
    for message in captures::messages(name) {
        let is_request = message.get(9).is_some_and(|flags| flags & 0x80 == 0);
        if is_request && session.len() + message.len() < 4000 {
            session.extend((message.len() as u16).to_le_bytes());
            session.extend(message);
        }
    }
    session
}

/// What stands behind the header in these.
pub fn smb_blocks() -> Vec<Vec<u8>> {
    let messages = smb_messages().into_iter();
    messages
        .filter_map(|message| message.get(HEADER_LEN..).map(<[u8]>::to_vec))
        .collect()
}

/// Scripts of the connection target: every dialect, every kind of request, without and with noise.
pub fn scripts() -> Vec<Vec<u8>> {
    let mut scripts = Vec::new();
    for dialect in 0..12 {
        let mut script = vec![0, dialect, 4];
        for row in 0..80 {
            script.extend([0, row, 1, 2, 3, 4, 1, 0, 2, 0]);
        }
        scripts.push(script);
        scripts.push(vec![1, dialect, 4, 26, 11, 4, 25, 1, 27]);
    }
    let mut random = crate::mutate::Random(7);
    for _ in 0..40 {
        let len = 50 + random.below(600);
        let mut script: Vec<u8> = (0..len).map(|_| random.next_u64() as u8).collect();
        script[2] = 4;
        scripts.push(script);
    }
    scripts
}

/// Set levels, and lists of extended attributes in both forms.
pub fn levels() -> Vec<Vec<u8>> {
    let list = b"\x1c\0\0\0\0\x04\x03\0NAME\0abc\0\x01\x02\0X\0yz";
    let chain = b"\x14\0\0\0\0\x04\x03\0NAME\0abc\0\0\0\0\0\0\0\0\0\x01\x02\0X\0yz";
    let rename = b"\x01\0\0\0\0\0\0\0\x06\0\0\0n\0e\0w\0";
    let mut seeds: Vec<Vec<u8>> = [
        1, 2, 0x101, 0x102, 0x103, 0x104, 1004, 1010, 1013, 1019, 1020,
    ]
    .iter()
    .map(|level: &u16| [&level.to_le_bytes()[..], &[7; 44]].concat())
    .collect();
    seeds.push([&[2, 0], &list[..]].concat());
    seeds.push([&[0x0f, 0x04], &chain[..]].concat());
    seeds.push([&[0xf2, 0x03], &rename[..]].concat());
    let entry = b"\x21\0\0\0\x21\0\0\0\x21\0\0\0\x05\0\0\0\0\x10\0\0\x20\0\x07FOO.TXT\0";
    seeds.push([&[1, 0], &entry[..], &entry[..]].concat());
    seeds.push([&[4, 1], &[0; 60][..], &[4, 0, 0, 0], &[0; 34], b"N\0"].concat());
    seeds
}

/// Parameters of RAP calls.
pub fn rap() -> Vec<Vec<u8>> {
    vec![
        b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10".to_vec(),
        b"\x01\0zWrLh\0B13BWz\0DISK\0\x01\0\0\x10".to_vec(),
        b"\x68\0WrLehDz\0B16BBDz\0\x01\0\0\x10\xff\xff\xff\xffHOME\0".to_vec(),
        b"\x84\0OOWb54WrLh\0WB21BWDWWDDDDDDDzzzD\0\x01\0".to_vec(),
        b"\x06B13BWz\0\0\0\0\x02\0\x02\0A\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\x08\0\0\0".to_vec(),
    ]
}

/// Fragments of the captures' pipes: they begin with version 5.0.
pub fn rpc() -> Vec<Vec<u8>> {
    let mut found = blobs(b"\x05\0\x0b\x03\x10\0\0\0", 0);
    found.extend(blobs(b"\x05\0\0\x03\x10\0\0\0", 0));
    found.extend(blobs(b"\x05\0\x0c\x03\x10\0\0\0", 0));
    found.extend(blobs(b"\x05\0\x02\x03\x10\0\0\0", 0));
    found
}

/// Security descriptors: everybody and the owner.
pub fn security() -> Vec<Vec<u8>> {
    let everyone = Descriptor {
        owner: Some(Sid::everyone()),
        group: Some(Sid::users()),
        dacl: Some(None),
        ..Descriptor::default()
    };
    let list = b"\x01\0\x04\x80\x14\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0\x01\x01\0\0\0\0\0\x01\0\0\0\0\x02\0\x1c\0\x01\0\0\0\0\x03\x14\0\xff\x01\x1f\0\x01\x01\0\0\0\0\0\x01\0\0\0\0";
    vec![everyone.to_bytes(), list.to_vec()]
}

/// Names as they stand in name service packets.
pub fn nbt_names() -> Vec<Vec<u8>> {
    nbt_datagrams()
        .into_iter()
        .map(|datagram| [&[12], datagram.as_slice()].concat())
        .collect()
}

/// Name service datagrams of the captures, and one query for everybody's status.
pub fn nbt_datagrams() -> Vec<Vec<u8>> {
    let query = b"\x12\x34\0\0\0\x01\0\0\0\0\0\0 CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\0\0\x21\0\x01";
    let mut found = captures::name_service_datagrams();
    found.truncate(60);
    found.push(query.to_vec());
    found
}

/// LMHOSTS files.
pub fn lmhosts() -> Vec<Vec<u8>> {
    let text = "10.0.0.1 coax #PRE #DOM:LAB\n10.0.0.2 \"APP            \\0x14\"\n10.0.0.3 COAX#20\n\
        #BEGIN_ALTERNATE\n#INCLUDE a\n#END_ALTERNATE\n";
    vec![text.as_bytes().to_vec()]
}

/// A packet of the datagram service with a host announcement.
pub fn datagrams() -> Vec<Vec<u8>> {
    let mut packet = b"\x8f\x11\x0a\x12\x34\x0a\0\0\x07\0\x8a\0\x7f\0\0\
        \x20FEEPFHEFFCCACACACACACACACACACAAA\0\x20EMEBECCACACACACACACACACACACACABO\0"
        .to_vec();
    packet.extend([7; 59]);
    vec![packet]
}

/// A choice of name and mailslot, and a message with its length before it: WinPopup, log-on requests, queries.
pub fn mailslots() -> Vec<Vec<u8>> {
    let bodies: [(u8, &[u8]); 4] = [
        (0, b"JIM\0ANN\0tea?\0"),
        (
            2,
            b"\0\0WIN98\0ANNA\0\\MAILSLOT\\TEMP\\NETLOGON\0\x01\xff\xff\xff\xff",
        ),
        (
            1,
            b"\x07\0NT4\0\\MAILSLOT\\NET\\GETDC042\0N\0T\x004\0\0\0\x01\0\0\0\xff\xff\xff\xff",
        ),
        (2, b"\x12\0\0\0N\0T\x004\0\0\0A\0\0\0"),
    ];
    let counted = |(choice, body): &(u8, &[u8])| {
        let mut seed = vec![*choice, u8::try_from(body.len()).unwrap_or(0)];
        seed.extend_from_slice(body);
        seed
    };
    bodies.iter().map(counted).collect()
}

/// Messages of the browser, each with its length before it.
pub fn browser() -> Vec<Vec<u8>> {
    let host = b"\x25\x01\x03\x80\xfc\x0a\0TOWER\0\0\0\0\0\0\0\0\0\0\0\x04\x09\x03\x9a\0\0\x0f\x01\x55\xaafile\0";
    let election = b"\x14\x08\x01\x06\x0f\x01\x14\x63\0\0\0\0\0\0\0TOWER\0";
    vec![host.to_vec(), election.to_vec()]
}

/// What flows to a server on port 139: options, sizes of the pieces, a session request, a message.
pub fn streams() -> Vec<Vec<u8>> {
    let mut request = vec![0; 19];
    request.extend(
        b"\x81\0\0\x44 EDEPEBFICACACACACACACACACACACACA\0 EDEPEBFICACACACACACACACACACACAAA\0",
    );
    let mut message = request.clone();
    message.extend(
        b"\0\0\0\x23\xffSMBr\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x85\0\0\0",
    );
    let mut direct = vec![0; 19];
    direct[0] = 1;
    direct.extend(b"\0\0\0\x04\xffSMB\0\0\0\0\x85\0\0\0");
    vec![request, message, direct]
}

fn blobs(mark: &[u8], before: usize) -> Vec<Vec<u8>> {
    let found = captures::all_messages().into_iter().filter_map(|message| {
        let at = message
            .windows(mark.len())
            .position(|window| window == mark)?;
        Some(message[at.saturating_sub(before)..].to_vec())
    });
    let mut found: Vec<_> = found.take(20).collect();
    found.push(mark.to_vec());
    found
}

/// NTLMSSP tokens of the captures.
pub fn ntlmssp() -> Vec<Vec<u8>> {
    blobs(b"NTLMSSP\0", 0)
}

/// SPNEGO tokens of the captures, bare and with a length before them.
pub fn spnego() -> Vec<Vec<u8>> {
    let mut found = blobs(b"\x06\x06\x2b\x06\x01\x05\x05\x02", 2);
    found.extend(ntlmssp());
    let counted = |blob: &Vec<u8>| [&(blob.len() as u16).to_le_bytes(), blob.as_slice()].concat();
    let all: Vec<_> = found.iter().map(counted).collect();
    found.push(all.concat());
    found.extend(all);
    found
}

/// A little of nothing in particular.
pub fn noise() -> Vec<Vec<u8>> {
    vec![
        vec![0; 24],
        vec![0xff; 24],
        (0..60).collect(),
        b"\x18aaaaaaaaaaaaaaaaaaaaaaaa\x00".to_vec(),
    ]
}

/// Lines of password files.
pub fn smbpasswd() -> Vec<Vec<u8>> {
    let line = b"ann:1000:552902031BEDE9EFAAD3B435B51404EE:878D8014606CDA29677A44EFA1353FC7:[U          ]:LCT-5A000000:\n";
    vec![
        line.to_vec(),
        b"# comment\n\nbob:1:NO PASSWORDXXXXXXXXXXXXXXXXXXXXX:X:[DN]:".to_vec(),
        b"ann:Secret".to_vec(),
    ]
}

/// Configurations.
pub fn smb_conf() -> Vec<Vec<u8>> {
    vec![
        b"[global]\nworkgroup = HOME\nnetbios name = COAX\nhosts allow = 10. 192.168.0.0/16 EXCEPT 10.1\nsocket options = TCP_NODELAY SO_RCVBUF=8192\n[disk]\npath = %H/x\nwritable = yes\nveto files = /*.tmp/\n".to_vec(),
        b"; a comment\n[printers]\nprintable=yes\n\\\n[a b]\n  guest ok = true\\\n false\ncreate mask = 0755\nmax xmit = 99999999999\n".to_vec(),
        b"[global]\nserver min protocol = CORE\nclient code page = 866\noplocks = maybe\nlog level = 3 smb:10\n".to_vec(),
    ]
}

/// Attribute blobs: Samba's five versions begin alike.
pub fn dosattrib() -> Vec<Vec<u8>> {
    let ours = DosAttrib {
        attributes: Attributes(0x22),
        created: Some(coax_wire::time::FileTime(0x01d0_0000_0000_0000)),
    };
    vec![
        ours.encode(),
        b"0x22".to_vec(),
        b"0x22\0\0\x03\0\x03\0\0\0\x11\0\0\0\x22\0\0\0\0\0\0\0".to_vec(),
        b"\0\0\x05\0".to_vec(),
    ]
}

/// Texts in several alphabets.
pub fn texts() -> Vec<Vec<u8>> {
    vec![
        "\u{1}Grüße.txt\nAutoexec.bat\nlong file name.html".into(),
        "\u{3}Привет мир.doc/a.b.c/.profile".into(),
        "\u{4}日本語のファイル.txt".into(),
        (128..=255).collect(),
    ]
}

/// Patterns and names, zero between them.
pub fn patterns() -> Vec<Vec<u8>> {
    [
        "*.*\0AUTOEXEC.BAT",
        "????????.???\0A.B",
        "<.\"\0a.b.c",
        "*a*b*c*\0xxaxxbxxcxx",
        "\\DIR\\*.TXT\0",
        "a\\..\\b\0",
        "A:B\0",
        "*********\0aaaaaaaaaaaaaaa",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
