//! pcapng as programs write it: sections of either byte order, interfaces with clocks of their own, blocks that say
//! nothing of packets (draft-ietf-opsawg-pcapng).

use coax_explain::explain;

use crate::common::{
    of,
    packets::{Owned, essence, packets},
    unpacked,
};

const SAMPLE: &str = "labelled/nagle_lan-client.pcapng.gz";
const RAW_IP: u16 = 101;
const SECOND: u64 = 1_000_000_000;

/// Writes blocks in one byte order.
struct Writer {
    out: Vec<u8>,
    big_endian: bool,
}

impl Writer {
    fn new(big_endian: bool) -> Self {
        let mut writer = Self {
            out: Vec::new(),
            big_endian,
        };
        writer.section();
        writer
    }

    fn u16(&self, value: u16) -> [u8; 2] {
        if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn u32(&self, value: u32) -> [u8; 4] {
        if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
        let total = self.u32((12 + body.len() + padding.len()) as u32);
        let kind = self.u32(kind);
        for part in [&kind[..], &total[..], body, &padding, &total] {
            self.out.extend_from_slice(part);
        }
    }

    fn section(&mut self) {
        let mut body = self.u32(0x1a2b_3c4d).to_vec();
        body.extend([self.u16(1), self.u16(0)].concat());
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body);
    }

    fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut out = [self.u16(code), self.u16(value.len() as u16)].concat();
        out.extend_from_slice(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    /// An interface: its clock's resolution as the option has it, and seconds to be added to its times.
    fn interface(&mut self, link: u16, resolution: u8, offset: i64) {
        let mut body = [self.u16(link), self.u16(0)].concat();
        body.extend(self.u32(0));
        let offset = if self.big_endian {
            offset.to_be_bytes()
        } else {
            offset.to_le_bytes()
        };
        body.extend(self.option(9, &[resolution]));
        body.extend(self.option(14, &offset));
        body.extend(self.option(0, &[]));
        self.block(1, &body);
    }

    fn packet(&mut self, interface: u32, time: u64, packet: &Owned) {
        let mut body = self.u32(interface).to_vec();
        body.extend(self.u32((time >> 32) as u32));
        body.extend(self.u32(time as u32));
        body.extend(self.u32(packet.bytes.len() as u32));
        body.extend(self.u32(packet.wire_len));
        body.extend(&packet.bytes);
        self.block(6, &body);
    }
}

/// All packets at one interface whose clock counts `ticks` a second.
fn written(all: &[Owned], big_endian: bool, resolution: u8, ticks: u64, offset: i64) -> Vec<u8> {
    let mut writer = Writer::new(big_endian);
    writer.interface(RAW_IP, resolution, offset);
    for packet in all {
        let at = packet
            .at
            .0
            .checked_add_signed(-offset * SECOND as i64)
            .unwrap();
        let ticked = u128::from(at) * u128::from(ticks) / u128::from(SECOND);
        writer.packet(0, ticked as u64, packet);
    }
    writer.out
}

#[test]
fn every_clock_and_byte_order_says_the_same() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let before = essence(&of(&unpacked(SAMPLE)));
    assert!(!before.is_empty());
    for big_endian in [false, true] {
        for (resolution, ticks) in [(6, 1_000_000), (9, SECOND)] {
            for offset in [0, 1_000_000_000, -3600] {
                let file = written(&all, big_endian, resolution, ticks, offset);
                assert_eq!(
                    essence(&of(&file)),
                    before,
                    "{big_endian} {resolution} {offset}"
                );
            }
        }
    }
}

#[test]
fn a_clock_that_counts_in_halves_is_as_fine_as_it_says() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let before = of(&unpacked(SAMPLE));
    // 2^-30 of a second, less than a nanosecond
    let after = of(&written(&all, false, 0x80 | 30, 1 << 30, 0));
    assert_eq!(after.copies[0].bytes, before.copies[0].bytes);
    let away = after.copies[0].wall.0.abs_diff(before.copies[0].wall.0);
    assert!(away <= 2, "{away}");
}

#[test]
fn sections_and_interfaces_follow_each_other_and_foreign_blocks_are_passed_over() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let before = essence(&of(&unpacked(SAMPLE)));
    let (first, second) = all.split_at(all.len() / 2);
    let mut file = Vec::new();
    for (part, big_endian) in [(first, true), (second, false)] {
        let mut writer = Writer::new(big_endian);
        // names, statistics, something of a vendor's, something unheard of
        for kind in [4, 5, 0x0bad, 0x7fff_ffff] {
            writer.block(kind, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        }
        writer.interface(RAW_IP, 6, 0);
        writer.interface(RAW_IP, 9, 0);
        for (number, packet) in part.iter().enumerate() {
            match number % 2 {
                0 => writer.packet(0, packet.at.0 / 1000, packet),
                _ => writer.packet(1, packet.at.0, packet),
            }
        }
        file.extend(writer.out);
    }
    assert_eq!(essence(&of(&file)), before);
}

#[test]
fn a_packet_of_an_interface_that_there_is_not_is_damage_and_what_came_before_it_is_told() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let mut writer = Writer::new(false);
    writer.interface(RAW_IP, 9, 0);
    writer.packet(0, all[0].at.0, &all[0]);
    writer.packet(7, all[1].at.0, &all[1]);
    let capture = explain(writer.out.as_slice()).unwrap();
    assert_eq!(capture.quality.packets, 1);
    let (_, what) = capture.quality.damage.unwrap();
    assert!(what.contains("interface"), "{what}");
}

#[test]
fn a_time_offset_that_leads_out_of_all_times_is_ignored_and_reported() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let before = of(&unpacked(SAMPLE));
    // the least and the most, and 158 years, which are fewer nanoseconds than an offset can have
    for offset in [i64::MIN, -5_000_000_000, i64::MAX] {
        for resolution in [9, 0x80 | 30] {
            let mut writer = Writer::new(false);
            writer.interface(RAW_IP, resolution, offset);
            for packet in &all {
                let ticks = match resolution {
                    9 => packet.at.0,
                    _ => ((u128::from(packet.at.0) << 30) / u128::from(SECOND)) as u64,
                };
                writer.packet(0, ticks, packet);
            }
            let after = of(&writer.out);
            assert_eq!(after.quality.ignored_offsets, 1, "{offset}");
            assert_eq!(before.quality.ignored_offsets, 0);
            let starts = [&before, &after].map(|capture| capture.copies[0].start.0 / SECOND);
            assert_eq!(starts[0], starts[1], "{offset} {resolution}");
            let wall = after.copies[0].wall.0;
            assert!(wall.abs_diff(before.copies[0].wall.0) <= 2, "{wall}");
        }
    }
}
