//! Dependencies between files, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{Resolver, Target};
use crate::tree::Tree;

/// A dependency and one place in the code that causes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The file that depends.
    pub from: String,
    /// The file it depends on.
    pub to: String,
    /// A path in `from` that names an item of `to`.
    pub example: String,
}

/// Files each of which depends, directly or not, on each of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The files, sorted.
    pub files: Vec<String>,
    /// The dependencies between them.
    pub edges: Vec<Edge>,
}

/// The dependencies between the files of a crate.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    edges: BTreeMap<String, BTreeMap<String, String>>,
}

impl Graph {
    /// Adds the files of a tree.
    pub(crate) fn add(&mut self, tree: &Tree) {
        for (id, module) in tree.modules.iter().enumerate() {
            let edges = self.edges.entry(module.file.clone()).or_default();
            for reference in &module.references {
                for target in Resolver(tree).resolve(id, &reference.path) {
                    let Target::Item(definer) = target else {
                        continue;
                    };
                    let to = &tree.module(definer).file;
                    if *to != module.file {
                        edges
                            .entry(to.clone())
                            .or_insert_with(|| reference.text.clone());
                    }
                }
            }
        }
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.edges.keys().map(String::as_str)
    }

    /// All dependencies.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        self.edges.iter().flat_map(|(from, targets)| {
            targets.iter().map(|(to, example)| Edge {
                from: from.clone(),
                to: to.clone(),
                example: example.clone(),
            })
        })
    }

    /// The cycles: largest sets of files that all depend on one another.
    pub fn cycles(&self) -> Vec<Cycle> {
        let reachable: BTreeMap<&str, BTreeSet<&str>> = self
            .files()
            .map(|file| (file, self.reachable(file)))
            .collect();
        let reaches =
            |from: &str, to: &str| reachable.get(from).is_some_and(|files| files.contains(to));
        let mut done = BTreeSet::new();
        let mut cycles = Vec::new();
        for file in self.files().filter(|file| reaches(file, file)) {
            if done.contains(file) {
                continue;
            }
            let files: Vec<String> = self
                .files()
                .filter(|other| reaches(file, other) && reaches(other, file))
                .map(str::to_owned)
                .collect();
            done.extend(
                self.files()
                    .filter(|other| files.iter().any(|member| member == other)),
            );
            let edges = self
                .edges()
                .filter(|edge| files.contains(&edge.from) && files.contains(&edge.to))
                .collect();
            cycles.push(Cycle { files, edges });
        }
        cycles
    }

    /// The files that one depends on, directly or not; itself only if it is on a cycle.
    fn reachable(&self, file: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut next = vec![file];
        while let Some(file) = next.pop() {
            for to in self.edges.get(file).into_iter().flat_map(BTreeMap::keys) {
                if found.insert(to.as_str()) {
                    next.push(to);
                }
            }
        }
        found
    }
}
