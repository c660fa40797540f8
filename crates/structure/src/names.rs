//! Resolution of a path to the modules that define what it names.

use std::collections::HashSet;

use crate::tree::{Binding, ModuleId, Tree};

/// An inherent `impl` that stands outside the folder of the module that defines its type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Misplaced {
    /// The file with the `impl`.
    pub file: String,
    /// The name of the type.
    pub type_name: String,
    /// The file that defines the type.
    pub defined_in: String,
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A module.
    Module(ModuleId),
    /// An item, or a part of it (a variant, an associated function), that this module defines.
    Item(ModuleId),
}

/// Names that are being looked up: an import that leads back to itself ends there.
type Visited = HashSet<(ModuleId, String)>;

/// Looks up the names in a tree.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a>(pub &'a Tree);

impl Resolver<'_> {
    /// What `path` names in the module `from`; empty for items of other crates, local variables and generic parameters.
    pub fn resolve(&self, from: ModuleId, path: &[String]) -> Vec<Target> {
        self.resolve_path(from, path, &mut Visited::new())
    }

    fn resolve_path(&self, from: ModuleId, path: &[String], visited: &mut Visited) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let start = match first.as_str() {
            "crate" | "$crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(from)],
            "super" => self
                .0
                .module(from)
                .parent
                .map(Target::Module)
                .into_iter()
                .collect(),
            name => self.look_up(from, name, visited),
        };
        self.walk(start, rest, visited)
    }

    /// Follows the segments behind the first one.
    fn walk(&self, start: Vec<Target>, rest: &[String], visited: &mut Visited) -> Vec<Target> {
        let mut targets = start;
        for segment in rest {
            if targets
                .iter()
                .any(|target| matches!(target, Target::Module(_)))
            {
                // a function of the same name has no members
                targets.retain(|target| matches!(target, Target::Module(_)));
            }
            targets = targets
                .into_iter()
                .flat_map(|target| self.member(target, segment, visited))
                .collect();
        }
        targets
    }

    fn member(&self, target: Target, segment: &str, visited: &mut Visited) -> Vec<Target> {
        match target {
            Target::Module(id) if segment == "super" => self
                .0
                .module(id)
                .parent
                .map(Target::Module)
                .into_iter()
                .collect(),
            Target::Module(id) => self.look_up(id, segment, visited),
            item @ Target::Item(_) => vec![item],
        }
    }

    /// What `name` stands for in a module; explicit names hide those of glob imports.
    fn look_up(&self, id: ModuleId, name: &str, visited: &mut Visited) -> Vec<Target> {
        if !visited.insert((id, name.to_owned())) {
            return Vec::new();
        }
        let module = self.0.module(id);
        let mut found = Vec::new();
        for binding in module.names.get(name).into_iter().flatten() {
            match binding {
                Binding::Module(child) => found.push(Target::Module(*child)),
                Binding::Item(definer) => found.push(Target::Item(*definer)),
                Binding::Import(path) => found.extend(self.resolve_path(id, path, visited)),
            }
        }
        if found.is_empty() {
            for glob in &module.globs {
                for target in self.resolve_path(id, glob, visited) {
                    if let Target::Module(source) = target {
                        found.extend(self.look_up(source, name, visited));
                    }
                }
            }
        }
        visited.remove(&(id, name.to_owned()));
        found
    }

    /// Inherent implementations outside the module of their type and its children.
    pub fn misplaced(&self) -> Vec<Misplaced> {
        let mut misplaced = Vec::new();
        for (id, module) in self.0.modules.iter().enumerate() {
            for path in &module.implementations {
                for target in self.resolve(id, path) {
                    let Target::Item(definer) = target else {
                        continue;
                    };
                    let defined_in = &self.0.module(definer).file;
                    if !self.0.is_within(id, definer) && *defined_in != module.file {
                        let type_name = path.last().cloned().unwrap_or_default();
                        misplaced.push(Misplaced {
                            file: module.file.clone(),
                            type_name,
                            defined_in: defined_in.clone(),
                        });
                    }
                }
            }
        }
        misplaced
    }
}
