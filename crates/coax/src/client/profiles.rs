//! The redirectors that can be imitated: `data/clients/*.toml`, embedded.

use std::sync::{Arc, OnceLock};

use coax_client::profile::Profile;

/// Name and text of every profile, in the order of names.
pub const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// The profile that is used where none is named.
pub const DEFAULT: &str = "modern";

/// Every profile, in the order of names.
pub fn all() -> &'static [Arc<Profile>] {
    static ALL: OnceLock<Vec<Arc<Profile>>> = OnceLock::new();
    ALL.get_or_init(|| {
        // Each is known to parse: a test reads every one.
        TEXTS
            .iter()
            .filter_map(|(_, text)| toml::from_str(text).ok())
            .map(Arc::new)
            .collect()
    })
}

/// The profile of this name, whatever the case.
pub fn by_name(name: &str) -> Option<Arc<Profile>> {
    all()
        .iter()
        .find(|profile| profile.name.eq_ignore_ascii_case(name))
        .cloned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_file_in_data_clients_is_embedded_as_it_is_and_bears_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/clients");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let embedded = TEXTS.iter().find(|(known, _)| *known == name).unwrap();
            assert_eq!(embedded.1, text, "{name}");
            assert_eq!(by_name(name).unwrap().name, name);
            seen += 1;
        }
        assert_eq!((seen, all().len()), (TEXTS.len(), TEXTS.len()));
    }

    #[test]
    fn the_default_is_there() {
        assert!(by_name(DEFAULT).is_some());
    }
}
