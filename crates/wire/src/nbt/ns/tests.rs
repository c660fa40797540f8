#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::*;
use crate::nbt::name::Scope;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Frames 21 and 22 of a capture of Windows 98 starting up (dos-win98-netbeui.pcap, from ntop/nDPI).
const REGISTER_UNIQUE: &[u8] = b"\x00\x04\x29\x10\x00\x01\x00\x00\x00\x00\x00\x01\
    \x20ENEEEKFCDJDICACACACACACACACACAAD\x00\x00\x20\x00\x01\
    \xc0\x0c\x00\x20\x00\x01\x00\x04\x93\xe0\x00\x06\x00\x00\xc0\xa8\xef\x81";
const REGISTER_GROUP: &[u8] = b"\x00\x02\x29\x10\x00\x01\x00\x00\x00\x00\x00\x01\
    \x20FHEPFCELEHFCEPFFFACACACACACACAAA\x00\x00\x20\x00\x01\
    \xc0\x0c\x00\x20\x00\x01\x00\x04\x93\xe0\x00\x06\x80\x00\xc0\xa8\xef\x81";

fn name(text: &str) -> ScopedName {
    text.parse::<NbName>().unwrap().into()
}

fn entry(flags: u16) -> AddrEntry {
    AddrEntry {
        flags: NameFlags(flags),
        address: Ipv4Addr::new(192, 168, 239, 129),
    }
}

#[test]
fn the_registrations_of_windows_98_decode_and_encode_to_the_byte() {
    let unique = Claim {
        id: 4,
        op: ClaimOp::Register,
        broadcast: true,
        recursion_desired: true,
        name: name("MDJR98<03>"),
        ttl_s: 300_000,
        entries: Vec::from([entry(0)]),
    };
    let group = Claim {
        id: 2,
        name: name("WORKGROUP<00>"),
        entries: Vec::from([entry(NameFlags::GROUP)]),
        ..unique.clone()
    };
    for (bytes, claim) in [(REGISTER_UNIQUE, unique), (REGISTER_GROUP, group)] {
        assert_eq!(Repr::parse(bytes), Ok(Repr::Claim(claim.clone())));
        assert_eq!(claim.emit(), bytes);
    }
}

#[test]
fn the_view_shows_questions_and_records() {
    let packet = Packet::new(REGISTER_GROUP).unwrap();
    assert_eq!(packet.id(), 2);
    assert_eq!(packet.flags(), Flags(0x2910));
    assert_eq!(packet.flags().opcode(), 5);
    assert_eq!(packet.record_counts(), [0, 0, 1]);
    let question = packet.questions().next().unwrap().unwrap();
    assert_eq!(question.question_type, TYPE_NB);
    assert_eq!(question.name(), Ok(Some(name("WORKGROUP<00>"))));
    let record = packet.records().next().unwrap().unwrap();
    assert_eq!(record.name(), Ok(Some(name("WORKGROUP<00>"))));
    assert!(record.entries().next().unwrap().flags.is_group());
}

/// Broadcast query for TOWER.
fn query() -> Query {
    Query {
        id: 1,
        broadcast: true,
        recursion_desired: true,
        kind: QueryKind::Addresses,
        name: name("TOWER<20>"),
    }
}

/// The names of TOWER, asked of TOWER itself.
fn status_query() -> Query {
    Query {
        broadcast: false,
        recursion_desired: false,
        kind: QueryKind::NodeStatus,
        ..query()
    }
}

/// TOWER's positive response with its address.
fn reply() -> QueryReply {
    QueryReply {
        id: 1,
        recursion_desired: true,
        recursion_available: false,
        name: name("TOWER<20>"),
        outcome: Ok(Owners {
            truncated: false,
            ttl_s: 300_000,
            entries: Vec::from([entry(0)]),
        }),
    }
}

/// A name server without an entry for TOWER.
fn negative_reply() -> QueryReply {
    QueryReply {
        recursion_available: true,
        outcome: Err(RCODE_NAME),
        ..reply()
    }
}

/// TOWER broadcasts that it claims its name (an overwrite demand) or releases it, without a query.
fn demand(op: ClaimOp) -> Claim {
    Claim {
        id: 1,
        op,
        broadcast: true,
        recursion_desired: false,
        name: name("TOWER<20>"),
        ttl_s: 0,
        entries: Vec::from([entry(0)]),
    }
}

