//! Runs with crashes: the engine against an explorer that shares nothing with it but the
//! interpreter. Every prefix of every line is tried at every moment, recovery step by step, and
//! every history is judged by brute force, from the definitions.

use crate::crash_generator;
use crate::support::{bounds, compiled, object};
use fastrand::Rng;
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, State, Status};
use linchpin_ir::model_spec::ModelObject;
use linchpin_ir::program::{Operation as IrOperation, Program};
use linchpin_oracle::{Operation, is_linearizable, witness_in_order};
use linchpin_refine::{DiskOptions, Strategy, VerifyOptions, verify};
use linchpin_space::Reductions;
use linchpin_spec::{Call, Value};
use linchpin_verdict::{CrashProperty, Outcome};
use std::collections::{BTreeMap, HashSet};
use tempfile::TempDir;

/// Bigger spaces than this are not explored naively.
const MAX_NODES: usize = 16_000;

pub const PROPERTIES: [CrashProperty; 5] = [
    CrashProperty::Strict,
    CrashProperty::Recoverable,
    CrashProperty::Durable,
    CrashProperty::Buffered,
    CrashProperty::Detectable,
];

/// An event of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Event {
    Call {
        thread: usize,
        operation: usize,
        argument: Value,
    },
    Return {
        thread: usize,
        value: Value,
    },
    Crash,
    ThreadCrash {
        thread: usize,
    },
    /// The answer of `recover(t)`: none, or the response.
    Resolve {
        thread: usize,
        value: Option<Value>,
    },
}

/// What is found about a program: for each property whether it holds, and whether a step fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub holds: BTreeMap<&'static str, bool>,
    pub fault: bool,
}

/// Where a run stands: the state, the calls of each thread, the crashes left, and its history.
type Reached = (State, Vec<usize>, (u8, u8), Vec<Event>);

struct Explorer<'a> {
    machine: Machine,
    object: &'a ModelObject,
    values: i64,
    seen: HashSet<Reached>,
    judged: HashSet<Vec<Event>>,
    found: Found,
}

/// How much may happen.
#[derive(Clone, Copy, Debug)]
pub struct Few {
    pub calls: usize,
    pub values: i64,
    pub crashes: u8,
    pub thread_crashes: u8,
    pub memory: Memory,
}

/// What the naive explorer finds; `None` if it gave up.
pub fn naive(program: &Program, few: Few) -> Option<Found> {
    let object = object(program);
    let holds = PROPERTIES.iter().map(|property| (property.id(), true)).collect();
    let mut explorer = Explorer {
        machine: Machine::with_crashes(program, few.memory),
        object: &object,
        values: few.values,
        seen: HashSet::new(),
        judged: HashSet::new(),
        found: Found { holds, fault: false },
    };
    let state = explorer.machine.initial().unwrap();
    let calls = vec![few.calls; program.threads.len()];
    let left = (few.crashes, few.thread_crashes);
    explorer.explore(&state, &calls, left, &mut Vec::new())?;
    Some(explorer.found)
}

