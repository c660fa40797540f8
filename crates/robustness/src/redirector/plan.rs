//! Which redirector, as whom, and what it is to do: read from the input's first bytes.

use crate::choices::Choices;
use coax_catalog::clients;
use coax_client::{
    CopySpec, Credentials, Direction, Existing, Operation, Target,
    profile::{Fact, Method, Profile},
};
use coax_wire::{
    codepage::CodePage,
    nbt::name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION, ScopedName},
};
use std::sync::Arc;

/// Bytes that [`Plan::from_choices`] takes.
pub const PLAN_LEN: usize = 4;
/// Bytes that [`Task::from_choices`] takes.
pub const TASK_LEN: usize = 8;
/// Kinds of operations.
pub const KINDS: usize = 12;

/// Paths on the server: what is there, what is not, and what cannot be.
const PATHS: &[&str] = &[
    "B.TXT",
    "A.TXT",
    "DIR/INNER.DAT",
    "NEW.BIN",
    "Long file name.text",
    "DIR",
    "DIR/*",
    "",
    "Gr\u{fc}\u{df}e.txt",
    "\u{65e5}\u{672c}.txt",
];

/// Lengths of local files, bytes; those from [`SMALL`] on exist only in stories.
const SIZES: &[u64] = &[
    5000,
    0,
    1,
    70_000,
    200_000,
    5 << 30,
    u64::MAX >> 1,
    u64::MAX,
];
/// How many of [`SIZES`] are small enough to be really sent.
const SMALL: usize = 5;

/// A redirector and what it connects to.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The redirector.
    pub profile: Arc<Profile>,
    /// Share and user.
    pub target: Target,
}

impl Plan {
    /// One of the redirectors, perhaps with another method of reading and writing; takes [`PLAN_LEN`] bytes.
    pub fn from_choices(choices: &mut Choices<'_>) -> Self {
        let mut profile = choices.one_of(clients::all()).clone();
        let methods = [
            None,
            Some(Method::Core),
            Some(Method::Andx),
            Some(Method::Raw),
        ];
        if let Some(method) = choices.one_of(&methods) {
            let edited = Arc::make_mut(&mut profile);
            edited.read.method = Fact::chosen(*method, "the input's choice");
            edited.write.method = Fact::chosen(*method, "the input's choice");
        }
        let (bits, dialect) = (choices.u8(), choices.u8());
        let bit = |n: u8| bits & (1 << n) != 0;
        let mut target = target(&profile, if bit(0) { "IPC$" } else { "DISK" });
        if bit(1) {
            target.credentials.user = "ann".into();
            target.credentials.password = "Secret".into();
        }
        target.credentials.allow_weak = !bit(2);
        target.sign = bit(3);
        if bit(4) {
            target.code_page = CodePage::from_number(932).unwrap_or_else(CodePage::cp437);
        }
        if bit(5) {
            target.credentials.user.clear();
        }
        let offered = [
            "PC NETWORK PROGRAM 1.0",
            "LANMAN1.0",
            "LANMAN2.1",
            "NT LM 0.12",
        ];
        if dialect != 0 {
            target.dialect = Some(offered[usize::from(dialect) % offered.len()]);
        }
        Self { profile, target }
    }
}

fn target(profile: &Profile, share: &str) -> Target {
    let name = |text: &[u8], suffix| ScopedName {
        name: NbName::new(text, suffix).unwrap(),
        scope: Default::default(),
    };
    Target {
        server: "COAX".into(),
        share: share.into(),
        service: "?????",
        credentials: Credentials {
            user: "GUEST".into(),
            domain: String::new(),
            password: "".into(),
            allow_weak: true,
        },
        transport: (*profile.transport.port).into(),
        called: name(b"*SMBSERVER", SUFFIX_SERVER),
        calling: name(b"TESTER", SUFFIX_WORKSTATION),
        code_page: CodePage::cp437(),
        dialect: None,
        sign: false,
        entropy: [7; 24].into(),
        zone: Default::default(),
        filetime: 0,
    }
}

/// An operation, and the local file it works on.
#[derive(Clone, Debug)]
pub struct Task {
    /// What to do.
    pub operation: Operation,
    /// The local file's length, bytes.
    pub local_len: u64,
    /// Where the local disk is full, bytes.
    pub full_at: u64,
}

impl Task {
    /// One of the operations; takes [`TASK_LEN`] bytes. `really` keeps local files small enough to be sent.
    pub fn from_choices(choices: &mut Choices<'_>, really: bool) -> Self {
        let (kind, path) = (choices.below(KINDS), String::from(*choices.one_of(PATHS)));
        let sizes = if really { &SIZES[..SMALL] } else { SIZES };
        let local_len = *choices.one_of(sizes);
        let (copy, bits) = copy(path, local_len, choices);
        let operation = operation(kind, copy, bits);
        // A local file of unknown length must end some time.
        let local_len = local_len.min(if bits & 1 == 0 { u64::MAX } else { 200_000 });
        let full_at = if bits & 4 == 0 { u64::MAX } else { 2000 };
        Self {
            operation,
            local_len,
            full_at,
        }
    }
}

/// A copy to the client of a file of `local_len` bytes, and the bits that were chosen for it.
fn copy(path: String, local_len: u64, choices: &mut Choices<'_>) -> (CopySpec, u8) {
    let from = *choices.one_of(&[0, 1, 3000, 1 << 32, u64::MAX - 1]);
    let bits = choices.u8();
    let modified = *choices.one_of(&[
        None,
        Some(1_000_000_000_000_000_000),
        Some(0),
        Some(i64::MIN),
        Some(i64::MAX),
    ]);
    let spec = CopySpec {
        direction: Direction::ToClient,
        path,
        from,
        size: (bits & 1 == 0).then_some(local_len),
        seekable: bits & 2 == 0,
        modified,
        attributes: u16::from(choices.u8()),
        existing: *choices.one_of(&[Existing::Replace, Existing::Keep, Existing::Resume]),
        checks_end: bits & 0x40 != 0,
        first_request: if bits & 0x80 == 0 { 0 } else { u64::MAX },
    };
    (spec, bits)
}

/// The operation of one of the [`KINDS`]: `copy`, or another with what that one says.
fn operation(kind: usize, copy: CopySpec, bits: u8) -> Operation {
    let CopySpec {
        path,
        modified,
        attributes,
        ..
    } = copy.clone();
    match kind {
        0 | 10 => Operation::Copy(copy),
        1 | 11 => Operation::Copy(CopySpec {
            direction: Direction::ToServer,
            ..copy
        }),
        2 => Operation::List { pattern: path },
        3 => Operation::Stat { path },
        4 => Operation::Delete { path },
        5 => Operation::MakeDirectory { path },
        6 => Operation::RemoveDirectory { path },
        7 => Operation::Rename {
            from: path,
            to: "TO.TXT".into(),
        },
        8 if bits & 1 == 0 => Operation::SetStat {
            path,
            modified,
            attributes: (bits & 2 == 0).then_some(attributes),
        },
        8 => Operation::DiskSpace,
        _ => Operation::Shares,
    }
}
