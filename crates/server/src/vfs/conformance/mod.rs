//! Conformance tests for every [`Vfs`], as functions that take an empty one. A failure is a panic.
//!
//! [`conformance_tests!`](crate::conformance_tests) makes a test of each function;
//! [`full_disk_tests!`](crate::full_disk_tests) does so for those of [`full_disk`].
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
#![allow(missing_docs, reason = "the functions' names are whole sentences")]

pub mod files;
pub mod full_disk;
pub mod metadata;
pub mod names;

use alloc::{sync::Arc, vec, vec::Vec};

use super::{OpenHow, Vfs, VfsFile};

/// Open to read.
pub const READ: OpenHow = OpenHow {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
};
/// Open an existing file to write.
pub const WRITE: OpenHow = OpenHow {
    read: true,
    write: true,
    create: false,
    exclusive: false,
    truncate: false,
};
/// Open to write; create the file if missing.
pub const CREATE: OpenHow = OpenHow {
    create: true,
    ..WRITE
};
/// Create, or fail if the file exists.
pub const CREATE_NEW: OpenHow = OpenHow {
    exclusive: true,
    ..CREATE
};
/// Create, or truncate an existing file.
pub const OVERWRITE: OpenHow = OpenHow {
    truncate: true,
    ..CREATE
};

/// Makes a test of every case in [`files`], [`metadata`] and [`names`]. `$fresh` is a function that returns an empty
/// `Vfs` and a guard to keep alive during the test.
#[macro_export]
macro_rules! conformance_tests {
    ($fresh:path) => {
        $crate::conformance_tests!(@ $fresh, files:
            create_says_whether_it_created,
            exclusive_create_refuses_what_is_there,
            truncate_empties_and_plain_open_does_not,
            a_missing_file_or_folder_on_the_way_is_not_found,
            a_file_on_the_way_is_not_a_directory,
            a_folder_opens_to_be_looked_at_and_never_to_be_written,
            reads_are_short_only_at_the_end,
            a_gap_reads_as_zeros,
            blocks_written_at_odd_offsets_read_back,
            what_was_not_asked_for_at_open_is_denied,
            set_len_cuts_and_extends_with_zeros,
            reserve_leaves_the_length_alone,
            offsets_beyond_the_largest_file_are_refused,
            an_open_file_outlives_its_name,
            an_open_file_follows_its_rename,
            a_replaced_file_lives_on_where_it_is_open,
            sync_works_on_files_and_folders,
        );
        $crate::conformance_tests!(@ $fresh, metadata:
            attributes_are_set_read_replaced_and_removed,
            attributes_are_changed_by_what_they_were,
            attributes_work_on_folders_and_by_path,
            listings_tell_who_may_have_attributes,
            times_are_set_one_by_one,
            the_write_bit_goes_and_comes_back,
            space_tells_a_total_and_no_more_free_than_that,
            stat_tells_a_file_from_a_folder,
            ids_tell_objects_apart_and_links_together,
        );
        $crate::conformance_tests!(@ $fresh, names:
            folders_are_made_once_and_removed_when_empty,
            files_and_folders_are_removed_by_their_own_calls,
            the_root_stays,
            rename_refuses_to_replace_unless_told,
            rename_replaces_files_only_and_by_files_only,
            a_folder_cannot_move_into_itself,
            rename_to_itself_changes_nothing,
            a_folder_moves_with_what_is_in_it,
            hard_links_share_one_file,
            paths_that_climb_are_refused_everywhere,
            malformed_paths_are_refused,
            upper_and_lower_case_are_different_names,
            odd_names_survive_listing,
            overlong_names_are_refused,
            a_listing_holds_every_name_once,
            an_entry_brings_its_attribute,
            a_listing_shows_what_changed_since_the_last,
            a_folder_tells_when_its_names_changed,
            a_removed_folder_lists_nothing,
        );
    };
    (@ $fresh:path, $module:ident: $($case:ident),* $(,)?) => {
        $(
            #[test]
            fn $case() {
                let (_alive, fs) = $fresh();
                $crate::vfs::conformance::$module::$case(&fs);
            }
        )*
    };
}

fn open(fs: &dyn Vfs, path: &str, how: OpenHow) -> Arc<dyn VfsFile> {
    fs.open(path, how).unwrap().0
}

fn put(fs: &dyn Vfs, path: &str, data: &[u8]) {
    open(fs, path, OVERWRITE).write_at(0, data).unwrap();
}

fn contents(fs: &dyn Vfs, path: &str) -> Vec<u8> {
    all_of(&*open(fs, path, READ))
}

fn all_of(file: &dyn VfsFile) -> Vec<u8> {
    let len = usize::try_from(file.stat().unwrap().size).unwrap();
    let mut data = vec![0xa5; len + 1];
    assert_eq!(file.read_at(0, &mut data), Ok(len));
    data.truncate(len);
    data
}

/// Pseudo-random bytes without a period near a block's length.
fn noise(len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 7) as u8)
        .collect()
}
