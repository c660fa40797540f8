//! The redirectors that come with coax: `data/clients`.

use alloc::{sync::Arc, vec::Vec};

use spin::Once;

use crate::{files::CLIENTS, profile::Profile};

/// The profile that is used where none is named.
pub const DEFAULT: &str = "modern";

/// Every profile, in the order of names.
///
/// # Panics
/// A file does not parse. The tests of this crate read every file, so no build that passed them panics.
#[allow(clippy::panic)]
pub fn all() -> &'static [Arc<Profile>] {
    static ALL: Once<Vec<Arc<Profile>>> = Once::new();
    let read = |(name, text): &(&str, &str)| match Profile::parse(name, text) {
        Ok(profile) => Arc::new(profile),
        Err(error) => panic!("{error}"),
    };
    ALL.call_once(|| CLIENTS.iter().map(read).collect())
}

/// The profile with this name, in any case.
pub fn by_name(name: &str) -> Option<Arc<Profile>> {
    let mut known = all().iter();
    known
        .find(|profile| profile.name.eq_ignore_ascii_case(name))
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_profile_bears_the_name_of_its_file_and_the_default_exists() {
        assert_eq!(all().len(), CLIENTS.len());
        for (profile, (file, _)) in all().iter().zip(CLIENTS) {
            assert_eq!(profile.name, *file);
        }
        assert!(by_name(DEFAULT).is_some());
        assert!(by_name("MODERN").is_some());
    }
}
