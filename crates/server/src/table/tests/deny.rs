//! Share modes. The matrices list the results of Windows in base.deny1 (one connection) and base.deny2 (two). Each row
//! is a first open: deny mode by deny mode, each for reading and writing, reading, writing. The columns are the second
//! opens in the same order. `B`: granted, may read and write; `R`, `W`: granted, may read or write; `-`: sharing
//! violation.

use super::*;
use proptest::prelude::*;

const MODES: [DenyMode; 6] = [
    DenyMode::Compatibility,
    DenyMode::All,
    DenyMode::Write,
    DenyMode::Read,
    DenyMode::None,
    DenyMode::Fcb,
];
const ACCESSES: [u32; 3] = [READ | WRITE, READ, WRITE];

#[rustfmt::skip]
const PROGRAM_TWO_CONNECTIONS: [&str; 18] = [
    "BRW --- --- --- BRW ---",
    "BRW --- BRW --- BRW ---",
    "BRW --- --- BRW BRW ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "-R- --- --- --- -R- ---",
    "-R- --- -R- --- -R- ---",
    "-R- --- --- -R- -R- ---",
    "--W --- --- --- --W ---",
    "--W --- --W --- --W ---",
    "--W --- --- --W --W ---",
    "BRW --- --- --- BRW ---",
    "BRW --- BRW --- BRW ---",
    "BRW --- --- BRW BRW ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
];

#[rustfmt::skip]
const DATA_TWO_CONNECTIONS: [&str; 18] = [
    "--- --- --- --- --- ---",
    "-R- --- -R- --- -R- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- -R- ---",
    "-R- --- -R- --- -R- ---",
    "--- --- --- -R- -R- ---",
    "--- --- --- --- --W ---",
    "--- --- --W --- --W ---",
    "--- --- --- --W --W ---",
    "--- --- --- --- BRW ---",
    "-R- --- BRW --- BRW ---",
    "--- --- --- BRW BRW ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
];

#[rustfmt::skip]
const PROGRAM_ONE_CONNECTION: [&str; 18] = [
    "BRW --- --- --- BRW ---",
    "BRW --- BRW --- BRW ---",
    "BRW --- --- BRW BRW ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "-R- --- --- --- -R- ---",
    "-R- --- -R- --- -R- ---",
    "-R- --- --- -R- -R- ---",
    "--W --- --- --- --W ---",
    "--W --- --W --- --W ---",
    "--W --- --- --W --W ---",
    "BRW --- --- --- BRW ---",
    "BRW --- BRW --- BRW ---",
    "BRW --- --- BRW BRW ---",
    "BRW --- --- --- --- BBB",
    "BRW --- --- --- --- BBB",
    "BRW --- --- --- --- BBB",
];

#[rustfmt::skip]
const DATA_ONE_CONNECTION: [&str; 18] = [
    "BRW --- --- --- --- BBB",
    "-R- --- -R- --- -R- ---",
    "BRW --- --- --- --- BBB",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- --- ---",
    "--- --- --- --- -R- ---",
    "-R- --- -R- --- -R- ---",
    "--- --- --- -R- -R- ---",
    "--- --- --- --- --W ---",
    "--- --- --W --- --W ---",
    "--- --- --- --W --W ---",
    "--- --- --- --- BRW ---",
    "-R- --- BRW --- BRW ---",
    "--- --- --- BRW BRW ---",
    "BRW --- --- --- --- BBB",
    "BRW --- --- --- --- BBB",
    "BRW --- --- --- --- BBB",
];

fn dos(conn: ConnId, name: &str, deny: DenyMode, wanted: u32) -> OpenRequest {
    // Access mode 0xFF always means reading and writing.
    let access = if deny == DenyMode::Fcb {
        READ | WRITE
    } else {
        wanted
    };
    OpenRequest {
        path: name.to_string(),
        access,
        sharing: Sharing::Dos(deny),
        ..request(conn)
    }
}

fn result(world: &mut World, first: &OpenRequest, second: &OpenRequest) -> char {
    let first = world.open(first);
    let outcome = world.try_open(second);
    world.close(first);
    match outcome {
        OpenOutcome::Granted { open, .. } => {
            world.close(open);
            match (
                second.access & access::READ_DATA != 0,
                second.access & access::WRITE_DATA != 0,
            ) {
                (true, true) => 'B',
                (true, false) => 'R',
                _ => 'W',
            }
        }
        OpenOutcome::SharingViolation => '-',
        other => panic!("{other:?}"),
    }
}

fn check(name: &str, matrix: &[&str; 18], same: bool) {
    let mut world = World::new();
    let one = world.client();
    let two = if same { one } else { world.client() };
    for (row, expected) in matrix.iter().enumerate() {
        let first = dos(one, name, MODES[row / 3], ACCESSES[row % 3]);
        let got = MODES.map(|deny| {
            ACCESSES.map(|wanted| result(&mut world, &first, &dos(two, name, deny, wanted)))
        });
        let got = got
            .map(|cell| cell.iter().collect::<alloc::string::String>())
            .join(" ");
        assert_eq!(
            &got, expected,
            "{name}: {:?} {:#x} first",
            first.sharing, first.access
        );
    }
    assert_eq!(world.tables.open_count(), 0);
}

#[test]
fn deny_modes_of_two_clients_on_a_program() {
    check("denytest2.exe", &PROGRAM_TWO_CONNECTIONS, false);
    check("bin/DENY.Dll", &PROGRAM_TWO_CONNECTIONS, false);
}