impl Explorer<'_> {
    /// `None`: too large.
    fn explore(
        &mut self,
        state: &State,
        calls: &[usize],
        left: (u8, u8),
        events: &mut Vec<Event>,
    ) -> Option<()> {
        if self.seen.len() > MAX_NODES {
            return None;
        }
        if !self.seen.insert((state.clone(), calls.to_vec(), left, events.clone())) {
            return Some(());
        }
        let answers = matches!(events.last(), Some(Event::Return { .. } | Event::Resolve { .. }));
        if answers && self.judged.insert(events.clone()) {
            for property in PROPERTIES {
                if !is_right(self.object, self.machine.program(), events, property) {
                    self.found.holds.insert(property.id(), false);
                }
            }
        }
        for (what, event) in self.moves(state, calls, left) {
            let mut calls = calls.to_vec();
            let mut left = left;
            match what {
                Move::Invoke { thread, .. } => calls[thread] -= 1,
                Move::Crash => left.0 -= 1,
                Move::CrashThread { .. } => left.1 -= 1,
                _ => {}
            }
            for successor in self.machine.successors(state, &what) {
                let Ok(next) = successor.result else {
                    self.found.fault = true;
                    continue;
                };
                events.extend(event.clone());
                self.explore(&next, &calls, left, events)?;
                if event.is_some() {
                    events.pop();
                }
            }
        }
        Some(())
    }

    fn moves(&self, state: &State, calls: &[usize], left: (u8, u8)) -> Vec<(Move, Option<Event>)> {
        let program = self.machine.program();
        let mut all = Vec::new();
        if left.0 > 0 {
            all.push((Move::Crash, Some(Event::Crash)));
        }
        if state.recovery.is_some() {
            all.push((Move::Recover, None));
            return all;
        }
        for (thread, of) in state.threads.iter().enumerate() {
            if left.1 > 0 {
                all.push((Move::CrashThread { thread }, Some(Event::ThreadCrash { thread })));
            }
            match &of.status {
                Status::Running { .. } | Status::Interrupted { .. } | Status::Resolving { .. } => {
                    all.push((Move::Step { thread }, None));
                }
                Status::Returning { value, .. } => {
                    let event = Event::Return { thread, value: value.clone() };
                    all.push((Move::Respond { thread }, Some(event)));
                }
                Status::Resolved { outcome, .. } => {
                    let value = (!outcome.is_null()).then(|| outcome.clone());
                    let event = Event::Resolve { thread, value };
                    all.push((Move::Respond { thread }, Some(event)));
                }
                Status::Idle if calls[thread] == 0 => {}
                Status::Idle => {
                    for &operation in &program.threads[thread].operations {
                        let threads = program.threads.len();
                        let bounds = DomainBounds { values: self.values, threads };
                        let of = &program.operations[operation];
                        for arguments in Domain::of_arguments(of, bounds).unwrap().values() {
                            let arguments = arguments.as_list().unwrap().to_vec();
                            let argument = IrOperation::argument(&arguments);
                            let call = Move::Invoke { thread, operation, arguments };
                            all.push((call, Some(Event::Call { thread, operation, argument })));
                        }
                    }
                }
            }
        }
        all
    }
}

/// Whether a history is as the property asks.
fn is_right(
    object: &ModelObject,
    program: &Program,
    events: &[Event],
    property: CrashProperty,
) -> bool {
    if property == CrashProperty::Buffered {
        return is_buffered(object, program, events);
    }
    let (history, pairs) = history(object, program, events, property);
    witness_in_order(&*object.spec, &history, &pairs).is_some()
}

/// The operations of a history, as the oracle reads them, and which come before which if at all.
fn history(
    object: &ModelObject,
    program: &Program,
    events: &[Event],
    property: CrashProperty,
) -> (Vec<Operation>, Vec<(usize, usize)>) {
    let mut history: Vec<Operation> = Vec::new();
    let mut pairs = Vec::new();
    // For each thread its open call; what was interrupted; what must be asked about.
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut interrupted: Vec<(usize, usize)> = Vec::new();
    let mut asked: BTreeMap<usize, usize> = BTreeMap::new();
    let mut dropped: Vec<usize> = Vec::new();
    let mut operations: Vec<usize> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let crashed: Vec<usize> = match event {
            Event::Crash => open.keys().copied().collect(),
            Event::ThreadCrash { thread } => vec![*thread],
            _ => vec![],
        };
        for thread in crashed {
            let Some(number) = open.remove(&thread) else { continue };
            interrupted.push((thread, number));
            if property == CrashProperty::Strict {
                history[number].returned = Some(at);
            }
            if program.is_resolvable(operations[number]) {
                asked.insert(thread, number);
            }
        }
        match event {
            Event::Call { thread, operation, argument } => {
                let number = history.len();
                if property == CrashProperty::Recoverable {
                    let mine = interrupted.iter().filter(|(of, _)| of == thread);
                    pairs.extend(mine.map(|(_, before)| (*before, number)));
                }
                open.insert(*thread, number);
                operations.push(*operation);
                history.push(Operation {
                    process: *thread,
                    call: Call {
                        operation: object.operations[*operation],
                        argument: argument.clone(),
                    },
                    response: None,
                    invoked: at,
                    returned: None,
                });
            }
            Event::Return { thread, value } => {
                let number = open.remove(thread).unwrap();
                history[number].response = Some(value.clone());
                history[number].returned = Some(at);
            }
            Event::Crash | Event::ThreadCrash { .. } => {}
            Event::Resolve { thread, value } => {
                // A call that was cut off is not there.
                let Some(number) = asked.remove(thread) else { continue };
                if property == CrashProperty::Detectable {
                    match value {
                        Some(value) => {
                            history[number].response = Some(value.clone());
                            history[number].returned = Some(at);
                        }
                        None => dropped.push(number),
                    }
                }
            }
        }
    }
    // What had no effect never happened.
    dropped.sort_unstable();
    for number in dropped.into_iter().rev() {
        history.remove(number);
    }
    (history, pairs)
}

