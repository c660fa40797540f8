//! Which items are compiled for tests only.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

/// Whether these attributes exclude an item from a build that is no test.
pub fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<Meta>()
                    .is_ok_and(|condition| holds(&condition) == Some(false))
    })
}

/// The value of a condition outside tests; `None` if that depends on features or the target.
fn holds(condition: &Meta) -> Option<bool> {
    if condition.path().is_ident("test") {
        return Some(false);
    }
    let Meta::List(list) = condition else {
        return None;
    };
    let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        return None;
    };
    let values: Vec<_> = parts.iter().map(holds).collect();
    if list.path.is_ident("not") {
        values.first().copied().flatten().map(|value| !value)
    } else if list.path.is_ident("all") {
        decide(&values, false)
    } else if list.path.is_ident("any") {
        decide(&values, true)
    } else {
        None
    }
}

/// One part with the value `decisive` decides the whole.
fn decide(values: &[Option<bool>], decisive: bool) -> Option<bool> {
    if values.contains(&Some(decisive)) {
        Some(decisive)
    } else if values.contains(&None) {
        None
    } else {
        Some(!decisive)
    }
}
