//! `spec { }` blocks: all outcomes of a call, by the evaluator, by the interpreter and by
//! [`ModelSpec`].

use crate::big_step::evaluator::{Choices, Datum, Evaluator, Stop, World};
use crate::big_step::random::Random;
use crate::big_step::sequential::{Disagreement, Statistics, same_fault};
use linchpin_ir::interpreter::{Machine, Memory, Move, Outcome, State, Status};
use linchpin_ir::model_spec::ModelSpec;
use linchpin_ir::program::{Operation, Program, SpecSource};
use linchpin_lang::syntax::ast;
use linchpin_spec::{Call, Spec, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A call with more ways through its choices than this is left out.
const MAX_WAYS: usize = 300;

/// State and response of each outcome, and the world that it leaves.
type Outcomes = BTreeMap<(Value, Value), Rc<World>>;

/// A specification, as all three have it.
struct Object<'m> {
    evaluator: Evaluator<'m>,
    machine: Machine,
    spec: ModelSpec,
}

/// Runs a random sequence of calls, each with every combination of choices.
pub fn run(
    tree: &ast::Model,
    program: &Program,
    seed: u64,
    calls: usize,
    statistics: &mut Statistics,
) -> Result<(), Disagreement> {
    let mut random = Random::new(seed);
    let SpecSource::Model(block) = &program.spec else { return Ok(()) };
    let Some(evaluator) = Evaluator::of_spec(tree, program.threads.len()) else { return Ok(()) };
    let spec = ModelSpec::new(block).map_err(|error| error.to_string())?;
    let machine = Machine::new(block, Memory::Collected);
    let mut object = Object { evaluator, machine, spec };
    let start = state_of(&object.evaluator.world);
    if start != object.spec.initial() {
        return Err(format!("expected to start with {start}, got {}", object.spec.initial()));
    }
    for _ in 0..calls {
        let operation = random.below(object.evaluator.operations().len() as u64) as usize;
        let routine = object.evaluator.operations()[operation];
        let mut below = |end| random.below(end);
        let arguments: Vec<Datum> =
            routine.parameters.iter().map(|p| object.evaluator.argument(p, &mut below)).collect();
        let before = state_of(&object.evaluator.world);
        let outcomes = object.call(operation, &arguments, statistics).map_err(|disagreement| {
            format!("{}({arguments:?}) in {before}: {disagreement}", routine.name.name)
        })?;
        let Some(outcomes) = outcomes else { break };
        let worlds: Vec<Rc<World>> = outcomes.into_values().collect();
        if let Some(world) = random.pick(&worlds) {
            object.evaluator.world = world.clone();
        }
    }
    statistics.add(object.evaluator.coverage);
    Ok(())
}

impl Object<'_> {
    /// Every outcome of a call; none if there are too many ways to try, or one of them takes too
    /// long.
    fn call(
        &mut self,
        operation: usize,
        arguments: &[Datum],
        statistics: &mut Statistics,
    ) -> Result<Option<Outcomes>, Disagreement> {
        let before = self.evaluator.world.clone();
        let mut values: Vec<Value> = arguments.iter().map(Datum::to_value).collect();
        let parameters = self.machine.program().operations[operation].parameters.len();
        values.extend((values.len() < parameters).then_some(Value::Int(0)));
        let invoke = Move::Invoke { thread: 0, operation, arguments: values.clone() };
        let mut outcomes = Outcomes::new();
        let mut next = Some(Vec::new());
        let mut ways = 0;
        while let Some(given) = next {
            ways += 1;
            self.evaluator.world = before.clone();
            self.evaluator.choices = Choices::listed(given);
            let end = self.evaluator.call(None, operation, arguments).end;
            if end == Err(Stop::OutOfFuel) || ways > MAX_WAYS {
                statistics.count("too many ways, or too long");
                return Ok(None);
            }
            self.same_way(&before, &invoke, &end)?;
            match end {
                Ok(answer) => {
                    statistics.count("(way that completes)");
                    let world = &self.evaluator.world;
                    outcomes.insert((state_of(world), answer.to_value()), world.clone());
                }
                Err(Stop::Fault(_)) => statistics.count("(way that faults)"),
                Err(_) => statistics.count("(way that is blocked)"),
            }
            next = self.evaluator.choices.next_list();
        }
        self.evaluator.world = before.clone();
        let call = Call { operation, argument: Operation::argument(&values) };
        same_outcomes(&outcomes, &self.spec, &state_of(&before), &call)?;
        statistics.count(match outcomes.len() {
            0 => "call without outcome",
            1 => "call with one outcome",
            _ => "call with several outcomes",
        });
        Ok(Some(outcomes))
    }

    /// The interpreter, with the choices that the evaluator has just made.
    fn same_way(
        &self,
        before: &World,
        invoke: &Move,
        expected: &Result<Datum, Stop>,
    ) -> Result<(), Disagreement> {
        let Choices::Listed { answers, .. } = &self.evaluator.choices else { return Ok(()) };
        let threads = vec![State::idle_thread(self.machine.program())];
        let shared = before.shared.iter().map(Datum::to_value).collect();
        let state = State { shared, threads, ..State::blank(self.machine.program()) };
        let given: Vec<u32> = answers.iter().map(|(answer, _)| *answer).collect();
        let attempt = self.machine.attempt(&state, invoke, &given, None);
        let made: Vec<(u32, u32)> =
            attempt.choices.iter().copied().zip(attempt.arities.iter().copied()).collect();
        let agree = match (expected, &attempt.outcome) {
            (Ok(answer), Outcome::Next(after)) => {
                let Status::Returning { value, .. } = &after.threads[0].status else {
                    return Err("stops half-way".to_owned());
                };
                let shared = Value::list(after.shared.iter().cloned());
                *value == answer.to_value() && shared == state_of(&self.evaluator.world)
            }
            (Err(Stop::Fault(fault)), Outcome::Fault(actual)) => {
                same_fault(fault, actual.kind).is_ok()
            }
            (Err(Stop::Blocked), Outcome::Disabled) => true,
            _ => false,
        };
        match agree && made == *answers {
            true => Ok(()),
            false => Err(format!(
                "choices {answers:?}: expected {expected:?}, got choices {made:?}: {:?}",
                attempt.outcome
            )),
        }
    }
}

fn same_outcomes(
    expected: &Outcomes,
    spec: &ModelSpec,
    state: &Value,
    call: &Call,
) -> Result<(), Disagreement> {
    let apply = |response: Option<&Value>| {
        let outcomes = spec.apply(state, call, response);
        let all = outcomes.len();
        let set: BTreeSet<(Value, Value)> =
            outcomes.into_iter().map(|outcome| (outcome.state, outcome.response)).collect();
        match set.len() == all {
            true => Ok(set),
            false => Err("an outcome is listed twice".to_owned()),
        }
    };
    let wanted: BTreeSet<(Value, Value)> = expected.keys().cloned().collect();
    let actual = apply(None)?;
    if wanted != actual {
        return Err(format!("expected\n  {wanted:?}, got\n  {actual:?}"));
    }
    for (_, response) in &wanted {
        let wanted = wanted.iter().filter(|(_, other)| other == response).cloned().collect();
        let actual = apply(Some(response))?;
        if actual != wanted {
            return Err(format!("response {response}: expected\n  {wanted:?}, got\n  {actual:?}"));
        }
    }
    Ok(())
}

fn state_of(world: &World) -> Value {
    Value::list(world.shared.iter().map(Datum::to_value))
}
