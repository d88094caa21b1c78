//! Assumption 1 of the paper: every sequential execution of the operations is one of the abstract data structure. The paper assumes it;
//! [`check`] executes every sequence of a few calls and compares with the specification that the file names.

use crate::execute::{Instance, Machine, Progress, State, Value};
use crate::model::{Model, OperationId, SpecLine, SpecResponse, SpecTerm, Type};
use linchpin_spec::{self as spec, BuiltinSpec, Call, Shape, builtin};

/// Of a range of arguments, so many are tried.
const MOST_OF_RANGE: usize = 8;

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
    let start = machine.start(Vec::new());
    let reached = vec![false; model.operations.len()];
    let calls = Vec::new();
    let (longest, executions, steps) = (0, 0, 0);
    let mut check = Check {
        machine,
        lines,
        sequential,
        bounds,
        ranges,
        longest,
        calls,
        executions,
        steps,
        reached,
        met: Vec::new(),
    };
    // Short ones first, so that the execution that is shown is a shortest one.
    for longest in 1..=bounds.calls {
        check.longest = longest;
        check.executions = 0;
        if let Some(verdict) = check.from(&start, &states) {
            return verdict;
        }
    }
    let unreached = check.reached.iter().enumerate().filter(|(_, reached)| !**reached);
    let unreached = unreached.map(|(index, _)| OperationId(index)).collect();
    SequentialVerdict::Holds { executions: check.executions, unreached }
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
    /// How many calls are tried now.
    longest: usize,
    calls: Vec<SequentialCall>,
    executions: usize,
    /// How many sub-operations were executed.
    steps: usize,
    reached: Vec<bool>,
    /// Every state of the specification met so far.
    met: Vec<spec::Value>,
}

impl Check<'_> {
    /// Tries every call from here on; `states` are those that the specification may be in. Returns what stops the check.
    fn from(&mut self, state: &State, states: &[spec::Value]) -> Option<SequentialVerdict> {
        if self.calls.len() == self.longest {
            return None;
        }
        let lines = self.lines;
        for line in lines {
            for instance in self.instances(line.operation) {
                let mut before = state.clone();
                before.instances.push(instance);
                let Some(complete) = self.executions(before) else {
                    return Some(SequentialVerdict::TooLarge);
                };
                for after in complete {
                    if let Some(verdict) = self.call(line, &after, states) {
                        return Some(verdict);
                    }
                }
            }
        }
        None
    }

    /// Compares the last instance of `state`, which is complete, with the specification, and goes on.
    fn call(
        &mut self,
        line: &SpecLine,
        state: &State,
        states: &[spec::Value],
    ) -> Option<SequentialVerdict> {
        let instance = state.instances.last()?;
        let method = self.sequential.operation(&line.method)?;
        let bool = self.sequential.operations()[method].response == Shape::Bool;
        let argument = packed(line.arguments.iter().map(|term| passed(term, instance)).collect());
        let response = response(line, instance, bool);
        let call = Call { operation: method, argument: argument.clone() };
        let mut next: Vec<spec::Value> = Vec::new();
        for before in states {
            let outcomes = self.sequential.apply(before, &call, Some(&response));
            let fitting = outcomes.into_iter().filter(|outcome| outcome.response == response);
            next.extend(fitting.map(|outcome| outcome.state));
        }
        next.sort();
        next.dedup();
        // Unless somebody says which arguments clients pass: one that the specification answers in no state, like an index that is
        // not there, is none.
        let answered = |state: &spec::Value| !self.sequential.apply(state, &call, None).is_empty();
        if next.is_empty() && self.ranges.is_none() && !states.iter().chain(&self.met).any(answered)
        {
            return None;
        }
        for state in &next {
            if let Err(at) = self.met.binary_search(state) {
                self.met.insert(at, state.clone());
            }
        }
        self.calls.push(SequentialCall { operation: line.operation, argument, response });
        if next.is_empty() {
            return Some(SequentialVerdict::Violated { calls: self.calls.clone() });
        }
        let verdict = self.from(state, &next);
        self.calls.pop();
        verdict
    }

    /// Every call of an operation within the bounds; arguments of struct type are guessed.
    fn instances(&self, operation: OperationId) -> Vec<Instance> {
        let model = self.machine.model();
        let body = &model.operations[operation.0];
        let mut instances = vec![Instance::new(model, operation, &[])];
        for index in (0..body.arguments).filter(|index| body.locals[*index].ty == Type::Int) {
            let mut extended = Vec::new();
            let ranges = self.ranges.and_then(|ranges| ranges.get(operation.0));
            let range = ranges.and_then(|ranges| ranges.get(index));
            let values = match range {
                Some(Some((from, to))) => (*from..*to).take(MOST_OF_RANGE).collect(),
                _ => self.bounds.values.clone(),
            };
            for instance in &instances {
                for value in &values {
                    let mut instance = instance.clone();
                    instance.locals[index] = Some(Value::Int(*value));
                    extended.push(instance);
                }
            }
            instances = extended;
        }
        instances
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