/// The owner of TOWER or a name server refuses another node's registration.
fn refusal(rcode: u8) -> ClaimReply {
    ClaimReply {
        id: 1,
        op: ClaimOp::Register,
        recursion_desired: true,
        recursion_available: true,
        rcode,
        name: name("TOWER<20>"),
        ttl_s: 0,
        entries: Vec::from([entry(0)]),
    }
}

/// TOWER is free again.
fn release_reply() -> ClaimReply {
    ClaimReply {
        op: ClaimOp::Release,
        recursion_desired: false,
        recursion_available: false,
        ..refusal(0)
    }
}

/// A name server needs two seconds more for a registration.
fn wack() -> Wack {
    Wack {
        id: 1,
        name: None,
        ttl_s: 2,
        request: Flags(0x2900),
    }
}

/// (packet, flags word): the flags that real nodes send.
fn words() -> Vec<(Repr, u16)> {
    Vec::from([
        (Repr::Query(query()), 0x0110),
        (Repr::Query(status_query()), 0x0000),
        (Repr::QueryReply(reply()), 0x8500),
        (Repr::QueryReply(negative_reply()), 0x8583),
        (Repr::Claim(demand(ClaimOp::Register)), 0x2810),
        (Repr::Claim(demand(ClaimOp::Release)), 0x3010),
        (Repr::ClaimReply(refusal(RCODE_ACTIVE)), 0xad86),
        (Repr::ClaimReply(refusal(RCODE_CONFLICT)), 0xad87),
        (Repr::ClaimReply(release_reply()), 0xb400),
        (Repr::Wack(wack()), 0xbc00),
    ])
}

#[test]
fn every_kind_carries_the_flags_word_that_real_nodes_send() {
    for (repr, word) in words() {
        let bytes = repr.emit();
        assert_eq!(
            Packet::new(&bytes).unwrap().flags(),
            Flags(word),
            "{repr:?}"
        );
        assert_eq!(Repr::parse(&bytes), Ok(repr));
    }
}

#[test]
fn a_node_status_has_the_layout_of_rfc_1002_section_4_2_18() {
    let status = NodeStatus {
        id: 0x1234,
        name: NbName::ANY.into(),
        names: Vec::from([NodeName {
            name: "TOWER<20>".parse().unwrap(),
            flags: NameFlags(NameFlags::ACTIVE),
        }]),
        statistics: Statistics::of_unit([2, 0, 0, 0xaa, 0xbb, 0xcc]),
    };
    let mut expected = Vec::from(
        &b"\x12\x34\x84\x00\x00\x00\x00\x01\x00\x00\x00\x00\
        \x20CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\x00\x00\x21\x00\x01\x00\x00\x00\x00\
        \x00\x41\x01TOWER           \x04\x00\x02\x00\x00\xaa\xbb\xcc"[..],
    );
    expected.extend([0; 40]);
    assert_eq!(status.emit(), expected);
    assert_eq!(Repr::parse(&expected), Ok(Repr::NodeStatus(status)));
}

#[test]
fn a_node_status_cut_short_shows_what_is_there() {
    let mut bytes = Vec::from(
        &b"\x12\x34\x84\x00\x00\x00\x00\x01\x00\x00\x00\x00\
        \x00\x00\x21\x00\x01\x00\x00\x00\x00\x00\x13\xffTOWER           \x04\x00"[..],
    );
    let record = Packet::new(&bytes)
        .unwrap()
        .records()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(record.node_names().count(), 1);
    assert_eq!(record.statistics(), Statistics([0; 46]));
    bytes.pop();
    let error = Packet::new(&bytes).unwrap().records().next().unwrap();
    assert_eq!(error.unwrap_err(), Malformed::Truncated("a record's data"));
}

#[test]
fn counts_that_lie_end_with_the_first_missing_item() {
    let mut bytes = Vec::from(REGISTER_UNIQUE);
    bytes[4..12].fill(0xff);
    let packet = Packet::new(&bytes).unwrap();
    assert!(packet.questions().count() < 20);
    assert_eq!(packet.records().count(), 1);
    assert!(packet.records().next().unwrap().is_err());
    assert!(Repr::parse(&bytes).is_err());
}

#[test]
fn a_negative_reply_in_the_figures_form_is_understood() {
    // RFC 1002 §4.2.14 shows ANCOUNT 0 though a record follows.
    let negative = Repr::QueryReply(negative_reply());
    let mut bytes = negative.emit();
    bytes[7] = 0;
    assert_eq!(Repr::parse(&bytes), Ok(negative));
}

