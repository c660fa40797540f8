//! Remote procedure calls and transactions in parts, as real programs sent them, and damaged.

use std::{fs::File, path::Path};

use coax_capture::Reader;
use coax_decode::{Context, Decoded, Value, messages, session_packet};

fn packets() -> Vec<(Vec<u8>, Decoded)> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/calls/samba.pcap.gz");
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    let mut all = Vec::new();
    messages(&mut reader, |message| {
        all.push((message.bytes.to_vec(), message.decoded.clone()));
    })
    .unwrap();
    all
}

#[test]
fn calls_have_their_names_and_arguments() {
    let packets = packets();
    let fields = || packets.iter().flat_map(|(_, decoded)| &decoded.fields);
    let calls: Vec<&str> = fields()
        .filter(|field| field.name == "Opnum")
        .map(|field| field.meaning.as_str())
        .collect();
    for call in [
        "srvsvc NetrShareEnumSticky",
        "srvsvc NetrRemoteTOD",
        "wkssvc NetrWkstaGetInfo",
        "spoolss RpcOpenPrinter",
        "spoolss RpcOpenPrinterEx",
    ] {
        assert!(calls.contains(&call), "{call}: {calls:?}");
    }
    let has = |name: &str, text: &str| {
        fields().any(|field| field.name == name && field.value == Value::Text(text.to_owned()))
    };
    assert!(has("NetName", "laser") && has("PrinterName", "laser") && has("LanGroup", "LAB"));
    assert!(fields().all(|field| field.problem.is_none()));
    // the verifier of SHARE_INFO_2 is a password
    let passwords = fields().filter(|field| field.name == "Password");
    assert!(
        passwords.clone().count() > 0
            && passwords.clone().all(|field| field.value == Value::Secret)
    );
}

#[test]
fn damaged_calls_and_parts_have_their_fields_within_the_bytes() {
    let packets = packets();
    let mut damaged = 0;
    for change in [0xff, 0x80, 0x01] {
        let mut context = Context::default();
        for (number, (bytes, _)) in packets.iter().enumerate() {
            // the offsets, counts and arguments, in every message another byte
            for place in (36..bytes.len()).skip(number % 11).step_by(11) {
                let mut bytes = bytes.clone();
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= change;
                }
                let decoded = session_packet(&bytes, &mut context);
                for field in &decoded.fields {
                    assert!(field.at + field.len <= bytes.len(), "{field:?}");
                }
                damaged += 1;
            }
            session_packet(bytes, &mut context);
        }
    }
    assert!(damaged > 5000, "{damaged}");
}
