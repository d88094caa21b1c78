//! The names and types found here, held against the compiler on every bundled model.

use super::{bundled, campaign, lin};
use crate::names::{Index, Kind};
use crate::rename::rename;
use linchpin_ir::print::{Names, steps};
use linchpin_lang::{Config, compile};
use std::collections::BTreeSet;

/// The compiler knows the type of every local variable; those that are known here are the same.
#[test]
fn types_are_those_of_the_compiler() {
    let (mut known, mut open) = (0, 0);
    for (name, text) in bundled() {
        let program = compile(&text, &Config::default()).expect("it compiles").program;
        let mut compiled = BTreeSet::new();
        for operation in &program.operations {
            let names = Names { program: &program, body: &operation.body };
            let locals = operation.body.locals.iter();
            compiled.extend(locals.map(|local| (local.name.clone(), names.ty(&local.ty))));
        }
        for definition in Index::new(&text).definitions {
            if !matches!(definition.kind, Kind::Local | Kind::Parameter) {
                continue;
            }
            let Some(ty) = definition.ty.map(|ty| ty.to_string()) else {
                open += 1;
                continue;
            };
            // A length or modulus is shown as it is written; a variable of `spec { }` is not in the program.
            let named = compiled.iter().any(|(local, _)| *local == definition.name);
            if named && !ty.contains([';', '%']) {
                known += 1;
                let key = (definition.name.clone(), ty.clone());
                assert!(compiled.contains(&key), "{name}: {key:?} {compiled:?}");
            }
        }
    }
    assert!(known > 300 && open * 20 < known, "{known} known, {open} open");
}

/// Every name of a model without mistakes that is not built in means something.
#[test]
fn no_field_is_left_open() {
    for (name, text) in bundled() {
        assert_eq!(Index::new(&text).open_fields, Vec::<String>::new(), "{name}");
    }
}

/// A name that occurs nowhere else takes the place of another one: the steps are the same, but for
/// the name. A letter as wide as the old ones keeps the columns.
#[test]
fn renames_keep_the_steps() {
    let (seed, cases) = campaign(150);
    let mut random = fastrand::Rng::with_seed(seed);
    let models = bundled();
    let (mut done, mut refused) = (0, 0);
    for _ in 0..cases {
        let (name, text) = &models[random.usize(..models.len())];
        let names = Index::new(text);
        let one = names.uses[random.usize(..names.uses.len())];
        let old = &names.definitions[one.definition].name;
        let new = "ŵ".repeat(old.chars().count());
        let mut document = lin(text);
        let position = document.lines.position(text, one.span.range().start);
        let mut edits = match rename(&document, position, &new) {
            Ok(edits) => edits,
            Err(_) => {
                let kind = names.definitions[one.definition].kind;
                assert_eq!(kind, Kind::Operation, "{name}: `{old}` cannot be renamed");
                refused += 1;
                continue;
            }
        };
        edits.reverse();
        for edit in edits {
            let bytes = document.lines.bytes(&document.text, edit.range);
            document.text.replace_range(bytes, &edit.new_text);
            document.lines = crate::position::LineIndex::new(&document.text);
        }
        let of = |text: &str| {
            let compiled = compile(text, &Config::default());
            steps(&compiled.unwrap_or_else(|_| panic!("{name}: `{old}`\n{text}")).program)
        };
        assert_eq!(of(&document.text).replace(&new, old), of(text), "{name}: `{old}`");
        done += 1;
    }
    assert!(done > 20 * refused.max(1) / 4, "{done} done, {refused} refused");
}
