//! The module graph of a crate, computed from its sources.
//!
//! The nodes are source files. File A depends on file B if code in A names an item that B defines. Paths are resolved through
//! imports, glob imports and re-exports to the file of the definition. Three things are no dependency:
//!
//! - `mod x;`, because a parent only places its child in the tree,
//! - a re-export (`pub use`), because it only publishes a name,
//! - code that is compiled for tests only.
//!
//! Method calls are not followed, because that needs type inference.

mod cfg;
mod graph;
mod load;
mod names;
mod references;
mod tree;

use std::path::Path;

pub use graph::{Cycle, Edge, Graph};
pub use load::{Error, FileTree, Sources};
pub use names::Misplaced;
use names::Resolver;

/// The structure of one crate.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// Files and the dependencies between them.
    pub graph: Graph,
    /// Each misplaced inherent `impl`, sorted.
    pub misplaced: Vec<Misplaced>,
}

impl Structure {
    /// Whether there is neither a cycle nor a misplaced `impl`.
    pub fn is_sound(&self) -> bool {
        self.graph.cycles().is_empty() && self.misplaced.is_empty()
    }

    /// Reads the library and the binary of the crate in `folder`.
    ///
    /// # Errors
    /// A file of the crate cannot be read or is not Rust.
    pub fn of_crate(folder: &Path) -> Result<Self, Error> {
        Self::of_sources(&FileTree::new(folder))
    }

    /// Reads `src/lib.rs` and `src/main.rs`, whichever exist, and the files that belong to them.
    ///
    /// # Errors
    /// A file of the crate cannot be read or is not Rust.
    pub fn of_sources(sources: &dyn Sources) -> Result<Self, Error> {
        let mut whole = Self::default();
        for root in ["src/lib.rs", "src/main.rs"] {
            if !sources.exists(root) {
                continue;
            }
            let tree = load::load(sources, root)?;
            whole.graph.add(&tree);
            whole.misplaced.extend(Resolver(&tree).misplaced());
        }
        whole.misplaced.sort();
        whole.misplaced.dedup();
        Ok(whole)
    }
}
