//! Assumption 1 of the paper: every sequential execution of the operations is one of the abstract data structure. The paper assumes it;
//! [`check`] executes every sequence of a few calls and compares with the specification that the file names.

use crate::execute::{Instance, Machine, Progress, State, Value};
use crate::model::{Model, OperationId, SpecLine, SpecResponse, SpecTerm, Type};
use linchpin_spec::{self as spec, BuiltinSpec, Call, Shape, builtin};
use std::collections::{BTreeMap, HashSet};

/// Arguments limited to a range with more integers are not tried.
const MOST_OF_RANGE: i64 = 64;

/// Fewer calls in a row than this say nothing.
const LEAST_CALLS: usize = 2;

/// How far [`check`] looks.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The longest sequence of calls.
    pub calls: usize,
    /// The integers that are passed.
    pub values: Vec<i64>,
    /// After executing this many sub-operations it gives up.
    pub steps: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { calls: 4, values: vec![1, 2], steps: 1_000_000 }
    }
}

/// One call of a sequential execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequentialCall {
    /// The operation of the model.
    pub operation: OperationId,
    /// What it was passed, as the specification sees it.
    pub argument: spec::Value,
    /// What it answered, as the specification sees it.
    pub response: spec::Value,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SequentialVerdict {
    /// The file names no specification.
    NoSpec,
    /// Every sequential execution within the bounds is one of the specification.
    Holds {
        /// Up to how many calls in a row were tried, at least: as many as the bounds say, or as fit in the number of steps.
        calls: usize,
        /// How many operations were executed.
        executions: usize,
        /// Operations that never came to an end: nothing is known about them.
        unreached: Vec<OperationId>,
    },
    /// The last call of this execution is not one of the specification. It is a shortest one.
    Violated {
        /// The calls, in their order.
        calls: Vec<SequentialCall>,
    },
    /// There are more executions than allowed.
    TooLarge,
}

/// Compares every sequential execution within the bounds with the specification of the file.
pub fn check(model: &Model, bounds: &Bounds) -> SequentialVerdict {
    let Some(mapping) = &model.spec else { return SequentialVerdict::NoSpec };
    let Ok(sequential) = builtin(&mapping.name, initial(&mapping.initial).as_ref()) else {
        return SequentialVerdict::NoSpec;
    };
    search(model, &mapping.lines, sequential, bounds, None)
}

/// Compares every sequential execution within the bounds with a specification; `lines` say which of its operations each operation performs,
/// and `ranges`, for each operation, which integers (the last one excluded) its arguments are limited to, if they are. Clients pass
/// every argument within the ranges, so a specification that answers one in no state does not allow the call.
pub fn check_against(
    model: &Model,
    lines: &[SpecLine],
    sequential: BuiltinSpec,
    bounds: &Bounds,
    ranges: &[Ranges],
) -> SequentialVerdict {
    search(model, lines, sequential, bounds, Some(ranges))
}

/// For each argument of an operation, the integers that clients pass, the last one excluded; all if there is none.
pub type Ranges = Vec<Option<(i64, i64)>>;

fn search(
    model: &Model,
    lines: &[SpecLine],
    sequential: BuiltinSpec,
    bounds: &Bounds,
    ranges: Option<&[Ranges]>,
) -> SequentialVerdict {
    let machine = Machine::new(model).with_integers(bounds.values.iter().copied());
    let states = vec![sequential.initial()];
    let state = machine.start(Vec::new());
    let reached = vec![false; model.operations.len()];
    let mut check = Check {
        machine,
        lines,
        sequential,
        bounds,
        ranges,
        executions: 0,
        steps: 0,
        words: 0,
        reached,
        met: HashSet::new(),
    };
    let mut seen = HashSet::from([(state.shared.clone(), states.clone())]);
    // Short executions first, so that the one that is shown is a shortest one.
    let mut situations = vec![Situation { state, states, calls: Vec::new() }];
    let mut calls = bounds.calls;
    for tried in 0..bounds.calls {
        let mut next = Vec::new();
        for situation in &situations {
            match check.calls(situation, &mut next) {
                Ok(()) => {}
                Err(Stop::Violated(calls)) => return SequentialVerdict::Violated { calls },
                Err(Stop::TooLarge) if tried < LEAST_CALLS.min(bounds.calls) => {
                    return SequentialVerdict::TooLarge;
                }
                Err(Stop::TooLarge) => {
                    calls = tried;
                    break;
                }
            }
        }
        if calls < bounds.calls {
            break;
        }
        // Whatever follows has been tried after the first of equal situations. `ID`s differ, but none is left from one call to the next that
        // is not the same in both.
        next.retain(|situation| {
            seen.insert((situation.state.shared.clone(), situation.states.clone()))
        });
        situations = next;
    }
    let unreached = check.reached.iter().enumerate().filter(|(_, reached)| !**reached);
    let unreached = unreached.map(|(index, _)| OperationId(index)).collect();
    SequentialVerdict::Holds { calls, executions: check.executions, unreached }
}

