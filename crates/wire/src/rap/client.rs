//! The client's side of RAP: the requests old clients send, and the records of the replies ([MS-RAP] 2.5).
//!
//! A pointer in a record has 32 bits, of which the low 16 are used. The pointer minus the reply's converter is an
//! offset in the data ([MS-RAP] 2.5.4). Both are untrusted: a pointer outside the data gives an empty string.

use super::{Value, descriptor::Item, emit_request, function};
use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
    rpc::srvsvc::TimeOfDay,
};
use alloc::vec::Vec;

/// The pipe of all RAP calls: the transaction's name.
pub const PIPE: &str = "\\PIPE\\LANMAN";

/// Records of NetShareEnum, level 1.
const SHARE_1: &str = "B13BWz";
/// Records of NetServerGetInfo and NetServerEnum2, level 1.
const SERVER_1: &str = "B16BBDz";
/// The record of NetRemoteTOD.
const TIME_OF_DAY: &str = "DDBBBBWWBBWB";

/// Parameters of NetShareEnum, level 1, for a receive buffer of this size.
pub fn share_enum(receive_bytes: u16) -> Vec<u8> {
    let mut out = Writer::default();
    emit_request(function::NET_SHARE_ENUM, "WrLeh", SHARE_1, &mut out);
    out.u16(1).u16(receive_bytes);
    out.into_vec()
}

/// Parameters of NetServerGetInfo, level 1.
pub fn server_get_info(receive_bytes: u16) -> Vec<u8> {
    let mut out = Writer::default();
    emit_request(function::NET_SERVER_GET_INFO, "WrLh", SERVER_1, &mut out);
    out.u16(1).u16(receive_bytes);
    out.into_vec()
}

/// Parameters of NetServerEnum2, level 1: servers whose type has one of the bits of `kinds`, in `domain` (encoded) or
/// in the queried server's own domain.
pub fn server_enum2(receive_bytes: u16, kinds: u32, domain: Option<&[u8]>) -> Vec<u8> {
    let mut out = Writer::default();
    let parameters = match domain {
        Some(_) => "WrLehDz",
        None => "WrLehDO",
    };
    emit_request(function::NET_SERVER_ENUM2, parameters, SERVER_1, &mut out);
    out.u16(1).u16(receive_bytes).u32(kinds);
    if let Some(domain) = domain {
        crate::block::put_oem(&mut out, domain);
    }
    out.into_vec()
}

/// Parameters of NetRemoteTOD.
pub fn remote_tod(receive_bytes: u16) -> Vec<u8> {
    let mut out = Writer::default();
    emit_request(function::NET_REMOTE_TOD, "rL", TIME_OF_DAY, &mut out);
    out.u16(receive_bytes);
    out.into_vec()
}

/// A reply's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// [`super::code`]: data is there also with `MORE_DATA`.
    pub code: u16,
    /// The value to subtract from pointers.
    pub converter: u16,
    /// Records sent, of calls that list; of NetServerGetInfo the bytes available.
    pub entries: u16,
    /// Records there are, of calls that list.
    pub available: u16,
}

impl Reply {
    /// Decodes the transaction's parameters. The counts may lack: not every call has them, and no error does.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(parameters: &[u8]) -> Result<Self> {
        let mut r = Reader::new(parameters);
        Ok(Self {
            code: r.u16("RAP status")?,
            converter: r.u16("RAP converter")?,
            entries: r.u16("RAP entries").unwrap_or(0),
            available: r.u16("RAP entries available").unwrap_or(0),
        })
    }

    /// Appends the parameters in the form of calls that list.
    pub fn emit(&self, out: &mut Writer) {
        out.u16(self.code)
            .u16(self.converter)
            .u16(self.entries)
            .u16(self.available);
    }
}

/// A share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share<'a> {
    /// Name, encoded.
    pub name: &'a [u8],
    /// 0 disk, 1 printer, 2 device, 3 pipes.
    pub kind: u16,
    /// Comment, encoded.
    pub comment: &'a [u8],
}

/// The shares in a reply of NetShareEnum.
pub fn shares<'a>(reply: &Reply, data: &'a [u8]) -> Vec<Share<'a>> {
    let records = records(SHARE_1, reply.entries, reply.converter, data);
    let share = |record: &Vec<Value<'a>>| match record.as_slice() {
        [
            Value::Text(name),
            Value::Word(_),
            Value::Word(kind),
            Value::Text(comment),
        ] => Some(Share {
            name,
            kind: *kind,
            comment,
        }),
        _ => None,
    };
    records.iter().filter_map(share).collect()
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server<'a> {
    /// Name, encoded.
    pub name: &'a [u8],
    /// Version, major (of which the low four bits count) and minor.
    pub version: (u8, u8),
    /// SV_TYPE bits.
    pub kind: u32,
    /// Comment, encoded.
    pub comment: &'a [u8],
}