/// Buffered durability, from the definition: of each era that ended in a crash some part, closed
/// under happens-before (all cuts are tried, event by event), such that for each era the parts
/// before it and then the era are durably linearizable.
fn is_buffered(object: &ModelObject, program: &Program, events: &[Event]) -> bool {
    let eras: Vec<&[Event]> = events.split(|event| *event == Event::Crash).collect();
    choose(object, program, &eras, &mut Vec::new())
}

fn choose(
    object: &ModelObject,
    program: &Program,
    eras: &[&[Event]],
    parts: &mut Vec<Vec<Event>>,
) -> bool {
    let era = parts.len();
    let mut whole: Vec<Event> = Vec::new();
    for part in parts.iter() {
        whole.extend(part.iter().cloned());
        whole.push(Event::Crash);
    }
    whole.extend(eras[era].iter().cloned());
    let (history, _) = history(object, program, &whole, CrashProperty::Durable);
    if !is_linearizable(&*object.spec, &history) {
        return false;
    }
    if era + 1 == eras.len() {
        return true;
    }
    for part in cuts(eras[era]) {
        parts.push(part);
        if choose(object, program, eras, parts) {
            parts.pop();
            return true;
        }
        parts.pop();
    }
    false
}

/// The parts of an era that are closed under happens-before: with an event all earlier ones of its
/// thread, and with a call all earlier returns.
fn cuts(era: &[Event]) -> Vec<Vec<Event>> {
    let thread = |event: &Event| match event {
        Event::Call { thread, .. }
        | Event::Return { thread, .. }
        | Event::ThreadCrash { thread }
        | Event::Resolve { thread, .. } => *thread,
        Event::Crash => usize::MAX,
    };
    let before = |first: usize, second: usize| {
        thread(&era[first]) == thread(&era[second])
            || (matches!(era[first], Event::Return { .. })
                && matches!(era[second], Event::Call { .. }))
    };
    assert!(era.len() < 16);
    let mut all = Vec::new();
    for set in 0u32..1 << era.len() {
        let has = |at: usize| set >> at & 1 == 1;
        let closed = (0..era.len())
            .filter(|&second| has(second))
            .all(|second| (0..second).all(|first| has(first) || !before(first, second)));
        if closed {
            all.push((0..era.len()).filter(|&at| has(at)).map(|at| era[at].clone()).collect());
        }
    }
    all
}

fn random_reductions(random: &mut Rng) -> Reductions {
    let reductions = crate::naive::random_reductions(random);
    Reductions {
        distinct_images: random.bool(),
        reachable_images: random.bool(),
        crash_points: random.bool(),
        covered_crashes: random.bool(),
        ..reductions
    }
}

