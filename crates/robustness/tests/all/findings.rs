//! What fuzzing and bad input found, so that it stays found.

use coax_robustness::engine::{
    script::{greet, open},
    world::{Options, World},
};
use coax_wire::{command as c, header::Header};

fn nt_client(world: &mut World) -> usize {
    let client = world.connect();
    greet(world, client, "NT LM 0.12", 0x4000, 3);
    client
}

/// `count` READ_ANDX of the largest size in one chain.
fn reads(fid: u16, count: usize) -> Vec<u8> {
    let mut chain = Vec::new();
    for number in 1..=count {
        let next = (32 + number * 27) as u16;
        let command = if number == count { 0xff } else { c::READ_ANDX };
        let words = [
            u16::from(command),
            next,
            fid,
            0,
            0,
            0xffff,
            0,
            0xffff,
            0xffff,
            0,
            0,
            0,
        ];
        chain.push(12);
        chain.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        chain.extend([0, 0]);
    }
    chain
}

#[test]
fn a_message_that_chains_two_thousand_large_reads_is_cut_short() {
    let mut world = World::new(Options::default());
    let client = nt_client(&mut world);
    world.fs.add_file("A.TXT", &[7; 65_535]).unwrap();
    let fid = open(&mut world, client).unwrap();
    let replies = world.request(client, c::READ_ANDX, &reads(fid, 2_000));
    assert_eq!(replies.len(), 1);
    assert!(replies[0].len() < 0x1_ffff);
    assert_ne!(Header::parse(&replies[0]).unwrap().status, 0);
    world.end();
}

#[test]
fn a_chain_of_four_reads_is_served_whole() {
    let mut world = World::new(Options::default());
    let client = nt_client(&mut world);
    let fid = open(&mut world, client).unwrap();
    let replies = world.request(client, c::READ_ANDX, &reads(fid, 4));
    assert_eq!(Header::parse(&replies[0]).unwrap().status, 0);
    assert_eq!(
        replies[0]
            .windows(5)
            .filter(|window| *window == b"hello")
            .count(),
        4
    );
    world.end();
}

#[test]
fn a_raw_read_behind_another_command_does_not_swallow_that_ones_reply() {
    for follower in [
        c::READ_RAW,
        c::WRITE_RAW,
        c::ECHO,
        c::TRANSACTION2_SECONDARY,
    ] {
        let mut world = World::new(Options::default());
        let client = nt_client(&mut world);
        let fid = open(&mut world, client).unwrap();
        let mut chain = reads(fid, 2);
        chain[1] = follower;
        chain.truncate(27);
        chain.push(8);
        for word in [fid, 0, 0, 10, 0, 0, 0, 0] {
            chain.extend(word.to_le_bytes());
        }
        chain.extend([0, 0]);
        let replies = world.request(client, c::READ_ANDX, &chain);
        assert_eq!(replies.len(), 1, "{follower:#x}");
        let status = Header::parse(&replies[0]).unwrap().status;
        assert_eq!(status, 0x0001_0002, "{follower:#x}: STATUS_INVALID_SMB");
        assert_eq!(
            replies[0][32], 12,
            "{follower:#x}: the read's own reply must come first"
        );
        world.end();
    }
}
