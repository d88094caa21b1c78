//! One move of the correlating semantics (Figures C.2 and C.3): the candidate's step by the
//! reference interpreter, the reference operation at a claimed point, the response.
//!
//! A move is a call, a step or a response as a whole: a reference operation that has begun is never
//! part of a state. Faults, which the paper lets get stuck, are reported.

use super::canonical::canonical;
use super::correlated::{Call, Correlated, ObjectId, Phase, token};
use super::live::live;
use super::reference::{RefOperation, Reference, Ret};
use super::split::{EdgeId, Split, split};
use super::{Config, Unsupported, Values, Wrong};
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{
    Choices, FaultKind, Machine, Memory, Move, Outcome, Path, Status, StepRecord, Successor,
};
use linchpin_ir::program::{Program, SpecSource};
use linchpin_spec::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A step may pass at most so many points.
const MAX_CUTS: usize = 1000;

/// One operation of the program.
struct Code {
    operation: RefOperation,
    split: Split,
    live: Vec<BTreeSet<usize>>,
}

/// A program that can be run beside a reference.
pub struct Semantics {
    machine: Machine,
    code: Vec<Code>,
    values: Values,
    reference: Reference,
}

/// A move that was made: the choices of each of its parts (a point ends a part).
#[derive(Clone, Debug)]
pub struct Made {
    /// The move.
    pub what: Move,
    /// Its choices.
    pub choices: Vec<Choices>,
}

/// A claim that was passed and counts if the step goes on along its edge.
#[derive(Clone)]
struct Passed {
    edge: EdgeId,
    holds: Result<bool, FaultKind>,
    la: Option<ObjectId>,
}

/// A move that has come to a cut.
struct Partial {
    state: Correlated,
    what: Move,
    passed: Vec<Passed>,
    choices: Vec<Choices>,
}

impl Semantics {
    /// Prepares a program.
    pub fn new(program: &Program, config: &Config) -> Result<Semantics, Unsupported> {
        let SpecSource::Builtin { name, init: None } = &program.spec else {
            return Err(Unsupported::Specification);
        };
        let reference = Reference::named(name).ok_or(Unsupported::Specification)?;
        let mut program = program.clone();
        if program.threads.len() != config.threads {
            let client = program.threads.first().cloned().ok_or(Unsupported::Threads)?;
            if program.counts_threads || client.role.is_some() {
                return Err(Unsupported::Threads);
            }
            program.threads = vec![client; config.threads];
        }
        let mut code = Vec::new();
        for operation in &mut program.operations {
            let known = reference.operation(&operation.name).ok_or(Unsupported::Operation)?;
            if !config.values.suit(operation) {
                return Err(Unsupported::Operation);
            }
            let (body, split) = split(&operation.body);
            if known.updates() && !split.has_claims() {
                return Err(Unsupported::NoPoints);
            }
            let live = live(&body, &split);
            operation.body = body;
            code.push(Code { operation: known, split, live });
        }
        let machine = Machine::new(&program, Memory::Collected);
        Ok(Semantics { machine, code, values: config.values, reference })
    }

    /// The initial state.
    pub fn initial(&self) -> Result<Correlated, Unsupported> {
        let candidate = self.machine.initial().map_err(Unsupported::Init)?;
        Ok(canonical(&Correlated::initial(candidate, self.reference.clone())))
    }

    /// Whether a local can still be read at a node.
    pub fn is_live(&self, operation: usize, node: usize, local: usize) -> bool {
        let code = self.code.get(operation).and_then(|code| code.live.get(node));
        code.is_some_and(|live| live.contains(&local))
    }

    /// Everything that can happen next.
    pub fn successors(&self, state: &Correlated) -> Vec<(Made, Result<Correlated, Wrong>)> {
        (0..state.candidate.threads.len()).flat_map(|thread| self.moves(state, thread)).collect()
    }

