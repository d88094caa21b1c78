//! Executes sequences of calls one after the other: every one up to a length, and random longer
//! ones.

use super::arguments::{Domain, combinations};
use super::induction::Sample;
use super::integers::{self, Integers};
use super::{AnswerKind, Bounds, NotTaken, Random, Round, SequentialCall, Tried};
use crate::execute::{Instance, Machine, Progress, State, Value};
use crate::model::{Model, OperationId, SpecLine, SpecResponse, SpecTerm, Type};
use fastrand::Rng;
use linchpin_spec::{self as spec, BuiltinSpec, Call, Shape};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Words of all states that are kept.
const MOST_WORDS: usize = 10_000_000;

/// Lists of arguments of one operation.
const MOST_ARGUMENTS: usize = 256;

/// Sequences of all integers are no longer than this.
const CALLS_WITH_ALL: usize = 2;

/// Pairs of states that are kept for the induction.
const MOST_SAMPLES: usize = 400;

/// After some calls.
#[derive(Clone)]
struct Situation {
    state: State,
    /// The states that the specification may be in.
    states: Vec<spec::Value>,
    calls: Vec<SequentialCall>,
    /// What was called, to be repeated.
    script: Vec<Scripted>,
}

/// A call to be made: the line of the specification's mapping, and the integers that are passed.
#[derive(Clone)]
struct Scripted {
    line: usize,
    arguments: Vec<i64>,
}

/// What ends a search.
enum Stop {
    Violated { calls: Vec<SequentialCall>, script: Vec<Scripted> },
    OutOfSteps,
}

pub(super) struct Search<'a> {
    machine: Machine<'a>,
    lines: &'a [SpecLine],
    sequential: BuiltinSpec,
    bounds: &'a Bounds,
    /// Which arguments clients pass; if that is not said, all that the specification ever answers.
    domains: Option<&'a [Vec<Domain>]>,
    /// For each operation and each argument, integers that it is compared with.
    compared: Vec<Vec<BTreeSet<i64>>>,
    /// How many executions were compared with the specification.
    executions: usize,
    /// How many sub-operations were executed, and how many may be.
    steps: usize,
    most_steps: usize,
    /// How many words the states that were kept have.
    words: usize,
    /// Whether an execution of the operation was compared with the specification.
    reached: Vec<bool>,
    /// The sub-operations of those executions.
    taken: Vec<BTreeSet<usize>>,
    answers: BTreeSet<(usize, AnswerKind)>,
    /// Every state of the specification met so far, if it is not said which arguments clients pass.
    met: HashSet<spec::Value>,
    /// States that the same calls lead to, the start first.
    samples: Vec<Sample>,
}

