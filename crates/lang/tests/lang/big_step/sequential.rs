//! One operation after the other, through the evaluator and through the interpreter.

use crate::big_step::evaluator::{Coverage, Datum, Evaluator, Fault, Mistake, Stop, seeded_answer};
use crate::big_step::picture::Picture;
use crate::big_step::random::Random;
use linchpin_ir::interpreter::{FaultKind, Machine, Memory, Move, Outcome, State, Status};
use linchpin_ir::program::Program;
use linchpin_lang::syntax::ast;
use linchpin_spec::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A mistake in one of the two: what they do not agree on.
pub type Disagreement = String;

/// How runs ended, and what was exercised.
#[derive(Default)]
pub struct Statistics {
    pub programs: u64,
    pub ends: BTreeMap<&'static str, u64>,
    pub coverage: Coverage,
}

impl Statistics {
    pub fn count(&mut self, end: &'static str) {
        *self.ends.entry(end).or_default() += 1;
    }

    pub fn add(&mut self, coverage: Coverage) {
        for (feature, count) in coverage {
            *self.coverage.entry(feature).or_default() += count;
        }
    }

    pub fn of(&self, end: &str) -> u64 {
        self.ends.get(end).copied().unwrap_or(0)
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, count) in self.ends.iter().chain(&self.coverage) {
            writeln!(f, "{count:9} {what}")?;
        }
        Ok(())
    }
}

/// Both, at the same point of a run.
struct Pair<'m> {
    evaluator: Evaluator<'m>,
    machine: Machine,
    state: State,
    seed: u64,
    /// How many choices the machine has asked for.
    asked: u64,
}

/// What the machine made of a call.
enum Ended {
    Answered(Value),
    Faulted(FaultKind),
    Blocked,
    /// It goes on for longer than the evaluator did.
    TooLong,
}

/// Runs a random sequence of calls through both.
pub fn run(
    tree: &ast::Model,
    program: &Program,
    memory: Memory,
    seed: u64,
    calls: usize,
    statistics: &mut Statistics,
) -> Result<(), Disagreement> {
    let mut random = Random::new(seed);
    let threads = program.threads.len();
    let mut evaluator = Evaluator::of_model(tree, threads, memory == Memory::Reuse, seed);
    let machine = Machine::new(program, memory);
    let end = match (evaluator.initialise(), machine.initial()) {
        (Ok(()), Ok(state)) => {
            let mut pair = Pair { evaluator, machine, state, seed, asked: 0 };
            pair.same_picture("after init")?;
            let end = pair.calls(calls, &mut random, statistics)?;
            evaluator = pair.evaluator;
            end
        }
        (Err(Stop::Fault(expected)), Err(fault)) => {
            same_fault(&expected, fault.kind)?;
            expected.mistake.name()
        }
        (expected, actual) => {
            return Err(format!("init: expected {expected:?}, got {:?}", actual.map(drop)));
        }
    };
    statistics.count(end);
    statistics.add(evaluator.coverage);
    Ok(())
}

