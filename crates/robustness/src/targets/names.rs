//! Names, code pages, patterns, attributes, times and the configuration.

use crate::choices::Choices;
use coax_server::names::{
    attributes::DosAttrib,
    index::DirIndex,
    mangle::{Mangler, is_legal_long},
    path::{ClientPath, PathRules, SearchPath, Wildcards},
    wildcard::{FcbPattern, Pattern, expand_destination, translate_dos},
};
use coax_wire::{
    codepage::{CodePage, utf16},
    time::{DosDateTime, FileTime, Utime, ZoneMinutesWest},
};
use std::hint::black_box;

const PAGES: [u16; 12] = [437, 850, 852, 866, 932, 936, 949, 950, 1252, 858, 861, 737];

/// A configuration. Lines that would read other files are made harmless.
pub fn smb_conf(data: &[u8]) {
    let mut text = String::from_utf8_lossy(data).into_owned();
    let bare: String = text.to_lowercase().split_whitespace().collect();
    if ["include", "config", "map"]
        .iter()
        .any(|word| bare.contains(word))
    {
        text = text.replace('/', "_");
    }
    let loaded = coax_smbconf::load::load_text("smb.conf", &text);
    for diagnostic in &loaded.diagnostics {
        black_box(diagnostic.to_string());
    }
    black_box((loaded.settings, loaded.lines.len()));
}

/// Samba's attribute blob: what is decoded encodes to what decodes the same.
pub fn dosattrib(data: &[u8]) {
    if let Some(found) = DosAttrib::decode(data) {
        let again = DosAttrib::decode(&found.encode());
        assert_eq!(again.map(|again| again.attributes), Some(found.attributes));
    }
}

/// Bytes of any code page: what has a meaning in it decodes, after a way back and forth, to the same text. (Where a lone
/// first half of a double byte stands before a character that the page has twice, it need not: the two ways to write that
/// character differ in whether they complete it.)
pub fn code_pages(data: &[u8]) {
    let mut choices = Choices::new(data);
    let page = CodePage::from_number(*choices.one_of(&PAGES)).unwrap_or(CodePage::cp437());
    let bytes = choices.rest();
    let text = page.decode(bytes).into_owned();
    let stray = text.chars().any(|c| ('\u{ef80}'..='\u{efff}').contains(&c));
    if let Ok(again) = page.encode(&text) {
        assert!(again == bytes || stray || page.decode(&again) == text);
    }
    black_box((page.upper(&text), page.encode_lossy(&text)));
    let wide = utf16::decode(bytes);
    assert_eq!(utf16::decode(&utf16::encode(&wide)), wide);
    assert_eq!(
        utf16::encode(&wide).len(),
        2 * utf16::len(&wide).max(utf16::encode(&wide).len() / 2)
    );
}

fn two_texts(data: &[u8]) -> (String, String) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    (text(), text())
}

/// A pattern and a name, zero between them. Work stays bounded: a hang is a finding too.
pub fn wildcards(data: &[u8]) {
    let (pattern, name) = two_texts(data);
    let nt = Pattern::nt(&pattern);
    let matched = nt.matches(&name);
    assert!(matched || !nt.matches_all() || name.is_empty());
    black_box((
        Pattern::dos(&pattern).matches(&name),
        translate_dos(&pattern),
    ));
    black_box(FcbPattern::new(&pattern).matches(&name));
    black_box(expand_destination(&pattern, &name));
}

/// A path: nothing that is accepted leaves the root.
pub fn paths(data: &[u8]) {
    let (first, _) = two_texts(data);
    for rules in [PathRules::NT, PathRules::DOS] {
        for wildcards in [Wildcards::Refuse, Wildcards::InLast] {
            if let Ok(path) = ClientPath::parse(&first, rules, wildcards) {
                let sound = |part: &str| {
                    !part.is_empty()
                        && part != "."
                        && part != ".."
                        && !part.contains(['/', '\\', '\0'])
                };
                assert!(path.components().all(sound), "{path:?}");
                assert_eq!(path.components().count() == 0, path.is_root());
                black_box((path.parent().len(), path.last().map(str::len)));
            }
        }
        black_box(SearchPath::parse(&first, rules).is_ok());
    }
}

/// Names of a folder: each gets an 8.3 name of its own, and is found by either.
pub fn short_names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let names: Vec<&str> = text
        .split(['\0', '/', '\n'])
        .filter(|name| is_legal_long(name))
        .take(64)
        .collect();
    let mangler = Mangler::new(CodePage::cp850());
    let index = DirIndex::build(mangler, &names);
    let mut seen = std::collections::BTreeSet::new();
    for (id, name) in index.iter() {
        let short = index.short(id).unwrap().to_text(CodePage::cp850());
        assert!(seen.insert(short.clone()), "{short} twice");
        assert_eq!(index.exact(name), Some(id), "{name}");
        assert_eq!(
            index.lookup(&short),
            Some(id),
            "{name} is not found by its 8.3 name {short}"
        );
    }
}

/// Times of every kind, near and past the ends of their ranges.
pub fn times(data: &[u8]) {
    let mut choices = Choices::new(data);
    let zone = ZoneMinutesWest(choices.u16() as i16);
    let (number, ns) = (choices.u64(), choices.u64() as i64);
    black_box((FileTime(number).change(), FileTime(number).unix_ns()));
    black_box((
        Utime(number as u32).change(zone),
        Utime::from_unix_ns(ns, zone),
    ));
    black_box((
        FileTime::from_unix_ns(ns),
        DosDateTime::from_unix_ns(ns, zone),
    ));
    let dos = DosDateTime {
        date: number as u16,
        time: (number >> 16) as u16,
    };
    black_box((dos.change(zone), dos.unix_ns(zone)));
}
