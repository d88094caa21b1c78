//! A program as real code, run by the engine.

use super::enumerate::{Behaviour, Outcome};
use super::program::{Instruction, Operand, Program};
use crate::execution::{Execution, Problem};
use crate::options::{Exploration, Options, Strategy};
use crate::weak::explore;
use linchpin_sync::cell::UnsafeCell;
use linchpin_sync::hint::spin_loop;
use linchpin_sync::runtime::{self, Action, Identity, Memory, Place, PlaceKind};
use linchpin_sync::sync::atomic::{AtomicU64, fence};
use linchpin_sync::thread;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Relaxed};

thread_local! {
    static OUTCOME: RefCell<Outcome> = const { RefCell::new(Vec::new()) };
}

/// The order of a load that is asked for as an update.
fn load_order(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        order => order,
    }
}

/// What threads share.
struct Shared {
    /// Whether threads wait in loops.
    spins: bool,
    locations: Vec<Awaitable>,
    cells: Vec<UnsafeCell<u64>>,
}

// SAFETY: the engine stops at races.
unsafe impl Sync for Shared {}

/// An atomic variable for which threads can wait: locks are made of such.
struct Awaitable {
    value: AtomicU64,
    identity: Identity,
    word: std::sync::atomic::AtomicU64,
    awaits: bool,
}

impl Memory for Awaitable {
    fn get(&self) -> u64 {
        self.word.load(Ordering::Relaxed)
    }
    fn set(&self, value: u64) {
        self.word.store(value, Ordering::Relaxed);
    }
}

impl Awaitable {
    fn access(&self, action: Action<'_>) -> u64 {
        let place = Place { identity: &self.identity, memory: self, kind: PlaceKind::Other };
        runtime::with(|runtime| runtime.access(place, action, Location::caller())).unwrap()
    }

    fn load(&self, order: Ordering) -> u64 {
        if self.awaits { self.access(Action::Load(order)) } else { self.value.load(order) }
    }

    fn store(&self, value: u64, order: Ordering) {
        if self.awaits {
            self.access(Action::Store(value, order));
        } else {
            self.value.store(value, order);
        }
    }

    fn update(
        &self,
        change: &dyn Fn(u64) -> Option<u64>,
        success: Ordering,
        failure: Ordering,
    ) -> u64 {
        self.access(Action::Update { change, success, failure })
    }
}