    /// Everything that a thread can do next.
    pub fn moves(
        &self,
        state: &Correlated,
        thread: usize,
    ) -> Vec<(Made, Result<Correlated, Wrong>)> {
        let mut all = Vec::new();
        match &state.candidate.threads[thread].status {
            Status::Interrupted { .. } | Status::Resolving { .. } | Status::Resolved { .. } => {}
            Status::Idle => self.calls(state, thread, &mut all),
            Status::Running { .. } => self.finish(state.clone(), Move::Step { thread }, &mut all),
            Status::Returning { .. } => {
                let made = Made { what: Move::Respond { thread }, choices: Vec::new() };
                all.extend(self.respond(state, thread).map(|result| (made, result)));
            }
        }
        all
    }

    fn calls(
        &self,
        state: &Correlated,
        thread: usize,
        all: &mut Vec<(Made, Result<Correlated, Wrong>)>,
    ) {
        for &operation in &self.machine.program().threads[thread].operations {
            for arguments in self.arguments(state, operation) {
                let what = Move::Invoke { thread, operation, arguments: arguments.clone() };
                match self.machine.may_call(&state.candidate, thread, operation, &arguments) {
                    Ok(false) => continue,
                    Ok(true) => {}
                    Err(fault) => {
                        all.push((Made { what, choices: Vec::new() }, Err(Wrong::Fault(fault))));
                        continue;
                    }
                }
                let mut next = state.clone();
                let argument = arguments.first().cloned().unwrap_or_default();
                next.calls[thread] = Some(Call::new(self.code[operation].operation, argument));
                self.finish(next, what, all);
            }
        }
    }

    fn arguments(&self, state: &Correlated, operation: usize) -> Vec<Vec<Value>> {
        let operation = &self.machine.program().operations[operation];
        match self.values {
            Values::Distinct => vec![vec![token(state.tokens); operation.parameters.len()]],
            Values::UpTo(values) => {
                let bounds = DomainBounds { values, threads: state.calls.len() };
                let domain = Domain::of_arguments(operation, bounds);
                let lists = domain.iter().flat_map(Domain::values);
                lists.filter_map(|list| Some(list.as_list()?.to_vec())).collect()
            }
        }
    }

    /// Makes a call or a step, in all ways, through the points on its way.
    fn finish(
        &self,
        state: Correlated,
        what: Move,
        all: &mut Vec<(Made, Result<Correlated, Wrong>)>,
    ) {
        let first = what.clone();
        let mut work = vec![Partial { state, what, passed: Vec::new(), choices: Vec::new() }];
        while let Some(partial) = work.pop() {
            for successor in self.machine.successors(&partial.state.candidate, &partial.what) {
                let mut choices = partial.choices.clone();
                choices.push(successor.choices.clone());
                let made = Made { what: first.clone(), choices };
                match self.part(&partial, successor) {
                    Ok((state, None)) => all.push((made, Ok(self.settled(state)))),
                    Err(wrong) => all.push((made, Err(wrong))),
                    Ok(_) if made.choices.len() > MAX_CUTS => {
                        all.push((made, Err(Wrong::EndlessStep)));
                    }
                    Ok((state, Some(passed))) => {
                        let what = Move::Step { thread: first.thread().unwrap() };
                        work.push(Partial { state, what, passed, choices: made.choices });
                    }
                }
            }
        }
    }

    /// One part of a move: to its end, or to a cut with the claims passed so far.
    fn part(
        &self,
        from: &Partial,
        successor: Successor,
    ) -> Result<(Correlated, Option<Vec<Passed>>), Wrong> {
        let thread = from.what.thread().unwrap();
        let candidate = successor.result.map_err(Wrong::Fault)?;
        let mut next = Correlated { candidate, ..from.state.clone() };
        next.allocate(thread, from.state.candidate.heap.len());
        let Some(operation) = next.candidate.pending(thread) else { return Ok((next, None)) };
        let split = &self.code[operation].split;
        let mut passed = from.passed.clone();
        settle(&mut next, thread, &successor.path, split, &mut passed)?;
        let cut = match next.candidate.threads[thread].status {
            Status::Running { node, .. } if split.is_cut(node) => node,
            _ => return Ok((next, None)),
        };
        let la = next.last_allocated(thread);
        for claim in split.claims(cut) {
            let value = self.machine.evaluate(&next.candidate, thread, &claim.when);
            let value = value.unwrap_or(Err(FaultKind::IllTyped));
            let holds = value.and_then(|value| value.as_bool().ok_or(FaultKind::IllTyped));
            passed.push(Passed { edge: claim.edge, holds, la });
        }
        Ok((next, Some(passed)))
    }

