//! Changes of names: creating and removing folders, deleting, renaming, linking, copying.
//!
//! Every change first asks the shared tables, as an open does ([`claim`]), which enforces share modes, oplocks and
//! pending deletions. Then it changes the file system and the folder's cached index, and notifies watchers of the
//! folder.

mod claim;
mod copy;
mod create;
mod doomed;
mod matching;
mod place;
mod remove;
mod rename;
mod streams;

pub use copy::{Copied, CopyFailure, CopySpec, IfTaken, copy};
pub use create::make_dir;
pub(super) use doomed::{note_not_deleted, remove_doomed, remove_doomed_for_others};
pub use matching::Selection;
pub use place::{Place, Step};
pub use remove::{delete, remove_dir, set_delete_pending};
pub use rename::{hard_link, rename, rename_open, rename_path};
