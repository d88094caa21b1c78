//! The values that a local variable might have in a shared state.

use super::formula::is_tagged;
use crate::outcome::Words;
use linchpin_ir::program::Type;
use linchpin_space::{Flat, Space};
use std::collections::BTreeSet;

/// The integers of a shared state.
pub fn integers(space: &Space, flat: &Flat) -> BTreeSet<i64> {
    let program = space.program();
    let mut out = BTreeSet::new();
    for (at, variable) in program.shared.iter().enumerate() {
        integers_in(&variable.ty, &mut space.shared_variable(flat, at), &mut out);
    }
    for object in 0..space.objects(flat) {
        let Some((of, object_type)) = struct_of(space, flat, object)
            .and_then(|of| program.structs.get(of).map(|object_type| (of, object_type)))
        else {
            continue;
        };
        for (field, variable) in object_type.fields.iter().enumerate() {
            let mut words = space.field(flat, object, of, field);
            integers_in(&variable.ty, &mut words, &mut out);
        }
    }
    out
}

/// The struct of a live object.
pub fn struct_of(space: &Space, flat: &Flat, object: usize) -> Option<usize> {
    usize::try_from(space.object_words(flat, object).0).ok()?.checked_sub(1)
}

/// The integers among the words of a value, which are taken from the front.
pub fn integers_in(ty: &Type, words: &mut &[i64], out: &mut BTreeSet<i64>) {
    let mut take = || {
        let (first, rest) =
            words.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        *words = rest;
        first
    };
    match ty {
        Type::Unit | Type::Seq(_) | Type::Set(_) | Type::Map(..) => {}
        Type::Int | Type::Wrapping(_) => {
            out.insert(take());
        }
        Type::Bool | Type::Tid | Type::Lock | Type::Struct(_) => {
            take();
        }
        Type::Option(inner) if is_tagged(inner) => {
            let is_some = take() != 0;
            let mut inside = BTreeSet::new();
            integers_in(inner, words, &mut inside);
            if is_some {
                out.extend(inside);
            }
        }
        Type::Option(inner) => integers_in(inner, words, out),
        Type::Record { fields, .. } => {
            fields.iter().for_each(|(_, ty)| integers_in(ty, words, out));
        }
        Type::Tuple(items) => items.iter().for_each(|ty| integers_in(ty, words, out)),
        Type::Array(item, length) => {
            (0..*length).for_each(|_| integers_in(item, words, out));
        }
    }
}

/// The values of a type in a shared state: null or any object, these integers, both truth values.
/// None if there are more than `most`.
pub fn domain(
    space: &Space,
    flat: &Flat,
    ty: &Type,
    integers: &BTreeSet<i64>,
    most: usize,
) -> Option<Vec<Words>> {
    let one = |word: i64| Words::from_slice(&[word]);
    let product = |types: &mut dyn Iterator<Item = &Type>| {
        let mut all = vec![Words::new()];
        for ty in types {
            let parts = domain(space, flat, ty, integers, most)?;
            if all.len().checked_mul(parts.len())? > most {
                return None;
            }
            let joined = |left: &Words| {
                let left = left.clone();
                parts.iter().map(move |right| left.iter().chain(right).copied().collect())
            };
            all = all.iter().flat_map(joined).collect();
        }
        Some(all)
    };
    Some(match ty {
        Type::Unit => vec![Words::new()],
        Type::Int => integers.iter().map(|value| one(*value)).collect(),
        Type::Wrapping(count) if usize::try_from(*count).is_ok_and(|count| count <= most) => {
            (0..*count).map(one).collect()
        }
        Type::Wrapping(_) => return None,
        Type::Bool => vec![one(0), one(1)],
        Type::Tid => (0..space.program().threads.len()).map(|at| one(at as i64 + 1)).collect(),
        Type::Lock => vec![one(0)],
        Type::Struct(of) => {
            let is_such = |object: &usize| struct_of(space, flat, *object) == Some(*of);
            let objects = (0..space.objects(flat)).filter(is_such);
            std::iter::once(one(0)).chain(objects.map(|object| one(object as i64 + 1))).collect()
        }
        Type::Option(inner) if is_tagged(inner) => {
            let inner = domain(space, flat, inner, integers, most)?;
            let none = Words::from_elem(0, super::formula::width(ty));
            let some = |words: &Words| std::iter::once(1).chain(words.iter().copied()).collect();
            std::iter::once(none).chain(inner.iter().map(some)).collect()
        }
        Type::Option(inner) => domain(space, flat, inner, integers, most)?,
        Type::Record { fields, .. } => product(&mut fields.iter().map(|(_, ty)| ty))?,
        Type::Tuple(items) => product(&mut items.iter())?,
        Type::Array(item, length) => product(&mut std::iter::repeat_n(&**item, *length))?,
        Type::Seq(_) | Type::Set(_) | Type::Map(..) => return None,
    })
}

/// Calls `visit` with every choice of one value from each row.
pub fn each_choice(rows: &[Vec<Words>], visit: &mut dyn FnMut(&[Words])) {
    fn go(rows: &[Vec<Words>], chosen: &mut Vec<Words>, visit: &mut dyn FnMut(&[Words])) {
        let Some((row, rest)) = rows.split_first() else { return visit(chosen) };
        for value in row {
            chosen.push(value.clone());
            go(rest, chosen, visit);
            chosen.pop();
        }
    }
    go(rows, &mut Vec::with_capacity(rows.len()), visit);
}
