//! Fields of a request for logs.
//!
//! One table turns any command's block into named values, in the order of the wire. Authentication data is never among
//! them, only its length ([`Value::Secret`]).

use super::{
    close, copy, delete, directory, echo, find_close2,
    find_first2::{FindFirst2, FindNext2},
    flush, ioctl, lock_byte_range, locking_andx,
    named_pipe::function as pipe,
    nt_create_andx,
    nt_transact::{Ioctl, NotifyChange, SecurityDesc, function as nt},
    open, open_andx, print, query_information, read, read_andx, read_raw, rename, search, seek,
    session_setup_andx::{self, Credentials},
    set_information, subcommand,
    trans2::function as trans2,
    trans2_open2,
    transaction::{self, Kind},
    tree_connect, tree_connect_andx, write, write_andx, write_raw,
};
use crate::{
    block::{Block, Strings, WireStr},
    codepage::{CodePage, utf16},
    command as code,
    error::Result,
    io::Reader,
};
use alloc::{string::String, vec::Vec};
use core::fmt::Write;

/// A value of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A count, an offset, a number.
    Number(u64),
    /// Flags, a mask, an identifier.
    Hex(u64),
    /// A FID.
    Fid(u16),
    /// A path or name.
    Text(WireStr<'a>),
    /// A name of the specification.
    Name(&'static str),
    /// Authentication data of this many bytes, which is not shown.
    Secret(usize),
}

/// A named value.
pub type Field<'a> = (&'static str, Value<'a>);

/// The fields of a request's block, the AndX head left out. Commands without any give none.
///
/// # Errors
/// Those of the command's decoder.
pub fn request<'a>(command: u8, block: &Block<'a>, unicode: bool) -> Result<Vec<Field<'a>>> {
    match command {
        code::TRANSACTION | code::TRANSACTION2 | code::NT_TRANSACT => {
            let kind = Kind::of(command).unwrap_or(Kind::Transaction);
            transacting(kind, block, unicode)
        }
        code::SESSION_SETUP_ANDX | code::TREE_CONNECT | code::TREE_CONNECT_ANDX => {
            connecting(command, block, unicode)
        }
        code::READ | code::LOCK_AND_READ | code::READ_ANDX | code::READ_RAW | code::READ_MPX => {
            reading(command, block)
        }
        code::WRITE
        | code::WRITE_AND_UNLOCK
        | code::WRITE_AND_CLOSE
        | code::WRITE_ANDX
        | code::WRITE_RAW
        | code::WRITE_MPX
        | code::WRITE_PRINT_FILE => writing(command, block),
        code::OPEN
        | code::CREATE
        | code::CREATE_NEW
        | code::CREATE_TEMPORARY
        | code::OPEN_ANDX
        | code::NT_CREATE_ANDX
        | code::OPEN_PRINT_FILE => opening(command, block, unicode),
        code::LOCK_BYTE_RANGE | code::UNLOCK_BYTE_RANGE | code::LOCKING_ANDX => {
            locking(command, block)
        }
        code::SEARCH | code::FIND | code::FIND_UNIQUE | code::FIND_CLOSE => {
            let request = search::Request::parse(block, unicode)?;
            Ok(Vec::from([
                ("path", Value::Text(request.path)),
                ("attributes", hex16(request.search_attributes)),
                ("max", number(request.max_count)),
                ("continues", number(u16::from(request.resume_key.is_some()))),
            ]))
        }
        _ => of_name_or_fid(command, block, unicode),
    }
}

/// Fields as `name=value`, parted by spaces. Control characters of texts are escaped, so that this stays one line.
pub fn words<'a, 'f>(fields: impl IntoIterator<Item = &'f Field<'a>>, page: CodePage) -> String
where
    'a: 'f,
{
    let mut out = String::new();
    for (name, value) in fields {
        let gap = if out.is_empty() { "" } else { " " };
        // Writing to memory does not fail.
        let _ = match value {
            Value::Number(number) => write!(out, "{gap}{name}={number}"),
            Value::Hex(number) => write!(out, "{gap}{name}={number:#x}"),
            Value::Fid(fid) => write!(out, "{gap}{name}={fid:#06x}"),
            Value::Text(text) => write!(out, "{gap}{name}=\"{}\"", decoded(*text, page)),
            Value::Name(text) => write!(out, "{gap}{name}={text}"),
            Value::Secret(len) => write!(out, "{gap}{name}=({len} bytes withheld)"),
        };
    }
    out
}

