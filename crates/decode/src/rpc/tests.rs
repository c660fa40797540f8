//! The table of calls agrees with itself, and calls are decoded with the bind before them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::table::{Table, Type};
use crate::layout::Tables;

#[test]
fn structures_and_lists_that_the_table_refers_to_exist() {
    let table = Table::parse().unwrap();
    let of_calls = table.interfaces.iter().flat_map(|one| one.calls());
    let of_calls = of_calls.flat_map(|call| &call.arguments);
    let of_structures = table.structures.iter().flat_map(|one| &one.members);
    let mut checked = 0;
    for argument in of_calls.chain(of_structures) {
        if let Some(name) = argument.kind.refers_to() {
            assert!(table.structure(name).is_some(), "{name:?}");
        }
        if let Type::Union(family) = argument.kind {
            assert!(
                table.structures.iter().any(|one| one.of.0 == family),
                "{family}"
            );
        }
        if let Type::Hex(_, Some(list)) = argument.kind {
            assert!(Tables::get().names(list).is_some(), "{list}");
        }
        checked += 1;
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn no_structure_contains_itself() {
    let table = Table::parse().unwrap();
    for one in &table.structures {
        let mut reached = vec![one.of];
        let mut at = 0;
        while let Some(of) = reached.get(at).copied() {
            at += 1;
            for member in &table.structure(of).unwrap().members {
                let next = member.kind.refers_to();
                assert_ne!(next, Some(one.of), "{}", one.name);
                assert!(!matches!(member.kind, Type::Union(_)), "{}", one.name);
                reached.extend(next.filter(|next| !reached.contains(next)));
            }
        }
    }
}
