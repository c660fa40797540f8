//! Transactions that are nearly right: TRANSACTION with RAP and pipes, TRANS2, NT_TRANSACT, whole or in pieces.

use super::{
    client::Known,
    material::{data, encode, name, number, number_of},
};
use crate::choices::Choices;
use coax_wire::{command as c, header::HEADER_LEN};

const LEVELS: &[u16] = &[
    1, 2, 3, 4, 5, 6, 0x100, 0x101, 0x102, 0x103, 0x104, 0x105, 0x106, 0x107, 0x108, 0x109, 0x10a,
    0x10b, 0x200, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1013, 1014, 1016, 1017, 1018, 1019,
    1020, 1021, 1022, 1028, 1035, 0x201,
];

/// RAP's functions, with their descriptors of parameters and of data.
const CALLS: &[(u16, &str, &str)] = &[
    (0, "WrLeh", "B13BWz"),
    (1, "zWrLh", "B13BWz"),
    (13, "WrLh", "B16BBDz"),
    (63, "WrLh", "zzzBBzz"),
    (52, "zzWrLh", "B13BWz"),
    (56, "zWrLh", "B21BzzzzzzzN"),
    (91, "", ""),
    (104, "WrLehDz", "B16BBDz"),
    (132, "OOWb54WrLh", "WB21BWDWWDDDDDDDzzzD"),
    (215, "WrLehDzz", "B16BBDz"),
    (69, "WrLeh", "B13"),
    (70, "zWrLh", "B13BWWWzzzzzWW"),
    (76, "zWrLeh", "WWzWWDDzz"),
    (81, "W", ""),
];

/// The parts of a transaction.
struct Parts {
    setup: Vec<u16>,
    name: Vec<u8>,
    parameters: Vec<u8>,
    data: Vec<u8>,
}

/// A transaction's command and block; sometimes a secondary's.
pub fn build(choices: &mut Choices<'_>, known: &Known, unicode: bool) -> (u8, Vec<u8>) {
    match choices.below(8) {
        0 => (c::TRANSACTION, primary(&rap(choices), choices)),
        1 => (
            c::TRANSACTION,
            primary(&pipe(choices, known, unicode), choices),
        ),
        2..=4 => (
            c::TRANSACTION2,
            primary(&trans2(choices, known, unicode), choices),
        ),
        5 => (
            c::NT_TRANSACT,
            nt_primary(&nt(choices, known, unicode), choices),
        ),
        6 => secondary(choices),
        _ => nt_secondary(choices),
    }
}

fn rap(choices: &mut Choices<'_>) -> Parts {
    let (function, parameters, data) = *choices.one_of(CALLS);
    let function = if choices.once_in(8) {
        choices.u16()
    } else {
        function
    };
    let mut bytes = function.to_le_bytes().to_vec();
    for descriptor in [parameters, data] {
        bytes.extend(descriptor.bytes());
        bytes.push(0);
    }
    for _ in 0..choices.below(6) {
        match choices.below(3) {
            0 => bytes.extend(b"DISK\0"),
            _ => bytes.extend(number(choices).to_le_bytes()),
        }
    }
    bytes.extend(choices.counted());
    Parts {
        setup: Vec::new(),
        name: b"\\PIPE\\LANMAN\0".to_vec(),
        parameters: bytes,
        data: self::data(choices),
    }
}

fn pipe(choices: &mut Choices<'_>, known: &Known, unicode: bool) -> Parts {
    const FUNCTIONS: &[u16] = &[0x26, 0x23, 0x01, 0x21, 0x22, 0x31, 0x36, 0x53, 0x54, 0x11];
    let function = *choices.one_of(FUNCTIONS);
    let bind =
        b"\x05\0\x0b\x03\x10\0\0\0\x48\0\0\0\x01\0\0\0\xb8\x10\xb8\x10\0\0\0\0\x01\0\0\0\0\0\x01\0\
        \xc8\x4f\x32\x4b\x70\x16\xd3\x01\x12\x78\x5a\x47\xbf\x6e\xe1\x88\x03\0\0\0\
        \x04\x5d\x88\x8a\xeb\x1c\xc9\x11\x9f\xe8\x08\0\x2b\x10\x48\x60\x02\0\0\0";
    let call = b"\x05\0\0\x03\x10\0\0\0\x2c\0\0\0\x02\0\0\0\x14\0\0\0\0\0\x0f\0\0\0\0\0\x01\0\0\0\x01\0\0\0";
    let data = match choices.below(4) {
        0 => bind.to_vec(),
        1 => [call.as_slice(), choices.counted()].concat(),
        2 => choices.counted().to_vec(),
        _ => Vec::new(),
    };
    Parts {
        setup: vec![function, number_of(&known.fids, choices)],
        name: encode("\\PIPE\\", unicode, 1),
        parameters: Vec::new(),
        data,
    }
}