/// A string of the wire as a person reads it, with control characters escaped.
pub fn decoded(text: WireStr<'_>, page: CodePage) -> String {
    let text = if text.unicode {
        utf16::decode(text.raw)
    } else {
        page.decode(text.raw).into_owned()
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

fn number(value: impl Into<u64>) -> Value<'static> {
    Value::Number(value.into())
}

fn hex16(value: u16) -> Value<'static> {
    Value::Hex(u64::from(value))
}

fn hex32(value: u32) -> Value<'static> {
    Value::Hex(u64::from(value))
}

fn of_name_or_fid<'a>(command: u8, block: &Block<'a>, unicode: bool) -> Result<Vec<Field<'a>>> {
    Ok(match command {
        code::CREATE_DIRECTORY | code::DELETE_DIRECTORY | code::CHECK_DIRECTORY => {
            path(directory::Request::parse(block, unicode)?.path)
        }
        code::QUERY_INFORMATION => path(query_information::parse_path(block, unicode)?),
        code::DELETE => {
            let request = delete::Request::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.path)),
                ("attributes", hex16(request.search_attributes)),
            ])
        }
        code::SET_INFORMATION => {
            let request = set_information::Request::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.path)),
                ("attributes", hex16(request.attributes)),
            ])
        }
        _ => of_two_names(command, block, unicode)?,
    })
}

fn of_two_names<'a>(command: u8, block: &Block<'a>, unicode: bool) -> Result<Vec<Field<'a>>> {
    Ok(match command {
        code::RENAME => {
            let request = rename::Request::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.old)),
                ("new", Value::Text(request.new)),
            ])
        }
        code::NT_RENAME => {
            let request = rename::NtRequest::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.old)),
                ("new", Value::Text(request.new)),
                ("level", hex16(request.level)),
            ])
        }
        code::COPY | code::MOVE => {
            let request = copy::Request::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.source)),
                ("new", Value::Text(request.target)),
                ("tid2", hex16(request.tid2.0)),
                ("flags", hex16(request.flags)),
            ])
        }
        _ => of_id_or_count(command, block)?,
    })
}

fn of_id_or_count<'a>(command: u8, block: &Block<'a>) -> Result<Vec<Field<'a>>> {
    Ok(match command {
        code::SEEK => {
            let request = seek::Request::parse(block)?;
            Vec::from([
                ("fid", Value::Fid(request.fid.0)),
                ("mode", number(request.mode)),
                ("offset", hex32(request.offset as u32)),
            ])
        }
        code::IOCTL => {
            let request = ioctl::Request::parse(block)?;
            Vec::from([
                ("fid", Value::Fid(request.fid.0)),
                ("category", hex16(request.category)),
                ("function", hex16(request.function)),
            ])
        }
        code::ECHO => {
            let request = echo::Request::parse(block)?;
            Vec::from([
                ("count", number(request.count)),
                ("length", number(request.data.len() as u64)),
            ])
        }
        code::FIND_CLOSE2 => {
            let sid = find_close2::Request::parse(block)?.sid;
            Vec::from([("sid", hex16(sid.0))])
        }
        _ => of_fid(command, block)?.into_iter().collect(),
    })
}

