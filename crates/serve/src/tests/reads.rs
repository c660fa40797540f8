//! Reads of many lengths and offsets: sent by the kernel, from memory, or both.

use super::*;

const LANMAN: &[&str] = &["PC NETWORK PROGRAM 1.0", "LANMAN1.0"];

impl Client {
    fn use_the_share_in_raw_mode(&mut self) {
        assert_eq!(self.negotiate(LANMAN), 1);
        self.send(&request(0x70, &[], b"\x04DATA\0\x04\0\x04A:\0"));
        let reply = self.receive();
        assert_eq!((reply[4], reply[5]), (0x70, 0), "{reply:x?}");
        self.tid = [reply[35], reply[36]];
    }

    fn open(&mut self, path: &str) -> [u8; 2] {
        self.ask_open(path);
        let reply = self.receive();
        assert_eq!((reply[4], reply[5]), (0x02, 0), "{reply:x?}");
        [reply[33], reply[34]]
    }

    fn read_raw(&mut self, fid: [u8; 2], offset: u32, count: u16) -> Vec<u8> {
        let count = count.to_le_bytes();
        let words = [&fid[..], &offset.to_le_bytes(), &count, &[0; 8]].concat();
        let mut message = request(0x1a, &words, &[]);
        message[24..26].copy_from_slice(&self.tid);
        self.send(&message);
        self.receive()
    }
}

#[test]
fn raw_reads_give_the_file_byte_for_byte_wherever_they_begin_and_end() {
    let server = Fixture::start("security = share");
    let file: Vec<u8> = (0..200_001_u32).map(|i| (i % 251) as u8).collect();
    std::fs::write(server.folder.path().join("FILE.BIN"), &file).unwrap();
    let mut client = server.direct();
    client.use_the_share_in_raw_mode();
    let fid = client.open("\\FILE.BIN");
    for offset in [
        0, 1, 4095, 4096, 8191, 65_535, 131_070, 150_000, 200_000, 200_001,
    ] {
        for count in [1, 512, 16_383, 16_384, 16_385, 61_440, 65_024, 65_535] {
            let begin = offset as usize;
            let end = (begin + usize::from(count)).min(file.len());
            let got = client.read_raw(fid, offset, count);
            assert!(got == file[begin..end], "read of {count} bytes at {offset}");
        }
    }
}

#[test]
fn a_read_of_a_truncated_file_ends_at_the_new_length() {
    let server = Fixture::start("security = share");
    let path = server.folder.path().join("FILE.BIN");
    std::fs::write(&path, vec![7; 100_000]).unwrap();
    let mut client = server.direct();
    client.use_the_share_in_raw_mode();
    let fid = client.open("\\FILE.BIN");
    assert_eq!(client.read_raw(fid, 10, 60_000).len(), 60_000);
    std::fs::write(&path, vec![8; 30_000]).unwrap();
    assert_eq!(client.read_raw(fid, 10, 60_000), vec![8; 29_990]);
}
