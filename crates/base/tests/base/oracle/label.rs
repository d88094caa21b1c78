//! Labels of update steps, under names that two runs of the same call have in common.

use super::shared::{Words, reached};
use linchpin_ir::interpreter::{Location, Root, State};
use linchpin_ir::program::{NodeId, Program, Type};
use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What an update step did: where in the code, and the words that changed with their new values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    node: NodeId,
    changes: Vec<(Word, Named)>,
}

/// A shared word: of a variable, or a field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Word {
    object: Option<Name>,
    index: usize,
    element: Option<usize>,
}

/// An object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name {
    /// It was reachable in the base point.
    Old(u32),
    /// The call published it, as the one with this number.
    Own(usize),
    /// Another call published it after the base point.
    Foreign(u32),
}

/// A value with its objects named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Named {
    Plain(Value),
    List(Vec<Named>),
    Object(Name),
    /// An object that this step publishes, by its contents.
    New {
        number: usize,
        of: usize,
        fields: Vec<Named>,
    },
}

/// Names the objects in the labels of one call, from a base point on.
pub struct Namer<'a> {
    program: &'a Program,
    base: BTreeSet<u32>,
    own: BTreeMap<u32, usize>,
}

impl<'a> Namer<'a> {
    pub fn new(program: &'a Program, base: &Words) -> Namer<'a> {
        Namer { program, base: reached(base), own: BTreeMap::new() }
    }

    /// The label of an update step of the call.
    pub fn label(
        &mut self,
        node: NodeId,
        before: &Words,
        after: &State,
        changed: &[(Location, Value)],
    ) -> Label {
        let known = reached(before);
        let word = |at: &Location| match at.root {
            Root::Shared(index) => Word { object: None, index, element: at.element },
            Root::Field { object, field } => {
                Word { object: Some(self.name(object)), index: field, element: at.element }
            }
        };
        let places: Vec<Word> = changed.iter().map(|(at, _)| word(at)).collect();
        let values: Vec<Named> =
            changed.iter().map(|(_, value)| self.value(value, &known, after)).collect();
        let mut changes: Vec<(Word, Named)> = places.into_iter().zip(values).collect();
        // Objects of the call have other names in another run: the order must not depend on them.
        changes.sort_by_key(|(word, _)| match word.object {
            None => (0, 0, word.index, word.element),
            Some(Name::Old(object)) => (1, object as usize, word.index, word.element),
            Some(Name::Own(number)) => (2, number, word.index, word.element),
            Some(Name::Foreign(object)) => (3, object as usize, word.index, word.element),
        });
        Label { node, changes }
    }

    fn name(&self, object: u32) -> Name {
        match self.own.get(&object) {
            _ if self.base.contains(&object) => Name::Old(object),
            Some(number) => Name::Own(*number),
            None => Name::Foreign(object),
        }
    }

    fn value(&mut self, value: &Value, known: &BTreeSet<u32>, state: &State) -> Named {
        match value {
            Value::Ref(object) if self.own.contains_key(object) || known.contains(object) => {
                Named::Object(self.name(*object))
            }
            // Reachable in the base point and unlinked since: it is still that object.
            Value::Ref(object) if self.base.contains(object) => Named::Object(self.name(*object)),
            Value::Ref(object) => {
                let number = self.own.len();
                self.own.insert(*object, number);
                let held = &state.heap[*object as usize];
                let declared = &self.program.structs[held.of].fields;
                let shared = held.fields.iter().zip(declared);
                let shared = shared.filter(|(_, field)| field.ty != Type::Lock);
                let fields = shared.map(|(value, _)| self.value(value, known, state)).collect();
                Named::New { number, of: held.of, fields }
            }
            Value::List(items) => {
                Named::List(items.iter().map(|item| self.value(item, known, state)).collect())
            }
            plain => Named::Plain(plain.clone()),
        }
    }
}