fn of_fid(command: u8, block: &Block<'_>) -> Result<Option<Field<'static>>> {
    let fid = match command {
        code::CLOSE | code::CLOSE_PRINT_FILE => close::Request::parse(block)
            .map(|request| request.fid)
            .or_else(|_| query_information::parse_fid(block))?,
        code::FLUSH => flush::Request::parse(block)?.fid,
        code::QUERY_INFORMATION2 => query_information::parse_fid(block)?,
        code::SET_INFORMATION2 => set_information::Request2::parse(block)?.fid,
        _ => return Ok(None),
    };
    Ok(Some(("fid", Value::Fid(fid.0))))
}

fn path(path: WireStr<'_>) -> Vec<Field<'_>> {
    Vec::from([("path", Value::Text(path))])
}

fn connecting<'a>(command: u8, block: &Block<'a>, unicode: bool) -> Result<Vec<Field<'a>>> {
    if command == code::TREE_CONNECT {
        let request = tree_connect::Request::parse(block)?;
        return Ok(Vec::from([
            ("share", Value::Text(request.path)),
            ("service", Value::Text(request.service)),
            ("password", Value::Secret(request.password.raw.len())),
        ]));
    }
    if command == code::TREE_CONNECT_ANDX {
        let request = tree_connect_andx::Request::parse(block, unicode)?;
        return Ok(Vec::from([
            ("share", Value::Text(request.path)),
            ("service", Value::Text(request.service)),
            ("flags", hex16(request.flags)),
            ("password", Value::Secret(request.password.len())),
        ]));
    }
    let request = session_setup_andx::Request::parse(block, unicode)?;
    let texts = [
        ("user", request.account),
        ("domain", request.domain),
        ("system", request.native_os),
        ("lan_manager", request.native_lan_man),
    ];
    let mut fields: Vec<Field<'a>> = texts
        .into_iter()
        .filter_map(|(name, text)| Some((name, Value::Text(text?))))
        .collect();
    fields.extend([
        ("max_buffer", number(request.max_buffer)),
        ("max_mpx", number(request.max_mpx)),
        ("vc", number(request.vc_number)),
        ("capabilities", hex32(request.capabilities)),
    ]);
    match request.credentials {
        Credentials::Extended { token } => fields.push(("token", Value::Secret(token.len()))),
        Credentials::Lanman { password } => {
            fields.push(("password", Value::Secret(password.len())));
        }
        Credentials::Nt {
            oem_password,
            unicode_password,
        } => fields.extend([
            ("oem_password", Value::Secret(oem_password.len())),
            ("unicode_password", Value::Secret(unicode_password.len())),
        ]),
    }
    Ok(fields)
}

fn transfer(fid: u16, offset: u64, count: u64) -> Vec<Field<'static>> {
    Vec::from([
        ("fid", Value::Fid(fid)),
        ("offset", Value::Number(offset)),
        ("count", Value::Number(count)),
    ])
}

fn reading(command: u8, block: &Block<'_>) -> Result<Vec<Field<'static>>> {
    Ok(match command {
        code::READ | code::LOCK_AND_READ => {
            let request = read::Request::parse(block)?;
            transfer(request.fid.0, request.offset.into(), request.count.into())
        }
        code::READ_ANDX => {
            let request = read_andx::Request::parse(block)?;
            transfer(request.fid.0, request.offset, request.max_count.into())
        }
        // READ_MPX has the words of READ_RAW ([MS-CIFS] 2.2.4.23.1)
        _ => {
            let request = read_raw::Request::parse(block)?;
            transfer(request.fid.0, request.offset, request.max_count.into())
        }
    })
}

fn writing(command: u8, block: &Block<'_>) -> Result<Vec<Field<'static>>> {
    let mut mode = None;
    let mut fields = match command {
        code::WRITE | code::WRITE_AND_UNLOCK => {
            let request = write::Request::parse(block)?;
            transfer(request.fid.0, request.offset.into(), request.count.into())
        }
        code::WRITE_AND_CLOSE => {
            let request = write::AndClose::parse(block)?;
            let count = request.data.len() as u64;
            transfer(request.fid.0, request.offset.into(), count)
        }
        code::WRITE_ANDX => {
            let request = write_andx::Request::parse(block)?;
            mode = Some(request.mode);
            transfer(request.fid.0, request.offset, request.data.len() as u64)
        }
        code::WRITE_PRINT_FILE => {
            let request = print::Write::parse(block)?;
            transfer(request.fid.0, 0, request.data.len() as u64)
        }
        // WRITE_MPX has the words of WRITE_RAW ([MS-CIFS] 2.2.4.26.1)
        _ => {
            let request = write_raw::Request::parse(block)?;
            mode = Some(request.mode);
            transfer(request.fid.0, request.offset, request.count.into())
        }
    };
    fields.extend(mode.map(|mode| ("mode", hex16(mode))));
    Ok(fields)
}

fn opening<'a>(command: u8, block: &Block<'a>, unicode: bool) -> Result<Vec<Field<'a>>> {
    Ok(match command {
        code::OPEN => {
            let request = open::Open::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.path)),
                ("mode", hex16(request.access_mode)),
            ])
        }
        code::OPEN_ANDX => {
            let request = open_andx::Request::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.path)),
                ("mode", hex16(request.access_mode.0)),
                ("open", hex16(request.open_mode)),
                ("flags", hex16(request.flags)),
            ])
        }
        code::NT_CREATE_ANDX => nt_create(&nt_create_andx::Request::parse(block, unicode)?),
        code::OPEN_PRINT_FILE => Vec::from([(
            "job",
            Value::Text(print::Open::parse(block, unicode)?.identifier),
        )]),
        _ => {
            let request = open::Create::parse(block, unicode)?;
            Vec::from([
                ("path", Value::Text(request.path)),
                ("attributes", hex16(request.attributes)),
            ])
        }
    })
}