    fn respond(&self, state: &Correlated, thread: usize) -> Option<Result<Correlated, Wrong>> {
        let (candidate, answer) = self.machine.respond(&state.candidate, thread)?;
        let call = state.calls[thread].as_ref()?;
        let wrong = match &call.phase {
            Phase::Pre if call.seen.contains(&answer) => None,
            Phase::Pre | Phase::Out => Some(Wrong::NoPoint { thread, answer }),
            Phase::Post(ret) => {
                let expected = match ret {
                    Ret::Constant(value) => Some(value.clone()),
                    Ret::Node(node) => state.reference.node(*node).map(|node| node.value.clone()),
                };
                let equal = expected.as_ref() == Some(&answer);
                (!equal).then_some(Wrong::Answer { thread, answer, expected })
            }
        };
        if let Some(wrong) = wrong {
            return Some(Err(wrong));
        }
        let mut next = Correlated { candidate, ..state.clone() };
        next.calls[thread] = None;
        Some(Ok(self.settled(next)))
    }

    /// What follows every move: dead locals are reset, ghost state is brought up to date.
    fn settled(&self, mut state: Correlated) -> Correlated {
        for thread in &mut state.candidate.threads {
            let Status::Running { operation, node, locals } = &mut Arc::make_mut(thread).status
            else {
                continue;
            };
            let body = &self.machine.program().operations[*operation].body;
            let live = &self.code[*operation].live[node.0 as usize];
            for (number, local) in locals.iter_mut().enumerate() {
                if !live.contains(&number) {
                    *local = body.locals[number].initial.clone();
                }
            }
        }
        state.observe();
        state.publish();
        canonical(&state)
    }

    /// What a move does, for people.
    pub fn shown(&self, state: &Correlated, made: &Made) -> Vec<String> {
        let (mut candidate, mut what) = (state.candidate.clone(), made.what.clone());
        let thread = what.thread().unwrap();
        let mut lines = Vec::new();
        match &made.what {
            Move::Invoke { operation, arguments, .. } => {
                let name = &self.machine.program().operations[*operation].name;
                let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
                lines.push(format!("{thread}: call {name}({})", arguments.join(", ")));
            }
            Move::Respond { .. } => lines.push(format!("{thread}: response")),
            Move::Step { .. } | Move::Crash | Move::CrashThread { .. } | Move::Recover => {}
        }
        for choices in &made.choices {
            let mut record = StepRecord::blank();
            let attempt = self.machine.attempt(&candidate, &what, choices, Some(&mut record));
            let texts = record.actions.iter().map(|a| format!("{thread}: {} {}", a.line, a.text));
            lines.extend(texts);
            let Outcome::Next(next) = attempt.outcome else { break };
            (candidate, what) = (next, Move::Step { thread });
        }
        lines
    }
}

/// The claims passed count once their edge has been gone along to its end.
fn settle(
    state: &mut Correlated,
    thread: usize,
    path: &Path,
    split: &Split,
    passed: &mut Vec<Passed>,
) -> Result<(), Wrong> {
    for (node, edge) in path {
        let Some(ended) = split.ended(*node, *edge) else { continue };
        for claim in passed.drain(..).filter(|claim| claim.edge == ended) {
            match claim.holds {
                Ok(false) => {}
                Ok(true) if state.take_effect(thread, claim.la) => {}
                Ok(true) => return Err(Wrong::SecondPoint { thread }),
                Err(kind) => return Err(Wrong::PointFault { thread, kind }),
            }
        }
    }
    Ok(())
}
