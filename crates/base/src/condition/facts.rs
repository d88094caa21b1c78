//! What holds in every shared state that was met, for objects that are one list: the meaning of
//! "well-formed".
//!
//! The facts are from a small grammar: the list ends, every object is on it, its first and last
//! node are fixed, integers grow along it or differ, truth values are fixed. A fact that holds in
//! all explored states need not be an invariant; it is told to people, who know.

use super::formula::width;
use super::values::struct_of;
use linchpin_ir::program::{Program, Type};
use linchpin_space::{Flat, Space};
use std::collections::BTreeSet;
use thiserror::Error;

/// Why well-formed states are not enumerated: only explored ones were used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoWellFormed {
    /// The objects are no list.
    #[error("the objects of this model are not one list")]
    NotOneList,
    /// A variable or a field is of a kind that is not enumerated.
    #[error("`{name}` has a type whose values are not enumerated")]
    Type {
        /// Its name.
        name: String,
    },
    /// A limit was reached.
    #[error("there was no time for them")]
    Stopped,
}

/// A word of a node, or of a shared variable, that holds an integer or a truth value.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The field or the variable.
    pub at: usize,
    /// The component, if that is a record.
    pub component: Option<usize>,
    /// Which of its words.
    pub word: usize,
    /// Whether it is an integer.
    pub is_integer: bool,
    /// Its name.
    pub name: String,
}

/// Where the list is.
#[derive(Clone, Debug)]
pub struct List {
    /// The shared variable where it starts.
    pub root: usize,
    /// The struct of its nodes.
    pub of: usize,
    /// The field that leads on, and the component if that is a record.
    pub link: Leaf,
    /// The other words of a node.
    pub leaves: Vec<Leaf>,
    /// The shared variables that hold other references.
    pub pointers: Vec<usize>,
    /// The other words of the shared variables.
    pub words: Vec<Leaf>,
}

/// The values of a word of a node.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The value in the first node of every list, if it is always the same.
    pub first: Option<i64>,
    /// The same of the last node.
    pub last: Option<i64>,
    /// The values in other nodes.
    pub others: BTreeSet<i64>,
    /// Whether it grows from node to node.
    pub grows: bool,
    /// Whether it differs from node to node.
    pub differs: bool,
}

/// Where a shared reference points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// Always to the last node.
    Last,
    /// To any node.
    Any {
        /// Whether it may be null.
        or_null: bool,
    },
}

/// What holds in all states.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Where the list is.
    pub list: List,
    /// The length of the shortest list.
    pub shortest: usize,
    /// For each word of a node.
    pub values: Vec<Values>,
    /// For each shared reference other than the root.
    pub pointers: Vec<Pointer>,
    /// For each other word of the shared variables, its values.
    pub words: Vec<BTreeSet<i64>>,
}

/// The facts of these states.
pub fn facts(space: &Space, states: &[Flat]) -> Result<Facts, NoWellFormed> {
    let list = find_list(space, states)?;
    let chains: Vec<Vec<usize>> =
        states.iter().map(|flat| chain(space, flat, &list).unwrap_or_default()).collect();
    let shortest = chains.iter().map(Vec::len).min().unwrap_or(0);
    let values = list
        .leaves
        .iter()
        .map(|leaf| {
            let read = |(flat, chain): (&Flat, &Vec<usize>)| -> Vec<i64> {
                let of = |object: &usize| space.field(flat, *object, list.of, leaf.at)[leaf.word];
                chain.iter().map(of).collect()
            };
            let rows: Vec<Vec<i64>> = states.iter().zip(&chains).map(read).collect();
            let values = values_of(&rows, shortest);
            // Order is a fact about keys: of truth values it would hold by chance.
            let (grows, differs) = (values.grows, values.differs);
            let is_key = leaf.is_integer;
            Values { grows: grows && is_key, differs: differs && is_key, ..values }
        })
        .collect();
    let pointers = list.pointers.iter().map(|at| pointer(space, states, &chains, *at)).collect();
    let words = list.words.iter().map(|leaf| {
        states.iter().map(|flat| space.shared_variable(flat, leaf.at)[leaf.word]).collect()
    });
    Ok(Facts { shortest, values, pointers, words: words.collect(), list })
}

fn values_of(rows: &[Vec<i64>], shortest: usize) -> Values {
    let constant = |mut all: Box<dyn Iterator<Item = Option<&i64>> + '_>| {
        let first = all.next().flatten().copied()?;
        all.all(|other| other == Some(&first)).then_some(first)
    };
    let first = constant(Box::new(rows.iter().map(|row| row.first())));
    // In a list of one node the last is the first.
    let last = constant(Box::new(rows.iter().map(|row| row.last()))).filter(|_| shortest > 1);
    let mut others = BTreeSet::new();
    for row in rows {
        let start = usize::from(first.is_some());
        let end = row.len() - usize::from(last.is_some()).min(row.len());
        others.extend(row.get(start..end).into_iter().flatten());
    }
    let pairs = || rows.iter().flat_map(|row| row.windows(2));
    let some = pairs().next().is_some();
    let grows = some && pairs().all(|pair| pair[0] < pair[1]);
    let is_distinct = |row: &Vec<i64>| row.iter().collect::<BTreeSet<_>>().len() == row.len();
    let differs = some && rows.iter().all(is_distinct);
    Values { first, last, others, grows, differs }
}