fn nt_create<'a>(request: &nt_create_andx::Request<'a>) -> Vec<Field<'a>> {
    Vec::from([
        ("path", Value::Text(request.path)),
        ("access", hex32(request.access)),
        ("share_access", hex32(request.share_access)),
        ("disposition", number(request.disposition)),
        ("options", hex32(request.options)),
        ("attributes", hex32(request.attributes)),
        ("root", hex32(request.root)),
    ])
}

fn locking(command: u8, block: &Block<'_>) -> Result<Vec<Field<'static>>> {
    if command != code::LOCKING_ANDX {
        let request = lock_byte_range::Request::parse(block)?;
        return Ok(transfer(
            request.fid.0,
            request.offset.into(),
            request.count.into(),
        ));
    }
    let request = locking_andx::Request::parse(block)?;
    let mut fields = Vec::from([
        ("fid", Value::Fid(request.fid.0)),
        ("type", Value::Hex(request.kind.into())),
        ("timeout", Value::Hex(request.timeout_ms.into())),
        ("unlocks", number(request.unlocks.len() as u64)),
        ("locks", number(request.locks.len() as u64)),
    ]);
    if let Some(first) = request.locks.first().or(request.unlocks.first()) {
        fields.extend([
            ("offset", Value::Number(first.offset)),
            ("length", Value::Number(first.length)),
        ]);
    }
    Ok(fields)
}

fn transacting<'a>(kind: Kind, block: &Block<'a>, unicode: bool) -> Result<Vec<Field<'a>>> {
    let request = transaction::Request::parse(kind, block, unicode)?;
    let function = match (kind, request.setup.first_chunk()) {
        (Kind::NtTransact, _) => Some(request.function),
        (_, Some(first)) => Some(u16::from_le_bytes(*first)),
        (_, None) => None,
    };
    let mut fields = Vec::new();
    if kind == Kind::Transaction {
        fields.push(("name", Value::Text(request.name)));
    }
    if let Some(function) = function {
        let name = subcommand::name(kind, function);
        fields.push(("function", name.map_or(hex16(function), Value::Name)));
    }
    let inner = match kind {
        Kind::Transaction => of_transaction(&request),
        Kind::Transaction2 => of_transaction2(function.unwrap_or(u16::MAX), &request, unicode),
        Kind::NtTransact => of_nt_transact(&request),
    };
    // The parameters may be incomplete; missing fields are omitted.
    fields.extend(inner.unwrap_or_default());
    fields.extend([
        ("parameters", number(request.total_parameters)),
        ("data", number(request.total_data)),
    ]);
    Ok(fields)
}