/// How often each property held and did not.
pub type Counts = BTreeMap<&'static str, (usize, usize)>;

/// The strongest condition that holds of a program, of those that can be compared.
fn strongest(found: &Found) -> &'static str {
    let holds = |property: &&CrashProperty| found.holds[property.id()];
    PROPERTIES[..4].iter().find(holds).map_or("none", |property| property.id())
}

/// What was compared.
pub struct Compared {
    pub counts: Counts,
    /// How many programs each condition is the strongest of.
    pub classes: BTreeMap<&'static str, usize>,
    pub faults: usize,
    pub given_up: usize,
}

/// The engine and the naive explorer agree on random programs, for every property and whatever
/// reductions are used.
pub fn compare(seed: u64, programs: u64, combinations: usize) -> Compared {
    let (mut counts, mut classes) = (Counts::new(), BTreeMap::new());
    let (mut faults, mut given_up) = (0, 0);
    for number in 0..programs {
        let seed = seed.wrapping_add(number);
        let mut random = Rng::with_seed(seed);
        let (source, memory) = crash_generator::model(&mut random);
        let compiled = compiled(&source);
        let (crashes, thread_crashes) =
            [(1, 0), (1, 0), (1, 0), (2, 0), (0, 1), (1, 1), (1, 1)][random.usize(..7)];
        let calls = match compiled.program.threads.len() {
            1 => random.usize(3..5),
            _ => 2,
        };
        let values = compiled.bounds.values.or_few();
        let mut few = Few { calls, values, crashes, thread_crashes, memory };
        let mut expected = naive(&compiled.program, few);
        while expected.is_none() && few.calls > 1 {
            few.calls -= 1;
            expected = naive(&compiled.program, few);
        }
        let Some(expected) = expected else {
            given_up += 1;
            continue;
        };
        faults += usize::from(expected.fault);
        *classes.entry(strongest(&expected)).or_default() += 1;
        let case = Case { seed, source: &source, program: &compiled.program, few };
        for property in case.properties() {
            let holds = expected.holds[property.id()] && !expected.fault;
            let count = counts.entry(property.id()).or_default();
            match holds {
                true => count.0 += 1,
                false => count.1 += 1,
            }
            for combination in 0..combinations {
                case.is_judged(property, holds, combination, &mut random);
            }
        }
    }
    Compared { counts, classes, faults, given_up }
}

/// A program and how much may happen in it.
struct Case<'a> {
    seed: u64,
    source: &'a str,
    program: &'a Program,
    few: Few,
}

impl Case<'_> {
    /// What can be asked of it.
    fn properties(&self) -> impl Iterator<Item = CrashProperty> {
        let resolves = self.program.persistence.as_ref().is_some_and(|of| of.resolve.is_some());
        let asked = move |of: &CrashProperty| *of != CrashProperty::Detectable || resolves;
        PROPERTIES.into_iter().filter(asked)
    }

    /// The engine says whether a property holds as it does: with all reductions, with none, or with
    /// some, in some order.
    fn is_judged(
        &self,
        property: CrashProperty,
        holds: bool,
        combination: usize,
        random: &mut Rng,
    ) {
        let Case { seed, source, program, few } = self;
        let mut bounds = bounds(few.calls, few.values);
        (bounds.crashes, bounds.thread_crashes) = (few.crashes, few.thread_crashes);
        bounds.memory = few.memory;
        let mut options = VerifyOptions::new(bounds);
        options.search.workers = 1;
        options.stuck = false;
        options.repairs = false;
        options.shortest_budget = 0;
        options.property = Some(property);
        // Programs are small: states after crashes wait from the start, or never.
        if random.bool() {
            options.search.wait_from = 0;
        }
        match combination {
            0 => {}
            1 => options.reductions = Reductions::NONE,
            _ => {
                options.reductions = random_reductions(random);
                options.just_in_time = random.bool();
                options.search.antichain = random.bool();
                options.search.calls = random.bool();
                options.search.workers = random.usize(1..3);
                if random.u8(..4) == 0 {
                    options.strategy = Strategy::DepthFirst;
                }
            }
        }
        let folder = (combination > 1 && random.u8(..16) == 0).then(TempDir::new);
        let folder = folder.map(|made| made.expect("a folder"));
        if let Some(folder) = &folder {
            let memory = random.bool().then_some(40_000);
            let disk = DiskOptions { memory, ..DiskOptions::new(folder.path().join("states")) };
            options.strategy = Strategy::BreadthFirst;
            options.disk = Some(disk);
        }
        let report = verify(program, &options, &|_| {}).unwrap();
        let found = match &report.outcome {
            Outcome::Holds(()) => true,
            Outcome::Violated(_) => false,
            // What never returns is no matter here.
            Outcome::Inconclusive(_) if !report.never_returned.is_empty() => true,
            Outcome::Inconclusive(reason) => {
                panic!("seed {seed} {property} {few:?} {options:?}: {reason}\n{source}")
            }
        };
        assert_eq!(found, holds, "seed {seed} {property} {few:?} {options:?}\n{source}");
    }
}