prop_compose! {
    fn scoped()(name: [u8; 16], scope in "([a-z]{1,9}(\\.[a-z]{1,9}){0,3})?") -> ScopedName {
        ScopedName { name: NbName(name), scope: Scope::new(&scope).unwrap() }
    }
}

prop_compose! {
    fn entries()(list in prop::collection::vec((any::<u16>(), any::<u32>()), 0..30)) -> Vec<AddrEntry> {
        list.into_iter()
            .map(|(flags, address)| AddrEntry { flags: NameFlags(flags), address: address.into() })
            .collect()
    }
}

prop_compose! {
    fn node_status()(
        id: u16, name in scoped(), names in prop::collection::vec((any::<[u8; 16]>(), any::<u16>()), 0..300),
        unit: [u8; 6],
    ) -> NodeStatus {
        let names = names.into_iter().take(255)
            .map(|(name, flags)| NodeName { name: NbName(name), flags: NameFlags(flags) })
            .collect();
        NodeStatus { id, name, names, statistics: Statistics::of_unit(unit) }
    }
}

prop_compose! {
    fn op()(opcode in prop::sample::select(&[5u8, 6, 8, 9, 15][..])) -> ClaimOp {
        ClaimOp::from_opcode(opcode).unwrap()
    }
}

prop_compose! {
    fn any_query()(
        id: u16, broadcast: bool, recursion_desired: bool, of_node: bool, name in scoped(),
    ) -> Query {
        let kind = if of_node { QueryKind::NodeStatus } else { QueryKind::Addresses };
        Query { id, broadcast, recursion_desired, kind, name }
    }
}

prop_compose! {
    fn owners()(truncated: bool, ttl_s: u32, entries in entries()) -> Owners {
        Owners { truncated, ttl_s, entries }
    }
}

prop_compose! {
    fn any_query_reply()(
        id: u16, recursion_desired: bool, recursion_available: bool, name in scoped(),
        outcome in prop_oneof![owners().prop_map(Ok), (8u8..16).prop_map(Err)],
    ) -> QueryReply {
        QueryReply { id, recursion_desired, recursion_available, name, outcome }
    }
}

prop_compose! {
    fn any_claim()(
        id: u16, op in op(), broadcast: bool, recursion_desired: bool, name in scoped(), ttl_s: u32,
        entries in entries(),
    ) -> Claim {
        Claim { id, op, broadcast, recursion_desired, name, ttl_s, entries }
    }
}

prop_compose! {
    fn any_claim_reply()(
        id: u16, op in op(), recursion_desired: bool, recursion_available: bool, rcode in 0u8..16,
        name in scoped(), ttl_s: u32, entries in entries(),
    ) -> ClaimReply {
        ClaimReply { id, op, recursion_desired, recursion_available, rcode, name, ttl_s, entries }
    }
}

prop_compose! {
    fn any_wack()(
        id: u16, name in prop::option::of(scoped()), ttl_s: u32, request: u16,
    ) -> Wack {
        Wack { id, name, ttl_s, request: Flags(request) }
    }
}

fn repr() -> impl Strategy<Value = Repr> {
    prop_oneof![
        any_query().prop_map(Repr::Query),
        any_query_reply().prop_map(Repr::QueryReply),
        node_status().prop_map(Repr::NodeStatus),
        any_claim().prop_map(Repr::Claim),
        any_claim_reply().prop_map(Repr::ClaimReply),
        any_wack().prop_map(Repr::Wack),
    ]
}

proptest! {
    #[test]
    fn arbitrary_datagrams_never_panic(bytes: Vec<u8>) {
        let _ = Repr::parse(&bytes);
        if let Ok(packet) = Packet::new(&bytes) {
            prop_assert!(packet.questions().count() <= bytes.len());
            for record in packet.records().flatten() {
                let _ = (record.name(), record.entries().count());
                let _ = (record.node_names().count(), record.statistics());
            }
        }
    }

    #[test]
    fn a_damaged_datagram_never_panics(repr in repr(), at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let mut bytes = repr.emit();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = Repr::parse(&bytes);
        let _ = Repr::parse(&bytes[..cut.index(bytes.len())]);
    }

    #[test]
    fn a_packet_survives_encoding(repr in repr()) {
        prop_assert_eq!(Repr::parse(&repr.emit()), Ok(repr));
    }
}