#[test]
fn deny_modes_of_two_clients_on_a_data_file() {
    check("denytest2.dat", &DATA_TWO_CONNECTIONS, false);
    check("tool.exe/readme", &DATA_TWO_CONNECTIONS, false);
}

#[test]
fn deny_modes_of_one_client_on_a_program() {
    check("denytest1.exe", &PROGRAM_ONE_CONNECTION, true);
    check("COMMAND.COM", &PROGRAM_ONE_CONNECTION, true);
}

#[test]
fn deny_modes_of_one_client_on_a_data_file() {
    check("denytest1.dat", &DATA_ONE_CONNECTION, true);
}

#[test]
fn another_process_of_the_same_client_does_not_join_a_compatibility_mode_open() {
    let mut world = World::new();
    let client = world.client();
    let first = dos(client, "a.dat", DenyMode::Compatibility, READ | WRITE);
    let second = OpenRequest {
        pid: first.pid + 1,
        ..first.clone()
    };
    let other_user = OpenRequest {
        uid: first.uid + 1,
        ..first.clone()
    };
    assert_eq!(result(&mut world, &first, &second), '-');
    assert_eq!(result(&mut world, &first, &other_user), '-');
    assert_eq!(result(&mut world, &first, &first.clone()), 'B');
}

#[test]
fn a_second_open_in_compatibility_mode_joins_the_first_one_and_one_that_denies_none_does_not() {
    // base.denydos: joined opens share a file position.
    let mut world = World::new();
    let client = world.client();
    let compatible = dos(client, "a.txt", DenyMode::Compatibility, READ | WRITE);
    let first = world.open(&compatible);
    let OpenOutcome::Granted { joins, .. } = world.try_open(&compatible) else {
        panic!()
    };
    assert_eq!(joins, Some(first));
    let free = path(
        "b.txt",
        5,
        dos(client, "b.txt", DenyMode::None, READ | WRITE),
    );
    world.open(&free);
    let OpenOutcome::Granted { joins, .. } = world.try_open(&free) else {
        panic!()
    };
    assert_eq!(joins, None);
}

#[test]
fn creating_twice_in_compatibility_mode_works_for_one_client_and_not_for_two() {
    // base.deny3.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let create = |conn| OpenRequest {
        overwrites: true,
        ..dos(conn, "deny_dos1.dat", DenyMode::Compatibility, WRITE)
    };
    assert_eq!(result(&mut world, &create(one), &create(one)), 'W');
    assert_eq!(result(&mut world, &create(one), &create(two)), '-');
}

#[test]
fn share_access_is_checked_in_both_directions() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let open = |conn, access, bits| OpenRequest {
        access,
        sharing: Sharing::Nt(bits),
        ..request(conn)
    };
    let reader = open(one, READ, share::READ);
    assert_eq!(
        result(&mut world, &reader, &open(two, READ, share::READ)),
        'R'
    );
    assert_eq!(
        result(&mut world, &reader, &open(two, READ, share::WRITE)),
        '-'
    );
    assert_eq!(
        result(&mut world, &reader, &open(two, WRITE, share::ALL)),
        '-'
    );
    let deleter = open(one, access::DELETE, share::ALL);
    assert_eq!(
        result(
            &mut world,
            &deleter,
            &open(two, READ, share::READ | share::WRITE)
        ),
        '-'
    );
    assert_eq!(
        result(&mut world, &deleter, &open(two, READ, share::DELETE)),
        'R'
    );
}

#[test]
fn an_overwriting_open_counts_as_writing() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let reader = OpenRequest {
        access: READ,
        sharing: Sharing::Nt(share::READ),
        ..request(one)
    };
    let cutting = OpenRequest {
        access: READ,
        overwrites: true,
        ..shared(two)
    };
    assert_eq!(result(&mut world, &reader, &cutting), '-');
}

#[test]
fn an_open_for_attributes_conflicts_with_nothing() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    world.open(&request(one));
    for access in [
        access::READ_ATTRIBUTES,
        access::WRITE_ATTRIBUTES,
        0x8,
        0x10,
        0x2_0000,
        0,
    ] {
        world.open(&OpenRequest {
            access,
            ..request(two)
        });
    }
}

/// Whether NT allows both opens, as base.ntdeny1 and 2 predict.
fn predicted(share1: u32, access1: u32, share2: u32, access2: u32) -> bool {
    let busy = |access: u32| access & 0x1_0027 != 0;
    let fits = |access: u32, share: u32| {
        (access & 0x6 == 0 || share & 2 != 0)
            && (access & 0x21 == 0 || share & 1 != 0)
            && (access & 0x1_0000 == 0 || share & 4 != 0)
    };
    !busy(access1) || !busy(access2) || (fits(access1, share2) && fits(access2, share1))
}

proptest! {
    #[test]
    fn nt_opens_conflict_as_nt_predicts(
        shares in (0..8u32, 0..8u32), accesses in (0..0x200u32, 0..0x200u32), deletes in (any::<bool>(), any::<bool>()),
        same: bool,
    ) {
        let mut world = World::new();
        let one = world.client();
        let two = if same { one } else { world.client() };
        let accesses = (accesses.0 | u32::from(deletes.0) << 16, accesses.1 | u32::from(deletes.1) << 16);
        let open = |conn, access, bits| OpenRequest { access, sharing: Sharing::Nt(bits), ..request(conn) };
        world.open(&open(one, accesses.0, shares.0));
        let second = open(two, accesses.1, shares.1);
        let granted = matches!(world.try_open(&second), OpenOutcome::Granted { .. });
        prop_assert_eq!(granted, predicted(shares.0, accesses.0, shares.1, accesses.1));
    }
}
