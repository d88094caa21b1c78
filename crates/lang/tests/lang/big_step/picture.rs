//! What a state looks like from outside: shared variables, the variables of the threads, and the
//! objects that can be reached from them, numbered in the order in which they are met.

use crate::big_step::evaluator::{Datum, World};
use linchpin_ir::interpreter::State;
use linchpin_spec::Value;
use std::collections::{BTreeSet, HashMap};

/// A state whose objects have canonical names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    shared: Vec<Value>,
    threads: Vec<Vec<Value>>,
    /// Struct, whether it is live, fields.
    objects: Vec<(usize, bool, Vec<Value>)>,
}

impl Picture {
    pub fn of_world(world: &World) -> Picture {
        let values = |data: &[Datum]| data.iter().map(Datum::to_value).collect::<Vec<_>>();
        let threads = world.threads.iter().map(|thread| values(&thread.variables)).collect();
        Picture::new(values(&world.shared), threads, |at| {
            let object = &world.heap[at];
            (object.of, object.live, values(&object.fields))
        })
    }

    pub fn of_state(state: &State) -> Picture {
        let threads = state.threads.iter().map(|thread| thread.variables.clone()).collect();
        Picture::new(state.shared.clone(), threads, |at| {
            let object = &state.heap[at];
            (object.of, object.live, object.fields.clone())
        })
    }

    fn new(
        shared: Vec<Value>,
        threads: Vec<Vec<Value>>,
        object: impl Fn(usize) -> (usize, bool, Vec<Value>),
    ) -> Picture {
        let mut names = Names::default();
        let shared = names.all(&shared);
        let threads = threads.iter().map(|variables| names.all(variables)).collect();
        let mut objects = Vec::new();
        while let Some(&next) = names.met.get(objects.len()) {
            let (of, live, fields) = object(next as usize);
            objects.push((of, live, names.all(&fields)));
        }
        Picture { shared, threads, objects }
    }
}

#[derive(Default)]
struct Names {
    /// The objects in the order in which they were met.
    met: Vec<u32>,
    names: HashMap<u32, u32>,
}

impl Names {
    fn all(&mut self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.rename(value)).collect()
    }

    fn rename(&mut self, value: &Value) -> Value {
        match value {
            Value::Ref(object) => {
                let next = self.met.len() as u32;
                let name = *self.names.entry(*object).or_insert(next);
                if name == next {
                    self.met.push(*object);
                }
                Value::Ref(name)
            }
            Value::List(items) => Value::list(self.all(items)),
            Value::Set(items) => Value::Set(
                items.iter().map(|item| self.rename(item)).collect::<BTreeSet<_>>().into(),
            ),
            Value::Map(pairs) => {
                let pairs = pairs.iter();
                Value::map(pairs.map(|(k, v)| (self.rename(k), self.rename(v))).collect::<Vec<_>>())
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Number(_) | Value::Str(_) => {
                value.clone()
            }
        }
    }
}
