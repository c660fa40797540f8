//! The modules of a crate and what each of them defines, imports and names.

use std::collections::HashMap;

/// Index of a module in its tree.
pub type ModuleId = usize;

/// What a name in a module stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A child module.
    Module(ModuleId),
    /// An item that this module defines: the module itself, except for exported macros.
    Item(ModuleId),
    /// An import of this path.
    Import(Vec<String>),
}

/// A path in the code of a module.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The segments of the path.
    pub path: Vec<String>,
    /// The path as a reader finds it in the source.
    pub text: String,
}

/// A module: a file, or a block `mod x { … }` in a file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The file with the module's code, relative to the crate's folder.
    pub file: String,
    /// The module around it; `None` for the root.
    pub parent: Option<ModuleId>,
    /// Names and what they stand for; a name can be a type, a value and a macro at once.
    pub names: HashMap<String, Vec<Binding>>,
    /// Paths of glob imports.
    pub globs: Vec<Vec<String>>,
    /// Paths in the code.
    pub references: Vec<Reference>,
    /// Types of inherent implementations.
    pub implementations: Vec<Vec<String>>,
}

/// All modules of one crate; the first is the root.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The modules.
    pub modules: Vec<Module>,
}

impl Tree {
    /// The module with this index.
    pub fn module(&self, id: ModuleId) -> &Module {
        self.modules
            .get(id)
            .unwrap_or_else(|| unreachable!("a tree hands out indices of its own modules"))
    }

    /// Whether `inner` is `outer` or lies within it.
    pub fn is_within(&self, inner: ModuleId, outer: ModuleId) -> bool {
        std::iter::successors(Some(inner), |id| self.module(*id).parent).any(|id| id == outer)
    }
}
