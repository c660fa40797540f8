//! Reads the files of a crate into a tree of modules.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, UseTree, Visibility};

use crate::cfg::only_for_tests;
use crate::references;
use crate::tree::{Binding, Module, ModuleId, Reference, Tree};

/// Where sources come from; paths are relative to the crate's folder and use `/`.
pub trait Sources {
    /// Whether there is such a file.
    fn exists(&self, path: &str) -> bool;

    /// The text of a file.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(&self, path: &str) -> Result<String, Error>;
}

/// A crate's folder on disk.
#[derive(Clone, Debug)]
pub struct FileTree(PathBuf);

impl FileTree {
    /// The crate in this folder.
    pub fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }
}

impl Sources for FileTree {
    fn exists(&self, path: &str) -> bool {
        self.0.join(path).is_file()
    }

    fn read(&self, path: &str) -> Result<String, Error> {
        fs::read_to_string(self.0.join(path)).map_err(|error| Error::new(path, &error))
    }
}

/// A source file that cannot be read or parsed.
#[derive(Clone, Debug)]
pub struct Error {
    file: String,
    reason: String,
}

impl Error {
    /// `file` failed because of `reason`.
    pub fn new(file: &str, reason: &dyn fmt::Display) -> Self {
        Self {
            file: file.to_owned(),
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.file, self.reason)
    }
}

impl std::error::Error for Error {}

/// Reads the crate whose root is the file `root`.
pub fn load(sources: &dyn Sources, root: &str) -> Result<Tree, Error> {
    let mut loader = Loader {
        sources,
        tree: Tree::default(),
    };
    loader.load_file(root, None, folder_of(root))?;
    Ok(loader.tree)
}

struct Loader<'a> {
    sources: &'a dyn Sources,
    tree: Tree,
}

/// A module that is being read.
#[derive(Clone, Copy)]
struct Place<'a> {
    id: ModuleId,
    /// The folder of the file.
    folder: &'a str,
    /// The folder of its child modules.
    children: &'a str,
}

impl Loader<'_> {
    /// Reads a file as a module whose children are in the folder `children`.
    fn load_file(
        &mut self,
        file: &str,
        parent: Option<ModuleId>,
        children: &str,
    ) -> Result<ModuleId, Error> {
        let text = self.sources.read(file)?;
        let parsed = syn::parse_file(&text).map_err(|error| Error::new(file, &error))?;
        let id = self.add_module(file, parent);
        self.add_items(
            Place {
                id,
                folder: folder_of(file),
                children,
            },
            &parsed.items,
        )?;
        Ok(id)
    }

    fn add_module(&mut self, file: &str, parent: Option<ModuleId>) -> ModuleId {
        self.tree.modules.push(Module {
            file: file.to_owned(),
            parent,
            ..Module::default()
        });
        self.tree.modules.len() - 1
    }

    fn module(&mut self, id: ModuleId) -> &mut Module {
        self.tree
            .modules
            .get_mut(id)
            .unwrap_or_else(|| unreachable!("the loader added this module"))
    }

    fn bind(&mut self, id: ModuleId, name: &syn::Ident, binding: Binding) {
        self.module(id)
            .names
            .entry(text_of(name))
            .or_default()
            .push(binding);
    }

    fn add_items(&mut self, place: Place<'_>, items: &[Item]) -> Result<(), Error> {
        for item in items {
            if only_for_tests(references::attributes(item)) {
                continue;
            }
            match item {
                Item::Mod(module) => self.add_child(place, module)?,
                Item::Use(import) => self.add_use(place.id, import),
                item => self.add_definition(place.id, item),
            }
        }
        Ok(())
    }

    fn add_child(&mut self, place: Place<'_>, module: &syn::ItemMod) -> Result<(), Error> {
        let name = text_of(&module.ident);
        let inner = format!("{}/{name}", place.children);
        let child = if let Some((_, items)) = &module.content {
            let file = self.module(place.id).file.clone();
            let child = self.add_module(&file, Some(place.id));
            self.add_items(
                Place {
                    id: child,
                    children: &inner,
                    ..place
                },
                items,
            )?;
            child
        } else if let Some(path) = path_attribute(&module.attrs) {
            let file = format!("{}/{path}", place.folder);
            let children = folder_of(&file).to_owned();
            self.load_file(&file, Some(place.id), &children)?
        } else {
            let flat = format!("{inner}.rs");
            let file = if self.sources.exists(&flat) {
                flat
            } else {
                format!("{inner}/mod.rs")
            };
            self.load_file(&file, Some(place.id), &inner)?
        };
        self.bind(place.id, &module.ident, Binding::Module(child));
        Ok(())
    }

    /// An import binds a name; only a private one is a dependency.
    fn add_use(&mut self, id: ModuleId, import: &syn::ItemUse) {
        if import.leading_colon.is_some() {
            return;
        }
        let mut imports = Imports::default();
        imports.collect(&import.tree, &mut Vec::new());
        let private = matches!(import.vis, Visibility::Inherited);
        let module = self.module(id);
        for (name, path) in imports.names {
            if private {
                module.references.push(Reference {
                    text: format!("use {}", path.join("::")),
                    path: path.clone(),
                });
            }
            module
                .names
                .entry(name)
                .or_default()
                .push(Binding::Import(path));
        }
        for path in imports.globs {
            if private {
                let text = format!("use {}::*", path.join("::"));
                module.references.push(Reference {
                    text,
                    path: path.clone(),
                });
            }
            module.globs.push(path);
        }
    }

    /// An item that is neither a module nor an import: its name, and the paths in it.
    fn add_definition(&mut self, id: ModuleId, item: &Item) {
        if let Some(name) = references::name(item) {
            self.bind(id, name, Binding::Item(id));
        }
        if let Item::Macro(definition) = item
            && let Some(name) = &definition.ident
            && definition
                .attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("macro_export"))
            && id != 0
        {
            self.bind(0, name, Binding::Item(id));
        }
        let found = references::collect(item);
        for import in &found.uses {
            self.add_use(id, import);
        }
        let module = self.module(id);
        module.references.extend(found.paths);
        module.implementations.extend(found.implementation);
    }
}

#[derive(Default)]
struct Imports {
    names: Vec<(String, Vec<String>)>,
    globs: Vec<Vec<String>>,
}

impl Imports {
    fn collect(&mut self, tree: &UseTree, prefix: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(text_of(&path.ident));
                self.collect(&path.tree, prefix);
                prefix.pop();
            }
            UseTree::Name(name) => self.add(prefix, &name.ident, &name.ident),
            UseTree::Rename(rename) => self.add(prefix, &rename.ident, &rename.rename),
            UseTree::Glob(_) => self.globs.push(prefix.clone()),
            UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|tree| self.collect(tree, prefix)),
        }
    }

    fn add(&mut self, prefix: &[String], name: &syn::Ident, alias: &syn::Ident) {
        let mut path = prefix.to_vec();
        if name != "self" {
            path.push(text_of(name));
        }
        let bound = if alias == "self" {
            path.last().cloned().unwrap_or_default()
        } else {
            text_of(alias)
        };
        self.names.push((bound, path));
    }
}

fn text_of(name: &syn::Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The value of `#[path = "…"]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
}
