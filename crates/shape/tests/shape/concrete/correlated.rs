//! Concrete correlated states (Figure B.1(b) of the paper): the candidate, the reference, and the
//! correlation between their nodes.

use super::reference::{RefId, RefOperation, Reference, Ret};
use linchpin_ir::interpreter::{State, Status};
use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A heap object of the candidate: index into [`State::heap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// No call is pending.
    Out,
    /// The call has not taken effect.
    Pre,
    /// The call has taken effect: the reference has run and answered this.
    Post(Ret),
}

/// A pending call: what the correlating semantics adds to the interpreter's thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The operation of the reference.
    pub operation: RefOperation,
    /// The argument as at the call; null if there is none, or if the operation of a list has taken
    /// effect and nothing asks for it any more.
    pub argument: Value,
    /// Whether it has taken effect. INVARIANT: never [`Phase::Out`].
    pub phase: Phase,
    /// The constant answers, of those that change nothing, that the reference would have given at
    /// some instant since the call: empty once the call has taken effect.
    pub seen: BTreeSet<Value>,
    /// The objects allocated in this call that are not correlated, in order: only while a call that
    /// inserts has not taken effect.
    pub allocated: Vec<ObjectId>,
    /// The objects allocated in this call that were never stored outside of such objects.
    pub owned: BTreeSet<ObjectId>,
}

/// A concrete correlated state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Correlated {
    /// The candidate: shared variables, heap, threads.
    pub candidate: State,
    /// The reference.
    pub reference: Reference,
    /// The correlation φ. INVARIANT: injective.
    pub correlation: BTreeMap<ObjectId, RefId>,
    /// The pending call of each thread.
    pub calls: Vec<Option<Call>>,
    /// How many distinct tokens there are: the next one is new.
    pub tokens: u32,
}

/// The first of the numbers that stand for values of which only the identity counts.
pub const FIRST_TOKEN: i64 = 1 << 40;
const LAST_TOKEN: i64 = FIRST_TOKEN + (1 << 20);

/// The value for a token.
pub fn token(number: u32) -> Value {
    Value::Int(FIRST_TOKEN + i64::from(number))
}

/// The token that a value is.
pub fn as_token(value: &Value) -> Option<i64> {
    value.as_int().filter(|number| (FIRST_TOKEN..LAST_TOKEN).contains(number))
}

impl Call {
    /// A call that has just been made.
    pub fn new(operation: RefOperation, argument: Value) -> Call {
        Call {
            operation,
            argument,
            phase: Phase::Pre,
            seen: BTreeSet::new(),
            allocated: Vec::new(),
            owned: BTreeSet::new(),
        }
    }
}

impl Correlated {
    /// The correlated initial state. The dummy that `init` made for a queue is the object to which
    /// all shared variables point.
    pub fn initial(candidate: State, reference: Reference) -> Correlated {
        let calls = vec![None; candidate.threads.len()];
        let mut pointers =
            candidate.shared.iter().filter(|v| matches!(v, Value::Ref(_))).collect::<Vec<_>>();
        pointers.dedup();
        let correlation = match (&reference, pointers.as_slice()) {
            (Reference::Queue { head, .. }, [Value::Ref(dummy)]) => {
                [(ObjectId(*dummy), *head)].into()
            }
            _ => BTreeMap::new(),
        };
        Correlated { candidate, reference, correlation, calls, tokens: 0 }
    }

    /// The last object allocated in this call whose value is the argument (`la` of Figure B.1).
    pub fn last_allocated(&self, thread: usize) -> Option<ObjectId> {
        let call = self.calls.get(thread)?.as_ref()?;
        let holds = |object: &&ObjectId| {
            let object = self.candidate.heap.get(object.0 as usize);
            object.is_some_and(|object| object.fields.contains(&call.argument))
        };
        call.allocated.iter().rev().find(holds).copied()
    }

    /// Notes the objects that a thread has just allocated: those from `first` on.
    pub fn allocate(&mut self, thread: usize, first: usize) {
        let Some(Some(call)) = self.calls.get_mut(thread) else { return };
        for number in first..self.candidate.heap.len() {
            let Ok(number) = u32::try_from(number) else { return };
            call.owned.insert(ObjectId(number));
            if call.phase == Phase::Pre && call.operation.inserts() {
                call.allocated.push(ObjectId(number));
            }
        }
    }

    /// The call of a thread takes effect. `false` if it already has: a second point.
    pub fn take_effect(&mut self, thread: usize, la: Option<ObjectId>) -> bool {
        let Some(Some(call)) = self.calls.get_mut(thread) else { return false };
        if call.phase != Phase::Pre {
            return false;
        }
        let Some(effect) = self.reference.run(call.operation, &call.argument) else { return false };
        call.phase = Phase::Post(effect.ret);
        call.seen.clear();
        call.allocated.clear();
        if self.reference.nodes().is_some() {
            call.argument = Value::Null;
        }
        // A reference node that has no partner stays alone: sound for any φ.
        if let (Some(made), Some(object)) = (effect.made, la)
            && !self.correlation.contains_key(&object)
        {
            self.correlation.insert(object, made);
        }
        true
    }

    /// After a move: what the reference would answer now to each call that has not taken effect.
    pub fn observe(&mut self) {
        for call in self.calls.iter_mut().flatten() {
            if call.phase == Phase::Pre {
                call.seen.extend(self.reference.idle_answer(call.operation, &call.argument));
            }
        }
    }

    /// After a move: an object is not owned any more if anything but its owner and what it owns
    /// refers to it.
    pub fn publish(&mut self) {
        if self.calls.iter().flatten().all(|call| call.owned.is_empty()) {
            return;
        }
        for thread in 0..self.calls.len() {
            let Some(call) = &self.calls[thread] else { continue };
            let mut owned = call.owned.clone();
            let mut lost: Vec<u32> = Vec::new();
            self.candidate.shared.iter().for_each(|value| references(value, &mut lost));
            for (other, state) in self.candidate.threads.iter().enumerate() {
                if other != thread {
                    thread_values(state).for_each(|value| references(value, &mut lost));
                }
            }
            for (number, object) in (0..).zip(&self.candidate.heap) {
                if !owned.contains(&ObjectId(number)) {
                    object.fields.iter().for_each(|value| references(value, &mut lost));
                }
            }
            while let Some(object) = lost.pop() {
                if owned.remove(&ObjectId(object)) {
                    let fields = &self.candidate.heap[object as usize].fields;
                    fields.iter().for_each(|value| references(value, &mut lost));
                }
            }
            if let Some(call) = &mut self.calls[thread] {
                call.owned = owned;
            }
        }
    }
}

/// Everything that a thread remembers.
pub fn thread_values(
    thread: &linchpin_ir::interpreter::ThreadState,
) -> impl Iterator<Item = &Value> {
    let status: &[Value] = match &thread.status {
        Status::Idle | Status::Interrupted { .. } => &[],
        Status::Resolving { locals, .. } => locals,
        Status::Resolved { outcome, .. } => std::slice::from_ref(outcome),
        Status::Running { locals, .. } => locals,
        Status::Returning { value, .. } => std::slice::from_ref(value),
    };
    thread.variables.iter().chain(status)
}

/// The objects that a value refers to.
pub fn references(value: &Value, into: &mut Vec<u32>) {
    match value {
        Value::Ref(object) => into.push(*object),
        Value::List(items) => items.iter().for_each(|item| references(item, into)),
        _ => {}
    }
}