/// The servers in a reply of NetServerEnum2.
pub fn servers<'a>(reply: &Reply, data: &'a [u8]) -> Vec<Server<'a>> {
    let records = records(SERVER_1, reply.entries, reply.converter, data);
    records.iter().filter_map(|record| server(record)).collect()
}

/// The server in a reply of NetServerGetInfo.
pub fn server_info<'a>(reply: &Reply, data: &'a [u8]) -> Option<Server<'a>> {
    server(records(SERVER_1, 1, reply.converter, data).first()?)
}

fn server<'a>(record: &[Value<'a>]) -> Option<Server<'a>> {
    match record {
        [
            Value::Text(name),
            Value::Word(major),
            Value::Word(minor),
            Value::Dword(kind),
            Value::Text(comment),
        ] => Some(Server {
            name,
            version: (*major as u8, *minor as u8),
            kind: *kind,
            comment,
        }),
        _ => None,
    }
}

/// The time in a reply of NetRemoteTOD.
///
/// # Errors
/// [`Error::Short`].
pub fn time_of_day(data: &[u8]) -> Result<TimeOfDay> {
    let mut r = Reader::new(data);
    let (elapsed_s, msecs) = (r.u32("elapsed seconds")?, r.u32("milliseconds")?);
    let mut time = [0; 4];
    for part in &mut time {
        *part = u32::from(r.u8("time of day")?);
    }
    let zone = r.u16("time zone")? as i16;
    r.u16("clock interval")?;
    let (day, month) = (r.u8("day")?, r.u8("month")?);
    let year = r.u16("year")?;
    Ok(TimeOfDay {
        elapsed_s,
        msecs,
        time,
        zone_minutes_west: i32::from(zone),
        date: [u32::from(day), u32::from(month), u32::from(year)],
        weekday: u32::from(r.u8("weekday")?),
    })
}

/// Decodes up to `entries` records in the form of `descriptor` from `data`. Every item becomes one value: text in place
/// (`Bn`) or behind a pointer (`z`) without its zero, single bytes (`B`) as words, other pointers as null.
pub fn records<'a>(
    descriptor: &str,
    entries: u16,
    converter: u16,
    data: &'a [u8],
) -> Vec<Vec<Value<'a>>> {
    let items = super::descriptor::parse(descriptor.as_bytes()).unwrap_or_default();
    let size: usize = items.iter().map(|item| item.fixed_bytes()).sum();
    if size == 0 {
        return Vec::new();
    }
    let whole = data.chunks_exact(size).take(usize::from(entries));
    let record = |bytes| {
        let mut r = Reader::new(bytes);
        let values = items
            .iter()
            .map(|item| take(*item, &mut r, converter, data));
        values.collect::<Result<_>>().ok()
    };
    whole.filter_map(record).collect()
}

