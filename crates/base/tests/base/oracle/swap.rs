//! Whether two adjacent steps can change places.

use super::explore::Judge;
use super::history::History;
use super::shared::references;
use linchpin_ir::interpreter::{Move, Outcome, State, Status};
use linchpin_spec::Value;
use std::collections::BTreeMap;

/// A whole state, its objects numbered as they are met and those that nothing reaches left out.
#[derive(PartialEq, Eq)]
struct Whole {
    shared: Vec<Value>,
    objects: Vec<(usize, Vec<Value>)>,
    threads: Vec<Status>,
}

impl Judge<'_> {
    /// Whether the step at `b` can be taken right before the one at `a`, with the same end.
    pub fn commute(&mut self, history: &History, a: usize, b: usize) -> bool {
        let (first, second) = (history.moves[a].what.clone(), history.moves[b].what.clone());
        // The call of the second may lie between the two: it concerns no other thread, so it may
        // as well come before both.
        let call = &history.calls[history.moves[b].call];
        let invoked = (call.invoked > a).then(|| history.moves[call.invoked].what.clone());
        let mut start = history.states[a].clone();
        if let Some(invoke) = invoked {
            let Some(next) = self.made(&start, &[&invoke]) else { return false };
            start = next;
        }
        let key = (start, first, second);
        if let Some(known) = self.commuting.get(&key) {
            return *known;
        }
        let (start, first, second) = &key;
        let forward = self.made(start, &[first, second]);
        let backward = self.made(start, &[second, first]);
        let same = match (forward, backward) {
            (Some(one), Some(other)) => self.whole(&one) == self.whole(&other),
            _ => false,
        };
        self.commuting.insert(key, same);
        same
    }

    fn made(&self, state: &State, moves: &[&Move]) -> Option<State> {
        let mut state = state.clone();
        for what in moves {
            match self.machine.attempt(&state, what, &[], None).outcome {
                Outcome::Next(next) => state = next,
                _ => return None,
            }
        }
        Some(state)
    }

    fn whole(&self, state: &State) -> Whole {
        let mut statuses: Vec<Status> =
            state.threads.iter().map(|thread| thread.status.clone()).collect();
        for status in &mut statuses {
            if let Status::Running { operation, node, locals } = status {
                let live = &self.live[*operation][node.0 as usize];
                for (value, live) in locals.iter_mut().zip(live) {
                    if self.asked.dead_locals && !live {
                        *value = Value::Null;
                    }
                }
            }
        }
        let mut numbers = BTreeMap::new();
        let mut order = Vec::new();
        let mut meet = |value: &Value, order: &mut Vec<u32>| {
            for object in references(value) {
                let next = numbers.len() as u32;
                numbers.entry(object).or_insert_with(|| {
                    order.push(object);
                    next
                });
            }
        };
        state.shared.iter().for_each(|value| meet(value, &mut order));
        for status in &statuses {
            if let Status::Running { locals, .. } = status {
                locals.iter().for_each(|value| meet(value, &mut order));
            }
        }
        let mut at = 0;
        while at < order.len() {
            let fields = &state.heap[order[at] as usize].fields;
            fields.iter().for_each(|value| meet(value, &mut order));
            at += 1;
        }
        let rename = |value: &Value| renamed(value, &numbers);
        for status in &mut statuses {
            if let Status::Running { locals, .. } = status {
                *locals = locals.iter().map(rename).collect();
            }
        }
        let object = |object: &u32| {
            let held = &state.heap[*object as usize];
            (held.of, held.fields.iter().map(rename).collect())
        };
        Whole {
            shared: state.shared.iter().map(rename).collect(),
            objects: order.iter().map(object).collect(),
            threads: statuses,
        }
    }
}

fn renamed(value: &Value, numbers: &BTreeMap<u32, u32>) -> Value {
    match value {
        Value::Ref(object) => Value::Ref(numbers[object]),
        Value::List(items) => Value::list(items.iter().map(|item| renamed(item, numbers))),
        other => other.clone(),
    }
}
