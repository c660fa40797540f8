//! The table of transactions: the key of each, and its handler.

use super::Serve;
use crate::{error::Result, handlers as h, transaction::Transaction};
use coax_wire::{
    smb::{
        find_first2::{FIND_FIRST2, FIND_NEXT2},
        transaction::Kind,
    },
    status::Status,
};

/// The key of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// TRANSACTION's name, compared without case. A name that ends with `\` matches all names that begin with it.
    Name(&'static str),
    /// TRANSACTION2's subcommand ([MS-CIFS] 2.2.6).
    Trans2(u16),
    /// NT_TRANSACT's function ([MS-CIFS] 2.2.7).
    Nt(u16),
}

/// Every supported transaction; for names, the first match counts.
const ROUTES: &[(Route, Serve)] = &[
    (Route::Trans2(FIND_FIRST2), h::find::find_first2),
    (Route::Trans2(FIND_NEXT2), h::find::find_next2),
    (Route::Trans2(0x00), h::trans2_create::open2),
    (Route::Trans2(0x03), h::volume::query),
    (Route::Trans2(0x04), h::volume::set),
    (Route::Trans2(0x05), h::query_file::by_path),
    (Route::Trans2(0x06), h::set_file::by_path),
    (Route::Trans2(0x07), h::query_file::by_fid),
    (Route::Trans2(0x08), h::set_file::by_fid),
    (Route::Trans2(0x09), h::trans2_create::not_implemented),
    (Route::Trans2(0x0a), h::trans2_create::not_implemented),
    (Route::Trans2(0x0b), h::trans2_create::not_implemented),
    (Route::Trans2(0x0c), h::trans2_create::not_implemented),
    (Route::Trans2(0x0d), h::trans2_create::create_directory),
    (Route::Trans2(0x0e), h::trans2_create::not_implemented),
    (Route::Trans2(0x10), h::trans2_create::get_dfs_referral),
    (Route::Trans2(0x11), h::trans2_create::not_implemented),
    (Route::Nt(1), h::nt_transact::create),
    (Route::Nt(2), h::nt_transact::ioctl),
    (Route::Nt(3), h::nt_transact::set_security_desc),
    (Route::Nt(4), h::nt_transact::notify_change),
    (Route::Nt(5), h::nt_transact::rename),
    (Route::Nt(6), h::nt_transact::query_security_desc),
    (Route::Nt(7), h::nt_transact::quota),
    (Route::Nt(8), h::nt_transact::quota),
    (
        Route::Name("\\PIPE\\LANMAN"),
        h::pipe::remote_administration,
    ),
    (Route::Name("\\PIPE\\"), h::pipe::transact),
    (Route::Name("\\PIPE"), h::pipe::transact),
];

/// Functions that only the framework's own tests call.
fn tested() -> &'static [(Route, Serve)] {
    #[cfg(test)]
    const TESTED: &[(Route, Serve)] = &[
        (Route::Trans2(0xfff0), super::tests::mirror),
        (Route::Nt(0xfff0), super::tests::mirror),
        (Route::Name("\\TEST\\"), super::tests::mirror),
    ];
    #[cfg(not(test))]
    const TESTED: &[(Route, Serve)] = &[];
    TESTED
}

/// The supported subcommands and functions, for tests that must cover all.
#[cfg(test)]
pub(crate) fn functions() -> impl Iterator<Item = (Kind, u16)> {
    ROUTES.iter().filter_map(|(route, _)| match route {
        Route::Trans2(function) => Some((Kind::Transaction2, *function)),
        Route::Nt(function) => Some((Kind::NtTransact, *function)),
        Route::Name(_) => None,
    })
}

/// The handler of a transaction.
///
/// # Errors
/// As real servers answer unknown functions: `INVALID_SMB` in NT_TRANSACT, `NOT_SUPPORTED` in TRANSACTION and
/// `INVALID_FUNCTION` in TRANSACTION2.
pub(super) fn find(whole: &Transaction) -> Result<Serve> {
    let mut found = ROUTES.iter().find(|(route, _)| route.fits(whole));
    if cfg!(test) {
        found = found.or_else(|| tested().iter().find(|(route, _)| route.fits(whole)));
    }
    let unknown = match whole.kind {
        Kind::Transaction => Status::NOT_SUPPORTED,
        Kind::Transaction2 => Status::INVALID_FUNCTION,
        Kind::NtTransact => Status::INVALID_SMB,
    };
    Ok(found.map(|(_, serve)| *serve).ok_or(unknown)?)
}

impl Route {
    fn fits(self, whole: &Transaction) -> bool {
        match (self, whole.kind) {
            (Self::Name(name), Kind::Transaction) => is_named(&whole.name, name),
            (Self::Trans2(function), Kind::Transaction2)
            | (Self::Nt(function), Kind::NtTransact) => function == whole.function,
            _ => false,
        }
    }
}

fn is_named(given: &str, name: &str) -> bool {
    let beginning = if name.ends_with('\\') {
        given.get(..name.len())
    } else {
        Some(given)
    };
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_contains_every_route_once() {
        for (i, row) in ROUTES.iter().enumerate() {
            assert!(
                ROUTES.iter().skip(i + 1).all(|other| other.0 != row.0),
                "{:?} twice",
                row.0
            );
        }
    }

    #[test]
    fn names_compare_without_case_and_a_trailing_separator_matches_all_names_below() {
        assert!(is_named("\\Pipe\\lanman", "\\PIPE\\LANMAN"));
        assert!(is_named("\\PIPE\\srvsvc", "\\PIPE\\") && is_named("\\pipe\\", "\\PIPE\\"));
        assert!(!is_named("\\PIPE\\LANMAN2", "\\PIPE\\LANMAN") && !is_named("\\PIP", "\\PIPE\\"));
    }
}
