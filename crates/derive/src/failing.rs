//! A step that fails although one thread calls alone, where a proof only says that no step may: a
//! few calls one after the other, with the integers that the code compares its arguments with.

use crate::integers;
use crate::proof::Passed;
use linchpin_ir::interpreter::{Fault, FaultKind, Machine, Memory, Move, State, Status};
use linchpin_ir::program::{Operation, Program, Type};
use linchpin_spec::Value;

/// At most so many calls in a row.
const CALLS: usize = 3;

/// At most so many states are looked at.
const STATES: usize = 20_000;

/// At most so many lists of arguments of one operation.
const LISTS: usize = 64;

/// Of a range, so many integers are passed.
const OF_A_RANGE: i64 = 8;

/// Calls of one thread, and what fails in the last of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The calls, in their order: operations of the program, with their arguments.
    pub calls: Vec<(usize, Vec<Value>)>,
    /// What fails.
    pub fault: Fault,
}

/// A sequential execution in which a step fails, one of those with the fewest calls, if one of
/// those that are tried does.
pub fn find(program: &Program, passed: Passed) -> Option<Failing> {
    let machine = Machine::new(program, Memory::Collected);
    let mut start = machine.initial().ok()?;
    start.threads = vec![State::idle_thread(program)];
    let lists: Vec<Vec<Vec<Value>>> =
        program.operations.iter().map(|operation| arguments(program, operation, passed)).collect();
    let mut left = STATES;
    let mut reached = vec![(start, Vec::new())];
    for _ in 0..CALLS {
        let mut next = Vec::new();
        for (state, calls) in &reached {
            for (operation, arguments) in
                lists.iter().enumerate().flat_map(|(at, of)| of.iter().map(move |one| (at, one)))
            {
                let mut calls: Vec<(usize, Vec<Value>)> = calls.clone();
                calls.push((operation, arguments.clone()));
                let invoke = Move::Invoke { thread: 0, operation, arguments: arguments.clone() };
                match executed(&machine, state, &invoke, &mut left) {
                    Ok(states) => next.extend(states.into_iter().map(|to| (to, calls.clone()))),
                    Err(fault) => return Some(Failing { calls, fault }),
                }
                if left == 0 {
                    return None;
                }
            }
        }
        reached = next;
    }
    None
}

/// The states after a call, or what fails in it.
fn executed(
    machine: &Machine,
    state: &State,
    invoke: &Move,
    left: &mut usize,
) -> Result<Vec<State>, Fault> {
    let mut open = Vec::new();
    let follow = |state: &State, what: &Move, open: &mut Vec<State>| {
        for successor in machine.successors(state, what) {
            match successor.result {
                Ok(next) => open.push(next),
                // That integers do not overflow is assumed.
                Err(fault) if fault.kind == FaultKind::Overflow => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    };
    follow(state, invoke, &mut open)?;
    let (mut seen, mut after): (Vec<State>, Vec<State>) = (Vec::new(), Vec::new());
    while let Some(state) = open.pop() {
        // A loop that waits comes back to a state that was seen.
        if seen.contains(&state) || *left == 0 {
            continue;
        }
        *left -= 1;
        match &state.threads[0].status {
            Status::Returning { .. } => {
                let next = machine.respond(&state, 0).map(|(next, _)| next);
                after.extend(next.filter(|next| !after.contains(next)));
            }
            _ => follow(&state, &Move::Step { thread: 0 }, &mut open)?,
        }
        seen.push(state);
    }
    Ok(after)
}

/// The lists of arguments that an operation is called with; none if it takes something else than
/// integers and truth values.
fn arguments(program: &Program, operation: &Operation, passed: Passed) -> Vec<Vec<Value>> {
    let compared = integers::compared(program, &operation.name);
    let mut lists = vec![Vec::new()];
    for (at, parameter) in operation.parameters.iter().enumerate() {
        let range = passed.range(parameter);
        let is_passed = |value: &i64| range.is_none_or(|(from, to)| (from..to).contains(value));
        let values: Vec<Value> = match parameter.ty {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Int => {
                let first = parameter.range.map_or(1, |(from, _)| from);
                let many = if parameter.range.is_some() { OF_A_RANGE } else { 2 };
                let few = (first..first.saturating_add(many)).filter(is_passed);
                let with = compared.get(at).into_iter().flatten().copied().filter(is_passed);
                let mut all: Vec<i64> = few.chain(with).collect();
                all.sort_unstable();
                all.dedup();
                all.into_iter().map(Value::Int).collect()
            }
            _ => return Vec::new(),
        };
        lists = lists
            .iter()
            .flat_map(|list: &Vec<Value>| {
                values.iter().map(move |value| [&list[..], std::slice::from_ref(value)].concat())
            })
            .take(LISTS)
            .collect();
    }
    lists
}