impl Program {
    fn run(self: &Arc<Program>, spins: bool) {
        let awaits = !spins
            && self
                .threads
                .iter()
                .flatten()
                .any(|step| matches!(step.instruction, Instruction::Await { .. }));
        let location = || Awaitable {
            value: AtomicU64::new(0),
            identity: Identity::new(),
            word: std::sync::atomic::AtomicU64::new(0),
            awaits,
        };
        let shared = Arc::new(Shared {
            spins,
            locations: (0..self.locations).map(|_| location()).collect(),
            cells: (0..self.cells).map(|_| UnsafeCell::new(0)).collect(),
        });
        OUTCOME.with(|outcome| {
            let threads = self.threads.iter().map(|steps| vec![None; steps.len()]);
            let newest = std::iter::once(vec![None; self.locations]);
            *outcome.borrow_mut() = threads.chain(newest).collect();
        });
        let threads: Vec<_> = (0..self.threads.len())
            .map(|thread| {
                let (program, shared) = (Arc::clone(self), Arc::clone(&shared));
                thread::spawn(move || program.run_thread(thread, &shared))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        for (index, location) in shared.locations.iter().enumerate() {
            let value = location.load(Ordering::Relaxed);
            OUTCOME.with(|outcome| outcome.borrow_mut()[self.threads.len()][index] = Some(value));
        }
    }

    fn run_thread(&self, thread: usize, shared: &Shared) {
        let mut registers = Vec::new();
        for (index, step) in self.threads[thread].iter().enumerate() {
            let skipped = step
                .guard
                .is_some_and(|guard| (registers[guard.register] == guard.value) != guard.equal);
            let answer = if skipped { 0 } else { step.instruction.run(&registers, shared) };
            registers.push(answer);
            OUTCOME.with(|outcome| outcome.borrow_mut()[thread][index] = Some(answer));
        }
    }
}

impl Instruction {
    fn run(self, registers: &[u64], shared: &Shared) -> u64 {
        let operand = |operand| match operand {
            Operand::Constant(value) => value,
            Operand::Register(register) => registers[register],
        };
        let at = |location: usize| &shared.locations[location];
        match self {
            Instruction::Load { location, order } => at(location).load(order),
            Instruction::Store { location, value, order } => {
                at(location).store(operand(value), order);
                0
            }
            Instruction::Add { location, value, order } if at(location).awaits => {
                at(location).update(&|old| Some(old + value), order, order)
            }
            Instruction::Add { location, value, order } => {
                at(location).value.fetch_add(value, order)
            }
            Instruction::Swap { location, value, order } if at(location).awaits => {
                at(location).update(&|_| Some(operand(value)), order, order)
            }
            Instruction::Swap { location, value, order } => {
                at(location).value.swap(operand(value), order)
            }
            Instruction::Cas { location, expected, new, success, failure } => {
                if at(location).awaits {
                    let change = |old| (old == expected).then_some(new);
                    return at(location).update(&change, success, failure);
                }
                let done = at(location).value.compare_exchange(expected, new, success, failure);
                done.unwrap_or_else(|old| old)
            }
            Instruction::Await { location, expected, new, order } if shared.spins => {
                let location = &at(location).value;
                // Where nothing changes, an await writes nothing either.
                while !match new == expected {
                    true => location.load(load_order(order)) == expected,
                    false => location.compare_exchange(expected, new, order, Relaxed).is_ok(),
                } {
                    spin_loop();
                }
                expected
            }
            Instruction::Await { location, expected, new, order } => {
                let change = |old| (old == expected).then_some(new);
                at(location).access(Action::Await { change: &change, order })
            }
            Instruction::Fence(order) => {
                fence(order);
                0
            }
            Instruction::Cell { cell, writes: false } => {
                // SAFETY: the engine stops at races.
                shared.cells[cell].with(|value| unsafe { *value });
                0
            }
            Instruction::Cell { cell, writes: true } => {
                // SAFETY: the engine stops at races.
                shared.cells[cell].with_mut(|value| unsafe { *value += 1 });
                0
            }
        }
    }
}

/// What the program does by the engine. Panics if a graph is shown twice.
pub fn behaviour(program: &Program) -> (Behaviour, Exploration) {
    behaviour_of(program, false)
}

/// What it does if threads wait in loops.
pub fn spinning_behaviour(program: &Program) -> (Behaviour, Exploration) {
    behaviour_of(program, true)
}

fn behaviour_of(program: &Program, spins: bool) -> (Behaviour, Exploration) {
    let mut behaviour = Behaviour::default();
    let mut seen = BTreeSet::new();
    let exploration = run(program, spins, Strategy::Weak, &mut |execution, outcome| {
        match &execution.problem {
            Some(Problem::Race { .. }) => behaviour.races = true,
            None | Some(Problem::Deadlock { .. }) => {
                *behaviour.outcomes.entry(outcome).or_insert(0) += 1;
            }
            problem => panic!("{problem:?}\n{program:#?}"),
        }
        assert!(seen.insert(execution.decisions.clone()), "shown twice: {program:#?}");
    });
    assert!(exploration.complete);
    (behaviour, exploration)
}

/// Runs a program.
pub fn run(
    program: &Program,
    spins: bool,
    strategy: Strategy,
    observe: &mut dyn FnMut(&Execution, Outcome),
) -> Exploration {
    let shared = Arc::new(program.clone());
    let body: Rc<dyn Fn()> = Rc::new(move || shared.run(spins));
    explore(&Options::new(strategy), &body, &mut |execution| {
        observe(execution, OUTCOME.with(|outcome| outcome.borrow().clone()));
        ControlFlow::Continue(())
    })
}

/// Repeats executions by their decisions: the same happens.
pub fn repeat(program: &Program) {
    let mut shown = Vec::new();
    run(program, false, Strategy::Weak, &mut |execution, outcome| {
        shown.push((execution.clone(), outcome));
    });
    for (execution, outcome) in shown {
        let strategy = Strategy::ReplayWeak(execution.decisions.clone());
        let mut again = 0;
        run(program, false, strategy, &mut |repeated, other| {
            again += 1;
            assert_eq!(repeated.problem, execution.problem, "{program:#?}");
            assert_eq!(repeated.decisions, execution.decisions, "{program:#?}");
            assert_eq!(repeated.clocks, execution.clocks, "{program:#?}");
            assert_eq!(repeated.events, execution.events, "{program:#?}");
            assert_eq!(repeated.places, execution.places, "{program:#?}");
            if execution.problem.is_none() {
                assert_eq!(other, outcome, "{program:#?}");
            }
        });
        assert_eq!(again, 1);
    }
}