fn take<'a>(item: Item, r: &mut Reader<'a>, converter: u16, data: &'a [u8]) -> Result<Value<'a>> {
    Ok(match item {
        Item::Word | Item::Count => Value::Word(r.u16("RAP word")?),
        Item::Dword => Value::Dword(r.u32("RAP double word")?),
        Item::Bytes(1) => Value::Word(u16::from(r.u8("RAP byte")?)),
        Item::Bytes(n) => Value::Text(until_zero(r.take(usize::from(n), "RAP bytes")?)),
        Item::Text => {
            let pointer = r.u32("RAP pointer")?;
            let at = usize::from((pointer as u16).wrapping_sub(converter));
            match pointer {
                0 => Value::Text(&[]),
                _ => Value::Text(until_zero(data.get(at..).unwrap_or(&[]))),
            }
        }
        Item::Null | Item::BytesPointer(_) => {
            r.u32("RAP pointer")?;
            Value::Null
        }
        _ => {
            return Err(Error::Value {
                what: "RAP descriptor",
            });
        }
    })
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::rap::{Field, Request, descriptor, pack};
    use proptest::prelude::*;

    #[test]
    fn requests_are_understood_by_the_server_and_stand_as_clients_send_them() {
        assert_eq!(share_enum(4096), b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10");
        let asked = server_enum2(0x2000, 0x8000_0000, Some(b"WG"));
        let request = Request::parse(&asked).unwrap();
        assert_eq!(request.function, function::NET_SERVER_ENUM2);
        assert_eq!(
            (request.level(), request.receive_bytes),
            (Some(1), Some(0x2000))
        );
        assert_eq!(
            (request.dword(), request.text(0)),
            (Some(0x8000_0000), Some(&b"WG"[..]))
        );
        let asked = server_enum2(0x2000, u32::MAX, None);
        assert_eq!(Request::parse(&asked).unwrap().text(0), None);
        let asked = server_get_info(100);
        assert_eq!(Request::parse(&asked).unwrap().level(), Some(1));
        let asked = remote_tod(21);
        let request = Request::parse(&asked).unwrap();
        assert_eq!((request.function, request.receive_bytes), (91, Some(21)));
    }

    fn packed(descriptor: &str, records: &[Vec<Field>]) -> Vec<u8> {
        let items = descriptor::parse(descriptor.as_bytes()).unwrap();
        pack(&items, records, 1000).data
    }

    fn two_shares() -> Vec<u8> {
        let share = |name: &str, kind, comment: &str| {
            [
                Field::Text(name.into()),
                Field::Word(0),
                Field::Word(kind),
                Field::Text(comment.into()),
            ]
            .to_vec()
        };
        packed(
            SHARE_1,
            &[share("GAMES", 0, "old ones"), share("IPC$", 3, "")],
        )
    }

    #[test]
    fn shares_come_back_with_their_comments() {
        let data = two_shares();
        let reply = Reply {
            code: 0,
            converter: 0,
            entries: 2,
            available: 2,
        };
        let list = shares(&reply, &data);
        let games = Share {
            name: b"GAMES",
            kind: 0,
            comment: b"old ones",
        };
        assert_eq!(list[0], games);
        assert_eq!(
            (list[1].name, list[1].kind, list[1].comment),
            (&b"IPC$"[..], 3, &b""[..])
        );
        let mut out = Writer::default();
        reply.emit(&mut out);
        assert_eq!(Reply::parse(out.as_slice()), Ok(reply));
        assert_eq!(Reply::parse(&out.as_slice()[..4]).unwrap().entries, 0);
    }

    #[test]
    fn the_converter_is_subtracted_from_pointers_and_their_high_words_are_ignored() {
        let mut data = two_shares();
        for at in [16, 36] {
            let pointer = u16::from_le_bytes([data[at], data[at + 1]]).wrapping_add(0xfff0);
            data[at..at + 2].copy_from_slice(&pointer.to_le_bytes());
            data[at + 2..at + 4].copy_from_slice(b"\x34\x12");
        }
        let reply = Reply {
            code: super::super::code::MORE_DATA,
            converter: 0xfff0,
            entries: 2,
            available: 9,
        };
        assert_eq!(shares(&reply, &data)[0].comment, b"old ones");
        let lying = Reply {
            converter: 3,
            entries: 999,
            ..reply
        };
        assert!(shares(&lying, &data).len() <= data.len() / 20);
    }

    #[test]
    fn servers_and_the_time_come_back() {
        let record = [
            Field::Text(b"OLDBOX".to_vec()),
            Field::Word(4),
            Field::Word(0),
            Field::Dword(0x0041_2003),
            Field::Text(b"Pentium".to_vec()),
        ];
        let data = packed(SERVER_1, &[record.to_vec()]);
        let reply = Reply {
            code: 0,
            converter: 0,
            entries: 1,
            available: 1,
        };
        let want = Server {
            name: b"OLDBOX",
            version: (4, 0),
            kind: 0x0041_2003,
            comment: b"Pentium",
        };
        assert_eq!(servers(&reply, &data), [want]);
        assert_eq!(server_info(&reply, &data), Some(want));
        assert_eq!(server_info(&reply, &data[..25]), None);
        let time = b"\x01\0\0\0\x02\0\0\0\x0d\x25\x3b\x63\xc4\xff\x36\x01\x0f\x0c\xe3\x07\x00";
        let tod = time_of_day(time).unwrap();
        assert_eq!(
            (tod.elapsed_s, tod.time, tod.zone_minutes_west),
            (1, [13, 37, 59, 99], -60)
        );
        assert_eq!((tod.date, tod.weekday), ([15, 12, 2019], 0));
        assert!(time_of_day(&time[..20]).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_replies_never_yield_more_records_than_they_contain(
            descriptor in "[WDBbzOlN0-9]{0,12}",
            entries in any::<u16>(),
            converter in any::<u16>(),
            data in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let found = records(&descriptor, entries, converter, &data);
            prop_assert!(found.len() <= data.len());
            for value in found.iter().flatten() {
                if let Value::Text(text) = value {
                    prop_assert!(text.len() <= data.len());
                }
            }
            let _ = (Reply::parse(&data), time_of_day(&data));
        }
    }
}