fn of_transaction<'a>(request: &transaction::Request<'a>) -> Result<Vec<Field<'a>>> {
    let mut setup = Reader::new(request.setup);
    if request.setup.is_empty() {
        // RAP: the function's number is the first parameter ([MS-RAP] 2.5.1).
        let function = Reader::new(request.parameters).u16("RAP function")?;
        return Ok(Vec::from([("rap_function", number(function))]));
    }
    let function = setup.u16("function")?;
    if matches!(function, pipe::WAIT | pipe::CALL) {
        return Ok(Vec::new());
    }
    Ok(Vec::from([("fid", Value::Fid(setup.u16("FID")?))]))
}

fn of_transaction2<'a>(
    function: u16,
    request: &transaction::Request<'a>,
    unicode: bool,
) -> Result<Vec<Field<'a>>> {
    /// Offset of the path in QUERY_PATH_INFORMATION and SET_PATH_INFORMATION ([MS-CIFS] 2.2.6.6.1).
    const PATH_AT: usize = 6;
    /// Offset of the path in CREATE_DIRECTORY ([MS-CIFS] 2.2.6.14.1).
    const FOLDER_AT: usize = 4;
    let mut words = Reader::new(request.parameters);
    let text = |at: usize| Value::Text(Strings::of(request.parameters, at, unicode).string());
    Ok(Vec::from(match function {
        trans2::FIND_FIRST2 => {
            let find = FindFirst2::parse(words)?;
            return Ok(Vec::from([
                ("path", text(FindFirst2::NAME_OFFSET)),
                ("level", hex16(find.level)),
                ("max", number(find.search_count)),
                ("flags", hex16(find.flags)),
            ]));
        }
        trans2::FIND_NEXT2 => {
            let find = FindNext2::parse(words)?;
            return Ok(Vec::from([
                ("sid", hex16(find.sid.0)),
                ("level", hex16(find.level)),
                ("max", number(find.search_count)),
                ("flags", hex16(find.flags)),
            ]));
        }
        trans2::OPEN2 => {
            let open = trans2_open2::Request::parse(request.parameters)?;
            [
                ("path", text(trans2_open2::Request::PATH_AT)),
                ("mode", hex16(open.access_mode.0)),
            ]
        }
        trans2::QUERY_PATH_INFORMATION | trans2::SET_PATH_INFORMATION => [
            ("path", text(PATH_AT)),
            ("level", hex16(words.u16("level")?)),
        ],
        trans2::QUERY_FILE_INFORMATION | trans2::SET_FILE_INFORMATION => [
            ("fid", Value::Fid(words.u16("FID")?)),
            ("level", hex16(words.u16("level")?)),
        ],
        trans2::QUERY_FS_INFORMATION => {
            return Ok(Vec::from([("level", hex16(words.u16("level")?))]));
        }
        trans2::CREATE_DIRECTORY => return Ok(Vec::from([("path", text(FOLDER_AT))])),
        _ => return Ok(Vec::new()),
    }))
}

fn of_nt_transact<'a>(request: &transaction::Request<'a>) -> Result<Vec<Field<'a>>> {
    Ok(Vec::from(match request.function {
        nt::IOCTL => {
            let ioctl = Ioctl::parse(request.setup)?;
            [
                ("fid", Value::Fid(ioctl.fid.0)),
                ("code", hex32(ioctl.code)),
            ]
        }
        nt::NOTIFY_CHANGE => {
            let notify = NotifyChange::parse(request.setup)?;
            [
                ("fid", Value::Fid(notify.fid.0)),
                ("filter", hex32(notify.filter)),
            ]
        }
        nt::QUERY_SECURITY_DESC | nt::SET_SECURITY_DESC => {
            let security = SecurityDesc::parse(request.parameters)?;
            [
                ("fid", Value::Fid(security.fid.0)),
                ("information", hex32(security.information)),
            ]
        }
        _ => return Ok(Vec::new()),
    }))
}

#[cfg(test)]
#[path = "summary_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tests;