/// Words of all states that are kept.
const MOST_WORDS: usize = 10_000_000;

/// After some calls.
struct Situation {
    state: State,
    /// The states that the specification may be in.
    states: Vec<spec::Value>,
    calls: Vec<SequentialCall>,
}

/// What ends the check.
enum Stop {
    Violated(Vec<SequentialCall>),
    TooLarge,
}

/// The initial value that these terms stand for, if there are any.
pub(crate) fn initial(terms: &[SpecTerm]) -> Option<spec::Value> {
    (!terms.is_empty()).then(|| packed(terms.iter().map(constant).collect()))
}

struct Check<'a> {
    machine: Machine<'a>,
    lines: &'a [SpecLine],
    sequential: BuiltinSpec,
    bounds: &'a Bounds,
    /// Which arguments clients pass; if nobody says, all that the specification ever answers.
    ranges: Option<&'a [Ranges]>,
    executions: usize,
    /// How many sub-operations were executed.
    steps: usize,
    /// How many words the states that were kept have.
    words: usize,
    reached: Vec<bool>,
    /// Every state of the specification met so far, if nobody says which arguments clients pass.
    met: HashSet<spec::Value>,
}

impl Check<'_> {
    /// Tries every call from here on; what comes of it is added to `next`.
    fn calls(&mut self, from: &Situation, next: &mut Vec<Situation>) -> Result<(), Stop> {
        let lines = self.lines;
        for line in lines {
            for instance in self.instances(line.operation).ok_or(Stop::TooLarge)? {
                let mut before = from.state.clone();
                before.instances.push(instance);
                let complete = self.executions(before).ok_or(Stop::TooLarge)?;
                for after in complete {
                    next.extend(self.call(line, after, from)?);
                }
            }
        }
        Ok(())
    }

    /// Compares the last instance of `state`, which is complete, with the specification.
    fn call(
        &mut self,
        line: &SpecLine,
        state: State,
        from: &Situation,
    ) -> Result<Option<Situation>, Stop> {
        let Some(instance) = state.instances.last() else { return Ok(None) };
        let argument = packed(line.arguments.iter().map(|term| passed(term, instance)).collect());
        let method = self.sequential.operation(&line.method);
        let shape = method.map(|method| self.sequential.operations()[method].response.clone());
        let response = response(line, instance, shape == Some(Shape::Bool));
        let last = SequentialCall {
            operation: line.operation,
            argument: argument.clone(),
            response: response.clone(),
        };
        let calls: Vec<SequentialCall> = from.calls.iter().cloned().chain([last]).collect();
        // What the specification does not have it does not allow.
        let Some(method) = method else { return Err(Stop::Violated(calls)) };
        let call = Call { operation: method, argument };
        let mut states: Vec<spec::Value> = Vec::new();
        for before in &from.states {
            let outcomes = self.sequential.apply(before, &call, Some(&response));
            let fitting = outcomes.into_iter().filter(|outcome| outcome.response == response);
            states.extend(fitting.map(|outcome| outcome.state));
        }
        states.sort();
        states.dedup();
        // Unless somebody says which arguments clients pass: one that the specification answers in no state, like an index that is
        // not there, is none.
        let answered = |state: &spec::Value| !self.sequential.apply(state, &call, None).is_empty();
        if states.is_empty()
            && self.ranges.is_none()
            && !from.states.iter().chain(&self.met).any(answered)
        {
            return Ok(None);
        }
        if self.ranges.is_none() {
            self.met.extend(states.iter().cloned());
        }
        if states.is_empty() {
            return Err(Stop::Violated(calls));
        }
        let shared = &state.shared;
        let objects: usize = shared.heap.values().map(|object| object.fields.len()).sum();
        let elements: usize = shared.elements.iter().map(BTreeMap::len).sum();
        self.words += 1 + shared.globals.len() + elements + objects;
        if self.words > MOST_WORDS {
            return Err(Stop::TooLarge);
        }
        Ok(Some(Situation { state, states, calls }))
    }

    /// Every call of an operation within the bounds; arguments of struct type are guessed. Nothing if there are too many.
    fn instances(&self, operation: OperationId) -> Option<Vec<Instance>> {
        let model = self.machine.model();
        let body = &model.operations[operation.0];
        let mut instances = vec![Instance::new(model, operation, &[])];
        for index in (0..body.arguments).filter(|index| body.locals[*index].ty == Type::Int) {
            let mut extended = Vec::new();
            let ranges = self.ranges.and_then(|ranges| ranges.get(operation.0));
            let range = ranges.and_then(|ranges| ranges.get(index));
            let values = match range {
                Some(Some((from, to))) if to.saturating_sub(*from) > MOST_OF_RANGE => return None,
                Some(Some((from, to))) => (*from..*to).collect(),
                _ => self.bounds.values.clone(),
            };
            if instances.len().saturating_mul(values.len()) > self.bounds.steps {
                return None;
            }
            for instance in &instances {
                for value in &values {
                    let mut instance = instance.clone();
                    instance.locals[index] = Some(Value::Int(*value));
                    extended.push(instance);
                }
            }
            instances = extended;
        }
        Some(instances)
    }

    /// Every state in which the last instance is complete, executed without interruption; nothing if there are too many steps.
    fn executions(&mut self, before: State) -> Option<Vec<State>> {
        let me = before.instances.len() - 1;
        let operation = before.instances[me].operation;
        let mut complete: Vec<State> = Vec::new();
        let mut open = vec![before];
        while let Some(state) = open.pop() {
            for step in self.machine.steps(&state, me) {
                self.steps += 1;
                if self.steps > self.bounds.steps {
                    return None;
                }
                if step.state.instances[me].progress == Progress::Complete {
                    complete.push(step.state);
                } else {
                    open.push(step.state);
                }
            }
        }
        complete.sort();
        complete.dedup();
        self.executions += complete.len();
        self.reached[operation.0] |= !complete.is_empty();
        Some(complete)
    }
}