impl<'a> Search<'a> {
    pub fn new(
        model: &'a Model,
        lines: &'a [SpecLine],
        sequential: BuiltinSpec,
        bounds: &'a Bounds,
        domains: Option<&'a [Vec<Domain>]>,
        integers: &Integers,
    ) -> Search<'a> {
        let machine = Machine::new(model).with_integers(integers.some.iter().copied());
        let shared = machine.start(Vec::new()).shared;
        let samples = vec![Sample { shared, spec: sequential.initial() }];
        Search {
            machine,
            lines,
            sequential,
            bounds,
            domains,
            compared: integers::compared(model),
            executions: 0,
            steps: 0,
            most_steps: 0,
            words: 0,
            reached: vec![false; model.operations.len()],
            taken: vec![BTreeSet::new(); model.operations.len()],
            answers: BTreeSet::new(),
            met: HashSet::new(),
            samples,
        }
    }

    /// Adds integers that arguments are compared with, for each operation and each argument.
    pub fn compare_with(&mut self, more: &[Vec<BTreeSet<i64>>]) {
        for (known, more) in self.compared.iter_mut().zip(more) {
            for (known, more) in known.iter_mut().zip(more) {
                known.extend(more);
            }
        }
    }

    /// States that the same calls lead to, the start first.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Tries all integers in short sequences, few in long ones, and random sequences; or finds a
    /// wrong one.
    pub fn run(&mut self, integers: &Integers) -> Result<Tried, Vec<SequentialCall>> {
        let (long, total) = (self.bounds.calls, self.bounds.steps);
        let plan = [
            (&integers.all, CALLS_WITH_ALL.min(long), total / 3),
            (&integers.some, long, total / 6),
            (&integers.few, long, total / 3),
        ];
        let mut rounds: Vec<Round> = Vec::new();
        for (at, (values, calls, steps)) in plan.iter().enumerate() {
            // A larger set that is tried as long covers a smaller one.
            let covered = rounds.iter().any(|round| {
                round.all_arguments
                    && round.calls >= *calls
                    && values.iter().all(|value| round.integers.contains(value))
            });
            if covered
                || plan[at + 1..].iter().any(|(next, more, _)| next == values && more >= calls)
            {
                continue;
            }
            rounds.extend(self.round(values, *calls, *steps)?);
        }
        let random = self.random(integers, total / 6)?;
        let open_guesses = self.machine.has_open_guesses();
        let not_taken = self.not_taken();
        let executions = self.executions;
        Ok(Tried { rounds, random, executions, not_taken, open_guesses, adds: false })
    }

    /// The operations that never came to an end.
    pub fn never_executed(&self) -> Vec<OperationId> {
        let all = self.reached.iter().enumerate();
        all.filter(|(_, reached)| !**reached).map(|(index, _)| OperationId(index)).collect()
    }

    /// Every sequence of up to so many calls, as far as the steps suffice; nothing if not even
    /// single calls could be tried.
    fn round(
        &mut self,
        values: &[i64],
        most: usize,
        steps: usize,
    ) -> Result<Option<Round>, Vec<SequentialCall>> {
        self.most_steps = self.steps.saturating_add(steps);
        self.words = 0;
        let mut all_arguments = true;
        let mut passed: BTreeSet<i64> = values.iter().copied().collect();
        let start = self.start();
        let mut seen = HashSet::from([(start.state.shared.clone(), start.states.clone())]);
        // Short executions first, so that the one that is shown is a shortest one.
        let mut situations = vec![start];
        let mut done = 0;
        'calls: while done < most {
            let mut next = Vec::new();
            for situation in &situations {
                for line in 0..self.lines.len() {
                    let (domains, compared) = (self.domains_of(line), self.compared_of(line));
                    let found = combinations(&domains, values, &compared, MOST_ARGUMENTS);
                    all_arguments &= found.complete;
                    for arguments in found.lists {
                        passed.extend(&arguments);
                        match self.make(situation, &Scripted { line, arguments }) {
                            Ok(after) => next.extend(after),
                            Err(Stop::Violated { calls, .. }) => return Err(calls),
                            Err(Stop::OutOfSteps) => break 'calls,
                        }
                    }
                }
            }
            done += 1;
            // Whatever follows has been tried after the first of equal situations. `ID`s differ,
            // but none is left from one call to the next that is not the same in both.
            next.retain(|after: &Situation| {
                seen.insert((after.state.shared.clone(), after.states.clone()))
            });
            situations = next;
            if situations.is_empty() {
                // Nothing new can be reached: longer sequences only repeat what was tried.
                done = most;
            }
        }
        let integers = passed.into_iter().collect();
        Ok((done > 0).then_some(Round { calls: done, integers, all_arguments }))
    }

    /// Random sequences; a wrong one is made shorter as long as it stays wrong.
    fn random(
        &mut self,
        integers: &Integers,
        steps: usize,
    ) -> Result<Option<Random>, Vec<SequentialCall>> {
        let Random { sequences, calls, seed } = self.bounds.random;
        let calls = calls.max(self.bounds.calls);
        self.most_steps = self.steps.saturating_add(steps);
        let mut rng = Rng::with_seed(seed);
        let mut done = 0;
        while done < sequences && !self.lines.is_empty() {
            match self.random_sequence(&mut rng, integers, calls) {
                Ok(()) => done += 1,
                Err(Stop::OutOfSteps) => break,
                Err(Stop::Violated { calls, script }) => {
                    self.most_steps = self.steps.saturating_add(self.bounds.steps);
                    return Err(self.shortened(calls, script));
                }
            }
        }
        Ok((done > 0).then_some(Random { sequences: done, calls, seed }))
    }

    fn random_sequence(
        &mut self,
        rng: &mut Rng,
        integers: &Integers,
        calls: usize,
    ) -> Result<(), Stop> {
        // Only some operations, so that a container can also become large.
        let mut lines: Vec<usize> = (0..self.lines.len()).filter(|_| rng.bool()).collect();
        if lines.is_empty() {
            lines = (0..self.lines.len()).collect();
        }
        let mut situation = self.start();
        // An operation that waits is not a call: others are made instead, up to a number of
        // attempts.
        for _ in 0..calls.saturating_mul(2) {
            if situation.calls.len() >= calls {
                break;
            }
            let line = lines[rng.usize(..lines.len())];
            let Some(arguments) = self.random_arguments(rng, integers, line) else { continue };
            let mut after = self.make(&situation, &Scripted { line, arguments })?;
            if !after.is_empty() {
                situation = after.swap_remove(rng.usize(..after.len()));
            }
        }
        Ok(())
    }

    /// Arguments chosen at random, the few integers of long sequences as often as all others.
    fn random_arguments(
        &self,
        rng: &mut Rng,
        integers: &Integers,
        line: usize,
    ) -> Option<Vec<i64>> {
        let choose = |domain: Domain| {
            let values = if rng.bool() { &integers.few } else { &integers.all };
            let lists = combinations(&[domain], values, &[], usize::MAX).lists;
            lists.get(rng.usize(..lists.len().max(1))).and_then(|list| list.first().copied())
        };
        self.domains_of(line).into_iter().map(choose).collect()
    }

    /// The shortest wrong execution that leaving out calls leads to.
    fn shortened(
        &mut self,
        mut calls: Vec<SequentialCall>,
        mut script: Vec<Scripted>,
    ) -> Vec<SequentialCall> {
        let mut at = 0;
        while at < script.len() {
            let mut fewer = script.clone();
            fewer.remove(at);
            match self.repeated(&fewer) {
                Some(Stop::Violated { calls: found, script: shorter }) => {
                    (calls, script) = (found, shorter);
                    at = 0;
                }
                _ => at += 1,
            }
        }
        calls
    }

    /// Makes these calls in every way; what is wrong with them, if something is.
    fn repeated(&mut self, script: &[Scripted]) -> Option<Stop> {
        let mut situations = vec![self.start()];
        for call in script {
            let mut next = Vec::new();
            for situation in &situations {
                match self.make(situation, call) {
                    Ok(after) => next.extend(after),
                    Err(stop) => return Some(stop),
                }
            }
            situations = next;
        }
        None
    }

    fn start(&self) -> Situation {
        let state = self.machine.start(Vec::new());
        let states = vec![self.sequential.initial()];
        Situation { state, states, calls: Vec::new(), script: Vec::new() }
    }

    /// What clients pass for each integer argument of a line's operation.
    fn domains_of(&self, line: usize) -> Vec<Domain> {
        let operation = self.lines[line].operation;
        let body = &self.machine.model().operations[operation.0];
        let known = self.domains.and_then(|domains| domains.get(operation.0));
        let domain = |index: usize| known.and_then(|known| known.get(index)).copied();
        let integers = (0..body.arguments).filter(|index| body.locals[*index].ty == Type::Int);
        integers.map(|index| domain(index).unwrap_or(Domain::Integers)).collect()
    }

    /// What each integer argument of a line's operation is compared with.
    fn compared_of(&self, line: usize) -> Vec<BTreeSet<i64>> {
        let operation = self.lines[line].operation;
        let body = &self.machine.model().operations[operation.0];
        let all = body.locals.iter().zip(&self.compared[operation.0]);
        all.filter(|(local, _)| local.ty == Type::Int).map(|(_, with)| with.clone()).collect()
    }

    /// Makes a call and compares it with the specification: every situation after it.
    fn make(&mut self, from: &Situation, call: &Scripted) -> Result<Vec<Situation>, Stop> {
        let line = &self.lines[call.line];
        let model = self.machine.model();
        let body = &model.operations[line.operation.0];
        // Arguments of struct type are guessed.
        let mut instance = Instance::new(model, line.operation, &[]);
        let integers = (0..body.arguments).filter(|index| body.locals[*index].ty == Type::Int);
        for (index, value) in integers.zip(&call.arguments) {
            instance.locals[index] = Some(Value::Int(*value));
        }
        let mut before = from.state.clone();
        before.instances.push(instance);
        let mut next = Vec::new();
        for (after, path) in self.executed(before)? {
            // An execution that is not compared with anything says nothing about its operation.
            if let Some(after) = self.compared(call, after, from)? {
                self.executions += 1;
                self.reached[line.operation.0] = true;
                self.taken[line.operation.0].extend(path);
                next.push(after);
            }
        }
        Ok(next)
    }

    /// Every state in which the last instance is complete, executed without interruption, with the
    /// sub-operations that lead there.
    fn executed(&mut self, before: State) -> Result<BTreeMap<State, BTreeSet<usize>>, Stop> {
        let me = before.instances.len() - 1;
        let mut complete: BTreeMap<State, BTreeSet<usize>> = BTreeMap::new();
        let mut open = vec![(before, Vec::new())];
        while let Some((state, path)) = open.pop() {
            for step in self.machine.steps(&state, me) {
                self.steps += 1;
                if self.steps > self.most_steps {
                    return Err(Stop::OutOfSteps);
                }
                let mut path = path.clone();
                path.push(step.sub_operation);
                if step.state.instances[me].progress == Progress::Complete {
                    complete.entry(step.state).or_default().extend(path);
                } else {
                    open.push((step.state, path));
                }
            }
        }
        Ok(complete)
    }

    /// Compares the last instance of `state`, which is complete, with the specification.
    fn compared(
        &mut self,
        made: &Scripted,
        state: State,
        from: &Situation,
    ) -> Result<Option<Situation>, Stop> {
        let line = &self.lines[made.line];
        let Some(instance) = state.instances.last() else { return Ok(None) };
        let arguments = self.arguments(made, instance);
        let argument = packed(line.arguments.iter().map(|term| passed(term, &arguments)).collect());
        let method = self.sequential.operation(&line.method);
        let shape = method.map(|method| self.sequential.operations()[method].response.clone());
        let response = response(line, instance, &arguments, shape == Some(Shape::Bool));
        let last = SequentialCall {
            operation: line.operation,
            argument: argument.clone(),
            response: response.clone(),
        };
        let calls: Vec<SequentialCall> = from.calls.iter().cloned().chain([last]).collect();
        let script: Vec<Scripted> = from.script.iter().cloned().chain([made.clone()]).collect();
        // What the specification does not have it does not allow.
        let Some(method) = method else { return Err(Stop::Violated { calls, script }) };
        let call = Call { operation: method, argument };
        let states = self.after(&from.states, &call, &response);
        if states.is_empty() {
            // One that the specification answers in no state, like an index that is not there, is
            // no argument of a client, unless it is said that it is.
            let answered =
                |state: &spec::Value| !self.sequential.apply(state, &call, None).is_empty();
            if self.domains.is_none() && !from.states.iter().chain(&self.met).any(answered) {
                return Ok(None);
            }
            return Err(Stop::Violated { calls, script });
        }
        if self.domains.is_none() {
            self.met.extend(states.iter().cloned());
        }
        self.answers
            .extend(shape.and_then(|shape| kind_of(&shape, &response)).map(|kind| (method, kind)));
        if let [only] = &states[..]
            && self.samples.len() < MOST_SAMPLES
        {
            let shared = state.shared.clone();
            self.samples.push(Sample { shared, spec: only.clone() });
        }
        self.keep(&state)?;
        Ok(Some(Situation { state, states, calls, script }))
    }

    /// What a call was passed: the operation may have assigned to its arguments since. Those of
    /// struct type were guessed.
    fn arguments(&self, made: &Scripted, instance: &Instance) -> Vec<spec::Value> {
        let body = &self.machine.model().operations[instance.operation.0];
        let mut integers = made.arguments.iter();
        let argument = |index: usize| match body.locals[index].ty {
            Type::Int => {
                integers.next().map_or(spec::Value::Null, |value| spec::Value::Int(*value))
            }
            Type::Ref(_) => instance.locals[index].map_or(spec::Value::Null, shown),
        };
        (0..body.arguments).map(argument).collect()
    }

    /// The states that the specification may be in after a call with this response.
    fn after(
        &self,
        states: &[spec::Value],
        call: &Call,
        response: &spec::Value,
    ) -> Vec<spec::Value> {
        let mut after: Vec<spec::Value> = Vec::new();
        for before in states {
            let outcomes = self.sequential.apply(before, call, Some(response));
            let fitting = outcomes.into_iter().filter(|outcome| outcome.response == *response);
            after.extend(fitting.map(|outcome| outcome.state));
        }
        after.sort();
        after.dedup();
        after
    }

    /// Counts the words of a state that is kept.
    fn keep(&mut self, state: &State) -> Result<(), Stop> {
        let shared = &state.shared;
        let objects: usize = shared.heap.values().map(|object| object.fields.len()).sum();
        let elements: usize = shared.elements.iter().map(BTreeMap::len).sum();
        self.words += 1 + shared.globals.len() + elements + objects;
        if self.words > MOST_WORDS { Err(Stop::OutOfSteps) } else { Ok(()) }
    }

    fn not_taken(&self) -> Vec<NotTaken> {
        let mut found = BTreeSet::new();
        for line in self.lines {
            let body = &self.machine.model().operations[line.operation.0];
            for (index, step) in body.sub_operations.iter().enumerate() {
                if !self.taken[line.operation.0].contains(&index) {
                    found.insert(NotTaken::SubOperation(step.name.clone()));
                }
            }
            let Some(method) = self.sequential.operation(&line.method) else { continue };
            let kinds: &[AnswerKind] = match self.sequential.operations()[method].response {
                Shape::Bool => &[AnswerKind::False, AnswerKind::True],
                Shape::Optional(_) => &[AnswerKind::Null, AnswerKind::Value],
                _ => &[],
            };
            for kind in kinds.iter().filter(|kind| !self.answers.contains(&(method, **kind))) {
                found.insert(NotTaken::Answer { method: line.method.clone(), kind: *kind });
            }
        }
        found.into_iter().collect()
    }
}