fn trans2(choices: &mut Choices<'_>, known: &Known, unicode: bool) -> Parts {
    let function = choices.below(18) as u16;
    let mut parameters = Vec::new();
    let words: &[u16] = match function {
        1 => &[
            number(choices),
            u16::from(choices.u8()),
            u16::from(choices.u8()),
            *choices.one_of(LEVELS),
            0,
            0,
        ],
        2 => &[
            number_of(&known.sids, choices),
            u16::from(choices.u8()),
            *choices.one_of(LEVELS),
            number(choices),
            number(choices),
            u16::from(choices.u8()),
        ],
        3 | 4 => &[*choices.one_of(LEVELS)],
        5 | 6 => &[*choices.one_of(LEVELS), 0, 0],
        7 | 8 => &[number_of(&known.fids, choices), *choices.one_of(LEVELS), 0],
        13 => &[0, 0],
        _ => &[number(choices); 14],
    };
    words
        .iter()
        .for_each(|word| parameters.extend(word.to_le_bytes()));
    if !matches!(function, 3 | 4 | 7 | 8) {
        parameters.extend(name(choices, unicode, 0));
    }
    Parts {
        setup: vec![function],
        name: vec![0],
        parameters,
        data: set_data(choices),
    }
}

/// Data as set levels have it: numbers, an EA list, a name.
fn set_data(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match choices.below(5) {
        0 => (0..choices.below(40)).for_each(|_| out.extend(number(choices).to_le_bytes())),
        1 => {
            let value = choices.counted();
            let list = [&[0, 4, value.len() as u8, 0], &b"NAME\0"[..], value].concat();
            out.extend((list.len() as u32 + 4).to_le_bytes());
            out.extend(list);
        }
        2 => {
            let path = name(choices, true, 0);
            out.extend(u32::from(choices.u8() & 1).to_le_bytes());
            out.extend(0u32.to_le_bytes());
            out.extend((path.len() as u32).saturating_sub(2).to_le_bytes());
            out.extend(path);
        }
        _ => out = data(choices),
    }
    out
}

fn nt(choices: &mut Choices<'_>, known: &Known, unicode: bool) -> Parts {
    let function = choices.below(9) as u16;
    let fid = number_of(&known.fids, choices);
    let setup = match function {
        2 => vec![
            number(choices),
            number(choices),
            fid,
            u16::from(choices.u8()),
        ],
        4 => vec![
            number(choices),
            number(choices),
            fid,
            u16::from(choices.u8()),
        ],
        _ => Vec::new(),
    };
    let mut parameters = Vec::new();
    match function {
        1 => {
            for _ in 0..26 {
                parameters.extend(number(choices).to_le_bytes());
            }
            parameters.push(0);
            parameters.extend(name(choices, unicode, 0));
        }
        _ => {
            for word in [fid, 0, number(choices), number(choices)] {
                parameters.extend(word.to_le_bytes());
            }
        }
    }
    Parts {
        setup: [vec![function], setup].concat(),
        name: Vec::new(),
        parameters,
        data: set_data(choices),
    }
}

/// How much of a part goes with the primary: all, mostly.
fn share_of(len: usize, choices: &mut Choices<'_>) -> usize {
    if choices.once_in(6) { len / 2 } else { len }
}

/// Where in a primary the parts lie, and how much of parameters and data is there.
struct Placed {
    /// Offsets in the message: of the bytes, of the parameters, of the data.
    at: usize,
    parameters_at: usize,
    data_at: usize,
    sent: (usize, usize),
}