fn constant(term: &SpecTerm) -> spec::Value {
    match term {
        SpecTerm::Int(value) => spec::Value::Int(*value),
        SpecTerm::Bool(value) => spec::Value::Bool(*value),
        SpecTerm::Null | SpecTerm::Argument(_) => spec::Value::Null,
    }
}

/// Nothing, one value, or a list of several.
fn packed(mut values: Vec<spec::Value>) -> spec::Value {
    match values.len() {
        0 => spec::Value::Null,
        1 => values.remove(0),
        _ => spec::Value::list(values),
    }
}

fn passed(term: &SpecTerm, instance: &Instance) -> spec::Value {
    match term {
        SpecTerm::Argument(id) => instance.locals[id.0].map_or(spec::Value::Null, shown),
        term => constant(term),
    }
}

/// A value as the specification sees it; references and poison are equal to nothing that it knows.
fn shown(value: Value) -> spec::Value {
    match value {
        Value::Int(value) => spec::Value::Int(value),
        Value::Null => spec::Value::Null,
        Value::Ref(_) => spec::Value::str("a reference"),
        Value::Poison => spec::Value::str("poison"),
    }
}

/// What the specification sees as the answer.
fn response(line: &SpecLine, instance: &Instance, bool: bool) -> spec::Value {
    let returned = || instance.result.iter().flatten().copied().map(shown).collect::<Vec<_>>();
    let terms = |terms: &[SpecTerm]| terms.iter().map(|term| passed(term, instance)).collect();
    let value = match &line.response {
        SpecResponse::Returned => packed(returned()),
        SpecResponse::Always(values) => packed(terms(values)),
        SpecResponse::Whether(values) => spec::Value::Bool(returned() == terms(values)),
    };
    match value {
        spec::Value::Int(0) if bool => spec::Value::Bool(false),
        spec::Value::Int(1) if bool => spec::Value::Bool(true),
        value => value,
    }
}
