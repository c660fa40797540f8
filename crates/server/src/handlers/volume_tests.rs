use super::*;
use crate::{config::Config, share::ShareOptions, testkit::TestServer};

const GB: u64 = 1 << 30;

#[test]
fn dos_clients_count_in_clusters_of_64_sectors_and_never_beyond_2_gb() {
    for generation in [Generation::Core, Generation::Lanman1, Generation::Lanman2] {
        let huge = disk_units(
            generation,
            Space {
                total: 500 * GB,
                free: 3 * GB,
            },
        );
        assert_eq!((huge.total_units, huge.free_units), (65_535, 65_535));
        assert_eq!((huge.blocks_per_unit, huge.block_size), (64, 512));
        let small = disk_units(
            generation,
            Space {
                total: GB,
                free: 1 << 20,
            },
        );
        assert_eq!((small.total_units, small.free_units), (32_768, 32));
        assert_eq!((small.blocks_per_unit, small.block_size), (64, 512));
    }
}

#[test]
fn nt_clients_get_exact_sizes_in_units_that_grow_with_the_disk() {
    for total in [1 << 20, 3 * GB, 100 * GB, 1000 * GB] {
        let space = Space {
            total,
            free: total / 2,
        };
        let told = disk_units(Generation::Nt, space);
        let unit = u64::from(told.blocks_per_unit) * u64::from(told.block_size);
        assert!(total - u64::from(told.total_units) * unit < unit, "{total}");
        assert!(
            space.free - u64::from(told.free_units) * unit < unit,
            "{total}"
        );
    }
    let beyond = Space {
        total: 100_000 * GB,
        free: 0,
    };
    assert_eq!(disk_units(Generation::Nt, beyond).total_units, 65_535);
}

#[test]
fn query_information_disk_answers_every_dialect() {
    let server = TestServer::new();
    for dialect in ["PC NETWORK PROGRAM 1.0", "LANMAN1.0", "LM1.2X002"] {
        let mut client = server.client(dialect);
        let answer = client.request(0x80, &[], b"").ok();
        assert_eq!((answer.word(1), answer.word(2)), (64, 512));
        assert!(answer.word(3) <= answer.word(0) && answer.block().word_count() == 5);
    }
}

#[test]
fn volume_levels_name_the_share_in_unicode_and_in_the_code_page() {
    let server = TestServer::new();
    let mut nt = server.client("NT LM 0.12");
    let volume = nt.trans2(3, &[0x02, 0x01], b"").ok();
    assert_eq!(volume.u32(12), 8);
    assert_eq!(volume.data[18..], *b"D\0I\0S\0K\0");
    let same = nt.trans2(3, &1001u16.to_le_bytes(), b"").ok();
    assert_eq!(same.data, volume.data);
    let mut os2 = server.client("LANMAN1.0");
    let old = os2.trans2(3, &[2, 0], b"").ok();
    assert_eq!(
        old.u32(0),
        volume.u32(8),
        "all levels must report the same serial number"
    );
    assert_eq!(
        old.data[4..],
        *b"\x05DISK\0",
        "the length must include the terminator"
    );
}

#[test]
fn all_size_levels_report_the_same_size() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let size = client.trans2(3, &[0x03, 0x01], b"").ok();
    let full = client.trans2(3, &1007u16.to_le_bytes(), b"").ok();
    let allocation = client.trans2(3, &[1, 0], b"").ok();
    assert_eq!((size.u32(16), size.u32(20)), (8, 512));
    assert_eq!(full.u64(0), size.u64(0));
    assert_eq!(u64::from(allocation.u32(8)), size.u64(0).min(0xffff_ffff));
    assert_eq!(allocation.u16(16), 512);
}

#[test]
fn attributes_name_the_file_system_in_less_than_eight_characters() {
    let mut client = TestServer::with(
        Config::default(),
        ShareOptions {
            case_sensitive: true,
            ..ShareOptions::default()
        },
    )
    .client("NT LM 0.12");
    let told = client.trans2(3, &[0x05, 0x01], b"").ok();
    assert_eq!((told.u32(0), told.u32(4)), (0x7, 255));
    assert!(told.u32(8) < 16 && told.data[12..] == *b"N\0T\0F\0S\0");
    let device = client.trans2(3, &1004u16.to_le_bytes(), b"").ok();
    assert_eq!(device.data, b"\x07\0\0\0\x20\0\0\0");
}

#[test]
fn the_volumes_object_identifier_is_a_stable_guid() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let told = client.trans2(3, &1008u16.to_le_bytes(), b"").ok();
    assert_eq!(told.data.len(), 64);
    assert_eq!((told.data[7] >> 4, told.data[8] >> 6), (8, 2));
    assert_eq!(told.data[16..], [0; 48]);
    let again = TestServer::new().client("NT LM 0.12");
    let again = { again }.trans2(3, &1008u16.to_le_bytes(), b"").ok();
    assert_eq!(told.data, again.data);
}

#[test]
fn unknown_levels_and_all_changes_are_refused() {
    let mut client = TestServer::new().client("NT LM 0.12");
    for level in [0u16, 3, 0x200, 1009] {
        client
            .trans2(3, &level.to_le_bytes(), b"")
            .refused(Status::INVALID_LEVEL);
    }
    client
        .trans2(4, &[0; 4], b"")
        .refused(Status::NOT_SUPPORTED);
}
