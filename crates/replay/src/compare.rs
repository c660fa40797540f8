//! Two replies, field by field.

use std::collections::HashMap;

use coax_decode::{Decoded, Field, Value};
use coax_wire::{
    header::{HEADER_LEN, Header},
    status::reply::ReplyStatus,
};

use crate::fields::bytes;

/// How a field that differs is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The servers answer differently.
    Differs,
    /// It differs between any two servers, shares or times.
    Expected,
}

/// A field that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The recorded reply's frame.
    pub frame: u64,
    /// What the reply is.
    pub message: String,
    /// The field, with its entry in a list.
    pub field: String,
    /// Its recorded value; `None` if the recorded reply does not have it.
    pub recorded: Option<String>,
    /// Its value here; `None` if the reply here does not have it.
    pub here: Option<String>,
    /// How to read it.
    pub class: Class,
}

/// Fields that follow from others, or that are fill: never compared.
const IGNORED: &[&str] = &[
    "Pad",
    "Unused",
    "Reserved",
    "Reserved1",
    "Reserved2",
    "Terminator",
    "AndXReserved",
    "SecurityFeatures",
    "UID",
    "ServerFID",
];

/// Fields that differ between any two servers, shares or times.
const EXPECTED: &[&str] = &[
    // places and lengths that follow from what is in the message
    "ByteCount",
    "AndXOffset",
    "DataOffset",
    "ParameterOffset",
    "NextEntryOffset",
    "LastNameOffset",
    "EaErrorOffset",
    "TotalDataCount",
    "DataCount",
    "SecurityBlobLength",
    "FileNameLength",
    "ShortNameLength",
    "VolumeLabelLength",
    "VolumeLabelSize",
    // identity and secrets
    "SessionKey",
    "Challenge",
    "ServerGUID",
    "SecurityBlob",
    "NativeOS",
    "NativeLanMan",
    "PrimaryDomain",
    "DomainName",
    "ServerName",
    "VolumeLabel",
    "VolumeSerialNumber",
    "SerialNumber",
    "ulVsn",
    "VolumeGUID",
    "FileId",
    "FileIndex",
    "IndexNumber",
    "ResumeKey",
    "MaxMpxCount",
    "MaxNumberVcs",
    // times and zones
    "ServerTimeZone",
    // the disk
    "TotalUnits",
    "FreeUnits",
    "BlocksPerUnit",
    "BlockSize",
    "TotalAllocationUnits",
    "TotalFreeAllocationUnits",
    "TotalAvailableAllocationUnits",
    "SectorsPerAllocationUnit",
    "BytesPerSector",
    "idFileSystem",
    "cSectorUnit",
    "cUnit",
    "cUnitAvail",
    "cbSector",
    "AllocationSize",
    "FileAllocationSize",
    "NativeFileSystem",
];

/// Groups that are entries of lists.
const ENTRIES: &[&str] = &["Entry", "DirectoryInformation"];
/// Fields of a reply that are listed.
const MAX_DIFFERENCES: usize = 200;
/// Bytes of a value that are shown.
const MAX_SHOWN: usize = 16;

/// A reply that was decoded.
pub(crate) struct Reply<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) decoded: &'a Decoded,
    /// Everything of it is there.
    pub(crate) is_whole: bool,
}

/// What is different. Fields that both have and that are the same are counted.
pub(crate) fn compare(
    frame: u64,
    recorded: &Reply<'_>,
    here: &Reply<'_>,
) -> (Vec<Difference>, usize) {
    let (old, new) = (paths(recorded), paths(here));
    let known: HashMap<&str, &Leaf> = new.iter().map(|leaf| (leaf.path.as_str(), leaf)).collect();
    let mut found = Vec::new();
    let mut same = 0;
    let message = recorded.decoded.title.clone();
    let mut note = |field: &Leaf, recorded: Option<&Leaf>, here: Option<&Leaf>| {
        found.push(Difference {
            frame,
            message: message.clone(),
            field: field.path.clone(),
            recorded: recorded.map(|leaf| leaf.shown.clone()),
            here: here.map(|leaf| leaf.shown.clone()),
            class: class(field),
        });
    };
    let status = |leaves: &[Leaf]| leaves.iter().position(Leaf::is_status);
    let status_differs = match (status(&old), status(&new)) {
        (Some(a), Some(b)) => old
            .get(a)
            .zip(new.get(b))
            .is_some_and(|(a, b)| !a.is_same_as(b)),
        _ => false,
    };
    for leaf in &old {
        match known.get(leaf.path.as_str()) {
            Some(other) if other.is_same_as(leaf) => same += 1,
            _ if status_differs && !leaf.is_status() => {}
            found if leaf.may_go_on_as(found.copied()) => {}
            Some(other) => note(leaf, Some(leaf), Some(other)),
            None if here.is_whole => note(leaf, Some(leaf), None),
            None => {}
        }
    }
    let recorded_has: HashMap<&str, &Leaf> =
        old.iter().map(|leaf| (leaf.path.as_str(), leaf)).collect();
    for leaf in &new {
        let is_new = !recorded_has.contains_key(leaf.path.as_str());
        if is_new && recorded.is_whole && (!status_differs || leaf.is_status()) {
            note(leaf, None, Some(leaf));
        }
    }
    found.truncate(MAX_DIFFERENCES);
    (found, same)
}

