//! The paths that an item names.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item};

use crate::cfg::only_for_tests;
use crate::tree::Reference;

/// What an item refers to.
#[derive(Default)]
pub struct Found {
    /// Paths in its code.
    pub paths: Vec<Reference>,
    /// Imports within its functions.
    pub uses: Vec<syn::ItemUse>,
    /// The type, if the item is an inherent implementation.
    pub implementation: Option<Vec<String>>,
}

/// All references of an item.
pub fn collect(item: &Item) -> Found {
    let mut found = Found::default();
    found.visit_item(item);
    if let Item::Impl(block) = item
        && block.trait_.is_none()
        && let syn::Type::Path(path) = &*block.self_ty
    {
        found.implementation = Some(segments(&path.path));
    }
    found
}

/// The name that an item defines.
pub fn name(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::TraitAlias(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            item if only_for_tests(attributes(item)) => {}
            Item::Use(import) => self.uses.push(import.clone()),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !only_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !only_for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !only_for_tests(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments = segments(path);
            // a lower-case name alone is a local variable, unless it is called
            if segments.len() > 1 || segments.first().is_some_and(|name| is_upper(name)) {
                self.add(segments);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = pattern.ident.to_string();
        if is_upper(&name) {
            self.add(vec![name]);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func
            && let Some(name) = function.path.get_ident()
        {
            self.add(vec![name.to_string()]);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.add(segments(&invocation.path));
        let definition = invocation.path.is_ident("macro_rules");
        self.scan(invocation.tokens.clone(), definition);
    }
}

impl Found {
    fn add(&mut self, path: Vec<String>) {
        self.paths.push(Reference {
            text: path.join("::"),
            path,
        });
    }

    /// Paths among the tokens of a macro; in a definition only those that start at the crate's root are certain.
    fn scan(&mut self, tokens: TokenStream, definition: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        let mut behind_dot = false;
        while let Some((token, after)) = rest.split_first() {
            rest = after;
            match token {
                TokenTree::Group(group) => self.scan(group.stream(), definition),
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    while let Some((next, after)) = next_segment(rest) {
                        path.push(next);
                        rest = after;
                    }
                    let called = matches!(rest.first(), Some(TokenTree::Group(_)));
                    let rooted = first == "crate" || first == "super";
                    let certain =
                        path.len() > 1 || is_upper(&first.to_string()) || called && !behind_dot;
                    if if definition { rooted } else { certain } {
                        self.add(path);
                    }
                }
                _ => {}
            }
            behind_dot = matches!(token, TokenTree::Punct(mark) if mark.as_char() == '.');
        }
    }
}

/// The identifier behind `::`, and what follows it.
fn next_segment(tokens: &[TokenTree]) -> Option<(String, &[TokenTree])> {
    match tokens {
        [
            TokenTree::Punct(a),
            TokenTree::Punct(b),
            TokenTree::Ident(name),
            rest @ ..,
        ] if a.as_char() == ':' && b.as_char() == ':' => Some((name.to_string(), rest)),
        _ => None,
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect()
}

fn is_upper(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}