impl Pair<'_> {
    /// Calls one operation after the other; says how the run ended.
    fn calls(
        &mut self,
        calls: usize,
        random: &mut Random,
        statistics: &mut Statistics,
    ) -> Result<&'static str, Disagreement> {
        for _ in 0..calls {
            let thread = random.below(self.state.threads.len() as u64) as usize;
            let allowed = &self.machine.program().threads[thread].operations;
            let Some(&operation) = random.pick(allowed) else { continue };
            let routine = self.evaluator.operations()[operation];
            let mut below = |end| random.below(end);
            let arguments: Vec<Datum> =
                routine.parameters.iter().map(|p| self.evaluator.argument(p, &mut below)).collect();
            let what = format!("{}({arguments:?}) by {thread}", routine.name.name);
            match self.call(thread, operation, &arguments, statistics) {
                Ok(None) => {}
                Ok(Some(end)) => return Ok(end),
                Err(disagreement) => return Err(format!("{what}: {disagreement}")),
            }
        }
        Ok("completed")
    }

    /// One call; says how the run ended if it did.
    fn call(
        &mut self,
        thread: usize,
        operation: usize,
        arguments: &[Datum],
        statistics: &mut Statistics,
    ) -> Result<Option<&'static str>, Disagreement> {
        let mut values: Vec<Value> = arguments.iter().map(Datum::to_value).collect();
        // Where the specification looks at the caller, its id is the last argument.
        let parameters = self.machine.program().operations[operation].parameters.len();
        values.extend((values.len() < parameters).then_some(Value::Int(thread as i64)));
        let allowed = self.machine.may_call(&self.state, thread, operation, &values);
        match (self.evaluator.may_call(thread, operation, arguments), allowed) {
            (Ok(true), Ok(true)) => {}
            (Ok(false), Ok(false)) => {
                statistics.count("call not allowed");
                return Ok(None);
            }
            (Err(Stop::Fault(expected)), Err(fault)) => {
                same_fault(&expected, fault.kind)?;
                return Ok(Some("fault in requires"));
            }
            (expected, actual) => {
                return Err(format!("requires: expected {expected:?}, got {actual:?}"));
            }
        }
        let called = self.evaluator.call(Some(thread), operation, arguments);
        if called.end == Err(Stop::OutOfFuel) {
            return Ok(Some("out of fuel"));
        }
        let invoke = Move::Invoke { thread, operation, arguments: values };
        let (ended, moves) = self.run_machine(invoke, called.moves + 2);
        let same_moves = || match called.moves == moves {
            true => Ok(()),
            false => Err(format!("expected {} moves, got {moves}", called.moves)),
        };
        match (called.end, ended) {
            (Ok(expected), Ended::Answered(actual)) => {
                if expected.to_value() != actual {
                    return Err(format!("expected {}, got {actual}", expected.to_value()));
                }
                same_moves()?;
                self.same_picture("after the call")?;
                Ok(None)
            }
            (Err(Stop::Blocked), Ended::Blocked) => {
                same_moves()?;
                self.evaluator.world = self.evaluator.before_step.clone();
                self.same_picture("before the step that waits")?;
                Ok(Some("blocked"))
            }
            (Err(Stop::Fault(expected)), Ended::Faulted(actual)) => {
                if same_fault(&expected, actual)? {
                    statistics.count("(fault named otherwise)");
                }
                if expected.late && moves == called.moves + 1 {
                    statistics.count("(fault seen at the access)");
                } else {
                    same_moves()?;
                    self.evaluator.world = self.evaluator.before_step.clone();
                }
                self.same_picture("before the step that faults")?;
                Ok(Some(expected.mistake.name()))
            }
            (expected, ended) => {
                let actual = match ended {
                    Ended::Answered(value) => format!("the answer {value}"),
                    Ended::Faulted(kind) => format!("a fault: {kind}"),
                    Ended::Blocked => "blocked".to_owned(),
                    Ended::TooLong => "more moves".to_owned(),
                };
                let expected = expected.map(|datum| datum.to_value());
                Err(format!(
                    "expected {expected:?} after {} moves, got {actual} after {moves}",
                    called.moves
                ))
            }
        }
    }

    /// Runs a call to its end; how it ended, and the moves that were made.
    fn run_machine(&mut self, invoke: Move, limit: usize) -> (Ended, usize) {
        let thread = invoke.thread().expect("a call is of a thread");
        let mut what = invoke;
        for moves in 0..limit {
            match self.attempt(&what) {
                Outcome::Next(state) => self.state = state,
                Outcome::Fault(fault) => return (Ended::Faulted(fault.kind), moves),
                Outcome::Disabled => return (Ended::Blocked, moves),
            }
            if let Status::Returning { .. } = self.state.threads[thread].status {
                let (state, value) = self.machine.respond(&self.state, thread).expect("a response");
                self.state = state;
                return (Ended::Answered(value), moves + 1);
            }
            what = Move::Step { thread };
        }
        (Ended::TooLong, limit)
    }

    /// A move, with the choices that the evaluator made.
    fn attempt(&mut self, what: &Move) -> Outcome {
        let mut given: Vec<u32> = Vec::new();
        loop {
            let attempt = self.machine.attempt(&self.state, what, &given, None);
            let Some(&ways) = attempt.arities.get(given.len()) else {
                self.asked += given.len() as u64;
                return attempt.outcome;
            };
            let number = self.asked + given.len() as u64 + 1;
            given.push(seeded_answer(self.seed, number, ways));
        }
    }

    fn same_picture(&self, when: &str) -> Result<(), Disagreement> {
        let expected = Picture::of_world(&self.evaluator.world);
        let actual = Picture::of_state(&self.state);
        match expected == actual {
            true => Ok(()),
            false => Err(format!("{when}: expected\n  {expected:?}, got\n  {actual:?}")),
        }
    }
}

/// Whether the fault is named otherwise, but as the language allows.
pub fn same_fault(expected: &Fault, actual: FaultKind) -> Result<bool, Disagreement> {
    let mistake = mistake(actual).ok_or_else(|| format!("expected {expected:?}, got {actual}"))?;
    if mistake == expected.mistake {
        Ok(false)
    } else if expected.also.contains(&mistake) {
        Ok(true)
    } else {
        Err(format!("expected {expected:?}, got {actual}"))
    }
}

/// The fault in the words of the evaluator; none if no model may have it.
fn mistake(kind: FaultKind) -> Option<Mistake> {
    Some(match kind {
        FaultKind::NullDereference => Mistake::NullDereference,
        FaultKind::IndexOutOfRange { index, length } => Mistake::IndexOutOfRange(index, length),
        FaultKind::UnwrapNone => Mistake::UnwrapOfNone,
        FaultKind::DivisionByZero => Mistake::DivisionByZero,
        FaultKind::Overflow => Mistake::Overflow,
        FaultKind::AssertionFailed => Mistake::AssertionFailed,
        FaultKind::UseAfterFree => Mistake::UseAfterFree,
        FaultKind::DoubleFree => Mistake::DoubleFree,
        FaultKind::UnlockNotHeld { holder } => Mistake::UnlockNotHeld(holder),
        FaultKind::SameWordTwice => Mistake::RepeatedPlace,
        FaultKind::TooManyChoices(_) => Mistake::TooManyChoices,
        FaultKind::BlockedInit => Mistake::BlockedInit,
        FaultKind::ChoiceInInit => Mistake::ChoiceInInit,
        FaultKind::LocalLoop | FaultKind::BlockedRecovery | FaultKind::IllTyped => return None,
    })
}