fn pointer(space: &Space, states: &[Flat], chains: &[Vec<usize>], at: usize) -> Pointer {
    let word = |flat: &Flat| space.shared_variable(flat, at)[0];
    let is_last = |(flat, chain): (&Flat, &Vec<usize>)| {
        word(flat) == chain.last().map_or(0, |object| *object as i64 + 1)
    };
    match states.iter().zip(chains).all(is_last) {
        true => Pointer::Last,
        false => Pointer::Any { or_null: states.iter().any(|flat| word(flat) == 0) },
    }
}

/// The objects from the root along the link; none if they come again or another object is there.
pub fn chain(space: &Space, flat: &Flat, list: &List) -> Option<Vec<usize>> {
    let mut chain = Vec::new();
    let mut here = space.shared_variable(flat, list.root)[0];
    while let Some(object) = usize::try_from(here).ok().and_then(|here| here.checked_sub(1)) {
        if chain.contains(&object) || struct_of(space, flat, object) != Some(list.of) {
            return None;
        }
        chain.push(object);
        here = space.field(flat, object, list.of, list.link.at)[list.link.word];
    }
    let objects = (0..space.objects(flat)).filter(|at| struct_of(space, flat, *at).is_some());
    (chain.len() == objects.count()).then_some(chain)
}

/// The first way to see all objects of all states as one list.
fn find_list(space: &Space, states: &[Flat]) -> Result<List, NoWellFormed> {
    let program = space.program();
    let mut failure = NoWellFormed::NotOneList;
    for (root, variable) in program.shared.iter().enumerate() {
        let Type::Struct(of) = variable.ty else { continue };
        for link in links(program, of) {
            let list = List {
                root,
                of,
                link,
                leaves: Vec::new(),
                pointers: Vec::new(),
                words: Vec::new(),
            };
            if !states.iter().all(|flat| chain(space, flat, &list).is_some()) {
                continue;
            }
            match complete(program, list) {
                Ok(list) => return Ok(list),
                Err(why) => failure = why,
            }
        }
    }
    Err(failure)
}

/// The words of a struct that hold a reference to another object of it.
fn links(program: &Program, of: usize) -> Vec<Leaf> {
    let mut links = Vec::new();
    for (at, field) in program.structs[of].fields.iter().enumerate() {
        for (component, word, ty, name) in parts(&field.name, &field.ty) {
            if ty == Type::Struct(of) {
                links.push(Leaf { at, component, word, is_integer: false, name });
            }
        }
    }
    links
}

/// A variable as its parts: the components of a record, or the variable itself.
fn parts(name: &str, ty: &Type) -> Vec<(Option<usize>, usize, Type, String)> {
    let Type::Record { fields, .. } = ty else {
        return vec![(None, 0, ty.clone(), name.to_owned())];
    };
    let mut word = 0;
    let mut parts = Vec::new();
    for (component, (field, ty)) in fields.iter().enumerate() {
        parts.push((Some(component), word, ty.clone(), format!("{name}.{field}")));
        word += width(ty);
    }
    parts
}

/// Fills in everything but the link; an error if something is of another kind.
fn complete(program: &Program, mut list: List) -> Result<List, NoWellFormed> {
    for (at, field) in program.structs[list.of].fields.iter().enumerate() {
        for (component, word, ty, name) in parts(&field.name, &field.ty) {
            let is_link = at == list.link.at && word == list.link.word;
            match ty {
                Type::Lock => {}
                _ if is_link => {}
                Type::Int | Type::Bool => {
                    let is_integer = ty == Type::Int;
                    list.leaves.push(Leaf { at, component, word, is_integer, name });
                }
                _ => return Err(NoWellFormed::Type { name }),
            }
        }
    }
    for (at, variable) in program.shared.iter().enumerate() {
        for (component, word, ty, name) in parts(&variable.name, &variable.ty) {
            match ty {
                Type::Lock => {}
                Type::Struct(_) if at == list.root => {}
                Type::Struct(of) if of == list.of && component.is_none() => list.pointers.push(at),
                Type::Int | Type::Bool => {
                    let is_integer = ty == Type::Int;
                    list.words.push(Leaf { at, component, word, is_integer, name });
                }
                _ => return Err(NoWellFormed::Type { name }),
            }
        }
    }
    Ok(list)
}