fn class(leaf: &Leaf) -> Class {
    match leaf.is_time || EXPECTED.contains(&leaf.name) {
        true => Class::Expected,
        false => Class::Differs,
    }
}

/// A field without members.
struct Leaf {
    name: &'static str,
    path: String,
    value: Vec<u8>,
    shown: String,
    is_time: bool,
    /// It, or the entry that it is in, reaches to where the capture cut the reply.
    is_cut: bool,
}

/// The name of a reply's status, in whichever form.
const STATUS: &str = "Status";

impl Leaf {
    /// The status of a message: NTSTATUS, class and code, and whether it came as NTSTATUS.
    fn status(message: &[u8]) -> Option<Self> {
        let status = ReplyStatus::of(&Header::parse(message).ok()?);
        let known = status.status();
        let mut value = known.0.to_le_bytes().to_vec();
        value.extend(known.dos().to_wire().to_le_bytes());
        value.push(u8::from(status.nt));
        Some(Self {
            name: STATUS,
            path: STATUS.to_owned(),
            value,
            shown: match known.is_ok() {
                true => "success".to_owned(),
                false => status.to_string(),
            },
            is_time: false,
            is_cut: false,
        })
    }

    fn is_status(&self) -> bool {
        self.name == STATUS
    }

    /// Whether the capture has only the beginning of it, and `other` begins like that.
    fn may_go_on_as(&self, other: Option<&Self>) -> bool {
        self.is_cut && other.is_none_or(|other| other.value.starts_with(&self.value))
    }

    /// Two statuses in different forms are the same if they have the same class and code.
    fn is_same_as(&self, other: &Self) -> bool {
        match (self.value.as_slice(), other.value.as_slice()) {
            _ if !self.is_status() => self.value == other.value,
            ([.., 1], [.., 1]) => self.value.get(..4) == other.value.get(..4),
            _ => self.value.get(4..8) == other.value.get(4..8),
        }
    }
}

/// The fields that can be compared, each with a name that is unique in the message.
fn paths(reply: &Reply<'_>) -> Vec<Leaf> {
    let fields = &reply.decoded.fields;
    let mut entry: Option<(u8, String, bool)> = None;
    let is_cut =
        |field: &Field| !reply.is_whole && field.at.saturating_add(field.len) >= reply.bytes.len();
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut leaves = Vec::from_iter(Leaf::status(reply.bytes));
    for (index, field) in fields.iter().enumerate() {
        if entry
            .as_ref()
            .is_some_and(|(depth, ..)| field.depth <= *depth)
        {
            entry = None;
        }
        if field.value == Value::Group {
            if ENTRIES.contains(&field.name) {
                entry = Some((field.depth, label(fields, index), is_cut(field)));
            }
            continue;
        }
        let is_status =
            matches!(field.name, STATUS | "ErrorClass" | "ErrorCode") && field.at < HEADER_LEN;
        if is_status
            || IGNORED.contains(&field.name)
            || matches!(field.value, Value::Id(..) | Value::Secret)
        {
            continue;
        }
        let name = match &entry {
            Some((_, label, _)) => format!("{label}.{}", field.name),
            None => field.name.to_owned(),
        };
        let count = times.entry(name.clone()).or_default();
        *count += 1;
        let path = match *count {
            1 => name,
            count => format!("{name} ({count})"),
        };
        leaves.push(Leaf {
            name: field.name,
            path,
            value: bytes(reply.bytes, field).to_vec(),
            shown: shown(reply.bytes, field),
            is_time: matches!(field.value, Value::Time(_))
                || field.name.ends_with("Time")
                || field.name.ends_with("Date"),
            is_cut: is_cut(field) || entry.as_ref().is_some_and(|(.., is_cut)| *is_cut),
        });
    }
    leaves
}

/// The name of an entry of a list: that of its file.
fn label(fields: &[Field], index: usize) -> String {
    let depth = fields.get(index).map_or(0, |field| field.depth);
    let members = fields
        .iter()
        .skip(index + 1)
        .take_while(|field| field.depth > depth);
    let names = members.filter(|field| field.name.starts_with("FileName"));
    let name = names.filter_map(|field| match &field.value {
        Value::Text(text) => Some(text.trim().to_owned()),
        _ => None,
    });
    name.last()
        .map_or_else(|| "entry".to_owned(), |name| format!("entry \"{name}\""))
}

fn shown(message: &[u8], field: &Field) -> String {
    let value = field.value.to_string();
    if field.value == Value::Bytes {
        let bytes = bytes(message, field);
        let start: Vec<String> = bytes
            .iter()
            .take(MAX_SHOWN)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let more = if bytes.len() > MAX_SHOWN { " …" } else { "" };
        return format!("{} bytes: {}{more}", bytes.len(), start.join(" "));
    }
    match field.meaning.is_empty() {
        true => value,
        false => format!("{value} ({})", field.meaning),
    }
}