/// Programs in which a thread crashes and the system too, and in which crashes were once lost count
/// of: in a state in which a step makes up for the crash of the system, and where recovery is
/// remembered.
const BOTH_CRASH: [&str; 2] = [
    "spec {
        state x: int;
        op f(v: int) -> int { let a = v; x = v + 1; return a; }
        op g(v: int) -> int { return x; }
    }
    persistent shared x: int;
    persistent shared y: int;
    shared z: int;
    op f(v: int) -> int { x = v; let a = faa(x, 1); persist(x); return a; }
    op g(v: int) -> int { z = v; persist(x); let a = x; flush(x); fence; return a; }
    recover { let a = x; let b = y; if a != b { x = b; persist(x); } }
    bounds { threads: 1, ops: 2, values: 2 }",
    "spec {
        state taken: bool;
        op claim() -> bool { if taken { return false; } taken = true; return true; }
    }
    persistent shared owner: tid?;
    op claim() -> bool {
        let o = owner;
        persist(owner);
        if o != none { return false; }
        if cas(owner, none, me) { persist(owner); return true; }
        return false;
    }
    recover(t: tid) -> bool? {
        let o = owner;
        if o == t { return true; }
        persist(owner);
        return none;
    }
    recover { let o = owner; if o != none { owner = o; persist(owner); } }
    bounds { threads: 2, ops: 1 }",
];

#[test]
fn crashes_of_threads_and_of_the_system_are_counted_apart() {
    for (seed, source) in (1..).zip(BOTH_CRASH) {
        let compiled = compiled(source);
        let calls = 3 - compiled.program.threads.len();
        let (crashes, thread_crashes, memory) = (1, 1, Memory::Collected);
        let few = Few { calls, values: 2, crashes, thread_crashes, memory };
        let expected = naive(&compiled.program, few).expect("it is small");
        let case = Case { seed, source, program: &compiled.program, few };
        let mut random = Rng::with_seed(seed);
        for property in case.properties() {
            for combination in 0..24 {
                case.is_judged(property, expected.holds[property.id()], combination, &mut random);
            }
        }
    }
}

#[test]
fn agrees_with_the_naive_explorer_of_crashes() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=3000 cargo test --release -p linchpin-refine
    // crashes
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let seed = number("LINCHPIN_SEED", 1);
    let cases = number("LINCHPIN_CASES", 150);
    let Compared { counts, classes, faults, given_up } = compare(seed, cases, 4);
    println!("seed {seed}: {counts:?} hold and do not, {faults} fail, {given_up} too large");
    println!("the strongest that holds: {classes:?}");
    for (holds, fails) in counts.values() {
        assert!(*holds > 2 && *fails > 2, "{counts:?}");
    }
    assert!(classes.len() == 5, "every condition is the strongest of some: {classes:?}");
}
