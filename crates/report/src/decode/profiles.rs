//! What the clients of `data/clients` send in the fields of a message, with the source of each value.

use std::{collections::BTreeMap, fmt::Write as _};

use coax_catalog::{
    clients,
    profile::{Fact, Profile, Provenance},
};
use coax_decode::Value;
use coax_wire::header::Flags2;

use super::Shown;

/// A profile's value, and where it comes from; none if it is assumed.
type Known<'a> = Option<(Value, &'a str)>;

fn known<T>(fact: &Fact<T>, value: impl FnOnce(&T) -> Value) -> Known<'_> {
    match fact.provenance() {
        Provenance::Source(source) => Some((value(fact), source)),
        Provenance::Assumed(_) => None,
    }
}

fn text(fact: &Fact<String>) -> Known<'_> {
    // a client without a name sends no such field
    known(fact, |text| Value::Text(text.clone())).filter(|_| !fact.is_empty())
}

fn flags2(profile: &Profile) -> Known<'_> {
    let negotiate = &profile.negotiate;
    let options = [
        (*negotiate.unicode, Flags2::UNICODE),
        (*negotiate.nt_status, Flags2::NT_STATUS),
        (*negotiate.extended_security, Flags2::EXTENDED_SECURITY),
    ];
    let set = options.iter().filter(|(is_set, _)| *is_set);
    let all = set.fold(*negotiate.flags2, |flags, (_, bit)| flags | bit);
    known(&negotiate.flags2, |_| Value::Hex(u64::from(all), 2))
}

/// What a profile sends in a field of a request.
fn value<'a>(profile: &'a Profile, group: &str, field: &str) -> Known<'a> {
    let number = |number: u64| Value::Number(number);
    match (group, field) {
        ("Header", "Flags") => known(&profile.negotiate.flags, |flags| {
            Value::Hex(u64::from(*flags), 1)
        }),
        ("Header", "Flags2") => flags2(profile),
        ("SESSION_SETUP_ANDX", "MaxBufferSize") => {
            known(&profile.buffers.announced, |size| number(u64::from(*size)))
        }
        ("SESSION_SETUP_ANDX", "MaxMpxCount") => {
            known(&profile.buffers.max_mpx, |count| number(u64::from(*count)))
        }
        ("SESSION_SETUP_ANDX", "Capabilities") => known(&profile.negotiate.capabilities, |bits| {
            Value::Hex(u64::from(*bits), 4)
        })
        .filter(|_| *profile.negotiate.capabilities != 0),
        ("SESSION_SETUP_ANDX", "NativeOS") => text(&profile.logon.native_os),
        ("SESSION_SETUP_ANDX", "NativeLanMan") => text(&profile.logon.native_lan_man),
        ("READ_RAW", "MaxCountOfBytesToReturn") => {
            known(&profile.read.raw_block, |size| number(u64::from(*size)))
        }
        _ => None,
    }
}

/// For each field of a request that the profiles know: which clients send which value.
pub fn profiles(shown: &Shown<'_>) -> String {
    let (mut out, mut group) = (String::new(), "");
    if !shown.decoded.title.ends_with(" request") {
        return out;
    }
    for field in &shown.decoded.fields {
        if field.depth == 0 {
            group = field.name;
        }
        let mut rows: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
        for profile in clients::all() {
            if let Some((value, source)) = value(profile, group, field.name) {
                let row = rows.entry((value.to_string(), source)).or_default();
                row.push(&profile.name);
            }
        }
        if rows.is_empty() {
            continue;
        }
        let here = field.value.to_string();
        let is_sent = rows.keys().any(|(value, _)| *value == here);
        let verdict = if is_sent {
            ""
        } else {
            ": not the usual value of any profile"
        };
        let _ = writeln!(out, "  {group}.{} {here}{verdict}", field.name);
        for ((value, source), names) in rows {
            let mark = if value == here { '=' } else { ' ' };
            let _ = writeln!(out, "    {mark} {value}  {}: {source}", names.join(", "));
        }
    }
    match out.is_empty() {
        true => out,
        false => format!("values of client profiles that have a source (= is this value):\n{out}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use coax_decode::{Context, smb_message};

    use super::*;

    fn of(bytes: &[u8]) -> String {
        let decoded = smb_message(bytes, &mut Context::default());
        profiles(&Shown {
            place: None,
            bytes,
            len: bytes.len(),
            decoded: &decoded,
        })
    }

    /// SESSION_SETUP_ANDX with ten words and this buffer size.
    fn set_up(flags: u8, buffer: u16) -> Vec<u8> {
        let mut bytes = vec![0xff, b'S', b'M', b'B', 0x73, 0, 0, 0, 0, flags];
        bytes.resize(32, 0);
        bytes.extend([10, 0xff, 0, 0, 0]);
        bytes.extend(buffer.to_le_bytes());
        bytes.extend([2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn a_value_names_the_profiles_that_send_it_and_their_source() {
        let text = of(&set_up(0, 1598));
        assert!(
            text.contains("  SESSION_SETUP_ANDX.MaxBufferSize 1598\n"),
            "{text}"
        );
        let line = text.lines().find(|line| line.contains("= 1598  ")).unwrap();
        assert!(line.contains("ms-net-3.11-full"), "{line}");
        assert!(
            line.contains("capture dos-win98-netbeui.pcap frame 79"),
            "{line}"
        );
        // windows-95's is assumed
        assert!(!text.contains("2920"), "{text}");
    }

    #[test]
    fn a_value_that_no_profile_sends_gets_no_mark() {
        let text = of(&set_up(0, 1599));
        assert!(
            text.contains("MaxBufferSize 1599: not the usual value of any profile\n"),
            "{text}"
        );
        assert!(
            !text.contains("= 1598") && text.contains("  1598  "),
            "{text}"
        );
    }

    #[test]
    fn responses_have_no_values_of_clients() {
        assert_eq!(of(&set_up(0x80, 1598)), "");
    }
}