impl Placed {
    /// Behind so many words.
    fn behind(words: usize, parts: &Parts, choices: &mut Choices<'_>) -> Self {
        let at = HEADER_LEN + 1 + words * 2 + 2;
        let sent = (
            share_of(parts.parameters.len(), choices),
            share_of(parts.data.len(), choices),
        );
        let parameters_at = (at + parts.name.len()).next_multiple_of(4);
        Self {
            at,
            parameters_at,
            data_at: (parameters_at + sent.0).next_multiple_of(4),
            sent,
        }
    }

    /// Name, parameters and data.
    fn bytes(&self, parts: &Parts) -> Vec<u8> {
        let mut bytes = parts.name.clone();
        bytes.resize(self.parameters_at - self.at, 0);
        bytes.extend(&parts.parameters[..self.sent.0]);
        bytes.resize(self.data_at - self.at, 0);
        bytes.extend(&parts.data[..self.sent.1]);
        bytes
    }
}

fn primary(parts: &Parts, choices: &mut Choices<'_>) -> Vec<u8> {
    let placed = Placed::behind(14 + parts.setup.len(), parts, choices);
    let limits = [number(choices), number(choices)];
    let mut words = vec![
        parts.parameters.len() as u16,
        parts.data.len() as u16,
        limits[0],
        limits[1],
    ];
    words.extend([u16::from(choices.u8()), 0, 0, 0, 0]);
    words.extend([
        placed.sent.0 as u16,
        placed.parameters_at as u16,
        placed.sent.1 as u16,
        placed.data_at as u16,
    ]);
    words.push(parts.setup.len() as u16);
    words.extend(&parts.setup);
    spoil(&mut words, choices);
    block(&words, &placed.bytes(parts))
}

fn nt_primary(parts: &Parts, choices: &mut Choices<'_>) -> Vec<u8> {
    let setup = parts.setup.len() - 1;
    let placed = Placed::behind(19 + setup, parts, choices);
    // MaxSetupCount and Reserved1 leave the numbers at an odd byte
    let mut bytes = vec![choices.u8(), 0, 0];
    let longs = [
        parts.parameters.len(),
        parts.data.len(),
        usize::from(number(choices)),
        usize::from(number(choices)),
        placed.sent.0,
        placed.parameters_at,
        placed.sent.1,
        placed.data_at,
    ];
    for long in longs {
        bytes.extend((long as u32).to_le_bytes());
    }
    bytes.push(setup as u8);
    for word in &parts.setup {
        bytes.extend(word.to_le_bytes());
    }
    let mut words: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    spoil(&mut words, choices);
    block(&words, &placed.bytes(parts))
}

/// Now and then a word is another one.
fn spoil(words: &mut [u16], choices: &mut Choices<'_>) {
    if choices.once_in(8) {
        let index = choices.below(words.len());
        words[index] = number(choices);
    }
}

fn secondary(choices: &mut Choices<'_>) -> (u8, Vec<u8>) {
    let command = *choices.one_of(&[c::TRANSACTION_SECONDARY, c::TRANSACTION2_SECONDARY]);
    let count = if command == c::TRANSACTION_SECONDARY {
        8
    } else {
        9
    };
    let at = (HEADER_LEN + 1 + count * 2 + 2) as u16;
    let data = data(choices);
    let len = data.len() as u16;
    let mut words = vec![
        number(choices),
        number(choices),
        0,
        at,
        0,
        len,
        at,
        number(choices),
        0xffff,
    ];
    words.truncate(count);
    spoil(&mut words, choices);
    (command, block(&words, &data))
}

fn nt_secondary(choices: &mut Choices<'_>) -> (u8, Vec<u8>) {
    let at = HEADER_LEN as u32 + 1 + 36 + 2;
    let data = data(choices);
    let mut words = vec![0, 0, 0];
    let longs = [
        number(choices).into(),
        number(choices).into(),
        0,
        at,
        0,
        data.len() as u32,
        at,
        number(choices).into(),
    ];
    longs
        .iter()
        .for_each(|long: &u32| words.extend(long.to_le_bytes()));
    words.push(0);
    let mut words: Vec<u16> = words
        .chunks(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    spoil(&mut words, choices);
    (c::NT_TRANSACT_SECONDARY, block(&words, &data))
}

fn block(words: &[u16], bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![words.len() as u8];
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend((bytes.len() as u16).to_le_bytes());
    out.extend(bytes);
    out
}