fn kind_of(shape: &Shape, response: &spec::Value) -> Option<AnswerKind> {
    match (shape, response) {
        (Shape::Bool, spec::Value::Bool(true)) => Some(AnswerKind::True),
        (Shape::Bool, _) => Some(AnswerKind::False),
        (Shape::Optional(_), spec::Value::Null) => Some(AnswerKind::Null),
        (Shape::Optional(_), _) => Some(AnswerKind::Value),
        _ => None,
    }
}

pub(super) fn constant(term: &SpecTerm) -> spec::Value {
    match term {
        SpecTerm::Int(value) => spec::Value::Int(*value),
        SpecTerm::Bool(value) => spec::Value::Bool(*value),
        SpecTerm::Null | SpecTerm::Argument(_) => spec::Value::Null,
    }
}

/// Nothing, one value, or a list of several.
pub(super) fn packed(mut values: Vec<spec::Value>) -> spec::Value {
    match values.len() {
        0 => spec::Value::Null,
        1 => values.remove(0),
        _ => spec::Value::list(values),
    }
}

fn passed(term: &SpecTerm, arguments: &[spec::Value]) -> spec::Value {
    match term {
        SpecTerm::Argument(id) => arguments.get(id.0).cloned().unwrap_or(spec::Value::Null),
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
fn response(
    line: &SpecLine,
    instance: &Instance,
    arguments: &[spec::Value],
    bool: bool,
) -> spec::Value {
    let returned = || instance.result.iter().flatten().copied().map(shown).collect::<Vec<_>>();
    let terms = |terms: &[SpecTerm]| terms.iter().map(|term| passed(term, arguments)).collect();
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
